<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** What kind of site this is, as far as can be told from here. The service judges for itself. */
final class Environment {

	const KINDS = array( 'production', 'staging', 'development', 'local' );

	/** Names that nobody can reach from elsewhere. */
	const LOCAL = '/(^|\.)(localhost|local|test|invalid|example|internal|lndo\.site|ddev\.site|nip\.io|sslip\.io)$|^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1)/';

	/** First labels that people give to copies of their sites. */
	const COPIES = '/^(staging|stage|stg|preview|uat|qa|clone|sandbox)\d*[.-]|[.-](staging|stage|stg|uat|qa)\./';

	const DEVELOPMENT = '/^(dev|develop|development|test)\d*[.-]|[.-]dev\./';

	/** Names under which hosting companies have copies of sites. */
	const HOSTS = '/\.(wpengine\.com|wpenginepowered\.com|kinsta\.cloud|pantheonsite\.io|flywheelstaging\.com|flywheelsites\.com|cloudwaysapps\.com|wpcomstaging\.com|myftpupload\.com|mystagingwebsite\.com|instawp\.(xyz|link|co)|tastewp\.com|runcloud\.link|ngrok\.(io|app|dev)|ngrok-free\.app|trycloudflare\.com|loca\.lt)$/';

	/** @param string $declared What WordPress was told, 'production' unless it was. */
	public static function of( string $host, string $declared, string $chosen ): string {
		if ( in_array( $chosen, self::KINDS, true ) ) {
			return $chosen;
		}
		if ( 'production' !== $declared && in_array( $declared, self::KINDS, true ) ) {
			return $declared;
		}
		if ( preg_match( self::LOCAL, $host ) ) {
			return 'local';
		}
		if ( preg_match( self::COPIES, $host ) || preg_match( self::HOSTS, $host ) ) {
			return 'staging';
		}
		return preg_match( self::DEVELOPMENT, $host ) ? 'development' : 'production';
	}

	public static function current( Settings $settings ): string {
		$chosen = Constants::get( 'FORM_BRIDGE_ENVIRONMENT' );
		return self::of( Home::host(), wp_get_environment_type(), '' === $chosen ? $settings->all()['environment'] : $chosen );
	}
}
