<?php
/** How the plugin talks to the service, and what it makes of the answers. */

use FormBridge\Answer;
use FormBridge\Clock;
use FormBridge\Credentials;
use FormBridge\Heartbeat;
use FormBridge\Outage;
use FormBridge\Sender;
use FormBridge\Services;

function connected_site(): Services {
	$with = new Services();
	$with->credentials->save( new Credentials( 'site_1234567890123456', 'fb_live_0a1b2c3d_key_crc', 'fb_whs_secret', 'https://example.com' ) );
	return $with;
}

function ask_site( Services $with ): Answer {
	return $with->client->signed( $with->credentials->load(), 'GET', '/site' );
}

test(
	'a signed request names the site, its home and a nonce of its own, and no address in the user agent',
	function () {
		$with = connected_site();
		Site::answers( 200, array( 'status' => 'active' ) );
		Site::answers( 200, array( 'status' => 'active' ) );
		ask_site( $with );
		ask_site( $with );
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
	'the time of the service is learned, used for one more try, and kept',
	function () {
		$with = connected_site();
		Site::refuses( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => time() + 7200 ) );
		Site::answers( 200, array( 'status' => 'active' ) );
		same( true, ask_site( $with )->ok() );
		same( 2, count( Site::$requests ) );
		same( true, abs( time() + 7200 - (int) Site::$requests[1]['headers']['X-FB-Timestamp'] ) < 5 );
		same( true, abs( ( new Clock() )->offset() - 7200 ) < 5 );
	}
);

test(
	'a clock that stays wrong is not tried for ever',
	function () {
		$with = connected_site();
		Site::refuses( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => 1 ) );
		Site::refuses( 401, 'form-bridge.timestamp_out_of_range', array( 'server_time' => 1 ) );
		Site::answers( 200, array() );
		same( false, ask_site( $with )->ok() );
		same( 2, count( Site::$requests ) );
	}
);

test(
	'a nonce that was used is replaced by another one, once',
	function () {
		$with = connected_site();
		Site::refuses( 401, 'form-bridge.nonce_used' );
		Site::answers( 200, array( 'status' => 'active' ) );
		same( true, ask_site( $with )->ok() );
		same( false, Site::$requests[0]['headers']['X-FB-Nonce'] === Site::$requests[1]['headers']['X-FB-Nonce'] );
	}
);

test(
	'an outage is remembered, longer each time, and forgotten with the first answer',
	function () {
		$with = connected_site();
		foreach ( array( 300, 3600, 10800, 43200, 43200 ) as $pause ) {
			ask_site( $with );
			same( true, abs( $with->outage->until() - time() - $pause ) < 5 );
			same( false, $with->outage->is_over() );
		}
		Site::answers( 200, array( 'status' => 'active' ) );
		ask_site( $with );
		same( true, $with->outage->is_over() );
	}
);

test(
	'a page of some proxy instead of an answer is an outage, not a refusal',
	function () {
		$with            = connected_site();
		Site::$answers[] = array( 403, '<html>Blocked</html>', array() );
		same( true, ask_site( $with )->is_outage() );
		Site::$answers[] = array( 200, 'It works!', array() );
		same( true, ask_site( $with )->is_outage() );
		same( 'connected', $with->status() );
	}
);

test(
	'the background waits as long as the service asks it to',
	function () {
		$with = connected_site();
		Site::refuses( 429, 'form-bridge.rate_limited', array(), array( 'retry-after' => '1800' ) );
		ask_site( $with );
		same( true, abs( $with->outage->until() - time() - 1800 ) < 5 );
	}
);

test(
	'a clock that was set back does not stretch an outage',
	function () {
		update_option(
			Outage::OPTION,
			array(
				'failures' => 1,
				'until'    => time() + 10 * 86400,
			)
		);
		same( true, ( new Outage( new Clock() ) )->until() <= time() + 43200 );
	}
);

test(
	'a suspension lasts until the service says that it has ended',
	function () {
		$with = connected_site();
		Site::refuses( 403, 'form-bridge.site_suspended' );
		ask_site( $with );
		same( 'suspended', $with->status() );
		Site::answers( 200, array( 'version' => '1.0.0' ) );
		ask_site( $with );
		same( 'suspended', $with->status() );
		Site::answers( 200, array( 'status' => 'active' ) );
		ask_site( $with );
		same( 'connected', $with->status() );
	}
);

