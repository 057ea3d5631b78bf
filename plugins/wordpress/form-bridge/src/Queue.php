<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Undelivered submissions, in their own table: they survive outages, full caches and restarts. Only
 * delivery or the owner removes them.
 */
final class Queue {

	/** Cron hook that sends due submissions. */
	const HOOK = 'form_bridge_send';

	/** The maximum delay of a retry in seconds. */
	const LONGEST = DAY_IN_SECONDS;

	/** The version of the table. */
	const SCHEMA = 'form_bridge_schema';

	/** @var Clock */
	private $clock;

	public function __construct( Clock $clock ) {
		$this->clock = $clock;
	}

	/** Not only on activation, because an update or a new site of a network does not activate the plugin. */
	public function prepare(): void {
		if ( '1' === get_option( self::SCHEMA ) ) {
			return;
		}
		global $wpdb;
		require_once ABSPATH . 'wp-admin/includes/upgrade.php';
		$collate = $wpdb->get_charset_collate();
		dbDelta(
			"CREATE TABLE {$this->table()} (
			id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
			submission_id varchar(64) NOT NULL,
			home varchar(255) NOT NULL,
			payload longtext NOT NULL,
			attempts int(11) NOT NULL DEFAULT 0,
			due_at bigint(20) NOT NULL,
			refused tinyint(1) NOT NULL DEFAULT 0,
			complaint text NOT NULL,
			PRIMARY KEY  (id),
			UNIQUE KEY submission_id (submission_id),
			KEY due (refused,due_at)
			) $collate;"
		);
		update_option( self::SCHEMA, '1', true );
	}

	public function add( Submission $submission ): void {
		if ( ! $this->insert( $submission ) ) {
			// The table may be missing, for example after a partial restore.
			delete_option( self::SCHEMA );
			$this->prepare();
			if ( ! $this->insert( $submission ) ) {
				$this->not_kept( $submission );
			}
		}
		$this->send_soon();
	}

	/** Reports a submission that could not be stored. */
	private function not_kept( Submission $submission ): void {
		// phpcs:ignore WordPress.PHP.DevelopmentFunctions -- for the administrator of the server.
		error_log( 'Form-Bridge: the database did not store a submission. It is lost unless the action form_bridge_not_kept stores it.' );
		/**
		 * A submission that the database did not store.
		 *
		 * @param string $json As it would have been sent.
		 */
		do_action( 'form_bridge_not_kept', $submission->json() );
	}

	private function insert( Submission $submission ): bool {
		global $wpdb;
		$payload   = $submission->json();
		$too_large = strlen( $payload ) > Submission::LARGEST;
		$kept      = $wpdb->insert(
			$this->table(),
			array(
				'submission_id' => $submission->id,
				'home'          => Home::mark(),
				'payload'       => $payload,
				'due_at'        => $this->clock->now(),
				'refused'       => $too_large ? 1 : 0,
				'complaint'     => $too_large ? __( 'The submission is too large.', 'form-bridge' ) : '',
			)
		);
		return 1 === $kept;
	}

	public function send_soon(): void {
		if ( ! wp_next_scheduled( self::HOOK, array( 'soon' ) ) ) {
			wp_schedule_single_event( $this->clock->now(), self::HOOK, array( 'soon' ) );
		}
	}

	/**
	 * A submission that is due later than the maximum delay was stored before the clock was set back, and
	 * counts as due.
	 *
	 * @return object[] Those with the fewest attempts first, and of these the oldest first.
	 */
	public function due( int $most ): array {
		global $wpdb;
		$now = $this->clock->now();
		return (array) $wpdb->get_results(
			$wpdb->prepare( "SELECT * FROM {$this->table()} WHERE refused = 0 AND ( due_at <= %d OR due_at > %d ) ORDER BY attempts, id LIMIT %d", $now, $now + self::LONGEST, $most )
		);
	}

	public function remove( int $id ): void {
		global $wpdb;
		$wpdb->delete( $this->table(), array( 'id' => $id ) );
	}

	public function later( int $id, int $attempts, int $seconds, string $complaint ): void {
		$this->change(
			$id,
			array(
				'attempts'  => $attempts,
				'due_at'    => $this->clock->now() + min( $seconds, self::LONGEST ),
				'complaint' => $complaint,
			)
		);
	}

	/** Delays all submissions while the service cannot accept any. */
	public function all_later( int $seconds, string $complaint ): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "UPDATE {$this->table()} SET due_at = %d, complaint = %s WHERE refused = 0", $this->clock->now() + $seconds, $complaint ) );
	}

	/** The service will never accept it. It is kept for the owner. */
	public function refuse( int $id, string $complaint ): void {
		$this->change(
			$id,
			array(
				'refused'   => 1,
				'complaint' => $complaint,
			)
		);
	}

	/** Makes all submissions due now, including rejected ones. */
	public function retry_all(): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "UPDATE {$this->table()} SET refused = 0, attempts = 0, due_at = %d", $this->clock->now() ) );
		$this->send_soon();
	}

	public function delete_refused(): void {
		global $wpdb;
		$wpdb->delete( $this->table(), array( 'refused' => 1 ) );
	}

	public function drop_those_from_elsewhere(): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$this->table()} WHERE home <> %s", Home::mark() ) );
	}

	/** @return array{waiting: int, refused: int, complaint: string} */
	public function figures(): array {
		global $wpdb;
		return array(
			'waiting'   => (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$this->table()} WHERE refused = 0" ),
			'refused'   => (int) $wpdb->get_var( "SELECT COUNT(*) FROM {$this->table()} WHERE refused = 1" ),
			'complaint' => (string) $wpdb->get_var( "SELECT complaint FROM {$this->table()} WHERE complaint <> '' ORDER BY id DESC LIMIT 1" ),
		);
	}

	/**
	 * Drops the table with a site of a network, so that personal data does not outlive the site.
	 *
	 * @param string[] $tables
	 * @return string[]
	 */
	public function add_table( array $tables ): array {
		$tables[] = $this->table();
		return $tables;
	}

	public function destroy(): void {
		global $wpdb;
		$wpdb->query( "DROP TABLE IF EXISTS {$this->table()}" );
		delete_option( self::SCHEMA );
	}

	private function change( int $id, array $changes ): void {
		global $wpdb;
		$wpdb->update( $this->table(), $changes, array( 'id' => $id ) );
	}

	private function table(): string {
		global $wpdb;
		return $wpdb->prefix . 'form_bridge_queue';
	}
}
