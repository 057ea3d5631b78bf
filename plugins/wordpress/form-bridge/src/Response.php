<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A response of the service, or the reason why there is none. */
final class Response {

	/** The error code if the service did not respond. */
	const NO_RESPONSE = 'server.no_answer';

	/** @var int 0 if there was no response. */
	public $status;

	/** @var array<string, mixed> The body of a successful response. */
	public $body;

	/** @var string Empty if the request succeeded. Programs branch on it. */
	public $code;

	/** @var string For people. */
	public $message;

	/** @var array<string, mixed> */
	public $data;

	/** @var int Seconds; 0 if there is no Retry-After header. */
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
		return new self( 0, array(), self::NO_RESPONSE, $message, array(), 0 );
	}

	/** @param string[] $required Fields of a successful response; JSON without them is not from the service. */
	public static function from( int $status, string $body, string $retry_after, array $required = array() ): self {
		$decoded = json_decode( $body, true );
		$seconds = ctype_digit( $retry_after ) ? (int) $retry_after : 0;
		if ( $status >= 200 && $status < 300 && is_array( $decoded ) && self::has( $decoded, $required ) ) {
			return new self( $status, $decoded, '', '', array(), $seconds );
		}
		$error = is_array( $decoded ) && isset( $decoded['error']['code'] ) && is_string( $decoded['error']['code'] ) ? $decoded['error'] : null;
		if ( null === $error ) {
			/* translators: %d: the HTTP status of a response. */
			return new self( $status, array(), self::NO_RESPONSE, sprintf( __( 'The response did not come from the service (HTTP status %d).', 'form-bridge' ), $status ), array(), $seconds );
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
	 * Whether each of these fields is a scalar.
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

	/** Whether it is one of these errors of the service. */
	public function is( string ...$codes ): bool {
		foreach ( $codes as $code ) {
			if ( "form-bridge.$code" === $this->code ) {
				return true;
			}
		}
		return false;
	}

	/** Whether the service or the network is down, so an immediate retry would not help. */
	public function is_outage(): bool {
		return 0 === strpos( $this->code, 'server.' ) || 'request.timeout' === $this->code;
	}
}
