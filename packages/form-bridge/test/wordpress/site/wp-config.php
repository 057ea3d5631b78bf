<?php
/**
 * The configuration of a test site. Sites share the files of one WordPress; WORDPRESS_SITE is the
 * directory with the site's own files.
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
// Tests run cron explicitly.
define( 'DISABLE_WP_CRON', true );
define( 'WP_DEBUG', true );
define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_DEBUG_LOG', "$test_site/debug.log" );

foreach ( array( 'AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT' ) as $test_salt ) {
	define( $test_salt, hash( 'sha256', $test_salt . file_get_contents( "$test_site/salt" ) ) );
}

// Constants that a test defines for this site.
if ( file_exists( "$test_site/constants.php" ) ) {
	require "$test_site/constants.php";
}

$table_prefix = 'wp_';

if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', getenv( 'WORDPRESS_FILES' ) . '/' );
}
require_once ABSPATH . 'wp-settings.php';
