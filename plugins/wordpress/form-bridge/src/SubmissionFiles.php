<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The uploaded files of a submission, within the limits of the service. A file beyond them is sent
 * without its content and with the reason, so that the destination and the owner know about it.
 */
final class SubmissionFiles {

	/** Files of one submission. */
	const MAX_FILES = 10;

	/** Bytes of all files of one submission together. */
	const MAX_BYTES = 3145728;

	/** Characters. */
	const MAX_NAME = 255;

	/** @var array[] As they are sent. */
	private $files = array();

	/** @param array $files Arrays with 'path', and optionally 'field' and 'name', and 'content' or 'size' of a file that may have been deleted. */
	public function __construct( array $files ) {
		$remaining = self::MAX_BYTES;
		foreach ( $files as $file ) {
			if ( ! is_array( $file ) || ! is_scalar( $file['path'] ?? null ) ) {
				continue;
			}
			$path    = (string) $file['path'];
			$name    = self::clean_name( is_scalar( $file['name'] ?? null ) && '' !== (string) $file['name'] ? (string) $file['name'] : $path );
			$content = is_string( $file['content'] ?? null ) ? $file['content'] : null;
			$size    = null === $content ? (int) ( $file['size'] ?? self::size( $path ) ) : strlen( $content );
			$entry   = array(
				'field' => self::truncate( is_scalar( $file['field'] ?? null ) ? (string) $file['field'] : '', 500 ),
				'name'  => $name,
				'type'  => self::type( $name ),
				'size'  => $size,
			);
			if ( count( $this->files ) >= self::MAX_FILES ) {
				$this->files[] = self::omit( $entry, 'too_many' );
			} elseif ( $size > $remaining ) {
				$this->files[] = self::omit( $entry, 'too_large' );
			} else {
				$content       = $content ?? self::read( $path );
				$this->files[] = null === $content ? self::omit( $entry, 'unreadable' ) : self::with_content( $entry, $content );
				$remaining    -= null === $content ? 0 : strlen( $content );
			}
		}
	}

	/** @return array[] As they are sent. Only names are sent of more files than the service accepts. */
	public function all(): array {
		return array_slice( $this->files, 0, 2 * self::MAX_FILES );
	}

	/**
	 * @param string $path
	 * @return string|null The content, unless it is larger than the limit or cannot be read.
	 */
	public static function read( string $path ): ?string {
		if ( '' === $path || ! is_file( $path ) || ! is_readable( $path ) || filesize( $path ) > self::MAX_BYTES ) {
			return null;
		}
		$content = file_get_contents( $path );
		return false === $content ? null : $content;
	}

	/**
	 * The files without their contents.
	 *
	 * @param array[] $files  As they are sent.
	 * @param string  $reason Why.
	 * @return array[]
	 */
	public static function without_contents( array $files, string $reason ): array {
		return array_map(
			static function ( array $file ) use ( $reason ): array {
				return isset( $file['content'] ) ? self::omit( $file, $reason ) : $file;
			},
			$files
		);
	}

	private static function omit( array $file, string $reason ): array {
		unset( $file['content'] );
		$file['omitted'] = $reason;
		return $file;
	}

	private static function with_content( array $file, string $content ): array {
		$file['size']    = strlen( $content );
		$file['content'] = base64_encode( $content );
		return $file;
	}

	private static function size( string $path ): int {
		return '' !== $path && is_file( $path ) ? (int) filesize( $path ) : 0;
	}

	private static function type( string $name ): string {
		$type = wp_check_filetype( $name )['type'];
		return is_string( $type ) ? $type : 'application/octet-stream';
	}

	/** Without directories and control characters, which the service rejects. */
	private static function clean_name( string $name ): string {
		$name = (string) preg_replace( '#^.*[/\\\\]|[\x00-\x1F\x7F]#su', '', JsonValues::to_utf8( $name ) );
		return '' === $name ? 'file' : self::truncate( $name, self::MAX_NAME );
	}

	private static function truncate( string $text, int $max_length ): string {
		preg_match( '/^.{0,' . $max_length . '}/su', JsonValues::to_utf8( $text ), $found );
		return $found[0];
	}
}
