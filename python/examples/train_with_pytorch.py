"""A learner in PyTorch in the loop of hnefi train, which plays the games and keeps the run.

    hnefi train --trainer "python train_with_pytorch.py" --run runs/pytorch
    hnefi train --trainer "python train_with_pytorch.py --device cuda --bf16 --compile" --config brandubh --run runs/gpu

Needs PyTorch: pip install "hnefi[torch]". AdamW in place of our Muon, and averaged weights play, as with ours.
"""

import argparse
import io
import time

import hnefi.torch
import hnefi.training
import torch


class Learner:
    def __init__(self, task: hnefi.training.Task, options: argparse.Namespace) -> None:
        self.options, self.device = options, torch.device(options.device)
        self.network = hnefi.torch.load_checkpoint(task.checkpoint).to(self.device).train()
        self.average = hnefi.torch.load_checkpoint(task.checkpoint).to(self.device)
        self.forward = torch.compile(self.network) if options.compile else self.network
        matrices = [weight for weight in self.network.parameters() if weight.ndim > 1]
        others = [weight for weight in self.network.parameters() if weight.ndim < 2]
        groups = [{"params": matrices, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0}]
        self.optimiser = torch.optim.AdamW(groups, fused=True)
        if task.state:
            state = torch.load(task.state, map_location=self.device)
            self.network.load_state_dict(state["network"])
            self.optimiser.load_state_dict(state["optimiser"])

    def step(self, step: int, rate: float, samples: hnefi.Samples, task: hnefi.training.Task) -> torch.Tensor:
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        planes, globals = (torch.from_numpy(array).to(self.device) for array in (samples.planes, samples.globals))
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.bf16):
            outputs = self.forward(planes, globals)
        losses = hnefi.torch.losses(outputs, samples, task.train)
        self.optimiser.zero_grad(set_to_none=True)
        losses.total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        weight = 1 / min(step + 1, task.train["average_steps"])
        with torch.no_grad():
            for mean, value in zip(self.average.state_dict().values(), self.network.state_dict().values()):
                if mean.is_floating_point():
                    mean.lerp_(value, weight)
        return torch.stack(losses).detach()

    def state(self) -> bytes:
        written = io.BytesIO()
        torch.save({"network": self.network.state_dict(), "optimiser": self.optimiser.state_dict()}, written)
        return written.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16")
    parser.add_argument("--compile", action="store_true", help="compile the network")
    parser.add_argument("--weight-decay", type=float, default=0.01)
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
