#!/usr/bin/env bash
# Input from outside, made by a fuzzer (docs/TRUST.md): a minute for each target, or for the named ones. Needs the
# nightly compiler; cargo-fuzz is installed.
#
#     scripts/fuzz.sh [--seconds N] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=60
mapfile -t known < <(sed -n 's/^    ("\([a-z_]*\)", .*/\1/p' fuzz/src/lib.rs)
targets=()
while [ $# -gt 0 ]; do
    case "$1" in
    --seconds)
        seconds=${2:?expected a number of seconds}
        shift 2
        ;;
    -*)
        echo "expected scripts/fuzz.sh [--seconds N] [TARGET...], found $1" >&2
        exit 2
        ;;
    *)
        [[ " ${known[*]} " == *" $1 "* ]] || {
            echo "no target $1; expected one of: ${known[*]}" >&2
            exit 2
        }
        targets+=("$1")
        shift
        ;;
    esac
done
[ ${#targets[@]} -gt 0 ] || targets=("${known[@]}")

missing() {
    echo "$1. Without: cargo test --release --manifest-path fuzz/Cargo.toml --no-default-features" >&2
    exit 1
}
[ "$(uname -sm)" = "Linux x86_64" ] || missing "no fuzzer for this system"
rustc +nightly --version >/dev/null 2>&1 || missing "no nightly compiler"
mkdir -p target/fuzz/logs target/fuzz/artifacts
echo 'fn main() {}' | rustc +nightly -Zsanitizer=address -o target/fuzz/sanitized - 2>/dev/null ||
    missing "no AddressSanitizer"
command -v c++ >/dev/null || missing "no C++ compiler for libFuzzer"
PATH=$PATH:$PWD/target/tools/bin
command -v cargo-fuzz >/dev/null || cargo install --quiet --locked --version 0.13.2 --root target/tools cargo-fuzz ||
    missing "cargo-fuzz could not be installed"

cargo +nightly fuzz build --target-dir target/fuzz
built=target/fuzz/x86_64-unknown-linux-gnu/release/any
for target in "${targets[@]}"; do
    corpus=target/fuzz/corpus/$target log=target/fuzz/logs/$target.log
    mkdir -p "$corpus"
    if ! HNEFI_TARGET=$target HNEFI_SEEDS=$corpus "$built" "$corpus" -max_total_time="$seconds" -timeout=20 \
        -rss_limit_mb=1500 -max_len=16384 -use_value_profile=1 -print_final_stats=1 \
        -artifact_prefix="target/fuzz/artifacts/$target-" >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "$target: found something, log in $log; again with a FILE of target/fuzz/artifacts:"
        echo "HNEFI_TARGET=$target $built FILE"
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
    echo "$target: $runs inputs, $coverage"
done
