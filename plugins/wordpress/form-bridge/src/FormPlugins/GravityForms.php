<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** Gravity Forms. */
final class GravityForms implements FormPlugin {

	/** Fields without input, or whose input must not be sent. */
	const SKIPPED = array( 'html', 'section', 'page', 'captcha', 'honeypot', 'password', 'creditcard' );

	/** @var callable */
	private $receive;

	public function id(): string {
		return 'gravityforms';
	}

	public function name(): string {
		return 'Gravity Forms';
	}

	public function is_active(): bool {
		return class_exists( '\GFAPI' );
	}

	public function forms(): array {
		$names = array();
		foreach ( \GFAPI::get_forms() as $form ) {
			$names[ $form['id'] ] = (string) $form['title'];
		}
		return $names;
	}

	/** Fires once, after the last page of a form, also for spam. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'gform_after_submission', array( $this, 'handle' ), 10, 2 );
	}

	/**
	 * @param array $submitted The entry: values by the ids of fields ("3") and inputs ("3.6").
	 * @param array $form
	 */
	public function handle( $submitted, $form ): void {
		if ( 'spam' === ( $submitted['status'] ?? '' ) ) {
			return;
		}
		$entry = new FormEntry( $form['id'], (string) $form['title'], (string) $submitted['id'], (string) ( $submitted['source_url'] ?? '' ) );
		foreach ( $form['fields'] as $field ) {
			if ( in_array( $field->type, self::SKIPPED, true ) || ! empty( $field->displayOnly ) ) {
				continue;
			}
			$value = self::value( $field, $submitted );
			$name  = $entry->add_field( (string) $field->label, 'field ' . $field->id, $value );
			if ( self::is_upload( $field ) ) {
				foreach ( (array) $value as $url ) {
					self::add_file( $entry, $name, (string) $url, $submitted );
				}
			}
		}
		( $this->receive )( $entry );
	}

	/** @return mixed */
	private static function value( $field, array $submitted ) {
		if ( ! is_array( $field->inputs ) ) {
			$value = $submitted[ $field->id ] ?? '';
			return self::is_upload( $field ) && ! empty( $field->multipleFiles ) ? (array) json_decode( (string) $value, true ) : $value;
		}
		$values = array();
		foreach ( $field->inputs as $input ) {
			$value = $submitted[ (string) $input['id'] ] ?? '';
			if ( '' !== $value ) {
				$values[ (string) $input['label'] ] = $value;
			}
		}
		// The labels of checkboxes repeat their values.
		return 'checkbox' === $field->type ? array_values( $values ) : $values;
	}

	private static function is_upload( $field ): bool {
		return 'fileupload' === $field->type || 'fileupload' === ( $field->inputType ?? '' );
	}

	private static function add_file( FormEntry $entry, string $name, string $url, array $submitted ): void {
		if ( '' === $url ) {
			return;
		}
		$path = Uploads::path( $url, 'gravity_forms' );
		// The uploads directory of Gravity Forms can be changed by a filter.
		if ( '' === $path && method_exists( '\GFFormsModel', 'get_physical_file_path' ) && method_exists( '\GFFormsModel', 'get_upload_root' ) ) {
			$found = (string) \GFFormsModel::get_physical_file_path( $url, $submitted['id'] );
			$path  = Uploads::is_inside( $found, \GFFormsModel::get_upload_root() ) ? $found : '';
		}
		$entry->add_file( $name, Uploads::name( $url ), $path );
	}
}
