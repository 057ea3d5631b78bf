<?php
/** A copy, or a move: only the owner knows. Nothing has been changed yet. */

use FormBridge\Admin\Page;
use FormBridge\Connector;

defined( 'ABSPATH' ) || exit;

$choices = array(
	Connector::MOVE     => array(
		__( 'The site has moved here', 'form-bridge' ),
		__( 'It keeps its place at the service and its waiting submissions. The old address stops working.', 'form-bridge' ),
	),
	Connector::STAGING  => array(
		__( 'This is a copy for trying things out', 'form-bridge' ),
		__( 'It is connected as a staging site. The original is not touched.', 'form-bridge' ),
	),
	Connector::NEW_SITE => array(
		__( 'This is a new site of its own', 'form-bridge' ),
		__( 'It is connected for itself. The original is not touched.', 'form-bridge' ),
	),
);
Page::open_form( 'connect' );
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
