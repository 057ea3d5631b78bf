<?php
/**
 * What the connection is made of. Keys are never shown, only enough to tell them apart.
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
	__( 'Kept in', 'form-bridge' )        => $with->credentials->are_constants() ? 'wp-config.php' : __( 'the database, sealed with the salts of wp-config.php', 'form-bridge' ),
	__( 'Kind of site', 'form-bridge' )   => StatusTexts::environment( Environment::current( $with->settings ) ),
	/* translators: %s: a length of time, such as "5 mins". */
	__( 'Last answer', 'form-bridge' )    => 0 === $contact ? __( 'none yet', 'form-bridge' ) : sprintf( __( '%s ago', 'form-bridge' ), human_time_diff( $contact, $with->clock->now() ) ),
);
if ( abs( $offset ) > 30 ) {
	/* translators: %d: seconds. */
	$rows[ __( 'Clock', 'form-bridge' ) ] = sprintf( __( 'The clock of this server is %d seconds off; requests are corrected', 'form-bridge' ), $offset );
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
