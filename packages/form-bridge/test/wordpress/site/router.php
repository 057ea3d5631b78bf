<?php
/** Serves files, and passes everything else to WordPress, like the usual rewrite rules. */
$test_path = rawurldecode( parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );

// The files of the site are outside the shared WordPress.
if ( 0 === strpos( $test_path, '/wp-content/' ) && false === strpos( $test_path, '..' ) ) {
	$test_file = getenv( 'WORDPRESS_SITE' ) . $test_path;
	if ( is_file( $test_file ) ) {
		$test_types = array(
			'css' => 'text/css',
			'js'  => 'text/javascript',
			'svg' => 'image/svg+xml',
			'png' => 'image/png',
		);
		$test_type  = $test_types[ pathinfo( $test_file, PATHINFO_EXTENSION ) ] ?? 'text/plain';
		header( "Content-Type: $test_type" );
		readfile( $test_file );
		return true;
	}
}

$test_file = getenv( 'WORDPRESS_FILES' ) . $test_path;
if ( is_file( $test_file ) ) {
	return false;
}
if ( is_file( rtrim( $test_file, '/' ) . '/index.php' ) && '/' !== $test_path ) {
	return false;
}

$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = getenv( 'WORDPRESS_FILES' ) . '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
require getenv( 'WORDPRESS_FILES' ) . '/index.php';
return true;
