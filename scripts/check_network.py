"""Runs an exported network in ONNX Runtime and in NumPy and compares both with our own outputs.

Called by check-python-reads-our-files.sh with a folder holding checkpoints: NAME/ with card.json and model.safetensors,
NAME.onnx and NAME.npz (the reference) for each NAME given.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from numpy_network import compare, difference_of

TOLERANCE = 1e-4
BOARDS = ("7x7", "9x9", "11x11", "13x13", "19x19")

folder = pathlib.Path(sys.argv[1])
for name in sys.argv[2:]:
    card = json.loads((folder / name / "card.json").read_text())
    reference = np.load(folder / f"{name}.npz")
    model = onnx.load(folder / f"{name}.onnx")
    onnx.checker.check_model(model, full_check=True)
    notes = {note.key: note.value for note in model.metadata_props}
    assert notes["id"] == card["id"] and notes["encoding"] == str(card["encoding"]), notes
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    assert outputs == ["policy", "wdl", "moves_left", "occupancy"], outputs

    greatest = 0.0
    for board in BOARDS:
        planes, globals_ = reference[f"planes_{board}"], reference[f"globals_{board}"]
        # Both roles are to move somewhere, so both heads are compared.
        assert set(globals_[:, 0]) == {0.0, 1.0}, board
        for rows in (slice(0, 1), slice(1, 6), slice(None)):
            answers = session.run(outputs, {"planes": planes[rows], "globals": globals_[rows]})
            for output, found in zip(outputs, answers):
                expected = reference[f"{output}_{board}"][rows]
                assert found.shape == expected.shape, (board, output, found.shape, expected.shape)
                greatest = max(greatest, difference_of(found, expected))
    assert greatest < TOLERANCE, f"{name}: ONNX Runtime differs by {greatest}"

    difference = compare(folder / name, reference)
    assert difference < TOLERANCE, f"{name}: NumPy differs by {difference}"
    print(f"onnxruntime and numpy: {name} agrees on {len(BOARDS)} boards to {greatest:.1e} and {difference:.1e}")
