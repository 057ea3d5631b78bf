<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Verifies that a release was signed with a trusted key. The service is not trusted. */
final class ReleaseSignature {

	/**
	 * @param string   $sha256    Of the package, 64 lower-case hex digits.
	 * @param string   $signature Ed25519, in base64.
	 * @param string[] $keys      Public keys, 32 bytes each.
	 */
	public static function is_valid( string $slug, string $version, string $sha256, string $signature, array $keys ): bool {
		$bytes = base64_decode( $signature, true );
		if ( false === $bytes || 64 !== strlen( $bytes ) || ! preg_match( '/^[0-9a-f]{64}$/D', $sha256 ) ) {
			return false;
		}
		$message = "fb-release/1\n$slug\n$version\n$sha256";
		foreach ( $keys as $key ) {
			if ( 32 === strlen( $key ) && self::is_signed_by( $key, $bytes, $message ) ) {
				return true;
			}
		}
		return false;
	}

	/** The sodium polyfill of WordPress throws for invalid signatures. */
	private static function is_signed_by( string $key, string $signature, string $message ): bool {
		try {
			return sodium_crypto_sign_verify_detached( $signature, $message, $key );
		} catch ( \SodiumException $error ) {
			return false;
		}
	}
}
