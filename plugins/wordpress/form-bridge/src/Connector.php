<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Connects the site, one short step at a time: registers it, then asks until the service has seen
 * the proof. Between steps the site is free to answer, also on hosts with a single PHP worker.
 */
final class Connector {

	const OPTION = 'form_bridge_connecting';

	/** Does the next step when no page is open that does. */
	const HOOK = 'form_bridge_connect';

	/** The address has had credentials, or never had: whichever, it gets its own. */
	const CONNECT = 'connect';

	/** The site was at another address and takes all it has along. */
	const MOVE = 'move';

	/** This is a copy of another site, and becomes one of its own. */
	const NEW_SITE = 'new_site';

	/** This is a copy to try things out on. */
	const STAGING = 'staging';

	/** More answers without a result than a proof can need. */
	const MOST_STEPS = 40;

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/**
	 * What can be done now: at another address than before the owner has to say what happened, and
	 * keys in wp-config.php have to be taken out of it first.
	 *
	 * @return string[]
	 */
	public function purposes(): array {
		if ( $this->with->credentials->are_constants() ) {
			// New keys would void them, and then not be used.
			return array();
		}
		if ( 'moved' !== $this->with->status() || $this->met_another_site() ) {
			return array( self::CONNECT );
		}
		return array( self::MOVE, self::STAGING, self::NEW_SITE );
	}

	/** Only writes down what to do: the page that asks for it does not wait. */
	public function begin( string $purpose, string $join_token = '' ): void {
		if ( self::STAGING === $purpose ) {
			$this->with->settings->change( array( 'environment' => 'staging' ) );
		}
		$this->store(
			array(
				'phase'      => 'registering',
				'purpose'    => $purpose,
				'join_token' => '' === $join_token ? '' : $this->with->vault->seal( $join_token ),
				'steps'      => 0,
			)
		);
		$this->schedule( 0, 0 );
	}

	/** Asks again with the registration there is: its published proofs are still good. */
	public function try_again(): void {
		$stored = $this->stored();
		if ( null === $this->with->registration->pending() ) {
			$this->begin( $stored['purpose'] ?? self::CONNECT, $this->join_token( $stored ) );
			return;
		}
		$this->store(
			array(
				'phase' => 'proving',
				'steps' => 0,
			) + $stored
		);
		$this->schedule( 0, 0 );
	}

	public function give_up(): void {
		delete_option( self::OPTION );
		$this->with->registration->forget();
	}

	/** 'idle', 'registering', 'proving' or 'failed'. */
	public function phase(): string {
		return $this->stored()['phase'] ?? 'idle';
	}

	public function is_under_way(): bool {
		return in_array( $this->phase(), array( 'registering', 'proving' ), true );
	}

	/** @return array{code: string, message: string, attempts: array}|null Why it failed. */
	public function failure(): ?array {
		return 'failed' === $this->phase() ? $this->stored()['failure'] : null;
	}

	/** Whether it was to move where the service has another site, which it can become instead. */
	public function met_another_site(): bool {
		$failure = $this->failure();
		return null !== $failure && 'form-bridge.domain_has_site' === $failure['code'];
	}

	/** Does the next step if it is due and nobody else does it. */
	public function step(): void {
		Lock::run(
			'connect',
			30,
			function () {
				// Another request may have taken a step since this one began.
				wp_cache_delete( self::OPTION, 'options' );
				$stored = $this->stored();
				if ( array() === $this->purposes() ) {
					$this->give_up();
				}
				if ( ! $this->is_under_way() || ( $stored['not_before'] ?? 0 ) > $this->with->clock->now() ) {
					return;
				}
				if ( ( $stored['steps'] ?? 0 ) >= self::MOST_STEPS ) {
					$this->fail_undecided();
					return;
				}
				'registering' === $stored['phase'] ? $this->register( $stored ) : $this->exchange( $stored );
			}
		);
	}

	/** From cron: a step, and the next one later. */
	public function step_in_background( int $number = 0 ): void {
		$this->step();
		if ( $this->is_under_way() ) {
			$this->schedule( 'proving' === $this->phase() ? 5 : 0, $number + 1 );
		}
	}

	private function register( array $stored ): void {
		$settings = $this->with->settings;
		$given    = $this->join_token( $stored );
		$standing = empty( $stored['tokenless'] ) ? $settings->join_token() : '';
		$token    = '' === $given ? $standing : $given;
		$pending  = $this->with->registration->pending();
		$site_url = Home::url();
		$body     = array(
			'site_url'       => $site_url,
			'wp_version'     => get_bloginfo( 'version' ),
			'plugin_version' => FORM_BRIDGE_VERSION,
			'environment'    => Environment::current( $settings ),
		);
		if ( $settings->all()['admin_email'] ) {
			$body['admin_email'] = get_option( 'admin_email' );
		}
		if ( '' !== $token ) {
			$body['join_token'] = $token;
		}
		if ( null !== $pending ) {
			$body['supersedes'] = array(
				'registration_id' => $pending['registration_id'],
				'temp_key'        => $pending['temp_key'],
			);
		}
		$answer   = $this->with->client->ask( 'POST', '/register', $body, array( 'registration_id', 'temp_key', 'domain', 'expires_in' ) );
		$is_again = self::is_own( $stored ) && $this->with->credentials->are_stored();
		if ( $answer->ok() ) {
			$this->with->registration->keep( $answer->body, $site_url );
			$this->store( array_merge( $stored, array( 'phase' => 'proving' ) ) );
		} elseif ( $answer->is( 'join_token_invalid', 'agency_closed' ) && $is_again && '' === $given && '' !== $standing ) {
			// It was for the first time, and stays in wp-config.php for ever.
			$this->store( array_merge( $stored, array( 'tokenless' => true ) ) );
		} else {
			$this->fail( $answer );
		}
	}

