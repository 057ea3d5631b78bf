<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Delays background requests while the service is down or rate limits this site. */
final class Backoff {

	const OPTION = 'form_bridge_outage';

	/** Seconds until the next attempt, by the number of consecutive failures. */
	const DELAYS = array( 300, 3600, 10800, 43200 );

	/** @var Clock */
	private $clock;

	public function __construct( Clock $clock ) {
		$this->clock = $clock;
	}

	public static function delay( int $failures ): int {
		return self::DELAYS[ min( $failures, count( self::DELAYS ) ) - 1 ];
	}

	/** Whether background requests may be sent now. */
	public function is_over(): bool {
		return $this->until() <= $this->clock->now();
	}

	/** The epoch second until which to wait; 0 if there was no failure. Setting the clock back does not extend it. */
	public function until(): int {
		$until = (int) ( $this->stored()['until'] ?? 0 );
		return min( $until, $this->clock->now() + max( self::DELAYS ) );
	}

	public function record( Response $response ): void {
		$stored = $this->stored();
		if ( $response->is_outage() ) {
			$failures = (int) ( $stored['failures'] ?? 0 ) + 1;
			$this->store( $failures, max( self::delay( $failures ), $response->retry_after ) );
		} elseif ( $response->is( 'rate_limited' ) || $response->is( 'blocked' ) ) {
			$this->store( 0, max( 60, $response->retry_after ) );
		} elseif ( array() !== $stored ) {
			delete_option( self::OPTION );
		}
	}

	private function stored(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}

	private function store( int $failures, int $seconds ): void {
		$value = array(
			'failures' => $failures,
			'until'    => $this->clock->now() + $seconds,
		);
		update_option( self::OPTION, $value, false );
	}
}
