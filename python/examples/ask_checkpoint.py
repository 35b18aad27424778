"""An agent that asks the shipped Brandubh network, as the defenders, against random attackers."""

import hnefi
import numpy as np

rng = np.random.default_rng(1)
network = hnefi.Checkpoint("brandubh")
game = hnefi.Game(hnefi.Rules("brandubh", ply_cap=150))
while not game.is_over:
    if game.side_to_move == "defenders":
        found = network.search(game, playouts=32)
        print(found.best, f"win {found.value[0]:.2f}", " ".join(found.principal_variation))
        game.play(found.best)
    else:
        game.play(rng.choice(game.legal_actions()))
print(game.outcome)
