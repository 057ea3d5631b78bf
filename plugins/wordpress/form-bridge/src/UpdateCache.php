<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Caches the last update offer of the service and the details of the plugin. Pages read the cache;
 * only cron and a check that a user requested call the service.
 */
final class UpdateCache {

	const OFFER_OPTION = 'form_bridge_offer';

	const DETAILS_OPTION = 'form_bridge_details';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	/** @return array<string, mixed>|null In the format of the WordPress filter update_plugins_{$hostname}. */
	public function current(): ?array {
		$cached = get_site_option( self::OFFER_OPTION );
		return is_array( $cached ) ? $cached : null;
	}

	/** @return array<string, mixed>|null */
	public function details(): ?array {
		$cached = get_site_option( self::DETAILS_OPTION );
		return is_array( $cached ) ? $cached : null;
	}

	/** Calls the service. The offer is not trusted: {@see Release} verifies it. */
	public function refresh(): void {
		// A site that is not connected sends nothing.
		if ( 'connected' !== $this->services->status() ) {
			return;
		}
		$query = array(
			'slug'            => Release::SLUG,
			'current_version' => FORM_BRIDGE_VERSION,
		);
		if ( $this->services->settings->all()['telemetry'] ) {
			$query['wp_version']  = get_bloginfo( 'version' );
			$query['php_version'] = PHP_VERSION;
		}
		$path     = '/updates/check?' . http_build_query( $query, '', '&' );
		$response = $this->services->client->send_signed( $this->services->credentials->load(), 'GET', $path );
		if ( ! $response->ok() || ! is_string( $response->body['version'] ?? null ) ) {
			return;
		}
		$previous = $this->current();
		update_site_option( self::OFFER_OPTION, $response->body );
		if ( null === $this->details() || ( $previous['version'] ?? '' ) !== $response->body['version'] ) {
			$details = $this->services->client->send_unsigned( 'GET', '/plugins/' . Release::SLUG );
			if ( $details->ok() ) {
				update_site_option( self::DETAILS_OPTION, $details->body );
			}
		}
	}

	public function clear(): void {
		delete_site_option( self::OFFER_OPTION );
		delete_site_option( self::DETAILS_OPTION );
	}
}
