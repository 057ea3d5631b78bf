<?php
/**
 * Plugin Name: Gravity Forms (stand-in)
 *
 * Fires the hooks of Gravity Forms 2.10.2 with its arguments and in its order: form_display.php
 * (process_form, handle_submission) and includes/api.php (get_forms). Spam is stored with the status "spam" before
 * gform_after_submission fires; pages before the last one and "Save and Continue" do not fire it.
 */

final class GF_Field {
	public $id;
	public $label;
	public $type;
	public $inputs;
	public $displayOnly;
	public $multipleFiles;

	public function __construct( array $properties ) {
		foreach ( $properties as $name => $value ) {
			$this->$name = $value;
		}
	}
}

final class GFAPI {
	public static function get_forms( $active = true, $trash = false, $sort_column = 'id', $sort_dir = 'ASC' ) {
		return array( test_gravity_form() );
	}
}

function test_gravity_form(): array {
	$fields = array(
		array( 'id' => 1, 'label' => 'Your name', 'type' => 'name', 'inputs' => array( array( 'id' => '1.3', 'label' => 'First' ), array( 'id' => '1.6', 'label' => 'Last' ) ) ),
		array( 'id' => 2, 'label' => 'Topics', 'type' => 'checkbox', 'inputs' => array( array( 'id' => '2.1', 'label' => 'Engines' ), array( 'id' => '2.2', 'label' => 'Poems' ) ) ),
		array( 'id' => 3, 'label' => 'A section', 'type' => 'section', 'displayOnly' => true ),
		array( 'id' => 4, 'label' => 'Password', 'type' => 'password' ),
		array( 'id' => 5, 'label' => 'CV', 'type' => 'fileupload', 'multipleFiles' => true ),
	);
	return array(
		'id'     => 31,
		'title'  => 'Application',
		'fields' => array_map(
			function ( $properties ) {
				return new GF_Field( $properties );
			},
			$fields
		),
	);
}

function test_gravityforms( string $case ): void {
	static $entry_id = 0;
	$form  = test_gravity_form();
	$entry = array(
		'id'         => (string) ++$entry_id,
		'form_id'    => '31',
		'status'     => 'active',
		'source_url' => home_url( '/jobs/' ),
		'1.3'        => 'Ada',
		'1.6'        => 'Lovelace',
		'2.1'        => 'Engines',
		'4'          => 'never sent',
	);
	do_action( 'gform_pre_process', $form );
	if ( in_array( $case, array( 'invalid', 'step', 'saved for later' ), true ) ) {
		return;
	}
	do_action( 'gform_pre_submission', $form );
	if ( 'file' === $case ) {
		$url        = test_upload_url( test_upload( 'gravity_forms/31-abc/2026/11/notes.txt' ) );
		$entry['5'] = wp_json_encode( array( $url ) );
	}
	if ( 'spam' === $case ) {
		$entry['status'] = 'spam';
	}
	do_action( 'gform_entry_created', $entry, $form );
	$entry = apply_filters( 'gform_entry_post_save', $entry, $form );
	// gf_do_action() fires the hook without and with the id of the form.
	do_action( 'gform_after_submission', $entry, $form );
	do_action( 'gform_after_submission_31', $entry, $form );
}
