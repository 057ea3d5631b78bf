<?php
/** Uploads of the stand-ins. Loaded by WordPress before all plugins. */

/** Writes a file as a form plugin does, and returns its path. */
function test_upload( string $path, string $content = 'Hello Ada' ): string {
	$file = wp_get_upload_dir()['basedir'] . '/' . $path;
	wp_mkdir_p( dirname( $file ) );
	file_put_contents( $file, $content );
	return $file;
}

function test_upload_url( string $path ): string {
	return str_replace( wp_get_upload_dir()['basedir'], wp_get_upload_dir()['baseurl'], $path );
}
