<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** WPForms and WPForms Lite. */
final class WPForms implements FormPlugin {

	/** Fields without input, or whose input must not be sent. */
	const SKIPPED = array( 'divider', 'pagebreak', 'html', 'content', 'entry-preview', 'layout', 'captcha', 'password', 'credit-card' );

	/** @var callable */
	private $receive;

	public function id(): string {
		return 'wpforms';
	}

	public function name(): string {
		return 'WPForms';
	}

	public function is_active(): bool {
		return function_exists( 'wpforms' );
	}

	public function forms(): array {
		$query = array(
			'post_type'   => 'wpforms',
			'post_status' => 'publish',
			'numberposts' => -1,
			'orderby'     => 'ID',
			'order'       => 'ASC',
		);
		return wp_list_pluck( get_posts( $query ), 'post_title', 'ID' );
	}

	/** Fires once, after the last page of a form, and not for spam, even if spam is stored. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'wpforms_process_complete', array( $this, 'handle' ), 10, 4 );
	}

	/**
	 * @param array      $fields    By their ids: name (the label), type, value.
	 * @param array      $submitted
	 * @param array      $form_data
	 * @param int|string $entry_id  0 or empty in WPForms Lite, which stores no entries.
	 */
	public function handle( $fields, $submitted, $form_data, $entry_id ): void {
		if ( ! empty( $form_data['spam_reason'] ) ) {
			return;
		}
		$page  = (string) ( $form_data['entry_meta']['page_url'] ?? '' );
		$entry = new FormEntry( $form_data['id'], (string) ( $form_data['settings']['form_title'] ?? '' ), md5( (string) wp_json_encode( array( $entry_id, $fields ) ) ), $page );
		foreach ( (array) $fields as $field ) {
			if ( in_array( $field['type'] ?? '', self::SKIPPED, true ) ) {
				continue;
			}
			$name = $entry->add_field( (string) ( $field['name'] ?? '' ), 'field ' . ( $field['id'] ?? '' ), $field['value'] ?? '' );
			if ( 'file-upload' === ( $field['type'] ?? '' ) ) {
				self::add_files( $entry, $name, $field );
			}
		}
		( $this->receive )( $entry );
	}

	/** A field for one file has a URL as its value, a field for several files a list with a URL each. */
	private static function add_files( FormEntry $entry, string $name, array $field ): void {
		$files = is_array( $field['value_raw'] ?? null ) ? $field['value_raw'] : array( $field );
		foreach ( $files as $file ) {
			$url = (string) ( $file['value'] ?? '' );
			if ( '' === $url ) {
				continue;
			}
			// A file in the media library is in the folder of the month.
			$attached = empty( $file['attachment_id'] ) ? '' : get_attached_file( (int) $file['attachment_id'] );
			$original = (string) ( $file['file_original'] ?? '' );
			$entry->add_file( $name, '' === $original ? Uploads::name( $url ) : $original, $attached ? (string) $attached : Uploads::path( $url, 'wpforms' ) );
		}
	}
}
