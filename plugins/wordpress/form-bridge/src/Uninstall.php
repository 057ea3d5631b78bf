<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Sends what it can and disconnects at the service, then deletes all data of the plugin. */
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
		delete_site_option( Settings::NETWORK_URL_OPTION );
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
		if ( $notify ) {
			// The last chance, even if the service was down before.
			delete_option( Backoff::OPTION );
			( new Sender( $services ) )->send_all();
		}
		self::report_undelivered( $services );
		$notify = $notify && ! $site_service->disconnect()->is_outage();
		$site_service->delete_local_data();
		$services->queue->drop_table();
		$services->forms->delete();
		$services->refused_files->delete();
		Plugin::unschedule();
		foreach ( array( Settings::OPTION, SiteState::OPTION, Backoff::OPTION, Clock::OFFSET_OPTION, Lock::PREFIX . 'connect', Lock::PREFIX . 'send' ) as $option ) {
			delete_option( $option );
		}
		return $notify;
	}

	private static function report_undelivered( Services $services ): void {
		$stats = $services->queue->has_table() ? $services->queue->stats() : array();
		$count = array_sum( array_intersect_key( $stats, array_flip( array( 'waiting', 'refused' ) ) ) );
		if ( $count > 0 ) {
			// phpcs:ignore WordPress.PHP.DevelopmentFunctions -- for the administrator of the server.
			error_log( sprintf( 'Form-Bridge: %d undelivered submissions were deleted with the plugin.', $count ) );
		}
	}
}
