"""The examples run and say what they should."""

import re
import subprocess
import sys
from pathlib import Path

import hnefi
import pytest


def run(root: Path, name: str, *arguments: str) -> str:
    command = [sys.executable, str(root / "python/examples" / name), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_random_game_ends(root: Path) -> None:
    assert re.search(r"(attackers|defenders|draw) by \w+$", run(root, "random_game.py").strip())


def test_the_network_beats_chance(root: Path) -> None:
    assert run(root, "ask_checkpoint.py").strip().endswith("defenders by king_escaped")


def test_a_policy_is_learned(root: Path, tmp_path: Path) -> None:
    games = hnefi.match("alphabeta:1", "alphabeta:1", games=300, ruleset="brandubh", seed=1).records
    hnefi.write_games(tmp_path / "games.hgames", games)
    said = run(root, "learn_policy.py", str(tmp_path / "games.hgames"))
    before, after = map(float, re.findall(r"(\d+\.\d+) (?:before|after)", said))
    assert after < before - 0.2, said


@pytest.mark.parametrize(("document", "least"), [("python/README.md", 4), ("README.md", 1)])
def test_the_blocks_of_the_readmes_run(root: Path, tmp_path: Path, document: str, least: int) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (root / document).read_text(), re.DOTALL)
    assert len(blocks) >= least
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks))
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path)
