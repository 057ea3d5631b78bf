<?php
/** The request in which WordPress replaces version 1.0.0 with this one. */

use FormBridge\Response;

test(
	'classes that version 1.0.0 loads after its files were replaced still have their old names',
	function () {
		same( true, \FormBridge\Answer::from( 200, '{}', '' ) instanceof Response );
		same( true, method_exists( 'FormBridge\Listing', 'update' ) );
	}
);
