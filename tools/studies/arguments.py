"""The command line: --key=value, and errors that say what to do."""

from dataclasses import dataclass
from pathlib import Path

from .allowance import SIZES
from .problem import Problem

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ("mnist-grid", "cnn-checkpoints", "resnet-budgets")
LATER = {"vit-parallel": "vit-parallel trains on several machines, and gc trains on one yet: the study comes with them"}

HELP = """\
tools/study NAME [options]: runs a study and leaves a table, figures and a page. Run again, it goes on.

  mnist-grid         accumulation x rematerialization x image size x optimizer: 82 settings x 2 x 3
  cnn-checkpoints    the number of checkpoints against peak and time: eleven convolutions, VGG-16
  resnet-budgets     ResNet-152 and an encoder under a budget of 1.5 GB, batches 4 to 64
  vit-parallel       (comes with training on several machines)

  --quick            at most 10 minutes on two cores; what does not fit in them is predicted
  --full             everything that fits this machine is measured; mnist-grid trains two epochs on real data
                     (default: about an hour)
  --device=cpu|cuda  cuda without a GPU: everything is predicted, for --target
  --target=CARD      of cuda: a card that gc-compile --targets lists (default: the GPU that is there, else rtx3070)
  --output=DIR       where results go and are looked for (default: build/studies/NAME)
  --draw             figures, RESULTS.md and index.html from the rows that are there; runs nothing
  --rows-only        only measure; needs no matplotlib (draw later with --draw)
  --only=PATTERN     settings whose names match, such as '112/*/adam/*'; * and ? as in a shell
  --list             print the names of the settings and end
  --retry            measure again what failed
  --data=NAME        what --full trains mnist-grid on: fashion-mnist (default) or mnist:DIR
  --limit=N          of --full: only the first N images of it
  --build=DIR        build folder with the tools (default: build; they are built where they are missing)
  --help             this text

Examples:
  tools/study cnn-checkpoints --quick
  tools/study mnist-grid --only='448/*/sgd/*'
  tools/study resnet-budgets --device=cuda --target=rtx3070
  tools/study mnist-grid --draw

Exit codes: 0 done, 1 a write failed (rows so far are kept) or every setting failed, 2 bad usage or input, 130, 143 ended by Ctrl-C, SIGTERM.
"""


@dataclass
class Arguments:
    study: str = ""
    size: str = "default"
    device: str = "cpu"
    target: str = ""
    output: str = ""
    only: str = ""
    data: str = "fashion-mnist"
    limit: int = 0
    build: str = ""
    draw: bool = False
    rows_only: bool = False
    list: bool = False
    retry: bool = False
    help: bool = False

    @property
    def folder(self):
        return Path(self.output) if self.output else ROOT / "build" / "studies" / self.study

    @property
    def bin(self):
        return (Path(self.build) if self.build else ROOT / "build") / "bin"


SWITCHES = {"--draw": "draw", "--rows-only": "rows_only", "--list": "list", "--retry": "retry", "--help": "help"}
VALUES = ("device", "target", "output", "only", "data", "limit", "build")


def parse(words):
    given, result, sizes = set(), Arguments(), []
    for word in words:
        flag, has_value, value = word.partition("=")
        if not word.startswith("-"):
            if result.study:
                raise Problem(f"one study at a time: '{result.study}' and '{word}'")
            result.study = word
            continue
        if flag in given:
            raise Problem(f"{flag} is given twice")
        given.add(flag)
        if word[2:] in ("quick", "full"):
            sizes.append(word[2:])
        elif word in SWITCHES:
            setattr(result, SWITCHES[word], True)
        elif flag[2:] in VALUES and word.startswith("--"):
            if not has_value or not value:
                raise Problem(f"{flag} needs a value: {flag}=...")
            setattr(result, flag[2:], value)
        else:
            raise Problem(f"there is no flag '{word}'; see tools/study --help")
    if result.help:
        return result
    if len(sizes) > 1:
        raise Problem("--quick and --full exclude each other")
    result.size = sizes[0] if sizes else "default"
    return check(result, given)


def check(result, given):
    if result.study in LATER:
        raise Problem(LATER[result.study])
    if not result.study:
        raise Problem(f"which study? There are {', '.join(STUDIES)}; see tools/study --help")
    if result.study not in STUDIES:
        raise Problem(f"there is no study '{result.study}'; there are {', '.join(STUDIES)}")
    if result.device not in ("cpu", "cuda"):
        raise Problem(f"--device={result.device}: expected cpu or cuda")
    if result.target and result.device != "cuda":
        raise Problem("--target goes with --device=cuda")
    if result.draw:
        for flag in ("--rows-only", "--retry", "--quick", "--full", "--only", "--limit", "--data"):
            if flag in given:
                raise Problem(f"{flag} has no effect with --draw, which runs nothing and draws all rows")
    for flag in ("--data", "--limit"):
        if flag in given and (result.size != "full" or result.study != "mnist-grid"):
            raise Problem(f"{flag} goes with mnist-grid --full: everything else runs on synthetic data")
    try:
        result.limit = int(result.limit)
        if result.limit < 0 or ("--limit" in given and result.limit == 0):
            raise ValueError
    except ValueError:
        raise Problem(f"--limit={result.limit}: expected a number of images from 1 on") from None
    assert result.size in SIZES
    return result
