#!/usr/bin/env bash
# Builds the Python package's wheel and tests it as its users have it: installed into an empty virtual environment, away
# from its sources. Needs python3 with venv and pip; everything is installed under target/, or under CARGO_TARGET_DIR.
#     scripts/check-python-package.sh              # all but what needs PyTorch
#     scripts/check-python-package.sh --pytorch    # what needs PyTorch, which takes 6 GB with NVIDIA's libraries
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in "" | --pytorch) ;; *) echo "$1: expected --pytorch or nothing" >&2 && exit 2 ;; esac
if ! command -v python3 >/dev/null; then
    echo "no python3; expected it on the path" >&2
    exit 1
fi
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
work=$(cd "$target" && pwd)/python-package
rm -rf "$work/wheels" "$work/empty"
scripts/build-wheel.sh --out "$work/wheels"
scripts/try-wheel.sh "$work"/wheels/*.whl "$work/empty"
python=$work/empty/bin/python
install() { "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --requirement "$1"; }
install python/tests/requirements.txt
# A notebook trains with a program of one's own.
cargo build --quiet --release
if [ "${1:-}" = --pytorch ]; then
    install python/tests/pytorch/requirements.txt
    "$python" -m pytest --quiet -p no:cacheprovider python/tests/pytorch
    "$python" -m mypy --strict --cache-dir "$work/mypy" -m hnefi.torch
    "$python" -m mypy --strict --cache-dir "$work/mypy" python/examples/train_with_pytorch.py
    exit
fi

(cd python && cargo fmt --check)
# As scripts/build-wheel.sh builds, so that nothing is built twice.
(unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS && cd python &&
    cargo clippy --quiet --release --target-dir "$work/build" -- -D warnings)

# A CPU of 2008 is pretended, which has no AVX: the kernels for every CPU must be chosen, and nothing crash. NumPy's
# OpenBLAS is told the CPU, since it mistakes the pretended one for a newer one on some machines.
if [ "$(uname -m)" = x86_64 ]; then
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    OPENBLAS_CORETYPE=Nehalem PYTHONPATH=$site qemu-x86_64 -cpu Nehalem "$(readlink -f "$python")" - <<'PYTHON'
import hnefi
assert hnefi.build_info()["kernels"] == "portable", hnefi.build_info()
assert hnefi.Position("copenhagen").perft(2) == 6788
print("on an old CPU:", hnefi.Checkpoint("brandubh").search(hnefi.Position("brandubh"), 16).best)
PYTHON
fi
"$python" -m pytest --quiet -p no:cacheprovider python/tests --ignore python/tests/pytorch

# The stubs say what the module has; the package and the examples keep to them.
modules=()
for file in python/python/hnefi/[a-z]*.py; do
    [ "$file" = python/python/hnefi/torch.py ] || modules+=("hnefi.$(basename "$file" .py)")
done
examples=()
for file in python/examples/*.py; do
    [ "$file" = python/examples/train_with_pytorch.py ] || examples+=("$file")
done
"$python" -m mypy --strict --cache-dir "$work/mypy" -m hnefi "${modules[@]/#/--module=}"
"$python" -m mypy --strict --cache-dir "$work/mypy" "${examples[@]}"
# OpenSpiel's classes have a metaclass that its stubs do not show.
printf 'hnefi\.open_spiel\.Hnefatafl(Game|State)\n' >"$work/allowed"
config=$PWD/python/pyproject.toml
(cd "$work" && "$python" -m mypy.stubtest --mypy-config-file "$config" --allowlist allowed hnefi._hnefi "${modules[@]}")
