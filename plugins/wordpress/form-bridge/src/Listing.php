<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The name of this class in version 1.0.0, which loads it in the request that updates the plugin,
 * after WordPress has replaced the files.
 */
class_alias( ReleaseFields::class, __NAMESPACE__ . '\Listing' );
