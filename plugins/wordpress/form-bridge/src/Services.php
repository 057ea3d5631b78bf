<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/** The parts of the plugin, each created once. */
final class Services {

	/** @var Encryption */
	public $encryption;

	/** @var Clock */
	public $clock;

	/** @var Settings */
	public $settings;

	/** @var CredentialStore */
	public $credentials;

	/** @var Registration */
	public $registration;

	/** @var Backoff */
	public $backoff;

	/** @var SiteState */
	public $state;

	/** @var Client */
	public $client;

	/** @var RefusedFiles */
	public $refused_files;

	/** @var Queue */
	public $queue;

	/** @var ConnectedForms */
	public $forms;

	/** @var Connector */
	public $connector;

	/** @var UpdateCache */
	public $update_cache;

	public function __construct() {
		$this->encryption    = new Encryption();
		$this->clock         = new Clock();
		$this->settings      = new Settings();
		$this->credentials   = new CredentialStore( $this->encryption );
		$this->registration  = new Registration( $this->encryption, $this->clock );
		$this->backoff       = new Backoff( $this->clock );
		$this->state         = new SiteState( $this->credentials, $this->clock );
		$this->client        = new Client( $this->settings, $this->clock, $this->backoff, $this->state );
		$this->refused_files = new RefusedFiles( $this->clock );
		$this->queue         = new Queue( $this->clock, $this->refused_files );
		$this->forms         = new ConnectedForms( $this->clock );
		$this->connector     = new Connector( $this );
		$this->update_cache  = new UpdateCache( $this );
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
		if ( $credentials->belong_to_another_address() ) {
			return 'moved';
		}
		$state = $this->state->name();
		return 'active' === $state ? 'connected' : $state;
	}
}
