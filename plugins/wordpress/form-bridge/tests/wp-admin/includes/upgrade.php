<?php
/** Makes tables, which the tests do not have. */

function dbDelta(): array {
	return array();
}
