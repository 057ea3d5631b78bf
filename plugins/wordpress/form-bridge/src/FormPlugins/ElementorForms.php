<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** The form widget of Elementor Pro. */
final class ElementorForms implements FormPlugin {

	/** Fields without input, or whose input must not be sent. */
	const SKIPPED = array( 'html', 'step', 'honeypot', 'recaptcha', 'recaptcha_v3', 'password' );

	/** The elements of a post, in JSON. */
	const ELEMENTS_META = '_elementor_data';

	/** Posts that are searched for forms. */
	const MAX_POSTS = 100;

	/** @var callable */
	private $receive;

	/** @var FormEntry|null */
	private $entry;

	public function id(): string {
		return 'elementor';
	}

	public function name(): string {
		return 'Elementor Forms';
	}

	public function is_active(): bool {
		return class_exists( '\ElementorPro\Plugin' );
	}

	/** A form has no record of its own: it is a widget in a post. */
	public function forms(): array {
		global $wpdb;
		$names = array();
		$rows  = $wpdb->get_col( $wpdb->prepare( "SELECT meta_value FROM $wpdb->postmeta JOIN $wpdb->posts ON ID = post_id WHERE meta_key = %s AND meta_value LIKE %s AND post_status IN ( 'publish', 'private' ) AND post_type <> 'revision' ORDER BY post_id LIMIT %d", self::ELEMENTS_META, '%"widgetType":"form"%', self::MAX_POSTS ) );
		foreach ( $rows as $row ) {
			$names += self::form_widgets( (array) json_decode( (string) $row, true ) );
		}
		return $names;
	}

	/** @return array<string, string> The names of forms among these elements and their children, by their ids. */
	private static function form_widgets( array $elements ): array {
		$names = array();
		foreach ( $elements as $element ) {
			if ( 'form' === ( $element['widgetType'] ?? '' ) ) {
				$names[ (string) $element['id'] ] = (string) ( $element['settings']['form_name'] ?? '' );
			}
			$names += self::form_widgets( (array) ( $element['elements'] ?? array() ) );
		}
		return $names;
	}

	/**
	 * Both fire after validation. Files are read by the first, because the email action deletes those
	 * that are only attached; the record is complete at the second.
	 */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_filter( 'elementor_pro/forms/record/actions_before', array( $this, 'read_files' ), PHP_INT_MAX );
		add_action( 'elementor_pro/forms/new_record', array( $this, 'handle' ) );
	}

	/**
	 * @param \ElementorPro\Modules\Forms\Classes\Form_Record $record
	 * @return \ElementorPro\Modules\Forms\Classes\Form_Record
	 */
	public function read_files( $record ) {
		$this->entry = self::create_entry( $record );
		return $record;
	}

	/** @param \ElementorPro\Modules\Forms\Classes\Form_Record $record */
	public function handle( $record ): void {
		$entry = self::create_entry( $record );
		if ( null !== $this->entry && $this->entry->token === $entry->token ) {
			$entry->files = $this->entry->files;
		}
		( $this->receive )( $entry );
	}

	private static function create_entry( $record ): FormEntry {
		$page  = $record->get_form_meta( array( 'page_url' ) )['page_url']['value'] ?? '';
		$entry = new FormEntry( $record->get_form_settings( 'id' ), (string) $record->get_form_settings( 'form_name' ), (string) spl_object_id( $record ), (string) $page );
		$files = (array) $record->get( 'files' );
		foreach ( (array) $record->get( 'fields' ) as $id => $field ) {
			if ( in_array( $field['type'], self::SKIPPED, true ) ) {
				continue;
			}
			$paths = array_values( (array) ( $files[ $id ]['path'] ?? array() ) );
			$value = is_array( $field['raw_value'] ) && 'upload' !== $field['type'] ? array_map( 'sanitize_textarea_field', $field['raw_value'] ) : $field['value'];
			$name  = $entry->add_field( (string) $field['title'], (string) $id, array() === $paths ? $value : array_map( 'wp_basename', $paths ) );
			foreach ( $paths as $path ) {
				$entry->add_file( $name, wp_basename( $path ), $path, true );
			}
		}
		return $entry;
	}
}
