<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** Offers releases as WordPress updates, and installs only signed ones. */
final class Updates {

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		$host = self::update_host();
		add_filter( "update_plugins_$host", array( $this, 'offer' ), 10, 3 );
		add_filter( 'plugins_api', array( $this, 'details' ), 10, 3 );
		add_filter( 'upgrader_pre_download', array( $this, 'download' ), 10, 4 );
	}

	/**
	 * Always returns an update, even if there is no new version; otherwise WordPress would not show the
	 * auto-update switch.
	 *
	 * @param array|false $update
	 * @return array|false
	 */
	public function offer( $update, array $plugin, string $file ) {
		if ( plugin_basename( FORM_BRIDGE_FILE ) !== $file ) {
			return $update;
		}
		if ( self::may_call_service() && $this->services->backoff->is_over() ) {
			$this->services->update_cache->refresh();
		}
		$offer = $this->services->update_cache->current();
		if ( null === $offer || null !== ( new Release( $offer ) )->check( Build::release_keys() ) ) {
			// Do not show an offer that would not be installed.
			return array(
				'slug'    => Release::SLUG,
				'version' => FORM_BRIDGE_VERSION,
			);
		}
		return ReleaseFields::update( $offer );
	}

	/**
	 * The details of the plugin in the update window.
	 *
	 * @param mixed $result
	 * @return mixed
	 */
	public function details( $result, string $action, object $arguments ) {
		if ( 'plugin_information' !== $action || Release::SLUG !== ( $arguments->slug ?? '' ) ) {
			return $result;
		}
		$details = $this->services->update_cache->details();
		if ( null === $details ) {
			$description = __( 'Details are shown here after the next update check.', 'form-bridge' );
			$details     = array( 'sections' => array( 'description' => '<p>' . esc_html( $description ) . '</p>' ) );
		}
		return (object) ReleaseFields::details( $details );
	}

	/**
	 * Downloads and verifies the package instead of WordPress, and ignores the URL of the offer.
	 *
	 * @param mixed $reply
	 * @return mixed The file of the verified package, or an error.
	 */
	public function download( $reply, $package, $upgrader, $hook_extra = array() ) {
		if ( ! is_array( $hook_extra ) || plugin_basename( FORM_BRIDGE_FILE ) !== ( $hook_extra['plugin'] ?? '' ) ) {
			return $reply;
		}
		$offer       = $this->services->update_cache->current();
		$credentials = $this->services->credentials->load();
		if ( null === $offer || null === $credentials ) {
			return new \WP_Error( 'form_bridge_not_connected', __( 'Form-Bridge was not updated. Connect the site first, then check for updates again.', 'form-bridge' ) );
		}
		$release = new Release( $offer );
		$error   = $release->check( Build::release_keys() ) ?? $release->check_requirements();
		if ( null !== $error ) {
			return $error;
		}
		$file    = wp_tempnam( 'form-bridge.zip' );
		$path    = '/plugins/' . Release::SLUG . '/' . rawurlencode( $release->version ) . '/download';
		$fetched = $this->services->client->download( $credentials, $path, $file, Release::MAX_BYTES );
		$error   = is_wp_error( $fetched ) ? $fetched : $release->check_file( $file );
		if ( null !== $error ) {
			wp_delete_file( $file );
			return $error;
		}
		return $file;
	}

	/** Not while a page is rendered, unless the user requested a check. */
	private static function may_call_service(): bool {
		// phpcs:ignore WordPress.Security.NonceVerification.Recommended -- WordPress reads it in the same way.
		return wp_doing_cron() || ( defined( 'WP_CLI' ) && WP_CLI ) || ! empty( $_GET['force-check'] );
	}

	private static function update_host(): string {
		$header = get_file_data( FORM_BRIDGE_FILE, array( 'uri' => 'Update URI' ) );
		return (string) wp_parse_url( $header['uri'], PHP_URL_HOST );
	}
}
