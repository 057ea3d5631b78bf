<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Registers the hooks of the plugin. */
final class Plugin {

	public static function start(): void {
		$services = new Services();

		( new ProofRoutes( $services ) )->hook();
		( new Forms( $services ) )->hook();
		$services->forms->hook();
		( new Updates( $services ) )->hook();

		add_action( 'init', array( self::class, 'load_translations' ) );
		add_action( 'init', array( $services->queue, 'create_table' ) );
		add_filter( 'wpmu_drop_tables', array( $services->queue, 'add_table' ) );
		add_action( 'init', array( self::class, 'schedule' ) );
		add_filter( 'cron_schedules', array( self::class, 'add_interval' ) );
		add_action( Connector::HOOK, array( $services->connector, 'step_in_background' ) );
		add_action( Heartbeat::HOOK, array( new Heartbeat( $services ), 'run' ) );
		add_action( Queue::HOOK, array( new Sender( $services ), 'send_due' ) );
		register_deactivation_hook( FORM_BRIDGE_FILE, array( self::class, 'deactivate' ) );

		if ( is_admin() ) {
			( new Admin\SettingsPage( $services ) )->hook();
			( new Admin\Actions( $services ) )->hook();
			( new Admin\ConnectEndpoint( $services ) )->hook();
			( new Admin\Notices( $services ) )->hook();
			( new Admin\PrivacyPolicy() )->hook();
			( new Admin\DeletionWarning( $services ) )->hook();
			if ( is_multisite() ) {
				( new Admin\NetworkPage( $services ) )->hook();
			}
		}
		if ( defined( 'WP_CLI' ) && WP_CLI ) {
			\WP_CLI::add_command( 'form-bridge', new Cli( $services ) );
		}
	}

	public static function load_translations(): void {
		load_plugin_textdomain( 'form-bridge', false, dirname( plugin_basename( FORM_BRIDGE_FILE ) ) . '/languages' );
	}

	/** On every request, because an update does not activate the plugin again. */
	public static function schedule(): void {
		Heartbeat::ensure_scheduled();
		$next = wp_next_scheduled( Queue::HOOK );
		// An event further ahead was scheduled before the clock was set back.
		if ( ! $next || $next > time() + HOUR_IN_SECONDS ) {
			wp_clear_scheduled_hook( Queue::HOOK );
			wp_schedule_event( time() + wp_rand( 0, 300 ), 'form_bridge_five_minutes', Queue::HOOK );
		}
	}

	public static function add_interval( array $schedules ): array {
		$schedules['form_bridge_five_minutes'] = array(
			'interval' => 300,
			// In English only, because WordPress may read it before translations are loaded.
			'display'  => 'Every five minutes',
		);
		return $schedules;
	}

	/** Sends what it can first, because an inactive plugin can only be deleted. */
	public static function deactivate(): void {
		( new Sender( new Services() ) )->send_all();
		self::unschedule();
	}

	public static function unschedule(): void {
		foreach ( array( Connector::HOOK, Heartbeat::HOOK, Queue::HOOK ) as $hook ) {
			wp_unschedule_hook( $hook );
		}
	}
}
