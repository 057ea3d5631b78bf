<?php
/** Keys in wp-config.php or the environment, which only people can change. */

use FormBridge\Account;
use FormBridge\Cli;
use FormBridge\Connector;
use FormBridge\Services;

function with_keys_outside( string $secret, callable $work ): void {
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
	'keys outside the database that were replaced by good ones are used, whatever was said of the old ones',
	function () {
		with_keys_outside(
			'fb_whs_old',
			function ( Services $with ) {
				Site::refuses( 401, 'form-bridge.unauthorized' );
				ask_site( $with );
				same( 'rejected', $with->status() );
				same( 'rejected', ( new Services() )->status() );
				same( false, strpos( serialize( Site::$options ), 'fb_whs_old' ) );
			}
		);
		with_keys_outside(
			'fb_whs_new',
			function ( Services $with ) {
				same( 'connected', $with->status() );
			}
		);
	}
);

test(
	'keys outside the database that are of a disabled site are not shown as good ones',
	function () {
		with_keys_outside(
			'fb_whs_secret',
			function ( Services $with ) {
				Site::refuses( 403, 'form-bridge.site_disabled' );
				ask_site( $with );
				same( 'rejected', $with->status() );
				Site::reset();
				Site::answers( 200, array( 'status' => 'disabled' ) );
				same( true, ( new Account( $with ) )->disconnect()->ok() );
				same( 'rejected', $with->status() );
			}
		);
	}
);

test(
	'a site with keys outside the database is not connected: it would void them and not use the new ones',
	function () {
		( new Services() )->connector->begin( Connector::CONNECT );
		with_keys_outside(
			'fb_whs_secret',
			function ( Services $with ) {
				$with->connector->step();
				same( 'idle', $with->connector->phase() );
				same( array(), $with->connector->purposes() );
				try {
					( new Cli( $with ) )->connect( array(), array() );
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
	'a join token in wp-config.php that has ended does not keep a site from reconnecting, nor lets a new one in',
	function () {
		putenv( 'FORM_BRIDGE_JOIN_TOKEN=fb_join_ended' );
		try {
			foreach ( array( 'join_token_invalid', 'agency_closed' ) as $code ) {
				Site::reset();
				$with       = connected_site();
				Site::$salt = 'other salt';
				Site::refuses( 403, "form-bridge.$code" );
				Site::answers( 201, REGISTERED );
				Site::answers( 200, CONNECTED );
				connect( $with );
				same( 'fb_join_ended', Site::sent( 0 )['join_token'] );
				same( false, isset( Site::sent( 1 )['join_token'] ) );
				same( 'connected', $with->status() );

				Site::reset();
				Site::refuses( 403, "form-bridge.$code" );
				connect( new Services() );
				same( 1, count( Site::$requests ) );
			}
		} finally {
			putenv( 'FORM_BRIDGE_JOIN_TOKEN' );
		}
	}
);
