#!/usr/bin/env bash
# Builds the wheel of the Python package, for every CPU of its architecture and every CPython from 3.9 on (abi3):
#     scripts/build-wheel.sh --out DIR [-- MATURIN OPTIONS]
# Needs python3 with venv, Rust and a C compiler. Tools and build lie under target/, or under CARGO_TARGET_DIR. The
# workflow of releases and CI build by this script alone.
set -euo pipefail
if [ $# -lt 2 ] || [ "$1" != --out ]; then
    echo "expected --out DIR" >&2
    exit 2
fi
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ "${1:-}" != -- ] || shift
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
work=$(cd "$target" && pwd)/python-package
cd "$root"
python=$(command -v python3 || command -v python) || { echo "no Python: expected python3 on the path" >&2 && exit 1; }
[ -d "$work/tools" ] || "$python" -m venv "$work/tools"
tools=$work/tools/bin
[ -d "$tools" ] || tools=$work/tools/Scripts
"$tools/python" -m pip install --quiet --disable-pip-version-check --requirement python/tests/build-requirements.txt
case " $* " in *" --zig "*) "$tools/python" -m pip install --quiet --disable-pip-version-check ziglang ;; esac

# A wheel is for every CPU, whatever this machine builds for otherwise: its build has a folder of its own.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
export CARGO_TARGET_DIR=$work/build
cd python
"$tools/maturin" build --release --locked --quiet --out "$out" "$@"
