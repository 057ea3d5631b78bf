<?php
namespace FormBridge\Admin;

use FormBridge\Services;

defined( 'ABSPATH' ) || exit;

/** Settings → Form-Bridge. Rendering reads only the database. */
final class SettingsPage {

	const SLUG = 'form-bridge';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'admin_menu', array( $this, 'add' ) );
		add_action( 'admin_enqueue_scripts', array( $this, 'enqueue' ) );
		add_filter( 'plugin_action_links_' . plugin_basename( FORM_BRIDGE_FILE ), array( $this, 'link' ) );
	}

	public static function url(): string {
		return admin_url( 'options-general.php?page=' . self::SLUG );
	}

	public function add(): void {
		add_options_page( 'Form-Bridge', 'Form-Bridge', 'manage_options', self::SLUG, array( $this, 'render' ) );
	}

	/** @param string[] $links */
	public function link( array $links ): array {
		array_unshift( $links, sprintf( '<a href="%s">%s</a>', esc_url( self::url() ), esc_html__( 'Settings', 'form-bridge' ) ) );
		return $links;
	}

	public function enqueue( string $screen ): void {
		// The same name on the network page.
		if ( 'settings_page_' . self::SLUG !== $screen ) {
			return;
		}
		wp_enqueue_style( 'form-bridge', plugins_url( 'assets/page.css', FORM_BRIDGE_FILE ), array( 'dashicons' ), FORM_BRIDGE_VERSION );
		wp_enqueue_script( 'form-bridge', plugins_url( 'assets/page.js', FORM_BRIDGE_FILE ), array(), FORM_BRIDGE_VERSION, true );
	}

	public function render(): void {
		if ( ! current_user_can( 'manage_options' ) ) {
			return;
		}
		$services = $this->services;
		$status   = $services->status();
		$texts    = new StatusTexts( $services );
		$views    = dirname( FORM_BRIDGE_FILE ) . '/views';
		echo '<div class="wrap form-bridge"><h1>Form-Bridge</h1>';
		Actions::print_outcome();
		require "$views/connection.php";
		if ( null !== $services->credentials->load() ) {
			require "$views/details.php";
		}
		require "$views/forms.php";
		require "$views/submissions.php";
		require "$views/files.php";
		require "$views/settings.php";
		if ( null !== $services->credentials->load() ) {
			require "$views/keys.php";
		}
		echo '</div>';
	}

	/** A button that is a form of its own, so that it works without scripts. */
	public static function button( string $do, string $label, string $kind = '', array $values = array() ): void {
		self::open_form( $do );
		foreach ( $values as $name => $value ) {
			printf( '<input type="hidden" name="%s" value="%s">', esc_attr( $name ), esc_attr( $value ) );
		}
		printf( '<button type="submit" class="button %s">%s</button></form>', esc_attr( $kind ), esc_html( $label ) );
	}

	public static function open_form( string $do ): void {
		printf( '<form method="post" action="%s">', esc_url( admin_url( 'admin-post.php' ) ) );
		printf( '<input type="hidden" name="action" value="%s"><input type="hidden" name="do" value="%s">', esc_attr( Actions::ACTION ), esc_attr( $do ) );
		// By hand, because wp_nonce_field() would give every form the same id.
		printf( '<input type="hidden" name="_wpnonce" value="%s">', esc_attr( wp_create_nonce( "form_bridge_$do" ) ) );
	}
}
