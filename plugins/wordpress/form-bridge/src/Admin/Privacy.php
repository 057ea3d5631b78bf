<?php
namespace FormBridge\Admin;

defined( 'ABSPATH' ) || exit;

/** What the privacy policy of the site may say about this plugin. */
final class Privacy {

	public function hook(): void {
		add_action( 'admin_init', array( $this, 'suggest' ) );
	}

	public function suggest(): void {
		$text = __( 'What you send with a form on this site is handed to the service that processes our forms. Until it has been delivered it is kept in the database of this site; after that it is removed from there.', 'form-bridge' );
		wp_add_privacy_policy_content( 'Form-Bridge', '<p>' . esc_html( $text ) . '</p>' );
	}
}
