<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Calls the service. Never used while a page is rendered. */
final class Client {

	/** Seconds. No call takes long, because an exchange does not wait for the proof. */
	const TIMEOUT = 5;

	/** @var Settings */
	private $settings;

	/** @var Clock */
	private $clock;

	/** @var Outage */
	private $outage;

	/** @var SiteState */
	private $state;

	public function __construct( Settings $settings, Clock $clock, Outage $outage, SiteState $state ) {
		$this->settings = $settings;
		$this->clock    = $clock;
		$this->outage   = $outage;
		$this->state    = $state;
	}

	/**
	 * Sends a request without credentials.
	 *
	 * @param string[] $needs Fields of a successful response.
	 */
	public function ask( string $method, string $path, ?array $body = null, array $needs = array() ): Answer {
		$answer = $this->send( $method, $this->url( $path ), self::encode( $body ), array(), $needs );
		$this->outage->learn( $answer );
		return $answer;
	}

	/**
	 * Sends a signed request, and repeats it once if the clock was off or the nonce was used.
	 *
	 * @param string[] $needs Fields of a successful response.
	 */
	public function signed( Credentials $credentials, string $method, string $path, ?array $body = null, array $needs = array() ): Answer {
		return $this->signed_text( $credentials, $method, $path, self::encode( $body ), $needs );
	}

	/**
	 * The same with a body that is JSON already.
	 *
	 * @param string[] $needs
	 */
	public function signed_text( Credentials $credentials, string $method, string $path, string $text, array $needs = array() ): Answer {
		$url    = $this->url( $path );
		$answer = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $needs );
		if ( $answer->is( 'timestamp_out_of_range' ) && isset( $answer->data['server_time'] ) ) {
			$this->clock->learn( (int) $answer->data['server_time'] );
			$answer = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $needs );
		} elseif ( $answer->is( 'nonce_used' ) || $answer->is( 'changed_meanwhile' ) ) {
			$answer = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $needs );
		}
		$this->outage->learn( $answer );
		$this->state->learn( $answer );
		return $answer;
	}

	/**
	 * Downloads a package into a file, with a size limit. The request is signed now, because a link
	 * from hours ago would have expired.
	 *
	 * @return \WP_Error|true
	 */
	public function download( Credentials $credentials, string $path, string $file, int $largest ) {
		$url     = $this->url( $path );
		$answer  = wp_remote_get(
			$url,
			array(
				'timeout'             => 60,
				'redirection'         => 0,
				'stream'              => true,
				'filename'            => $file,
				'limit_response_size' => $largest,
				'headers'             => $this->sign( $credentials, 'GET', $url, '' ),
				'user-agent'          => self::user_agent(),
			)
		);
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$status = (int) wp_remote_retrieve_response_code( $answer );
		if ( 200 === $status ) {
			return true;
		}
		// The body is an error instead of the package.
		$refusal = Answer::from( $status, (string) file_get_contents( $file, false, null, 0, 10000 ), '' );
		return new \WP_Error( 'form_bridge_download', __( 'Form-Bridge was not updated. The service did not send the package.', 'form-bridge' ) . ' ' . $refusal->message );
	}

	private function sign( Credentials $credentials, string $method, string $url, string $body ): array {
		return Signer::headers( $credentials, $method, $url, $body, $this->clock->server_now() );
	}

	private function url( string $path ): string {
		return $this->settings->service_url() . '/v1' . $path;
	}

	private function send( string $method, string $url, string $body, array $headers, array $needs ): Answer {
		if ( '' === $this->settings->service_url() ) {
			return Answer::none( __( 'The URL of the service is not set. Enter it in the settings.', 'form-bridge' ) );
		}
		if ( '' !== $body ) {
			$headers['Content-Type'] = 'application/json';
		}
		$response = wp_remote_request(
			$url,
			array(
				'method'              => $method,
				'timeout'             => self::TIMEOUT,
				// The signature would not match a redirected request.
				'redirection'         => 0,
				'limit_response_size' => 1024 * 1024,
				'headers'             => array_merge( array( 'Accept' => 'application/json' ), $headers ),
				'body'                => '' === $body ? null : $body,
				'user-agent'          => self::user_agent(),
			)
		);
		if ( is_wp_error( $response ) ) {
			return Answer::none( $response->get_error_message() );
		}
		return Answer::from(
			(int) wp_remote_retrieve_response_code( $response ),
			(string) wp_remote_retrieve_body( $response ),
			(string) wp_remote_retrieve_header( $response, 'retry-after' ),
			$needs
		);
	}

	/** As text, because the signed bytes must be the sent bytes. */
	private static function encode( ?array $body ): string {
		if ( null === $body ) {
			return '';
		}
		return (string) wp_json_encode( array() === $body ? new \stdClass() : $body );
	}

	/** The default of WordPress contains the address of the site. */
	private static function user_agent(): string {
		return 'Form-Bridge-Plugin/' . FORM_BRIDGE_VERSION;
	}
}
