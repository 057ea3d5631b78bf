<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Now and then, in the background: tells the service that the site is there, and asks what is new.
 * Each site has its own moment, so that a fleet does not come all at once.
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

	/** An event that got lost, as they do when a site is copied or restored, comes back. */
	public static function ensure(): void {
		$next = wp_next_scheduled( self::HOOK );
		// None is further ahead, unless the clock was set back since.
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

	/** @return int Seconds after which the service wants to hear again; 0 if it did not say. */
	private function ask(): int {
		$credentials = $this->with->credentials->load();
		// Whether a suspension has ended, or a service that had lost its data knows this site again.
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
