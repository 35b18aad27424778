#!/usr/bin/env bash
# Other people's tools read what we write: NumPy the exported arrays, TensorBoard the event files, safetensors the weights.
# Needs python3 with venv and pip; everything is installed under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3"
    exit 0
fi
venv=target/python
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install --quiet --disable-pip-version-check numpy safetensors tensorboard setuptools

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hnefi=${HNEFI:-target/release/hnefi}
$hnefi train --config tests/data/tiny.toml --run "$work/run" --no-table >/dev/null
$hnefi export "$work/run" --format npz --out "$work/npz" >/dev/null
$hnefi export "$work/run" --format jsonl --out "$work/games.jsonl" >/dev/null
$venv/bin/python scripts/check_files.py "$work"
