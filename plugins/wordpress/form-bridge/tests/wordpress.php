<?php
/** As much of WordPress as the tests need, in memory. */

const HOUR_IN_SECONDS = 3600;
const DAY_IN_SECONDS  = 86400;

final class Site {

	/** @var array<string, mixed> */
	public static $options = array();

	/** @var array[] Requests that were made. */
	public static $requests = array();

	/** @var array[] Answers to the next ones: status, body, headers. */
	public static $answers = array();

	/** @var array[] Events that were scheduled: time, hook, arguments. */
	public static $events = array();

	/** @var string */
	public static $salt = 'salt';

	/** @var array[] Actions that were done: name, arguments. */
	public static $actions = array();

	/** @var array[] The options of each site of a network, if it is one. */
	public static $blogs = array();

	public static function reset(): void {
		self::$options  = array(
			'home'                 => 'https://example.com',
			'form_bridge_settings' => array( 'service_url' => 'https://forms.test/form-bridge' ),
		);
		self::$requests = array();
		self::$answers  = array();
		self::$events   = array();
		self::$salt     = 'salt';
		self::$actions  = array();
		self::$blogs    = array();
		$GLOBALS['wpdb'] = new Fake_Database();
	}

	public static function answers( int $status, array $body, array $headers = array() ): void {
		self::$answers[] = array( $status, json_encode( $body ), $headers );
	}

	public static function refuses( int $status, string $code, array $data = array(), array $headers = array() ): void {
		self::answers(
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

	/** The body of a request that was made. */
	public static function sent( int $number ): array {
		return json_decode( self::$requests[ $number ]['body'], true );
	}
}

/** A database that takes every lock and holds the submissions that it is given, or refuses them. */
final class Fake_Database {

	/** @var object[] */
	public $rows = array();

	/** @var array[] Changes of rows that were made: what, where. */
	public $updates = array();

	/** @var int[] What the next insertions come to; the rest is taken. */
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

/** What the commands print; an error ends them, as in the real one. */
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
	// The next one is switched to from anywhere.
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
	$answer           = array_shift( Site::$answers );
	return null === $answer ? new WP_Error( 'http_request_failed', 'Connection refused' ) : $answer;
}

function is_wp_error( $value ): bool {
	return $value instanceof WP_Error;
}

function wp_remote_retrieve_response_code( array $answer ): int {
	return $answer[0];
}

function wp_remote_retrieve_body( array $answer ): string {
	return $answer[1];
}

function wp_remote_retrieve_header( array $answer, string $name ): string {
	return $answer[2][ $name ] ?? '';
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
