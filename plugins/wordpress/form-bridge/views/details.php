<?php
/**
 * Details of the connection. Keys are masked.
 *
 * @var FormBridge\Services $services
 */

use FormBridge\Admin\StatusTexts;
use FormBridge\Credentials;
use FormBridge\Environment;

defined( 'ABSPATH' ) || exit;

$credentials = $services->credentials->load();
$contact     = $services->state->last_contact();
$offset      = $services->clock->offset();
$rows        = array(
	__( 'Service', 'form-bridge' )        => $services->settings->service_url(),
	__( 'Site', 'form-bridge' )           => $credentials->site_id,
	__( 'API key', 'form-bridge' )        => Credentials::mask( $credentials->api_key ),
	__( 'Signing secret', 'form-bridge' ) => Credentials::mask( $credentials->secret ),
	__( 'Stored in', 'form-bridge' )        => $services->credentials->are_in_config() ? 'wp-config.php' : __( 'the database, encrypted with the salts of wp-config.php', 'form-bridge' ),
	__( 'Site type', 'form-bridge' )   => StatusTexts::environment( Environment::current( $services->settings ) ),
	__( 'Last response', 'form-bridge' )    => 0 === $contact ? __( 'none yet', 'form-bridge' ) : StatusTexts::ago( $contact, $services->clock->now() ),
);
if ( abs( $offset ) > 30 ) {
	/* translators: %d: seconds. */
	$rows[ __( 'Clock', 'form-bridge' ) ] = sprintf( __( 'The clock of this server is off by %d seconds. Requests are corrected for it.', 'form-bridge' ), $offset );
}
?>
<table class="form-table form-bridge-details" role="presentation">
	<?php foreach ( $rows as $name => $value ) : ?>
	<tr>
		<th scope="row"><?php echo esc_html( $name ); ?></th>
		<td><?php echo esc_html( $value ); ?></td>
	</tr>
	<?php endforeach; ?>
</table>
