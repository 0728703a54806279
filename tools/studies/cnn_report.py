"""Tables and figures of cnn-checkpoints."""

from . import plotting
from .cnn_checkpoints import BUDGETS, CHECKPOINTS, MIB, MODELS, PUBLISHED, budget_name
from .values import (NOTHING, Value, has_numbers, is_same_plan, overhead_text, part_of, peak_of, percent, slower_than, slug,
                     step_of)

EXPLANATION = (
    "cnn11: batch 16 at 256², VGG-16: batch 64 at 224²; SGD. *checkpoints N* keeps N values and recomputes the others, as "
    "`--remat=checkpoints:N` chooses them. *budget* is `--budget` at each peak that was published, and at the smallest "
    "feasible; *auto* lets `--accumulate=auto` choose micro-batches, too. Measured peaks are the process's own growth. "
    "Time is over the own step without checkpoints: theirs ran on another CPU in another framework.")
TITLES = {"cnn11": "11 convolutions", "vgg16": "VGG-16"}


def sizes_and_titles(network):
    """(end of the setting's name, title, published checkpoints with that peak) of all rows, in the order of tables."""
    yield "none", "no checkpoints", None
    for count in CHECKPOINTS:
        yield f"checkpoints-{count}", f"checkpoints {count}", count
    for mark, title in (("", ""), ("-auto", ", auto")):
        for size in BUDGETS[network]:
            text = budget_name(network, size)
            count = next(n for n, (peak, _) in PUBLISHED[network].items() if n is not None and int(peak) == size)
            yield f"budget-{text}{mark}", f"budget {text}{title}", count
        yield f"budget-smallest{mark}", f"smallest budget{title}", -1


def published_cells(network, count):
    if count == -1:
        return ["–", "–", "–"]
    peak, seconds = PUBLISHED[network][count]
    base = PUBLISHED[network][None][1]
    return [f"{peak / MIB:.1f}", f"{seconds:.1f}", "" if count is None else f"{100 * (seconds / base - 1):+.0f} %"]


def network_table(rows, network):
    header = ["setting", "theirs: peak, MiB", "step, s", "time", "ours: peak, MiB", "of own", "step, s", "time",
              "recomputed", "micro-batches", "parts", "how"]
    none, lines = rows.get(f"{network}/none"), []
    for end, title, count in sizes_and_titles(network):
        row = rows.get(f"{network}/{end}")
        if row is None:
            continue
        known = row["recomputed"] is not None
        again = f"{row['recomputed']} of {row['recomputed'] + row['retained']}" if known else "–"
        lines.append([title, *published_cells(network, count), peak_of(row).scaled(MIB).text("{:.1f}"),
                      percent(part_of(row, none), "{:.0f} %"), step_of(row).text("{:.2f}"),
                      "" if row is none else overhead_text(row, none), again,
                      str(row["micro_batches"] or "–"), str(row["split_parts"] or "–"), row["how"]])
    note = "; ".join(f"{row['setting'].split('/')[1]}: {row['why']}" for row in rows.values()
                     if row["network"] == network and row["how"] in ("does not fit", "failed"))
    return f"{TITLES[network]} ({network})", note, header, lines


def tables(rows):
    return [network_table(rows, network) for network in MODELS if any(row["network"] == network for row in rows.values())]


def ours_at(rows, network, end):
    row, none = rows.get(f"{network}/{end}"), rows.get(f"{network}/none")
    if row is None or not has_numbers(row):
        return "not run" if row is None else "no such plan" if row["how"] == "does not fit" else row["how"]
    time, at = slower_than(row, none), f"at {peak_of(row).scaled(MIB).number:.0f} MiB"
    if is_same_plan(row, none):
        return f"the plan without checkpoints {at}"
    if time.number is None:  # the step without checkpoints has no numbers
        return f"{step_of(row).text('{:.2f} s')} {at}"
    return f"{percent(Value(time.number, True))} {'measured' if time.is_measured else 'predicted'} {at}"


def summary(rows):
    lines = []
    for network, count, least in (("cnn11", 0, 465.8 * MIB), ("vgg16", 0, 1.5e9)):
        text = budget_name(network, int(least))
        size = text.replace("MiB", " MiB").replace("GB", " GB")
        base, seconds = PUBLISHED[network][None][1], PUBLISHED[network][count][1]
        lines.append(f"{TITLES[network]} in {size}: theirs {100 * (seconds / base - 1):+.0f} % time (0 checkpoints); ours "
                     f"{ours_at(rows, network, f'budget-{text}-auto')} with micro-batches, "
                     f"{ours_at(rows, network, f'budget-{text}')} without.")
        lines.append(f"{TITLES[network]} with everything recomputed (0 checkpoints): theirs is quadratic inside a segment; "
                     f"ours {ours_at(rows, network, 'checkpoints-0')}; smallest budget: "
                     f"{ours_at(rows, network, 'budget-smallest-auto')}.")
    return lines


