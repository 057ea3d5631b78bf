<?php
/**
 * Waiting and rejected submissions.
 *
 * @var FormBridge\Services $services
 * @var string              $status
 */

use FormBridge\Admin\SettingsPage;

defined( 'ABSPATH' ) || exit;

$stats = $services->queue->stats();
?>
<h2><?php esc_html_e( 'Submissions', 'form-bridge' ); ?></h2>
<?php if ( 0 === $stats['waiting'] + $stats['refused'] ) : ?>
	<p><?php esc_html_e( 'No submissions are waiting to be delivered.', 'form-bridge' ); ?></p>
<?php else : ?>
	<p>
		<?php
		/* translators: %d: a number of submissions. */
		echo esc_html( sprintf( _n( '%d submission is waiting to be delivered.', '%d submissions are waiting to be delivered.', $stats['waiting'], 'form-bridge' ), $stats['waiting'] ) );
		if ( $stats['refused'] > 0 ) {
			/* translators: %d: a number of submissions. */
			echo ' ' . esc_html( sprintf( _n( '%d was rejected and is kept.', '%d were rejected and are kept.', $stats['refused'], 'form-bridge' ), $stats['refused'] ) );
		}
		?>
	</p>
	<?php if ( '' !== $stats['complaint'] ) : ?>
		<p><?php esc_html_e( 'The last response was:', 'form-bridge' ); ?> <?php echo esc_html( $stats['complaint'] ); ?></p>
	<?php endif; ?>
	<div class="form-bridge-buttons">
		<?php
		if ( 'connected' === $status ) {
			SettingsPage::button( 'send', __( 'Send now', 'form-bridge' ) );
		}
		if ( $stats['refused'] > 0 ) {
			SettingsPage::button( 'delete', __( 'Delete rejected submissions', 'form-bridge' ), 'button-link-delete' );
		}
		?>
	</div>
<?php endif; ?>
<?php if ( 'connected' === $status ) : ?>
	<h3><?php esc_html_e( 'Destination', 'form-bridge' ); ?></h3>
	<p>
		<?php
		/* translators: %s: the id of the site at the service. */
		echo esc_html( sprintf( __( 'The service forwards submissions to a destination: a URL that the operator of the service or your agency sets for the site %s. A test submission shows whether it arrives there.', 'form-bridge' ), $services->credentials->load()->site_id ) );
		?>
	</p>
	<div class="form-bridge-buttons"><?php SettingsPage::button( 'test', __( 'Send a test submission', 'form-bridge' ) ); ?></div>
<?php endif; ?>
