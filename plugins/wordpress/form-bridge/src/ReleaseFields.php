<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The fields of a release that are passed to WordPress. The service is not trusted, and WordPress
 * would install the translations and packages of an offer and print some texts unescaped. So only
 * these fields are passed on, and only if they are valid.
 */
final class ReleaseFields {

	/** This host does not exist, so WordPress cannot download a package itself, for example while the plugin is inactive. */
	const PACKAGE = 'https://form-bridge.invalid/fetched-by-the-plugin';

	const VERSION = '/^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/D';

	const TIME = '/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/D';

	const TEXT = '//';

	/** Sections for which WordPress has a title. */
	const SECTIONS = array( 'description', 'installation', 'faq', 'changelog' );

	/**
	 * @param array<string, mixed> $offer One that {@see Release} has verified.
	 * @return array<string, string>
	 */
	public static function update( array $offer ): array {
		$patterns = array(
			'version'        => self::VERSION,
			'url'            => self::TEXT,
			'tested'         => self::VERSION,
			'requires'       => self::VERSION,
			'requires_php'   => self::VERSION,
			'upgrade_notice' => self::TEXT,
		);
		return self::with_patch_level( self::valid_fields( $offer, $patterns ) ) + array(
			'slug'    => Release::SLUG,
			'package' => self::PACKAGE,
		);
	}

	/**
	 * @param array<string, mixed> $details
	 * @return array<string, mixed>
	 */
	public static function details( array $details ): array {
		$patterns = array(
			'version'      => self::VERSION,
			'author'       => self::TEXT,
			'homepage'     => self::TEXT,
			'tested'       => self::VERSION,
			'requires'     => self::VERSION,
			'requires_php' => self::VERSION,
			'last_updated' => self::TIME,
		);
		$sections = is_array( $details['sections'] ?? null ) ? $details['sections'] : array();
		return self::with_patch_level( self::valid_fields( $details, $patterns ) ) + array(
			'name'     => 'Form-Bridge',
			'slug'     => Release::SLUG,
			'version'  => FORM_BRIDGE_VERSION,
			'sections' => self::valid_fields( $sections, array_fill_keys( self::SECTIONS, self::TEXT ) ),
		);
	}

	/**
	 * "Tested up to: 7.1" includes 7.1.4, but WordPress compares the text with its own version. WordPress.org
	 * adds the patch level in the same way.
	 */
	private static function with_patch_level( array $fields ): array {
		$here = (string) preg_replace( '/-.*$/', '', get_bloginfo( 'version' ) );
		// A branch has two numbers; with three it is one patch level only.
		if ( isset( $fields['tested'] ) && preg_match( '/^\d+\.\d+$/D', $fields['tested'] ) && 0 === strpos( "$here.", $fields['tested'] . '.' ) ) {
			$fields['tested'] = $here;
		}
		return $fields;
	}

	/** @return array<string, string> */
	private static function valid_fields( array $fields, array $patterns ): array {
		$valid = array();
		foreach ( $patterns as $name => $pattern ) {
			if ( is_string( $fields[ $name ] ?? null ) && preg_match( $pattern, $fields[ $name ] ) ) {
				$valid[ $name ] = $fields[ $name ];
			}
		}
		return $valid;
	}
}
