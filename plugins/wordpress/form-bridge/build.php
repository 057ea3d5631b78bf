<?php
/**
 * The service URL and the trusted release keys of a build. `strongroom plugin build` writes
 * this file; here it has no service and no keys.
 */

defined( 'ABSPATH' ) || exit;

return array(
	'service_url'  => '',
	'release_keys' => array(),
);
