<?php
namespace FormBridge\Admin;

use FormBridge\Services;

defined( 'ABSPATH' ) || exit;

/** Shows a notice on the dashboard and the plugins page if the owner must act. */
final class Notices {

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'admin_notices', array( $this, 'print_if_needed' ) );
	}

	public function print_if_needed(): void {
		$screen = get_current_screen();
		if ( null === $screen || ! in_array( $screen->id, array( 'dashboard', 'plugins' ), true ) || ! current_user_can( 'manage_options' ) ) {
			return;
		}
		$status = $this->services->status();
		if ( ! in_array( $status, array( 'moved', 'rejected', 'unreadable' ), true ) || $this->services->connector->is_running() ) {
			return;
		}
		list( , $title ) = ( new StatusTexts( $this->services ) )->describe( $status );
		printf(
			'<div class="notice notice-warning"><p><strong>Form-Bridge:</strong> %s. <a href="%s">%s</a></p></div>',
			esc_html( $title ),
			esc_url( SettingsPage::url() ),
			esc_html__( 'See what to do', 'form-bridge' )
		);
	}
}
