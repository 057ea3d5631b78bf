<?php
/** JSON that is not of the service, as a parked domain or a mistyped address has it, is no answer. */

use FormBridge\Account;
use FormBridge\Sender;
use FormBridge\Services;

/** What comes with status 200 in place of an answer. */
const RUBBISH = array(
	array(),
	array( 'ok' => true ),
	array( 'status' => array( 'ok' ) ),
);

test(
	'a submission is forgotten only when the service says that it was delivered',
	function () {
		foreach ( array_merge( RUBBISH, array( array( 'submission_id' => 'of-an-echo-of-what-was-sent' ) ) ) as $rubbish ) {
			Site::reset();
			$with                  = connected_site();
			$row                   = array(
				'id'       => 7,
				'attempts' => 0,
				'payload'  => '{"submission_id":"of-an-echo-of-what-was-sent"}',
			);
			$GLOBALS['wpdb']->rows = array( (object) $row );
			Site::answers( 200, $rubbish );
			same( 0, ( new Sender( $with ) )->send_due() );
			same( 1, count( $GLOBALS['wpdb']->rows ) );
			same( false, $with->outage->is_over() );

			delete_option( 'form_bridge_outage' );
			Site::answers(
				200,
				array(
					'submission_id' => 'of-an-echo-of-what-was-sent',
					'status'        => 'delivered',
				)
			);
			same( 1, ( new Sender( $with ) )->send_due() );
			same( array(), $GLOBALS['wpdb']->rows );
		}
	}
);

test(
	'keys are replaced by keys and by nothing else',
	function () {
		foreach ( RUBBISH as $rubbish ) {
			Site::reset();
			$with = connected_site();
			Site::answers( 200, $rubbish );
			same( true, ( new Account( $with ) )->rotate( 0 )->is_outage() );
			same( 'fb_whs_secret', $with->credentials->load()->secret );
		}
	}
);

test(
	'a site is disconnected only when the service has said so',
	function () {
		foreach ( RUBBISH as $rubbish ) {
			Site::reset();
			$with = connected_site();
			Site::answers( 200, $rubbish );
			same( false, ( new Account( $with ) )->disconnect()->ok() );
			same( 'connected', $with->status() );
		}
	}
);

test(
	'a site is not connected by it, and does not ask for ever',
	function () {
		foreach ( RUBBISH as $rubbish ) {
			Site::reset();
			$with = new Services();
			for ( $answer = 0; $answer < 10; ++$answer ) {
				Site::answers( 200, $rubbish );
			}
			connect( $with );
			same( array( 'failed', 1 ), array( $with->connector->phase(), count( Site::$requests ) ) );

			Site::reset();
			Site::answers( 201, REGISTERED );
			Site::answers( 200, $rubbish );
			connect( $with );
			same( array( 'failed', 'not_connected' ), array( $with->connector->phase(), $with->status() ) );
		}
	}
);
