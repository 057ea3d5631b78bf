<?php
/**
 * Plugin Name:       Form-Bridge
 * Description:       Connects this site to a Form-Bridge service. Form submissions are signed and kept until they are delivered. Updates are verified before they are installed.
 * Version:           1.0.0
 * Requires at least: 5.8
 * Requires PHP:      7.4
 * Author:            Strongroom
 * License:           Apache-2.0
 * License URI:       https://www.apache.org/licenses/LICENSE-2.0
 * Text Domain:       form-bridge
 * Domain Path:       /languages
 * Update URI:        https://form-bridge.invalid/v1/plugins/form-bridge
 */

defined( 'ABSPATH' ) || exit;

define( 'FORM_BRIDGE_VERSION', '1.0.0' );
define( 'FORM_BRIDGE_FILE', __FILE__ );

require __DIR__ . '/autoload.php';

FormBridge\Plugin::start();
