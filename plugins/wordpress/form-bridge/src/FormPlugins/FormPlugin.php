<?php
namespace FormBridge\FormPlugins;

defined( 'ABSPATH' ) || exit;

/** A form plugin whose submissions are sent to the service. */
interface FormPlugin {

	/** The slug of the plugin, the first part of the id of its forms: "contact-form-7:12". */
	public function id(): string;

	public function name(): string;

	public function is_active(): bool;

	/** @return array<int|string, string> The names of the forms by their ids. */
	public function forms(): array;

	/**
	 * Listens to the hooks that fire after a submission passed validation and spam checks.
	 *
	 * @param callable $receive Called with a {@see FormEntry}, once for each submission.
	 */
	public function hook( callable $receive ): void;
}
