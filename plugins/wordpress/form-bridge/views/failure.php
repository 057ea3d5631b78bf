<?php
/**
 * Why the site could not be connected, for each method, and how to prove the address manually.
 *
 * @var FormBridge\Services                                         $services
 * @var array{code: string, message: string, attempts: array}       $failure
 */

use FormBridge\Admin\SettingsPage;
use FormBridge\Admin\StatusTexts;
use FormBridge\Connector;

defined( 'ABSPATH' ) || exit;

$pending = $services->registration->pending();
?>
<div class="notice notice-error inline"><p><?php echo esc_html( $failure['message'] ); ?></p></div>
<?php if ( array() !== $failure['attempts'] ) : ?>
	<table class="widefat striped form-bridge-attempts">
		<caption class="screen-reader-text"><?php esc_html_e( 'Methods that the service tried', 'form-bridge' ); ?></caption>
		<thead><tr>
			<th scope="col"><?php esc_html_e( 'Method', 'form-bridge' ); ?></th>
			<th scope="col"><?php esc_html_e( 'Result', 'form-bridge' ); ?></th>
		</tr></thead>
		<tbody>
		<?php foreach ( $failure['attempts'] as $attempt ) : ?>
			<tr>
				<th scope="row"><?php echo esc_html( StatusTexts::method( (string) ( $attempt['method'] ?? '' ) ) ); ?></th>
				<td><?php echo esc_html( (string) ( $attempt['message'] ?? $attempt['result'] ?? '' ) ); ?></td>
			</tr>
		<?php endforeach; ?>
		</tbody>
	</table>
<?php endif; ?>
<?php if ( null !== $pending && isset( $pending['proofs']['dns'] ) && array() !== $failure['attempts'] ) : ?>
	<details class="form-bridge-more">
		<summary><?php esc_html_e( 'Prove the address in another way', 'form-bridge' ); ?></summary>
		<p><?php esc_html_e( 'Publish one of these, then try again. They are not secret.', 'form-bridge' ); ?></p>
		<dl>
			<dt><?php esc_html_e( 'DNS record (TXT)', 'form-bridge' ); ?></dt>
			<dd><code><?php echo esc_html( (string) $pending['proofs']['dns']['name'] ); ?></code> <code><?php echo esc_html( (string) $pending['proofs']['dns']['value'] ); ?></code></dd>
			<dt><?php esc_html_e( 'File', 'form-bridge' ); ?></dt>
			<dd><code><?php echo esc_html( (string) ( $pending['proofs']['well_known']['url'] ?? '' ) ); ?></code> <code><?php echo esc_html( (string) ( $pending['proofs']['well_known']['content'] ?? '' ) ); ?></code></dd>
		</dl>
	</details>
<?php endif; ?>
<div class="form-bridge-buttons">
	<?php SettingsPage::button( 'retry', __( 'Try again', 'form-bridge' ), 'button-primary' ); ?>
	<?php
	if ( $services->connector->has_domain_conflict() ) {
		SettingsPage::button( 'connect', __( 'Reconnect the site at this address', 'form-bridge' ), '', array( 'purpose' => Connector::CONNECT ) );
	}
	SettingsPage::button( 'cancel', __( 'Cancel', 'form-bridge' ) );
	?>
</div>
