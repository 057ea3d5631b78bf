<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Signs a request with the secret that only this site and the service have. */
final class Signer {

	/** The bytes that are signed. The target is path and query exactly as they are sent. */
	public static function canonical( int $timestamp, string $nonce, string $method, string $target, string $body ): string {
		return implode( "\n", array( 'FB1', $timestamp, $nonce, $method, $target, hash( 'sha256', $body ) ) );
	}

	public static function signature( string $secret, string $canonical ): string {
		return 'v1=' . hash_hmac( 'sha256', $canonical, $secret );
	}

	/** @return array<string, string> The headers of a signed request. */
	public static function headers( Credentials $credentials, string $method, string $url, string $body, int $now ): array {
		$nonce     = bin2hex( random_bytes( 16 ) );
		$canonical = self::canonical( $now, $nonce, $method, self::target( $url ), $body );
		return array(
			'X-FB-Site'      => $credentials->site_id,
			'X-FB-Timestamp' => (string) $now,
			'X-FB-Nonce'     => $nonce,
			'X-FB-Signature' => self::signature( $credentials->secret, $canonical ),
			'X-FB-Home'      => SiteAddress::url(),
		);
	}

	public static function target( string $url ): string {
		$parts = wp_parse_url( $url );
		$path  = $parts['path'] ?? '/';
		return isset( $parts['query'] ) ? $path . '?' . $parts['query'] : $path;
	}
}
