<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Calls the service. Never used while a page is rendered. */
final class Client {

	/** Seconds. No call takes long, because an exchange does not wait for the proof. */
	const TIMEOUT = 5;

	/** A body with files gets a second more for each of these. */
	const BYTES_PER_SECOND = 262144;

	/** @var Settings */
	private $settings;

	/** @var Clock */
	private $clock;

	/** @var Backoff */
	private $backoff;

	/** @var SiteState */
	private $state;

	public function __construct( Settings $settings, Clock $clock, Backoff $backoff, SiteState $state ) {
		$this->settings = $settings;
		$this->clock    = $clock;
		$this->backoff  = $backoff;
		$this->state    = $state;
	}

	/**
	 * Sends a request without credentials.
	 *
	 * @param string[] $required Fields of a successful response.
	 */
	public function send_unsigned( string $method, string $path, ?array $body = null, array $required = array() ): Response {
		$response = $this->send( $method, $this->url( $path ), self::encode( $body ), array(), $required );
		$this->backoff->record( $response );
		return $response;
	}

	/**
	 * Sends a signed request, and repeats it once if the clock was off or the nonce was used.
	 *
	 * @param string[] $required Fields of a successful response.
	 */
	public function send_signed( Credentials $credentials, string $method, string $path, ?array $body = null, array $required = array() ): Response {
		return $this->send_signed_json( $credentials, $method, $path, self::encode( $body ), $required );
	}

	/**
	 * The same with a body that is already encoded as JSON.
	 *
	 * @param string[] $required
	 */
	public function send_signed_json( Credentials $credentials, string $method, string $path, string $text, array $required = array() ): Response {
		$response = $this->send_with_signature( $credentials, $method, $path, $text, $required );
		$this->state->record( $response );
		return $response;
	}

	/**
	 * Sends a request that is signed with the keys of another address. The response says nothing about
	 * the state of this site.
	 */
	public function send_signed_elsewhere( Credentials $credentials, string $method, string $path, array $body ): Response {
		return $this->send_with_signature( $credentials, $method, $path, self::encode( $body ), array() );
	}

	/** @param string[] $required */
	private function send_with_signature( Credentials $credentials, string $method, string $path, string $text, array $required ): Response {
		$url      = $this->url( $path );
		$response = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $required );
		if ( $response->is( 'timestamp_out_of_range' ) && isset( $response->data['server_time'] ) ) {
			$this->clock->sync( (int) $response->data['server_time'] );
			$response = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $required );
		} elseif ( $response->is( 'nonce_used' ) || $response->is( 'changed_meanwhile' ) ) {
			$response = $this->send( $method, $url, $text, $this->sign( $credentials, $method, $url, $text ), $required );
		}
		$this->backoff->record( $response );
		return $response;
	}

	/**
	 * Downloads a package into a file, with a size limit. The request is signed now, because a link
	 * from hours ago would have expired.
	 *
	 * @return \WP_Error|true
	 */
	public function download( Credentials $credentials, string $path, string $file, int $max_bytes ) {
		$url      = $this->url( $path );
		$response = wp_remote_get(
			$url,
			array(
				'timeout'             => 60,
				'redirection'         => 0,
				'stream'              => true,
				'filename'            => $file,
				'limit_response_size' => $max_bytes,
				'headers'             => $this->sign( $credentials, 'GET', $url, '' ),
				'user-agent'          => self::user_agent(),
			)
		);
		if ( is_wp_error( $response ) ) {
			return $response;
		}
		$status = (int) wp_remote_retrieve_response_code( $response );
		if ( 200 === $status ) {
			return true;
		}
		// The body is an error instead of the package.
		$error = Response::from( $status, (string) file_get_contents( $file, false, null, 0, 10000 ), '' );
		return new \WP_Error( 'form_bridge_download', __( 'Form-Bridge was not updated. The service did not send the package.', 'form-bridge' ) . ' ' . $error->message );
	}

	private function sign( Credentials $credentials, string $method, string $url, string $body ): array {
		return Signer::headers( $credentials, $method, $url, $body, $this->clock->server_now() );
	}

	private function url( string $path ): string {
		return $this->settings->service_url() . '/v1' . $path;
	}

	private function send( string $method, string $url, string $body, array $headers, array $required ): Response {
		if ( '' === $this->settings->service_url() ) {
			return Response::none( __( 'The URL of the service is not set. Enter it in the settings.', 'form-bridge' ) );
		}
		if ( '' !== $body ) {
			$headers['Content-Type'] = 'application/json';
		}
		$response = wp_remote_request(
			$url,
			array(
				'method'              => $method,
				'timeout'             => self::TIMEOUT + intdiv( strlen( $body ), self::BYTES_PER_SECOND ),
				// The signature would not match a redirected request.
				'redirection'         => 0,
				'limit_response_size' => 1024 * 1024,
				'headers'             => array_merge( array( 'Accept' => 'application/json' ), $headers ),
				'body'                => '' === $body ? null : $body,
				'user-agent'          => self::user_agent(),
			)
		);
		if ( is_wp_error( $response ) ) {
			return Response::none( $response->get_error_message() );
		}
		return Response::from(
			(int) wp_remote_retrieve_response_code( $response ),
			(string) wp_remote_retrieve_body( $response ),
			(string) wp_remote_retrieve_header( $response, 'retry-after' ),
			$required
		);
	}

	/** Encoded once, because the signed bytes must be the sent bytes. */
	private static function encode( ?array $body ): string {
		if ( null === $body ) {
			return '';
		}
		return (string) wp_json_encode( array() === $body ? new \stdClass() : $body );
	}

	/** The default user agent of WordPress contains the address of the site. */
	private static function user_agent(): string {
		return 'Form-Bridge-Plugin/' . FORM_BRIDGE_VERSION;
	}
}
