<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Values of this build. No setting can change them. */
final class Build {

	/** The URL of the service, or an empty string. */
	public static function service_url(): string {
		return self::values()['service_url'];
	}

	/**
	 * Public keys that may sign releases, 32 bytes each.
	 *
	 * @return string[]
	 */
	public static function release_keys(): array {
		return array_map( 'base64_decode', self::values()['release_keys'] );
	}

	private static function values(): array {
		static $values = null;
		if ( null === $values ) {
			$values = require dirname( __DIR__ ) . '/build.php';
		}
		return $values;
	}
}
