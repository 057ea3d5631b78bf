<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Undelivered submissions, in their own table: they survive outages, full caches and restarts. Only
 * delivery or the owner removes them.
 */
final class Queue {

	/** The cron hook that sends due submissions. */
	const HOOK = 'form_bridge_send';

	/** The maximum delay of a retry in seconds. */
	const MAX_DELAY = DAY_IN_SECONDS;

	/** Option with the version of the table. */
	const SCHEMA_OPTION = 'form_bridge_schema';

	/** @var Clock */
	private $clock;

	/** @var RefusedFiles */
	private $refused_files;

	public function __construct( Clock $clock, RefusedFiles $refused_files ) {
		$this->clock         = $clock;
		$this->refused_files = $refused_files;
	}

	/** Runs on every request and not only on activation, because an update or a new site of a network does not activate the plugin. */
	public function create_table(): void {
		if ( $this->has_table() ) {
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
		update_option( self::SCHEMA_OPTION, '1', true );
	}

	public function has_table(): bool {
		return '1' === get_option( self::SCHEMA_OPTION );
	}

	public function add( Submission $submission ): void {
		$stored = $this->insert_or_repair( $submission );
		if ( ! $stored && array() !== $submission->files() ) {
			// The database may accept only smaller queries (max_allowed_packet).
			$submission = $submission->without_file_contents( 'not_stored' );
			$stored     = $this->insert_or_repair( $submission );
		}
		if ( ! $stored ) {
			$this->report_not_stored( $submission );
		}
		$this->refused_files->add( $submission->form_name(), $submission->files() );
		$this->schedule_send();
	}

	private function insert_or_repair( Submission $submission ): bool {
		if ( $this->insert( $submission ) ) {
			return true;
		}
		// The table may be missing, for example after a partial restore.
		delete_option( self::SCHEMA_OPTION );
		$this->create_table();
		return $this->insert( $submission );
	}

	/** Reports a submission that could not be stored. */
	private function report_not_stored( Submission $submission ): void {
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
		$too_large = $submission->is_too_large();
		$inserted  = $wpdb->insert(
			$this->table(),
			array(
				'submission_id' => $submission->id,
				'home'          => SiteAddress::hash(),
				'payload'       => $payload,
				'due_at'        => $this->clock->now(),
				'refused'       => $too_large ? 1 : 0,
				'complaint'     => $too_large ? __( 'The submission is too large.', 'form-bridge' ) : '',
			)
		);
		return 1 === $inserted;
	}

	public function schedule_send(): void {
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
	public function due( int $limit ): array {
		global $wpdb;
		$now = $this->clock->now();
		return (array) $wpdb->get_results(
			$wpdb->prepare( "SELECT * FROM {$this->table()} WHERE refused = 0 AND ( due_at <= %d OR due_at > %d ) ORDER BY attempts, id LIMIT %d", $now, $now + self::MAX_DELAY, $limit )
		);
	}

	public function remove( int $id ): void {
		global $wpdb;
		$wpdb->delete( $this->table(), array( 'id' => $id ) );
	}

	public function retry_later( int $id, int $attempts, int $seconds, string $complaint ): void {
		$this->update(
			$id,
			array(
				'attempts'  => $attempts,
				'due_at'    => $this->clock->now() + min( $seconds, self::MAX_DELAY ),
				'complaint' => $complaint,
			)
		);
	}

	/** Sends a submission without the contents of its files next, because the destination does not accept them. */
	public function remove_file_contents( object $row ): void {
		$content = json_decode( $row->payload, true );
		// Empty objects would become lists.
		$fields            = json_decode( $row->payload )->fields;
		$content['files']  = SubmissionFiles::without_contents( $content['files'], 'destination_limit' );
		$content['fields'] = $fields;
		$this->refused_files->add( (string) ( $content['form_name'] ?? $content['form_id'] ), $content['files'] );
		$this->update( (int) $row->id, array( 'payload' => (string) wp_json_encode( $content ) ) );
	}

	/** Delays all submissions while the service cannot accept any. */
	public function delay_all( int $seconds, string $complaint ): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "UPDATE {$this->table()} SET due_at = %d, complaint = %s WHERE refused = 0", $this->clock->now() + $seconds, $complaint ) );
	}

	/** The service will never accept it. It is kept for the owner. */
	public function reject( int $id, string $complaint ): void {
		$this->update(
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
		$this->schedule_send();
	}

	public function delete_rejected(): void {
		global $wpdb;
		$wpdb->delete( $this->table(), array( 'refused' => 1 ) );
	}

	public function delete_from_other_addresses(): void {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$this->table()} WHERE home <> %s", SiteAddress::hash() ) );
	}

	/** @return array{waiting: int, refused: int, complaint: string} */
	public function stats(): array {
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

	public function drop_table(): void {
		global $wpdb;
		$wpdb->query( "DROP TABLE IF EXISTS {$this->table()}" );
		delete_option( self::SCHEMA_OPTION );
	}

	private function update( int $id, array $changes ): void {
		global $wpdb;
		$wpdb->update( $this->table(), $changes, array( 'id' => $id ) );
	}

	private function table(): string {
		global $wpdb;
		return $wpdb->prefix . 'form_bridge_queue';
	}
}
