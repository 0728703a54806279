"""Tables and figures of resnet-budgets."""

from . import plotting
from .details import read_timeline
from .resnet_budgets import (BUDGET, COLUMNS, ENCODER_BATCHES, PUBLISHED, PUBLISHED_PERCENT, PUBLISHED_VALUES,
                             REDUCTIONS, settings)
from .values import (GB, NOTHING, Value, has_numbers, is_same_plan, overhead_text, part_of, peak_of, percent, shown,
                     slower_than, slug, step_of)

EXPLANATION = (
    "ResNet-152 with 1000 classes at 224², Adam with learning rate 0.001. *Initial* is the step that recomputes nothing, "
    "*final* the step within the budget of 1.5 GB for all bytes, or the smallest feasible budget where 1.5 GB is "
    "impossible. Published times are simulated with an assumed cost of recomputation; ours are measured, unless marked.")


def final_row(rows, network, batch):
    """The row within 1.5 GB; where that is impossible, the one with the smallest feasible budget."""
    row = rows.get(f"{network}/b{batch}/1.5GB")
    if row is not None and row["how"] != "does not fit":
        return row
    return rows.get(f"{network}/b{batch}/smallest") or rows.get(f"{network}/b{batch}/half") or row


def number(value, form="{:.2f}"):
    return value.text(form)


def minus(one, other):
    """Their difference; where one of them is missing, there is none."""
    if one.number is None or other.number is None:
        return NOTHING
    return Value(one.number - other.number, one.is_measured and other.is_measured)


def counts(row):
    """The values kept, those recomputed, and all of them; nothing where they are not known."""
    if not has_numbers(row) or row["retained"] is None:
        return None
    return row["retained"], row["recomputed"], row["retained"] + row["recomputed"]


def again_text(row):
    found = counts(row)
    return f"{found[1]} of {found[2]}" if found else "–"


def how_text(first, last):
    """How both settings of a line were obtained."""
    hows = [row["how"] if row else "not run" for row in (first, last)]
    return hows[0] if hows[0] == hows[1] else ", ".join(hows)


def our_line(rows, network, batch):
    """The sixteen columns, and how they were obtained; "–" where a setting has no numbers."""
    first, last = rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch)
    if first is None and last is None:
        return None
    before, after = peak_of(first).scaled(GB), peak_of(last).scaled(GB)
    saved, part = minus(before, after), part_of(last, first)
    reduction = Value(None if part.number is None else 1 - part.number, part.is_measured)
    start, end = step_of(first), step_of(last)
    if has_numbers(first) and has_numbers(last) and start.is_measured != end.is_measured:
        # Both of one kind, or their difference means nothing.
        start, end = Value(first["predicted_step_seconds"]), Value(last["predicted_step_seconds"])
    again, numbers, held = NOTHING, ["–"] * 4, lambda key: "–"
    if has_numbers(last):
        again = Value(last["recompute_seconds"], True) if last["recompute_seconds"] is not None else Value(
            last["recompute_seconds_predicted"])
        held = lambda key: "–" if last[key] is None else f"{last[key] / GB:.2f}"
    if counts(last):
        retained, recomputed, values = counts(last)
        share = lambda n: f"{100 * n / values:.1f}" if values else "–"
        numbers = [str(retained), share(retained), str(recomputed), share(recomputed)]
    own_target = last is None or last["setting"].endswith("1.5GB")
    target = "" if own_target else f", {last['setting'].rsplit('/', 1)[1]}"
    more = "same plan" if is_same_plan(last, first) else number(minus(end, start))
    return [str(batch), number(before), number(after), number(saved), percent(reduction, "{:.1f}"), number(start),
            number(end), more, overhead_text(last, first, "{:.1f}"), number(again), *numbers, held("retained_bytes"),
            held("saved_bytes"), how_text(first, last) + target]


