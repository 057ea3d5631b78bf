<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The credentials that the service issued to this site. */
final class Credentials {

	/** @var string */
	public $site_id;

	/** @var string */
	public $api_key;

	/** @var string */
	public $secret;

	/** @var string The address of the site when they were issued; empty if unknown. */
	public $home;

	public function __construct( string $site_id, string $api_key, string $secret, string $home ) {
		$this->site_id = $site_id;
		$this->api_key = $api_key;
		$this->secret  = $secret;
		$this->home    = $home;
	}

	/** Whether they were issued for another address: the site was copied or moved. */
	public function belong_to_another_address(): bool {
		return '' !== $this->home && ! SiteAddress::is_same( $this->home, SiteAddress::url() );
	}

	/** For pages and logs: enough to distinguish two keys. */
	public static function mask( string $key ): string {
		$prefix = preg_match( '/^(fb_live_[0-9a-f]{8}_|fb_[a-z]+_)/', $key, $found ) ? $found[1] : '';
		return $prefix . '••••••••';
	}
}
