<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Backs off while the service is down or asks to wait. The pauses grow up to a limit.
 */
final class Outage {

	const OPTION = 'form_bridge_outage';

	/** Seconds until the next attempt, by the number of consecutive failures. */
	const PAUSES = array( 300, 3600, 10800, 43200 );

	/** @var Clock */
	private $clock;

	public function __construct( Clock $clock ) {
		$this->clock = $clock;
	}

	public static function pause( int $failures ): int {
		return self::PAUSES[ min( $failures, count( self::PAUSES ) ) - 1 ];
	}

	/** Whether background requests may be sent now. */
	public function is_over(): bool {
		return $this->until() <= $this->clock->now();
	}

	/** 0 if there is none. Setting the clock back does not extend it. */
	public function until(): int {
		$until = (int) ( $this->stored()['until'] ?? 0 );
		return min( $until, $this->clock->now() + max( self::PAUSES ) );
	}

	public function learn( Answer $answer ): void {
		$stored = $this->stored();
		if ( $answer->is_outage() ) {
			$failures = (int) ( $stored['failures'] ?? 0 ) + 1;
			$this->store( $failures, max( self::pause( $failures ), $answer->retry_after ) );
		} elseif ( $answer->is( 'rate_limited' ) || $answer->is( 'blocked' ) ) {
			$this->store( 0, max( 60, $answer->retry_after ) );
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
