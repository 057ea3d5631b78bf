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

/** Runs all steps. */
function connect( Services $services, string $purpose = Connector::CONNECT ): void {
	$services->connector->start( $purpose );
	for ( $step = 0; $step < 100 && $services->connector->is_running(); $step++ ) {
		$services->connector->step();
	}
}

test(
	'starting to connect sends no request',
	function () {
		( new Services() )->connector->start( Connector::CONNECT );
		same( array(), Site::$requests );
		same( 'form_bridge_connect', Site::$events[0][1] );
	}
);

test(
	'a site is registered, proved and connected, and its registration is deleted',
	function () {
		$services = new Services();
		Site::respond( 201, REGISTERED );
		Site::respond( 202, VERIFYING );
		Site::respond( 200, CONNECTED );
		connect( $services );
		same( 'connected', $services->status() );
		same( null, $services->registration->pending() );
		same( array( 'site_url', 'wp_version', 'plugin_version', 'environment' ), array_keys( Site::sent( 0 ) ) );
		same( false, Site::sent( 1 )['wait'] );
		same( 'fb_temp_key', Site::sent( 2 )['temp_key'] );
		same( false, isset( Site::sent( 1 )['previous_api_key'] ) );
	}
);

test(
	'no option contains a secret in plain text',
	function () {
		$services = new Services();
		Site::respond( 201, REGISTERED );
		Site::respond( 202, VERIFYING );
		$services->connector->start( Connector::CONNECT, 'fb_join_token' );
		$services->connector->step();
		$services->connector->step();
		same( 'fb_join_token', Site::sent( 0 )['join_token'] );
		same( false, strpos( serialize( Site::$options ), 'fb_join_token' ) );
		same( false, strpos( serialize( Site::$options ), 'fb_temp_key' ) );
		Site::respond( 200, CONNECTED );
		$services->connector->step();
		same( 'connected', $services->status() );
		same( false, strpos( serialize( Site::$options ), 'fb_whs_secret' ) );
		same( false, strpos( serialize( Site::$options ), '_key_crc' ) );
	}
);

test(
	'a site whose salts have changed reports that its keys cannot be read, and can be reconnected',
	function () {
		$services   = connected_site();
		Site::$salt = 'other salt';
		same( 'unreadable', $services->status() );
		Site::respond( 201, REGISTERED );
		Site::respond( 200, CONNECTED );
		connect( $services );
		same( 'connected', $services->status() );
	}
);

test(
	'an expired registration is replaced once',
	function () {
		$services = new Services();
		Site::respond( 201, REGISTERED );
		Site::fail( 404, 'form-bridge.registration_invalid' );
		Site::respond( 201, REGISTERED );
		Site::fail( 404, 'form-bridge.registration_invalid' );
		connect( $services );
		same( 'form-bridge.registration_invalid', $services->connector->failure()['code'] );
		same( 4, count( Site::$requests ) );
	}
);

test(
	'a reconnection sends the old key, and continues without it if the key no longer belongs to this site',
	function () {
		foreach ( array( 'previous_key_invalid', 'domain_has_site', 'site_disabled' ) as $code ) {
			Site::reset();
			$services = connected_site();
			Site::respond( 201, REGISTERED );
			Site::fail( 403, "form-bridge.$code" );
			Site::respond( 200, CONNECTED );
			connect( $services );
			same( 'fb_live_0a1b2c3d_key_crc', Site::sent( 1 )['previous_api_key'] );
			same( false, isset( Site::sent( 2 )['previous_api_key'] ) );
			same( 'connected', $services->status() );
		}
	}
);

test(
	'only a move sends the key of another address',
	function () {
		foreach ( array( Connector::MOVE => true, Connector::NEW_SITE => false, Connector::STAGING => false, Connector::CONNECT => false ) as $purpose => $shows ) {
			Site::reset();
			$services              = connected_site();
			Site::$options['home'] = 'https://copy.example.net';
			Site::respond( 201, REGISTERED );
			Site::respond( 200, CONNECTED );
			connect( $services, $purpose );
			same( $shows, isset( Site::sent( 1 )['previous_api_key'] ) );
			same( Connector::STAGING === $purpose ? 'staging' : 'production', Site::sent( 0 )['environment'] );
			same( 'connected', $services->status() );
		}
	}
);

test(
	'a site at another address is not connected until its owner has chosen what happened',
	function () {
		$services = connected_site();
		same( array( Connector::CONNECT ), $services->connector->purposes() );
		Site::$options['home'] = 'https://copy.example.net';
		same( array( Connector::MOVE, Connector::STAGING, Connector::NEW_SITE ), $services->connector->purposes() );
		try {
			( new Cli( $services ) )->connect( array(), array() );
			same( 'an error', 'none' );
		} catch ( RuntimeException $error ) {
			same( 1, preg_match( '/--as=move/', $error->getMessage() ) );
		}
		same( array(), Site::$requests );
	}
);

