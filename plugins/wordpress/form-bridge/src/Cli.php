<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Connects and manages the site from the command line: wp form-bridge … */
final class Cli {

	/** @var Services */
	private $with;

	/** @var callable Waits a number of seconds between two steps. */
	private $pause;

	public function __construct( Services $with, ?callable $pause = null ) {
		$this->with  = $with;
		$this->pause = $pause ?? 'sleep';
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
		$connector = $this->with->connector;
		$purpose   = $options['as'] ?? Connector::CONNECT;
		if ( ! in_array( $purpose, $connector->purposes(), true ) ) {
			\WP_CLI::error( $this->why_not() );
		}
		$connector->begin( $purpose, $options['join-token'] ?? '' );
		while ( $connector->is_under_way() ) {
			$connector->step();
			if ( $connector->is_under_way() ) {
				( $this->pause )( 1 );
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

	private function why_not(): string {
		if ( $this->with->credentials->are_constants() ) {
			return 'The keys of this site are in wp-config.php or in the environment. Remove FORM_BRIDGE_SITE_ID and FORM_BRIDGE_SECRET, then connect.';
		}
		return 'moved' === $this->with->status()
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
		$credentials = $this->with->credentials->load();
		$figures     = $this->with->queue->figures();
		$facts       = array(
			'status'      => $this->with->status(),
			'service'     => $this->with->settings->service_url(),
			'site_id'     => null === $credentials ? null : $credentials->site_id,
			'api_key'     => null === $credentials ? null : Credentials::masked( $credentials->api_key ),
			'environment' => Environment::current( $this->with->settings ),
			'waiting'     => $figures['waiting'],
			'refused'     => $figures['refused'],
			'version'     => FORM_BRIDGE_VERSION,
		);
		if ( 'json' === ( $options['format'] ?? '' ) ) {
			\WP_CLI::log( (string) wp_json_encode( $facts ) );
			return;
		}
		foreach ( $facts as $name => $value ) {
			\WP_CLI::log( sprintf( '%-12s %s', $name, null === $value ? '–' : $value ) );
		}
	}

	/**
	 * Rotates the keys of the site.
	 *
	 * ## OPTIONS
	 *
	 * [--grace=<seconds>]
	 * : How long the old keys keep working. One day unless given; 0 revokes them immediately.
	 */
	public function rotate( array $arguments, array $options ): void {
		$grace = $options['grace'] ?? '86400';
		if ( ! ctype_digit( (string) $grace ) ) {
			\WP_CLI::error( 'The grace period must be a number of seconds, such as --grace=86400.' );
		}
		$answer = ( new Account( $this->with ) )->rotate( (int) $grace );
		if ( ! $answer->ok() ) {
			\WP_CLI::error( $answer->message );
		}
		if ( $this->with->credentials->are_constants() ) {
			\WP_CLI::log( 'Add these lines to wp-config.php. They are shown only once:' );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_API_KEY', '%s' );", $answer->body['api_key'] ) );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_SECRET', '%s' );", $answer->body['webhook_secret'] ) );
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
		$account = new Account( $this->with );
		$answer  = $account->disconnect();
		if ( ! $answer->ok() && ! isset( $options['force'] ) ) {
			\WP_CLI::error( rtrim( $answer->message, '.' ) . '. Use --force to delete the keys anyway.' );
		}
		$account->forget();
		\WP_CLI::success( 'Disconnected' );
	}

	/** Sends all waiting submissions, including those that were rejected or are not due yet. */
	public function send(): void {
		$this->with->queue->retry_all();
		$sent    = ( new Sender( $this->with ) )->send_due();
		$figures = $this->with->queue->figures();
		\WP_CLI::log( sprintf( '%d delivered, %d waiting, %d refused', $sent, $figures['waiting'], $figures['refused'] ) );
		if ( $figures['waiting'] + $figures['refused'] > 0 ) {
			\WP_CLI::error( '' === $figures['complaint'] ? 'Some submissions were not delivered.' : $figures['complaint'] );
		}
	}
}
