<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The last offer of the service, cached. Pages read the cache; only cron and a check that a user
 * requested call the service.
 */
final class Offer {

	const OPTION = 'form_bridge_offer';

	const DETAILS = 'form_bridge_details';

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/** @return array<string, mixed>|null As the filter of WordPress wants it. */
	public function current(): ?array {
		$kept = get_site_option( self::OPTION );
		return is_array( $kept ) ? $kept : null;
	}

	/** @return array<string, mixed>|null */
	public function details(): ?array {
		$kept = get_site_option( self::DETAILS );
		return is_array( $kept ) ? $kept : null;
	}

	/** Calls the service. The offer is not trusted: {@see Release} verifies it. */
	public function refresh(): void {
		// A site that is not connected sends nothing.
		if ( 'connected' !== $this->with->status() ) {
			return;
		}
		$query = array(
			'slug'            => Release::SLUG,
			'current_version' => FORM_BRIDGE_VERSION,
		);
		if ( $this->with->settings->all()['telemetry'] ) {
			$query['wp_version']  = get_bloginfo( 'version' );
			$query['php_version'] = PHP_VERSION;
		}
		$path   = '/updates/check?' . http_build_query( $query, '', '&' );
		$answer = $this->with->client->signed( $this->with->credentials->load(), 'GET', $path );
		if ( ! $answer->ok() || ! is_string( $answer->body['version'] ?? null ) ) {
			return;
		}
		$previous = $this->current();
		update_site_option( self::OPTION, $answer->body );
		if ( null === $this->details() || ( $previous['version'] ?? '' ) !== $answer->body['version'] ) {
			$details = $this->with->client->ask( 'GET', '/plugins/' . Release::SLUG );
			if ( $details->ok() ) {
				update_site_option( self::DETAILS, $details->body );
			}
		}
	}

	public function forget(): void {
		delete_site_option( self::OPTION );
		delete_site_option( self::DETAILS );
	}
}
