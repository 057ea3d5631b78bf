<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What the service said, or that it said nothing. */
final class Answer {

	/** In place of a code when no answer of the service came. */
	const NO_ANSWER = 'server.no_answer';

	/** @var int 0 if none came. */
	public $status;

	/** @var array<string, mixed> The body of a good answer. */
	public $body;

	/** @var string Empty if it is a good answer. A program decides by this alone. */
	public $code;

	/** @var string For people. */
	public $message;

	/** @var array<string, mixed> */
	public $data;

	/** @var int Seconds; 0 if it did not say. */
	public $retry_after;

	public function __construct( int $status, array $body, string $code, string $message, array $data, int $retry_after ) {
		$this->status      = $status;
		$this->body        = $body;
		$this->code        = $code;
		$this->message     = $message;
		$this->data        = $data;
		$this->retry_after = $retry_after;
	}

	public static function none( string $message ): self {
		return new self( 0, array(), self::NO_ANSWER, $message, array(), 0 );
	}

	/** @param string[] $needs What a good answer has: JSON without it is not of the service. */
	public static function from( int $status, string $body, string $retry_after, array $needs = array() ): self {
		$decoded = json_decode( $body, true );
		$seconds = ctype_digit( $retry_after ) ? (int) $retry_after : 0;
		if ( $status >= 200 && $status < 300 && is_array( $decoded ) && self::has( $decoded, $needs ) ) {
			return new self( $status, $decoded, '', '', array(), $seconds );
		}
		$error = is_array( $decoded ) && isset( $decoded['error']['code'] ) && is_string( $decoded['error']['code'] ) ? $decoded['error'] : null;
		if ( null === $error ) {
			/* translators: %d: the HTTP status of an answer. */
			return new self( $status, array(), self::NO_ANSWER, sprintf( __( 'The service gave no answer of its own (status %d)', 'form-bridge' ), $status ), array(), $seconds );
		}
		$message = is_string( $error['message'] ?? null ) ? $error['message'] : '';
		$details = $error['details'][0]['message'] ?? null;
		$path    = $error['details'][0]['path'] ?? null;
		if ( is_string( $details ) && is_string( $path ) ) {
			$message .= " ($path: $details)";
		}
		$data = is_array( $error['data'] ?? null ) ? $error['data'] : array();
		return new self( $status, array(), $error['code'], $message, $data, $seconds );
	}

	/**
	 * Whether there is a text or a number under each of these names.
	 *
	 * @param string[] $names
	 */
	public static function has( array $body, array $names ): bool {
		foreach ( $names as $name ) {
			if ( ! is_scalar( $body[ $name ] ?? null ) ) {
				return false;
			}
		}
		return true;
	}

	public function ok(): bool {
		return '' === $this->code;
	}

	/** Whether it is one of these refusals. */
	public function is( string ...$codes ): bool {
		foreach ( $codes as $code ) {
			if ( "form-bridge.$code" === $this->code ) {
				return true;
			}
		}
		return false;
	}

	/** Whether the service, or the way to it, is down: asking again at once would not help. */
	public function is_outage(): bool {
		return 0 === strpos( $this->code, 'server.' ) || 'request.timeout' === $this->code;
	}
}
