#!/usr/bin/env bash
# Checks that take too long for every change: run by the forge at night, and by hand before an issue is done.
#     scripts/check-long.sh                 # all of them
#     scripts/check-long.sh STEP...         # these
# A tool that is missing and cannot be installed fails.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(threads memory fuzz packages pytorch arm64 container buckets faults soak)
for step in "${steps[@]}"; do
    printf '\n== %s (%ds)\n' "$step" "$SECONDS"
    case $step in
    # Queues and searches on many threads, in many orders of their steps.
    threads) cargo test --release --manifest-path interleavings/Cargo.toml --target-dir target ;;
    # The kernels under AddressSanitizer and Miri.
    memory) scripts/check_memory.sh ;;
    fuzz) scripts/fuzz.sh --seconds 20 ;;
    # The rules as a package of their own, built from what would be published.
    packages) cargo package -p hnefi-engine --allow-dirty --target-dir target/packages ;;
    # The Python package beside PyTorch.
    pytorch) scripts/check-python-package.sh --pytorch ;;
    # arm64 in an emulator, Windows and macOS by their types.
    arm64) scripts/check-targets.sh --types ;;
    # The very scripts of the workflow of releases.
    container)
        cargo build --release
        rm -rf target/release-files
        scripts/build-release.sh --binary target/release/hnefi
        scripts/check-container.sh --archive target/release-files/hnefi-*.tar.gz
        ;;
    # Runs in buckets, and many machines, killed: a server of tests first, then real ones.
    buckets)
        buckets=(--release --features buckets --test machines --test commands --test faults)
        cargo test "${buckets[@]}"
        cargo test "${buckets[@]}" -- --ignored killed_
        cargo test --release -p hnefi-run --features buckets --lib
        cargo build --release --features buckets
        scripts/check-buckets.sh
        ;;
    faults) cargo test --release --test faults -- --ignored faults_ ;;
    soak) scripts/soak.py ;;
    *) echo "no step $step" >&2 && exit 2 ;;
    esac
done
