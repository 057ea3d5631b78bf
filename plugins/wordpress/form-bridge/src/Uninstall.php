<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The end: the service is told, and then everything of this plugin goes. */
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
	 * If the service is down the site goes all the same: nobody has its keys any more.
	 *
	 * @param bool $tells Whether the service is told.
	 * @return bool Whether it may be told of the next one: PHP ends what waits for each of hundreds.
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
