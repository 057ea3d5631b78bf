<?php
/**
 * A must-use plugin of test sites: blocks requests to the internet, stubs api.wordpress.org, logs
 * every HTTP request of WordPress, and evaluates the code of tests.
 */

/** Only a test knows the directory of its site. */
if ( isset( $_SERVER['HTTP_X_TEST_RUN'] ) && getenv( 'WORDPRESS_SITE' ) === $_SERVER['HTTP_X_TEST_RUN'] ) {
	add_action(
		'wp_loaded',
		function () {
			require_once ABSPATH . 'wp-admin/includes/admin.php';
			$result = eval( file_get_contents( 'php://input' ) );
			echo "\n@@result:" . wp_json_encode( $result ) . "\n";
			exit;
		}
	);
}

/** Turn off mail and the limit on quick comments. */
add_filter( 'pre_wp_mail', '__return_true' );
add_filter( 'comment_flood_filter', '__return_false' );

/** The service listens on localhost, on a port that WordPress does not consider safe. */
add_filter( 'http_request_host_is_external', '__return_true' );
add_filter(
	'http_allowed_safe_ports',
	function ( $ports, $host, $url ) {
		$port = wp_parse_url( $url, PHP_URL_PORT );
		return $port ? array_merge( $ports, array( $port ) ) : $ports;
	},
	10,
	3
);

add_filter(
	'pre_http_request',
	function ( $response, $arguments, $url ) {
		$line = wp_json_encode(
			array(
				'url'     => $url,
				'method'  => $arguments['method'],
				'timeout' => $arguments['timeout'],
			)
		);
		file_put_contents( getenv( 'WORDPRESS_SITE' ) . '/http.log', $line . "\n", FILE_APPEND | LOCK_EX );
		if ( in_array( wp_parse_url( $url, PHP_URL_HOST ), array( '127.0.0.1', 'localhost' ), true ) ) {
			return $response;
		}
		$body = false === strpos( $url, 'update-check' ) ? '{}' : '{"plugins":[],"themes":[],"translations":[],"no_update":[],"offers":[]}';
		return array(
			'headers'  => array(),
			'body'     => $body,
			'response' => array(
				'code'    => 200,
				'message' => 'OK',
			),
			'cookies'  => array(),
			'filename' => null,
		);
	},
	10,
	3
);

/** Simulates hosts that require a login for the REST API, or whose firewall blocks bots. */
$test_closed = @file_get_contents( getenv( 'WORDPRESS_SITE' ) . '/closed' );
if ( 'firewall' === $test_closed && 0 === strpos( $_SERVER['HTTP_USER_AGENT'] ?? '', 'Form-Bridge/' ) ) {
	http_response_code( 403 );
	exit( 'Forbidden' );
}
if ( 'rest' === $test_closed ) {
	add_filter(
		'rest_authentication_errors',
		function ( $result ) {
			return is_user_logged_in() ? $result : new WP_Error( 'closed', 'Members only', array( 'status' => 401 ) );
		}
	);
}
