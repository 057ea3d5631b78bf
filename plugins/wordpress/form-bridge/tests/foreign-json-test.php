<?php
/** JSON from another server, such as a parked domain or a mistyped URL, is not treated as a response of the service. */

use FormBridge\Sender;
use FormBridge\Services;
use FormBridge\SiteService;

/** Bodies with status 200 that are not from the service. */
const FOREIGN = array(
	array(),
	array( 'ok' => true ),
	array( 'status' => array( 'ok' ) ),
);

test(
	'a submission is deleted only when the service confirms its delivery',
	function () {
		foreach ( array_merge( FOREIGN, array( array( 'submission_id' => 'of-an-echo-of-what-was-sent' ) ) ) as $foreign ) {
			Site::reset();
			$services = connected_site();
			$row      = array(
				'id'       => 7,
				'attempts' => 0,
				'payload'  => '{"submission_id":"of-an-echo-of-what-was-sent"}',
			);
			$GLOBALS['wpdb']->rows = array( (object) $row );
			Site::respond( 200, $foreign );
			same( 0, ( new Sender( $services ) )->send_due() );
			same( 1, count( $GLOBALS['wpdb']->rows ) );
			same( false, $services->backoff->is_over() );

			delete_option( 'form_bridge_outage' );
			Site::respond(
				200,
				array(
					'submission_id' => 'of-an-echo-of-what-was-sent',
					'status'        => 'delivered',
				)
			);
			same( 1, ( new Sender( $services ) )->send_due() );
			same( array(), $GLOBALS['wpdb']->rows );
		}
	}
);

test(
	'keys are replaced only by a response that contains keys',
	function () {
		foreach ( FOREIGN as $foreign ) {
			Site::reset();
			$services = connected_site();
			Site::respond( 200, $foreign );
			same( true, ( new SiteService( $services ) )->rotate_keys( 0 )->is_outage() );
			same( 'fb_whs_secret', $services->credentials->load()->secret );
		}
	}
);

test(
	'a site is disconnected only when the service confirms it',
	function () {
		foreach ( FOREIGN as $foreign ) {
			Site::reset();
			$services = connected_site();
			Site::respond( 200, $foreign );
			same( false, ( new SiteService( $services ) )->disconnect()->ok() );
			same( 'connected', $services->status() );
		}
	}
);

test(
	'foreign JSON does not connect a site, and the plugin stops after a limited number of requests',
	function () {
		foreach ( FOREIGN as $foreign ) {
			Site::reset();
			$services = new Services();
			for ( $response = 0; $response < 10; ++$response ) {
				Site::respond( 200, $foreign );
			}
			connect( $services );
			same( array( 'failed', 1 ), array( $services->connector->phase(), count( Site::$requests ) ) );

			Site::reset();
			Site::respond( 201, REGISTERED );
			Site::respond( 200, $foreign );
			connect( $services );
			same( array( 'failed', 'not_connected' ), array( $services->connector->phase(), $services->status() ) );
		}
	}
);
