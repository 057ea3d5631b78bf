<?php
namespace FormBridge\Admin;

use FormBridge\Services;
use FormBridge\SubmissionFiles;

defined( 'ABSPATH' ) || exit;

/** Texts for the status of the site. */
final class StatusTexts {

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	/** @return array{0: string, 1: string, 2: string} Kind (good, wait, bad, none), title, explanation. */
	public function describe( string $status ): array {
		if ( $this->services->connector->is_running() ) {
			return array( 'wait', __( 'Connecting…', 'form-bridge' ), __( 'The service is verifying that you control this address. This takes a few seconds. You can leave this page.', 'form-bridge' ) );
		}
		switch ( $status ) {
			case 'connected':
				return $this->connected();
			case 'suspended':
				return array( 'bad', __( 'Suspended', 'form-bridge' ), __( 'The operator of the service has suspended this site. Submissions are kept here and sent when the suspension ends.', 'form-bridge' ) );
			case 'rejected':
				return array( 'bad', __( 'Keys not accepted', 'form-bridge' ), __( 'The service no longer accepts the keys of this site. Reconnect the site. Submissions are kept here until then.', 'form-bridge' ) );
			case 'moved':
				return array( 'bad', __( 'The site address has changed', 'form-bridge' ), __( 'Its keys belong to another address, so nothing is sent. Choose what happened:', 'form-bridge' ) );
			case 'unreadable':
				return array( 'bad', __( 'The keys cannot be read', 'form-bridge' ), __( 'The salts in wp-config.php have changed since the site was connected. Reconnect the site. Submissions are kept here until then.', 'form-bridge' ) );
			default:
				return array( 'none', __( 'Not connected', 'form-bridge' ), __( 'Connecting proves to the service that you control this address. There is nothing to copy.', 'form-bridge' ) );
		}
	}

	private function connected(): array {
		$text = __( 'Submissions are signed and sent in the background.', 'form-bridge' );
		if ( $this->services->state->lacks_destination() ) {
			return array( 'bad', __( 'Connected, but submissions have no destination', 'form-bridge' ), self::destination_help( $this->services ) );
		}
		if ( $this->services->state->awaits_confirmation() ) {
			$text = __( 'The site was reconnected without its old key. The operator of the service or your agency must confirm the site before its submissions are sent. They are kept here until then.', 'form-bridge' );
		} elseif ( ! $this->services->backoff->is_over() ) {
			/* translators: %s: a length of time, such as "5 mins". */
			$text = sprintf( __( 'The service is not responding. The next attempt is in %s. Submissions are kept here until then.', 'form-bridge' ), human_time_diff( $this->services->clock->now(), $this->services->backoff->until() ) );
		}
		return array( 'good', __( 'Connected', 'form-bridge' ), $text );
	}

	/** The status of a site in a list. */
	public static function short( string $status, bool $is_connecting ): string {
		$names = array(
			'connected'     => __( 'Connected', 'form-bridge' ),
			'suspended'     => __( 'Suspended', 'form-bridge' ),
			'rejected'      => __( 'Keys not accepted', 'form-bridge' ),
			'moved'         => __( 'The site address has changed', 'form-bridge' ),
			'unreadable'    => __( 'The keys cannot be read', 'form-bridge' ),
			'not_connected' => __( 'Not connected', 'form-bridge' ),
		);
		return $is_connecting ? __( 'Connecting…', 'form-bridge' ) : $names[ $status ];
	}

	/** How to set a destination. */
	public static function destination_help( Services $services ): string {
		$credentials = $services->credentials->load();
		$site_id     = null === $credentials ? '' : $credentials->site_id;
		/* translators: %s: the id of the site at the service. */
		return sprintf( __( 'The service does not know where to send the submissions of this site. They are kept here until it does. Ask the operator of the service or your agency to set a destination for the site %s, then click “Send a test submission”.', 'form-bridge' ), $site_id );
	}

	/** The name of a proof method. */
	public static function method( string $method ): string {
		$names = array(
			'rest'       => __( 'REST API', 'form-bridge' ),
			'rest_query' => __( 'REST API without permalinks', 'form-bridge' ),
			'well_known' => __( 'File', 'form-bridge' ),
			'meta'       => __( 'Meta tag on the front page', 'form-bridge' ),
			'dns'        => __( 'DNS record', 'form-bridge' ),
		);
		return $names[ $method ] ?? $method;
	}

	/** How long ago a time was, such as "5 mins ago". */
	public static function ago( int $time, int $now ): string {
		/* translators: %s: a length of time, such as "5 mins". */
		return sprintf( __( '%s ago', 'form-bridge' ), human_time_diff( $time, $now ) );
	}

	/** Why an uploaded file was not sent. */
	public static function refused_file( array $file ): string {
		$limit = size_format( SubmissionFiles::MAX_BYTES );
		switch ( $file['reason'] ) {
			case 'too_large':
				/* translators: 1: the size of a file, such as "5 MB", 2: a limit, such as "3 MB". */
				return sprintf( __( 'It has %1$s. The files of a submission may have %2$s together.', 'form-bridge' ), size_format( (int) $file['size'] ), $limit );
			case 'too_many':
				/* translators: %d: a number of files. */
				return sprintf( __( 'A submission may have %d files.', 'form-bridge' ), SubmissionFiles::MAX_FILES );
			case 'not_stored':
				return __( 'The database of this site does not accept so much data at once. Increase max_allowed_packet.', 'form-bridge' );
			case 'destination_limit':
				return __( 'The destination does not accept so much data.', 'form-bridge' );
			default:
				return __( 'It is not stored on this site, or cannot be read.', 'form-bridge' );
		}
	}

	public static function environment( string $kind ): string {
		$names = array(
			'production'  => __( 'Production', 'form-bridge' ),
			'staging'     => __( 'Staging', 'form-bridge' ),
			'development' => __( 'Development', 'form-bridge' ),
			'local'       => __( 'Local', 'form-bridge' ),
		);
		return $names[ $kind ] ?? $kind;
	}
}
