<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The address of this site. */
final class Home {

	/** From the option, because translation plugins change home_url() for each page. */
	public static function url(): string {
		return untrailingslashit( (string) get_option( 'home' ) );
	}

	public static function host(): string {
		return strtolower( (string) wp_parse_url( self::url(), PHP_URL_HOST ) );
	}

	/** Whether both are the same site, with http or https. */
	public static function same( string $one, string $other ): bool {
		return self::domain_of( $one ) === self::domain_of( $other );
	}

	/** A hash for the database, because tools that copy sites replace addresses in all tables. */
	public static function mark(): string {
		return hash( 'sha256', self::domain_of( self::url() ) );
	}

	/** Host, port unless it is the scheme's own, and path. */
	public static function domain_of( string $url ): string {
		$parts  = wp_parse_url( $url );
		$scheme = strtolower( $parts['scheme'] ?? 'https' );
		$port   = $parts['port'] ?? null;
		$usual  = array(
			'http'  => 80,
			'https' => 443,
		);
		$shown  = null === $port || ( $usual[ $scheme ] ?? null ) === $port ? '' : ':' . $port;
		return strtolower( $parts['host'] ?? '' ) . $shown . rtrim( $parts['path'] ?? '', '/' );
	}
}
