<?php
/** No field of a form is lost, and the service accepts every submission. */

use FormBridge\Clock;
use FormBridge\Queue;
use FormBridge\RefusedFiles;
use FormBridge\Submission;

/** The fields after a JSON round trip. */
function arriving( array $fields ): array {
	$content = json_decode( Submission::create( 'contact', $fields, array(), 1793527200 )->json(), true );
	same( JSON_ERROR_NONE, json_last_error() );
	return $content['fields'];
}

test(
	'a submission has the format of the service, whatever the form passes',
	function () {
		$about = array(
			'form_name' => str_repeat( 'ä', 600 ),
			'page_url'  => 'https://example.com/contact/',
			'other'     => 'x',
		);
		$submission = Submission::create( '', array(), $about, 1793527200 );
		$content    = json_decode( $submission->json() );
		same( 1, preg_match( '/^[A-Za-z0-9_-]{16,64}$/', $content->submission_id ) );
		same( 'form', $content->form_id );
		same( '2026-11-01T10:00:00Z', $content->submitted_at );
		same( true, $content->fields instanceof stdClass );
		same( 500, mb_strlen( $content->form_name ) );
		same( 'https://example.com/contact/', $content->page_url );
		same( false, isset( $content->other ) );
	}
);

test(
	'texts are truncated to the limits of the service, never inside a character',
	function () {
		foreach ( array( '😀', 'a😀', 'ä', '漢' ) as $piece ) {
			$about = array(
				'form_name' => str_repeat( $piece, 600 ),
				'page_url'  => str_repeat( $piece, 3000 ),
			);
			$content = json_decode( Submission::create( str_repeat( $piece, 300 ), array(), $about, 0 )->json() );
			foreach ( array( 'form_id' => 200, 'form_name' => 500, 'page_url' => 2000 ) as $name => $longest ) {
				same( mb_substr( str_repeat( $piece, 3000 ), 0, $longest ), $content->$name );
			}
		}
	}
);

test(
	'numbers that JSON cannot represent, or that parsers round, become text, and other fields stay unchanged',
	function () {
		$fields = array(
			'name'  => 'Ada',
			'ratio' => NAN,
			'most'  => array( INF, -INF, 1.5 ),
			'order' => array( 9007199254740991, 9007199254740993, -9007199254740993, PHP_INT_MIN ),
		);
		same(
			array(
				'name'  => 'Ada',
				'ratio' => 'NAN',
				'most'  => array( 'INF', '-INF', 1.5 ),
				'order' => array( 9007199254740991, '9007199254740993', '-9007199254740993', '-9223372036854775808' ),
			),
			arriving( $fields )
		);
	}
);

test(
	'values that are nested too deeply or contain themselves become text',
	function () {
		$deep = 'at the bottom';
		for ( $level = 0; $level < 600; ++$level ) {
			$deep = array( $deep );
		}
		$itself         = new stdClass();
		$itself->name   = 'a loop';
		$itself->itself = $itself;
		$fields         = arriving( compact( 'deep', 'itself' ) + array( 'name' => 'Ada' ) );
		same( 'Ada', $fields['name'] );
		same( true, false !== strpos( json_encode( $fields['deep'] ), 'at the bottom' ) );
		same(
			array(
				'name'   => 'a loop',
				'itself' => '(contains itself)',
			),
			$fields['itself']
		);
	}
);

test(
	'objects that refer to each other in too many ways do not affect other fields',
	function () {
		$nodes = array();
		for ( $number = 0; $number < 30; ++$number ) {
			$nodes[] = (object) array( 'number' => $number );
		}
		foreach ( $nodes as $node ) {
			$node->links = $nodes;
		}
		$both = array();
		$both = array(
			'a' => &$both,
			'b' => &$both,
			'c' => 'text',
		);
		$twice = 'at the bottom';
		for ( $level = 0; $level < 60; ++$level ) {
			$twice = array( $twice, $twice );
		}
		$endless = new class() implements JsonSerializable {
			#[ReturnTypeWillChange]
			public function jsonSerialize() {
				return array( new self(), new self() );
			}
		};
		$again = array(
			'a' => '(contains itself)',
			'b' => '(contains itself)',
			'c' => 'text',
		);
		$fields = arriving( compact( 'both' ) );
		same( $again, $fields['both']['a'] );
		same( $again, $fields['both']['b'] );
		foreach ( array( $nodes, $twice, $endless ) as $graph ) {
			$json = Submission::create( 'contact', array( $graph, 'name' => 'Ada' ), array(), 0 )->json();
			same( 'Ada', json_decode( $json )->fields->name );
			same( true, false !== strpos( $json, '(too much, left out)' ) );
			same( true, strlen( $json ) < Submission::MAX_BYTES );
		}
	}
);

test(
	'an object in two fields is kept in both',
	function () {
		$shared = (object) array( 'city' => 'London' );
		$list   = array( 'red' );
		$fields = array(
			'home' => $shared,
			'work' => $shared,
			'one'  => &$list,
			'two'  => &$list,
		);
		same(
			array(
				'home' => array( 'city' => 'London' ),
				'work' => array( 'city' => 'London' ),
				'one'  => array( 'red' ),
				'two'  => array( 'red' ),
			),
			arriving( $fields )
		);
	}
);

