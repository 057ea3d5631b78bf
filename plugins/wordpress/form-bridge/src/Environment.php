<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The environment type of this site. The service decides for itself whether a host is a staging host. */
final class Environment {

	const KINDS = array( 'production', 'staging', 'development', 'local' );

	/** Hosts that are not reachable from the internet. */
	const LOCAL_HOSTS = '/(^|\.)(localhost|local|test|invalid|example|internal|lndo\.site|ddev\.site|nip\.io|sslip\.io)$|^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1)/';

	/** Common names of staging hosts. */
	const STAGING_HOSTS = '/^(staging|stage|stg|preview|uat|qa|clone|sandbox)\d*[.-]|[.-](staging|stage|stg|uat|qa)\./';

	const DEVELOPMENT_HOSTS = '/^(dev|develop|development|test)\d*[.-]|[.-]dev\./';

	/** Domains of hosting providers for previews and staging sites. */
	const HOSTING_PREVIEWS = '/\.(wpengine\.com|wpenginepowered\.com|kinsta\.cloud|pantheonsite\.io|flywheelstaging\.com|flywheelsites\.com|cloudwaysapps\.com|wpcomstaging\.com|myftpupload\.com|mystagingwebsite\.com|instawp\.(xyz|link|co)|tastewp\.com|runcloud\.link|ngrok\.(io|app|dev)|ngrok-free\.app|trycloudflare\.com|loca\.lt)$/';

	/**
	 * @param string $declared From WordPress, where 'production' is the default.
	 * @param string $chosen   From the owner; anything else than a kind means automatic.
	 */
	public static function detect( string $host, string $declared, string $chosen ): string {
		if ( in_array( $chosen, self::KINDS, true ) ) {
			return $chosen;
		}
		if ( 'production' !== $declared && in_array( $declared, self::KINDS, true ) ) {
			return $declared;
		}
		if ( preg_match( self::LOCAL_HOSTS, $host ) ) {
			return 'local';
		}
		if ( preg_match( self::STAGING_HOSTS, $host ) || preg_match( self::HOSTING_PREVIEWS, $host ) ) {
			return 'staging';
		}
		return preg_match( self::DEVELOPMENT_HOSTS, $host ) ? 'development' : 'production';
	}

	public static function current( Settings $settings ): string {
		$chosen = Constants::get( 'FORM_BRIDGE_ENVIRONMENT' );
		return self::detect( SiteAddress::host(), wp_get_environment_type(), '' === $chosen ? $settings->all()['environment'] : $chosen );
	}
}
