<?php
/** Asks the owner whether the site was copied or moved. Nothing has been changed yet. */

use FormBridge\Admin\SettingsPage;
use FormBridge\Connector;

defined( 'ABSPATH' ) || exit;

$choices = array(
	Connector::MOVE     => array(
		__( 'The site was moved here', 'form-bridge' ),
		__( 'It keeps its connection and its waiting submissions. The old address is no longer connected.', 'form-bridge' ),
	),
	Connector::STAGING  => array(
		__( 'This is a staging copy', 'form-bridge' ),
		__( 'It is connected as a staging site. The original site is not affected.', 'form-bridge' ),
	),
	Connector::NEW_SITE => array(
		__( 'This is a new, separate site', 'form-bridge' ),
		__( 'It is connected as a separate site. The original site is not affected.', 'form-bridge' ),
	),
);
SettingsPage::open_form( 'connect' );
?>
	<fieldset class="form-bridge-choices">
		<legend class="screen-reader-text"><?php esc_html_e( 'What happened to this site', 'form-bridge' ); ?></legend>
		<?php foreach ( $choices as $purpose => $texts_of_choice ) : ?>
		<div class="form-bridge-choice">
			<input type="radio" name="purpose" required value="<?php echo esc_attr( $purpose ); ?>" id="form-bridge-<?php echo esc_attr( $purpose ); ?>" aria-describedby="form-bridge-about-<?php echo esc_attr( $purpose ); ?>">
			<label for="form-bridge-<?php echo esc_attr( $purpose ); ?>"><strong><?php echo esc_html( $texts_of_choice[0] ); ?></strong></label>
			<p class="description" id="form-bridge-about-<?php echo esc_attr( $purpose ); ?>"><?php echo esc_html( $texts_of_choice[1] ); ?></p>
		</div>
		<?php endforeach; ?>
	</fieldset>
	<p><button type="submit" class="button button-primary"><?php esc_html_e( 'Continue', 'form-bridge' ); ?></button></p>
</form>
