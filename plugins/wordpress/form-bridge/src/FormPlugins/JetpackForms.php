<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** The forms of Jetpack. */
final class JetpackForms implements FormPlugin {

	/** Posts that are searched for forms. */
	const MAX_POSTS = 100;

	/** @var callable */
	private $receive;

	public function id(): string {
		return 'jetpack';
	}

	public function name(): string {
		return 'Jetpack Forms';
	}

	public function is_active(): bool {
		return class_exists( '\Automattic\Jetpack\Forms\ContactForm\Contact_Form_Plugin' );
	}

	/** A form has no record of its own: it is a block or a shortcode in a post, whose id is the id of the form. */
	public function forms(): array {
		global $wpdb;
		$rows = $wpdb->get_results( $wpdb->prepare( "SELECT ID, post_title FROM $wpdb->posts WHERE post_status IN ( 'publish', 'private' ) AND post_type <> 'revision' AND ( post_content LIKE %s OR post_content LIKE %s ) ORDER BY ID LIMIT %d", '%<!-- wp:jetpack/contact-form%', '%[contact-form%', self::MAX_POSTS ) );
		return wp_list_pluck( (array) $rows, 'post_title', 'ID' );
	}

	/** Fires once after a valid submission was stored, also for spam. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'grunion_after_feedback_post_inserted', array( $this, 'handle' ), 10, 4 );
	}

	/**
	 * @param int      $feedback_id
	 * @param object[] $fields      Contact_Form_Field objects by their ids.
	 * @param bool     $is_spam
	 * @param array    $values      entry_title, entry_permalink, feedback_id.
	 */
	public function handle( $feedback_id, $fields, $is_spam, $values = array() ): void {
		// A submission with disallowed words is in the trash.
		if ( $is_spam || 'trash' === get_post_status( $feedback_id ) || array() === $fields ) {
			return;
		}
		$form  = reset( $fields )->form ?? null;
		$id    = is_object( $form ) ? (string) $form->get_attribute( 'id' ) : '';
		$id    = '' === $id ? (string) get_post_field( 'post_parent', $feedback_id ) : $id;
		$entry = new FormEntry( $id, (string) ( $values['entry_title'] ?? '' ), (string) $feedback_id, (string) ( $values['entry_permalink'] ?? '' ) );
		foreach ( $fields as $field_id => $field ) {
			$label = html_entity_decode( (string) $field->get_attribute( 'label' ), ENT_QUOTES );
			if ( 'file' === $field->get_attribute( 'type' ) ) {
				self::add_files( $entry, $label, (string) $field_id, $field->value );
			} else {
				$entry->add_field( $label, (string) $field_id, $field->value );
			}
		}
		( $this->receive )( $entry );
	}

	/**
	 * Jetpack stores uploads at WordPress.com, so only their names are known here.
	 *
	 * @param mixed $value A list of JSON texts or arrays with a name.
	 */
	private static function add_files( FormEntry $entry, string $label, string $field_id, $value ): void {
		$names = array();
		foreach ( (array) ( $value['files'] ?? $value ) as $file ) {
			$file = is_string( $file ) ? json_decode( wp_unslash( $file ), true ) : $file;
			if ( is_string( $file['name'] ?? null ) ) {
				$names[] = $file['name'];
			}
		}
		$field = $entry->add_field( $label, $field_id, $names );
		foreach ( $names as $name ) {
			$entry->add_file( $field, $name, '' );
		}
	}
}