def published_line(batch):
    before, after, start, end, again = PUBLISHED[batch]
    kept = PUBLISHED_VALUES - again
    return [str(batch), f"{before:.2f}", f"{after:.2f}", f"{before - after:.2f}", f"{PUBLISHED_PERCENT[batch][0]:.1f}",
            f"{start:.2f}", f"{end:.2f}", f"{end - start:.2f}", f"{PUBLISHED_PERCENT[batch][1]:.1f}", "–", str(kept),
            f"{100 * kept / PUBLISHED_VALUES:.1f}", str(again), f"{100 * again / PUBLISHED_VALUES:.1f}", "–", "–",
            "simulated"]


def reductions_table(rows):
    header = ["batch", "reduction", "theirs: time (simulated)", "ours: peak, GB", "of own peak", "time", "recomputed",
              "budget"]
    lines = []
    for batch, part in REDUCTIONS.items():
        first, row = rows.get(f"resnet152/b{batch}/none"), rows.get(f"resnet152/b{batch}/minus-{100 * part:.1f}%")
        if first is None and row is None:
            continue
        lines.append([str(batch), f"−{100 * part:.1f} %", f"+{PUBLISHED_PERCENT[batch][1]:.0f} %",
                      number(peak_of(row).scaled(GB)), change_text(row, first), overhead_text(row, first),
                      again_text(row), how_text(first, row) if not has_numbers(row) else
                      "the smallest feasible" if row["least_bytes"] is not None else "met"])
    note = reasons(rows.get(f"resnet152/b{batch}/minus-{100 * part:.1f}%") for batch, part in REDUCTIONS.items())
    return "ResNet-152 with the published reductions of our own peak", note, header, lines


def change_text(row, base):
    """By how much the peak differs from that of `base`."""
    part = part_of(row, base)
    return percent(Value(None if part.number is None else part.number - 1, part.is_measured))


def reasons(rows):
    """Why settings failed."""
    return "; ".join(f"{row['setting']}: {row['why']}" for row in rows if row and row["how"] == "failed")


def line_reasons(rows, network, batches):
    """Why settings of our_line() failed, and what is proven about budgets that cannot be met."""
    used = [row for batch in batches for row in (rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch))]
    bounds = impossible({name: row for name, row in rows.items() if row["network"] == network})
    return "; ".join(text for text in (bounds, reasons(used)) if text)


def impossible(rows):
    """What is proven about budgets that cannot be met."""
    return "; ".join(f"{row['setting']}: 1.5 GB is impossible, no plan can need less than {row['bound_bytes']:,} bytes, the "
                     f"smallest found needs {row['least_bytes']:,}" for row in rows.values()
                     if row["how"] == "does not fit" and row["bound_bytes"] and row["least_bytes"])


def tables(rows):
    header = COLUMNS + ["how"]
    found = []
    ours = [line for line in (our_line(rows, "resnet152", batch) for batch in PUBLISHED) if line]
    if ours:
        found.append(("ResNet-152, ours", line_reasons(rows, "resnet152", PUBLISHED), header, ours))
    found.append(("ResNet-152, as published", "", header, [published_line(batch) for batch in PUBLISHED]))
    reductions = reductions_table(rows)
    if reductions[3]:
        found.append(reductions)
    encoder = [line for line in (our_line(rows, "encoder", batch) for batch in ENCODER_BATCHES) if line]
    if encoder:
        found.append(("Transformer encoder, ours (d 512, 6 layers, 8 heads, FFN 2048, sequence 128)",
                      line_reasons(rows, "encoder", ENCODER_BATCHES), header, encoder))
        found.append(halves_table(rows))
    return found


def halves_table(rows):
    header = ["batch", "peak without, GB", "peak with, GB", "of own peak", "time", "recomputed", "how"]
    lines = []
    for batch in ENCODER_BATCHES:
        first, row = rows.get(f"encoder/b{batch}/none"), rows.get(f"encoder/b{batch}/half")
        if first is None and row is None:
            continue
        lines.append([str(batch), number(peak_of(first).scaled(GB)), number(peak_of(row).scaled(GB)),
                      percent(part_of(row, first), "{:.0f} %"), overhead_text(row, first), again_text(row),
                      how_text(first, row)])
    note = reasons(rows.get(f"encoder/b{batch}/half") for batch in ENCODER_BATCHES)
    return "Transformer encoder in half of its own peak, or the smallest feasible", note, header, lines


