<?php
/** Keys in wp-config.php or the environment, which the plugin cannot change. */

use FormBridge\Cli;
use FormBridge\Connector;
use FormBridge\Services;
use FormBridge\SiteService;

function with_keys_in_config( string $secret, callable $work ): void {
	$names = array( 'FORM_BRIDGE_SITE_ID', 'FORM_BRIDGE_API_KEY', 'FORM_BRIDGE_SECRET' );
	putenv( 'FORM_BRIDGE_SITE_ID=site_1234567890123456' );
	putenv( 'FORM_BRIDGE_API_KEY=fb_live_0a1b2c3d_key_crc' );
	putenv( "FORM_BRIDGE_SECRET=$secret" );
	try {
		$work( new Services() );
	} finally {
		array_map( 'putenv', $names );
	}
}

test(
	'new keys in wp-config.php are used, whatever the state of the old ones was',
	function () {
		with_keys_in_config(
			'fb_whs_old',
			function ( Services $services ) {
				Site::fail( 401, 'form-bridge.unauthorized' );
				get_site( $services );
				same( 'rejected', $services->status() );
				same( 'rejected', ( new Services() )->status() );
				same( false, strpos( serialize( Site::$options ), 'fb_whs_old' ) );
			}
		);
		with_keys_in_config(
			'fb_whs_new',
			function ( Services $services ) {
				same( 'connected', $services->status() );
			}
		);
	}
);

test(
	'keys in wp-config.php of a disabled site are shown as rejected',
	function () {
		with_keys_in_config(
			'fb_whs_secret',
			function ( Services $services ) {
				Site::fail( 403, 'form-bridge.site_disabled' );
				get_site( $services );
				same( 'rejected', $services->status() );
				Site::reset();
				Site::respond( 200, array( 'status' => 'disabled' ) );
				same( true, ( new SiteService( $services ) )->disconnect()->ok() );
				same( 'rejected', $services->status() );
			}
		);
	}
);

test(
	'a site with keys in wp-config.php is not reconnected, because that would revoke keys that stay in use',
	function () {
		( new Services() )->connector->start( Connector::CONNECT );
		with_keys_in_config(
			'fb_whs_secret',
			function ( Services $services ) {
				$services->connector->step();
				same( 'idle', $services->connector->phase() );
				same( array(), $services->connector->purposes() );
				try {
					( new Cli( $services ) )->connect( array(), array() );
					same( 'an error', 'none' );
				} catch ( RuntimeException $error ) {
					same( 1, preg_match( '/wp-config\.php/', $error->getMessage() ) );
				}
				same( array(), Site::$requests );
			}
		);
	}
);

test(
	'an expired join token in wp-config.php does not prevent a reconnection and does not admit a new site',
	function () {
		putenv( 'FORM_BRIDGE_JOIN_TOKEN=fb_join_ended' );
		try {
			foreach ( array( 'join_token_invalid', 'agency_closed' ) as $code ) {
				Site::reset();
				$services   = connected_site();
				Site::$salt = 'other salt';
				Site::fail( 403, "form-bridge.$code" );
				Site::respond( 201, REGISTERED );
				Site::respond( 200, CONNECTED );
				connect( $services );
				same( 'fb_join_ended', Site::sent( 0 )['join_token'] );
				same( false, isset( Site::sent( 1 )['join_token'] ) );
				same( 'connected', $services->status() );

				Site::reset();
				Site::fail( 403, "form-bridge.$code" );
				connect( new Services() );
				same( 1, count( Site::$requests ) );
			}
		} finally {
			putenv( 'FORM_BRIDGE_JOIN_TOKEN' );
		}
	}
);
