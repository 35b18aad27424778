"""The network in PyTorch against the compiled one, the samples, and the example that trains."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import hnefi
import hnefi.torch
import numpy as np
import pytest
import torch
from torch.nn import functional as F

SHAPE = {"blocks": 2, "channels": 16, "pool_every": 2, "head_channels": 8, "value_hidden": 12}
RULESETS = ["brandubh", "tablut", "copenhagen", "parlett-13x13", "tablut-15x15", "alea-evangelii"]


def played(ruleset: str, count: int = 6) -> list[hnefi.Position]:
    env = hnefi.VectorEnv(ruleset, count, seed=3)
    env.step_random(5)
    return [env.position(row) for row in range(count)]


def agrees(network: hnefi.torch.Network, checkpoint: hnefi.Checkpoint, ruleset: str) -> None:
    positions = played(ruleset)
    seen = hnefi.encode(positions)
    with torch.no_grad():
        said = network.eval()(torch.from_numpy(seen.planes), torch.from_numpy(seen.globals))
    expected = checkpoint.evaluate(positions)
    priors = said.policy.masked_fill(~torch.from_numpy(seen.masks), -torch.inf).softmax(1)
    assert np.abs(priors.numpy() - expected.priors).max() < 1e-5
    assert np.abs(said.wdl.softmax(1).numpy() - expected.values).max() < 1e-5
    left = np.clip(np.expm1(said.moves_left.numpy()), 0, 1000)
    assert np.allclose(left, expected.plies_left, rtol=1e-4, atol=1e-4)
    assert said.occupancy.shape == (len(positions), 4, *seen.planes.shape[2:])


def random_network() -> hnefi.torch.Network:
    torch.manual_seed(1)
    network = hnefi.torch.Network(**SHAPE)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            for tensor in (module.weight.data, module.running_mean, module.running_var):
                assert tensor is not None
                tensor.uniform_(0.5, 1.5)
    return network


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_network_says_what_the_compiled_one_says(ruleset: str, tmp_path: Path) -> None:
    for name in hnefi.checkpoint_names():
        agrees(hnefi.torch.load_checkpoint(name), hnefi.Checkpoint(name), ruleset)
    network = random_network()
    hnefi.torch.save_checkpoint(tmp_path / "mine", network, {"rulesets": [ruleset], "generation": 3})
    saved = hnefi.Checkpoint(tmp_path / "mine")
    assert saved.rulesets == [ruleset] and saved.card()["generation"] == 3
    agrees(network, saved, ruleset)
    assert saved.search(played(ruleset)[0], 8).playouts > 0


def test_a_checkpoint_that_is_loaded_and_saved_is_the_same(tmp_path: Path) -> None:
    shipped = hnefi.Checkpoint("brandubh")
    hnefi.torch.save_checkpoint(tmp_path / "again", hnefi.torch.load_checkpoint("brandubh"), shipped.card())
    again = hnefi.Checkpoint(tmp_path / "again")
    assert again.id == shipped.id and again.card() == shipped.card()
    assert hnefi.match(f"model:{tmp_path / 'again'},playouts=4", "random", 2, "brandubh").games == 2


def test_half_precision_and_compiled_networks_are_close() -> None:
    network, seen = hnefi.torch.load_checkpoint("brandubh"), hnefi.encode(played("brandubh"))
    inputs = torch.from_numpy(seen.planes), torch.from_numpy(seen.globals)
    with torch.no_grad():
        whole = network(*inputs)
        with torch.autocast("cpu", torch.bfloat16):
            half = network(*inputs)
    assert (whole.wdl.softmax(1) - half.wdl.float().softmax(1)).abs().max() < 0.05


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    tensors = hnefi.Checkpoint("brandubh").tensors()
    card = {"network": hnefi.Checkpoint("brandubh").card()["network"]}
    astray = {**tensors, "globals.bias": np.full_like(tensors["globals.bias"], np.nan)}
    for changed, told, words in [
        ({name: tensors[name] for name in list(tensors)[1:]}, card, "1 tensors are missing"),
        ({**tensors, "mine": np.zeros(3)}, card, r"1 tensors are unknown \(mine\)"),
        ({**tensors, "globals.bias": np.zeros(3)}, card, "globals.bias is"),
        (astray, card, "globals.bias has numbers that are not finite"),
        (tensors, {}, 'card: no "network"'),
        (tensors, {"network": {**card["network"], "blocks": -1}}, "network"),
        (tensors, {**card, "steps": -4}, "card"),
        (tensors, {**card, "steps": 2**50}, "checkpoint card: steps is 1125899906842624; expected 0 to"),
    ]:
        with pytest.raises(ValueError, match=words):
            hnefi.save_checkpoint(tmp_path / "none", changed, told)
    assert not list(tmp_path.iterdir())
    hnefi.save_checkpoint(tmp_path / "some", tensors, card)
    with pytest.raises(ValueError, match="exists already"):
        hnefi.save_checkpoint(tmp_path / "some", tensors, card)


@pytest.fixture
def games(root: Path) -> list[hnefi.GameRecord]:
    return list(hnefi.read_games(root / "run/tests/data/version_1.hgames"))


def turned(planes: Any) -> list[bytes]:
    """Planes of one position as all symmetries show them."""
    rotated = [np.rot90(planes, turns, (1, 2)) for turns in range(4)]
    return [np.ascontiguousarray(board).tobytes() for one in rotated for board in (one, one[:, :, ::-1])]


def test_samples_are_plies_of_the_games(games: list[hnefi.GameRecord]) -> None:
    plain = hnefi.Sampler(games, 7)
    known = {}
    for record in games:
        arrays = record.arrays()
        for row in np.flatnonzero(arrays["trains"]):
            for board in turned(arrays["planes"][row]):
                known[board] = known.get(board, []) + [(arrays, row, record)]
    assert len(plain) == sum(record.arrays()["trains"].sum() for record in games if record.winner or record.outcome)
    drawn = 0
    for step in range(20):
        batch = plain.batch(step, 16)
        assert all(np.array_equal(a, b) for a, b in zip(batch, hnefi.Sampler(games, 7).batch(step, 16)))
        for row in range(16):
            choices = known[batch.planes[row].tobytes()]
            found = [
                (arrays, ply)
                for arrays, ply, record in choices
                if np.isclose(batch.moves_left[row], np.log1p(len(record) - ply))
                and np.allclose(np.sort(batch.policies[row])[-9:], np.sort(arrays["policies"][ply])[-9:])
                and batch.masks[row].sum() == arrays["masks"][ply].sum()
                and (batch.values[row] @ [1, 0, -1]) == arrays["rewards"][ply]
            ]
            assert found and np.isclose(batch.policies[row].sum(), batch.policy_weights[row], atol=1e-3)
            assert not batch.policies[row][~batch.masks[row]].any()
            drawn += 1
        assert np.array_equal(batch.occupancy.sum(1), np.ones_like(batch.occupancy[:, 0]))
    assert drawn == 320
    faded = hnefi.Sampler(games, 7, value_fade=0.1).batch(0, 16)
    certain = np.exp(-0.1 * np.expm1(plain.batch(0, 16).moves_left))
    assert np.allclose(
        faded.values[:, 1] - plain.batch(0, 16).values[:, 1],
        (1 - certain) * (plain.batch(0, 16).values[:, 1] < 1),
        atol=1e-5,
    )
    for call, words in [
        (lambda: hnefi.Sampler(games, value_lambda=1.5), "value_lambda = 1.5"),
        (lambda: hnefi.Sampler(games, value_fade=-1), "value_fade = -1"),
        (lambda: hnefi.Sampler([]).batch(0), "no ply of these games trains"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_losses_by_hand(games: list[hnefi.GameRecord]) -> None:
    samples = hnefi.Sampler(games, 7).batch(1, 8)
    network = random_network()
    outputs = network(torch.from_numpy(samples.planes), torch.from_numpy(samples.globals))
    weights = {"value_weight": 2.0, "moves_left_weight": 3.0, "occupancy_weight": 4.0}
    total, policy, value, left, occupancy = (loss.item() for loss in hnefi.torch.losses(outputs, samples, weights))
    expected = 0.0
    for row in range(8):
        legal = np.flatnonzero(samples.masks[row])
        log = F.log_softmax(outputs.policy[row, legal], 0).detach().numpy()
        expected -= float(log @ samples.policies[row, legal]) * samples.policy_weights[row] / 8
    assert np.isclose(policy, expected, atol=1e-5)
    log = F.log_softmax(outputs.wdl, 1).detach().numpy()
    assert np.isclose(value, -(log * samples.values).sum(1).mean(), atol=1e-5)
    off = np.abs(outputs.moves_left.detach().numpy() - samples.moves_left)
    assert np.isclose(left, (np.where(off < 1, off**2 / 2, off - 0.5) * samples.end_weights).mean(), atol=1e-5)
    log = F.log_softmax(outputs.occupancy, 1).detach().numpy()
    squares = -(log * samples.occupancy).sum(1).mean((1, 2)) * samples.end_weights
    assert np.isclose(occupancy, squares.mean(), atol=1e-5)
    assert np.isclose(total, policy + 2 * value + 3 * left + 4 * occupancy, atol=1e-4)


def test_the_example_does_its_tasks_and_goes_on_from_its_state(root: Path, tmp_path: Path) -> None:
    hnefi.torch.save_checkpoint(tmp_path / "checkpoint", random_network())
    train = {"batch": 16, "average_steps": 5, "weight_decay": 0.0001}
    train.update(value_weight=1.0, moves_left_weight=0.1, occupancy_weight=0.1)
    state: Path | None = None
    told = []
    for generation, kept in [(1, 2), (3, 1)]:
        lines = []
        for number in range(generation, generation + kept):
            output = tmp_path / f"output{number}"
            output.mkdir()
            task = {
                "generation": number,
                "checkpoint": str(tmp_path / "checkpoint"),
                "state": str(state) if state and number == generation else None,
                "games": [str(root / "run/tests/data/version_1.hgames")],
                "output": str(output),
                "seed": 1,
                "first_step": 40 * (number - 1),
                "rates": [0.005] * 40,
                "value_lambda": 1.0,
                "value_fade": 0.0,
                "train": train,
            }
            lines.append(json.dumps(task))
        command = [sys.executable, str(root / "python/examples/train_with_pytorch.py"), "--log", str(tmp_path / "log")]
        done = subprocess.run(
            command, input="\n".join([*lines, "quit", ""]), capture_output=True, text=True, check=True
        )
        told += [json.loads(line) for line in done.stdout.splitlines()]
        state = tmp_path / f"output{generation + kept - 1}/trainer.state"
        assert state.stat().st_size > 10_000
    finished = [answer for answer in told if answer.get("finished")]
    assert [answer["step"] for answer in told] == [10, 20, 30, 40, 40] * 3 and len(finished) == 3
    totals = [answer["losses"]["total"] for answer in finished]
    assert totals[0] > totals[1] > totals[2], "it learns, and goes on learning in the next process"
    assert (tmp_path / "log").read_text().count("samples a second") == 3
    card = hnefi.Checkpoint(tmp_path / "checkpoint").card()
    for number in (1, 2, 3):
        weights = (tmp_path / f"output{number}/model.safetensors").read_bytes()
        assert len(weights) > 10_000 and not (tmp_path / f"output{number}/card.json").exists()
    assert card["network"] == SHAPE
