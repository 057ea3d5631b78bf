<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The end: the service is told, and then everything of this plugin goes. */
final class Uninstall {

	public static function run(): void {
		if ( ! is_multisite() ) {
			self::run_here();
			return;
		}
		$every_site = array(
			'fields' => 'ids',
			'number' => 0,
		);
		foreach ( get_sites( $every_site ) as $blog_id ) {
			switch_to_blog( $blog_id );
			self::run_here();
			restore_current_blog();
		}
	}

	private static function run_here(): void {
		$with    = new Services();
		$account = new Account( $with );
		// If the service is down the site goes all the same: nobody has its keys any more.
		$account->disconnect();
		$account->forget();
		$with->queue->destroy();
		Plugin::unschedule();
		foreach ( array( Settings::OPTION, Outage::OPTION, Clock::OFFSET, Lock::PREFIX . 'connect', Lock::PREFIX . 'send' ) as $option ) {
			delete_option( $option );
		}
	}
}
