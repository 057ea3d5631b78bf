<?php
/** Connecting, step by step. */

use FormBridge\Cli;
use FormBridge\Connector;
use FormBridge\Credentials;
use FormBridge\Services;

const REGISTERED = array(
	'registration_id' => 'reg_01JBKQ5W8ZC3V7N2M4X6T9R0PD',
	'temp_key'        => 'fb_temp_key',
	'domain'          => 'example.com',
	'expires_in'      => 3600,
	'proofs'          => array(),
);

const CONNECTED = array(
	'result'              => 'connected',
	'site_id'             => 'site_1234567890123456',
	'api_key'             => 'fb_live_0a1b2c3d_key_crc',
	'webhook_secret'      => 'fb_whs_secret',
	'confirmation_needed' => false,
);

const VERIFYING = array(
	'result'      => 'verifying',
	'retry_after' => 0,
);

/** As often as there is something to do. */
function connect( Services $with, string $purpose = Connector::CONNECT ): void {
	$with->connector->begin( $purpose );
	for ( $step = 0; $step < 100 && $with->connector->is_under_way(); $step++ ) {
		$with->connector->step();
	}
}

test(
	'beginning to connect asks nobody anything',
	function () {
		( new Services() )->connector->begin( Connector::CONNECT );
		same( array(), Site::$requests );
		same( 'form_bridge_connect', Site::$events[0][1] );
	}
);

test(
	'a site is registered, proved and connected, and its registration forgotten',
	function () {
		$with = new Services();
		Site::answers( 201, REGISTERED );
		Site::answers( 202, VERIFYING );
		Site::answers( 200, CONNECTED );
		connect( $with );
		same( 'connected', $with->status() );
		same( null, $with->registration->pending() );
		same( array( 'site_url', 'wp_version', 'plugin_version', 'environment' ), array_keys( Site::sent( 0 ) ) );
		same( false, Site::sent( 1 )['wait'] );
		same( 'fb_temp_key', Site::sent( 2 )['temp_key'] );
		same( false, isset( Site::sent( 1 )['previous_api_key'] ) );
	}
);

test(
	'no secret lies open in an option',
	function () {
		$with = new Services();
		Site::answers( 201, REGISTERED );
		Site::answers( 202, VERIFYING );
		$with->connector->begin( Connector::CONNECT, 'fb_join_token' );
		$with->connector->step();
		$with->connector->step();
		same( 'fb_join_token', Site::sent( 0 )['join_token'] );
		same( false, strpos( serialize( Site::$options ), 'fb_join_token' ) );
		same( false, strpos( serialize( Site::$options ), 'fb_temp_key' ) );
		Site::answers( 200, CONNECTED );
		$with->connector->step();
		same( 'connected', $with->status() );
		same( false, strpos( serialize( Site::$options ), 'fb_whs_secret' ) );
		same( false, strpos( serialize( Site::$options ), '_key_crc' ) );
	}
);

test(
	'after the salts have changed the site says that its keys cannot be read, and reconnects',
	function () {
		$with = connected_site();
		Site::$salt = 'other salt';
		same( 'unreadable', $with->status() );
		Site::answers( 201, REGISTERED );
		Site::answers( 200, CONNECTED );
		connect( $with );
		same( 'connected', $with->status() );
	}
);

test(
	'a registration that is gone is made anew, once',
	function () {
		$with = new Services();
		Site::answers( 201, REGISTERED );
		Site::refuses( 404, 'form-bridge.registration_invalid' );
		Site::answers( 201, REGISTERED );
		Site::refuses( 404, 'form-bridge.registration_invalid' );
		connect( $with );
		same( 'form-bridge.registration_invalid', $with->connector->failure()['code'] );
		same( 4, count( Site::$requests ) );
	}
);

test(
	'a reconnection shows the old key, and does without it where it is not a key of this site any more',
	function () {
		foreach ( array( 'previous_key_invalid', 'domain_has_site', 'site_disabled' ) as $code ) {
			Site::reset();
			$with = connected_site();
			Site::answers( 201, REGISTERED );
			Site::refuses( 403, "form-bridge.$code" );
			Site::answers( 200, CONNECTED );
			connect( $with );
			same( 'fb_live_0a1b2c3d_key_crc', Site::sent( 1 )['previous_api_key'] );
			same( false, isset( Site::sent( 2 )['previous_api_key'] ) );
			same( 'connected', $with->status() );
		}
	}
);

test(
	'only a move shows the key of another address',
	function () {
		foreach ( array( Connector::MOVE => true, Connector::NEW_SITE => false, Connector::STAGING => false, Connector::CONNECT => false ) as $purpose => $shows ) {
			Site::reset();
			$with                  = connected_site();
			Site::$options['home'] = 'https://copy.example.net';
			Site::answers( 201, REGISTERED );
			Site::answers( 200, CONNECTED );
			connect( $with, $purpose );
			same( $shows, isset( Site::sent( 1 )['previous_api_key'] ) );
			same( Connector::STAGING === $purpose ? 'staging' : 'production', Site::sent( 0 )['environment'] );
			same( 'connected', $with->status() );
		}
	}
);

