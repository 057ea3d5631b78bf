<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The pending registration, in an option, because a cache could evict it too early. */
final class Registration {

	const OPTION = 'form_bridge_registration';

	/** Autoloaded, so that pages without a registration need no query. */
	const UNTIL = 'form_bridge_registration_until';

	/** @var Vault */
	private $vault;

	/** @var Clock */
	private $clock;

	public function __construct( Vault $vault, Clock $clock ) {
		$this->vault = $vault;
		$this->clock = $clock;
	}

	public function keep( array $answer, string $site_url ): void {
		update_option(
			self::OPTION,
			array(
				'registration_id' => (string) $answer['registration_id'],
				'temp_key'        => $this->vault->seal( (string) $answer['temp_key'] ),
				'domain'          => (string) $answer['domain'],
				'site_url'        => $site_url,
				'proofs'          => is_array( $answer['proofs'] ?? null ) ? $answer['proofs'] : array(),
			),
			false
		);
		update_option( self::UNTIL, $this->clock->now() + (int) $answer['expires_in'], true );
	}

	/** @return array{registration_id: string, temp_key: string, domain: string, site_url: string, proofs: array}|null */
	public function pending(): ?array {
		if ( (int) get_option( self::UNTIL, 0 ) <= $this->clock->now() ) {
			return null;
		}
		$stored = get_option( self::OPTION );
		if ( ! is_array( $stored ) ) {
			return null;
		}
		$temp_key = $this->vault->open( $stored['temp_key'] );
		return null === $temp_key ? null : array_merge( $stored, array( 'temp_key' => $temp_key ) );
	}

	public function forget(): void {
		delete_option( self::OPTION );
		delete_option( self::UNTIL );
	}
}
