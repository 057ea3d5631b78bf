<?php
/** Runs PHP from standard input inside the site and prints what it returns, as JSON. */
$_SERVER['HTTP_HOST']       = (string) getenv( 'WORDPRESS_HOST' );
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';

if ( in_array( 'install', $argv, true ) ) {
	define( 'WP_INSTALLING', true );
}
require getenv( 'WORDPRESS_FILES' ) . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';

$test_code   = stream_get_contents( STDIN );
$test_result = ( function () use ( $test_code ) {
	return eval( $test_code );
} )();
echo "\n@@result:" . wp_json_encode( $test_result ) . "\n";
