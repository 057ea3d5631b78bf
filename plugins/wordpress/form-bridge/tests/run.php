<?php
/**
 * Runs the tests of the plugin that need no WordPress, and prints a line of JSON for each:
 *
 *     php tests/run.php [<signature-vectors.json>]
 */

error_reporting( E_ALL );
set_error_handler(
	function ( int $level, string $message, string $file, int $line ) {
		throw new ErrorException( $message, 0, $level, $file, $line );
	}
);

define( 'ABSPATH', __DIR__ . '/' );
define( 'FORM_BRIDGE_VERSION', '1.0.0' );
define( 'FORM_BRIDGE_FILE', dirname( __DIR__ ) . '/form-bridge.php' );
define( 'VECTORS', $argv[1] ?? dirname( __DIR__, 4 ) . '/packages/form-bridge/test/signature-vectors.json' );

require __DIR__ . '/wordpress.php';
require dirname( __DIR__ ) . '/autoload.php';

$failed = 0;

function test( string $name, callable $body ): void {
	global $failed;
	Site::reset();
	$error = null;
	try {
		$body();
	} catch ( Throwable $thrown ) {
		$error = sprintf( '%s (%s:%d)', $thrown->getMessage(), basename( $thrown->getFile() ), $thrown->getLine() );
		++$failed;
	}
	echo json_encode( compact( 'name', 'error' ), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES ), "\n";
}

function same( $expected, $actual ): void {
	if ( $expected !== $actual ) {
		throw new Exception( 'Expected ' . var_export( $expected, true ) . ', got ' . var_export( $actual, true ) );
	}
}

foreach ( glob( __DIR__ . '/*-test.php' ) as $file ) {
	require $file;
}
exit( $failed > 0 ? 1 : 0 );
