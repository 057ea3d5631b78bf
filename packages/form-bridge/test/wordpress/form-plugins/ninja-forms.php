<?php
/**
 * Plugin Name: Ninja Forms (stand-in)
 *
 * Fires the hooks of Ninja Forms 3.14.7 with its arguments and in its order: includes/AJAX/Controllers/Submission.php
 * (submit, process) and, for files, File Uploads 3.3.21: includes/fields/upload.php (process). Invalid
 * submissions and spam end with a response before ninja_forms_after_submission.
 */

final class Test_Ninja_Form {
	public function get_forms() {
		return array( $this );
	}

	public function get_id() {
		return 41;
	}

	public function get_setting( $name ) {
		return 'title' === $name ? 'Support' : '';
	}
}

final class Test_Ninja_Forms {
	public function form( $id = '' ) {
		return new Test_Ninja_Form();
	}
}

function Ninja_Forms() {
	return new Test_Ninja_Forms();
}

function test_ninja_forms( string $case ): void {
	static $serial = 0;
	$data = array(
		'form_id'           => '41',
		'settings'          => array(
			'title'      => 'Support',
			'is_preview' => 'preview' === $case,
		),
		'extra'             => 'step' === $case ? array( 'saveProgress' => 'token' ) : array(),
		'processed_actions' => array( 1, 2 ),
		'fields'            => array(
			5 => array( 'id' => 5, 'key' => 'name_5', 'label' => 'Name', 'type' => 'textbox', 'value' => 'Ada' ),
			6 => array( 'id' => 6, 'key' => 'topics_6', 'label' => 'Topics', 'type' => 'listcheckbox', 'value' => array( 'engines', 'poems' ) ),
			7 => array( 'id' => 7, 'key' => 'submit_7', 'label' => 'Submit', 'type' => 'submit', 'value' => '' ),
			8 => array( 'id' => 8, 'key' => 'password_8', 'label' => 'Password', 'type' => 'password', 'value' => 'never sent' ),
			9 => array( 'id' => 9, 'key' => 'serial_9', 'label' => 'Serial', 'type' => 'hidden', 'value' => ++$serial ),
		),
	);
	if ( 'file' === $case ) {
		$path = test_upload( 'ninja-forms/41/notes-1.txt' );
		$url  = test_upload_url( $path );

		$data['fields'][10] = array(
			'id'    => 10,
			'key'   => 'cv_10',
			'label' => 'CV',
			'type'  => 'file_upload',
			'value' => array( 3 => $url ),
			'files' => array(
				array(
					'name' => 'notes.txt',
					'data' => array( 'user_file_name' => 'notes.txt', 'file_path' => $path, 'file_url' => $url ),
				),
			),
		);
	}
	$data = apply_filters( 'ninja_forms_submit_data', $data );
	if ( ! in_array( $case, array( 'invalid', 'spam' ), true ) ) {
		do_action( 'ninja_forms_after_submission', $data );
	}
}
