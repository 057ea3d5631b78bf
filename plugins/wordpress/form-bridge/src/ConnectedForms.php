<?php
namespace FormBridge;

use FormBridge\FormPlugins\ContactForm7;
use FormBridge\FormPlugins\ElementorForms;
use FormBridge\FormPlugins\FluentForms;
use FormBridge\FormPlugins\FormEntry;
use FormBridge\FormPlugins\FormPlugin;
use FormBridge\FormPlugins\GravityForms;
use FormBridge\FormPlugins\JetpackForms;
use FormBridge\FormPlugins\NinjaForms;
use FormBridge\FormPlugins\WPForms;

defined( 'ABSPATH' ) || exit;

/** The forms of form plugins: which of them are sent, and when each was last submitted. */
final class ConnectedForms {

	/** The ids of forms that are turned off. Forms are sent by default. */
	const OFF_OPTION = 'form_bridge_forms_off';

	/** The name and the epoch second of the last submission, by the id of the form. */
	const LAST_OPTION = 'form_bridge_last_submissions';

	/** The least recently submitted forms are removed beyond this. */
	const MAX_FORMS = 500;

	/** @var Clock */
	private $clock;

	/** @var FormPlugin[] */
	private $plugins;

	/** @var array<string, true> Submissions of this request. */
	private $received = array();

	public function __construct( Clock $clock ) {
		$this->clock   = $clock;
		$this->plugins = array( new ContactForm7(), new WPForms(), new GravityForms(), new NinjaForms(), new ElementorForms(), new FluentForms(), new JetpackForms() );
	}

	public function hook(): void {
		foreach ( $this->plugins as $plugin ) {
			$plugin->hook(
				function ( FormEntry $entry ) use ( $plugin ): void {
					$this->receive( $plugin, $entry );
				}
			);
		}
	}

	/** @return string[] The names of all form plugins whose forms can be sent. */
	public function supported_plugins(): array {
		return array_map(
			static function ( FormPlugin $plugin ): string {
				return $plugin->name();
			},
			$this->plugins
		);
	}

	/** @return string[] The names of those that are active. */
	public function active_plugins(): array {
		$names = array();
		foreach ( $this->plugins as $plugin ) {
			if ( $plugin->is_active() ) {
				$names[] = $plugin->name();
			}
		}
		return $names;
	}

	/** @return array<string, array{plugin: string, name: string, is_on: bool, last: int}> The forms of active plugins, by their ids. */
	public function all(): array {
		$off   = $this->off();
		$last  = $this->last();
		$forms = array();
		foreach ( $this->plugins as $plugin ) {
			if ( ! $plugin->is_active() ) {
				continue;
			}
			$names = array();
			foreach ( $plugin->forms() as $id => $name ) {
				$names[ self::key( $plugin, (string) $id ) ] = $name;
			}
			foreach ( $last as $key => $submitted ) {
				// A second form on a page of Jetpack, for example, is known only from its submissions.
				if ( 0 === strpos( $key, $plugin->id() . ':' ) && ! isset( $names[ $key ] ) ) {
					$names[ $key ] = $submitted['name'];
				}
			}
			foreach ( $names as $key => $name ) {
				$forms[ $key ] = array(
					'plugin' => $plugin->name(),
					'name'   => '' === trim( $name ) ? substr( $key, strlen( $plugin->id() ) + 1 ) : $name,
					'is_on'  => ! in_array( $key, $off, true ),
					'last'   => (int) ( $last[ $key ]['at'] ?? 0 ),
				);
			}
		}
		return $forms;
	}

	/** @param array<string, bool> $switches Whether each form is sent, by its id. Other forms stay as they are. */
	public function switch_forms( array $switches ): void {
		$off = array_diff( $this->off(), array_keys( $switches ) );
		foreach ( $switches as $key => $is_on ) {
			if ( ! $is_on ) {
				$off[] = $key;
			}
		}
		update_option( self::OFF_OPTION, array_values( $off ), true );
	}

	public function delete(): void {
		delete_option( self::OFF_OPTION );
		delete_option( self::LAST_OPTION );
	}

	private function receive( FormPlugin $plugin, FormEntry $entry ): void {
		$key   = self::key( $plugin, $entry->form_id );
		$token = $key . ' ' . $entry->token;
		if ( isset( $this->received[ $token ] ) || in_array( $key, $this->off(), true ) ) {
			return;
		}
		$this->received[ $token ] = true;
		$name                     = '' === trim( $entry->form_name ) ? $plugin->name() : $entry->form_name;
		$this->save_last( $key, $name );
		$context = array(
			'form_name' => $name,
			'page_url'  => $entry->page_url,
			'files'     => $entry->files,
		);
		do_action( 'form_bridge_submit', $key, $entry->fields, $context );
	}

	private function save_last( string $key, string $name ): void {
		$last = $this->last();
		unset( $last[ $key ] );
		$last[ $key ] = array(
			'name' => $name,
			'at'   => $this->clock->now(),
		);
		update_option( self::LAST_OPTION, array_slice( $last, -self::MAX_FORMS, null, true ), false );
	}

	private static function key( FormPlugin $plugin, string $form_id ): string {
		return $plugin->id() . ':' . $form_id;
	}

	/** @return string[] */
	private function off(): array {
		$stored = get_option( self::OFF_OPTION );
		return is_array( $stored ) ? $stored : array();
	}

	/** @return array<string, array{name: string, at: int}> */
	private function last(): array {
		$stored = get_option( self::LAST_OPTION );
		return is_array( $stored ) ? $stored : array();
	}
}
