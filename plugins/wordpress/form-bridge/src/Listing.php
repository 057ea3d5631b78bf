<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The fields of a release that are passed to WordPress. The service is not trusted, and WordPress
 * would install the translations and packages of an offer and print some texts unescaped. So only
 * these fields are passed on, and only if they are valid.
 */
final class Listing {

	/** Does not exist, so WordPress cannot download a package itself, for example while the plugin is inactive. */
	const PACKAGE = 'https://form-bridge.invalid/fetched-by-the-plugin';

	const VERSION = '/^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/D';

	const TIME = '/^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/D';

	const TEXT = '//';

	/** Those that WordPress has a title for. */
	const SECTIONS = array( 'description', 'installation', 'faq', 'changelog' );

	/**
	 * @param array<string, mixed> $offer Of which {@see Release} has no objection.
	 * @return array<string, string>
	 */
	public static function update( array $offer ): array {
		$forms = array(
			'version'        => self::VERSION,
			'url'            => self::TEXT,
			'tested'         => self::VERSION,
			'requires'       => self::VERSION,
			'requires_php'   => self::VERSION,
			'upgrade_notice' => self::TEXT,
		);
		return self::formed( $offer, $forms ) + array(
			'slug'    => Release::SLUG,
			'package' => self::PACKAGE,
		);
	}

	/**
	 * @param array<string, mixed> $details
	 * @return array<string, mixed>
	 */
	public static function details( array $details ): array {
		$forms    = array(
			'version'      => self::VERSION,
			'author'       => self::TEXT,
			'homepage'     => self::TEXT,
			'tested'       => self::VERSION,
			'requires'     => self::VERSION,
			'requires_php' => self::VERSION,
			'last_updated' => self::TIME,
		);
		$sections = is_array( $details['sections'] ?? null ) ? $details['sections'] : array();
		return self::formed( $details, $forms ) + array(
			'name'     => 'Form-Bridge',
			'slug'     => Release::SLUG,
			'version'  => FORM_BRIDGE_VERSION,
			'sections' => self::formed( $sections, array_fill_keys( self::SECTIONS, self::TEXT ) ),
		);
	}

	/** @return array<string, string> */
	private static function formed( array $given, array $forms ): array {
		$formed = array();
		foreach ( $forms as $name => $form ) {
			if ( is_string( $given[ $name ] ?? null ) && preg_match( $form, $given[ $name ] ) ) {
				$formed[ $name ] = $given[ $name ];
			}
		}
		return $formed;
	}
}
