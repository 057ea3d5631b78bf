<?php
namespace FormBridge\FormPlugins;

use FormBridge\SubmissionFiles;

defined( 'ABSPATH' ) || exit;

/** A submission of a form plugin: its fields by their labels, and its uploaded files. */
final class FormEntry {

	/** @var string */
	public $form_id;

	/** @var string */
	public $form_name;

	/** @var string Identifies the submission in this request, in case its hook fires twice. */
	public $token;

	/** @var array<string, mixed> */
	public $fields = array();

	/** @var array[] Files as {@see \FormBridge\SubmissionFiles} takes them. */
	public $files = array();

	/** @var string */
	public $page_url;

	/** @param int|string $form_id */
	public function __construct( $form_id, string $form_name, string $token, string $page_url = '' ) {
		$this->form_id   = (string) $form_id;
		$this->form_name = $form_name;
		$this->token     = $token;
		$this->page_url  = '' === $page_url ? self::referer() : $page_url;
	}

	/**
	 * @param string $label
	 * @param string $fallback If the field has no label.
	 * @param mixed  $value
	 * @return string The name under which the field is sent. A second field with the same label gets a number.
	 */
	public function add_field( string $label, string $fallback, $value ): string {
		$label = trim( wp_strip_all_tags( $label ) );
		$label = '' === $label ? $fallback : $label;
		$name  = $label;
		for ( $number = 2; array_key_exists( $name, $this->fields ); ++$number ) {
			$name = "$label ($number)";
		}
		$this->fields[ $name ] = $value;
		return $name;
	}

	/**
	 * @param string $field The name that add_field() returned.
	 * @param string $name  The name of the file.
	 * @param string $path  Empty if the file is not on this server.
	 * @param bool   $read  Whether to read it now, because the form plugin may delete it.
	 */
	public function add_file( string $field, string $name, string $path, bool $read = false ): void {
		$file = array(
			'field' => $field,
			'name'  => $name,
			'path'  => $path,
		);
		if ( $read && is_file( $path ) ) {
			$file['content'] = SubmissionFiles::read( $path );
			$file['size']    = (int) filesize( $path );
		}
		$this->files[] = $file;
	}

	/** The page of the form, which sends AJAX and REST requests. */
	private static function referer(): string {
		$referer = wp_get_raw_referer();
		$is_here = is_string( $referer ) && wp_parse_url( $referer, PHP_URL_HOST ) === wp_parse_url( home_url(), PHP_URL_HOST );
		return $is_here ? esc_url_raw( $referer ) : '';
	}
}
