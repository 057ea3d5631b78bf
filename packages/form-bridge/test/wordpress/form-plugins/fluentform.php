<?php
/**
 * Plugin Name: Fluent Forms (stand-in)
 *
 * Fires the hooks of Fluent Forms 6.2.2 with its arguments and in its order: app/Services/Form/SubmissionHandlerService.php
 * (insertSubmission, processSubmissionData) and FormValidationService.php (validateSubmission). Spam is inserted with the status "spam" and still fires submission_inserted,
 * unless the owner skips it. The deprecated hook fires before the new one.
 */

define( 'FLUENTFORM_VERSION', '6.2.2' );

add_action(
	'init',
	function () {
		global $wpdb;
		$wpdb->query( "CREATE TABLE IF NOT EXISTS {$wpdb->prefix}fluentform_forms ( id bigint(20) unsigned NOT NULL AUTO_INCREMENT, title varchar(255) NOT NULL, PRIMARY KEY (id) )" );
		if ( '0' === (string) $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->prefix}fluentform_forms" ) ) {
			$wpdb->insert( "{$wpdb->prefix}fluentform_forms", array( 'id' => 61, 'title' => 'Feedback' ) );
		}
	}
);

function test_fluentform( string $case ): void {
	static $insert_id = 0;
	$fields = array(
		array( 'element' => 'input_name', 'attributes' => array( 'name' => 'names' ), 'settings' => array( 'label' => '', 'admin_field_label' => 'Name' ) ),
		array(
			'element' => 'container',
			'columns' => array(
				array( 'fields' => array( array( 'element' => 'input_checkbox', 'attributes' => array( 'name' => 'topics' ), 'settings' => array( 'label' => 'Topics' ) ) ) ),
				array( 'fields' => array( array( 'element' => 'input_password', 'attributes' => array( 'name' => 'pass' ), 'settings' => array( 'label' => 'Password' ) ) ) ),
			),
		),
		array( 'element' => 'input_file', 'attributes' => array( 'name' => 'cv' ), 'settings' => array( 'label' => 'CV' ) ),
	);
	$form   = (object) array( 'id' => 61, 'title' => 'Feedback', 'type' => 'form', 'form_fields' => wp_json_encode( array( 'fields' => $fields ) ) );
	$values = array(
		'_wp_http_referer' => '/feedback/',
		'names'            => array( 'first_name' => 'Ada', 'last_name' => 'Lovelace' ),
		'topics'           => array( 'Engines' ),
		'pass'             => 'never sent',
	);
	if ( 'file' === $case ) {
		$values['cv'] = array( test_upload_url( test_upload( 'fluentform/notes.txt' ) ) );
	}
	if ( 'forged file' === $case ) {
		test_upload( 'backups/site.txt' );
		$values['cv'] = array( test_upload_url( wp_get_upload_dir()['basedir'] . '/fluentform/../backups/site.txt' ) );
	}
	do_action( 'fluentform/before_form_validation', $fields, $values );
	// A step is only stored as a draft, by an action of its own.
	if ( in_array( $case, array( 'invalid', 'step' ), true ) ) {
		apply_filters( 'fluentform/validation_errors', array( 'names' => array( 'required' => 'Required' ) ), $values, $form, $fields );
		return;
	}
	$row = array( 'form_id' => 61, 'serial_number' => 1, 'response' => wp_json_encode( $values ) );
	if ( 'spam' === $case ) {
		$row['status'] = 'spam';
	}
	do_action( 'fluentform/before_insert_submission', $row, $values, $form );
	++$insert_id;
	do_action( 'fluentform/notify_on_form_submit', $insert_id, $values, $form );
	do_action( 'fluentform_submission_inserted', $insert_id, $values, $form );
	do_action( 'fluentform/submission_inserted', $insert_id, $values, $form );
	do_action( 'fluentform/submission_inserted_form_form', $insert_id, $values, $form );
	do_action( 'fluentform/before_submission_confirmation', $insert_id, $values, $form );
}
