<?php
/**
 * The sites of a network and their status.
 *
 * @var FormBridge\Services $services
 * @var array[]             $sites
 * @var int                 $page
 * @var int                 $pages
 */

use FormBridge\Admin\NetworkPage;
use FormBridge\Admin\StatusTexts;

defined( 'ABSPATH' ) || exit;

$unconnected = array_filter(
	$sites,
	static function ( array $site ): bool {
		return 'not_connected' === $site['status'] && ! $site['is_connecting'];
	}
);
?>
<h2 id="form-bridge-sites"><?php esc_html_e( 'Sites', 'form-bridge' ); ?></h2>
<p><?php esc_html_e( 'Each site of the network is connected by itself and has its own forms, submissions and destination.', 'form-bridge' ); ?></p>
<table class="widefat striped form-bridge-forms" aria-labelledby="form-bridge-sites">
	<thead><tr>
		<th scope="col"><?php esc_html_e( 'Site', 'form-bridge' ); ?></th>
		<th scope="col"><?php esc_html_e( 'Status', 'form-bridge' ); ?></th>
		<th scope="col"><?php esc_html_e( 'Undelivered submissions', 'form-bridge' ); ?></th>
	</tr></thead>
	<tbody>
	<?php foreach ( $sites as $site ) : ?>
		<tr>
			<th scope="row"><a href="<?php echo esc_url( $site['settings_url'] ); ?>"><?php echo esc_html( $site['url'] ); ?></a></th>
			<td><?php echo esc_html( StatusTexts::short( $site['status'], $site['is_connecting'] ) ); ?></td>
			<td><?php echo esc_html( number_format_i18n( $site['undelivered'] ) ); ?></td>
		</tr>
	<?php endforeach; ?>
	</tbody>
</table>
<?php if ( $pages > 1 ) : ?>
	<p class="form-bridge-buttons">
		<?php
		echo wp_kses_post(
			(string) paginate_links(
				array(
					'base'    => add_query_arg( 'paged', '%#%', NetworkPage::url() ),
					'format'  => '',
					'current' => $page,
					'total'   => $pages,
				)
			)
		);
		?>
	</p>
<?php endif; ?>

<?php if ( array() !== $unconnected && '' !== $services->settings->service_url() ) : ?>
	<?php NetworkPage::open_form( 'connect' ); ?>
		<input type="hidden" name="paged" value="<?php echo esc_attr( (string) $page ); ?>">
		<p>
			<label for="form-bridge-join-token"><?php esc_html_e( 'Agency join token (optional)', 'form-bridge' ); ?></label><br>
			<input type="text" class="regular-text code" id="form-bridge-join-token" name="join_token" autocomplete="off" spellcheck="false">
		</p>
		<p><button type="submit" class="button button-primary">
			<?php
			/* translators: %d: a number of sites. */
			echo esc_html( sprintf( _n( 'Connect %d site', 'Connect %d sites', count( $unconnected ), 'form-bridge' ), count( $unconnected ) ) );
			?>
		</button></p>
	</form>
<?php endif; ?>

<?php if ( $services->settings->is_service_url_editable() ) : ?>
	<h2><?php esc_html_e( 'Settings', 'form-bridge' ); ?></h2>
	<?php NetworkPage::open_form( 'settings' ); ?>
		<p>
			<label for="form-bridge-service"><?php esc_html_e( 'Service URL for sites without their own', 'form-bridge' ); ?></label><br>
			<input type="url" class="regular-text code" id="form-bridge-service" name="service_url" value="<?php echo esc_attr( (string) get_site_option( FormBridge\Settings::NETWORK_URL_OPTION, '' ) ); ?>">
		</p>
		<p><button type="submit" class="button"><?php esc_html_e( 'Save Changes', 'form-bridge' ); ?></button></p>
	</form>
<?php endif; ?>
