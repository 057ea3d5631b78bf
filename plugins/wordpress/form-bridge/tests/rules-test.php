<?php
/** Rules that need neither the service nor WordPress. */

use FormBridge\Credentials;
use FormBridge\Encryption;
use FormBridge\Environment;
use FormBridge\Release;
use FormBridge\Sender;

test(
	'the environment is the setting of the owner, else that of WordPress, else derived from the host name',
	function () {
		same( 'production', Environment::detect( 'example.com', 'production', 'automatic' ) );
		same( 'staging', Environment::detect( 'example.com', 'production', 'staging' ) );
		same( 'production', Environment::detect( 'staging.example.com', 'staging', 'production' ) );
		same( 'development', Environment::detect( 'example.com', 'development', 'automatic' ) );
		foreach ( array( 'staging.example.com', 'stage2.example.com', 'example-staging.example.com', 'client.kinsta.cloud', 'x.wpengine.com', 'y.flywheelsites.com' ) as $host ) {
			same( 'staging', Environment::detect( $host, 'production', 'automatic' ) );
		}
		foreach ( array( 'localhost', 'shop.local', 'shop.test', '127.0.0.1', '192.168.1.5', '172.20.0.2', 'shop.ddev.site' ) as $host ) {
			same( 'local', Environment::detect( $host, 'production', 'automatic' ) );
		}
		same( 'development', Environment::detect( 'dev.example.com', 'production', 'automatic' ) );
		foreach ( array( 'developer.example.com', 'stagecoach.com', 'protest.org', 'latest.com', 'mylocal.com', 'contest.de' ) as $host ) {
			same( 'production', Environment::detect( $host, 'production', 'automatic' ) );
		}
	}
);

test(
	'encrypted text is decrypted only with the same salts and only if it is undamaged',
	function () {
		$encryption = new Encryption();
		$encrypted  = $encryption->encrypt( 'a secret' );
		same( 'a secret', $encryption->decrypt( $encrypted ) );
		same( false, $encrypted === $encryption->encrypt( 'a secret' ) );
		same( null, $encryption->decrypt( substr( $encrypted, 0, -8 ) . 'AAAAAAA=' ) );
		same( null, $encryption->decrypt( 'fbv1:AAAA' ) );
		same( null, $encryption->decrypt( 'a secret' ) );
		Site::$salt = 'other salt';
		same( null, $encryption->decrypt( $encrypted ) );
	}
);

test(
	'keys are masked, whatever they look like',
	function () {
		same( 'fb_live_0a1b2c3d_••••••••', Credentials::mask( 'fb_live_0a1b2c3d_abcdef_12345678' ) );
		same( 'fb_whs_••••••••', Credentials::mask( 'fb_whs_abcdef' ) );
		same( '••••••••', Credentials::mask( 'abcdef' ) );
	}
);

test(
	'a release is installed only if it is newer and signed',
	function () {
		$vectors = json_decode( file_get_contents( VECTORS ), true )['releases'];
		$keys    = array( base64_decode( $vectors['public_key'] ) );
		$offer   = $vectors['releases'][0];
		$code    = function ( array $changes, string $installed = '1.0.0' ) use ( $offer, $keys ) {
			$error = ( new Release( array_merge( $offer, $changes ) ) )->check( $keys, $installed );
			return null === $error ? null : $error->get_error_code();
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
	'the delay between attempts grows to at most twelve hours',
	function () {
		$delays = array_map( array( Sender::class, 'delay' ), range( 1, 20 ) );
		$sorted = $delays;
		sort( $sorted );
		same( $sorted, $delays );
		same( 60, $delays[0] );
		same( 43200, max( $delays ) );
	}
);

test(
	'the plugin itself rejects a release that requires a newer WordPress or PHP',
	function () {
		$code = function ( array $offer ) {
			$error = ( new Release( $offer ) )->check_requirements();
			return null === $error ? null : $error->get_error_code();
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