	private function join_token( array $stored ): string {
		return (string) $this->with->vault->open( $stored['join_token'] ?? '' );
	}

	private function exchange( array $stored ): void {
		$pending = $this->with->registration->pending();
		if ( null === $pending ) {
			$this->register_anew( $stored );
			return;
		}
		$body = array(
			'registration_id' => $pending['registration_id'],
			'temp_key'        => $pending['temp_key'],
			'site_url'        => $pending['site_url'],
			'wait'            => false,
		);
		$key  = $this->previous_key( $stored );
		if ( '' !== $key ) {
			$body['previous_api_key'] = $key;
		}
		$answer = $this->with->client->ask( 'POST', '/exchange', $body );
		if ( ! $answer->ok() ) {
			$this->refused( $stored, $answer );
		} elseif ( 'verifying' === ( $answer->body['result'] ?? '' ) ) {
			$next = array(
				'steps'      => $stored['steps'] + 1,
				'not_before' => $this->with->clock->now() + (int) ( $answer->body['retry_after'] ?? 2 ),
			);
			$this->store( array_merge( $stored, $next ) );
		} elseif ( Answer::has( $answer->body, array( 'site_id', 'api_key', 'webhook_secret' ) ) ) {
			$this->finish( $stored, $answer->body );
		} else {
			$this->fail_undecided();
		}
	}

	private function refused( array $stored, Answer $answer ): void {
		if ( $answer->is( 'registration_invalid' ) && empty( $stored['anew'] ) ) {
			$this->register_anew( $stored );
		} elseif ( $answer->is( 'previous_key_invalid', 'domain_has_site', 'site_disabled' ) && self::CONNECT === $stored['purpose'] && empty( $stored['keyless'] ) ) {
			// Void, another site's, or of one that has ended: the address alone proves enough.
			$this->store( array_merge( $stored, array( 'keyless' => true ) ) );
		} elseif ( $answer->is( 'changed_meanwhile' ) && empty( $stored['repeated'] ) ) {
			$this->store( array_merge( $stored, array( 'repeated' => true ) ) );
		} else {
			$this->fail( $answer );
		}
	}

	private function register_anew( array $stored ): void {
		$this->with->registration->forget();
		$changes = array(
			'phase' => 'registering',
			'anew'  => true,
		);
		$this->store( array_merge( $stored, $changes ) );
	}

	/** Whether it is the site that it was, and not one that was copied from it. */
	private static function is_own( array $stored ): bool {
		return in_array( $stored['purpose'], array( self::CONNECT, self::MOVE ), true );
	}

	/** The key that shows that this is the same site as before. */
	private function previous_key( array $stored ): string {
		$credentials = $this->with->credentials->load();
		if ( null === $credentials || ! self::is_own( $stored ) || ! empty( $stored['keyless'] ) ) {
			return '';
		}
		// Only a move may take along what belongs to another address.
		return self::CONNECT === $stored['purpose'] && $credentials->are_from_elsewhere() ? '' : $credentials->api_key;
	}

	private function finish( array $stored, array $body ): void {
		if ( ! self::is_own( $stored ) ) {
			// The site that this one was copied from still has them, and sends them itself.
			$this->with->queue->drop_those_from_elsewhere();
		}
		$this->with->credentials->save(
			new Credentials( (string) $body['site_id'], (string) $body['api_key'], (string) $body['webhook_secret'], Home::url() )
		);
		$this->with->state->begin( ! empty( $body['confirmation_needed'] ) );
		$this->give_up();
		$this->with->queue->send_soon();
		Heartbeat::soon();
	}

	private function fail_undecided(): void {
		$this->fail( Answer::none( __( 'The service did not say whether the proof was right', 'form-bridge' ) ) );
	}

	private function fail( Answer $answer ): void {
		$failure = array(
			'code'     => $answer->code,
			'message'  => $answer->message,
			'attempts' => is_array( $answer->data['attempts'] ?? null ) ? $answer->data['attempts'] : array(),
		);
		$changes = array(
			'phase'   => 'failed',
			'failure' => $failure,
		);
		$this->store( array_merge( $this->stored(), $changes ) );
	}

	/** With a number, because WordPress refuses the same event twice within ten minutes. */
	private function schedule( int $seconds, int $number ): void {
		wp_schedule_single_event( $this->with->clock->now() + $seconds, self::HOOK, array( $number ) );
	}

	private function store( array $value ): void {
		update_option( self::OPTION, $value, false );
	}

	private function stored(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}
}
