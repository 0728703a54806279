"""The PyTorch half of speed.py: a process that trains k steps whenever it is told to.

Reads one JSON command a line from standard input and answers with one JSON line:
{"do": "steps", "count": k} → {"seconds": [...]}    {"do": "memory"} → bytes    {"do": "profile"} → table
Between commands it sleeps in a read, so that the other side has the machine for itself.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

import models


class Trainer:
    """A training step on one fixed synthetic batch: forward, backward, plain SGD; channels-last, eager."""

    def __init__(self, network, options, batch, learning_rate):
        torch.manual_seed(0)
        layout = torch.contiguous_format if network == "encoder" else torch.channels_last
        self.model = models.build(network, options).to(memory_format=layout)
        shape = [batch] + models.input_shape(network, options)
        self.image = torch.randn(shape).contiguous(memory_format=layout)
        self.label = torch.randint(options.get("classes", 10 if network in
                                               ("mnist", "cnn11", "encoder") else 1000), (batch,))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=learning_rate)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(self.model(self.image), self.label)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def steps(self, count):
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - start)
        return {"seconds": seconds}

    def memory(self):
        """Peak of a steady-state step: what lives through it, plus the allocator's peak inside it.
        What oneDNN and MKL allocate past PyTorch's allocator is in the process's peak only."""
        self.optimizer.zero_grad(set_to_none=True)  # else old gradients are freed unseen by the profiler
        kept = sum(t.numel() * t.element_size() for t in self.model.state_dict().values())
        kept += self.image.numel() * self.image.element_size() + self.label.numel() * 8
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
            self.step()
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            prof.export_chrome_trace(str(trace))
            events = json.loads(trace.read_text())["traceEvents"]
        changes = sorted((e["ts"], e["args"]["Bytes"]) for e in events if e.get("name") == "[memory]")
        live = peak = 0
        for _, change in changes:
            live += change
            peak = max(peak, live)
        status = Path("/proc/self/status").read_text()
        rss = int(status.split("VmHWM:")[1].split()[0]) * 1024
        return {"kept_bytes": kept, "allocator_peak_bytes": peak, "peak_bytes": kept + peak,
                "process_rss_peak_bytes": rss}

    def profile(self, count=3, rows=14):
        """Self CPU time a step, by op."""
        with profile(activities=[ProfilerActivity.CPU]) as prof:
            for _ in range(count):
                self.step()
        ops = sorted(prof.key_averages(), key=lambda e: -e.self_cpu_time_total)
        total = sum(e.self_cpu_time_total for e in ops)
        return {"step_ms": total / count / 1e3,
                "ops": [{"op": e.key, "calls": e.count / count, "ms": e.self_cpu_time_total / count / 1e3}
                        for e in ops[:rows]]}


def main():
    setup = json.loads(sys.stdin.readline())
    torch.set_num_threads(setup["threads"])
    trainer = Trainer(setup["network"], setup["options"], setup["batch"], setup["lr"])
    print(json.dumps({"ready": torch.__version__}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "steps":
            answer = trainer.steps(command["count"])
        else:
            answer = getattr(trainer, command["do"])()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
