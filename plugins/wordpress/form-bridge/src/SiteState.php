<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What the service last said of this site: all is well, or why nothing is sent. */
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

	/** 'active', 'suspended', 'rejected' (the credentials are void), or 'moved'. */
	public function name(): string {
		$stored = $this->stored();
		$name   = $stored['name'] ?? 'active';
		// Said of other keys: those in wp-config.php are replaced by people.
		if ( ( $stored['keys'] ?? '' ) !== $this->keys() ) {
			return 'active';
		}
		// The service met this site at another address; it is back where it was.
		if ( 'moved' === $name && ! Home::same( $stored['home'] ?? '', Home::url() ) ) {
			return 'active';
		}
		return $name;
	}

	/** The epoch second of the last good answer; 0 if there was none. */
	public function last_contact(): int {
		return (int) ( $this->stored()['contact'] ?? 0 );
	}

	/** Whether the service has to be told by somebody that the destination is still right. */
	public function awaits_confirmation(): bool {
		return (bool) ( $this->stored()['confirmation'] ?? false );
	}

	/** The message of what went wrong last; empty after a good answer. */
	public function complaint(): string {
		return (string) ( $this->stored()['complaint'] ?? '' );
	}

	public function learn( Answer $answer ): void {
		if ( $answer->ok() ) {
			$changes = array(
				'contact'   => $this->clock->now(),
				'complaint' => '',
			);
			if ( isset( $answer->body['confirmation_needed'] ) ) {
				$changes['confirmation'] = (bool) $answer->body['confirmation_needed'];
			}
			$this->change( $changes );
			$this->become( $this->name_after( $answer->body['status'] ?? null ) );
			return;
		}
		$this->change( array( 'complaint' => $answer->message ) );
		if ( $answer->is( 'unauthorized' ) ) {
			$this->become( 'rejected' );
		} elseif ( $answer->is( 'site_suspended' ) ) {
			$this->become( 'suspended' );
		} elseif ( $answer->is( 'site_moved' ) ) {
			$this->change( array( 'home' => Home::url() ) );
			$this->become( 'moved' );
		} elseif ( $answer->is( 'confirmation_needed' ) ) {
			$this->change( array( 'confirmation' => true ) );
		} elseif ( $answer->is( 'site_disabled' ) && $this->credentials->are_constants() ) {
			// They cannot be forgotten from here.
			$this->become( 'rejected' );
		} elseif ( $answer->is( 'site_disabled' ) ) {
			$this->credentials->forget();
			$this->forget();
		}
	}

	/** After the site has been connected: what was wrong before is over. */
	public function begin( bool $confirmation_needed ): void {
		$value = array(
			'name'         => 'active',
			'contact'      => $this->clock->now(),
			'confirmation' => $confirmation_needed,
		);
		update_option( self::OPTION, $value, false );
	}

	public function forget(): void {
		delete_option( self::OPTION );
	}

	/** A suspended site gets answers too: only those that name a status end a suspension. */
	private function name_after( $status ): string {
		if ( null === $status ) {
			return 'suspended' === $this->name() ? 'suspended' : 'active';
		}
		if ( 'disabled' === $status ) {
			return 'rejected';
		}
		return 'suspended' === $status ? 'suspended' : 'active';
	}

	private function become( string $name ): void {
		$this->change(
			array(
				'name' => $name,
				'keys' => $this->keys(),
			)
		);
	}

	/** Which keys there are, without saying what they are. */
	private function keys(): string {
		$credentials = $this->credentials->load();
		return null === $credentials ? '' : substr( hash( 'sha256', "$credentials->site_id $credentials->secret" ), 0, 16 );
	}

	private function change( array $changes ): void {
		update_option( self::OPTION, array_merge( $this->stored(), $changes ), false );
	}

	private function stored(): array {
		$stored = get_option( self::OPTION );
		return is_array( $stored ) ? $stored : array();
	}
}
