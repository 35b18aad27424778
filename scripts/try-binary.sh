#!/usr/bin/env bash
# Tries a built program as its users have it: without Rust, without this repository, in an empty home.
#     scripts/try-binary.sh HNEFI [EMULATOR...]
# It says its version, counts moves, loads a shipped network, plays a scripted game and serves the board's page.
set -euo pipefail
hnefi=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
home=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$home"' EXIT
cd "$home"

# /usr/bin and /bin hold no cargo but where a distribution's own is installed.
clean=(env -i "PATH=/usr/bin:/bin" "HOME=$home")
# Windows needs its own variables to open sockets.
[ -z "${SYSTEMROOT:-}" ] || clean+=("SYSTEMROOT=$SYSTEMROOT")
emulator=$*
# Split into words on purpose; the bash of macOS takes empty arrays for an error.
# shellcheck disable=SC2086
run() { "${clean[@]}" $emulator "$hnefi" "$@"; }
fail() {
    echo "$hnefi: $1" >&2
    exit 1
}
expect() {
    local wanted=$1 said
    shift
    said=$(run "$@" 2>&1) || fail "'hnefi $*' failed: $said"
    case $said in *"$wanted"*) ;; *) fail "'hnefi $*' does not say '$wanted' but: $said" ;; esac
}

if "${clean[@]}" bash -c 'command -v cargo rustc' >/dev/null; then
    echo "this machine has a Rust toolchain in /usr/bin; the program is tried all the same"
fi
expect "hnefi " --version
expect "nodes 6788" perft --rules copenhagen --depth 2
expect "embedded: brandubh, copenhagen" doctor
expect "score" match model:brandubh,playouts=8 random --games 2
# A person's three lines: a move, a hint, and the end. The move is on the board when the program answers.
expect "The attackers resign. The defenders win." play --plain random --rules brandubh --side attackers <<'LINES'
d6f6
hint
resign
LINES

# shellcheck disable=SC2086
"${clean[@]}" $emulator "$hnefi" play --web --listen 127.0.0.1:0 >served 2>&1 &
server=$!
for _ in $(seq 150); do
    address=$(sed -n 's|^Open http://\([^/]*\)/.*|\1|p' served)
    [ -z "$address" ] || break
    sleep 0.2
done
[ -n "$address" ] || fail "'hnefi play --web' does not say where it listens: $(cat served)"
exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
printf 'GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$address" >&3
page=$(cat <&3)
case $page in *"200 OK"*"</title>"*) ;; *) fail "the page at http://$address/ is not a page: ${page:0:300}" ;; esac
echo "tried without Rust: $(run --version)"
