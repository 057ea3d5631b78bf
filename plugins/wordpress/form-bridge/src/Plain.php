<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Whatever a form hands over, as something that JSON can say. What JSON has no word for becomes a
 * text: a submission that cannot be written down would be lost.
 */
final class Plain {

	/** Levels of lists and objects. Below them it is text. */
	const DEEPEST = 64;

	/** Most programs that read JSON round whole numbers beyond it. */
	const LARGEST = 9007199254740991;

	/** Bytes that are UTF-8, a character at a time. */
	const UTF8 = '[\x00-\x7F]++|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}';

	/**
	 * @param mixed $value
	 * @return mixed
	 */
	public static function value( $value, int $depth = 0 ) {
		if ( null === $value || is_bool( $value ) ) {
			return $value;
		}
		if ( is_int( $value ) ) {
			return abs( $value ) <= self::LARGEST ? $value : (string) $value;
		}
		if ( is_float( $value ) ) {
			return is_finite( $value ) ? $value : (string) $value;
		}
		if ( is_string( $value ) ) {
			return self::text( $value );
		}
		if ( $depth >= self::DEEPEST || ! ( is_array( $value ) || is_object( $value ) ) ) {
			// It knows of what contains itself.
			return self::text( print_r( $value, true ) ); // phpcs:ignore WordPress.PHP.DevelopmentFunctions
		}
		return is_array( $value ) ? self::members( $value, $depth ) : self::of_object( $value, $depth );
	}

	/** Bytes that are no UTF-8 are read as Latin-1, in which every byte is a character. */
	public static function text( string $text ): string {
		if ( 1 === preg_match( '//u', $text ) ) {
			return $text;
		}
		return (string) preg_replace_callback(
			'/(' . self::UTF8 . ')|(.)/s',
			static function ( array $found ): string {
				$byte = ord( $found[0] );
				return '' !== $found[1] ? $found[0] : chr( 0xC0 | $byte >> 6 ) . chr( 0x80 | $byte & 0x3F );
			},
			$text
		);
	}

	/** @return mixed */
	private static function of_object( object $value, int $depth ) {
		if ( $value instanceof \JsonSerializable ) {
			try {
				return self::value( $value->jsonSerialize(), $depth + 1 );
			} catch ( \Throwable $error ) {
				// It cannot say what it is, but what it has can be seen.
				return (object) self::members( get_object_vars( $value ), $depth );
			}
		}
		return (object) self::members( get_object_vars( $value ), $depth );
	}

	private static function members( array $members, int $depth ): array {
		$plain = array();
		foreach ( $members as $name => $member ) {
			$plain[ is_string( $name ) ? self::text( $name ) : $name ] = self::value( $member, $depth + 1 );
		}
		return $plain;
	}
}
