<?php
namespace FormBridge;

defined( 'ABSPATH' ) || exit;

/**
 * Where forms hand over what people sent:
 *
 *     do_action( 'form_bridge_submit', 'contact', $fields, array( 'form_name' => 'Contact', 'page_url' => $url ) );
 *
 * The submission is written down at once and sent in the background: whoever sent the form does not
 * wait for it, and nothing is lost while the service is down.
 */
final class Forms {

	/** @var Services */
	private $with;

	public function __construct( Services $with ) {
		$this->with = $with;
	}

	public function hook(): void {
		add_action( 'form_bridge_submit', array( $this, 'submit' ), 10, 3 );
		add_action( 'comment_post', array( $this, 'submit_comment' ), 10, 2 );
	}

	/**
	 * @param string $form_id
	 * @param array  $fields
	 * @param array  $about
	 */
	public function submit( $form_id, $fields = array(), $about = array() ): void {
		/**
		 * The fields of a submission before it is kept: change them, or return null to keep nothing.
		 *
		 * @param array|null $fields
		 * @param string     $form_id
		 * @param array      $about
		 */
		$fields = apply_filters( 'form_bridge_fields', (array) $fields, (string) $form_id, (array) $about );
		if ( null === $fields ) {
			return;
		}
		$submission = Submission::of( (string) $form_id, (array) $fields, (array) $about, $this->with->clock->now() );
		$this->with->queue->add( $submission );
	}

	/**
	 * Comments as an example of a form: what is not spam is handed over, if the owner wants it.
	 *
	 * @param int        $comment_id
	 * @param int|string $approved
	 */
	public function submit_comment( $comment_id, $approved ): void {
		if ( in_array( $approved, array( 'spam', 'trash' ), true ) || ! $this->with->settings->all()['comments'] ) {
			return;
		}
		$comment = get_comment( $comment_id );
		// Not what other sites send when they link here.
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
