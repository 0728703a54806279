"""random_budgets.py BIN [--count=N] [--seed=S] [--large]: a budget is met or refused.

Random networks, batches, devices, optimizers and micro-batches are compiled with random budgets, from well below
what is possible to above what is needed. A budget is met (exit 0, the predicted peak is within it, and the
replay agrees), or refused (exit 3) with a budget that is then met, and below which all are refused. Less budget
never predicts less time or a larger peak.

`--count` is of compilations that are judged; network k of seed S is the first network of seed S + k. `--large` draws
large networks, with cuDNN where it is installed, and takes minutes.
"""
import argparse
import csv
import json
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bounded

TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]


def small_network(draw):
    """A command that prints a network, and the network's batch."""
    batch = draw.choice([2, 3, 4, 6, 8, 12, 16])
    if draw.random() < 0.6:
        return ["gc-random-model", str(draw.randrange(10**6))], 8
    network = draw.choice([
        ["mnist", "--image=112", f"--norm={draw.choice(['batch', 'group'])}"],
        ["cnn11", f"--image={draw.choice([16, 22, 32])}"],
        ["resnet", "--depth=18", f"--image={draw.choice([32, 48, 64])}", "--classes=10"],
        ["vit", "--size=tiny", f"--image={draw.choice([32, 48])}", "--classes=10"],
        ["encoder", f"--layers={draw.randint(1, 4)}", f"--width={draw.choice([32, 48, 64])}", "--heads=4",
         f"--ffn={draw.choice([64, 96])}", f"--sequence={draw.randint(4, 64)}"]])
    return ["gc-gen", *network, f"--batch={batch}"], batch


def large_network(draw):
    batch = draw.choice([draw.randint(2, 64), draw.randint(65, 700), 2 ** draw.randint(3, 9)])
    network = draw.choice([
        ["resnet", f"--depth={draw.choice([50, 101, 152])}"],
        ["resnet", f"--depth={draw.choice([18, 34])}", f"--image={draw.choice([224, 320])}"],
        ["vit", f"--size={draw.choice(['tiny', 'small', 'base'])}"],
        ["encoder", f"--layers={draw.randint(2, 12)}", f"--sequence={draw.choice([128, 200, 512])}"],
        ["vgg", f"--depth={draw.choice([11, 16, 19])}"],
        ["cnn11", f"--image={draw.choice([128, 256])}"],
        ["mnist", f"--image={draw.choice([224, 448])}", f"--norm={draw.choice(['batch', 'group'])}"]])
    return ["gc-gen", *network, f"--batch={batch}"], batch


def device_flags(draw, large):
    if draw.random() < (0.3 if large else 0.6):
        return ["--device=cpu", f"--threads={draw.choice([1, 2, 3, 4, 8, 16, 48])}"]
    library = draw.choice(["auto", "auto", "none"]) if large else "none"
    return ["--device=cuda", f"--target={draw.choice(TARGETS)}", f"--cuda-library={library}"]


def micro_batches(draw, batch):
    divisors = [k for k in range(1, batch + 1) if batch % k == 0]
    return draw.choice(["1", "1", "auto", str(draw.choice(divisors))])


