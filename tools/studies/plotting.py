"""What all figures share: colours, marks for measured and predicted, and files written as SVG and PNG."""

import io
import re

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: E402, F401

from .details import write_atomically  # noqa: E402

# Okabe and Ito's, told apart by colour-blind people, too.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9",
                                               "#7f7f7f")
SERIES = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY)

pyplot.rcParams.update({
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 9.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e6e6e6",
    "axes.axisbelow": True, "legend.frameon": False, "figure.facecolor": "white", "axes.facecolor": "white",
    "hatch.linewidth": 0.6, "lines.markersize": 5,
})


plain_numbers = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")


def line_with_marks(axes, points, color, label=None, style="-", marker="o"):
    """A line through (x, y, is_measured): filled marks where measured, hollow where predicted."""
    points = sorted(point for point in points if point[1] is not None)
    axes.plot([x for x, _, _ in points], [y for _, y, _ in points], style, color=color, linewidth=1.2, label=label)
    for kind, face in ((True, color), (False, "white")):
        own = [(x, y) for x, y, is_measured in points if is_measured == kind]
        if own:
            axes.plot(*zip(*own), marker, color=color, markerfacecolor=face)


def bar(axes, x, height, width, color, is_measured):
    """A bar: filled where measured, hatched where predicted."""
    face = color if is_measured else "white"
    axes.bar([x], [height], width, color=face, edgecolor=color, hatch=None if is_measured else "/////", linewidth=0.8)


def absent(axes, x, why):
    """Says in a bar's place why there is none."""
    axes.text(x, 0, f" {why}", ha="center", va="bottom", rotation=90, fontsize=7, color="#777777")


def mark_legend(color="#444444"):
    """Legend entries that tell measured marks from predicted ones."""
    return [Line2D([], [], color=color, marker="o", linestyle="", label="measured"),
            Line2D([], [], color=color, marker="o", linestyle="", markerfacecolor="white", label="predicted")]


def bar_legend(entries):
    """Legend entries for bars of (label, colour), and for hatching."""
    return [Patch(facecolor=color, edgecolor=color, label=label) for label, color in entries] + [
        Patch(facecolor="white", edgecolor="#444444", hatch="/////", label="hatched: predicted")]


def save(figure, folder, name):
    """Writes NAME.svg and NAME.png; returns the SVG for the page."""
    matplotlib.rcParams["svg.hashsalt"] = name  # the same rows give the same file, and ids differ between figures
    picture = io.BytesIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    svg = picture.getvalue().decode()
    svg = re.sub(r"[ \t]+\n", "\n", svg)
    write_atomically(folder / f"{name}.svg", svg)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    write_atomically(folder / f"{name}.png", picture.getvalue())
    pyplot.close(figure)
    return svg
