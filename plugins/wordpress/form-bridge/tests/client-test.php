<?php
/** Requests to the service, and how the plugin handles the responses. */

use FormBridge\Backoff;
use FormBridge\Clock;
use FormBridge\Credentials;
use FormBridge\Heartbeat;
use FormBridge\Response;
use FormBridge\Sender;
use FormBridge\Services;

function connected_site(): Services {
	$services = new Services();
	$services->credentials->save( new Credentials( 'site_1234567890123456', 'fb_live_0a1b2c3d_key_crc', 'fb_whs_secret', 'https://example.com' ) );
	return $services;
}

function get_site( Services $services ): Response {
	return $services->client->send_signed( $services->credentials->load(), 'GET', '/site' );
}

test(
	'a signed request has the site id, the site address and a fresh nonce, and its user agent has no address',
	function () {
		$services = connected_site();
		Site::respond( 200, array( 'status' => 'active' ) );
		Site::respond( 200, array( 'status' => 'active' ) );
		get_site( $services );
		get_site( $services );
		list( $first, $second ) = Site::$requests;
		same( 'https://forms.test/form-bridge/v1/site', $first['url'] );
		same( 'site_1234567890123456', $first['headers']['X-FB-Site'] );
		same( 'https://example.com', $first['headers']['X-FB-Home'] );
		same( 1, preg_match( '/^[0-9a-f]{32}$/', $first['headers']['X-FB-Nonce'] ) );
		same( false, $first['headers']['X-FB-Nonce'] === $second['headers']['X-FB-Nonce'] );
		same( 'Form-Bridge-Plugin/1.0.0', $first['user-agent'] );
		same( 0, $first['redirection'] );
		same( true, $first['timeout'] <= 5 );
	}
);

test(
	'the time offset of the service is stored and used for one retry',
	function () {
		$services = connected_site();
		Site::fail( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => time() + 7200 ) );
		Site::respond( 200, array( 'status' => 'active' ) );
		same( true, get_site( $services )->ok() );
		same( 2, count( Site::$requests ) );
		same( true, abs( time() + 7200 - (int) Site::$requests[1]['headers']['X-FB-Timestamp'] ) < 5 );
		same( true, abs( ( new Clock() )->offset() - 7200 ) < 5 );
	}
);

test(
	'a clock that stays wrong causes one retry only',
	function () {
		$services = connected_site();
		Site::fail( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => 1 ) );
		Site::fail( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => 1 ) );
		Site::respond( 200, array() );
		same( false, get_site( $services )->ok() );
		same( 2, count( Site::$requests ) );
	}
);

test(
	'a used nonce is replaced once',
	function () {
		$services = connected_site();
		Site::fail( 401, 'form-bridge.nonce_used' );
		Site::respond( 200, array( 'status' => 'active' ) );
		same( true, get_site( $services )->ok() );
		same( false, Site::$requests[0]['headers']['X-FB-Nonce'] === Site::$requests[1]['headers']['X-FB-Nonce'] );
	}
);

test(
	'the plugin backs off longer after each failure, until the first response',
	function () {
		$services = connected_site();
		foreach ( array( 300, 3600, 10800, 43200, 43200 ) as $pause ) {
			get_site( $services );
			same( true, abs( $services->backoff->until() - time() - $pause ) < 5 );
			same( false, $services->backoff->is_over() );
		}
		Site::respond( 200, array( 'status' => 'active' ) );
		get_site( $services );
		same( true, $services->backoff->is_over() );
	}
);

test(
	'a proxy error page counts as an outage and not as a rejection',
	function () {
		$services          = connected_site();
		Site::$responses[] = array( 403, '<html>Blocked</html>', array() );
		same( true, get_site( $services )->is_outage() );
		Site::$responses[] = array( 200, 'It works!', array() );
		same( true, get_site( $services )->is_outage() );
		same( 'connected', $services->status() );
	}
);

test(
	'background requests wait for the time in Retry-After',
	function () {
		$services = connected_site();
		Site::fail( 429, 'form-bridge.rate_limited', array(), array( 'retry-after' => '1800' ) );
		get_site( $services );
		same( true, abs( $services->backoff->until() - time() - 1800 ) < 5 );
	}
);

test(
	'setting the clock back does not extend the back-off',
	function () {
		update_option(
			Backoff::OPTION,
			array(
				'failures' => 1,
				'until'    => time() + 10 * 86400,
			)
		);
		same( true, ( new Backoff( new Clock() ) )->until() <= time() + 43200 );
	}
);

