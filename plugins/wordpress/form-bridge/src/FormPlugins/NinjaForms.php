<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** Ninja Forms, and its extension File Uploads. */
final class NinjaForms implements FormPlugin {

	/** Fields without input, or whose input must not be sent. */
	const SKIPPED = array( 'submit', 'html', 'hr', 'divider', 'note', 'spam', 'recaptcha', 'recaptcha_v3', 'hcaptcha', 'turnstile', 'unknown', 'save', 'password', 'passwordconfirm', 'creditcard', 'creditcardcvc', 'creditcardexpiration', 'creditcardfullname', 'creditcardnumber', 'creditcardzip' );

	/** @var callable */
	private $receive;

	public function id(): string {
		return 'ninja-forms';
	}

	public function name(): string {
		return 'Ninja Forms';
	}

	public function is_active(): bool {
		return function_exists( 'Ninja_Forms' );
	}

	public function forms(): array {
		$names = array();
		foreach ( Ninja_Forms()->form()->get_forms() as $form ) {
			$names[ $form->get_id() ] = (string) $form->get_setting( 'title' );
		}
		return $names;
	}

	/** Fires once after all actions of the form. Invalid submissions and spam end before. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'ninja_forms_after_submission', array( $this, 'handle' ) );
	}

	/** @param array $data form_id, settings, fields, extra. */
	public function handle( $data ): void {
		// A preview, or a visitor who saves an unfinished form.
		if ( ! empty( $data['settings']['is_preview'] ) || ! empty( $data['extra']['saveProgress'] ) ) {
			return;
		}
		$entry = new FormEntry( $data['form_id'], (string) ( $data['settings']['title'] ?? '' ), md5( (string) wp_json_encode( $data['fields'] ) ) );
		foreach ( (array) $data['fields'] as $field ) {
			if ( in_array( $field['type'] ?? '', self::SKIPPED, true ) ) {
				continue;
			}
			$value = $field['value'] ?? '';
			$name  = $entry->add_field( (string) ( $field['label'] ?? '' ), (string) ( $field['key'] ?? 'field' ), 'file_upload' === $field['type'] ? array_values( (array) $value ) : $value );
			if ( 'file_upload' === $field['type'] ) {
				foreach ( (array) ( $field['files'] ?? array() ) as $file ) {
					$path = (string) ( $file['data']['file_path'] ?? '' );
					$entry->add_file( $name, (string) ( $file['data']['user_file_name'] ?? $file['name'] ?? '' ), Uploads::is_inside( $path, wp_get_upload_dir()['basedir'] ) ? $path : '' );
				}
			}
		}
		( $this->receive )( $entry );
	}
}
