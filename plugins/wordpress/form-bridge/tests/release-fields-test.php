<?php
/** Fields that are passed to WordPress if the service is compromised. */

use FormBridge\ReleaseFields;

test(
	'an update contains nothing from the service that WordPress would install or obey',
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
			ReleaseFields::update( $offer )
		);
	}
);

test(
	'the details of a release contain no package and no unknown section',
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
			ReleaseFields::details( $details )
		);
		same( '1.0.0', ReleaseFields::details( array( 'sections' => 'x' ) )['version'] );
	}
);

test(
	'a release that is tested with the branch of WordPress counts as tested with the patch level of the site',
	function () {
		same( '6.8.12', get_bloginfo( 'version' ) );
		$tested = array(
			'6.8'    => '6.8.12',
			'6.8.12' => '6.8.12',
			'6.8.1'  => '6.8.1',
			'6'      => '6',
			'6.7'    => '6.7',
			'7.1'    => '7.1',
		);
		foreach ( $tested as $given => $shown ) {
			$offer = array( 'tested' => (string) $given );
			same( $shown, ReleaseFields::update( $offer )['tested'] );
			same( $shown, ReleaseFields::details( $offer )['tested'] );
		}
	}
);
