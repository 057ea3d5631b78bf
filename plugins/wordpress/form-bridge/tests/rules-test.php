<?php
/** Rules that need neither the service nor WordPress. */

use FormBridge\Credentials;
use FormBridge\Environment;
use FormBridge\Release;
use FormBridge\Sender;
use FormBridge\Vault;

test(
	'what kind of site it is follows from what the owner says, WordPress says, and its name, in this order',
	function () {
		same( 'production', Environment::of( 'example.com', 'production', 'automatic' ) );
		same( 'staging', Environment::of( 'example.com', 'production', 'staging' ) );
		same( 'production', Environment::of( 'staging.example.com', 'staging', 'production' ) );
		same( 'development', Environment::of( 'example.com', 'development', 'automatic' ) );
		foreach ( array( 'staging.example.com', 'stage2.example.com', 'example-staging.example.com', 'client.kinsta.cloud', 'x.wpengine.com', 'y.flywheelsites.com' ) as $host ) {
			same( 'staging', Environment::of( $host, 'production', 'automatic' ) );
		}
		foreach ( array( 'localhost', 'shop.local', 'shop.test', '127.0.0.1', '192.168.1.5', '172.20.0.2', 'shop.ddev.site' ) as $host ) {
			same( 'local', Environment::of( $host, 'production', 'automatic' ) );
		}
		same( 'development', Environment::of( 'dev.example.com', 'production', 'automatic' ) );
		foreach ( array( 'developer.example.com', 'stagecoach.com', 'protest.org', 'latest.com', 'mylocal.com', 'contest.de' ) as $host ) {
			same( 'production', Environment::of( $host, 'production', 'automatic' ) );
		}
	}
);

test(
	'what was sealed opens under the same salts only, and not when it was damaged',
	function () {
		$vault  = new Vault();
		$sealed = $vault->seal( 'a secret' );
		same( 'a secret', $vault->open( $sealed ) );
		same( false, $sealed === $vault->seal( 'a secret' ) );
		same( null, $vault->open( substr( $sealed, 0, -8 ) . 'AAAAAAA=' ) );
		same( null, $vault->open( 'fbv1:AAAA' ) );
		same( null, $vault->open( 'a secret' ) );
		Site::$salt = 'other salt';
		same( null, $vault->open( $sealed ) );
	}
);

test(
	'keys are masked, whatever they look like',
	function () {
		same( 'fb_live_0a1b2c3d_••••••••', Credentials::masked( 'fb_live_0a1b2c3d_abcdef_12345678' ) );
		same( 'fb_whs_••••••••', Credentials::masked( 'fb_whs_abcdef' ) );
		same( '••••••••', Credentials::masked( 'abcdef' ) );
	}
);

test(
	'a release is installed only if it is newer and signed',
	function () {
		$vectors = json_decode( file_get_contents( VECTORS ), true )['releases'];
		$keys    = array( base64_decode( $vectors['public_key'] ) );
		$offer   = $vectors['releases'][0];
		$code    = function ( array $changes, string $installed = '1.0.0' ) use ( $offer, $keys ) {
			$objection = ( new Release( array_merge( $offer, $changes ) ) )->objection( $keys, $installed );
			return null === $objection ? null : $objection->get_error_code();
		};
		same( '1.1.0', $offer['version'] );
		same( null, $code( array() ) );
		same( 'form_bridge_older', $code( array(), '1.1.0' ) );
		same( 'form_bridge_older', $code( array(), '2.0.0' ) );
		same( 'form_bridge_unsigned', $code( array( 'signature' => '' ) ) );
		same( 'form_bridge_unsigned', $code( array( 'signature' => null ) ) );
		same( 'form_bridge_signature', $code( array( 'version' => '1.2.0' ) ) );
		same( 'form_bridge_signature', $code( array( 'sha256' => str_repeat( '0', 64 ) ) ) );
		same( 'form_bridge_older', $code( array( 'version' => array( '9' ) ) ) );
	}
);

test(
	'a submission is tried again later and later, at least twice a day',
	function () {
		$pauses = array_map( array( Sender::class, 'pause' ), range( 1, 20 ) );
		$sorted = $pauses;
		sort( $sorted );
		same( $sorted, $pauses );
		same( 60, $pauses[0] );
		same( 43200, max( $pauses ) );
	}
);

test(
	'a release that needs a newer WordPress or PHP is not installed, and the site itself sees to it',
	function () {
		$code = function ( array $offer ) {
			$objection = ( new Release( $offer ) )->incompatibility();
			return null === $objection ? null : $objection->get_error_code();
		};
		same( null, $code( array() ) );
		same(
			null,
			$code(
				array(
					'requires'     => '5.8',
					'requires_php' => '7.4',
				)
			)
		);
		same( 'form_bridge_wordpress', $code( array( 'requires' => '99.0' ) ) );
		same( 'form_bridge_php', $code( array( 'requires_php' => '99.0' ) ) );
		same( null, $code( array( 'requires' => array( '99' ) ) ) );
	}
);
