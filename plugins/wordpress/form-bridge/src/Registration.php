<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The pending registration, in an option, because a cache could evict it too early. */
final class Registration {

	const OPTION = 'form_bridge_registration';

	/** Autoloaded, so that pages without a registration need no query. */
	const EXPIRES_OPTION = 'form_bridge_registration_until';

	/** @var Encryption */
	private $encryption;

	/** @var Clock */
	private $clock;

	public function __construct( Encryption $encryption, Clock $clock ) {
		$this->encryption = $encryption;
		$this->clock      = $clock;
	}

	public function save( array $response, string $site_url ): void {
		update_option(
			self::OPTION,
			array(
				'registration_id' => (string) $response['registration_id'],
				'temp_key'        => $this->encryption->encrypt( (string) $response['temp_key'] ),
				'domain'          => (string) $response['domain'],
				'site_url'        => $site_url,
				'proofs'          => is_array( $response['proofs'] ?? null ) ? $response['proofs'] : array(),
			),
			false
		);
		update_option( self::EXPIRES_OPTION, $this->clock->now() + (int) $response['expires_in'], true );
	}

	/** @return array{registration_id: string, temp_key: string, domain: string, site_url: string, proofs: array}|null */
	public function pending(): ?array {
		if ( (int) get_option( self::EXPIRES_OPTION, 0 ) <= $this->clock->now() ) {
			return null;
		}
		$stored = get_option( self::OPTION );
		if ( ! is_array( $stored ) ) {
			return null;
		}
		$temp_key = $this->encryption->decrypt( $stored['temp_key'] );
		return null === $temp_key ? null : array_merge( $stored, array( 'temp_key' => $temp_key ) );
	}

	public function delete(): void {
		delete_option( self::OPTION );
		delete_option( self::EXPIRES_OPTION );
	}
}
