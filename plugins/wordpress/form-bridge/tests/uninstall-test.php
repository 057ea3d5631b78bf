<?php
/** The end of the plugin. */

use FormBridge\Uninstall;

test(
	'a network of sites ends without waiting for each of them while the service is down, and leaves nothing behind',
	function () {
		foreach ( array( 1, 2, 3 ) as $blog_id ) {
			Site::$blogs[ $blog_id ] = array( 'home' => 'https://example.com' );
			switch_to_blog( $blog_id );
			connected_site()->settings->change( array( 'service_url' => 'https://forms.test/form-bridge' ) );
		}
		Uninstall::run();
		same( 1, count( Site::$requests ) );
		same( array( array( 'home' ), array( 'home' ), array( 'home' ) ), array_map( 'array_keys', array_values( Site::$blogs ) ) );
	}
);

test(
	'a site whose keys are outside the database leaves nothing behind in it',
	function () {
		with_keys_outside(
			'fb_whs_secret',
			function () {
				Site::answers( 200, array( 'status' => 'disabled' ) );
				Uninstall::run();
				same( array( 'home' ), array_keys( Site::$options ) );
			}
		);
	}
);
