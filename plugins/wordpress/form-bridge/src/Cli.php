<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Connects and manages the site from the command line: wp form-bridge … */
final class Cli {

	/** @var Services */
	private $services;

	/** @var callable Waits a number of seconds. */
	private $sleep;

	public function __construct( Services $services, ?callable $sleep = null ) {
		$this->services = $services;
		$this->sleep    = $sleep ?? 'sleep';
	}

	/**
	 * Connects or reconnects the site.
	 *
	 * ## OPTIONS
	 *
	 * [--join-token=<token>]
	 * : An agency join token.
	 *
	 * [--as=<what>]
	 * : For a site whose address has changed: "move" if it was moved here, "staging" if it is a staging
	 * copy, "new_site" if it is a new, separate site.
	 *
	 * ## EXAMPLES
	 *
	 *     wp form-bridge connect --join-token=fb_join_…
	 */
	public function connect( array $arguments, array $options ): void {
		$connector = $this->services->connector;
		$purpose   = $options['as'] ?? Connector::CONNECT;
		if ( ! in_array( $purpose, $connector->purposes(), true ) ) {
			\WP_CLI::error( $this->refusal_reason() );
		}
		$connector->start( $purpose, $options['join-token'] ?? '' );
		while ( $connector->is_running() ) {
			$connector->step();
			if ( $connector->is_running() ) {
				( $this->sleep )( 1 );
			}
		}
		$failure = $connector->failure();
		if ( null === $failure ) {
			\WP_CLI::success( 'Connected' );
			return;
		}
		foreach ( $failure['attempts'] as $attempt ) {
			\WP_CLI::log( sprintf( '%s: %s', $attempt['method'] ?? '', $attempt['message'] ?? $attempt['result'] ?? '' ) );
		}
		\WP_CLI::error( $failure['message'] );
	}

	private function refusal_reason(): string {
		if ( $this->services->credentials->are_in_config() ) {
			return 'The keys of this site are in wp-config.php or in the environment. Remove FORM_BRIDGE_SITE_ID and FORM_BRIDGE_SECRET, then connect.';
		}
		return 'moved' === $this->services->status()
			? 'The site address has changed since the site was connected. Add --as=move, --as=staging or --as=new_site.'
			: 'The site address has not changed since the site was connected. Leave out --as.';
	}

	/**
	 * Shows the status of the connection.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : "json" for machine-readable output.
	 */
	public function status( array $arguments, array $options ): void {
		$credentials = $this->services->credentials->load();
		$stats       = $this->services->queue->stats();
		$rows        = array(
			'status'      => $this->services->status(),
			'service'     => $this->services->settings->service_url(),
			'site_id'     => null === $credentials ? null : $credentials->site_id,
			'api_key'     => null === $credentials ? null : Credentials::mask( $credentials->api_key ),
			'environment' => Environment::current( $this->services->settings ),
			'waiting'     => $stats['waiting'],
			'refused'     => $stats['refused'],
			'version'     => FORM_BRIDGE_VERSION,
		);
		if ( 'json' === ( $options['format'] ?? '' ) ) {
			\WP_CLI::log( (string) wp_json_encode( $rows ) );
			return;
		}
		foreach ( $rows as $name => $value ) {
			\WP_CLI::log( sprintf( '%-12s %s', $name, null === $value ? '–' : $value ) );
		}
	}

	/**
	 * Rotates the keys of the site.
	 *
	 * ## OPTIONS
	 *
	 * [--grace=<seconds>]
	 * : How long the old keys keep working. The default is one day; 0 revokes them immediately.
	 */
	public function rotate( array $arguments, array $options ): void {
		$grace = $options['grace'] ?? '86400';
		if ( ! ctype_digit( (string) $grace ) ) {
			\WP_CLI::error( 'The grace period must be a number of seconds, such as --grace=86400.' );
		}
		$response = ( new SiteService( $this->services ) )->rotate_keys( (int) $grace );
		if ( ! $response->ok() ) {
			\WP_CLI::error( $response->message );
		}
		if ( $this->services->credentials->are_in_config() ) {
			\WP_CLI::log( 'Add these lines to wp-config.php. They are shown only once:' );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_API_KEY', '%s' );", $response->body['api_key'] ) );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_SECRET', '%s' );", $response->body['webhook_secret'] ) );
		}
		\WP_CLI::success( 'The keys were rotated.' );
	}

	/**
	 * Disconnects the site permanently.
	 *
	 * ## OPTIONS
	 *
	 * [--force]
	 * : Delete the keys even if the service cannot be reached.
	 */
	public function disconnect( array $arguments, array $options ): void {
		$site_service = new SiteService( $this->services );
		$response     = $site_service->disconnect();
		if ( ! $response->ok() && ! isset( $options['force'] ) ) {
			\WP_CLI::error( rtrim( $response->message, '.' ) . '. Use --force to delete the keys anyway.' );
		}
		$site_service->delete_local_data();
		\WP_CLI::success( 'Disconnected' );
	}

	/** Sends all waiting submissions, including those that were rejected or are not due yet. */
	public function send(): void {
		$this->services->queue->retry_all();
		$sent  = ( new Sender( $this->services ) )->send_due();
		$stats = $this->services->queue->stats();
		\WP_CLI::log( sprintf( '%d delivered, %d waiting, %d rejected', $sent, $stats['waiting'], $stats['refused'] ) );
		if ( $stats['waiting'] + $stats['refused'] > 0 ) {
			\WP_CLI::error( '' === $stats['complaint'] ? 'Some submissions were not delivered.' : $stats['complaint'] );
		}
	}
}
