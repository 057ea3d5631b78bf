<?php
namespace FormBridge\Admin;

use FormBridge\Services;

defined( 'ABSPATH' ) || exit;

/**
 * Runs the next step of connecting when the open settings page requests it. The page therefore
 * renders immediately, and connecting does not depend on cron or the REST API.
 */
final class ConnectEndpoint {

	const ACTION = 'form_bridge_next_step';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'wp_ajax_' . self::ACTION, array( $this, 'handle' ) );
	}

	public static function url(): string {
		return add_query_arg(
			array(
				'action'      => self::ACTION,
				'_ajax_nonce' => wp_create_nonce( self::ACTION ),
			),
			admin_url( 'admin-ajax.php' )
		);
	}

	public function handle(): void {
		check_ajax_referer( self::ACTION );
		if ( ! current_user_can( 'manage_options' ) ) {
			wp_send_json( array(), 403 );
		}
		$this->services->connector->step();
		wp_send_json( array( 'phase' => $this->services->connector->phase() ) );
	}
}
