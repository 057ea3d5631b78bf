<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** A form submission. */
final class Submission {

	/** The limit of the service in bytes, minus some room. */
	const LARGEST = 1000000;

	/** The limits of the optional texts in characters. */
	const LONGEST = array(
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
	 * @param string               $form_id Which form; what is longer than the service takes is cut.
	 * @param array<string, mixed> $fields  Name of each field, and what was in it.
	 * @param array<string, mixed> $about   Optional: 'form_name', 'page_url'.
	 */
	public static function of( string $form_id, array $fields, array $about, int $now ): self {
		$id      = bin2hex( random_bytes( 16 ) );
		$content = array(
			'submission_id' => $id,
			'form_id'       => self::cut( $form_id, 200 ),
			'submitted_at'  => gmdate( 'Y-m-d\TH:i:s\Z', $now ),
			// An empty array would be encoded as a list.
			'fields'        => (object) Plain::value( $fields ),
		);
		foreach ( self::LONGEST as $name => $longest ) {
			if ( is_scalar( $about[ $name ] ?? null ) && '' !== (string) $about[ $name ] ) {
				$content[ $name ] = self::cut( (string) $about[ $name ], $longest );
			}
		}
		return new self( $id, $content );
	}

	public function json(): string {
		return (string) wp_json_encode( $this->content );
	}

	/** Counts characters, as the service does, and not bytes. */
	private static function cut( string $text, int $longest ): string {
		preg_match( '/^.{0,' . $longest . '}/su', Plain::text( $text ), $cut );
		return '' === $cut[0] ? 'form' : $cut[0];
	}
}
