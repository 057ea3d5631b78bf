<?php
/**
 * Prints the template for translators, languages/form-bridge.pot:
 *
 *     php tests/pot.php > languages/form-bridge.pot
 */

/** @return string */
function template_for_translators(): string {
	$entries = array();
	foreach ( plugin_files() as $file ) {
		$place = substr( $file, strlen( dirname( __DIR__ ) ) + 1 );
		foreach ( translated_texts( $file ) as $texts ) {
			$entries[ json_encode( $texts ) ]['texts']                = $texts;
			$entries[ json_encode( $texts ) ]['places'][ $place ] = true;
		}
	}
	ksort( $entries );
	$template = "msgid \"\"\nmsgstr \"\"\n\"Project-Id-Version: Form-Bridge\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"X-Domain: form-bridge\\n\"\n";
	foreach ( $entries as $entry ) {
		$template .= "\n#: " . implode( ' ', array_keys( $entry['places'] ) ) . "\n";
		list( $one, $many ) = array_pad( $entry['texts'], 2, null );
		$template          .= 'msgid ' . quoted( $one ) . "\n";
		$template          .= null === $many ? "msgstr \"\"\n" : 'msgid_plural ' . quoted( $many ) . "\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
	}
	return $template;
}

function quoted( string $text ): string {
	return '"' . addcslashes( $text, "\"\\" ) . '"';
}

/** @return array<int, string[]> One text, or singular and plural, of each call that translates. */
function translated_texts( string $file ): array {
	$found  = array();
	$tokens = array_values(
		array_filter(
			token_get_all( file_get_contents( $file ) ),
			function ( $token ) {
				return ! is_array( $token ) || ! in_array( $token[0], array( T_WHITESPACE, T_COMMENT, T_DOC_COMMENT ), true );
			}
		)
	);
	foreach ( $tokens as $at => $token ) {
		$name = is_array( $token ) && T_STRING === $token[0] ? $token[1] : '';
		if ( ! in_array( $name, array( '__', '_n', 'esc_html__', 'esc_html_e', 'esc_attr__' ), true ) || '(' !== $tokens[ $at + 1 ] ) {
			continue;
		}
		$texts = array( literal( $tokens[ $at + 2 ] ) );
		if ( '_n' === $name ) {
			$texts[] = literal( $tokens[ $at + 4 ] );
		}
		$found[] = $texts;
	}
	return $found;
}

function literal( $token ): string {
	if ( ! is_array( $token ) || T_CONSTANT_ENCAPSED_STRING !== $token[0] ) {
		throw new Exception( 'Only a literal text can be translated' );
	}
	return strtr( substr( $token[1], 1, -1 ), array( "\\'" => "'" ) );
}

/** @return string[] */
function plugin_files(): array {
	$found = array();
	foreach ( new RecursiveIteratorIterator( new RecursiveDirectoryIterator( dirname( __DIR__ ), FilesystemIterator::SKIP_DOTS ) ) as $file ) {
		if ( 'php' === $file->getExtension() && 0 !== strpos( $file->getPathname(), __DIR__ ) ) {
			$found[] = $file->getPathname();
		}
	}
	sort( $found );
	return $found;
}

if ( realpath( $_SERVER['SCRIPT_FILENAME'] ) === __FILE__ ) {
	echo template_for_translators();
}
