<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What somebody sent with a form of this site. */
final class Submission {

	/** What the service takes, with room for what surrounds it. */
	const LARGEST = 1000000;

	/** @var string The same at every try, so that a repetition can be told. */
	public $id;

	/** @var array<string, mixed> */
	private $content;

	private function __construct( string $id, array $content ) {
		$this->id      = $id;
		$this->content = $content;
	}

	/**
	 * @param string               $form_id Which form, at most 200 characters.
	 * @param array<string, mixed> $fields  Name of each field, and what was in it.
	 * @param array<string, mixed> $about   Optional: 'form_name', 'page_url'.
	 */
	public static function of( string $form_id, array $fields, array $about, int $now ): self {
		$id      = bin2hex( random_bytes( 16 ) );
		$content = array(
			'submission_id' => $id,
			'form_id'       => self::cut( $form_id ),
			'submitted_at'  => gmdate( 'Y-m-d\TH:i:s\Z', $now ),
			// An empty array would become a list.
			'fields'        => (object) $fields,
		);
		foreach ( array( 'form_name', 'page_url' ) as $name ) {
			if ( isset( $about[ $name ] ) && '' !== (string) $about[ $name ] ) {
				$content[ $name ] = self::cut( (string) $about[ $name ], 'page_url' === $name ? 2000 : 200 );
			}
		}
		return new self( $id, $content );
	}

	public function json(): string {
		return (string) wp_json_encode( $this->content );
	}

	private static function cut( string $text, int $length = 200 ): string {
		$cut = mb_substr( wp_check_invalid_utf8( $text, true ), 0, $length );
		return '' === $cut ? 'form' : $cut;
	}
}
