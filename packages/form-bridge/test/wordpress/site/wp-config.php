<?php
/**
 * The configuration of a test site. Many sites share the files of one WordPress: what is a site's
 * own lies in the directory that WORDPRESS_SITE names.
 */
$test_site = getenv( 'WORDPRESS_SITE' );

define( 'WP_HOME', trim( file_get_contents( "$test_site/home" ) ) );
define( 'WP_SITEURL', WP_HOME );
define( 'WP_CONTENT_DIR', "$test_site/wp-content" );
define( 'WP_CONTENT_URL', WP_HOME . '/wp-content' );
define( 'DB_DIR', "$test_site/database/" );
define( 'DB_FILE', 'site.sqlite' );
define( 'DB_NAME', 'site' );
define( 'DB_USER', '' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', '' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
define( 'FS_METHOD', 'direct' );
// Tests say when cron runs.
define( 'DISABLE_WP_CRON', true );
define( 'WP_DEBUG', true );
define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_DEBUG_LOG', "$test_site/debug.log" );

foreach ( array( 'AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT' ) as $test_salt ) {
	define( $test_salt, hash( 'sha256', $test_salt . file_get_contents( "$test_site/salt" ) ) );
}

// What a test defines for this site, as an operator would in this file.
if ( file_exists( "$test_site/constants.php" ) ) {
	require "$test_site/constants.php";
}

$table_prefix = 'wp_';

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', getenv( 'WORDPRESS_FILES' ) . '/' );
}
require_once ABSPATH . 'wp-settings.php';
