<?php
/** Deleting the plugin. */

use FormBridge\Uninstall;

test(
	'uninstalling a network calls a service that is down only once, and deletes all data',
	function () {
		foreach ( array( 1, 2, 3 ) as $blog_id ) {
			Site::$blogs[ $blog_id ] = array( 'home' => 'https://example.com' );
			switch_to_blog( $blog_id );
			connected_site()->settings->update( array( 'service_url' => 'https://forms.test/form-bridge' ) );
		}
		Uninstall::run();
		same( 1, count( Site::$requests ) );
		same( array( array( 'home' ), array( 'home' ), array( 'home' ) ), array_map( 'array_keys', array_values( Site::$blogs ) ) );
	}
);

test(
	'uninstalling a site with keys in wp-config.php deletes all data from the database',
	function () {
		with_keys_in_config(
			'fb_whs_secret',
			function () {
				Site::respond( 200, array( 'status' => 'disabled' ) );
				Uninstall::run();
				same( array( 'home' ), array_keys( Site::$options ) );
			}
		);
	}
);
