<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * The action that forms call to send submissions:
 *
 *     do_action( 'form_bridge_submit', 'contact', $fields, array( 'form_name' => 'Contact', 'page_url' => $url ) );
 *
 * Uploaded files are in `files`, as arrays with `path`, `name` and `field`.
 *
 * The submission is stored immediately and sent in the background, so visitors do not wait and
 * nothing is lost while the service is down.
 */
final class Forms {

	/** @var Services */
	private $services;

	public function __construct( Services $services ) {
		$this->services = $services;
	}

	public function hook(): void {
		add_action( 'form_bridge_submit', array( $this, 'submit' ), 10, 3 );
		add_action( 'comment_post', array( $this, 'submit_comment' ), 10, 2 );
	}

	/**
	 * @param string $form_id
	 * @param array  $fields
	 * @param array  $context
	 */
	public function submit( $form_id, $fields = array(), $context = array() ): void {
		/**
		 * Filters the fields of a submission before it is stored. Return null to drop the submission.
		 *
		 * @param array|null $fields
		 * @param string     $form_id
		 * @param array      $context
		 */
		$fields = apply_filters( 'form_bridge_fields', (array) $fields, (string) $form_id, (array) $context );
		if ( null === $fields ) {
			return;
		}
		$submission = Submission::create( (string) $form_id, (array) $fields, (array) $context, $this->services->clock->now() );
		$this->services->queue->add( $submission );
	}

	/**
	 * Sends comments that are not spam, if the owner has opted in.
	 *
	 * @param int        $comment_id
	 * @param int|string $approved
	 */
	public function submit_comment( $comment_id, $approved ): void {
		if ( in_array( $approved, array( 'spam', 'trash' ), true ) || ! $this->services->settings->all()['comments'] ) {
			return;
		}
		$comment = get_comment( $comment_id );
		// Skip pingbacks and trackbacks.
		if ( null === $comment || ! in_array( $comment->comment_type, array( '', 'comment' ), true ) ) {
			return;
		}
		do_action(
			'form_bridge_submit',
			'comments',
			array(
				'comment_id' => (int) $comment->comment_ID,
				'author'     => $comment->comment_author,
				'email'      => $comment->comment_author_email,
				'url'        => $comment->comment_author_url,
				'comment'    => $comment->comment_content,
				'post'       => get_the_title( (int) $comment->comment_post_ID ),
				'approved'   => 1 === (int) $approved,
			),
			array(
				'form_name' => __( 'Comments', 'form-bridge' ),
				'page_url'  => get_permalink( (int) $comment->comment_post_ID ),
			)
		);
	}
}
