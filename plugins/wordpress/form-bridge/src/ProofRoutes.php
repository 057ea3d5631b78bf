<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Serves the proofs of a pending registration to the service. */
final class ProofRoutes {

	const FILE = '/.well-known/form-bridge-verification.txt';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'rest_api_init', array( $this, 'register' ) );
		add_action( 'init', array( $this, 'serve_file' ) );
		add_action( 'wp_head', array( $this, 'print_meta' ), 1 );
	}

	public function register(): void {
		register_rest_route(
			'form-bridge/v1',
			'/verify',
			array(
				'methods'             => 'GET',
				'callback'            => array( $this, 'verify' ),
				// Public: the response is of no use to others.
				'permission_callback' => '__return_true',
				'args'                => array(
					'challenge'       => array(
						'type'     => 'string',
						'required' => true,
						'pattern'  => '^[0-9a-f]{32}$',
					),
					'registration_id' => array(
						'type'     => 'string',
						'required' => true,
					),
				),
			)
		);
	}

	/** @return \WP_REST_Response|\WP_Error */
	public function verify( \WP_REST_Request $request ) {
		$pending = $this->services->registration->pending();
		if ( null === $pending || ! hash_equals( $pending['registration_id'], (string) $request['registration_id'] ) ) {
			return new \WP_Error( 'form_bridge_no_registration', __( 'Registration not found or no longer pending', 'form-bridge' ), array( 'status' => 404 ) );
		}
		$proof    = Proof::for_challenge( $pending['temp_key'], (string) $request['challenge'], $pending['registration_id'], $pending['domain'] );
		$response = new \WP_REST_Response( array( 'response' => $proof ) );
		$response->header( 'Cache-Control', 'no-store' );
		return $response;
	}

	public function serve_file(): void {
		$requested = wp_parse_url( esc_url_raw( wp_unslash( $_SERVER['REQUEST_URI'] ?? '' ) ), PHP_URL_PATH );
		$path      = (string) wp_parse_url( SiteAddress::url(), PHP_URL_PATH ) . self::FILE;
		if ( $requested !== $path ) {
			return;
		}
		$proof = $this->static_proof();
		if ( null === $proof ) {
			return;
		}
		nocache_headers();
		header( 'Content-Type: text/plain; charset=utf-8' );
		header( 'Cache-Control: no-store' );
		echo esc_html( $proof ) . "\n";
		exit;
	}

	public function print_meta(): void {
		$proof = is_front_page() ? $this->static_proof() : null;
		if ( null !== $proof ) {
			printf( '<meta name="form-bridge-verification" content="%s">' . "\n", esc_attr( $proof ) );
		}
	}

	private function static_proof(): ?string {
		$pending = $this->services->registration->pending();
		return null === $pending ? null : Proof::static_proof( $pending['temp_key'], $pending['registration_id'], $pending['domain'] );
	}
}
