<?php
/**
 * Plugin Name: WPForms (stand-in)
 *
 * Fires the hooks of WPForms Lite 1.9.2.1 with its arguments and in its order: includes/class-process.php
 * (process, process_complete). All pages of a form are posted at once with the last one. The file field is that of WPForms
 * Pro, documented at https://wpforms.com/developers/wpforms_process_complete/: a URL below uploads/wpforms.
 */

function wpforms() {
	return new stdClass();
}

add_action(
	'init',
	function () {
		register_post_type( 'wpforms', array( 'public' => false ) );
	}
);

function test_wpforms( string $case ): void {
	$form_data = array(
		'id'       => '21',
		'settings' => array(
			'form_title'         => 'Newsletter',
			'store_spam_entries' => 'stored spam' === $case ? '1' : '',
		),
	);
	$submitted = array(
		'id'     => '21',
		'fields' => array( '1' => 'Ada' ),
	);
	$fields    = array(
		1 => array(
			'name'  => 'Name',
			'value' => 'Ada',
			'id'    => 1,
			'type'  => 'name',
			'first' => '',
		),
		2 => array(
			'name'      => 'Topics',
			'value'     => "Engines\nPoems",
			'value_raw' => 'Engines,Poems',
			'id'        => 2,
			'type'      => 'checkbox',
		),
		3 => array(
			'name'  => 'Password',
			'value' => 'never sent',
			'id'    => 3,
			'type'  => 'password',
		),
	);
	if ( 'file' === $case ) {
		$url = test_upload_url( test_upload( 'wpforms/21-0a1b/notes-5f2e.txt' ) );

		$fields[4] = array(
			'name'      => 'CV',
			'value'     => $url,
			'value_raw' => array(
				array(
					'name'          => 'notes.txt',
					'value'         => $url,
					'file'          => 'notes-5f2e.txt',
					'file_original' => 'notes.txt',
					'ext'           => 'txt',
					'attachment_id' => 0,
				),
			),
			'id'        => 4,
			'type'      => 'file-upload',
		);
	}
	do_action( 'wpforms_process_before', $submitted, $form_data );
	// Validation and spam checks return before the entry is saved.
	if ( in_array( $case, array( 'invalid', 'spam', 'step' ), true ) ) {
		return;
	}
	do_action( 'wpforms_process', $fields, $submitted, $form_data );
	if ( 'stored spam' === $case ) {
		$form_data['spam_reason'] = 'Honeypot';
	}
	$form_data['entry_meta'] = array( 'page_url' => home_url( '/news/' ) );
	$entry_id                = 'stored spam' === $case ? 5 : 0;
	do_action( 'wpforms_process_entry_saved', $fields, $submitted, $form_data, $entry_id, 0 );
	if ( 'stored spam' !== $case ) {
		do_action( 'wpforms_process_complete', $fields, $submitted, $form_data, $entry_id );
		do_action( 'wpforms_process_complete_21', $fields, $submitted, $form_data, $entry_id );
	}
}
