<?php
/** Disconnects every site of this installation and deletes all data. */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

if ( ! defined( 'FORM_BRIDGE_VERSION' ) ) {
	define( 'FORM_BRIDGE_VERSION', get_file_data( __DIR__ . '/form-bridge.php', array( 'version' => 'Version' ) )['version'] );
	define( 'FORM_BRIDGE_FILE', __DIR__ . '/form-bridge.php' );
	require __DIR__ . '/autoload.php';
}

FormBridge\Uninstall::run();