def summary(rows):
    lines = []
    for batch, part in REDUCTIONS.items():
        first, row = rows.get(f"resnet152/b{batch}/none"), rows.get(f"resnet152/b{batch}/minus-{100 * part:.1f}%")
        time = slower_than(row, first)
        ours = how_text(first, row) if time.number is None else (
            f"{percent(Value(time.number, True))} {'measured' if time.is_measured else 'predicted'} at "
            f"{shown(100 * (peak_of(row).number / peak_of(first).number - 1), '{:+.1f} %')} of our own peak")
        lines.append(f"ResNet-152, batch {batch}, −{100 * part:.1f} % memory: theirs +{PUBLISHED_PERCENT[batch][1]:.0f} % time, "
                     f"simulated; ours {ours}.")
    first, row = rows.get("resnet152/b64/none"), rows.get("resnet152/b64/smallest")
    time = slower_than(row, first)
    bound = impossible({k: r for k, r in rows.items() if k == "resnet152/b64/1.5GB"})
    ours = how_text(first, row) if time.number is None else (
        f"{peak_of(row).scaled(GB).number:.2f} GB, the smallest feasible, with {percent(Value(time.number, True))} time "
        f"{'measured' if time.is_measured else 'predicted'}")
    lines.append(f"ResNet-152, batch 64: theirs 1.49 GB with +733 % time, simulated; ours {ours}"
                 + (f" ({bound.split(': ', 1)[1]})." if bound else "."))
    return lines


def batches_with_rows(rows, network, batches):
    """Those of which anything is known; nothing where no setting has numbers."""
    pairs = {batch: (rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch)) for batch in batches}
    if not any(has_numbers(row) for pair in pairs.values() for row in pair):
        return []
    return [batch for batch, pair in pairs.items() if any(pair)]


def memory_figure(rows, network, batches, device, with_published):
    figure, axes = plotting.pyplot.subplots(figsize=(8, 4.2))
    entries = [("ours without", plotting.SKY), ("ours within the budget", plotting.BLUE)]
    if with_published:
        entries = [("published without", "#bdbdbd"), ("published with", plotting.GREY)] + entries
    width = 0.8 / len(entries)
    for place, batch in enumerate(batches):
        first, last = rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch)
        values, hows = [peak_of(first).scaled(GB), peak_of(last).scaled(GB)], [how_of(first), how_of(last)]
        if with_published:
            values, hows = [Value(PUBLISHED[batch][0]), Value(PUBLISHED[batch][1])] + values, ["", "", *hows]
        draw_group(axes, place, values, hows, entries, width, "{:.2f}")
    budget = axes.axhline(BUDGET / GB, color=plotting.RED, linewidth=1.2, label="budget 1.5 GB")
    finish_bars(axes, batches, "peak memory of a step, GB", f"Peak memory by batch ({device})", entries,
                "hatched: predicted, or simulated" if with_published else "hatched: predicted", [budget], columns=3)
    figure.tight_layout()
    return figure


def how_of(row):
    """What stands in place of the bar where a row has no numbers."""
    return row["how"] if row else "not run"


def draw_group(axes, place, values, hows, entries, width, form):
    for own, (value, how, (_, color)) in enumerate(zip(values, hows, entries)):
        x = place + (own - (len(entries) - 1) / 2) * width
        if value.number is None:
            plotting.absent(axes, x, how)
            continue
        plotting.bar(axes, x, value.number, width * 0.92, color, value.is_measured)
        axes.text(x, value.number, shown(value.number, form), ha="center", va="bottom", fontsize=7)


