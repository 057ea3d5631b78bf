<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Does the next step of connecting while the owner looks at the page, which asks for it: the page
 * itself is there at once, and nothing depends on whether cron works on this host.
 */
final class WorkRoute {

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	public function hook(): void {
		add_action( 'rest_api_init', array( $this, 'register' ) );
	}

	public function register(): void {
		register_rest_route(
			'form-bridge/v1',
			'/work',
			array(
				'methods'             => 'POST',
				'callback'            => array( $this, 'work' ),
				'permission_callback' => function () {
					return current_user_can( 'manage_options' );
				},
			)
		);
	}

	public function work(): \WP_REST_Response {
		$this->with->connector->step();
		$response = new \WP_REST_Response( array( 'phase' => $this->with->connector->phase() ) );
		$response->header( 'Cache-Control', 'no-store' );
		return $response;
	}
}
