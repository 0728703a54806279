"""Tables and figures of mnist-grid."""

from . import plotting
from .mnist_grid import MICRO_BATCHES, OPTIMIZERS, POLICIES, POLICY_TITLES, PUBLISHED, PUBLISHED_DEVICE, grid
from .values import MB, NOTHING, Value, epoch_of, overhead_text, part_of, peak_of, percent, shown, slower_than, slug

EXPLANATION = (
    "A chain of small convolutions with batch norms; 60,000 images an epoch; learning rate 0.001. *without*: nothing is "
    "recomputed. *sqrt*: about one checkpoint for every √n ops. *smallest budget*: `--budget` at the smallest peak that "
    "gc-compile finds feasible. The peak is that of all bytes of a step, the published MB is the memory of the GPU "
    "in use, its context included.")


def named(rows, image, micro, times, optimizer, policy):
    return rows.get(f"{image}/{micro}x{times}/{optimizer}/{policy}")


def published_text(image, micro):
    if (image, micro) not in PUBLISHED:
        return "–"
    off, on = PUBLISHED[image, micro]
    return f"{off} → {on} ({100 * (on / off - 1):+.1f} %)"


def largest_table(rows):
    header = ["image", "batch", "optimizer", f"theirs off → on, MB ({PUBLISHED_DEVICE})", "ours without, MB",
              "sqrt, MB", "of without", "time", "smallest budget, MB", "of without", "time"]
    lines = []
    for image, micro_batches in MICRO_BATCHES.items():
        micro = max(micro_batches)
        for optimizer in OPTIMIZERS:
            none, sqrt, budget = (named(rows, image, micro, 1, optimizer, policy) for policy in POLICIES)
            if none is None:
                continue
            line = [f"{image}²", str(micro), optimizer, published_text(image, micro),
                    peak_of(none).scaled(MB).text("{:.1f}")]
            for row in (sqrt, budget):
                line += [peak_of(row).scaled(MB).text("{:.1f}"), percent(part_of(row, none), "{:.0f} %"),
                         overhead_text(row, none)]
            lines.append(line)
    return "The largest batch of each size, without accumulation", "", header, lines


def whole_table(rows, optimizer):
    header = ["image", "micro-batch", "accumulation"]
    header += [f"peak {POLICY_TITLES[p]}, MB" for p in POLICIES] + [f"epoch {POLICY_TITLES[p]}, s" for p in POLICIES]
    header += ["CPU or GPU in use, %"]
    lines = []
    for image, micro, times in grid():
        own = [named(rows, image, micro, times, optimizer, policy) for policy in POLICIES]
        if not any(own):
            continue
        used = [Value(row["utilization_mean"], True) if row and row["utilization_mean"] is not None else NOTHING
                for row in own]
        lines.append([f"{image}²", str(micro), str(times)] + [peak_of(row).scaled(MB).text("{:.1f}") for row in own]
                     + [epoch_of(row).text("{:.1f}") for row in own]
                     + [" / ".join(value.text("{:.0f}") for value in used)])
    return f"All settings with {optimizer}", "", header, lines


def tables(rows):
    return [largest_table(rows)] + [whole_table(rows, o) for o in OPTIMIZERS
                                    if any(row["optimizer"] == o for row in rows.values())]


def summary(rows):
    lines = ["Theirs: one checkpointed segment around the whole stack changes memory by +0.1 % (3584², batch 8) to −8.0 % "
             "(3584², batch 4); \"Adam\" rows were trained with SGD, second epochs ran in evaluation mode."]
    best = []
    for policy, title in (("sqrt", "square-root checkpoints"), ("budget", "the smallest feasible budget")):
        parts, times = [], []
        for image, micro_batches in MICRO_BATCHES.items():
            for optimizer in OPTIMIZERS:
                none = named(rows, image, max(micro_batches), 1, optimizer, "none")
                row = named(rows, image, max(micro_batches), 1, optimizer, policy)
                parts.append(part_of(row, none))
                times.append(slower_than(row, none))
        best.append(f"Ours with {title}, largest batches: peak {spread(parts, '{:.0f} %')} of that without, "
                    f"step time {spread(times, '{:+.1f} %')}.")
    epochs = [row["second_epoch_ratio"] for row in rows.values() if row["second_epoch_ratio"]]
    adam = [row for row in rows.values() if row["optimizer"] == "adam" and row["how"] == "measured"]
    fault = (f"Checked in every measured row: the run's report says its optimizer ({len(adam)} rows with Adam, all with "
             "optimizer state), and its last step recomputes what the plan says")
    fault += (f"; second epochs took {min(epochs):.2f} to {max(epochs):.2f} of the first's step time." if epochs else ".")
    return lines + best + [fault]


