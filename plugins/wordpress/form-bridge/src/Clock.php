<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The local time, and the time of the service, from the offset that the service reported. */
final class Clock {

	const OFFSET_OPTION = 'form_bridge_clock_offset';

	public function now(): int {
		return time();
	}

	public function server_now(): int {
		return $this->now() + $this->offset();
	}

	public function offset(): int {
		return (int) get_option( self::OFFSET_OPTION, 0 );
	}

	public function sync( int $server_time ): void {
		update_option( self::OFFSET_OPTION, $server_time - $this->now(), false );
	}
}
