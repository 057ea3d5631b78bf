<?php
namespace FormBridge\Admin;

use FormBridge\NetworkSites;
use FormBridge\Services;
use FormBridge\Settings;

defined( 'ABSPATH' ) || exit;

/** Network Admin → Settings → Form-Bridge: the sites of a network, and settings for all of them. */
final class NetworkPage {

	const ACTION = 'form_bridge_network';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'network_admin_menu', array( $this, 'add' ) );
		add_action( 'network_admin_edit_' . self::ACTION, array( $this, 'handle' ) );
		add_filter( 'network_admin_plugin_action_links_' . plugin_basename( FORM_BRIDGE_FILE ), array( $this, 'link' ) );
	}

	public static function url(): string {
		return network_admin_url( 'settings.php?page=' . SettingsPage::SLUG );
	}

	public function add(): void {
		add_submenu_page( 'settings.php', 'Form-Bridge', 'Form-Bridge', 'manage_network_options', SettingsPage::SLUG, array( $this, 'render' ) );
	}

	/** @param string[] $links */
	public function link( array $links ): array {
		array_unshift( $links, sprintf( '<a href="%s">%s</a>', esc_url( self::url() ), esc_html__( 'Settings', 'form-bridge' ) ) );
		return $links;
	}

	public function render(): void {
		if ( ! current_user_can( 'manage_network_options' ) ) {
			return;
		}
		$services = $this->services;
		// phpcs:ignore WordPress.Security.NonceVerification.Recommended -- only selects what is shown.
		$page  = max( 1, (int) ( $_GET['paged'] ?? 1 ) );
		$pages = NetworkSites::pages();
		$sites = NetworkSites::page( $page );
		echo '<div class="wrap form-bridge"><h1>Form-Bridge</h1>';
		Actions::print_outcome();
		require dirname( FORM_BRIDGE_FILE ) . '/views/network.php';
		echo '</div>';
	}

	public function handle(): void {
		$do = sanitize_key( $_POST['do'] ?? '' );
		if ( ! current_user_can( 'manage_network_options' ) ) {
			wp_die( esc_html__( 'You are not allowed to manage Form-Bridge.', 'form-bridge' ), '', array( 'response' => 403 ) );
		}
		check_admin_referer( "form_bridge_network_$do" );
		if ( 'settings' === $do ) {
			$url = sanitize_text_field( wp_unslash( $_POST['service_url'] ?? '' ) );
			update_site_option( Settings::NETWORK_URL_OPTION, esc_url_raw( $url, array( 'https', 'http' ) ) );
			Actions::save_outcome( 'success', __( 'Settings saved.', 'form-bridge' ) );
		} elseif ( 'connect' === $do ) {
			$started = NetworkSites::connect( (int) ( $_POST['paged'] ?? 1 ), sanitize_text_field( wp_unslash( $_POST['join_token'] ?? '' ) ) );
			/* translators: %d: a number of sites. */
			Actions::save_outcome( 'info', sprintf( _n( '%d site is being connected in the background. It needs visitors or a cron job.', '%d sites are being connected in the background. They need visitors or a cron job.', $started, 'form-bridge' ), $started ) );
		}
		wp_safe_redirect( self::url() );
		exit;
	}

	public static function open_form( string $do ): void {
		printf( '<form method="post" action="%s">', esc_url( network_admin_url( 'edit.php?action=' . self::ACTION ) ) );
		printf( '<input type="hidden" name="do" value="%s"><input type="hidden" name="_wpnonce" value="%s">', esc_attr( $do ), esc_attr( wp_create_nonce( "form_bridge_network_$do" ) ) );
	}
}
