<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Disconnects at the service, then deletes all data of the plugin. */
final class Uninstall {

	public static function run(): void {
		if ( ! is_multisite() ) {
			self::run_here( true );
			return;
		}
		$every_site = array(
			'fields' => 'ids',
			'number' => 0,
		);
		$tells = true;
		foreach ( get_sites( $every_site ) as $blog_id ) {
			switch_to_blog( $blog_id );
			$tells = self::run_here( $tells );
			restore_current_blog();
		}
	}

	/**
	 * Deletes the data even if the service is down: the keys no longer exist anywhere.
	 *
	 * @param bool $tells Whether to notify the service.
	 * @return bool Whether to notify it for the next site. Waiting for each of hundreds would exceed the PHP time limit.
	 */
	private static function run_here( bool $tells ): bool {
		$with    = new Services();
		$account = new Account( $with );
		$tells   = $tells && ! $account->disconnect()->is_outage();
		$account->forget();
		$with->queue->destroy();
		Plugin::unschedule();
		foreach ( array( Settings::OPTION, SiteState::OPTION, Outage::OPTION, Clock::OFFSET, Lock::PREFIX . 'connect', Lock::PREFIX . 'send' ) as $option ) {
			delete_option( $option );
		}
		return $tells;
	}
}
