<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Credentials in wp-config.php, or encrypted in an option. */
final class CredentialStore {

	const OPTION = 'form_bridge_credentials';

	/** @var Encryption */
	private $encryption;

	public function __construct( Encryption $encryption ) {
		$this->encryption = $encryption;
	}

	/** Null if there are none or they cannot be decrypted. */
	public function load(): ?Credentials {
		if ( $this->are_in_config() ) {
			return new Credentials(
				Constants::get( 'FORM_BRIDGE_SITE_ID' ),
				Constants::get( 'FORM_BRIDGE_API_KEY' ),
				Constants::get( 'FORM_BRIDGE_SECRET' ),
				Constants::get( 'FORM_BRIDGE_HOME' )
			);
		}
		$stored = get_option( self::OPTION );
		if ( ! is_array( $stored ) ) {
			return null;
		}
		$api_key = $this->encryption->decrypt( $stored['api_key'] );
		$secret  = $this->encryption->decrypt( $stored['secret'] );
		if ( null === $api_key || null === $secret ) {
			return null;
		}
		return new Credentials( $stored['site_id'], $api_key, $secret, $stored['home'] );
	}

	/** Whether they cannot be decrypted, because the salts have changed. */
	public function are_unreadable(): bool {
		return ! $this->are_in_config() && $this->are_stored() && null === $this->load();
	}

	/** Whether they are in the database, readable or not. */
	public function are_stored(): bool {
		return is_array( get_option( self::OPTION ) );
	}

	public function are_in_config(): bool {
		return '' !== Constants::get( 'FORM_BRIDGE_SITE_ID' ) && '' !== Constants::get( 'FORM_BRIDGE_SECRET' );
	}

	public function save( Credentials $credentials ): void {
		update_option(
			self::OPTION,
			array(
				'site_id' => $credentials->site_id,
				'api_key' => $this->encryption->encrypt( $credentials->api_key ),
				'secret'  => $this->encryption->encrypt( $credentials->secret ),
				'home'    => $credentials->home,
			),
			false
		);
	}

	public function delete(): void {
		delete_option( self::OPTION );
	}
}
