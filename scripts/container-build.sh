#!/usr/bin/env bash
# The build stage of the Dockerfile: fills OUT with what the image has beside Debian.
#     scripts/container-build.sh OUT [ARCHIVE]
# ARCHIVE, made by scripts/build-release.sh, saves the build. Needs cargo otherwise, and installs a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
archive=${2:-}
missing=
command -v cc >/dev/null || missing="gcc libc6-dev"
# The certificates that TLS to a bucket checks.
[ -f /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
# shellcheck disable=SC2086 # Words of their own on purpose.
[ -z "$missing" ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null; }
if [ -z "$archive" ]; then
    scripts/build-release.sh --out target/container-files
    archive=$(ls target/container-files/hnefi-*.tar.gz)
fi

local=$out/usr/local
mkdir -p "$local/bin" "$local/share/bash-completion/completions" "$local/share/doc/hnefi" "$out/etc/ssl/certs"
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar -xzf "$archive" -C "$unpacked" --strip-components 1
install -m 755 "$unpacked/hnefi" "$local/bin/hnefi"
cp -r "$unpacked/man" "$local/share/"
cp "$unpacked/completions/hnefi" "$local/share/bash-completion/completions/"
cp "$unpacked"/*.md "$unpacked"/LICENSE-* "$local/share/doc/hnefi/"
cp /etc/ssl/certs/ca-certificates.crt "$out/etc/ssl/certs/"
