<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Proofs that this site started a registration. They are public: without the temporary key, which
 * stays here, they are of no use.
 */
final class Proof {

	/** The response to the challenge of one attempt. */
	public static function for_challenge( string $temp_key, string $challenge, string $registration_id, string $domain ): string {
		return hash_hmac( 'sha256', "verify.$challenge.$registration_id.$domain", $temp_key );
	}

	/** The static proof for a file, a meta tag or a DNS record while the registration is pending. */
	public static function static_proof( string $temp_key, string $registration_id, string $domain ): string {
		return 'fb1=' . hash_hmac( 'sha256', "static.$registration_id.$domain", $temp_key );
	}
}
