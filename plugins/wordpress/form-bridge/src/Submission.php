<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A form submission. */
final class Submission {

	/** The limit of the service in bytes without files, minus some room. */
	const MAX_BYTES = 1000000;

	/** The limits of the optional texts in characters. */
	const MAX_LENGTHS = array(
		'form_name' => 500,
		'page_url'  => 2000,
	);

	/** @var string The same for every attempt, so that a duplicate can be detected. */
	public $id;

	/** @var array<string, mixed> */
	private $content;

	private function __construct( string $id, array $content ) {
		$this->id      = $id;
		$this->content = $content;
	}

	/**
	 * @param string               $form_id Truncated to the limit of the service.
	 * @param array<string, mixed> $fields  Values by field name.
	 * @param array<string, mixed> $context Optional: 'form_name', 'page_url', 'files' ({@see SubmissionFiles}).
	 */
	public static function create( string $form_id, array $fields, array $context, int $now ): self {
		$id      = bin2hex( random_bytes( 16 ) );
		$content = array(
			'submission_id' => $id,
			'form_id'       => self::truncate( $form_id, 200 ),
			'submitted_at'  => gmdate( 'Y-m-d\TH:i:s\Z', $now ),
			// An empty array would be encoded as a list.
			'fields'        => (object) JsonValues::convert( $fields ),
		);
		foreach ( self::MAX_LENGTHS as $name => $max_length ) {
			if ( is_scalar( $context[ $name ] ?? null ) && '' !== (string) $context[ $name ] ) {
				$content[ $name ] = self::truncate( (string) $context[ $name ], $max_length );
			}
		}
		if ( is_array( $context['files'] ?? null ) && array() !== $context['files'] ) {
			$content['files'] = ( new SubmissionFiles( $context['files'] ) )->all();
		}
		return new self( $id, $content );
	}

	public function json(): string {
		return (string) wp_json_encode( $this->content );
	}

	/** Whether the service would reject it, even without its files. */
	public function is_too_large(): bool {
		$without_files = $this->content;
		unset( $without_files['files'] );
		return strlen( (string) wp_json_encode( $without_files ) ) > self::MAX_BYTES;
	}

	/** @return array[] The files as they are sent. */
	public function files(): array {
		return $this->content['files'] ?? array();
	}

	/** The same submission without the contents of its files. */
	public function without_file_contents( string $reason ): self {
		$files = SubmissionFiles::without_contents( $this->files(), $reason );
		return new self( $this->id, array_merge( $this->content, array( 'files' => $files ) ) );
	}

	/** The form, for the owner. */
	public function form_name(): string {
		return (string) ( $this->content['form_name'] ?? $this->content['form_id'] );
	}

	/** Counts characters, as the service does, and not bytes. */
	private static function truncate( string $text, int $max_length ): string {
		preg_match( '/^.{0,' . $max_length . '}/su', JsonValues::to_utf8( $text ), $found );
		return '' === $found[0] ? 'form' : $found[0];
	}
}
