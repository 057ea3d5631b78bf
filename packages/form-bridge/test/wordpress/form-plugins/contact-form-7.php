<?php
/**
 * Plugin Name: Contact Form 7 (stand-in)
 *
 * Fires the hooks of Contact Form 7 6.1.6 with its arguments and in its order: includes/submission.php
 * (proceed, before_send_mail) and includes/contact-form.php (submit, find). Uploads are in a random
 * directory below uploads/wpcf7_uploads until the submission object is destroyed, and the posted value of a file
 * field is the hash of its files.
 */

final class WPCF7_FormTag {
	public $type;
	private $options;

	public function __construct( string $type, array $options ) {
		$this->type    = $type;
		$this->options = $options;
	}

	public function has_option( $name ) {
		return in_array( $name, $this->options, true );
	}
}

final class WPCF7_ContactForm {
	private $id;
	private $title;
	private $tags;

	public function __construct( int $id, string $title, array $tags = array() ) {
		$this->id    = $id;
		$this->title = $title;
		$this->tags  = $tags;
	}

	public static function find( $args = '' ) {
		return array( new self( 12, 'Contact' ), new self( 13, 'Quote' ) );
	}

	public function id() {
		return $this->id;
	}

	public function title() {
		return $this->title;
	}

	public function scan_form_tags( $condition = null ) {
		return array_values(
			array_filter(
				$this->tags,
				function ( $tag ) use ( $condition ) {
					return $tag->type === $condition['type'];
				}
			)
		);
	}
}

final class WPCF7_Submission {
	private static $instance;
	private $posted;
	private $files;

	/** Tests submit several times in one request. */
	public static function start( array $posted, array $files = array() ): self {
		self::$instance = new self();

		self::$instance->posted = $posted;
		self::$instance->files  = $files;
		return self::$instance;
	}

	public static function get_instance( $contact_form = null, $options = '' ) {
		return self::$instance;
	}

	public function get_posted_data( $name = '' ) {
		return $this->posted;
	}

	public function uploaded_files() {
		return $this->files;
	}

	public function get_meta( $name ) {
		return 'url' === $name ? home_url( '/contact/' ) : null;
	}
}

function test_contact_form_7( string $case ): void {
	$form   = new WPCF7_ContactForm( 12, 'Contact' );
	$posted = array(
		'your-name'            => 'Ada',
		'topics'               => array( 'Engines', 'Poems' ),
		'g-recaptcha-response' => 'token',
	);
	if ( 'step' === $case || 'last step' === $case ) {
		$options = 'last step' === $case ? array( 'last_step' ) : array( 'first_step' );
		$form    = new WPCF7_ContactForm( 12, 'Contact', array( new WPCF7_FormTag( 'multistep', $options ) ) );
	}
	$files = array();
	if ( 'file' === $case ) {
		$path = test_upload( 'wpcf7_uploads/0123456789/notes.txt' );

		$files['cv']  = array( $path );
		$posted['cv'] = hash_file( 'sha256', $path );
	}
	$submission = WPCF7_Submission::start( $posted, $files );
	$result     = array( 'contact_form_id' => $form->id() );
	if ( 'invalid' === $case ) {
		do_action( 'wpcf7_submit', $form, $result + array( 'status' => 'validation_failed' ) );
		return;
	}
	if ( 'spam' === $case ) {
		do_action( 'wpcf7_submit', $form, $result + array( 'status' => 'spam' ) );
		return;
	}
	$abort = 'aborted' === $case;
	do_action_ref_array( 'wpcf7_before_send_mail', array( $form, &$abort, $submission ) );
	if ( ! $abort ) {
		do_action( 'mail failed' === $case ? 'wpcf7_mail_failed' : 'wpcf7_mail_sent', $form );
	}
	do_action( 'wpcf7_submit', $form, $result + array( 'status' => $abort ? 'aborted' : 'mail_sent' ) );
	if ( isset( $path ) ) {
		// The destructor of the submission removes uploads.
		unlink( $path );
	}
}
