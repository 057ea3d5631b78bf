<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The parts of the plugin, each created once. */
final class Services {

	/** @var Vault */
	public $vault;

	/** @var Clock */
	public $clock;

	/** @var Settings */
	public $settings;

	/** @var CredentialStore */
	public $credentials;

	/** @var Registration */
	public $registration;

	/** @var Outage */
	public $outage;

	/** @var SiteState */
	public $state;

	/** @var Client */
	public $client;

	/** @var Queue */
	public $queue;

	/** @var Connector */
	public $connector;

	/** @var Offer */
	public $offer;

	public function __construct() {
		$this->vault        = new Vault();
		$this->clock        = new Clock();
		$this->settings     = new Settings();
		$this->credentials  = new CredentialStore( $this->vault );
		$this->registration = new Registration( $this->vault, $this->clock );
		$this->outage       = new Outage( $this->clock );
		$this->state        = new SiteState( $this->credentials, $this->clock );
		$this->client       = new Client( $this->settings, $this->clock, $this->outage, $this->state );
		$this->queue        = new Queue( $this->clock );
		$this->connector    = new Connector( $this );
		$this->offer        = new Offer( $this );
	}

	/**
	 * The status of the site: 'not_connected', 'connected', 'suspended', 'rejected', 'moved' or
	 * 'unreadable'.
	 */
	public function status(): string {
		if ( $this->credentials->are_unreadable() ) {
			return 'unreadable';
		}
		$credentials = $this->credentials->load();
		if ( null === $credentials ) {
			return 'not_connected';
		}
		if ( $credentials->are_from_elsewhere() ) {
			return 'moved';
		}
		$state = $this->state->name();
		return 'active' === $state ? 'connected' : $state;
	}
}
