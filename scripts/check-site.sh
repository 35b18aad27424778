#!/usr/bin/env bash
# Builds the page without a server and tries it: its size, its speed, and in a headless Chromium a game, an analysis
# with the values of the native program, and reloads.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] && ! rustup target add "$target"; then
    echo "Rust's target $target cannot be added; expected it for the page without a server" >&2
    exit 1
fi
(cd app/wasm && cargo clippy --release --locked --target "$target" --target-dir ../../target/wasm -- -D warnings)

site=target/site
rm -rf "$site"
scripts/build-site.sh --out "$site"

# What a visitor of the large board loads: everything but the networks of other boards.
bytes=0
while read -r file; do
    bytes=$((bytes + $(gzip -9c "$file" | wc -c)))
done < <(find "$site" -type f ! -path "*/networks/*"; echo "$site/networks/copenhagen.safetensors")
echo "the page and the network of copenhagen: $((bytes / 1024)) KiB compressed with gzip"
[ "$bytes" -le $((3 << 20)) ] || { echo "expected at most 3072 KiB"; exit 1; }

node app/wasm/check-worker.mjs
node app/wasm/measure.mjs "$site" brandubh 2

HNEFI_SITE=$site cargo test --release --test site -- --include-ignored --test-threads 1 --nocapture
