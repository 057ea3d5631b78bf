<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Connects the site in short steps: registers it, then polls until the service has verified the
 * proof. Between steps the site can respond, even on hosts with a single PHP worker.
 */
final class Connector {

	const OPTION = 'form_bridge_connecting';

	/** Cron hook for the next step, if the settings page is not open. */
	const HOOK = 'form_bridge_connect';

	/** Connects or reconnects the site at its address. */
	const CONNECT = 'connect';

	/** The site was moved here from another address and keeps everything. */
	const MOVE = 'move';

	/** This is a copy of another site and becomes a separate site. */
	const NEW_SITE = 'new_site';

	/** This is a staging copy. */
	const STAGING = 'staging';

	/** A proof never needs more polls. */
	const MOST_STEPS = 40;

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/**
	 * The possible purposes now. If the address has changed, the owner must choose what happened. Keys
	 * in wp-config.php must be removed first.
	 *
	 * @return string[]
	 */
	public function purposes(): array {
		if ( $this->with->credentials->are_constants() ) {
			// New keys would revoke those in wp-config.php, which would still be used.
			return array();
		}
		if ( 'moved' !== $this->with->status() || $this->met_another_site() ) {
			return array( self::CONNECT );
		}
		return array( self::MOVE, self::STAGING, self::NEW_SITE );
	}

	/** Only stores what to do, so the page does not wait. */
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

	/** Retries with the pending registration, whose published proofs are still valid. */
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

	/** Whether a move failed because the domain has a site, which can be reconnected instead. */
	public function met_another_site(): bool {
		$failure = $this->failure();
		return null !== $failure && 'form-bridge.domain_has_site' === $failure['code'];
	}

	/** Runs the next step if it is due and no other request runs it. */
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

	/** From cron: runs a step and schedules the next one. */
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
			// The token was for the first connection and is still in wp-config.php.
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
			// The old key is revoked or belongs to another site. The proof of the address is enough.
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

	/** Whether it is the same site as before, and not a copy. */
	private static function is_own( array $stored ): bool {
		return in_array( $stored['purpose'], array( self::CONNECT, self::MOVE ), true );
	}

	/** The key that proves that this is the same site as before. */
	private function previous_key( array $stored ): string {
		$credentials = $this->with->credentials->load();
		if ( null === $credentials || ! self::is_own( $stored ) || ! empty( $stored['keyless'] ) ) {
			return '';
		}
		// Only a move may use the key of another address.
		return self::CONNECT === $stored['purpose'] && $credentials->are_from_elsewhere() ? '' : $credentials->api_key;
	}

	private function finish( array $stored, array $body ): void {
		if ( ! self::is_own( $stored ) ) {
			// The original site still has these submissions and sends them itself.
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
		$this->fail( Answer::none( __( 'The service did not confirm the proof. Try again.', 'form-bridge' ) ) );
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
