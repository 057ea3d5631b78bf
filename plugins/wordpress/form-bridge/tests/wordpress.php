<?php
/** The part of WordPress that the tests need, in memory. */

const HOUR_IN_SECONDS = 3600;
const DAY_IN_SECONDS  = 86400;

final class Site {

	/** @var array<string, mixed> */
	public static $options = array();

	/** @var array[] Sent requests. */
	public static $requests = array();

	/** @var array[] Responses to the next requests: status, body, headers. */
	public static $responses = array();

	/** @var array[] Scheduled events: time, hook, arguments. */
	public static $events = array();

	/** @var string */
	public static $salt = 'salt';

	/** @var array[] Triggered actions: name, arguments. */
	public static $actions = array();

	/** @var array[] The options of each site of a multisite network. */
	public static $blogs = array();

	public static function reset(): void {
		self::$options = array(
			'home'                 => 'https://example.com',
			'form_bridge_settings' => array( 'service_url' => 'https://forms.test/form-bridge' ),
		);
		self::$requests  = array();
		self::$responses = array();
		self::$events    = array();
		self::$salt      = 'salt';
		self::$actions   = array();
		self::$blogs     = array();
		$GLOBALS['wpdb'] = new Fake_Database();
	}

	public static function respond( int $status, array $body, array $headers = array() ): void {
		self::$responses[] = array( $status, json_encode( $body ), $headers );
	}

	public static function fail( int $status, string $code, array $data = array(), array $headers = array() ): void {
		self::respond(
			$status,
			array(
				'error' => array(
					'code'    => $code,
					'message' => "Message of $code",
					'data'    => $data,
				),
			),
			$headers
		);
	}

	/** The decoded body of a sent request. */
	public static function sent( int $number ): array {
		return json_decode( self::$requests[ $number ]['body'], true );
	}
}

/** A database that grants every lock, and stores or rejects submissions. */
final class Fake_Database {

	/** @var object[] */
	public $rows = array();

	/** @var array[] Updates of rows: values, where. */
	public $updates = array();

	/** @var int[] Results of the next inserts; further ones succeed. */
	public $insertions = array();

	public $options = 'wp_options';
	public $prefix  = 'wp_';

	public function prepare( string $query ): string {
		return $query;
	}

	public function query(): int {
		return 1;
	}

	public function delete( string $table, array $where ): int {
		$this->rows = array_filter(
			$this->rows,
			function ( object $row ) use ( $where ): bool {
				return array( 'id' => $row->id ) !== $where;
			}
		);
		return 1;
	}

	public function update( string $table, array $changes, array $where ): int {
		$this->updates[] = array( $changes, $where );
		return 1;
	}

	public function get_charset_collate(): string {
		return '';
	}

	/** @return int|false */
	public function insert() {
		return array_shift( $this->insertions ) ?? 1;
	}

	public function get_var(): string {
		return '0';
	}

	public function get_results(): array {
		return $this->rows;
	}
}

final class WP_Error {
	private $code;
	private $message;

	public function __construct( string $code, string $message ) {
		$this->code    = $code;
		$this->message = $message;
	}

	public function get_error_code(): string {
		return $this->code;
	}

	public function get_error_message(): string {
		return $this->message;
	}
}

/** Records the output of the commands. An error ends them, as in WP-CLI. */
final class WP_CLI {

	/** @var string[] */
	public static $printed = array();

	public static function log( string $text ): void {
		self::$printed[] = $text;
	}

	public static function success( string $text ): void {
		self::$printed[] = "Success: $text";
	}

	public static function error( string $text ): void {
		throw new RuntimeException( $text );
	}
}

function get_option( string $name, $default = false ) {
	return Site::$options[ $name ] ?? $default;
}

function update_option( string $name, $value ): bool {
	Site::$options[ $name ] = $value;
	return true;
}

function delete_option( string $name ): bool {
	unset( Site::$options[ $name ] );
	return true;
}

function is_multisite(): bool {
	return array() !== Site::$blogs;
}

function get_sites(): array {
	return array_keys( Site::$blogs );
}

function switch_to_blog( int $blog_id ): void {
	Site::$options = &Site::$blogs[ $blog_id ];
}

function restore_current_blog(): void {
	// Not needed: the tests only switch.
}

function wp_unschedule_hook(): int {
	return 0;
}

function do_action( string $name, ...$arguments ): void {
	Site::$actions[] = array( $name, $arguments );
}

function wp_cache_delete(): bool {
	return true;
}

function get_site_option( string $name, $default = false ) {
	return get_option( $name, $default );
}

function update_site_option( string $name, $value ): bool {
	return update_option( $name, $value );
}

function delete_site_option( string $name ): bool {
	return delete_option( $name );
}

function wp_remote_request( string $url, array $arguments ) {
	Site::$requests[] = array( 'url' => $url ) + $arguments;
	$response         = array_shift( Site::$responses );
	return null === $response ? new WP_Error( 'http_request_failed', 'Connection refused' ) : $response;
}

function is_wp_error( $value ): bool {
	return $value instanceof WP_Error;
}

function wp_remote_retrieve_response_code( array $response ): int {
	return $response[0];
}

function wp_remote_retrieve_body( array $response ): string {
	return $response[1];
}

function wp_remote_retrieve_header( array $response, string $name ): string {
	return $response[2][ $name ] ?? '';
}

function wp_schedule_single_event( int $time, string $hook, array $arguments = array() ): bool {
	Site::$events[] = array( $time, $hook, $arguments );
	return true;
}

function wp_next_scheduled( string $hook ): bool {
	return in_array( $hook, array_column( Site::$events, 1 ), true );
}

function wp_clear_scheduled_hook(): int {
	return 0;
}

function wp_rand( $least, $most ): int {
	return random_int( (int) $least, (int) $most );
}

function wp_salt(): string {
	return Site::$salt;
}

function wp_json_encode( $value ) {
	return json_encode( $value );
}

function wp_parse_url( string $url, int $component = -1 ) {
	return parse_url( $url, $component );
}

function untrailingslashit( string $text ): string {
	return rtrim( $text, '/\\' );
}

function is_wp_version_compatible( string $required ): bool {
	return '' === $required || version_compare( get_bloginfo(), $required, '>=' );
}

function is_php_version_compatible( string $required ): bool {
	return '' === $required || version_compare( PHP_VERSION, $required, '>=' );
}

function wp_get_environment_type(): string {
	return 'production';
}

function get_bloginfo(): string {
	return '6.8.12';
}

function __( string $text ): string {
	return $text;
}

function wp_check_filetype( string $name ): array {
	return array( 'type' => '.pdf' === substr( $name, -4 ) ? 'application/pdf' : false );
}
