#!/usr/bin/env bash
# Builds an empty Debian 13 with what docs/install.md installs from Debian and the programs that check
# the files of deploy/. Nothing is installed on this machine, and nothing is built twice.
#
#   debian.sh <directory>
#
# Uses the configured Debian mirror; apt verifies signatures. Requires Debian, root and mmdebstrap.
set -euo pipefail

target=${1:?"usage: debian.sh <directory>"}
mkdir -p "$(dirname "$target")"
# Of several tests that need it, one builds it.
exec 9>"$target.lock"
flock 9
[ -d "$target" ] && exit
packages=systemd,dbus,nodejs,caddy,promtool,docker-compose

find_mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n1
}

# The mirror is known only after the package lists were fetched.
mirror=$(find_mirror)
[ -n "$mirror" ] || { apt-get update -qq && mirror=$(find_mirror); }
[ -n "$mirror" ] || {
  echo "The apt sources contain no Debian mirror, so no Debian can be built." >&2
  exit 1
}

work=$(mktemp -d "$target.building-XXXXXX")
trap 'rm -rf "$work"' EXIT
mmdebstrap --quiet --variant=minbase --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  trixie "$work/root" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main"
# Moved when it is complete, so that no partial one is ever used.
mv "$work/root" "$target"
