#!/usr/bin/env bash
# The kernels' tests under AddressSanitizer, for every instruction set of this machine, and some of the portable code
# under Miri (docs/TRUST.md). Both need the nightly compiler; without it Valgrind looks at what it can run.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" = x86_64 ] && rustc +nightly --version >/dev/null 2>&1; then
    RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --release -p hnefi-kernels --lib \
        --target x86_64-unknown-linux-gnu --target-dir target/asan
    if cargo +nightly miri --version >/dev/null 2>&1 ||
        rustup component add --toolchain nightly miri rust-src >/dev/null 2>&1; then
        # Miri takes minutes for what takes milliseconds: the tests that are over soon.
        MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test \
            -p hnefi-kernels --lib --target-dir target/miri -- buffers_ refused outputs_
    else
        echo "no Miri for this nightly compiler" >&2
        exit 1
    fi
elif command -v valgrind >/dev/null; then
    cargo test --release -p hnefi-kernels --lib --no-run
    test=$(cargo test --release -p hnefi-kernels --lib --no-run --message-format json 2>/dev/null |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    valgrind --error-exitcode=1 --quiet "$test" --test-threads 1
else
    echo "neither a nightly compiler nor valgrind" >&2
    exit 1
fi
