#!/usr/bin/env bash
# Tries a wheel as its users have it: in an empty virtual environment, with no Rust on the path.
#     scripts/try-wheel.sh WHEEL [FOLDER]
# makes the environment in FOLDER, and otherwise in a folder that is removed again. NumPy comes from the package index.
set -euo pipefail
wheel=$1
folder=${2:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
base=$(command -v python3 || command -v python) || { echo "no Python: expected python3 on the path" >&2 && exit 1; }
"$base" -m venv "$folder"
python=$folder/bin/python
[ -x "$python" ] || python=$folder/Scripts/python.exe
"$python" -m pip install --quiet --disable-pip-version-check "$wheel"
cd "$folder"
env -i "PATH=/usr/bin:/bin" ${SYSTEMROOT:+"SYSTEMROOT=$SYSTEMROOT"} "$python" - <<'PYTHON'
import hnefi

assert hnefi.Position("copenhagen").perft(2) == 6788
found = hnefi.Checkpoint("brandubh").search(hnefi.Position("brandubh"), 16)
print("tried without Rust:", hnefi.build_info(), found.best)
PYTHON
