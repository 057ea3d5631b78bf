<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The address of this site. */
final class SiteAddress {

	/** From the option, because translation plugins change home_url() for each page. */
	public static function url(): string {
		return untrailingslashit( (string) get_option( 'home' ) );
	}

	public static function host(): string {
		return strtolower( (string) wp_parse_url( self::url(), PHP_URL_HOST ) );
	}

	/** Whether both are the same site, ignoring http or https. */
	public static function is_same( string $one, string $other ): bool {
		return self::domain( $one ) === self::domain( $other );
	}

	/** A hash for the database, because tools that copy sites replace addresses in all tables. */
	public static function hash(): string {
		return hash( 'sha256', self::domain( self::url() ) );
	}

	/** Host, port unless it is the default of the scheme, and path. */
	public static function domain( string $url ): string {
		$parts   = wp_parse_url( $url );
		$scheme  = strtolower( $parts['scheme'] ?? 'https' );
		$port    = $parts['port'] ?? null;
		$default = array(
			'http'  => 80,
			'https' => 443,
		);
		$suffix = null === $port || ( $default[ $scheme ] ?? null ) === $port ? '' : ':' . $port;
		return strtolower( $parts['host'] ?? '' ) . $suffix . rtrim( $parts['path'] ?? '', '/' );
	}
}
