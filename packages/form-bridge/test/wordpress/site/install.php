<?php
/** Installs WordPress in the directory of a site, and activates the plugin. */
$_SERVER['HTTP_HOST']       = (string) getenv( 'WORDPRESS_HOST' );
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';

define( 'WP_INSTALLING', true );
require getenv( 'WORDPRESS_FILES' ) . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

wp_install( 'A site', 'owner', 'owner@example.com', true, '', 'password' );
switch_theme( 'plain' );
update_option( 'active_plugins', array( 'form-bridge/form-bridge.php' ) );
