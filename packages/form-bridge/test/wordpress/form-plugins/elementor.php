<?php
/**
 * Plugin Name: Elementor Pro (stand-in)
 *
 * Fires the hooks of Elementor Pro 3.33.1 with its arguments and in its order: modules/forms/classes/ajax-handler.php
 * (ajax_send_form) and form-record.php. The honeypot, reCAPTCHA and Akismet add errors during validation. All steps
 * are posted with the last one. The email action deletes files that are only attached, before new_record.
 */

namespace ElementorPro;

final class Plugin {
}

final class Test_Record {
	public $fields;
	public $files = array();

	public function get( $property ) {
		return $this->$property ?? null;
	}

	public function get_form_settings( $setting ) {
		return array( 'id' => 'a1b2c3d', 'form_name' => 'Booking' )[ $setting ] ?? null;
	}

	public function get_form_meta( $keys = array() ) {
		return array( 'page_url' => array( 'title' => 'Page URL', 'value' => home_url( '/booking/' ) ) );
	}
}

add_action(
	'init',
	function () {
		// As Elementor 3.25.6 stores the elements of a post: core/base/document.php (save_elements).
		if ( ! get_post_meta( 2, '_elementor_data', true ) ) {
			$form = array( 'id' => 'a1b2c3d', 'elType' => 'widget', 'widgetType' => 'form', 'settings' => array( 'form_name' => 'Booking' ), 'elements' => array() );
			$data = array( array( 'id' => '1', 'elType' => 'container', 'settings' => array(), 'elements' => array( $form ) ) );
			update_post_meta( 2, '_elementor_data', wp_slash( wp_json_encode( $data ) ) );
		}
	}
);

function test_elementor( string $case ): void {
	$handler = new \stdClass();
	$record  = new Test_Record();

	$record->fields = array(
		'name'  => array( 'id' => 'name', 'type' => 'text', 'title' => 'Name', 'value' => 'Ada', 'raw_value' => 'Ada', 'required' => true ),
		'topic' => array( 'id' => 'topic', 'type' => 'checkbox', 'title' => '', 'value' => 'Engines, Poems', 'raw_value' => array( 'Engines', 'Poems' ), 'required' => false ),
		'part'  => array( 'id' => 'part', 'type' => 'step', 'title' => 'Step 2', 'value' => '', 'raw_value' => '', 'required' => false ),
		'pass'  => array( 'id' => 'pass', 'type' => 'password', 'title' => 'Password', 'value' => 'never sent', 'raw_value' => 'never sent', 'required' => false ),
	);
	do_action( 'elementor_pro/forms/validation', $record, $handler );
	if ( in_array( $case, array( 'invalid', 'spam', 'step' ), true ) ) {
		return;
	}
	if ( 'file' === $case ) {
		$path = \test_upload( 'elementor/forms/6571.txt' );

		$record->fields['cv'] = array( 'id' => 'cv', 'type' => 'upload', 'title' => 'CV', 'value' => 'attached', 'raw_value' => '', 'required' => false );
		$record->files['cv']  = array( 'url' => array( 'attached' ), 'path' => array( $path ) );
	}
	do_action( 'elementor_pro/forms/process', $record, $handler );
	$record = apply_filters( 'elementor_pro/forms/record/actions_before', $record, $handler );
	if ( isset( $path ) ) {
		unlink( $path );
	}
	do_action( 'elementor_pro/forms/new_record', $record, $handler );
}
