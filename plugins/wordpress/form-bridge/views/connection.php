<?php
/**
 * The status of the connection and the next step.
 *
 * @var FormBridge\Services          $services
 * @var string                       $status
 * @var FormBridge\Admin\StatusTexts $texts
 */

use FormBridge\Admin\ConnectEndpoint;
use FormBridge\Admin\SettingsPage;
use FormBridge\Connector;

defined( 'ABSPATH' ) || exit;

list( $kind, $status_title, $explanation ) = $texts->describe( $status );

$failure = $services->connector->failure();
$icons   = array(
	'good' => 'yes-alt',
	'wait' => 'update',
	'bad'  => 'warning',
	'none' => 'marker',
);
?>
<h2><?php esc_html_e( 'Connection', 'form-bridge' ); ?></h2>
<div class="form-bridge-status form-bridge-status--<?php echo esc_attr( $kind ); ?>" aria-live="polite"
	<?php if ( $services->connector->is_running() ) : ?>
	data-next-step="<?php echo esc_url( ConnectEndpoint::url() ); ?>"
	<?php endif; ?>>
	<p class="form-bridge-status__title"><span class="dashicons dashicons-<?php echo esc_attr( $icons[ $kind ] ); ?>" aria-hidden="true"></span> <strong><?php echo esc_html( $status_title ); ?></strong></p>
	<p><?php echo esc_html( $explanation ); ?></p>
</div>

<?php if ( $services->connector->is_running() ) : ?>
	<noscript><meta http-equiv="refresh" content="5"></noscript>
	<?php SettingsPage::button( 'cancel', __( 'Cancel', 'form-bridge' ) ); ?>
<?php elseif ( array() === $services->connector->purposes() && in_array( $status, array( 'moved', 'rejected' ), true ) ) : ?>
	<p><?php esc_html_e( 'The keys of this site are in wp-config.php or in the environment of the server. Replace them there, or remove them and connect the site here.', 'form-bridge' ); ?></p>
<?php elseif ( null !== $failure ) : ?>
	<?php require __DIR__ . '/failure.php'; ?>
<?php elseif ( 'moved' === $status ) : ?>
	<?php require __DIR__ . '/address-change.php'; ?>
<?php elseif ( '' === $services->settings->service_url() ) : ?>
	<p><?php esc_html_e( 'First enter the URL of your service below.', 'form-bridge' ); ?></p>
<?php elseif ( 'not_connected' === $status ) : ?>
	<?php SettingsPage::open_form( 'connect' ); ?>
		<input type="hidden" name="purpose" value="<?php echo esc_attr( Connector::CONNECT ); ?>">
		<?php if ( '' === $services->settings->join_token() ) : ?>
		<details class="form-bridge-more">
			<summary><?php esc_html_e( 'I have an agency join token', 'form-bridge' ); ?></summary>
			<p>
				<label for="form-bridge-join-token"><?php esc_html_e( 'Join token', 'form-bridge' ); ?></label><br>
				<input type="text" class="regular-text code" id="form-bridge-join-token" name="join_token" autocomplete="off" spellcheck="false">
			</p>
		</details>
		<?php endif; ?>
		<p><button type="submit" class="button button-primary"><?php esc_html_e( 'Connect', 'form-bridge' ); ?></button></p>
	</form>
<?php elseif ( 'rejected' === $status || 'unreadable' === $status ) : ?>
	<?php SettingsPage::button( 'connect', __( 'Reconnect', 'form-bridge' ), 'button-primary', array( 'purpose' => Connector::CONNECT ) ); ?>
<?php else : ?>
	<?php SettingsPage::button( 'check', __( 'Check now', 'form-bridge' ) ); ?>
<?php endif; ?>
