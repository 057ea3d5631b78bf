<?php
/** The plugin runs on PHP 7.4, and all its texts can be translated. */

require __DIR__ . '/pot.php';

test(
	'no file uses syntax newer than PHP 7.4',
	function () {
		$newer = array( 'T_MATCH', 'T_ATTRIBUTE', 'T_NULLSAFE_OBJECT_OPERATOR', 'T_ENUM', 'T_READONLY' );
		$calls = '/\b(str_contains|str_starts_with|str_ends_with|array_is_list|get_debug_type|array_find)\s*\(/';
		$union = '/function\b[^{;]*\(\s*[^)]*\b(public|private|protected)\s|\)\s*:\s*\??\w+\s*\|\s*\w+|:\s*(mixed|never|static)\b\s*[{;]/';
		same( true, count( plugin_files() ) > 30 );
		foreach ( plugin_files() as $file ) {
			$code = '';
			foreach ( token_get_all( file_get_contents( $file ) ) as $token ) {
				if ( is_array( $token ) && in_array( token_name( $token[0] ), $newer, true ) ) {
					throw new Exception( "$file has $token[1]" );
				}
				$is_text = is_array( $token ) && in_array( $token[0], array( T_COMMENT, T_DOC_COMMENT, T_CONSTANT_ENCAPSED_STRING, T_INLINE_HTML ), true );
				$code   .= $is_text ? ' ' : ( is_array( $token ) ? $token[1] : $token );
			}
			foreach ( array( $calls, $union ) as $pattern ) {
				if ( preg_match( $pattern, $code, $found ) ) {
					throw new Exception( "$file has $found[0]" );
				}
			}
		}
	}
);

test(
	'every translated text names the text domain of the plugin',
	function () {
		$texts = 0;
		foreach ( plugin_files() as $file ) {
			preg_match_all( '/\b(?:__|_e|esc_html__|esc_html_e|esc_attr__|esc_attr_e|_n)\(\s*((?:[^()]|\([^()]*\))*)\)/', file_get_contents( $file ), $calls );
			foreach ( $calls[1] as $arguments ) {
				++$texts;
				if ( ! preg_match( "/'form-bridge'\s*$/", $arguments ) ) {
					throw new Exception( "$file has $arguments" );
				}
			}
		}
		same( true, $texts > 50 );
	}
);

test(
	'the translation template is up to date ("php tests/pot.php > languages/form-bridge.pot" regenerates it)',
	function () {
		same( template_for_translators(), file_get_contents( dirname( __DIR__ ) . '/languages/form-bridge.pot' ) );
	}
);

test(
	'no file does anything when it is requested directly',
	function () {
		foreach ( plugin_files() as $file ) {
			if ( ! preg_match( "/defined\( '(ABSPATH|WP_UNINSTALL_PLUGIN)' \) \|\| exit;/", file_get_contents( $file ) ) ) {
				throw new Exception( "$file does" );
			}
		}
	}
);

test(
	'no asset is loaded from another host',
	function () {
		foreach ( glob( dirname( __DIR__ ) . '/{views,assets}/*', GLOB_BRACE ) as $file ) {
			same( 0, preg_match( '/(src|href)="https?:|url\(\s*["\']?(https?:)?\/\//', file_get_contents( $file ) ) );
		}
	}
);
