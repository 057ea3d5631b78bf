<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What somebody sent with a form of this site. */
final class Submission {

	/** What the service takes, with room for what surrounds it. */
	const LARGEST = 1000000;

	/** What it takes of the optional texts. */
	const LONGEST = array(
		'form_name' => 500,
		'page_url'  => 2000,
	);

	/** @var string The same at every try, so that a repetition can be told. */
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
			// An empty array would become a list.
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

	/** Counted in characters, as the service does, and not in bytes. */
	private static function cut( string $text, int $longest ): string {
		preg_match( '/^.{0,' . $longest . '}/su', Plain::text( $text ), $cut );
		return '' === $cut[0] ? 'form' : $cut[0];
	}
}