test(
	'a site at another address is not connected before its owner has said what happened',
	function () {
		$with = connected_site();
		same( array( Connector::CONNECT ), $with->connector->purposes() );
		Site::$options['home'] = 'https://copy.example.net';
		same( array( Connector::MOVE, Connector::STAGING, Connector::NEW_SITE ), $with->connector->purposes() );
		try {
			( new Cli( $with ) )->connect( array(), array() );
			same( 'an error', 'none' );
		} catch ( RuntimeException $error ) {
			same( 1, preg_match( '/--as=move/', $error->getMessage() ) );
		}
		same( array(), Site::$requests );
	}
);

test(
	'a move to where the service has another site can become that site',
	function () {
		$with                  = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		Site::answers( 201, REGISTERED );
		Site::refuses( 409, 'form-bridge.domain_has_site' );
		connect( $with, Connector::MOVE );
		same( array( Connector::CONNECT ), $with->connector->purposes() );
		Site::answers( 201, REGISTERED );
		Site::answers( 200, CONNECTED );
		connect( $with );
		same( false, isset( Site::sent( 3 )['previous_api_key'] ) );
		same( 'connected', $with->status() );
	}
);

test(
	'a move without a valid key is not made into something else',
	function () {
		$with                  = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		Site::answers( 201, REGISTERED );
		Site::refuses( 403, 'form-bridge.previous_key_invalid' );
		connect( $with, Connector::MOVE );
		same( 'form-bridge.previous_key_invalid', $with->connector->failure()['code'] );
		same( 2, count( Site::$requests ) );
	}
);

test(
	'a proof that failed keeps what was tried, and is tried again with the same registration',
	function () {
		$with     = new Services();
		$attempts = array(
			array(
				'method'  => 'rest',
				'result'  => 'forbidden',
				'message' => 'Forbidden',
			),
		);
		Site::answers( 201, REGISTERED );
		Site::refuses( 403, 'form-bridge.proof_failed', array( 'attempts' => $attempts ) );
		connect( $with );
		same( $attempts, $with->connector->failure()['attempts'] );
		Site::answers( 200, CONNECTED );
		$with->connector->try_again();
		$with->connector->step();
		same( 'connected', $with->status() );
		same( 3, count( Site::$requests ) );
	}
);

test(
	'a service that never decides is given up',
	function () {
		$with = new Services();
		Site::answers( 201, REGISTERED );
		for ( $answer = 0; $answer < 60; $answer++ ) {
			Site::answers( 202, VERIFYING );
		}
		connect( $with );
		same( 'failed', $with->connector->phase() );
	}
);

test(
	'the email address of the administrator is told only with consent',
	function () {
		Site::$options['admin_email'] = 'owner@example.com';
		$with                         = new Services();
		$with->settings->change( array( 'admin_email' => true ) );
		Site::answers( 201, REGISTERED );
		Site::answers( 200, CONNECTED );
		connect( $with );
		same( 'owner@example.com', Site::sent( 0 )['admin_email'] );
	}
);

test(
	'the command line connects with a join token and says why it could not',
	function () {
		$with = new Services();
		$cli  = new Cli( $with, function () {} );
		Site::answers( 201, REGISTERED );
		Site::answers( 202, VERIFYING );
		Site::answers( 200, CONNECTED );
		WP_CLI::$printed = array();
		$cli->connect( array(), array( 'join-token' => 'fb_join_x' ) );
		same( array( 'Success: Connected' ), WP_CLI::$printed );
		same( 'fb_join_x', Site::sent( 0 )['join_token'] );

		Site::refuses( 403, 'form-bridge.join_token_invalid' );
		try {
			$cli->connect( array(), array( 'join-token' => 'fb_join_y' ) );
			same( 'an error', 'none' );
		} catch ( RuntimeException $error ) {
			same( 'Message of form-bridge.join_token_invalid', $error->getMessage() );
		}
	}
);

test(
	'the command line tells how the site stands without telling keys',
	function () {
		$with            = connected_site();
		WP_CLI::$printed = array();
		( new Cli( $with ) )->status( array(), array( 'format' => 'json' ) );
		$facts = json_decode( WP_CLI::$printed[0], true );
		same( 'connected', $facts['status'] );
		same( 'fb_live_0a1b2c3d_••••••••', $facts['api_key'] );
		same( false, strpos( WP_CLI::$printed[0], 'fb_whs' ) );
	}
);

test(
	'the command line rotates keys and disconnects',
	function () {
		$with = connected_site();
		Site::answers(
			200,
			array(
				'api_key'        => 'fb_live_ffffffff_new_crc',
				'webhook_secret' => 'fb_whs_new',
			)
		);
		( new Cli( $with ) )->rotate( array(), array( 'grace' => '0' ) );
		same( array( 'grace_seconds' => 0 ), Site::sent( 0 ) );
		same( 'fb_whs_new', $with->credentials->load()->secret );
		Site::answers( 200, array( 'status' => 'disabled' ) );
		( new Cli( $with ) )->disconnect( array(), array() );
		same( '{}', Site::$requests[1]['body'] );
		same( 'not_connected', $with->status() );
	}
);

test(
	'a copy that disconnects leaves the original alone',
	function () {
		$with                  = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		( new Cli( $with ) )->disconnect( array(), array() );
		same( array(), Site::$requests );
		same( 'not_connected', $with->status() );
	}
);
