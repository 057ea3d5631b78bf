<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Connects and looks after the site from the command line: wp form-bridge … */
final class Cli {

	/** @var Services */
	private $with;

	/** @var callable Waits so many seconds between two steps. */
	private $pause;

	public function __construct( Services $with, ?callable $pause = null ) {
		$this->with  = $with;
		$this->pause = $pause ?? 'sleep';
	}

	/**
	 * Connects the site, or reconnects it.
	 *
	 * ## OPTIONS
	 *
	 * [--join-token=<token>]
	 * : The join token of an agency.
	 *
	 * [--as=<what>]
	 * : For a site with another address than before: "move" if it has moved here, "staging" if it is a
	 * copy for trying things out, "new_site" if it is a site of its own.
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
			return 'The keys of this site are in wp-config.php or the environment: take FORM_BRIDGE_SITE_ID and FORM_BRIDGE_SECRET out, then connect';
		}
		return 'moved' === $this->with->status()
			? 'This site has another address than when it was connected: say --as=move, --as=staging or --as=new_site'
			: 'This site has the address that it was connected at: leave out --as';
	}

	/**
	 * Says how the site stands.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : "json" for programs.
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
	 * Replaces the keys of the site.
	 *
	 * ## OPTIONS
	 *
	 * [--grace=<seconds>]
	 * : How long the old ones still work, a day unless given; 0 ends them at once.
	 */
	public function rotate( array $arguments, array $options ): void {
		$grace = $options['grace'] ?? '86400';
		if ( ! ctype_digit( (string) $grace ) ) {
			\WP_CLI::error( 'Say the grace period in seconds, such as --grace=86400' );
		}
		$answer = ( new Account( $this->with ) )->rotate( (int) $grace );
		if ( ! $answer->ok() ) {
			\WP_CLI::error( $answer->message );
		}
		if ( $this->with->credentials->are_constants() ) {
			\WP_CLI::log( 'Put these into wp-config.php; they are shown only once:' );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_API_KEY', '%s' );", $answer->body['api_key'] ) );
			\WP_CLI::log( sprintf( "define( 'FORM_BRIDGE_SECRET', '%s' );", $answer->body['webhook_secret'] ) );
		}
		\WP_CLI::success( 'The site has new keys' );
	}

	/**
	 * Ends the connection for ever.
	 *
	 * ## OPTIONS
	 *
	 * [--force]
	 * : Forget the keys even if the service cannot be told.
	 */
	public function disconnect( array $arguments, array $options ): void {
		$account = new Account( $this->with );
		$answer  = $account->disconnect();
		if ( ! $answer->ok() && ! isset( $options['force'] ) ) {
			\WP_CLI::error( $answer->message . '. Use --force to forget the keys all the same' );
		}
		$account->forget();
		\WP_CLI::success( 'Disconnected' );
	}

	/** Sends the submissions that wait, also those that were refused or are not due yet. */
	public function send(): void {
		$this->with->queue->retry_all();
		$sent    = ( new Sender( $this->with ) )->send_due();
		$figures = $this->with->queue->figures();
		\WP_CLI::log( sprintf( '%d delivered, %d waiting, %d refused', $sent, $figures['waiting'], $figures['refused'] ) );
		if ( $figures['waiting'] + $figures['refused'] > 0 ) {
			\WP_CLI::error( '' === $figures['complaint'] ? 'Not everything was delivered' : $figures['complaint'] );
		}
	}
}
