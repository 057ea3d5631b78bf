<?php
/**
 * The settings. Everything that sends personal data is off by default.
 *
 * @var FormBridge\Services $services
 */

use FormBridge\Admin\SettingsPage;
use FormBridge\Admin\StatusTexts;
use FormBridge\Constants;
use FormBridge\Environment;

defined( 'ABSPATH' ) || exit;

$chosen   = $services->settings->all();
$detected = Environment::detect( FormBridge\SiteAddress::host(), wp_get_environment_type(), '' );
$consents = array(
	'comments'    => __( 'Send comments to the service as submissions, with the names and email addresses of their authors', 'form-bridge' ),
	'telemetry'   => __( 'Allow the service to store the WordPress and PHP versions', 'form-bridge' ),
	'admin_email' => __( 'Send the administration email address to the service when connecting', 'form-bridge' ),
);
?>
<h2><?php esc_html_e( 'Settings', 'form-bridge' ); ?></h2>
<?php SettingsPage::open_form( 'settings' ); ?>
	<table class="form-table" role="presentation">
		<?php if ( $services->settings->is_service_url_editable() ) : ?>
		<tr>
			<th scope="row"><label for="form-bridge-service"><?php esc_html_e( 'Service URL', 'form-bridge' ); ?></label></th>
			<td>
				<input type="url" class="regular-text code" id="form-bridge-service" name="service_url" value="<?php echo esc_attr( $chosen['service_url'] ); ?>" aria-describedby="form-bridge-about-service">
				<p class="description" id="form-bridge-about-service"><?php esc_html_e( 'For example: https://forms.example.com/form-bridge', 'form-bridge' ); ?></p>
			</td>
		</tr>
		<?php endif; ?>
		<tr>
			<th scope="row"><label for="form-bridge-environment"><?php esc_html_e( 'Site type', 'form-bridge' ); ?></label></th>
			<td>
				<select id="form-bridge-environment" name="environment" aria-describedby="form-bridge-about-environment" <?php disabled( '' !== Constants::get( 'FORM_BRIDGE_ENVIRONMENT' ) ); ?>>
					<option value="automatic">
						<?php
						/* translators: %s: the detected type of the site. */
						echo esc_html( sprintf( __( 'Automatic (%s)', 'form-bridge' ), StatusTexts::environment( $detected ) ) );
						?>
					</option>
					<?php foreach ( Environment::KINDS as $environment ) : ?>
					<option value="<?php echo esc_attr( $environment ); ?>" <?php selected( $chosen['environment'], $environment ); ?>><?php echo esc_html( StatusTexts::environment( $environment ) ); ?></option>
					<?php endforeach; ?>
				</select>
				<p class="description" id="form-bridge-about-environment"><?php esc_html_e( 'The service lists this site under this type. Addresses such as staging.example.com do not count toward the site limit of an agency.', 'form-bridge' ); ?></p>
			</td>
		</tr>
		<tr>
			<th scope="row"><?php esc_html_e( 'Data sent to the service', 'form-bridge' ); ?></th>
			<td>
				<fieldset>
					<legend class="screen-reader-text"><?php esc_html_e( 'Data sent to the service', 'form-bridge' ); ?></legend>
					<?php foreach ( $consents as $name => $label ) : ?>
					<p><label><input type="checkbox" name="<?php echo esc_attr( $name ); ?>" value="1" <?php checked( $chosen[ $name ] ); ?>> <?php echo esc_html( $label ); ?></label></p>
					<?php endforeach; ?>
				</fieldset>
			</td>
		</tr>
	</table>
	<p class="submit"><button type="submit" class="button button-primary"><?php esc_html_e( 'Save Changes', 'form-bridge' ); ?></button></p>
</form>
