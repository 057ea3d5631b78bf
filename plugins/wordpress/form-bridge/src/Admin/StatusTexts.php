<?php
namespace FormBridge\Admin;

use FormBridge\Services;

defined( 'ABSPATH' ) || exit;

/** How the site stands, in words. */
final class StatusTexts {

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/** @return array{0: string, 1: string, 2: string} Kind (good, wait, bad, none), title, explanation. */
	public function of( string $status ): array {
		if ( $this->with->connector->is_under_way() ) {
			return array( 'wait', __( 'Connecting…', 'form-bridge' ), __( 'The service is looking for the proof that this address is yours. This takes a few seconds; you can leave this page.', 'form-bridge' ) );
		}
		switch ( $status ) {
			case 'connected':
				return $this->connected();
			case 'suspended':
				return array( 'bad', __( 'Suspended', 'form-bridge' ), __( 'The operator of the service has suspended this site. Submissions are kept and sent once the suspension has ended.', 'form-bridge' ) );
			case 'rejected':
				return array( 'bad', __( 'Not recognised', 'form-bridge' ), __( 'The service does not accept the keys of this site any more. Reconnect it: submissions are kept meanwhile.', 'form-bridge' ) );
			case 'moved':
				return array( 'bad', __( 'This site has another address now', 'form-bridge' ), __( 'Its keys belong to a site at another address, so nothing is sent. Say what happened:', 'form-bridge' ) );
			case 'unreadable':
				return array( 'bad', __( 'The keys cannot be read', 'form-bridge' ), __( 'The salts in wp-config.php have changed since the site was connected. Reconnect it: submissions are kept meanwhile.', 'form-bridge' ) );
			default:
				return array( 'none', __( 'Not connected', 'form-bridge' ), __( 'Connecting proves to the service that this address is yours. Nothing has to be copied.', 'form-bridge' ) );
		}
	}

	private function connected(): array {
		$text = __( 'Submissions are signed and sent in the background.', 'form-bridge' );
		if ( $this->with->state->awaits_confirmation() ) {
			$text = __( 'The site was reconnected without its old key: the operator of the service or your agency has to confirm where submissions go. They are kept until then.', 'form-bridge' );
		} elseif ( ! $this->with->outage->is_over() ) {
			/* translators: %s: a length of time, such as "5 mins". */
			$text = sprintf( __( 'The service does not answer now. It is asked again in %s; submissions are kept until then.', 'form-bridge' ), human_time_diff( $this->with->clock->now(), $this->with->outage->until() ) );
		}
		return array( 'good', __( 'Connected', 'form-bridge' ), $text );
	}

	/** What a way of proving the address is called. */
	public static function method( string $method ): string {
		$names = array(
			'rest'       => __( 'REST API', 'form-bridge' ),
			'rest_query' => __( 'REST API without permalinks', 'form-bridge' ),
			'well_known' => __( 'File', 'form-bridge' ),
			'meta'       => __( 'Meta tag of the front page', 'form-bridge' ),
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