def finish_bars(axes, batches, label, title, entries, hatched, lines=(), columns=2):
    axes.set_xticks(range(len(batches)), [str(batch) for batch in batches])
    axes.set_xlim(-0.5, len(batches) - 0.5)  # also where a word stands in place of the outermost bar
    axes.set_xlabel("batch")
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(axis="x", visible=False)
    handles = plotting.bar_legend(entries)
    handles[-1].set_label(hatched)
    # Below the axes, where no bar is.
    axes.legend(handles=[*handles, *lines], fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncol=columns)


def time_figure(rows, network, batches, device, with_published):
    figure, panels = plotting.pyplot.subplots(1, 2, figsize=(9.5, 4.2))
    seconds = [("ours without", plotting.SKY), ("ours within the budget", plotting.BLUE)]
    overheads = [("ours", plotting.BLUE)]
    if with_published:
        overheads = [("published", plotting.GREY)] + overheads
    for place, batch in enumerate(batches):
        first, last = rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch)
        hows = [how_of(first), how_of(last)]
        draw_group(panels[0], place, [step_of(first), step_of(last)], hows, seconds, 0.4, "{:.1f}")
        values = [slower_than(last, first).scaled(0.01)]
        hows = [how_of(last) if has_numbers(first) else how_of(first)]
        if with_published:
            values, hows = [Value(PUBLISHED_PERCENT[batch][1])] + values, ["", *hows]
        draw_group(panels[1], place, values, hows, overheads, 0.8 / len(overheads), "{:.0f}")
    finish_bars(panels[0], batches, "step, s", f"Step time by batch ({device})", seconds, "hatched: predicted")
    finish_bars(panels[1], batches, "more time than without, %", "What the budget costs", overheads,
                "hatched: predicted, or simulated" if with_published else "hatched: predicted")
    figure.tight_layout()
    return figure


def timeline_figure(timeline, budget, title):
    figure, axes = plotting.pyplot.subplots(figsize=(7.5, 3.0))
    for side, color, label in (("before", plotting.SKY, "nothing recomputed"),
                               ("after", plotting.BLUE, "within the budget")):
        live = [bytes / GB for bytes in timeline[side]]
        axes.plot(range(len(live)), live, color=color, linewidth=1.1, drawstyle="steps-post", label=label)
        axes.fill_between(range(len(live)), live, step="post", color=color, alpha=0.18)
    if budget:
        axes.axhline(budget / GB, color=plotting.RED, linewidth=1, label=f"budget {budget / GB:.2f} GB")
    axes.set_xlabel("op of the step, in order (forward, backward, update)")
    axes.set_ylabel("bytes alive, GB")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_title(title)
    axes.legend(fontsize=8, loc="upper right")
    figure.tight_layout()
    return figure


def figures(rows, folder, device):
    for network, batches, title, published in (("resnet152", list(PUBLISHED), "ResNet-152", True),
                                               ("encoder", list(ENCODER_BATCHES), "Transformer encoder", False)):
        drawn = batches_with_rows(rows, network, batches)
        if not drawn:
            continue
        yield (f"{network}-memory-{slug(device)}", f"{title}: peak memory with and without the budget ({device}).",
               memory_figure(rows, network, drawn, device, published))
        yield (f"{network}-time-{slug(device)}", f"{title}: step time, and what the budget costs ({device}).",
               time_figure(rows, network, drawn, device, published))
    for setting in settings():
        row = rows.get(setting.name)
        timeline = read_timeline(folder, setting, device) if row and "timeline" in setting.details else None
        if timeline and row["how"] in ("measured", "predicted") and row["recomputed"]:
            network, batch, _ = setting.name.split("/")
            title = f"{'ResNet-152' if network == 'resnet152' else 'Transformer encoder'}, batch {batch[1:]}"
            yield (f"{network}-{batch}-timeline-{slug(device)}",
                   f"{title}: memory against operation, before and after ({device}, as planned).",
                   timeline_figure(timeline, row["budget_bytes"], f"{title}: memory of a step"))
