<?php
/**
 * Details of the connection. Keys are masked.
 *
 * @var FormBridge\Services $with
 */

use FormBridge\Credentials;
use FormBridge\Admin\StatusTexts;
use FormBridge\Environment;

defined( 'ABSPATH' ) || exit;

$credentials = $with->credentials->load();
$contact     = $with->state->last_contact();
$offset      = $with->clock->offset();
$rows        = array(
	__( 'Service', 'form-bridge' )        => $with->settings->service_url(),
	__( 'Site', 'form-bridge' )           => $credentials->site_id,
	__( 'API key', 'form-bridge' )        => Credentials::masked( $credentials->api_key ),
	__( 'Signing secret', 'form-bridge' ) => Credentials::masked( $credentials->secret ),
	__( 'Stored in', 'form-bridge' )        => $with->credentials->are_constants() ? 'wp-config.php' : __( 'the database, encrypted with the salts of wp-config.php', 'form-bridge' ),
	__( 'Site type', 'form-bridge' )   => StatusTexts::environment( Environment::current( $with->settings ) ),
	/* translators: %s: a length of time, such as "5 mins". */
	__( 'Last response', 'form-bridge' )    => 0 === $contact ? __( 'none yet', 'form-bridge' ) : sprintf( __( '%s ago', 'form-bridge' ), human_time_diff( $contact, $with->clock->now() ) ),
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
