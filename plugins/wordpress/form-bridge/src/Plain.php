<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Converts the fields of a form to values that JSON can represent. Other values become text, because
 * a submission that cannot be encoded would be lost.
 */
final class Plain {

	/** Levels of lists and objects. Deeper levels become text. */
	const DEEPEST = 64;

	/** Levels that are included in the text. */
	const DEEPEST_TEXT = 1000;

	/**
	 * The maximum number of values. Objects that refer to each other would have more paths than a request
	 * has time for.
	 */
	const MOST = 20000;

	const LEFT_OUT = '(too much, left out)';

	const REPEATED = '(contains itself)';

	/** Many JSON parsers round larger integers. */
	const LARGEST = 9007199254740991;

	/** Bytes that are UTF-8, a character at a time. */
	const UTF8 = '[\x00-\x7F]++|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}';

	/** @var int How many values may still be written down. */
	private $left = self::MOST;

	/** @var array<string, true> The objects and references that the present value is in. */
	private $path = array();

	private function __construct() {
	}

	/**
	 * @param mixed $value
	 * @return mixed
	 */
	public static function value( $value ) {
		return ( new self() )->members( array( $value ), 0 )[0];
	}

	/** Bytes that are not UTF-8 are read as Latin-1. */
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

	/**
	 * @param mixed $value Neither a list nor an object.
	 * @return mixed
	 */
	private static function single( $value ) {
		if ( null === $value || is_bool( $value ) ) {
			return $value;
		}
		if ( is_int( $value ) ) {
			return abs( $value ) <= self::LARGEST ? $value : (string) $value;
		}
		if ( is_float( $value ) ) {
			return is_finite( $value ) ? $value : (string) $value;
		}
		return self::text( (string) $value );
	}

	/** Scalars first, then nested values, so that a limit truncates the nested ones. */
	private function members( array $members, int $depth ): array {
		$plain  = array();
		$nested = array();
		foreach ( $members as $name => $member ) {
			$written = is_string( $name ) ? self::text( $name ) : $name;
			if ( --$this->left < 0 ) {
				$plain[ $written ] = self::LEFT_OUT;
				break;
			}
			if ( is_array( $member ) || is_object( $member ) ) {
				$plain[ $written ] = self::LEFT_OUT;
				$nested[ $name ]   = $written;
			} else {
				$plain[ $written ] = self::single( $member );
			}
		}
		foreach ( $nested as $name => $written ) {
			$plain[ $written ] = $this->once( $members[ $name ], self::identity( $members, $name ), $depth );
		}
		return $plain;
	}

	/**
	 * An array can contain itself only by a reference.
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
	private function once( $value, ?string $identity, int $depth ) {
		if ( $this->left <= 0 || $depth >= self::DEEPEST_TEXT ) {
			return self::LEFT_OUT;
		}
		if ( null === $identity ) {
			return $this->nested( $value, $depth );
		}
		if ( isset( $this->path[ $identity ] ) ) {
			return self::REPEATED;
		}
		$this->path[ $identity ] = true;
		$plain                   = $this->nested( $value, $depth );
		unset( $this->path[ $identity ] );
		return $plain;
	}

	/**
	 * @param array|object $value
	 * @return mixed
	 */
	private function nested( $value, int $depth ) {
		if ( $value instanceof \JsonSerializable ) {
			try {
				$said = $value->jsonSerialize();
			} catch ( \Throwable $error ) {
				// Use its public properties instead.
				$said = $value;
			}
			if ( $said !== $value ) {
				return $this->members( array( $said ), $depth + 1 )[0];
			}
		}
		// Public properties only.
		$plain = $this->members( is_array( $value ) ? $value : get_object_vars( $value ), $depth + 1 );
		if ( $depth >= self::DEEPEST ) {
			return self::listing( $plain );
		}
		return is_array( $value ) ? $plain : (object) $plain;
	}

	/** Members that are already scalars or text. */
	private static function listing( array $members ): string {
		$parts = array();
		foreach ( $members as $name => $member ) {
			$parts[] = $name . ': ' . ( is_string( $member ) ? $member : json_encode( $member ) );
		}
		return '[' . implode( ', ', $parts ) . ']';
	}
}
