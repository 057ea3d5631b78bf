<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The sites of a multisite network. Each is connected by itself and has its own queue. */
final class NetworkSites {

	/** Sites per page, and per click of "Connect". */
	const MAX_SITES = 50;

	/**
	 * @param int $page From 1.
	 * @return array[] blog_id, url, settings_url, status, is_connecting, undelivered.
	 */
	public static function page( int $page ): array {
		return self::each(
			array(
				'number' => self::MAX_SITES,
				'offset' => self::MAX_SITES * ( max( 1, $page ) - 1 ),
			),
			static function ( int $blog_id ): array {
				$services = new Services();
				$stats    = $services->queue->has_table() ? $services->queue->stats() : array(
					'waiting' => 0,
					'refused' => 0,
				);
				return array(
					'blog_id'       => $blog_id,
					'url'           => home_url( '/' ),
					'settings_url'  => Admin\SettingsPage::url(),
					'status'        => $services->status(),
					'is_connecting' => $services->connector->is_running(),
					'undelivered'   => $stats['waiting'] + $stats['refused'],
				);
			}
		);
	}

	/** @return int The number of pages. */
	public static function pages(): int {
		return (int) ceil( get_sites( array( 'count' => true ) ) / self::MAX_SITES );
	}

	/**
	 * Starts to connect sites that are not connected. The cron of each site does the rest.
	 *
	 * @return int How many.
	 */
	public static function connect( int $page, string $join_token ): int {
		$started = 0;
		foreach ( self::page( $page ) as $site ) {
			if ( 'not_connected' === $site['status'] && ! $site['is_connecting'] ) {
				switch_to_blog( $site['blog_id'] );
				( new Services() )->connector->start( Connector::CONNECT, $join_token );
				restore_current_blog();
				++$started;
			}
		}
		return $started;
	}

	/** Runs a function in each site, in the order of their ids. */
	public static function each( array $query, callable $run ): array {
		$results = array();
		$order   = array(
			'fields'  => 'ids',
			'orderby' => 'id',
		);
		foreach ( get_sites( $order + $query ) as $blog_id ) {
			switch_to_blog( $blog_id );
			$results[] = $run( (int) $blog_id );
			restore_current_blog();
		}
		return $results;
	}
}
