<?php
namespace FormBridge\Admin;

use FormBridge\NetworkSites;
use FormBridge\Services;

defined( 'ABSPATH' ) || exit;

/**
 * Warns on the plugins page that deleting the plugin deletes undelivered submissions. The warning
 * comes before the plugin is deactivated, because only then can it be deleted, without this code.
 */
final class DeletionWarning {

	const ROW = 'form-bridge-undelivered';

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'after_plugin_row_' . plugin_basename( FORM_BRIDGE_FILE ), array( $this, 'print_row' ) );
	}

	public function print_row(): void {
		$count = $this->undelivered();
		if ( 0 === $count ) {
			return;
		}
		/* translators: %d: a number of submissions. */
		$text = sprintf( _n( '%d submission has not been delivered.', '%d submissions have not been delivered.', $count, 'form-bridge' ), $count );
		$more = __( 'If you delete Form-Bridge, it sends what it can and deletes the rest.', 'form-bridge' );
		wp_enqueue_script( 'form-bridge-plugins', plugins_url( 'assets/plugins.js', FORM_BRIDGE_FILE ), array(), FORM_BRIDGE_VERSION, true );
		printf(
			'<tr class="plugin-update-tr active" id="%s" data-confirm="%s"><td colspan="%d" class="plugin-update colspanchange"><div class="notice inline notice-warning notice-alt"><p>%s <a href="%s">%s</a></p></div></td></tr>',
			esc_attr( self::ROW ),
			esc_attr( "$text $more " . __( 'Deactivate it anyway?', 'form-bridge' ) ),
			(int) $this->columns(),
			esc_html( "$text $more" ),
			esc_url( is_network_admin() ? NetworkPage::url() : SettingsPage::url() ),
			esc_html__( 'See why, and send them', 'form-bridge' )
		);
	}

	private function columns(): int {
		$table = $GLOBALS['wp_list_table'] ?? null;
		return $table instanceof \WP_List_Table ? $table->get_column_count() : 4;
	}

	private function undelivered(): int {
		if ( is_network_admin() ) {
			return array_sum( array_column( NetworkSites::page( 1 ), 'undelivered' ) );
		}
		$stats = $this->services->queue->stats();
		return $stats['waiting'] + $stats['refused'];
	}
}
