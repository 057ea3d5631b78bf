<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Converts the fields of a form to values that JSON can represent. Other values become text, because
 * a submission that cannot be encoded would be lost.
 */
final class JsonValues {

	/** Levels of lists and objects. Deeper levels become text. */
	const MAX_DEPTH = 64;

	/** Levels that are included in the text. */
	const MAX_TEXT_DEPTH = 1000;

	/**
	 * The maximum number of values. Objects that refer to each other would have more paths than a request
	 * has time for.
	 */
	const MAX_VALUES = 20000;

	const OMITTED = '(too much, left out)';

	const REPEATED = '(contains itself)';

	/** Many JSON parsers round larger integers. */
	const MAX_SAFE_INTEGER = 9007199254740991;

	/** Matches one valid UTF-8 character, or a run of ASCII. */
	const UTF8 = '[\x00-\x7F]++|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}';

	/** @var int How many more values may be converted. */
	private $remaining = self::MAX_VALUES;

	/** @var array<string, true> The objects and references that contain the current value. */
	private $path = array();

	private function __construct() {
	}

	/**
	 * @param mixed $value
	 * @return mixed
	 */
	public static function convert( $value ) {
		return ( new self() )->convert_members( array( $value ), 0 )[0];
	}

	/** Bytes that are not UTF-8 are read as Latin-1. */
	public static function to_utf8( string $text ): string {
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

	/**
	 * @param mixed $value Neither a list nor an object.
	 * @return mixed
	 */
	private static function convert_scalar( $value ) {
		if ( null === $value || is_bool( $value ) ) {
			return $value;
		}
		if ( is_int( $value ) ) {
			return abs( $value ) <= self::MAX_SAFE_INTEGER ? $value : (string) $value;
		}
		if ( is_float( $value ) ) {
			return is_finite( $value ) ? $value : (string) $value;
		}
		return self::to_utf8( (string) $value );
	}

	/** Scalars first, then nested values, so that a limit truncates the nested ones. */
	private function convert_members( array $members, int $depth ): array {
		$converted = array();
		$nested    = array();
		foreach ( $members as $name => $member ) {
			$key = is_string( $name ) ? self::to_utf8( $name ) : $name;
			if ( --$this->remaining < 0 ) {
				$converted[ $key ] = self::OMITTED;
				break;
			}
			if ( is_array( $member ) || is_object( $member ) ) {
				$converted[ $key ] = self::OMITTED;
				$nested[ $name ]   = $key;
			} else {
				$converted[ $key ] = self::convert_scalar( $member );
			}
		}
		foreach ( $nested as $name => $key ) {
			$converted[ $key ] = $this->convert_once( $members[ $name ], self::identity( $members, $name ), $depth );
		}
		return $converted;
	}

	/**
	 * Identifies an object or a reference, to detect cycles. An array can contain itself only by reference.
	 *
	 * @param int|string $name
	 */
	private static function identity( array $members, $name ): ?string {
		if ( is_object( $members[ $name ] ) ) {
			return 'object ' . spl_object_id( $members[ $name ] );
		}
		$reference = \ReflectionReference::fromArrayElement( $members, $name );
		return $reference ? 'reference ' . $reference->getId() : null;
	}

	/**
	 * @param array|object $value
	 * @return mixed
	 */
	private function convert_once( $value, ?string $identity, int $depth ) {
		if ( $this->remaining <= 0 || $depth >= self::MAX_TEXT_DEPTH ) {
			return self::OMITTED;
		}
		if ( null === $identity ) {
			return $this->convert_nested( $value, $depth );
		}
		if ( isset( $this->path[ $identity ] ) ) {
			return self::REPEATED;
		}
		$this->path[ $identity ] = true;
		$converted               = $this->convert_nested( $value, $depth );
		unset( $this->path[ $identity ] );
		return $converted;
	}

	/**
	 * @param array|object $value
	 * @return mixed
	 */
	private function convert_nested( $value, int $depth ) {
		if ( $value instanceof \JsonSerializable ) {
			try {
				$serialized = $value->jsonSerialize();
			} catch ( \Throwable $error ) {
				// Use its public properties instead.
				$serialized = $value;
			}
			if ( $serialized !== $value ) {
				return $this->convert_members( array( $serialized ), $depth + 1 )[0];
			}
		}
		// Public properties only.
		$converted = $this->convert_members( is_array( $value ) ? $value : get_object_vars( $value ), $depth + 1 );
		if ( $depth >= self::MAX_DEPTH ) {
			return self::to_text( $converted );
		}
		return is_array( $value ) ? $converted : (object) $converted;
	}

	/** Joins members that are already scalars or text. */
	private static function to_text( array $members ): string {
		$parts = array();
		foreach ( $members as $name => $member ) {
			$parts[] = $name . ': ' . ( is_string( $member ) ? $member : json_encode( $member ) );
		}
		return '[' . implode( ', ', $parts ) . ']';
	}
}
