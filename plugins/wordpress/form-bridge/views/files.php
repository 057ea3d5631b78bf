<?php
/**
 * Uploaded files that were not sent.
 *
 * @var FormBridge\Services $services
 */

use FormBridge\Admin\SettingsPage;
use FormBridge\Admin\StatusTexts;

defined( 'ABSPATH' ) || exit;

$refused = array_reverse( $services->refused_files->all() );
?>
<?php if ( array() !== $refused ) : ?>
	<h3 id="form-bridge-files"><?php esc_html_e( 'Uploaded files that were not sent', 'form-bridge' ); ?></h3>
	<p><?php esc_html_e( 'The other fields of these submissions were sent, with the names of the files. Look for the files in the form plugin.', 'form-bridge' ); ?></p>
	<table class="widefat striped form-bridge-attempts form-bridge-files" aria-labelledby="form-bridge-files">
		<thead><tr>
			<th scope="col"><?php esc_html_e( 'Form', 'form-bridge' ); ?></th>
			<th scope="col"><?php esc_html_e( 'Field', 'form-bridge' ); ?></th>
			<th scope="col"><?php esc_html_e( 'Submitted', 'form-bridge' ); ?></th>
			<th scope="col"><?php esc_html_e( 'Reason', 'form-bridge' ); ?></th>
		</tr></thead>
		<tbody>
		<?php foreach ( $refused as $file ) : ?>
			<tr>
				<td><?php echo esc_html( $file['form'] ); ?></td>
				<td><?php echo esc_html( $file['field'] ); ?></td>
				<td><?php echo esc_html( StatusTexts::ago( (int) $file['at'], $services->clock->now() ) ); ?></td>
				<td><?php echo esc_html( StatusTexts::refused_file( $file ) ); ?></td>
			</tr>
		<?php endforeach; ?>
		</tbody>
	</table>
	<div class="form-bridge-buttons"><?php SettingsPage::button( 'clear_files', __( 'Clear this list', 'form-bridge' ) ); ?></div>
<?php endif; ?>
