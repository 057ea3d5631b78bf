<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Sends heartbeats and checks for updates in the background, with jitter, so that a fleet does not
 * send all its requests at the same time.
 */
final class Heartbeat {

	const HOOK = 'form_bridge_heartbeat';

	/** Seconds. */
	const MAX_INTERVAL = 43200;

	/** Seconds. */
	const MIN_INTERVAL = 900;

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	/** Schedules the event again if it was lost, for example when the site was copied or restored. */
	public static function ensure_scheduled(): void {
		$next = wp_next_scheduled( self::HOOK );
		// An event further ahead was scheduled before the clock was set back.
		if ( ! $next || $next > time() + 3 * self::MAX_INTERVAL ) {
			wp_clear_scheduled_hook( self::HOOK );
			wp_schedule_single_event( time() + wp_rand( 0, self::MAX_INTERVAL ), self::HOOK );
		}
	}

	public static function schedule_soon(): void {
		wp_clear_scheduled_hook( self::HOOK );
		wp_schedule_single_event( time() + wp_rand( 60, 600 ), self::HOOK );
	}

	public function run(): void {
		$seconds = wp_rand( self::MAX_INTERVAL / 2, self::MAX_INTERVAL );
		if ( in_array( $this->services->status(), array( 'connected', 'suspended', 'rejected' ), true ) && $this->services->backoff->is_over() ) {
			$requested = $this->send();
			if ( $requested > 0 ) {
				$seconds = min( max( $requested, self::MIN_INTERVAL ), 2 * self::MAX_INTERVAL );
			}
			if ( $this->services->backoff->is_over() ) {
				$this->services->update_cache->refresh();
			}
		}
		if ( ! $this->services->backoff->is_over() ) {
			$seconds = $this->services->backoff->until() - $this->services->clock->now() + wp_rand( 0, 300 );
		}
		wp_clear_scheduled_hook( self::HOOK );
		wp_schedule_single_event( time() + $seconds, self::HOOK );
	}

	/** @return int Seconds until the next heartbeat; 0 if the service did not return it. */
	private function send(): int {
		$credentials = $this->services->credentials->load();
		// Checks whether a suspension has ended, or whether the service recognizes the site again.
		if ( 'active' !== $this->services->state->name() ) {
			$this->services->client->send_signed( $credentials, 'GET', '/site', null, array( 'status' ) );
			return 0;
		}
		$telemetry = (bool) $this->services->settings->all()['telemetry'];
		$body      = array(
			'plugin_version' => FORM_BRIDGE_VERSION,
			'environment'    => Environment::current( $this->services->settings ),
			'telemetry'      => $telemetry,
		);
		if ( $telemetry ) {
			$body['wp_version']  = get_bloginfo( 'version' );
			$body['php_version'] = PHP_VERSION;
		}
		$response = $this->services->client->send_signed( $credentials, 'POST', '/site/heartbeat', $body, array( 'status' ) );
		return (int) ( $response->body['next_in'] ?? 0 );
	}
}
