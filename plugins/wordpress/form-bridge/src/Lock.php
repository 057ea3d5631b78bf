<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A lock in the database: one row, one owner. */
final class Lock {

	const PREFIX = 'form_bridge_lock_';

	/**
	 * Runs the work unless another request holds the lock. A lock whose owner died is taken over, even
	 * if the clock was set back by more than the clocks of servers with one database differ.
	 *
	 * @param int $seconds The maximum duration of the work.
	 * @return mixed The result of the work, or null if another request holds the lock.
	 */
	public static function run( string $name, int $seconds, callable $work ) {
		global $wpdb;
		$option = self::PREFIX . $name;
		$now    = time();
		$wpdb->query( $wpdb->prepare( "DELETE FROM $wpdb->options WHERE option_name = %s AND ( option_value + 0 < %d OR option_value + 0 > %d )", $option, $now, $now + $seconds + HOUR_IN_SECONDS ) );
		$owned = $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO $wpdb->options (option_name, option_value, autoload) VALUES (%s, %s, 'no')", $option, (string) ( $now + $seconds ) ) );
		if ( 1 !== $owned ) {
			return null;
		}
		try {
			return $work();
		} finally {
			$wpdb->delete( $wpdb->options, array( 'option_name' => $option ) );
		}
	}
}
