<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** Finds uploaded files by the URLs in a submission. */
final class Uploads {

	/**
	 * Only files inside the folder of the form plugin are found, because some form plugins accept URLs from
	 * visitors, who must not be able to name any file of the server.
	 *
	 * @param string $folder Relative to the uploads directory, such as "wpforms".
	 * @return string The path, or an empty string.
	 */
	public static function path( string $url, string $folder ): string {
		$uploads = wp_get_upload_dir();
		$base    = self::without_scheme( $uploads['baseurl'] ) . '/';
		$address = self::without_scheme( strtok( $url, '?#' ) );
		if ( 0 !== strpos( $address, $base ) ) {
			return '';
		}
		$path = $uploads['basedir'] . '/' . rawurldecode( substr( $address, strlen( $base ) ) );
		return self::is_inside( $path, $uploads['basedir'] . "/$folder" ) ? $path : '';
	}

	public static function is_inside( string $path, string $directory ): bool {
		$real = realpath( $path );
		$root = realpath( $directory );
		return false !== $real && false !== $root && is_file( $real ) && 0 === strpos( $real, $root . DIRECTORY_SEPARATOR );
	}

	/** The name of a file at a URL. */
	public static function name( string $url ): string {
		return rawurldecode( wp_basename( (string) strtok( $url, '?#' ) ) );
	}

	private static function without_scheme( $url ): string {
		return (string) preg_replace( '#^https?:#', '', (string) $url );
	}
}