test(
	'a move to a domain that already has a site can reconnect that site instead',
	function () {
		$services              = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		Site::respond( 201, REGISTERED );
		Site::fail( 409, 'form-bridge.domain_has_site' );
		connect( $services, Connector::MOVE );
		same( array( Connector::CONNECT ), $services->connector->purposes() );
		Site::respond( 201, REGISTERED );
		Site::respond( 200, CONNECTED );
		connect( $services );
		same( false, isset( Site::sent( 3 )['previous_api_key'] ) );
		same( 'connected', $services->status() );
	}
);

test(
	'a move without a valid key fails and does not become a reconnection',
	function () {
		$services              = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		Site::respond( 201, REGISTERED );
		Site::fail( 403, 'form-bridge.previous_key_invalid' );
		connect( $services, Connector::MOVE );
		same( 'form-bridge.previous_key_invalid', $services->connector->failure()['code'] );
		same( 2, count( Site::$requests ) );
	}
);

test(
	'a failed proof keeps its attempts and is retried with the same registration',
	function () {
		$services = new Services();
		$attempts = array(
			array(
				'method'  => 'rest',
				'result'  => 'forbidden',
				'message' => 'Forbidden',
			),
		);
		Site::respond( 201, REGISTERED );
		Site::fail( 403, 'form-bridge.proof_failed', array( 'attempts' => $attempts ) );
		connect( $services );
		same( $attempts, $services->connector->failure()['attempts'] );
		Site::respond( 200, CONNECTED );
		$services->connector->retry();
		$services->connector->step();
		same( 'connected', $services->status() );
		same( 3, count( Site::$requests ) );
	}
);

test(
	'connecting fails if the service never confirms the proof',
	function () {
		$services = new Services();
		Site::respond( 201, REGISTERED );
		for ( $response = 0; $response < 60; $response++ ) {
			Site::respond( 202, VERIFYING );
		}
		connect( $services );
		same( 'failed', $services->connector->phase() );
	}
);

test(
	'the email address of the administrator is sent only with consent',
	function () {
		Site::$options['admin_email'] = 'owner@example.com';
		$services                     = new Services();
		$services->settings->update( array( 'admin_email' => true ) );
		Site::respond( 201, REGISTERED );
		Site::respond( 200, CONNECTED );
		connect( $services );
		same( 'owner@example.com', Site::sent( 0 )['admin_email'] );
	}
);

test(
	'the command line connects with a join token and prints why it failed',
	function () {
		$services = new Services();
		$cli      = new Cli( $services, function () {} );
		Site::respond( 201, REGISTERED );
		Site::respond( 202, VERIFYING );
		Site::respond( 200, CONNECTED );
		WP_CLI::$printed = array();
		$cli->connect( array(), array( 'join-token' => 'fb_join_x' ) );
		same( array( 'Success: Connected' ), WP_CLI::$printed );
		same( 'fb_join_x', Site::sent( 0 )['join_token'] );

		Site::fail( 403, 'form-bridge.join_token_invalid' );
		try {
			$cli->connect( array(), array( 'join-token' => 'fb_join_y' ) );
			same( 'an error', 'none' );
		} catch ( RuntimeException $error ) {
			same( 'Message of form-bridge.join_token_invalid', $error->getMessage() );
		}
	}
);

test(
	'the command line prints the status of the site without its keys',
	function () {
		$services        = connected_site();
		WP_CLI::$printed = array();
		( new Cli( $services ) )->status( array(), array( 'format' => 'json' ) );
		$facts = json_decode( WP_CLI::$printed[0], true );
		same( 'connected', $facts['status'] );
		same( 'fb_live_0a1b2c3d_••••••••', $facts['api_key'] );
		same( false, strpos( WP_CLI::$printed[0], 'fb_whs' ) );
	}
);

test(
	'the command line rotates keys and disconnects',
	function () {
		$services = connected_site();
		Site::respond(
			200,
			array(
				'api_key'        => 'fb_live_ffffffff_new_crc',
				'webhook_secret' => 'fb_whs_new',
			)
		);
		( new Cli( $services ) )->rotate( array(), array( 'grace' => '0' ) );
		same( array( 'grace_seconds' => 0 ), Site::sent( 0 ) );
		same( 'fb_whs_new', $services->credentials->load()->secret );
		Site::respond( 200, array( 'status' => 'disabled' ) );
		( new Cli( $services ) )->disconnect( array(), array() );
		same( '{}', Site::$requests[1]['body'] );
		same( 'not_connected', $services->status() );
	}
);

test(
	'a copy that disconnects does not affect the original',
	function () {
		$services              = connected_site();
		Site::$options['home'] = 'https://copy.example.net';
		( new Cli( $services ) )->disconnect( array(), array() );
		same( array(), Site::$requests );
		same( 'not_connected', $services->status() );
	}
);
