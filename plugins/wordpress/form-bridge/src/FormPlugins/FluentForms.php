<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** Fluent Forms. */
final class FluentForms implements FormPlugin {

	/** Fields whose input must not be sent. */
	const SKIPPED = array( 'input_password', 'recaptcha', 'hcaptcha', 'turnstile' );

	/** @var callable */
	private $receive;

	/** @var bool Whether the submission of this request is stored as spam. */
	private $is_spam = false;

	public function id(): string {
		return 'fluentform';
	}

	public function name(): string {
		return 'Fluent Forms';
	}

	public function is_active(): bool {
		return defined( 'FLUENTFORM' ) || defined( 'FLUENTFORM_VERSION' );
	}

	public function forms(): array {
		global $wpdb;
		$rows = $wpdb->get_results( "SELECT id, title FROM {$wpdb->prefix}fluentform_forms ORDER BY id" );
		return wp_list_pluck( (array) $rows, 'title', 'id' );
	}

	/** The last step of a form inserts the submission. Spam is inserted too, unless the owner turned that off. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'fluentform/before_insert_submission', array( $this, 'note_spam' ) );
		add_action( 'fluentform/submission_inserted', array( $this, 'handle' ), 10, 3 );
	}

	/** @param array $row The row that will be inserted. */
	public function note_spam( $row ): void {
		$this->is_spam = is_array( $row ) && 'spam' === ( $row['status'] ?? '' );
	}

	/**
	 * @param int    $insert_id
	 * @param array  $values By the names of fields.
	 * @param object $form   With title and form_fields (JSON).
	 */
	public function handle( $insert_id, $values, $form ): void {
		if ( $this->is_spam ) {
			return;
		}
		$entry    = new FormEntry( $form->id, (string) $form->title, (string) $insert_id );
		$settings = json_decode( (string) $form->form_fields, true );
		$fields   = self::input_fields( (array) ( $settings['fields'] ?? array() ) );
		foreach ( (array) $values as $key => $value ) {
			$field = $fields[ $key ] ?? null;
			// Without a field it is a nonce or the referer.
			if ( null === $field || in_array( $field['element'], self::SKIPPED, true ) ) {
				continue;
			}
			$is_file = in_array( $field['element'], array( 'input_file', 'input_image' ), true );
			$name    = $entry->add_field( $field['label'], (string) $key, $is_file ? array_values( (array) $value ) : $value );
			if ( $is_file ) {
				foreach ( array_filter( (array) $value, 'is_string' ) as $url ) {
					$entry->add_file( $name, Uploads::name( $url ), Uploads::path( $url, 'fluentform' ) );
				}
			}
		}
		( $this->receive )( $entry );
	}

	/**
	 * @param array[] $fields Some are containers, whose columns contain fields.
	 * @return array<string, array{element: string, label: string}> By their names.
	 */
	private static function input_fields( array $fields ): array {
		$found = array();
		foreach ( $fields as $field ) {
			$name  = $field['attributes']['name'] ?? '';
			$label = (string) ( $field['settings']['label'] ?? '' );
			if ( '' !== $name ) {
				$found[ $name ] = array(
					'element' => (string) ( $field['element'] ?? '' ),
					'label'   => '' === $label ? (string) ( $field['settings']['admin_field_label'] ?? '' ) : $label,
				);
			}
			foreach ( (array) ( $field['columns'] ?? array() ) as $column ) {
				$found += self::input_fields( (array) ( $column['fields'] ?? array() ) );
			}
		}
		return $found;
	}
}
