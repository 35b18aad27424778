#!/usr/bin/env bash
# Builds the program as it is given out, tries it, and packs it with its manual pages, completions and licences:
#     scripts/build-release.sh [--target TRIPLE] [--binary FILE] [--out DIR] [-- CARGO OPTIONS]
# makes DIR/hnefi-VERSION-TRIPLE.tar.gz (DIR: target/release-files). --binary packs a program that is built already.
# The workflow of releases, the container and CI build and pack by this script alone.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p' || true)
binary=
out=target/release-files
while [ $# -gt 0 ]; do
    case $1 in
        --target) target=$2 && shift 2 ;;
        --binary) binary=$2 && shift 2 ;;
        --out) out=$2 && shift 2 ;;
        --) shift && break ;;
        *) echo "$1: expected --target TRIPLE, --binary FILE, --out DIR or --" >&2 && exit 2 ;;
    esac
done
[ -n "$target" ] || { echo "no rustc says what this machine is: expected --target TRIPLE" >&2 && exit 2; }

if [ -z "$binary" ]; then
    # Of the TLS library's assembler on Windows, where NASM is not installed; elsewhere it says nothing.
    export AWS_LC_SYS_PREBUILT_NASM=${AWS_LC_SYS_PREBUILT_NASM:-1}
    cargo build --profile dist --locked --target "$target" --package hnefi --features buckets "$@"
    binary=${CARGO_TARGET_DIR:-target}/$target/dist/hnefi
    case $target in *windows*) binary=$binary.exe ;; esac
fi
[ -f "$binary" ] || { echo "$binary: not found; expected the built program" >&2 && exit 1; }
scripts/try-binary.sh "$binary"

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=hnefi-$version-$target
folder=$out/$name
rm -rf "$folder"
mkdir -p "$folder/completions"
cp "$binary" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder/"
hnefi() { "$folder/$(basename "$binary")" "$@"; }
hnefi man --quiet --out "$folder/man/man1"
# By the names under which the shells look for them.
hnefi completions bash >"$folder/completions/hnefi"
hnefi completions zsh >"$folder/completions/_hnefi"
hnefi completions fish >"$folder/completions/hnefi.fish"
hnefi completions elvish >"$folder/completions/hnefi.elv"
hnefi completions powershell >"$folder/completions/hnefi.ps1"
tar -C "$out" -czf "$out/$name.tar.gz" "$name"
rm -rf "$folder"
echo "$out/$name.tar.gz: $(($(wc -c <"$out/$name.tar.gz") / 1024)) KiB"