test(
	'a suspension lasts until the service reports another status',
	function () {
		$services = connected_site();
		Site::fail( 403, 'form-bridge.site_suspended' );
		get_site( $services );
		same( 'suspended', $services->status() );
		Site::respond( 200, array( 'version' => '1.0.0' ) );
		get_site( $services );
		same( 'suspended', $services->status() );
		Site::respond( 200, array( 'status' => 'active' ) );
		get_site( $services );
		same( 'connected', $services->status() );
	}
);

test(
	'revoked keys are kept until the owner reconnects, and keys of a disabled site are deleted',
	function () {
		$services = connected_site();
		Site::fail( 401, 'form-bridge.unauthorized' );
		get_site( $services );
		same( 'rejected', $services->status() );
		same( true, null !== $services->credentials->load() );
		Site::fail( 403, 'form-bridge.site_disabled' );
		get_site( $services );
		same( 'not_connected', $services->status() );
	}
);

test(
	'a site whose keys were rejected checks them with each heartbeat and recovers by itself',
	function () {
		$services = connected_site();
		Site::fail( 401, 'form-bridge.unauthorized' );
		get_site( $services );
		Site::$requests = array();
		Site::fail( 401, 'form-bridge.unauthorized' );
		( new Heartbeat( $services ) )->run();
		same( array( 'rejected', 1 ), array( $services->status(), count( Site::$requests ) ) );
		same( array( 'GET', 'https://forms.test/form-bridge/v1/site' ), array( Site::$requests[0]['method'], Site::$requests[0]['url'] ) );
		same( true, end( Site::$events )[0] >= time() + Heartbeat::MAX_INTERVAL / 2 - 5 );
		Site::respond( 200, array( 'status' => 'active' ) );
		( new Heartbeat( $services ) )->run();
		same( 'connected', $services->status() );
	}
);

test(
	'a site has the status "moved" while it is at another address',
	function () {
		$services              = connected_site();
		Site::$options['home'] = 'https://staging.example.com';
		same( 'moved', $services->status() );
		Site::$options['home'] = 'http://example.com/';
		same( 'connected', $services->status() );
	}
);

test(
	'a site has the status "moved" after the service rejected its address',
	function () {
		$services = connected_site();
		Site::fail( 409, 'form-bridge.site_moved', array( 'choices' => array( 'move' ) ) );
		get_site( $services );
		same( 'moved', $services->status() );
		Site::$options['home'] = 'https://elsewhere.example';
		same( 'active', $services->state->name() );
	}
);

test(
	'the WordPress and PHP versions are sent only if the owner has opted in',
	function () {
		$services = connected_site();
		$request  = function () use ( $services ) {
			Site::$requests  = array();
			Site::$responses = array();
			Site::respond( 200, array( 'status' => 'active' ) );
			Site::respond( 200, array( 'version' => '1.0.0' ) );
			Site::respond( 200, array( 'name' => 'Form-Bridge' ) );
			( new Heartbeat( $services ) )->run();
			same( '/form-bridge/v1/updates/check', wp_parse_url( Site::$requests[1]['url'], PHP_URL_PATH ) );
			parse_str( wp_parse_url( Site::$requests[1]['url'], PHP_URL_QUERY ), $query );
			return array( array_keys( Site::sent( 0 ) ), $query );
		};
		$check = array(
			'slug'            => 'form-bridge',
			'current_version' => '1.0.0',
		);
		same( array( array( 'plugin_version', 'environment', 'telemetry' ), $check ), $request() );
		$services->settings->update( array( 'telemetry' => true ) );
		$versions = array(
			'wp_version'  => '6.8.12',
			'php_version' => PHP_VERSION,
		);
		same( array( array( 'plugin_version', 'environment', 'telemetry', 'wp_version', 'php_version' ), $check + $versions ), $request() );
	}
);

test(
	'a submission is delayed by at most one day, whatever Retry-After the destination sends',
	function () {
		$services = connected_site();
		$row      = array(
			'id'       => 7,
			'attempts' => 0,
			'payload'  => '{}',
		);
		$GLOBALS['wpdb']->rows = array( (object) $row );
		Site::fail( 502, 'form-bridge.destination_unreachable', array(), array( 'retry-after' => '864000' ) );
		( new Sender( $services ) )->send_due();
		same( array( 'id' => 7 ), $GLOBALS['wpdb']->updates[0][1] );
		same( true, $GLOBALS['wpdb']->updates[0][0]['due_at'] <= time() + DAY_IN_SECONDS );
	}
);
