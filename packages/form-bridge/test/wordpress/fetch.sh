#!/usr/bin/env bash
# Fetches WordPress for the end-to-end tests of the plugin: 6.1 from Debian 12 and the newest in
# Debian, each with the libraries it links to and an SQLite drop-in. Nothing is installed, and
# nothing is fetched twice.
#
#   fetch.sh <directory>
#
# Uses the configured Debian mirror; apt verifies signatures. Requires Debian and npm.
set -euo pipefail

target=${1:?"usage: fetch.sh <directory>"}
# The version of the npm package that contains the SQLite drop-in.
drop_in=3.1.56
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

find_mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n1
}

mkdir -p "$target"
target=$(cd "$target" && pwd)
work=$(mktemp -d "$target/fetching-XXXXXX")
trap 'rm -rf "$work"' EXIT

# The mirror is known only after the package lists were fetched.
if [ ! -d "$target/oldest" ] || [ ! -d "$target/newest" ]; then
  mirror=$(find_mirror)
  [ -n "$mirror" ] || { apt-get update -qq && mirror=$(find_mirror); }
  if [ -z "$mirror" ] || [ ! -e "$keyring" ]; then
    echo "The apt sources contain no Debian mirror, so WordPress cannot be fetched." >&2
    exit 1
  fi
fi

# from_suite <name> <suite>: unpacks WordPress into a directory of that name.
from_suite() {
  local apt="$work/$2"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$apt/root"
  echo "deb [signed-by=$keyring] $mirror $2 main" >"$apt/sources.list"
  local options=(
    -qq
    -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache"
    -o APT::Sandbox::User=root -o Acquire::Languages=none
  )
  # Explicit returns, because "set -e" has no effect in a function called before "||".
  apt-get "${options[@]}" update || return 1
  (cd "$apt/debs" && apt-get "${options[@]}" download \
    wordpress libphp-phpmailer php-getid3 libjs-cropper libjs-jquery-ui libjs-lodash libjs-underscore) || return 1
  for deb in "$apt"/debs/*.deb; do dpkg-deb -x "$deb" "$apt/root"; done
  rm -rf "$work/$1"
  mkdir "$work/$1"
  # Removes Debian's configuration, and copies the targets of links to libraries.
  rm -f "$apt/root/usr/share/wordpress/"{.htaccess,wp-config.php}
  cp -RL "$apt/root/usr/share/wordpress/." "$work/$1/"
  # Sites share these files; each has its own configuration.
  echo "<?php require getenv( 'WORDPRESS_CONFIG' );" >"$work/$1/wp-config.php"
}

# with_sqlite <name>: adds the SQLite drop-in.
with_sqlite() {
  (cd "$work" && npm pack --silent "@wp-playground/cli@$drop_in" >/dev/null)
  tar -xzf "$work/wp-playground-cli-$drop_in.tgz" -C "$work" package/sqlite-database-integration.zip
  rm -rf "$work/unzipped"
  php -r '$zip = new ZipArchive; exit( true === $zip->open( $argv[1] ) && $zip->extractTo( $argv[2] ) ? 0 : 1 );' \
    "$work/package/sqlite-database-integration.zip" "$work/unzipped"
  mv "$work/unzipped"/* "$work/$1/sqlite-database-integration"
  # WordPress before 6.2 reads this property from outside the class.
  sed -i 's/private \$allow_unsafe_unquoted_parameters/public $allow_unsafe_unquoted_parameters/' \
    "$work/$1/sqlite-database-integration/wp-includes/sqlite/class-wp-sqlite-db.php"
}

# Moves a complete directory into place, so that no partial one is ever used.
keep() {
  rm -rf "${target:?}/$1"
  mv "$work/$1" "$target/$1"
}

if [ ! -d "$target/oldest" ]; then
  from_suite oldest bookworm
  with_sqlite oldest
  keep oldest
fi

if [ ! -d "$target/newest" ]; then
  if from_suite newest sid || from_suite newest trixie; then
    with_sqlite newest
    keep newest
  else
    echo "WARNING: no newer WordPress could be fetched, the plugin is tested on the oldest one only" >&2
  fi
fi

for name in oldest newest; do
  [ -d "$target/$name" ] || continue
  php -r 'require $argv[1]; echo "WordPress $wp_version\n";' "$target/$name/wp-includes/version.php"
done
