#!/usr/bin/env bash
# Measures the kernels on an NVIDIA card in ten minutes, and writes what it finds into a folder.
#     scripts/measure-card.sh PROGRAM FOLDER [SECONDS]      SECONDS: of the training run at the end, 150 unless said
# PROGRAM is `hnefi`, built anywhere. Python with PyTorch, and compute-sanitizer, are used where they are there.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
seconds=${3:-150}
here=$(cd "$(dirname "$0")" && pwd)

step() { printf '\n== %s (%ds)\n' "$1" "$SECONDS" | tee -a "$out/log.txt"; }
# A step that fails is written down, and the others follow.
try() { timeout "$1" "${@:2}" >>"$out/log.txt" 2>&1 || echo "failed ($?): ${*:2}" | tee -a "$out/log.txt"; }

step "the card, and whether it computes what the CPU does"
nvidia-smi >>"$out/log.txt" 2>&1 || true
try 60 "$program" doctor
try 60 "$program" doctor --device cuda:0

step "the table"
timeout 240 "$program" bench --device cuda:0 --seconds 0.5 --repeats 3 --json >"$out/card.jsonl" 2>>"$out/log.txt" ||
    echo "failed: bench" | tee -a "$out/log.txt"

step "the yardstick: PyTorch on the same card"
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>>"$out/log.txt"; then
    timeout 150 python3 "$here/card_yardstick.py" >"$out/pytorch.jsonl" 2>>"$out/log.txt" ||
        echo "failed: PyTorch" | tee -a "$out/log.txt"
fi

step "races and addresses"
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        try 60 compute-sanitizer --tool "$tool" "$program" doctor --device cuda:0
    done
fi

step "a run"
cd "$out"
minutes=$(awk "BEGIN { print $seconds / 60 }")
try "$((seconds + 60))" "$program" train --config copenhagen-gpu --set budget.generations=0 \
    --set "budget.minutes=$minutes" --no-ladder --no-table --run run
"$program" metrics run >"$out/metrics.txt" 2>>"$out/log.txt" || true
# The network, for matches elsewhere.
for checkpoint in run/checkpoints/*; do newest=$checkpoint; done
rm -rf checkpoint
try 60 cp -r "$newest" checkpoint
rm -rf run
step "done"
