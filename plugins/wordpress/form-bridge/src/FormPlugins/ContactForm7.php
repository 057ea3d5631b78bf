<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** Contact Form 7. */
final class ContactForm7 implements FormPlugin {

	/** Values of captchas, which are no input of the visitor. */
	const CAPTCHAS = array( 'g-recaptcha-response', 'h-captcha-response', 'cf-turnstile-response', 'frc-captcha-solution' );

	/** @var callable */
	private $receive;

	public function id(): string {
		return 'contact-form-7';
	}

	public function name(): string {
		return 'Contact Form 7';
	}

	public function is_active(): bool {
		return class_exists( '\WPCF7_ContactForm' ) && class_exists( '\WPCF7_Submission' );
	}

	public function forms(): array {
		$names = array();
		foreach ( \WPCF7_ContactForm::find() as $form ) {
			$names[ $form->id() ] = $form->title();
		}
		return $names;
	}

	/** Exactly one of the two fires for a valid submission. If the mail fails, the submission must not be lost too. */
	public function hook( callable $receive ): void {
		$this->receive = $receive;
		add_action( 'wpcf7_mail_sent', array( $this, 'handle' ) );
		add_action( 'wpcf7_mail_failed', array( $this, 'handle' ) );
	}

	/** @param \WPCF7_ContactForm $form */
	public function handle( $form ): void {
		$submission = \WPCF7_Submission::get_instance();
		if ( null === $submission || self::is_first_step( $form, (array) $submission->get_posted_data() ) ) {
			return;
		}
		$entry = new FormEntry( $form->id(), $form->title(), (string) spl_object_id( $submission ), (string) $submission->get_meta( 'url' ) );
		$files = (array) $submission->uploaded_files();
		foreach ( (array) $submission->get_posted_data() as $name => $value ) {
			// The value of a file field is a hash.
			if ( ! isset( $files[ $name ] ) && ! in_array( $name, self::CAPTCHAS, true ) ) {
				$entry->add_field( (string) $name, 'field', $value );
			}
		}
		foreach ( $files as $name => $paths ) {
			$field = $entry->add_field( (string) $name, 'file', array_map( 'wp_basename', array_values( (array) $paths ) ) );
			foreach ( (array) $paths as $path ) {
				$entry->add_file( $field, wp_basename( $path ), $path );
			}
		}
		( $this->receive )( $entry );
	}

	/** Whether it is a step before the last one of the extension "Multi-Step Forms", which adds the data of all steps to the last one. */
	private static function is_first_step( $form, array $posted ): bool {
		foreach ( $form->scan_form_tags( array( 'type' => 'multistep' ) ) as $tag ) {
			return ! $tag->has_option( 'last_step' );
		}
		$step = $posted['step'] ?? '';
		return is_string( $step ) && preg_match( '/^(\d+)-(\d+)$/', $step, $found ) && $found[1] !== $found[2];
	}
}
