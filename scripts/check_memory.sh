#!/usr/bin/env bash
# The kernels' tests under AddressSanitizer, for every instruction set of this machine, and some of the portable code
# under Miri (docs/TRUST.md). Both need the nightly compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --release -p hnefi-kernels --lib \
    --target x86_64-unknown-linux-gnu --target-dir target/asan
cargo +nightly miri --version >/dev/null 2>&1 || rustup component add --toolchain nightly miri rust-src
# Miri takes minutes for what takes milliseconds: the tests that are over soon.
MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test \
    -p hnefi-kernels --lib --target-dir target/miri -- buffers_ refused outputs_
