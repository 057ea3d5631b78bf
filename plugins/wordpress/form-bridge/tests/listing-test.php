<?php
/** What WordPress is told of a release when the service lies. */

use FormBridge\Listing;

test(
	'nothing that WordPress would install or obey gets from the service into an update',
	function () {
		$offer = array(
			'version'        => '1.1.0',
			'new_version'    => '9.9.9',
			'url'            => 'https://example.com',
			'package'        => 'https://evil.example/a.zip',
			'tested'         => array( '7.1' ),
			'requires_php'   => '7.4',
			'autoupdate'     => true,
			'translations'   => array(
				array(
					'language' => 'de_DE',
					'package'  => 'https://evil.example/de.zip',
				),
			),
			'upgrade_notice' => 'Read this',
		);
		same(
			array(
				'version'        => '1.1.0',
				'url'            => 'https://example.com',
				'requires_php'   => '7.4',
				'upgrade_notice' => 'Read this',
				'slug'           => 'form-bridge',
				'package'        => 'https://form-bridge.invalid/fetched-by-the-plugin',
			),
			Listing::update( $offer )
		);
	}
);

test(
	'the window with the details has no package to install and nothing that runs',
	function () {
		$details = array(
			'name'          => '<script>1</script>',
			'slug'          => 'other',
			'version'       => '1.1.0',
			'requires_php'  => '<script>2</script>',
			'last_updated'  => 'never',
			'download_link' => 'https://evil.example/a.zip',
			'sections'      => array(
				'changelog'          => '<p>New</p>',
				'<script>3</script>' => 'x',
				'faq'                => array( 'x' ),
			),
		);
		same(
			array(
				'version'  => '1.1.0',
				'name'     => 'Form-Bridge',
				'slug'     => 'form-bridge',
				'sections' => array( 'changelog' => '<p>New</p>' ),
			),
			Listing::details( $details )
		);
		same( '1.0.0', Listing::details( array( 'sections' => 'x' ) )['version'] );
	}
);
