#!/usr/bin/env bash
# Builds the board in a page without a server: a folder of static files that any host serves, in any subfolder.
#
#     scripts/build-site.sh --out DIR
#
# Needs Rust's target wasm32-unknown-unknown, which is added with rustup where it is missing. DIR must not exist yet, or
# be empty.
set -euo pipefail

fail() { echo "build-site.sh: $1" >&2; exit 1; }

{ [ $# -eq 2 ] && [ "$1" = --out ]; } || fail "expected --out DIR, found: ${*:-nothing}"
case $2 in
/*) out=$2 ;;
*) out=$PWD/$2 ;;
esac
[ ! -e "$out" ] || { [ -d "$out" ] && [ -z "$(ls -A "$out")" ]; } || fail "$2 exists; expected a new or empty folder"
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    rustup target add "$target" >&2 || fail "Rust's target $target is missing and rustup could not add it; \
install it (rustup target add $target) and run this again"
fi

# In its folder, whose .cargo/config.toml says which instructions browsers have.
(cd app/wasm && cargo build --release --locked --target "$target" --target-dir ../../target/wasm)

# It appears complete or not at all.
site=$(mktemp -d "$(dirname "$out")/.site.XXXXXX")
trap 'rm -rf "$site"' EXIT
chmod 755 "$site"
mkdir "$site/assets" "$site/networks"
cp "target/wasm/$target/release/hnefi_wasm.wasm" "$site/assets/hnefi.wasm"
# The page of the server, but for the training page.
for file in app/page/*.css app/page/*.js app/page/*.svg app/page/texts; do
    case ${file##*/} in
    transport.js | watch.* | plots.* | lines.js | samples.js) ;;
    *) cp -r "$file" "$site/assets/" ;;
    esac
done
cp app/wasm/page/transport.js app/wasm/page/worker.js app/wasm/page/icon-*.png "$site/assets/"
cp app/wasm/page/manifest.webmanifest "$site/"
for folder in models/inference/pretrained/*/; do
    cp "$folder/model.safetensors" "$site/networks/$(basename "$folder").safetensors"
done

# The policy is the server's (app/web/src/guard.rs), and lets the page run its own program in a worker.
policy="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'"
head="<meta http-equiv=\"Content-Security-Policy\" content=\"$policy\">\\
<meta name=\"theme-color\" content=\"#2b2420\">\\
<link rel=\"manifest\" href=\"manifest.webmanifest\">\\
<link rel=\"apple-touch-icon\" href=\"assets/icon-192.png\">"
for page in index learn puzzles; do
    cat app/page/head.html "app/page/$page.html" | sed "s|^<link rel=\"icon\"|$head\\
&|" >"$site/$page.html"
    grep -q 'rel="manifest"' "$site/$page.html" ||
        fail "app/page/head.html has no line that begins with <link rel=\"icon\""
done

# The version is what the files are: another file, another version, and browsers replace what they keep.
files=$(cd "$site" && find . -type f | sed 's|^\./||' | LC_ALL=C sort)
sums=$(cd "$site" && echo "$files" | xargs sha256sum)
version=$({ echo "$sums"; cat app/wasm/page/service-worker.js; } | sha256sum | cut -c1-16)
# The folder itself is the page.
list=$(echo "$files" | sed 's|^index\.html$|./|; s|.*|"&"|' | paste -sd, | sed 's|,|, |g')
sed "s|@VERSION@|$version|; s|\"@FILES@\"|$list|" app/wasm/page/service-worker.js >"$site/service-worker.js"

[ ! -d "$out" ] || rmdir "$out"
mv "$site" "$out"
trap - EXIT
bytes=$(find "$out" -type f -print0 | xargs -0 -n1 gzip -9c | wc -c)
echo "$2: version $version, $(find "$out" -type f | wc -l) files, $((bytes / 1024)) KiB compressed with gzip"
