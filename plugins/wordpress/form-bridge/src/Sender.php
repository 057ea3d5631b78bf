<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Sends the queue to the service in the background and handles each response. */
final class Sender {

	/** Submissions for each run. */
	const MOST = 50;

	/** Seconds after which a run starts no further request. */
	const LONGEST = 20;

	/** Seconds until the next attempt, by the number of attempts. */
	const PAUSES = array( 60, 300, 900, 3600, 10800, 21600, 43200 );

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	public static function pause( int $attempts ): int {
		return self::PAUSES[ min( $attempts, count( self::PAUSES ) ) - 1 ];
	}

	/** @return int How many were delivered. */
	public function send_due(): int {
		if ( 'connected' !== $this->with->status() || ! $this->with->outage->is_over() ) {
			return 0;
		}
		return (int) Lock::run(
			'send',
			120,
			function () {
				return $this->send_batch();
			}
		);
	}

	private function send_batch(): int {
		$delivered   = 0;
		$until       = $this->with->clock->now() + self::LONGEST;
		$credentials = $this->with->credentials->load();
		foreach ( $this->with->queue->due( self::MOST ) as $row ) {
			if ( $this->with->clock->now() >= $until ) {
				break;
			}
			$answer = $this->with->client->signed_text( $credentials, 'POST', '/webhook', $row->payload, array( 'submission_id', 'status' ) );
			if ( $answer->ok() ) {
				$this->with->queue->remove( (int) $row->id );
				++$delivered;
			} elseif ( ! $this->goes_on_after( $answer, $row ) ) {
				break;
			}
		}
		return $delivered;
	}

	/** Returns whether to continue with the next submission. */
	private function goes_on_after( Answer $answer, object $row ): bool {
		if ( in_array( $answer->code, array( 'request.invalid', 'request.malformed_json', 'request.too_large' ), true ) ) {
			$this->with->queue->refuse( (int) $row->id, $answer->message );
			return true;
		}
		$attempts = (int) $row->attempts + 1;
		if ( $answer->is( 'destination_refused' ) || $answer->is( 'destination_unreachable' ) ) {
			$this->with->queue->later( (int) $row->id, $attempts, max( self::pause( $attempts ), $answer->retry_after ), $answer->message );
			return $answer->is( 'destination_refused' );
		}
		if ( $answer->is( 'confirmation_needed' ) || $answer->is( 'no_destination' ) ) {
			$this->with->queue->all_later( HOUR_IN_SECONDS, $answer->message );
		}
		if ( $answer->is_outage() ) {
			// A firewall may block only this submission, so others go first next time.
			$this->with->queue->later( (int) $row->id, $attempts, 0, $answer->message );
		}
		// Other errors concern the site or the service and not this submission.
		return false;
	}
}
