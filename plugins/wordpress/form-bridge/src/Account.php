<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Rotates the keys of the connection, or ends it. */
final class Account {

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/**
	 * Rotates the keys. If they are in wp-config.php, the caller shows the new ones once, because only
	 * the owner can edit that file.
	 *
	 * @param int $grace_seconds How long the old keys keep working.
	 */
	public function rotate( int $grace_seconds ): Answer {
		$old = $this->with->credentials->load();
		if ( null === $old ) {
			return Answer::none( __( 'The site is not connected. Connect it first.', 'form-bridge' ) );
		}
		$answer = $this->with->client->signed( $old, 'POST', '/site/rotate', array( 'grace_seconds' => $grace_seconds ), array( 'api_key', 'webhook_secret' ) );
		if ( $answer->ok() && ! $this->with->credentials->are_constants() ) {
			$this->with->credentials->save(
				new Credentials( $old->site_id, (string) $answer->body['api_key'], (string) $answer->body['webhook_secret'], $old->home )
			);
		}
		return $answer;
	}

	/** Disconnects at the service, unless the keys belong to another site, and deletes the keys here. */
	public function disconnect(): Answer {
		$credentials = $this->with->credentials->load();
		$answer      = Answer::from( 200, '{}', '' );
		if ( null !== $credentials && 'moved' !== $this->with->status() ) {
			$answer = $this->with->client->signed( $credentials, 'POST', '/site/disconnect', array(), array( 'status' ) );
			$is_out = $answer->ok() || $answer->is( 'unauthorized' ) || $answer->is( 'site_disabled' ) || $answer->is( 'site_moved' );
			if ( ! $is_out ) {
				return $answer;
			}
		}
		$this->forget();
		return $answer->ok() ? $answer : Answer::from( 200, '{}', '' );
	}

	public function forget(): void {
		$this->with->connector->give_up();
		$this->with->credentials->forget();
		// Keys in wp-config.php remain, and so does their state.
		if ( ! $this->with->credentials->are_constants() ) {
			$this->with->state->forget();
		}
		$this->with->offer->forget();
	}
}
