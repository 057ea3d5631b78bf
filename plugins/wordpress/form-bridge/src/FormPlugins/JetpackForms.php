<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** The forms of Jetpack. */
final class JetpackForms implements FormPlugin {

	/** Posts that are searched for forms. */
	const MAX_POSTS = 100;

	/** The type of posts that are forms. */
	const POST_TYPE = 'jetpack_form';

	/** A block that shows a form which is a post of its own. */
	const REFERENCE = '/<!-- wp:jetpack\/contact-form \{[^}]*"ref":\d+[^}]*\} \/-->/';

	/** Set for submissions from the preview of a form in the editor. */
	const TEST_META = '_feedback_is_test';

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

	/**
	 * A form is either a post of its own, which pages refer to, or it is part of a page as a block or a shortcode. Then
	 * the id of the page is the id of the form.
	 */
	public function forms(): array {
		global $wpdb;
		$names = array();
		$rows  = $wpdb->get_results( $wpdb->prepare( "SELECT ID, post_title, post_type, post_content FROM $wpdb->posts WHERE post_status IN ( 'publish', 'private' ) AND post_type <> 'revision' AND ( post_content LIKE %s OR post_content LIKE %s ) ORDER BY ID LIMIT %d", '%<!-- wp:jetpack/contact-form%', '%[contact-form%', self::MAX_POSTS ) );
		foreach ( (array) $rows as $row ) {
			$own = preg_replace( self::REFERENCE, '', $row->post_content );
			if ( self::POST_TYPE === $row->post_type || 1 === preg_match( '/<!-- wp:jetpack\/contact-form|\[contact-form/', (string) $own ) ) {
				$names[ $row->ID ] = $row->post_title;
			}
		}
		return $names;
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
		if ( $is_spam || 'trash' === get_post_status( $feedback_id ) || get_post_meta( $feedback_id, self::TEST_META, true ) || array() === $fields ) {
			return;
		}
		$form  = reset( $fields )->form ?? null;
		$ref   = is_object( $form ) ? (int) $form->get_attribute( 'ref' ) : 0;
		$id    = is_object( $form ) ? (string) $form->get_attribute( 'id' ) : '';
		$id    = '' === $id ? (string) get_post_field( 'post_parent', $feedback_id ) : $id;
		$name  = $ref > 0 ? get_post_field( 'post_title', $ref ) : ( $values['entry_title'] ?? '' );
		$entry = new FormEntry( $ref > 0 ? $ref : $id, (string) $name, (string) $feedback_id, (string) ( $values['entry_permalink'] ?? '' ) );
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
