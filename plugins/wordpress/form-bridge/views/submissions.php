<?php
/**
 * Waiting and rejected submissions.
 *
 * @var FormBridge\Services $with
 * @var string              $status
 */

use FormBridge\Admin\Page;

defined( 'ABSPATH' ) || exit;

$figures = $with->queue->figures();
?>
<h2><?php esc_html_e( 'Submissions', 'form-bridge' ); ?></h2>
<?php if ( 0 === $figures['waiting'] + $figures['refused'] ) : ?>
	<p><?php esc_html_e( 'No submissions are waiting to be delivered.', 'form-bridge' ); ?></p>
<?php else : ?>
	<p>
		<?php
		/* translators: %d: a number of submissions. */
		echo esc_html( sprintf( _n( '%d submission is waiting to be delivered.', '%d submissions are waiting to be delivered.', $figures['waiting'], 'form-bridge' ), $figures['waiting'] ) );
		if ( $figures['refused'] > 0 ) {
			/* translators: %d: a number of submissions. */
			echo ' ' . esc_html( sprintf( _n( '%d was rejected and is kept.', '%d were rejected and are kept.', $figures['refused'], 'form-bridge' ), $figures['refused'] ) );
		}
		?>
	</p>
	<?php if ( '' !== $figures['complaint'] ) : ?>
		<p><?php esc_html_e( 'The last response was:', 'form-bridge' ); ?> <?php echo esc_html( $figures['complaint'] ); ?></p>
	<?php endif; ?>
	<div class="form-bridge-buttons">
		<?php
		if ( 'connected' === $status ) {
			Page::button( 'send', __( 'Send now', 'form-bridge' ) );
		}
		if ( $figures['refused'] > 0 ) {
			Page::button( 'delete', __( 'Delete rejected submissions', 'form-bridge' ), 'button-link-delete' );
		}
		?>
	</div>
<?php endif; ?>
