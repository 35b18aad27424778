#!/usr/bin/env bash
# Other machines' programs, as far as this one can tell:
#     scripts/check-targets.sh             # arm64's tests of the rules and the kernels, in an emulator
#     scripts/check-targets.sh --types     # also checks the program without burn for Windows and macOS, types only
# Needs rustup's targets, Debian's cross compilers and qemu, and the package ziglang of PyPI, whose clang compiles C for
# macOS. What cannot be installed fails. The program on a real Windows or macOS is the workflows' matter.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/target/targets
mkdir -p "$work"
export CARGO_TARGET_DIR=$work/build
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
wanted=${1:-}
program=(-p hnefi --no-default-features --features "web,terminal")

# can TARGET COMMAND PACKAGE...: whether the target's standard library and a C compiler are there or can be installed.
can() {
    local target=$1 command=$2
    shift 2
    rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target" >/dev/null 2>&1 ||
        { echo "$target: rustup cannot add it" >&2 && exit 1; }
    command -v "$command" >/dev/null || apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
        { echo "$target: no $command" >&2 && exit 1; }
}

arm=aarch64-unknown-linux-gnu
emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
if can $arm aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross && can $arm qemu-aarch64 qemu-user; then
    cargo test --release --target $arm -p hnefi-engine -p hnefi-kernels --lib
    echo "$arm: the tests of rules and kernels pass in an emulator"
fi
[ -n "$wanted" ] || exit 0

windows=x86_64-pc-windows-gnu
if can $windows x86_64-w64-mingw32-gcc-posix gcc-mingw-w64-x86-64-posix; then
    export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc-posix
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix
    cargo check --release --target $windows "${program[@]}"
    echo "$windows: the program without burn is checked, and not run"
fi

mac=aarch64-apple-darwin
tools=$work/tools/bin
if can $mac python3 python3-venv && { [ -x "$tools/python" ] || python3 -m venv "$work/tools"; } &&
    "$tools/python" -m pip install --quiet --disable-pip-version-check ziglang; then
    # The compiler that build scripts ask for, without the flags that zig has no word for.
    cat >"$work/zig-cc" <<'SCRIPT'
#!/usr/bin/env bash
arguments=()
for argument in "$@"; do
    case $argument in -arch | arm64 | --target=* | -mmacosx-version-min=*) ;; *) arguments+=("$argument") ;; esac
done
exec "$(dirname "$0")/tools/bin/python" -m ziglang cc -target aarch64-macos "${arguments[@]}"
SCRIPT
    printf '#!/bin/sh\nexec "%s" -m ziglang ar "$@"\n' "$tools/python" >"$work/zig-ar"
    chmod +x "$work/zig-cc" "$work/zig-ar"
    CC_aarch64_apple_darwin=$work/zig-cc AR_aarch64_apple_darwin=$work/zig-ar SDKROOT=/ \
        cargo check --release --target $mac "${program[@]}"
    echo "$mac: the program without burn is checked, and not run"
fi
