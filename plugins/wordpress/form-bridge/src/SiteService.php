<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Rotates the keys of the site, and disconnects it. */
final class SiteService {

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	/**
	 * Rotates the keys. If they are in wp-config.php, the caller shows the new ones once, because only
	 * the owner can edit that file.
	 *
	 * @param int $grace_seconds How long the old keys keep working.
	 */
	public function rotate_keys( int $grace_seconds ): Response {
		$old = $this->services->credentials->load();
		if ( null === $old ) {
			return Response::none( __( 'The site is not connected. Connect it first.', 'form-bridge' ) );
		}
		$response = $this->services->client->send_signed( $old, 'POST', '/site/rotate', array( 'grace_seconds' => $grace_seconds ), array( 'api_key', 'webhook_secret' ) );
		if ( $response->ok() && ! $this->services->credentials->are_in_config() ) {
			$this->services->credentials->save(
				new Credentials( $old->site_id, (string) $response->body['api_key'], (string) $response->body['webhook_secret'], $old->home )
			);
		}
		return $response;
	}

	/** Disconnects at the service, unless the keys belong to another site, and deletes the keys here. */
	public function disconnect(): Response {
		$credentials = $this->services->credentials->load();
		$response    = Response::from( 200, '{}', '' );
		if ( null !== $credentials && 'moved' !== $this->services->status() ) {
			$response        = $this->services->client->send_signed( $credentials, 'POST', '/site/disconnect', array(), array( 'status' ) );
			$is_disconnected = $response->ok() || $response->is( 'unauthorized' ) || $response->is( 'site_disabled' ) || $response->is( 'site_moved' );
			if ( ! $is_disconnected ) {
				return $response;
			}
		}
		$this->delete_local_data();
		return $response->ok() ? $response : Response::from( 200, '{}', '' );
	}

	/** Deletes the keys, the pending registration and the cached update of this site. */
	public function delete_local_data(): void {
		$this->services->connector->cancel();
		$this->services->credentials->delete();
		// Keys in wp-config.php remain, and so does their state.
		if ( ! $this->services->credentials->are_in_config() ) {
			$this->services->state->delete();
		}
		$this->services->update_cache->clear();
	}
}
