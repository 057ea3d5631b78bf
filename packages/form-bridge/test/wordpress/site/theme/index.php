<!doctype html>
<html <?php language_attributes(); ?>>
<head><?php wp_head(); ?></head>
<body>
<?php
while ( have_posts() ) {
	the_post();
	the_title();
	the_content();
}
wp_footer();
?>
</body>
</html>
