<?php
namespace FormBridge\Admin;

defined( 'ABSPATH' ) || exit;

/** Suggested text for the privacy policy of the site. */
final class PrivacyPolicy {

	public function hook(): void {
		add_action( 'admin_init', array( $this, 'suggest' ) );
	}

	public function suggest(): void {
		$text = __( 'What you submit with a form on this site, including uploaded files, is sent to the service that processes our forms. It is stored in the database of this site until it has been delivered, and is then deleted from it.', 'form-bridge' );
		wp_add_privacy_policy_content( 'Form-Bridge', '<p>' . esc_html( $text ) . '</p>' );
	}
}
