#!/usr/bin/env bash
# Renders the icons of the page without a server (app/wasm/page/icon-*.png) from app/page/icon.svg, with Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
render() { # NAME SIDE BACKGROUND
    printf '<!doctype html><style>*{margin:0}body{background:%s}svg{display:block;width:%spx;height:%spx}</style>' \
        "$3" "$2" "$2" >"$work/icon.html"
    cat app/page/icon.svg >>"$work/icon.html"
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --default-background-color=00000000 \
        --window-size="$2,$2" --screenshot="$PWD/app/wasm/page/$1.png" "file://$work/icon.html" 2>/dev/null
}
render icon-192 192 transparent
render icon-512 512 transparent
# Launchers cut this one to their own shape.
render icon-maskable-512 512 "#2b2420"
