<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Sends heartbeats and checks for updates in the background, with jitter, so that a fleet does not
 * send its requests together.
 */
final class Heartbeat {

	const HOOK = 'form_bridge_heartbeat';

	const LONGEST = 43200;

	const SHORTEST = 900;

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/** Schedules the event again if it was lost, for example when the site was copied or restored. */
	public static function ensure(): void {
		$next = wp_next_scheduled( self::HOOK );
		// An event further ahead was scheduled before the clock was set back.
		if ( ! $next || $next > time() + 3 * self::LONGEST ) {
			wp_clear_scheduled_hook( self::HOOK );
			wp_schedule_single_event( time() + wp_rand( 0, self::LONGEST ), self::HOOK );
		}
	}

	public static function soon(): void {
		wp_clear_scheduled_hook( self::HOOK );
		wp_schedule_single_event( time() + wp_rand( 60, 600 ), self::HOOK );
	}

	public function beat(): void {
		$seconds = wp_rand( self::LONGEST / 2, self::LONGEST );
		if ( in_array( $this->with->status(), array( 'connected', 'suspended', 'rejected' ), true ) && $this->with->outage->is_over() ) {
			$asked = $this->ask();
			if ( $asked > 0 ) {
				$seconds = min( max( $asked, self::SHORTEST ), 2 * self::LONGEST );
			}
			if ( $this->with->outage->is_over() ) {
				$this->with->offer->refresh();
			}
		}
		if ( ! $this->with->outage->is_over() ) {
			$seconds = $this->with->outage->until() - $this->with->clock->now() + wp_rand( 0, 300 );
		}
		wp_clear_scheduled_hook( self::HOOK );
		wp_schedule_single_event( time() + $seconds, self::HOOK );
	}

	/** @return int Seconds until the next heartbeat; 0 if the service did not return it. */
	private function ask(): int {
		$credentials = $this->with->credentials->load();
		// Checks whether a suspension has ended, or whether the service recognizes the site again.
		if ( 'active' !== $this->with->state->name() ) {
			$this->with->client->signed( $credentials, 'GET', '/site', null, array( 'status' ) );
			return 0;
		}
		$telemetry = (bool) $this->with->settings->all()['telemetry'];
		$body      = array(
			'plugin_version' => FORM_BRIDGE_VERSION,
			'environment'    => Environment::current( $this->with->settings ),
			'telemetry'      => $telemetry,
		);
		if ( $telemetry ) {
			$body['wp_version']  = get_bloginfo( 'version' );
			$body['php_version'] = PHP_VERSION;
		}
		$answer = $this->with->client->signed( $credentials, 'POST', '/site/heartbeat', $body, array( 'status' ) );
		return (int) ( $answer->body['next_in'] ?? 0 );
	}
}
