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
	const MAX_STEPS = 40;

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	/**
	 * The possible purposes now. If the address has changed, the owner must choose what happened. Keys
	 * in wp-config.php must be removed first.
	 *
	 * @return string[]
	 */
	public function purposes(): array {
		if ( $this->services->credentials->are_in_config() ) {
			// New keys would revoke those in wp-config.php, which would still be used.
			return array();
		}
		if ( 'moved' !== $this->services->status() || $this->has_domain_conflict() ) {
			return array( self::CONNECT );
		}
		return array( self::MOVE, self::STAGING, self::NEW_SITE );
	}

	/** Only stores the request and schedules the first step, so the page does not wait. */
	public function start( string $purpose, string $join_token = '' ): void {
		if ( self::STAGING === $purpose ) {
			$this->services->settings->update( array( 'environment' => 'staging' ) );
		}
		$this->store(
			array(
				'phase'      => 'registering',
				'purpose'    => $purpose,
				'join_token' => '' === $join_token ? '' : $this->services->encryption->encrypt( $join_token ),
				'steps'      => 0,
			)
		);
		$this->schedule( 0, 0 );
	}

	/** Retries with the pending registration, whose published proofs are still valid. */
	public function retry(): void {
		$stored = $this->stored();
		if ( null === $this->services->registration->pending() ) {
			$this->start( $stored['purpose'] ?? self::CONNECT, $this->join_token( $stored ) );
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

	public function cancel(): void {
		delete_option( self::OPTION );
		$this->services->registration->delete();
	}

	/** 'idle', 'registering', 'proving' or 'failed'. */
	public function phase(): string {
		return $this->stored()['phase'] ?? 'idle';
	}

	public function is_running(): bool {
		return in_array( $this->phase(), array( 'registering', 'proving' ), true );
	}

	/** @return array{code: string, message: string, attempts: array}|null Why it failed. */
	public function failure(): ?array {
		return 'failed' === $this->phase() ? $this->stored()['failure'] : null;
	}

	/** Whether a move failed because the domain has a site, which can be reconnected instead. */
	public function has_domain_conflict(): bool {
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
					$this->cancel();
				}
				if ( ! $this->is_running() || ( $stored['not_before'] ?? 0 ) > $this->services->clock->now() ) {
					return;
				}
				if ( ( $stored['steps'] ?? 0 ) >= self::MAX_STEPS ) {
					$this->fail_unconfirmed();
					return;
				}
				'registering' === $stored['phase'] ? $this->register( $stored ) : $this->exchange( $stored );
			}
		);
	}

	/** From cron: runs a step and schedules the next one. */
	public function step_in_background( int $number = 0 ): void {
		$this->step();
		if ( $this->is_running() ) {
			$this->schedule( 'proving' === $this->phase() ? 5 : 0, $number + 1 );
		}
	}

	private function register( array $stored ): void {
		$settings   = $this->services->settings;
		$entered    = $this->join_token( $stored );
		$configured = empty( $stored['tokenless'] ) ? $settings->join_token() : '';
		$token      = '' === $entered ? $configured : $entered;
		$pending    = $this->services->registration->pending();
		$site_url   = SiteAddress::url();
		$body       = array(
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
		$response     = $this->services->client->send_unsigned( 'POST', '/register', $body, array( 'registration_id', 'temp_key', 'domain', 'expires_in' ) );
		$is_reconnect = self::is_same_site( $stored ) && $this->services->credentials->are_stored();
		if ( $response->ok() ) {
			$this->services->registration->save( $response->body, $site_url );
			$this->store( array_merge( $stored, array( 'phase' => 'proving' ) ) );
		} elseif ( $response->is( 'join_token_invalid', 'agency_closed' ) && $is_reconnect && '' === $entered && '' !== $configured ) {
			// The token was for the first connection and is still in wp-config.php.
			$this->store( array_merge( $stored, array( 'tokenless' => true ) ) );
		} else {
			$this->fail( $response );
		}
	}

	private function join_token( array $stored ): string {
		return (string) $this->services->encryption->decrypt( $stored['join_token'] ?? '' );
	}

	private function exchange( array $stored ): void {
		$pending = $this->services->registration->pending();
		if ( null === $pending ) {
			$this->register_again( $stored );
			return;
		}
		$body = array(
			'registration_id' => $pending['registration_id'],
			'temp_key'        => $pending['temp_key'],
			'site_url'        => $pending['site_url'],
			'wait'            => false,
		);
		$key = $this->previous_key( $stored );
		if ( '' !== $key ) {
			$body['previous_api_key'] = $key;
		}
		$response = $this->services->client->send_unsigned( 'POST', '/exchange', $body );
		if ( ! $response->ok() ) {
			$this->handle_error( $stored, $response );
		} elseif ( 'verifying' === ( $response->body['result'] ?? '' ) ) {
			$next = array(
				'steps'      => $stored['steps'] + 1,
				'not_before' => $this->services->clock->now() + (int) ( $response->body['retry_after'] ?? 2 ),
			);
			$this->store( array_merge( $stored, $next ) );
		} elseif ( Response::has( $response->body, array( 'site_id', 'api_key', 'webhook_secret' ) ) ) {
			$this->finish( $stored, $response->body );
		} else {
			$this->fail_unconfirmed();
		}
	}

	private function handle_error( array $stored, Response $response ): void {
		if ( $response->is( 'registration_invalid' ) && empty( $stored['anew'] ) ) {
			$this->register_again( $stored );
		} elseif ( $response->is( 'previous_key_invalid', 'domain_has_site', 'site_disabled' ) && self::CONNECT === $stored['purpose'] && empty( $stored['keyless'] ) ) {
			// The old key is revoked or belongs to another site. Proving the address is enough.
			$this->store( array_merge( $stored, array( 'keyless' => true ) ) );
		} elseif ( $response->is( 'changed_meanwhile' ) && empty( $stored['repeated'] ) ) {
			$this->store( array_merge( $stored, array( 'repeated' => true ) ) );
		} else {
			$this->fail( $response );
		}
	}

	private function register_again( array $stored ): void {
		$this->services->registration->delete();
		$changes = array(
			'phase' => 'registering',
			'anew'  => true,
		);
		$this->store( array_merge( $stored, $changes ) );
	}

	/** Whether it is the same site as before, and not a copy. */
	private static function is_same_site( array $stored ): bool {
		return in_array( $stored['purpose'], array( self::CONNECT, self::MOVE ), true );
	}

	/** The key that proves that this is the same site as before. */
	private function previous_key( array $stored ): string {
		$credentials = $this->services->credentials->load();
		if ( null === $credentials || ! self::is_same_site( $stored ) || ! empty( $stored['keyless'] ) ) {
			return '';
		}
		// Only a move may use the key of another address.
		return self::CONNECT === $stored['purpose'] && $credentials->belong_to_another_address() ? '' : $credentials->api_key;
	}

	private function finish( array $stored, array $body ): void {
		if ( ! self::is_same_site( $stored ) ) {
			// The original site still has these submissions and sends them itself.
			$this->services->queue->delete_from_other_addresses();
		}
		$this->services->credentials->save(
			new Credentials( (string) $body['site_id'], (string) $body['api_key'], (string) $body['webhook_secret'], SiteAddress::url() )
		);
		$this->services->state->reset( ! empty( $body['confirmation_needed'] ) );
		$this->cancel();
		$this->services->queue->schedule_send();
		Heartbeat::schedule_soon();
	}

	private function fail_unconfirmed(): void {
		$this->fail( Response::none( __( 'The service did not confirm the proof. Try again.', 'form-bridge' ) ) );
	}

	private function fail( Response $response ): void {
		$failure = array(
			'code'     => $response->code,
			'message'  => $response->message,
			'attempts' => is_array( $response->data['attempts'] ?? null ) ? $response->data['attempts'] : array(),
		);
		$changes = array(
			'phase'   => 'failed',
			'failure' => $failure,
		);
		$this->store( array_merge( $this->stored(), $changes ) );
	}

	/** With a number, because WordPress ignores a duplicate event within ten minutes. */
	private function schedule( int $seconds, int $number ): void {
		wp_schedule_single_event( $this->services->clock->now() + $seconds, self::HOOK, array( $number ) );
	}

	private function store( array $value ): void {
		update_option( self::OPTION, $value, false );
	}

	private function stored(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}
}