class Case:
    """One network on one device, compiled with several budgets."""

    def __init__(self, seed, large, tools, folder, tally):
        draw = self.draw = random.Random(seed)
        self.seed, self.tools, self.folder, self.tally = seed, tools, folder, tally
        self.seconds, self.budgets = (300, 4) if large else (120, 2)
        self.network, batch = (large_network if large else small_network)(draw)
        self.accumulate = micro_batches(draw, batch)
        self.flags = [*device_flags(draw, large), f"--optimizer={draw.choice(['sgd', 'adam', 'adamw'])}"]
        if draw.random() < 0.3:
            self.flags.append("--evaluate")
        if draw.random() < 0.2:
            self.flags.append("--keep-gradients")
        self.met, self.tried = [], set()  # (budget, peak, seconds); budgets

    def run(self, limit):
        """Compiles with a few budgets, those that refusals name come on top."""
        model = bounded.run([os.path.join(self.tools, self.network[0]), *self.network[1:]])
        if model.complaint or model.code:
            return self.complain(model, "the network is not made")
        self.model = model.output.encode()
        # The peak without recomputation and the smallest, and no kernels to generate.
        table = os.path.join(self.folder, "table.csv")
        pareto = self.compile([f"--accumulate={self.accumulate}", "--pareto=2", f"--csv={table}"])
        if pareto.code == 2 and "cannot run on a part of the batch" in pareto.errors:
            # A batch norm would see one element a channel: the whole batch, then.
            self.accumulate = "1"
            pareto = self.compile(["--accumulate=1", "--pareto=2", f"--csv={table}"])
        if pareto.complaint or pareto.code:
            return self.complain(pareto, "there is no table of budgets")
        with open(table, encoding="utf-8") as file:
            most, self.least = (int(row["budget_bytes"]) for row in csv.DictReader(file))
        if self.draw.random() < 0.2:
            self.try_policy()
        budgets = [max(1, int(most * 1.1 * self.draw.random() ** 1.5)) for _ in range(self.budgets)]
        for budget in sorted(budgets, reverse=True)[:limit]:
            self.try_budget(budget)

    def try_policy(self):
        policy = self.draw.choice(["none", "all", "sqrt", f"checkpoints:{self.draw.randint(0, 9)}"])
        # Without a budget there is nothing that `auto` could choose by.
        whole = [] if self.accumulate == "auto" else [f"--accumulate={self.accumulate}"]
        outcome = self.compile([*whole, f"--remat={policy}", "--check"])
        self.complain(outcome, outcome.code not in (0, 2) and f"--remat={policy} is neither followed nor refused")

    def try_budget(self, budget):
        named = self.with_budget(budget)
        if named is None or named in self.tried:
            return
        self.with_budget(named, needed=True)
        if self.draw.random() < 0.25:
            self.with_budget(named - 1, refused=True)

    def with_budget(self, budget, needed=False, refused=False):
        """The budget that a refusal names, if it is a good one."""
        self.tried.add(budget)
        report = os.path.join(self.folder, "report.json")
        outcome = self.compile([f"--accumulate={self.accumulate}", f"--budget={budget}", "--check",
                                f"--report={report}"])
        named = re.search(r"try --budget=(\d+)", outcome.errors)
        named = int(named.group(1)) if named else 0
        problem = None
        if outcome.code == 0:
            problem = "is below the smallest budget, yet is met" if refused else self.judge(budget, report)
        elif outcome.code != 3:
            problem = "is neither met nor refused"
        elif needed:
            problem = "was named by a refusal, and is refused"
        elif named <= budget or named != self.least:
            problem = f"is refused with {named} bytes to try; the table's smallest is {self.least}"
        self.complain(outcome, problem and f"the budget of {budget} bytes {problem}")
        return named if outcome.code == 3 and not problem else None

    def judge(self, budget, report):
        with open(report, encoding="utf-8") as file:
            report = json.load(file)
        peak = report["memory"]["predicted_peak_bytes"]
        seconds = report["compiler"]["step_seconds_predicted"]
        if peak > budget:
            return f"is exceeded by a peak of {peak} bytes"
        self.met.append((budget, peak, seconds))
        self.met.sort()
        for (_, low_peak, low_seconds), (_, high_peak, high_seconds) in zip(self.met, self.met[1:]):
            if low_peak > high_peak or low_seconds < high_seconds:
                return f"breaks the order of (budget, peak, seconds): {self.met}"
        return None

    def compile(self, flags):
        command = [os.path.join(self.tools, "gc-compile"), "-", *self.flags, *flags]
        return bounded.run(command, self.seconds, self.model)

    def complain(self, outcome, problem):
        return self.tally.add(outcome, f"seed {self.seed}: {' '.join(self.network)}", problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", help="folder of the tools")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    tally = bounded.Tally()
    with tempfile.TemporaryDirectory() as folder:
        case = 0
        while (left := arguments.count - sum(tally.codes.values())) > 0:
            Case(arguments.seed + case, arguments.large, arguments.bin, folder, tally).run(left)
            case += 1
    return tally.finish(f"compilations of {case} networks")


if __name__ == "__main__":
    sys.exit(main())
