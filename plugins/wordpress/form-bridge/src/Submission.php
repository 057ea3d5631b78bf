<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A form submission. */
final class Submission {

	/** The limit of the service in bytes, minus some room. */
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
	 * @param array<string, mixed> $context   Optional: 'form_name', 'page_url'.
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
		return new self( $id, $content );
	}

	public function json(): string {
		return (string) wp_json_encode( $this->content );
	}

	/** Counts characters, as the service does, and not bytes. */
	private static function truncate( string $text, int $max_length ): string {
		preg_match( '/^.{0,' . $max_length . '}/su', JsonValues::to_utf8( $text ), $found );
		return '' === $found[0] ? 'form' : $found[0];
	}
}
