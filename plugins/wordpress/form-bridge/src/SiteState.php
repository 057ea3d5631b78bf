<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The last known state of this site at the service. Nothing is sent unless it is active. */
final class SiteState {

	const OPTION = 'form_bridge_state';

	/** @var CredentialStore */
	private $credentials;

	/** @var Clock */
	private $clock;

	public function __construct( CredentialStore $credentials, Clock $clock ) {
		$this->credentials = $credentials;
		$this->clock       = $clock;
	}

	/** 'active', 'suspended', 'rejected' (the service does not accept the credentials), or 'moved'. */
	public function name(): string {
		$stored = $this->stored();
		$name   = $stored['name'] ?? 'active';
		// The state belongs to other keys, for example after those in wp-config.php were replaced.
		if ( ( $stored['keys'] ?? '' ) !== $this->keys() ) {
			return 'active';
		}
		// The service rejected another address than the current one.
		if ( 'moved' === $name && ! SiteAddress::is_same( $stored['home'] ?? '', SiteAddress::url() ) ) {
			return 'active';
		}
		return $name;
	}

	/** The epoch second of the last successful response; 0 if there was none. */
	public function last_contact(): int {
		return (int) ( $this->stored()['contact'] ?? 0 );
	}

	/** Whether the operator or the agency must confirm the site before submissions are sent. */
	public function awaits_confirmation(): bool {
		return (bool) ( $this->stored()['confirmation'] ?? false );
	}

	/** Whether the service has no destination for the submissions of this site. */
	public function lacks_destination(): bool {
		return (bool) ( $this->stored()['no_destination'] ?? false );
	}

	/** The last error message; empty after a successful response. */
	public function complaint(): string {
		return (string) ( $this->stored()['complaint'] ?? '' );
	}

	public function record( Response $response ): void {
		if ( $response->ok() ) {
			$changes = array(
				'contact'   => $this->clock->now(),
				'complaint' => '',
			);
			if ( isset( $response->body['confirmation_needed'] ) ) {
				$changes['confirmation'] = (bool) $response->body['confirmation_needed'];
			}
			if ( isset( $response->body['submission_id'] ) ) {
				$changes['no_destination'] = false;
			}
			$this->update( $changes );
			$this->set_name( $this->name_after( $response->body['status'] ?? null ) );
			return;
		}
		$this->update( array( 'complaint' => $response->message ) );
		if ( $response->is( 'unauthorized', 'keys_replaced' ) ) {
			$this->set_name( 'rejected' );
		} elseif ( $response->is( 'site_suspended' ) ) {
			$this->set_name( 'suspended' );
		} elseif ( $response->is( 'site_moved' ) ) {
			$this->update( array( 'home' => SiteAddress::url() ) );
			$this->set_name( 'moved' );
		} elseif ( $response->is( 'no_destination', 'destination_refused', 'destination_unreachable' ) ) {
			$this->update( array( 'no_destination' => $response->is( 'no_destination' ) ) );
		} elseif ( $response->is( 'confirmation_needed' ) ) {
			$this->update( array( 'confirmation' => true ) );
		} elseif ( $response->is( 'site_disabled' ) && $this->credentials->are_in_config() ) {
			// The plugin cannot delete constants.
			$this->set_name( 'rejected' );
		} elseif ( $response->is( 'site_disabled' ) ) {
			$this->credentials->delete();
			$this->delete();
		}
	}

	/** Resets the state after the site was connected. */
	public function reset( bool $confirmation_needed ): void {
		$value = array(
			'name'         => 'active',
			'contact'      => $this->clock->now(),
			'confirmation' => $confirmation_needed,
		);
		update_option( self::OPTION, $value, false );
	}

	public function delete(): void {
		delete_option( self::OPTION );
	}

	/** A suspended site gets successful responses too. Only one with a status ends the suspension. */
	private function name_after( $status ): string {
		if ( null === $status ) {
			return 'suspended' === $this->name() ? 'suspended' : 'active';
		}
		if ( 'disabled' === $status ) {
			return 'rejected';
		}
		return 'suspended' === $status ? 'suspended' : 'active';
	}

	private function set_name( string $name ): void {
		$this->update(
			array(
				'name' => $name,
				'keys' => $this->keys(),
			)
		);
	}

	/** A fingerprint of the current keys. */
	private function keys(): string {
		$credentials = $this->credentials->load();
		return null === $credentials ? '' : substr( hash( 'sha256', "$credentials->site_id $credentials->secret" ), 0, 16 );
	}

	private function update( array $changes ): void {
		update_option( self::OPTION, array_merge( $this->stored(), $changes ), false );
	}

	private function stored(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}
}
