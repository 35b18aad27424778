"""A random game of Brandubh."""

import hnefi
import numpy as np

rng = np.random.default_rng(1)
game = hnefi.Game("brandubh")
while not game.is_over:
    game.play(rng.choice(game.legal_actions()))
print(game, " ".join(game.moves), game.outcome, sep="\n")
