<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The settings of the owner. Optional data is sent only if the owner has chosen so. */
final class Settings {

	const OPTION = 'form_bridge_settings';

	const DEFAULTS = array(
		// Where the service is, if the build does not say.
		'service_url' => '',
		// 'automatic', or what the owner says it is.
		'environment' => 'automatic',
		// Whether comments are sent as submissions.
		'comments'    => false,
		// Whether the versions of WordPress and PHP are kept by the service.
		'telemetry'   => false,
		// Whether the service learns the address of the administrator.
		'admin_email' => false,
	);

	/** @return array<string, mixed> */
	public function all(): array {
		$stored = get_option( self::OPTION );
		return array_merge( self::DEFAULTS, is_array( $stored ) ? array_intersect_key( $stored, self::DEFAULTS ) : array() );
	}

	/** @param array<string, mixed> $changes */
	public function change( array $changes ): void {
		update_option( self::OPTION, array_merge( $this->all(), array_intersect_key( $changes, self::DEFAULTS ) ) );
	}

	/** Without a trailing slash; empty if it is not set. */
	public function service_url(): string {
		foreach ( array( Constants::get( 'FORM_BRIDGE_URL' ), Build::service_url(), $this->all()['service_url'] ) as $url ) {
			if ( '' !== $url ) {
				return untrailingslashit( $url );
			}
		}
		return '';
	}

	/** Whether the page may ask for it. */
	public function service_url_is_open(): bool {
		return '' === Constants::get( 'FORM_BRIDGE_URL' ) && '' === Build::service_url();
	}

	public function join_token(): string {
		return Constants::get( 'FORM_BRIDGE_JOIN_TOKEN' );
	}
}
