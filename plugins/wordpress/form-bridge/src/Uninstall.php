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
		$notify = true;
		foreach ( get_sites( $every_site ) as $blog_id ) {
			switch_to_blog( $blog_id );
			$notify = self::run_here( $notify );
			restore_current_blog();
		}
	}

	/**
	 * Deletes the data even if the service is down: the keys no longer exist anywhere.
	 *
	 * @param bool $notify Whether to notify the service.
	 * @return bool Whether to notify it for the next site. A timeout for each of hundreds of sites would exceed
	 *              the PHP time limit.
	 */
	private static function run_here( bool $notify ): bool {
		$services     = new Services();
		$site_service = new SiteService( $services );
		$notify       = $notify && ! $site_service->disconnect()->is_outage();
		$site_service->delete_local_data();
		$services->queue->drop_table();
		Plugin::unschedule();
		foreach ( array( Settings::OPTION, SiteState::OPTION, Backoff::OPTION, Clock::OFFSET_OPTION, Lock::PREFIX . 'connect', Lock::PREFIX . 'send' ) as $option ) {
			delete_option( $option );
		}
		return $notify;
	}
}
