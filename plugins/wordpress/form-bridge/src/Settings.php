<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The settings of the owner. Optional data is sent only if the owner has opted in. */
final class Settings {

	const OPTION = 'form_bridge_settings';

	/** The URL of the service for the sites of a network without their own. */
	const NETWORK_URL_OPTION = 'form_bridge_network_url';

	const DEFAULTS = array(
		// The URL of the service, unless the build or a constant sets it.
		'service_url' => '',
		// 'automatic', or a kind of Environment.
		'environment' => 'automatic',
		// Whether comments are sent as submissions.
		'comments'    => false,
		// Whether the service may store the WordPress and PHP versions.
		'telemetry'   => false,
		// Whether the administration email address is sent.
		'admin_email' => false,
	);

	/** @return array<string, mixed> */
	public function all(): array {
		$stored = get_option( self::OPTION );
		return array_merge( self::DEFAULTS, is_array( $stored ) ? array_intersect_key( $stored, self::DEFAULTS ) : array() );
	}

	/** @param array<string, mixed> $changes */
	public function update( array $changes ): void {
		update_option( self::OPTION, array_merge( $this->all(), array_intersect_key( $changes, self::DEFAULTS ) ) );
	}

	/** Without a trailing slash; empty if it is not set. */
	public function service_url(): string {
		foreach ( array( Constants::get( 'FORM_BRIDGE_URL' ), Build::service_url(), $this->all()['service_url'], self::network_url() ) as $url ) {
			if ( '' !== $url ) {
				return untrailingslashit( $url );
			}
		}
		return '';
	}

	private static function network_url(): string {
		return is_multisite() ? (string) get_site_option( self::NETWORK_URL_OPTION, '' ) : '';
	}

	/** Whether the owner can change it on the settings page. */
	public function is_service_url_editable(): bool {
		return '' === Constants::get( 'FORM_BRIDGE_URL' ) && '' === Build::service_url();
	}

	public function join_token(): string {
		return Constants::get( 'FORM_BRIDGE_JOIN_TOKEN' );
	}
}
