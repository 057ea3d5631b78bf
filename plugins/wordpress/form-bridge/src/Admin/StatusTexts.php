<?php
namespace FormBridge\Admin;

use FormBridge\Services;

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
		if ( $this->services->state->awaits_confirmation() ) {
			$text = __( 'The site was reconnected without its old key. The operator of the service or your agency must confirm the site before its submissions are sent. They are kept here until then.', 'form-bridge' );
		} elseif ( ! $this->services->backoff->is_over() ) {
			/* translators: %s: a length of time, such as "5 mins". */
			$text = sprintf( __( 'The service is not responding. The next attempt is in %s. Submissions are kept here until then.', 'form-bridge' ), human_time_diff( $this->services->clock->now(), $this->services->backoff->until() ) );
		}
		return array( 'good', __( 'Connected', 'form-bridge' ), $text );
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
