<?php
/**
 * What a build of this plugin is bound to: where its service is, and the public keys that sign its
 * releases. `npm run build:plugin` writes this file; here it names no service and trusts no key.
 */

defined( 'ABSPATH' ) || exit;

return array(
	'service_url'  => '',
	'release_keys' => array(),
);
