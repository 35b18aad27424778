#!/usr/bin/env bash
# Other people's tools read what we write: pandas, pyarrow, NumPy and Hugging Face datasets the exports, ONNX Runtime
# the networks, TensorBoard the event files, safetensors the weights. Needs python3 with venv and pip; everything is
# installed under target/.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null; then
    echo "no python3; expected it on the path" >&2
    exit 1
fi
venv=target/python
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install --quiet --disable-pip-version-check --requirement scripts/requirements.txt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hnefi=${HNEFI:-${CARGO_TARGET_DIR:-target}/release/hnefi}
$hnefi train --config tests/data/tiny.toml --run "$work/run" --no-table >/dev/null
$hnefi export "$work/run" --format npz --out "$work/npz" 2>/dev/null
$hnefi export "$work/run" --format jsonl --out "$work/games.jsonl" 2>/dev/null
$hnefi metrics "$work/run" --csv --out "$work/metrics.csv"
$venv/bin/python scripts/check_files.py "$work"

# The commands of docs/DATASETS.md, before its examples.
mv "$work/npz" "$work/arrays"
$hnefi export "$work/run" --format parquet --split train=0.9,validation=0.05,test=0.05 --out "$work/dataset" 2>/dev/null
$hnefi export "$work/run" --format parquet --table games --out "$work/games" 2>/dev/null
$hnefi replay <"$work/games.jsonl" >"$work/replay.jsonl"
$venv/bin/python scripts/check_datasets.py "$work"

# Datasets of games come back as they were, and a network learns from them.
$hnefi import "$work/games.jsonl" --out "$work/lines.hgames" >/dev/null
$hnefi import "$work"/games/train/games-*.parquet --out "$work/table.hgames" >/dev/null
cmp "$work/lines.hgames" "$work/table.hgames"
$hnefi export "$work/lines.hgames" --format jsonl --out "$work/again.jsonl" 2>/dev/null
cmp <(sed 's/"generation":[0-9]*/"generation":null/' "$work/games.jsonl") "$work/again.jsonl"
$hnefi imitate "$work/table.hgames" --config tests/data/tiny.toml --epochs 1 --out "$work/imitation" >/dev/null 2>&1

# Answers of an analysis keep to their schema, and a front end reviews a game by them.
{
    head -n 3 "$work/games.jsonl" | $venv/bin/python -c '
import json, sys
for line in map(json.loads, sys.stdin):
    moves, fields = line["moves"], {name: line[name] for name in ("rules", "fen", "ply_cap")}
    question = {"id": str(line["game"]), "moves": moves, "plies": list(range(len(moves) + 1)), **fields}
    print(json.dumps({**question, "playouts": 20, "every": 8, "top": 4, "occupancy": True}))
'
    echo '{"id": "none", "rules": "chess"}'
} | $hnefi analyse brandubh >"$work/answers.jsonl"
split --lines 1 --additional-suffix .json "$work/answers.jsonl" "$work/answer-"
find "$work" -name "answer-*.json" -print0 |
    xargs -0 $venv/bin/check-jsonschema --schemafile docs/analyse.schema.json >/dev/null
reviewed=$($venv/bin/python python/examples/review_game.py "$hnefi analyse brandubh --playouts 50" brandubh d6f6 d5g5 f6f5)
[ "$(wc -l <<<"$reviewed")" = 3 ] || { echo "$reviewed"; exit 1; }

# The example that learns from a dataset predicts positions of other games better than the most frequent move does.
$hnefi match alphabeta:1 alphabeta:1 --games 200 --save "$work/games.hgames" >/dev/null 2>&1
$hnefi export "$work/games.hgames" --format npz --split train=0.8,test=0.2 --disjoint --out "$work/learned" 2>/dev/null
$venv/bin/python python/examples/learn_from_dataset.py "$work/learned" | tee "$work/learned.txt"
awk '/^the move played:/ { learned = $4; usual = $6; exit } END { exit !(learned + 0 > usual + 5) }' "$work/learned.txt"

# Networks with and without pooling in the tower.
sed -e 's/^pool_every = 1/pool_every = 0/' -e 's/^generations = 3/generations = 1/' \
    tests/data/tiny.toml >"$work/plain.toml"
$hnefi train --config "$work/plain.toml" --run "$work/plain-run" --no-table >/dev/null
cp -r models/inference/pretrained/brandubh "$work/brandubh"
cp -r "$work/run/checkpoints/000003" "$work/tiny"
cp -r "$work/plain-run/checkpoints/000001" "$work/plain"
for name in brandubh tiny plain; do
    $hnefi export-net "$work/$name" --onnx "$work/$name.onnx" --reference "$work/$name.npz" >/dev/null
done
$venv/bin/python scripts/check_network.py "$work" brandubh tiny plain