test(
	'void keys are kept until the owner reconnects, keys of a disabled site are forgotten',
	function () {
		$with = connected_site();
		Site::refuses( 401, 'form-bridge.unauthorized' );
		ask_site( $with );
		same( 'rejected', $with->status() );
		same( true, null !== $with->credentials->load() );
		Site::refuses( 403, 'form-bridge.site_disabled' );
		ask_site( $with );
		same( 'not_connected', $with->status() );
	}
);

test(
	'a site whose keys were refused asks now and then whether they still are, and heals by itself',
	function () {
		$with = connected_site();
		Site::refuses( 401, 'form-bridge.unauthorized' );
		ask_site( $with );
		Site::$requests = array();
		Site::refuses( 401, 'form-bridge.unauthorized' );
		( new Heartbeat( $with ) )->beat();
		same( array( 'rejected', 1 ), array( $with->status(), count( Site::$requests ) ) );
		same( array( 'GET', 'https://forms.test/form-bridge/v1/site' ), array( Site::$requests[0]['method'], Site::$requests[0]['url'] ) );
		same( true, end( Site::$events )[0] >= time() + Heartbeat::LONGEST / 2 - 5 );
		Site::answers( 200, array( 'status' => 'active' ) );
		( new Heartbeat( $with ) )->beat();
		same( 'connected', $with->status() );
	}
);

test(
	'a site at another address is in safe mode, and out of it when it is back',
	function () {
		$with                  = connected_site();
		Site::$options['home'] = 'https://staging.example.com';
		same( 'moved', $with->status() );
		Site::$options['home'] = 'http://example.com/';
		same( 'connected', $with->status() );
	}
);

test(
	'what the service sees and this site cannot is safe mode too',
	function () {
		$with = connected_site();
		Site::refuses( 409, 'form-bridge.site_moved', array( 'choices' => array( 'move' ) ) );
		ask_site( $with );
		same( 'moved', $with->status() );
		Site::$options['home'] = 'https://elsewhere.example';
		same( 'active', $with->state->name() );
	}
);

test(
	'the service is told which WordPress and PHP there are only if the owner has chosen so',
	function () {
		$with  = connected_site();
		$asked = function () use ( $with ) {
			Site::$requests = array();
			Site::$answers  = array();
			Site::answers( 200, array( 'status' => 'active' ) );
			Site::answers( 200, array( 'version' => '1.0.0' ) );
			Site::answers( 200, array( 'name' => 'Form-Bridge' ) );
			( new Heartbeat( $with ) )->beat();
			same( '/form-bridge/v1/updates/check', wp_parse_url( Site::$requests[1]['url'], PHP_URL_PATH ) );
			parse_str( wp_parse_url( Site::$requests[1]['url'], PHP_URL_QUERY ), $query );
			return array( array_keys( Site::sent( 0 ) ), $query );
		};
		$check = array(
			'slug'            => 'form-bridge',
			'current_version' => '1.0.0',
		);
		same( array( array( 'plugin_version', 'environment', 'telemetry' ), $check ), $asked() );
		$with->settings->change( array( 'telemetry' => true ) );
		$versions = array(
			'wp_version'  => '6.8.12',
			'php_version' => PHP_VERSION,
		);
		same( array( array( 'plugin_version', 'environment', 'telemetry', 'wp_version', 'php_version' ), $check + $versions ), $asked() );
	}
);

test(
	'a submission waits for a day at most, however long a destination asks for',
	function () {
		$with                  = connected_site();
		$row                   = array(
			'id'       => 7,
			'attempts' => 0,
			'payload'  => '{}',
		);
		$GLOBALS['wpdb']->rows = array( (object) $row );
		Site::refuses( 502, 'form-bridge.destination_unreachable', array(), array( 'retry-after' => '864000' ) );
		( new Sender( $with ) )->send_due();
		same( array( 'id' => 7 ), $GLOBALS['wpdb']->updates[0][1] );
		same( true, $GLOBALS['wpdb']->updates[0][0]['due_at'] <= time() + DAY_IN_SECONDS );
	}
);
