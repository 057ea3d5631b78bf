<?php
/**
 * Key rotation and disconnecting.
 *
 * @var FormBridge\Services $services
 * @var string              $status
 */

use FormBridge\Admin\SettingsPage;

defined( 'ABSPATH' ) || exit;
?>
<h2><?php esc_html_e( 'Keys', 'form-bridge' ); ?></h2>
<?php if ( $services->credentials->are_in_config() ) : ?>
	<p><?php esc_html_e( 'The keys of this site are in wp-config.php. To rotate them, run “wp form-bridge rotate”, which prints the new keys.', 'form-bridge' ); ?></p>
<?php elseif ( 'connected' === $status ) : ?>
	<p><?php esc_html_e( 'New keys replace the current ones. The old keys keep working for one day.', 'form-bridge' ); ?></p>
	<?php SettingsPage::button( 'rotate', __( 'Rotate keys', 'form-bridge' ) ); ?>
<?php endif; ?>
<details class="form-bridge-more">
	<summary><?php esc_html_e( 'Disconnect this site', 'form-bridge' ); ?></summary>
	<?php if ( 'moved' === $status ) : ?>
		<p><?php esc_html_e( 'The copied keys are deleted here. The site that they belong to stays connected.', 'form-bridge' ); ?></p>
	<?php else : ?>
		<p><?php esc_html_e( 'The keys stop working permanently. If you connect again later, the service treats this as a new site. Waiting submissions are kept here.', 'form-bridge' ); ?></p>
	<?php endif; ?>
	<?php SettingsPage::button( 'disconnect', __( 'Disconnect', 'form-bridge' ), 'button-link-delete' ); ?>
</details>
