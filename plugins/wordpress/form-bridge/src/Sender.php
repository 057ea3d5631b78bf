<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Sends the queue to the service in the background and handles each response. */
final class Sender {

	/** Submissions per run. */
	const MAX_BATCH = 50;

	/** Seconds after which a run starts no further request. */
	const MAX_SECONDS = 20;

	/** Seconds until the next attempt, by the number of attempts. */
	const DELAYS = array( 60, 300, 900, 3600, 10800, 21600, 43200 );

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public static function delay( int $attempts ): int {
		return self::DELAYS[ min( $attempts, count( self::DELAYS ) ) - 1 ];
	}

	/** @return int How many were delivered. */
	public function send_due(): int {
		if ( 'connected' !== $this->services->status() || ! $this->services->backoff->is_over() ) {
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

	/** Sends the whole queue, including what is not due, for at most MAX_SECONDS. */
	public function send_all(): void {
		$stats = $this->services->queue->has_table() ? $this->services->queue->stats() : array( 'waiting' => 0 );
		if ( 0 === $stats['waiting'] ) {
			return;
		}
		$this->services->queue->retry_all();
		$until = $this->services->clock->now() + self::MAX_SECONDS;
		while ( $this->send_due() > 0 && $this->services->clock->now() < $until ) {
			continue;
		}
	}

	/** Sends a test submission, without the queue. */
	public function send_test( Credentials $credentials ): Response {
		$fields  = array(
			'message' => __( 'This is a test submission from the settings page of Form-Bridge.', 'form-bridge' ),
			'test'    => true,
		);
		$context = array(
			'form_name' => __( 'Test submission', 'form-bridge' ),
			'page_url'  => home_url( '/' ),
		);
		$test    = Submission::create( 'form-bridge:test', $fields, $context, $this->services->clock->now() );
		return $this->services->client->send_signed_json( $credentials, 'POST', '/webhook', $test->json(), array( 'submission_id', 'status' ) );
	}

	private function send_batch(): int {
		$delivered   = 0;
		$until       = $this->services->clock->now() + self::MAX_SECONDS;
		$credentials = $this->services->credentials->load();
		foreach ( $this->services->queue->due( self::MAX_BATCH ) as $row ) {
			if ( $this->services->clock->now() >= $until ) {
				break;
			}
			$response = $this->services->client->send_signed_json( $credentials, 'POST', '/webhook', $row->payload, array( 'submission_id', 'status' ) );
			if ( $response->ok() ) {
				$this->services->queue->remove( (int) $row->id );
				++$delivered;
			} elseif ( self::is_too_large( $response ) && self::has_file_contents( $row ) ) {
				$this->services->queue->remove_file_contents( $row );
				$this->services->queue->schedule_send();
			} elseif ( ! $this->handle_failure( $response, $row ) ) {
				break;
			}
		}
		return $delivered;
	}

	private static function is_too_large( Response $response ): bool {
		return 'request.too_large' === $response->code || ( $response->is( 'destination_refused' ) && 413 === (int) ( $response->data['destination_status'] ?? 0 ) );
	}

	private static function has_file_contents( object $row ): bool {
		$content = json_decode( $row->payload, true );
		return array() !== array_filter( array_column( (array) ( $content['files'] ?? array() ), 'content' ) );
	}

	/** Returns whether to continue with the next submission. */
	private function handle_failure( Response $response, object $row ): bool {
		if ( in_array( $response->code, array( 'request.invalid', 'request.malformed_json', 'request.too_large' ), true ) ) {
			$this->services->queue->reject( (int) $row->id, $response->message );
			return true;
		}
		$attempts = (int) $row->attempts + 1;
		if ( $response->is( 'destination_refused' ) || $response->is( 'destination_unreachable' ) ) {
			$this->services->queue->retry_later( (int) $row->id, $attempts, max( self::delay( $attempts ), $response->retry_after ), $response->message );
			return $response->is( 'destination_refused' );
		}
		if ( $response->is( 'confirmation_needed' ) || $response->is( 'no_destination' ) ) {
			$this->services->queue->delay_all( HOUR_IN_SECONDS, $response->message );
		}
		if ( $response->is_outage() ) {
			// A firewall may block only this submission, so others go first next time.
			$this->services->queue->retry_later( (int) $row->id, $attempts, 0, $response->message );
		}
		// Other errors concern the site or the service and not this submission.
		return false;
	}
}
