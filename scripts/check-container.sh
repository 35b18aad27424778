#!/usr/bin/env bash
# Builds the image of the Dockerfile with buildah and tries the program in it.
#     scripts/check-container.sh --archive FILE      # the program of scripts/build-release.sh, not the first stage
#     scripts/check-container.sh --full              # every step of the Dockerfile, compiling with burn
# No registry of images is asked: Debian's own bootstrap makes the base image, and the installed Rust toolchain goes on
# top of it for the first stage. Needs root, and Debian's buildah and debootstrap. All files lie under target/container.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/target/container
archive=
case ${1:-} in
    --archive) archive=$2 ;;
    --full) ;;
    *) echo "expected --archive FILE or --full" >&2 && exit 2 ;;
esac
skip() {
    echo "$1; the container is not built" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || skip "not root"
if ! command -v buildah >/dev/null || ! command -v debootstrap >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends buildah debootstrap >/dev/null; } ||
        skip "buildah and debootstrap could not be installed"
fi
mkdir -p "$work"
image() { buildah --root "$work/images" --runroot "$work/state" --storage-driver vfs "$@"; }
container=
trap '[ -z "$container" ] || image rm "$container" >/dev/null' EXIT

suite=$(sed -n 's/^FROM debian:\(.*\)-slim$/\1/p' Dockerfile)
base=docker.io/library/debian:$suite-slim
if ! image inspect --type image "$base" >/dev/null 2>&1; then
    rm -rf "$work/debian"
    debootstrap --variant=minbase "$suite" "$work/debian" >"$work/debootstrap.log" 2>&1 ||
        skip "debootstrap failed, see target/container/debootstrap.log"
    rm -rf "$work"/debian/var/cache/apt/* "$work"/debian/var/lib/apt/lists/* "$work"/debian/usr/share/{doc,locale,man}/*
    container=$(image from scratch)
    image add -q "$container" "$work/debian" / >/dev/null
    image config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd bash "$container"
    image commit -q --rm "$container" "$base" >/dev/null
    container=
    rm -rf "$work/debian"
fi

options=(--isolation chroot --pull-never --layers=false --tag hnefi)
if [ -n "$archive" ]; then
    rm -rf "$work/build"
    scripts/container-build.sh "$work/build/out" "$archive"
    options+=(--build-context "build=$work/build")
else
    # As the official image: the toolchain of rust-version in /usr/local/cargo/bin.
    container=$(image from --pull-never "$base")
    toolchain=$(rustc --print sysroot)
    image add -q "$container" "$toolchain" /usr/local/cargo >/dev/null
    image config --env "PATH=/usr/local/cargo/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$container"
    rust=$(sed -n 's/^FROM \(rust:.*\) AS build$/\1/p' Dockerfile)
    image commit -q --rm "$container" "docker.io/library/$rust" >/dev/null
    container=
fi
image build "${options[@]}" . >"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log" && exit 1; }

container=$(image from --pull-never hnefi)
inside() { image run --isolation chroot "$container" -- "$@"; }
[ "$(inside id -un)" = hnefi ] || { echo "the image runs as $(inside id -un), not as hnefi" && exit 1; }
! inside sh -c 'command -v cargo rustc cc' 2>/dev/null || { echo "the image has a compiler" && exit 1; }
inside sh -c 'touch /work/runs/file && ! touch /usr/local/file 2>/dev/null' ||
    { echo "wrong rights in the image" && exit 1; }
inside sh -c 'test -s /usr/local/share/man/man1/hnefi-train.1 && test -s /etc/ssl/certs/ca-certificates.crt'
config=$(image inspect --type image --format '{{.OCIv1.Config}}' hnefi)
for wanted in "[hnefi]" 8037/tcp /work/runs; do
    case $config in *"$wanted"*) ;; *) echo "the image's configuration lacks $wanted: $config" && exit 1 ;; esac
done
image run --isolation chroot -v "$PWD/scripts/try-binary.sh:/tmp/try-binary.sh:ro" "$container" -- \
    bash /tmp/try-binary.sh /usr/local/bin/hnefi
image images --format '{{.Name}} {{.Size}}' | grep -E "hnefi|debian"
