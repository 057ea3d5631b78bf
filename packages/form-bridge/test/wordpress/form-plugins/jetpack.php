<?php
/**
 * Plugin Name: Jetpack (stand-in)
 *
 * Fires the hooks of Jetpack 15.9.1 (Jetpack Forms 7.22.2) with its arguments and in its order:
 * src/contact-form/class-contact-form.php (process_submission). Spam is stored as a post with the status "spam", a
 * submission with disallowed words with "trash". Steps are posted with the last one. Files are uploaded to
 * WordPress.com before; the value has their names. A form may be a post of its own: the block of a page then has its id
 * as "ref", and so has the form (parse). Submissions from the preview of a form have a meta value (class-feedback.php, save).
 */

namespace Automattic\Jetpack\Forms\ContactForm;

final class Contact_Form_Plugin {
}

final class Contact_Form {
	private $attributes;

	public function __construct( array $attributes ) {
		$this->attributes = $attributes;
	}

	public function get_attribute( $key ) {
		return $this->attributes[ $key ] ?? null;
	}
}

final class Contact_Form_Field {
	public $value;
	public $form;
	private $attributes;

	public function __construct( array $attributes, $value, Contact_Form $form ) {
		$this->attributes = $attributes;
		$this->value      = $value;
		$this->form       = $form;
	}

	public function get_attribute( $key ) {
		return $this->attributes[ $key ] ?? null;
	}
}

add_action(
	'init',
	function () {
		register_post_type( 'feedback', array( 'public' => false ) );
		register_post_type( 'jetpack_form', array( 'public' => false ) );
		register_post_status( 'spam', array( 'public' => false ) );
		if ( false === strpos( get_post( 2 )->post_content, 'jetpack/contact-form' ) ) {
			$form = '<!-- wp:jetpack/contact-form --><!-- /wp:jetpack/contact-form -->';
			wp_update_post( array( 'ID' => 2, 'post_content' => $form ) );
			wp_insert_post( array( 'import_id' => 710, 'post_type' => 'jetpack_form', 'post_status' => 'publish', 'post_title' => 'Callback', 'post_content' => $form ) );
			wp_insert_post( array( 'import_id' => 711, 'post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Call us', 'post_content' => '<!-- wp:jetpack/contact-form {"ref":710} /-->' ) );
		}
	}
);

function test_jetpack( string $case ): void {
	if ( in_array( $case, array( 'invalid', 'step' ), true ) ) {
		return;
	}
	$page   = 'of its own' === $case ? 711 : 2;
	$form   = new Contact_Form( 'of its own' === $case ? array( 'id' => '711', 'ref' => 710 ) : array( 'id' => '2' ) );
	$fields = array(
		'g2-name'   => new Contact_Form_Field( array( 'label' => 'Name', 'type' => 'name' ), 'Ada', $form ),
		'g2-topics' => new Contact_Form_Field( array( 'label' => 'Topics', 'type' => 'checkbox-multiple' ), array( 'Engines', 'Poems' ), $form ),
	);
	if ( 'file' === $case ) {
		$fields['g2-cv'] = new Contact_Form_Field( array( 'label' => 'CV', 'type' => 'file' ), array( wp_json_encode( array( 'file_id' => 7, 'name' => 'notes.txt', 'size' => 11, 'type' => 'text/plain' ) ) ), $form );
	}
	$statuses = array( 'spam' => 'spam', 'disallowed' => 'trash' );
	$post_id  = wp_insert_post( array( 'post_type' => 'feedback', 'post_parent' => $page, 'post_title' => 'Ada', 'post_content' => 'x', 'post_status' => $statuses[ $case ] ?? 'publish' ) );
	if ( 'preview' === $case ) {
		add_post_meta( $post_id, '_feedback_is_test', 1, true );
	}
	$values = array( 'entry_title' => get_the_title( $page ), 'entry_permalink' => get_permalink( $page ), 'feedback_id' => 'abc' );
	do_action( 'grunion_after_feedback_post_inserted', $post_id, $fields, 'spam' === $case, $values );
	do_action( 'grunion_pre_message_sent', $post_id, array(), array() );
	do_action( 'grunion_after_message_sent', $post_id, array(), '', '', '', array(), array() );
}
