<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Remembers uploaded files that were not sent, for the settings page. Their names may be personal data and are left out. */
final class RefusedFiles {

	const OPTION = 'form_bridge_refused_files';

	/** Older ones are removed. */
	const MAX_FILES = 20;

	/** @var Clock */
	private $clock;

	public function __construct( Clock $clock ) {
		$this->clock = $clock;
	}

	/**
	 * @param string  $form_name
	 * @param array[] $files As they are sent.
	 */
	public function add( string $form_name, array $files ): void {
		$refused = $this->all();
		foreach ( $files as $file ) {
			if ( isset( $file['omitted'] ) ) {
				$refused[] = array(
					'at'     => $this->clock->now(),
					'form'   => $form_name,
					'field'  => $file['field'],
					'size'   => $file['size'],
					'reason' => $file['omitted'],
				);
			}
		}
		if ( count( $refused ) > count( $this->all() ) ) {
			update_option( self::OPTION, array_slice( $refused, -self::MAX_FILES ), false );
		}
	}

	/** @return array[] at, form, field, size, reason; the oldest first. */
	public function all(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}

	public function delete(): void {
		delete_option( self::OPTION );
	}
}
