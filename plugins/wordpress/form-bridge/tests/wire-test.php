<?php
/** Requests and proofs match the protocol byte for byte. */

use FormBridge\Proof;
use FormBridge\ReleaseSignature;
use FormBridge\Signer;
use FormBridge\SiteAddress;

$vectors = json_decode( file_get_contents( VECTORS ), true );

test(
	'signatures match the test vectors of the service',
	function () use ( $vectors ) {
		same( true, count( $vectors['signed_requests']['requests'] ) > 0 );
		foreach ( $vectors['signed_requests']['requests'] as $request ) {
			$body      = $request['body'] ?? str_repeat( $request['body_repeat']['repeat'], $request['body_repeat']['times'] );
			$canonical = Signer::canonical( $request['timestamp'], $request['nonce'], $request['method'], $request['target'], $body );
			same( $request['canonical'], $canonical );
			same( $request['signature'], Signer::signature( $vectors['signed_requests']['webhook_secret'], $canonical ) );
		}
	}
);

test(
	'the signed target is the path and query exactly as sent',
	function () {
		same( '/form-bridge/v1/site', Signer::target( 'https://forms.test/form-bridge/v1/site' ) );
		same( '/v1/updates/check?a=1&b=%20', Signer::target( 'https://forms.test/v1/updates/check?a=1&b=%20' ) );
	}
);

test(
	'proofs match the test vectors of the service',
	function () use ( $vectors ) {
		$given = $vectors['proofs'];
		foreach ( $given['proofs'] as $proof ) {
			same( $proof['response'], Proof::for_challenge( $given['temp_key'], $proof['challenge'], $given['registration_id'], $proof['domain'] ) );
			same( $proof['static'], Proof::static_proof( $given['temp_key'], $given['registration_id'], $proof['domain'] ) );
		}
	}
);

test(
	'a release signature is valid only for its own slug, version and hash',
	function () use ( $vectors ) {
		$keys = array( base64_decode( $vectors['releases']['public_key'] ) );
		foreach ( $vectors['releases']['releases'] as $release ) {
			$is_valid = function ( array $changes, ?array $other_keys = null ) use ( $release, $keys ) {
				$of = array_merge( $release, $changes );
				return ReleaseSignature::is_valid( $of['slug'], $of['version'], $of['sha256'], $of['signature'], $other_keys ?? $keys );
			};
			same( true, $is_valid( array() ) );
			same( true, $is_valid( array(), array( str_repeat( 'x', 32 ), $keys[0] ) ) );
			same( false, $is_valid( array( 'slug' => 'other' ) ) );
			same( false, $is_valid( array( 'version' => '9.9.9' ) ) );
			same( false, $is_valid( array( 'sha256' => hash( 'sha256', 'other' ) ) ) );
			same( false, $is_valid( array( 'sha256' => strtoupper( $release['sha256'] ) ) ) );
			same( false, $is_valid( array( 'signature' => base64_encode( str_repeat( 'x', 64 ) ) ) ) );
			same( false, $is_valid( array( 'signature' => 'not base64!' ) ) );
			same( false, $is_valid( array( 'signature' => '' ) ) );
			same( false, $is_valid( array(), array() ) );
			same( false, $is_valid( array(), array( 'short' ) ) );
		}
	}
);

test(
	'two addresses are the same site exactly if they have the same domain at the service',
	function () use ( $vectors ) {
		foreach ( $vectors['domains'] as $one ) {
			foreach ( $vectors['domains'] as $other ) {
				// WordPress stores names in punycode already.
				if ( preg_match( '/[^\x20-\x7e]/', $one['site_url'] . $other['site_url'] ) ) {
					continue;
				}
				same( $one['domain'] === $other['domain'], SiteAddress::is_same( $one['site_url'], $other['site_url'] ) );
			}
		}
		same( true, SiteAddress::is_same( 'http://example.com', 'https://example.com/' ) );
		same( false, SiteAddress::is_same( 'https://example.com', 'https://www.example.com' ) );
	}
);