def spread(values, form):
    """The range of the measured ones; of the predicted ones where nothing was measured."""
    found = [v for v in values if v.number is not None]
    kind = [v for v in found if v.is_measured] or found
    if not kind:
        return "unknown"
    numbers = [100 * v.number for v in kind]
    how = "measured" if kind[0].is_measured else "predicted"
    return f"{shown(min(numbers), form)} to {shown(max(numbers), form)} ({how}, {len(kind)} of {len(values)})"


def grid_figure(rows, optimizer, title, unit_label, value_of_row, published=None, percent_scale=False):
    """A row of panels for each image size, a column for each policy; a line for each micro-batch."""
    images = [image for image in MICRO_BATCHES if any(row["image"] == image and row["optimizer"] == optimizer
                                                      for row in rows.values())]
    figure, panels = plotting.pyplot.subplots(len(images), len(POLICIES), figsize=(9, 1.5 + 1.7 * len(images)),
                                              sharey="row", squeeze=False)
    colors = dict(zip((4, 8, 16, 32, 64, 128), plotting.SERIES))
    for line, image in enumerate(images):
        for column, policy in enumerate(POLICIES):
            axes = panels[line][column]
            drawn = draw_panel(axes, rows, image, optimizer, policy, value_of_row, colors)
            if published:
                drawn |= draw_published(axes, image, published[policy], colors)
            if not drawn:
                axes.text(0.5, 0.5, "nothing measured", transform=axes.transAxes, ha="center", color="#777777")
            if line == 0:
                axes.set_title(f"rematerialization: {POLICY_TITLES[policy]}")
            if line == len(images) - 1:
                axes.set_xlabel("accumulation (micro-batches a step)")
            if column == 0:
                axes.set_ylabel(f"{image}²\n{unit_label}")
                axes.yaxis.set_label_coords(-0.2, 0.5)
            axes.set_xticks(range(6), ["1", "2", "4", "8", "16", "32"])
            axes.set_xlim(-0.25, 5.25)
            if percent_scale:
                axes.set_ylim(0, 105)
            else:
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(plotting.LogLocator(subs=(1, 2, 5)))
                axes.yaxis.set_major_formatter(plotting.plain_numbers)
                axes.yaxis.set_minor_locator(plotting.NullLocator())
    lines = [plotting.Line2D([], [], color=colors[m], label=f"micro-batch {m}") for m in colors]
    marks = plotting.mark_legend()
    if published:
        marks.append(plotting.Line2D([], [], color="#444444", marker="*", markersize=9, linestyle="",
                                     label=f"published ({PUBLISHED_DEVICE})"))
    height = figure.get_size_inches()[1]  # margins in inches: laying out 18 panels by itself takes seconds
    figure.subplots_adjust(left=0.1, right=0.99, top=1 - 0.55 / height, bottom=0.95 / height, hspace=0.22, wspace=0.08)
    figure.suptitle(title, fontsize=11, y=1 - 0.1 / height, va="top")
    figure.legend(handles=lines + marks, loc="lower center", bbox_to_anchor=(0.5, 0.0), ncol=5)
    return figure


def draw_panel(axes, rows, image, optimizer, policy, value_of_row, colors):
    drawn = False
    for micro in MICRO_BATCHES[image]:
        points = []
        for other_image, other_micro, times in grid():
            row = named(rows, image, micro, times, optimizer, policy)
            if (other_image, other_micro) == (image, micro) and row is not None:
                value = value_of_row(row)
                points.append((times.bit_length() - 1, value.number, value.is_measured))
        points = [point for point in points if point[1] is not None]
        if points:
            plotting.line_with_marks(axes, points, colors[micro])
            drawn = True
    return drawn


def draw_published(axes, image, index, colors):
    own = [(micro, pair) for (other, micro), pair in PUBLISHED.items() if other == image]
    for micro, pair in own:
        axes.plot([0], [pair[index]], "*", color=colors[micro], markersize=9)
    return bool(own)


def utilization_of(row):
    return NOTHING if row["utilization_mean"] is None else Value(row["utilization_mean"], True)


def figures(rows, folder, device):
    for optimizer in OPTIMIZERS:
        if not any(row["optimizer"] == optimizer for row in rows.values()):
            continue
        where = f"{device}, {optimizer}"
        name = f"-{slug(device)}-{optimizer}"
        yield (f"memory{name}", f"Peak memory of a step ({where}), logarithmic. Stars: GPU memory in use as published, off in the left "
               "column, on in the other two.",
               grid_figure(rows, optimizer, f"Peak memory, {where}", "MB",
                           lambda row: peak_of(row).scaled(MB), {"none": 0, "sqrt": 1, "budget": 1}))
        yield (f"time{name}", f"Seconds for an epoch of 60,000 images ({where}), logarithmic.",
               grid_figure(rows, optimizer, f"Training time, {where}", "s per epoch", epoch_of))
        yield (f"utilization{name}", f"How busy the device was while training ({where}): mean over the monitor's samples, "
               "all cores 100 %. Nothing can be predicted here.",
               grid_figure(rows, optimizer, f"Utilization, {where}", "%", utilization_of, percent_scale=True))
