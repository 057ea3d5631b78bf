<?php
/** Finds the classes of this plugin: FormBridge\Admin\SettingsPage is src/Admin/Page.php. */

defined( 'ABSPATH' ) || exit;

spl_autoload_register(
	function ( string $name ): void {
		if ( 0 !== strpos( $name, 'FormBridge\\' ) ) {
			return;
		}
		$file = __DIR__ . '/src/' . str_replace( '\\', '/', substr( $name, 11 ) ) . '.php';
		if ( is_file( $file ) ) {
			require $file;
		}
	}
);
