<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * What proves that this site started a registration. Anybody may read a proof: the key that it is
 * made with stays here, and without the key it is worth nothing.
 */
final class Proof {

	/** The answer to a challenge that the service made up for one try. */
	public static function of_challenge( string $temp_key, string $challenge, string $registration_id, string $domain ): string {
		return hash_hmac( 'sha256', "verify.$challenge.$registration_id.$domain", $temp_key );
	}

	/** What is published as a file, a meta tag or a DNS record for as long as the registration lives. */
	public static function published( string $temp_key, string $registration_id, string $domain ): string {
		return 'fb1=' . hash_hmac( 'sha256', "static.$registration_id.$domain", $temp_key );
	}
}
