<?php
/**
 * The forms of form plugins, each with a switch and its last submission.
 *
 * @var FormBridge\Services $services
 */

use FormBridge\Admin\SettingsPage;
use FormBridge\Admin\StatusTexts;

defined( 'ABSPATH' ) || exit;

$forms     = $services->forms->all();
$plugins   = $services->forms->active_plugins();
$supported = implode( ', ', $services->forms->supported_plugins() );
?>
<h2 id="form-bridge-forms"><?php esc_html_e( 'Forms', 'form-bridge' ); ?></h2>
<?php if ( array() === $plugins ) : ?>
	<div class="notice notice-warning inline"><p>
		<strong><?php esc_html_e( 'No supported form plugin is active, so no form of this site is sent.', 'form-bridge' ); ?></strong>
		<?php
		/* translators: %s: names of plugins. */
		echo esc_html( sprintf( __( 'Supported are %s. Other forms can call the action form_bridge_submit.', 'form-bridge' ), $supported ) );
		?>
	</p></div>
<?php elseif ( array() === $forms ) : ?>
	<div class="notice notice-warning inline"><p>
		<?php
		/* translators: %s: names of plugins. */
		echo esc_html( sprintf( __( 'No form was found in %s. A form that you create is listed here and sent by default.', 'form-bridge' ), implode( ', ', $plugins ) ) );
		?>
	</p></div>
<?php else : ?>
	<p><?php esc_html_e( 'Submissions of these forms are sent after they passed validation and spam checks. New forms are sent by default.', 'form-bridge' ); ?></p>
	<?php SettingsPage::open_form( 'forms' ); ?>
		<table class="widefat striped form-bridge-forms" aria-labelledby="form-bridge-forms">
			<thead><tr>
				<th scope="col" class="form-bridge-forms__switch"><?php esc_html_e( 'Send', 'form-bridge' ); ?></th>
				<th scope="col"><?php esc_html_e( 'Form', 'form-bridge' ); ?></th>
				<th scope="col"><?php esc_html_e( 'Last submission', 'form-bridge' ); ?></th>
			</tr></thead>
			<tbody>
			<?php foreach ( $forms as $form_id => $form ) : ?>
				<tr>
					<td class="form-bridge-forms__switch">
						<input type="hidden" name="shown[]" value="<?php echo esc_attr( $form_id ); ?>">
						<input type="checkbox" name="on[]" value="<?php echo esc_attr( $form_id ); ?>" id="form-bridge-form-<?php echo esc_attr( $form_id ); ?>" <?php checked( $form['is_on'] ); ?>>
					</td>
					<th scope="row"><label for="form-bridge-form-<?php echo esc_attr( $form_id ); ?>"><?php echo esc_html( $form['name'] ); ?></label> <span class="description"><?php echo esc_html( $form['plugin'] ); ?></span></th>
					<td><?php echo esc_html( 0 === $form['last'] ? __( 'never', 'form-bridge' ) : StatusTexts::ago( $form['last'], $services->clock->now() ) ); ?></td>
				</tr>
			<?php endforeach; ?>
			</tbody>
		</table>
		<p><button type="submit" class="button"><?php esc_html_e( 'Save forms', 'form-bridge' ); ?></button></p>
	</form>
<?php endif; ?>
