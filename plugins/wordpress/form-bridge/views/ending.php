<?php
/**
 * New keys, and the end of the connection.
 *
 * @var FormBridge\Services $with
 * @var string              $status
 */

use FormBridge\Admin\Page;

defined( 'ABSPATH' ) || exit;
?>
<h2><?php esc_html_e( 'Keys', 'form-bridge' ); ?></h2>
<?php if ( $with->credentials->are_constants() ) : ?>
	<p><?php esc_html_e( 'The keys of this site are in wp-config.php: “wp form-bridge rotate” makes new ones and shows them.', 'form-bridge' ); ?></p>
<?php elseif ( 'connected' === $status ) : ?>
	<p><?php esc_html_e( 'New keys replace the old ones, which work for another day.', 'form-bridge' ); ?></p>
	<?php Page::button( 'rotate', __( 'Make new keys', 'form-bridge' ) ); ?>
<?php endif; ?>
<details class="form-bridge-more">
	<summary><?php esc_html_e( 'Disconnect this site', 'form-bridge' ); ?></summary>
	<?php if ( 'moved' === $status ) : ?>
		<p><?php esc_html_e( 'The keys that were copied here are forgotten. The site that they belong to stays connected.', 'form-bridge' ); ?></p>
	<?php else : ?>
		<p><?php esc_html_e( 'The keys end for ever. Connecting again later makes this a new site at the service. Waiting submissions stay here.', 'form-bridge' ); ?></p>
	<?php endif; ?>
	<?php Page::button( 'disconnect', __( 'Disconnect', 'form-bridge' ), 'button-link-delete' ); ?>
</details>