test(
	'private properties are never sent, at any depth',
	function () {
		$deep = new class() {
			public $seen    = 'yes';
			protected $kept = 'a password';
			private $hidden = 'a password';
		};
		for ( $level = 0; $level < 100; ++$level ) {
			$deep = array( $deep );
		}
		$json = json_encode( arriving( compact( 'deep' ) ) );
		same( true, false !== strpos( $json, 'seen: yes' ) );
		same( false, strpos( $json, 'a password' ) );
	}
);

test(
	'bytes that are not UTF-8 are read as Latin-1, in names too',
	function () {
		same(
			array(
				'caf' . 'é' => 'naïve, 漢 and 😀 and é',
				'cut'        => 'â',
			),
			arriving(
				array(
					"caf\xE9" => "na\xEFve, 漢 and 😀 and é",
					'cut'     => "\xE2",
				)
			)
		);
	}
);

test(
	'objects, open files and values that cannot be serialized do not affect other fields',
	function () {
		$broken = new class() implements JsonSerializable {
			public $seen    = 'yes';
			private $hidden = 'no';

			#[ReturnTypeWillChange]
			public function jsonSerialize() {
				throw new Exception( $this->hidden );
			}
		};
		$fields = arriving(
			array(
				'broken' => $broken,
				'file'   => STDIN,
				'when'   => new ArrayObject( array( 1 ) ),
				'object' => (object) array( 'a' => null ),
				'empty'  => array(),
			)
		);
		same( array( 'seen' => 'yes' ), $fields['broken'] );
		same( 0, strpos( $fields['file'], 'Resource id #' ) );
		same( array( 'a' => null ), $fields['object'] );
		same( array(), $fields['empty'] );
	}
);

test(
	'a submission that the database rejects twice is passed to an action and logged',
	function () {
		// The option says that the table exists.
		$kept = function ( array $insertions ) {
			$GLOBALS['wpdb']->insertions           = $insertions;
			Site::$options[ Queue::SCHEMA_OPTION ] = '1';
			$log                                   = tempnam( sys_get_temp_dir(), 'log' );
			$before                                = ini_set( 'error_log', $log );
			$submission                            = Submission::create( 'contact', array( 'name' => 'Ada' ), array(), 0 );
			$queue                                 = new Queue( new Clock(), new RefusedFiles( new Clock() ) );
			$queue->add( $submission );
			ini_set( 'error_log', $before );
			$logged = file_get_contents( $log );
			unlink( $log );
			same( false, strpos( $logged, 'Ada' ) );
			return array( '' !== $logged, array_column( Site::$actions, 1, 0 )['form_bridge_not_kept'] ?? null, $submission->json() );
		};
		same( array( false, null ), array_slice( $kept( array( 1 ) ), 0, 2 ) );
		same( array( false, null ), array_slice( $kept( array( false, 1 ) ), 0, 2 ) );
		list( $is_logged, $handed, $json ) = $kept( array( false, false ) );
		same( true, $is_logged );
		same( array( $json ), $handed );
	}
);

test(
	'a submission that the database accepts only without its files is stored without them, and the owner is told',
	function () {
		$path = tempnam( sys_get_temp_dir(), 'form-bridge' );
		file_put_contents( $path, 'Hello' );
		$refused                     = new RefusedFiles( new Clock() );
		$files                       = array( 'files' => array( array( 'path' => $path, 'field' => 'CV', 'name' => 'cv.pdf' ) ) );
		$GLOBALS['wpdb']->insertions = array( false, false, 1 );
		( new Queue( new Clock(), $refused ) )->add( Submission::create( 'jobs', array(), $files, 0 ) );
		unlink( $path );
		same( array(), $GLOBALS['wpdb']->insertions );
		same( array(), Site::$actions );
		same( array( 'CV', 5, 'not_stored' ), array( $refused->all()[0]['field'], $refused->all()[0]['size'], $refused->all()[0]['reason'] ) );
	}
);

test(
	'of many files the first ten are sent, and further ones are named',
	function () {
		$path = tempnam( sys_get_temp_dir(), 'form-bridge' );
		file_put_contents( $path, 'x' );
		$files = array_fill( 0, 25, array( 'path' => $path ) );
		$sent  = Submission::create( 'jobs', array(), array( 'files' => $files ), 0 )->files();
		unlink( $path );
		same( array( 10, 10 ), array( count( array_column( $sent, 'content' ) ), count( array_keys( array_column( $sent, 'omitted' ), 'too_many', true ) ) ) );
	}
);

test(
	'the name of a file has no directories and control characters',
	function () {
		foreach ( array( '../../cv.pdf', 'C:\\cv.pdf', "/tmp/c\x00v.pdf" ) as $name ) {
			$files = array( array( 'path' => '', 'name' => $name ) );
			same( 'cv.pdf', Submission::create( 'jobs', array(), array( 'files' => $files ), 0 )->files()[0]['name'] );
		}
	}
);
