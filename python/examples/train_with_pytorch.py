"""A learner in PyTorch in the loop of hnefi train, which plays the games and keeps the run.

    hnefi train --trainer "python train_with_pytorch.py" --run runs/pytorch
    hnefi train --trainer "python train_with_pytorch.py --device cuda --bf16 --compile" --config brandubh --run runs/gpu

Needs PyTorch from 2.9: pip install "hnefi[torch]". Muon moves the weights of the hidden layers and AdamW the rest, and
averaged weights play, as with our learner.
"""

import argparse
import io
import re
import time

import hnefi.torch
import hnefi.training
import torch

HIDDEN = re.compile(r"\.(conv|pool|policy_conv|policy_pool|value_conv|value_hidden)\.weight$")


class Learner:
    def __init__(self, task: hnefi.training.Task, options: argparse.Namespace) -> None:
        self.options, self.device = options, torch.device(options.device)
        self.network = hnefi.torch.load_checkpoint(task.checkpoint).to(self.device).train()
        self.average = hnefi.torch.load_checkpoint(task.checkpoint).to(self.device)
        self.forward = torch.compile(self.network) if options.compile else self.network
        weights = dict(self.network.named_parameters())
        self.hidden = [weight for name, weight in weights.items() if HIDDEN.search(name)]
        # Muon takes matrices: the same numbers, a kernel a row.
        self.matrices = [torch.nn.Parameter(weight.detach().flatten(1)) for weight in self.hidden]
        others = [weight for name, weight in weights.items() if not HIDDEN.search(name)]
        decay = task.train["weight_decay"]
        outputs = {"params": [weight for weight in others if weight.ndim > 1], "weight_decay": decay}
        vectors = {"params": [weight for weight in others if weight.ndim < 2], "weight_decay": 0}
        # Muon's step is four times the size of AdamW's, and its decay as large.
        muon = torch.optim.Muon(self.matrices, weight_decay=decay / 4, adjust_lr_fn="match_rms_adamw")
        self.optimisers = {4.0: muon, 1.0: torch.optim.AdamW([outputs, vectors], fused=True)}
        if task.state:
            state = torch.load(task.state, map_location=self.device)
            self.network.load_state_dict(state["network"])
            for optimiser, kept in zip(self.optimisers.values(), state["optimisers"]):
                optimiser.load_state_dict(kept)

    def step(self, step: int, rate: float, samples: hnefi.Samples, task: hnefi.training.Task) -> torch.Tensor:
        planes, globals = (torch.from_numpy(array).to(self.device) for array in (samples.planes, samples.globals))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.bf16):
            outputs = self.forward(planes, globals)
        losses = hnefi.torch.losses(outputs, samples, task.train)
        self.network.zero_grad()
        losses.total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for matrix, weight in zip(self.matrices, self.hidden):
            matrix.grad = None if weight.grad is None else weight.grad.flatten(1)
        for factor, optimiser in self.optimisers.items():
            for group in optimiser.param_groups:
                group["lr"] = factor * rate
            optimiser.step()
        weight = 1 / min(step + 1, task.train["average_steps"])
        with torch.no_grad():
            for mean, value in zip(self.average.state_dict().values(), self.network.state_dict().values()):
                if mean.is_floating_point():
                    mean.lerp_(value, weight)
        return torch.stack(losses).detach()

    def state(self) -> bytes:
        written = io.BytesIO()
        optimisers = [optimiser.state_dict() for optimiser in self.optimisers.values()]
        torch.save({"network": self.network.state_dict(), "optimisers": optimisers}, written)
        return written.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")
    parser.add_argument("--compile", action="store_true", help="compile the network")
    parser.add_argument("--log", help="a file for samples a second and losses")
    options = parser.parse_args()
    learner = None
    for task in hnefi.training.tasks():
        learner = learner or Learner(task, options)
        sums, taken, began = torch.zeros(5, device=learner.device), 0, time.perf_counter()
        for step, rate, samples in task.batches():
            sums += learner.step(step, rate, samples, task)
            taken += 1
            if taken % 10 == 0:
                task.progress(taken, dict(zip(hnefi.torch.Losses._fields, (sums / taken).tolist())))
        means = dict(zip(hnefi.torch.Losses._fields, (sums / taken).tolist()))
        if options.log:
            speed = taken * task.train["batch"] / (time.perf_counter() - began)
            with open(options.log, "a") as log:
                print(f"generation {task.generation}: {speed:.0f} samples a second, {means}", file=log)
        task.state_file.write_bytes(learner.state())
        task.finish(learner.average.tensors(), means)


if __name__ == "__main__":
    main()
