<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Encrypts secrets in the database with the salts of wp-config.php. If the salts change, the secrets
 * cannot be decrypted, and the site must be reconnected.
 */
final class Encryption {

	const PREFIX = 'fbv1:';

	public function encrypt( string $text ): string {
		$nonce = random_bytes( SODIUM_CRYPTO_SECRETBOX_NONCEBYTES );
		return self::PREFIX . base64_encode( $nonce . sodium_crypto_secretbox( $text, $nonce, $this->key() ) );
	}

	/** Null if it was encrypted with other salts or is damaged. */
	public function decrypt( string $encrypted ): ?string {
		if ( 0 !== strpos( $encrypted, self::PREFIX ) ) {
			return null;
		}
		$bytes = base64_decode( substr( $encrypted, strlen( self::PREFIX ) ), true );
		if ( false === $bytes || strlen( $bytes ) < SODIUM_CRYPTO_SECRETBOX_NONCEBYTES + SODIUM_CRYPTO_SECRETBOX_MACBYTES ) {
			return null;
		}
		$nonce = substr( $bytes, 0, SODIUM_CRYPTO_SECRETBOX_NONCEBYTES );
		$text  = sodium_crypto_secretbox_open( substr( $bytes, SODIUM_CRYPTO_SECRETBOX_NONCEBYTES ), $nonce, $this->key() );
		return false === $text ? null : $text;
	}

	private function key(): string {
		return hash( 'sha256', wp_salt( 'auth' ) . 'form-bridge', true );
	}
}
