<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What the owner can do with the connection there is: new keys, or none any more. */
final class Account {

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	/**
	 * Replaces the keys. Those in wp-config.php are replaced by whoever edits it: for them the new
	 * ones are handed out, once.
	 *
	 * @param int $grace_seconds How long the old ones still work.
	 */
	public function rotate( int $grace_seconds ): Answer {
		$old = $this->with->credentials->load();
		if ( null === $old ) {
			return Answer::none( __( 'The site is not connected', 'form-bridge' ) );
		}
		$answer = $this->with->client->signed( $old, 'POST', '/site/rotate', array( 'grace_seconds' => $grace_seconds ), array( 'api_key', 'webhook_secret' ) );
		if ( $answer->ok() && ! $this->with->credentials->are_constants() ) {
			$this->with->credentials->save(
				new Credentials( $old->site_id, (string) $answer->body['api_key'], (string) $answer->body['webhook_secret'], $old->home )
			);
		}
		return $answer;
	}

	/** Ends the connection at the service, unless it is another site's, and forgets it here. */
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
		// Keys in wp-config.php stay, and what was said of them.
		if ( ! $this->with->credentials->are_constants() ) {
			$this->with->state->forget();
		}
		$this->with->offer->forget();
	}
}
