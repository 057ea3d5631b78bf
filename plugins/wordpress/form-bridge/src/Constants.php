<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Settings from wp-config.php or the environment, which take precedence over the database. */
final class Constants {

	public static function get( string $name ): string {
		if ( defined( $name ) ) {
			return (string) constant( $name );
		}
		$from_environment = getenv( $name );
		return false === $from_environment ? '' : $from_environment;
	}
}
