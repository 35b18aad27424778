"""Reads a tiny run's files with other people's libraries and compares them with each other.

Called by check-python-reads-our-files.sh with a folder holding run/, npz/, games.jsonl and metrics.csv.
"""

import json
import pathlib
import sys

import numpy as np
import pandas
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.data.provider import RunTagFilter
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

work = pathlib.Path(sys.argv[1])

# The games, as lines of JSON and as arrays, must tell the same story.
games = [json.loads(line) for line in (work / "games.jsonl").read_text().splitlines()]
shards = [np.load(path) for path in sorted((work / "npz/train").glob("*.npz"))]
assert games and shards, "nothing was exported"
plies = sum(len(game["moves"]) for game in games)
rows = sum(len(shard["planes"]) for shard in shards)
assert 0 < rows <= plies, (rows, plies)
for shard in shards:
    assert shard["planes"].dtype == np.uint8 and shard["planes"].shape[1:] == (32, 7, 7), shard["planes"].shape
    assert shard["planes"].max() <= 1
    assert np.allclose(shard["wdl"].sum(axis=1), 1.0, atol=1e-5)
    # At most one king a position, and none of the pieces share a square.
    assert (shard["planes"][:, 2].sum(axis=(1, 2)) == 1).all()
    assert (shard["planes"][:, :3].sum(axis=1) <= 1).all()
print(f"numpy: {rows} positions of {len(games)} games")

# Weights: every tensor finite, the stem as wide as the card says.
newest = sorted((work / "run" / "checkpoints").iterdir())[-1]
card = json.loads((newest / "card.json").read_text())
weights = load_file(newest / "model.safetensors")
assert all(np.isfinite(tensor).all() for tensor in weights.values())
assert weights["stem.conv.weight"].shape[0] == card["network"]["channels"], card["network"]
print(f"safetensors: {len(weights)} tensors of generation {card['generation']}")

# The table of all numbers equals the lines in metrics/; the network of generation 0 has ratings alone.
table = pandas.read_csv(work / "metrics.csv").set_index("generation")
lines = [json.loads(path.read_text()) for path in sorted((work / "run" / "metrics").iterdir())]
numbers = [line["generation"] for line in lines]
assert list(table.index) == [0, *numbers] and set(table["run"]) == {"run"}, table
assert np.isnan(table.loc[0, "loss/policy"]) and np.isfinite(table["elo/overall"]).any(), table
for line in lines:
    row = table.loc[line["generation"]]
    assert row["checkpoint"] == line["checkpoint"] and abs(row["unix_seconds"] - line["unix_seconds"]) < 1e-3
    assert abs(row["loss/policy"] - line["training"]["losses"]["policy"]) < 1e-5
    assert row["run/wall_minutes"] > 0 and row["run/processor_minutes"] > 0
print(f"pandas: {table.shape[1]} columns over {len(table)} generations")

# TensorBoard, by the reader of its server: as many points a curve as generations, equal to the lines in metrics/.
reader = EventMultiplexer(size_guidance={"scalars": 0, "tensors": 0})
reader.AddRunsFromDirectory(str(work / "run")).Reload()
provider = MultiplexerDataProvider(reader, str(work / "run"))
context = RequestContext()
(run,) = reader.Runs()
tags = provider.list_scalars(context, experiment_id="", plugin_name="scalars")[run]


def curve(tag):
    found = provider.read_scalars(
        context, experiment_id="", plugin_name="scalars", downsample=1000, run_tag_filter=RunTagFilter([run], [tag])
    )
    return [(point.step, point.value) for point in found[run][tag]]


for (step, value), line in zip(curve("loss/policy"), lines, strict=True):
    assert step == line["generation"] and abs(value - line["training"]["losses"]["policy"]) < 1e-5
rated = [curve(f"elo/overall{end}") for end in ["_low", "", "_high"]]
assert all(low[1] < elo[1] < high[1] for low, elo, high in zip(*rated, strict=True)), rated
# The configuration as a text, and as the hparams dashboard compares it.
text = provider.read_tensors(
    context, experiment_id="", plugin_name="text", downsample=10, run_tag_filter=RunTagFilter([run], ["configuration"])
)
assert b"batch = 64" in text[run]["configuration"][0].numpy[0], text
hparams = backend_context.Context(TBContext(logdir=str(work / "run"), data_provider=provider))
asked = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=10, allowed_statuses=[0, 1, 2, 3])
(group,) = list_session_groups.Handler(context, hparams, "", asked).run().session_groups
assert group.hparams["train.batch"].number_value == 64, group
assert group.hparams["selfplay.resign.enabled"].WhichOneof("kind") == "bool_value", group
measured = {metric.name.tag for metric in group.metric_values}
assert {"loss/policy", "elo/overall"} <= measured, measured
print(f"tensorboard: {len(tags)} curves over {len(lines)} generations, {len(group.hparams)} keys of the configuration")