def time_value(row, none):
    """Step time as a multiple of that without checkpoints; in seconds where that has no numbers."""
    if not has_numbers(none):
        return step_of(row)
    if row is none:
        return Value(1.0, row["how"] == "measured")
    slower = slower_than(row, none)
    return NOTHING if slower.number is None else Value(1 + slower.number, slower.is_measured)


def time_unit(network, none):
    """What published seconds are divided by beside time_value(), and the label of the axis."""
    if has_numbers(none):
        return PUBLISHED[network][None][1], "step time, × that without checkpoints"
    return 1, "step time, s"


def peak_time_figure(rows, network, device):
    figure, axes = plotting.pyplot.subplots(figsize=(7.5, 4.4))
    none = rows.get(f"{network}/none")
    published = PUBLISHED[network]
    base, time_label = time_unit(network, none)
    axes.plot([published[n][0] / MIB for n in CHECKPOINTS], [published[n][1] / base for n in CHECKPOINTS], "s--",
              color=plotting.GREY, label="published, 0 to 16 checkpoints")
    for count in CHECKPOINTS:
        peak, seconds = published[count]
        axes.annotate(str(count), (peak / MIB, seconds / base), (4, 4), textcoords="offset points", fontsize=8,
                      color=plotting.GREY)
    axes.plot([published[None][0] / MIB], [published[None][1] / base], "s", color=plotting.GREY)
    series = {"ours, 0 to 16 checkpoints": ([f"checkpoints-{n}" for n in CHECKPOINTS], plotting.BLUE, "^"),
              "ours, by budget": ([e for e, _, _ in sizes_and_titles(network)
                                   if e.startswith("budget") and not e.endswith("-auto")] + ["none"],
                                  plotting.ORANGE, "o"),
              "ours, by budget with micro-batches": ([e for e, _, _ in sizes_and_titles(network)
                                                      if e.endswith("-auto")], plotting.GREEN, "D")}
    for label, (ends, color, marker) in series.items():
        points = []
        for end in ends:
            row = rows.get(f"{network}/{end}")
            if not has_numbers(row):
                continue
            time = time_value(row, none)
            points.append((peak_of(row).scaled(MIB).number, time.number, time.is_measured))
        if points:
            plotting.line_with_marks(axes, points, color, marker=marker)
            axes.plot([], [], f"{marker}-", color=color, label=label)
    axes.set_xlabel("peak memory of a step, MiB")
    axes.set_ylabel(time_label)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_title(f"{TITLES[network]}: what less memory costs ({device})")
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(handles=handles + plotting.mark_legend(), fontsize=8)
    figure.tight_layout()
    return figure


def bars_figure(rows, network, device):
    figure, (left, right) = plotting.pyplot.subplots(1, 2, figsize=(9, 3.4))
    none = rows.get(f"{network}/none")
    base, time_label = time_unit(network, none)
    for place, count in enumerate((None, *CHECKPOINTS)):
        row = rows.get(f"{network}/" + ("none" if count is None else f"checkpoints-{count}"))
        peak, seconds = PUBLISHED[network][count]
        plotting.bar(left, place - 0.2, peak / MIB, 0.38, plotting.GREY, True)
        plotting.bar(right, place - 0.2, seconds / base, 0.38, plotting.GREY, True)
        if row is not None and not has_numbers(row):
            for axes in (left, right):
                plotting.absent(axes, place + 0.2, row["how"])
        if has_numbers(row):
            own, time = peak_of(row).scaled(MIB), time_value(row, none)
            plotting.bar(left, place + 0.2, own.number, 0.38, plotting.BLUE, own.is_measured)
            plotting.bar(right, place + 0.2, time.number, 0.38, plotting.BLUE, time.is_measured)
    for axes, label in ((left, "peak memory, MiB"), (right, time_label)):
        axes.set_xticks(range(1 + len(CHECKPOINTS)), ["none", *map(str, CHECKPOINTS)])
        axes.set_xlim(-0.6, len(CHECKPOINTS) + 0.6)  # also where a word stands in place of the outermost bar
        axes.set_xlabel("checkpoints")
        axes.set_ylabel(label)
        axes.grid(axis="x", visible=False)
    left.set_title(f"{TITLES[network]}: memory ({device})")
    right.set_title("time")
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.legend(handles=plotting.bar_legend([("published", plotting.GREY), ("ours", plotting.BLUE)]),
                  loc="lower center", ncol=3)
    return figure


def figures(rows, folder, device):
    for network in MODELS:
        if not any(row["network"] == network and has_numbers(row) for row in rows.values()):
            continue
        yield (f"{network}-peak-time-{slug(device)}",
               f"{TITLES[network]}: peak against step time ({device}). Left and low is better; grey numbers are checkpoints.",
               peak_time_figure(rows, network, device))
        yield (f"{network}-checkpoints-{slug(device)}", f"{TITLES[network]}: the same numbers of checkpoints ({device}).",
               bars_figure(rows, network, device))
