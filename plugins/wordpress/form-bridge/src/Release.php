<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A release that the service offers, and the checks before it is installed. */
final class Release {

	const SLUG = 'form-bridge';

	/** The maximum size of a package in bytes. */
	const MAX_BYTES = 20971520;

	/** @var string */
	public $version;

	/** @var string */
	private $sha256;

	/** @var string */
	private $signature;

	/** @var string The minimum version of WordPress. */
	private $requires;

	/** @var string */
	private $requires_php;

	/** @param array<string, mixed> $offer */
	public function __construct( array $offer ) {
		$this->version   = self::text( $offer, 'version' );
		$this->sha256    = self::text( $offer, 'sha256' );
		$this->signature = self::text( $offer, 'signature' );

		$this->requires     = self::text( $offer, 'requires' );
		$this->requires_php = self::text( $offer, 'requires_php' );
	}

	public function is_newer( string $than = FORM_BRIDGE_VERSION ): bool {
		return version_compare( $this->version, $than, '>' );
	}

	/**
	 * Checks the offer, before the package is downloaded.
	 *
	 * @param string[] $keys Trusted public keys.
	 * @return \WP_Error|null Null if it may be installed.
	 */
	public function check( array $keys, string $installed = FORM_BRIDGE_VERSION ): ?\WP_Error {
		if ( ! $this->is_newer( $installed ) ) {
			return new \WP_Error( 'form_bridge_older', __( 'Form-Bridge was not updated. The offered version is not newer than the installed version.', 'form-bridge' ) );
		}
		if ( '' === $this->signature ) {
			return new \WP_Error( 'form_bridge_unsigned', __( 'Form-Bridge was not updated. The offered version is not signed.', 'form-bridge' ) );
		}
		if ( ! ReleaseSignature::is_valid( self::SLUG, $this->version, $this->sha256, $this->signature, $keys ) ) {
			return new \WP_Error( 'form_bridge_signature', __( 'Form-Bridge was not updated. The offered version is not signed with a key that this plugin trusts.', 'form-bridge' ) );
		}
		return null;
	}

	/** @return \WP_Error|null Null if it can run here. Checked here, because the service may not know the versions. */
	public function check_requirements(): ?\WP_Error {
		if ( ! is_wp_version_compatible( $this->requires ) ) {
			/* translators: %s: a version of WordPress. */
			return new \WP_Error( 'form_bridge_wordpress', sprintf( __( 'Form-Bridge was not updated. The offered version requires WordPress %s.', 'form-bridge' ), $this->requires ) );
		}
		if ( ! is_php_version_compatible( $this->requires_php ) ) {
			/* translators: %s: a version of PHP. */
			return new \WP_Error( 'form_bridge_php', sprintf( __( 'Form-Bridge was not updated. The offered version requires PHP %s.', 'form-bridge' ), $this->requires_php ) );
		}
		return null;
	}

	/** @return \WP_Error|null Null if the file matches the signed hash. */
	public function check_file( string $file ): ?\WP_Error {
		$hash = hash_file( 'sha256', $file );
		if ( false !== $hash && hash_equals( $this->sha256, $hash ) ) {
			return null;
		}
		return new \WP_Error( 'form_bridge_hash', __( 'Form-Bridge was not updated. The package does not match its signature.', 'form-bridge' ) );
	}

	private static function text( array $offer, string $name ): string {
		return is_string( $offer[ $name ] ?? null ) ? $offer[ $name ] : '';
	}
}
