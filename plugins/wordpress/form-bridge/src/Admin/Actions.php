<?php
namespace FormBridge\Admin;

use FormBridge\Environment;
use FormBridge\Heartbeat;
use FormBridge\Response;
use FormBridge\Sender;
use FormBridge\Services;
use FormBridge\SiteService;

defined( 'ABSPATH' ) || exit;

/** The actions of the settings page. Each needs the capability manage_options and its own nonce. */
final class Actions {

	const ACTION = 'form_bridge';

	/** How long the old keys keep working after a rotation on this page, in seconds. */
	const GRACE = 86400;

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'admin_post_' . self::ACTION, array( $this, 'handle' ) );
	}

	public function handle(): void {
		$do = sanitize_key( $_POST['do'] ?? '' );
		if ( ! current_user_can( 'manage_options' ) ) {
			wp_die( esc_html__( 'You are not allowed to manage Form-Bridge.', 'form-bridge' ), '', array( 'response' => 403 ) );
		}
		check_admin_referer( "form_bridge_$do" );
		$method = "do_$do";
		if ( method_exists( $this, $method ) ) {
			$this->$method();
		}
		wp_safe_redirect( SettingsPage::url() );
		exit;
	}

	/** Shows the result of the last action of this user. */
	public static function print_outcome(): void {
		$key     = self::outcome_key();
		$outcome = get_transient( $key );
		if ( ! is_array( $outcome ) ) {
			return;
		}
		delete_transient( $key );
		printf( '<div class="notice notice-%s is-dismissible" role="status"><p>%s</p></div>', esc_attr( $outcome[0] ), esc_html( $outcome[1] ) );
	}

	private function do_connect(): void {
		$purpose = sanitize_key( $_POST['purpose'] ?? '' );
		$token   = sanitize_text_field( wp_unslash( $_POST['join_token'] ?? '' ) );
		if ( in_array( $purpose, $this->services->connector->purposes(), true ) ) {
			$this->services->connector->start( $purpose, $token );
		}
	}

	private function do_retry(): void {
		$this->services->connector->retry();
	}

	private function do_cancel(): void {
		$this->services->connector->cancel();
	}

	private function do_check(): void {
		$credentials = $this->services->credentials->load();
		if ( null === $credentials ) {
			return;
		}
		$response = $this->services->client->send_signed( $credentials, 'GET', '/site', null, array( 'status' ) );
		if ( $response->ok() && 'suspended' === $response->body['status'] ) {
			self::save_outcome( 'warning', __( 'The service recognizes this site, but its operator has suspended it. Submissions are kept here and sent when the suspension ends. Ask the operator of the service to resume the site.', 'form-bridge' ) );
		} else {
			$this->report( $response, __( 'The service recognizes this site.', 'form-bridge' ) );
		}
		Heartbeat::schedule_soon();
	}

	private function do_rotate(): void {
		if ( $this->services->credentials->are_in_config() ) {
			return;
		}
		$response = ( new SiteService( $this->services ) )->rotate_keys( self::GRACE );
		$this->report( $response, __( 'The keys were rotated. The old keys keep working for one day.', 'form-bridge' ) );
	}

	private function do_disconnect(): void {
		$response = ( new SiteService( $this->services ) )->disconnect();
		$this->report( $response, __( 'The site was disconnected.', 'form-bridge' ) );
	}

	private function do_send(): void {
		$this->services->queue->retry_all();
		$sent  = ( new Sender( $this->services ) )->send_due();
		$stats = $this->services->queue->stats();
		$left  = $stats['waiting'] + $stats['refused'];
		/* translators: %d: a number of submissions. */
		$delivered = sprintf( _n( '%d submission was delivered.', '%d submissions were delivered.', $sent, 'form-bridge' ), $sent );
		if ( 0 === $left ) {
			0 === $sent ? self::save_outcome( 'info', __( 'No submissions were waiting.', 'form-bridge' ) ) : self::save_outcome( 'success', $delivered );
			return;
		}
		/* translators: %d: a number of submissions. */
		$undelivered = sprintf( _n( '%d submission was not delivered and is kept.', '%d submissions were not delivered and are kept.', $left, 'form-bridge' ), $left );
		$reason      = $this->services->state->lacks_destination() ? self::no_destination() : $stats['complaint'];
		self::save_outcome( 0 === $sent ? 'error' : 'warning', trim( ( 0 === $sent ? '' : "$delivered " ) . "$undelivered $reason" ) );
	}

	/** Sends a submission without the queue, so that the result is known now. */
	private function do_test(): void {
		$credentials = $this->services->credentials->load();
		if ( null === $credentials ) {
			return;
		}
		$response = ( new Sender( $this->services ) )->send_test( $credentials );
		if ( ! $response->ok() ) {
			$reason = $response->is( 'no_destination' ) ? self::no_destination() : $response->message;
			self::save_outcome( 'error', __( 'The test submission was not delivered.', 'form-bridge' ) . ' ' . $reason );
		} else {
			self::save_outcome( 'success', __( 'The destination accepted the test submission.', 'form-bridge' ) );
			// Submissions that wait for a destination need not wait any longer.
			$this->services->queue->schedule_send();
		}
	}

	private static function no_destination(): string {
		return __( 'The service has no destination for the submissions of this site. See below what to do.', 'form-bridge' );
	}

	private function do_forms(): void {
		$shown = array_map( 'sanitize_text_field', wp_unslash( (array) ( $_POST['shown'] ?? array() ) ) );
		$on    = array_map( 'sanitize_text_field', wp_unslash( (array) ( $_POST['on'] ?? array() ) ) );
		$this->services->forms->switch_forms(
			array_combine(
				$shown,
				array_map(
					static function ( string $id ) use ( $on ): bool {
						return in_array( $id, $on, true );
					},
					$shown
				)
			)
		);
		self::save_outcome( 'success', __( 'Forms saved.', 'form-bridge' ) );
	}

	private function do_clear_files(): void {
		$this->services->refused_files->delete();
	}

	private function do_delete(): void {
		$this->services->queue->delete_rejected();
		self::save_outcome( 'success', __( 'The rejected submissions were deleted.', 'form-bridge' ) );
	}

	private function do_settings(): void {
		$kind    = sanitize_key( $_POST['environment'] ?? '' );
		$changes = array(
			'environment' => in_array( $kind, Environment::KINDS, true ) ? $kind : 'automatic',
			'comments'    => ! empty( $_POST['comments'] ),
			'telemetry'   => ! empty( $_POST['telemetry'] ),
			'admin_email' => ! empty( $_POST['admin_email'] ),
		);
		if ( $this->services->settings->is_service_url_editable() ) {
			$url                    = sanitize_text_field( wp_unslash( $_POST['service_url'] ?? '' ) );
			$changes['service_url'] = esc_url_raw( $url, array( 'https', 'http' ) );
		}
		$this->services->settings->update( $changes );
		self::save_outcome( 'success', __( 'Settings saved.', 'form-bridge' ) );
	}

	private function report( Response $response, string $success ): void {
		$response->ok() ? self::save_outcome( 'success', $success ) : self::save_outcome( 'error', $response->message );
	}

	public static function save_outcome( string $kind, string $text ): void {
		set_transient( self::outcome_key(), array( $kind, $text ), 5 * MINUTE_IN_SECONDS );
	}

	private static function outcome_key(): string {
		return 'form_bridge_outcome_' . get_current_user_id();
	}
}
