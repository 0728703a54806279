"""Tables and figures of resnet-budgets."""

from . import plotting
from .details import read_timeline
from .resnet_budgets import (BUDGET, COLUMNS, ENCODER_BATCHES, PUBLISHED, PUBLISHED_PERCENT, PUBLISHED_VALUES,
                             REDUCTIONS, settings)
from .values import GB, NOTHING, Value, peak_of, percent, slower_than, slug, step_of

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


def our_line(rows, network, batch):
    """The sixteen columns, and how they were obtained."""
    first, last = rows.get(f"{network}/b{batch}/none"), final_row(rows, network, batch)
    if first is None or last is None or "failed" in (first["how"], last["how"]) or last["how"] == "does not fit":
        return None
    before, after, slower = peak_of(first).scaled(GB), peak_of(last).scaled(GB), slower_than(last, first)
    both = before.is_measured and after.is_measured
    saved = Value(before.number - after.number, both)
    start, end = step_of(first), step_of(last)
    if start.is_measured != end.is_measured:  # both of one kind, or their difference means nothing
        start, end = Value(first["predicted_step_seconds"]), Value(last["predicted_step_seconds"])
    again = Value(last["recompute_seconds"], True) if last["recompute_seconds"] is not None else Value(
        last["recompute_seconds_predicted"])
    values = last["retained"] + last["recomputed"]
    share = lambda n: f"{100 * n / values:.1f}" if values else "–"
    held = lambda key: "–" if last[key] is None else f"{last[key] / GB:.2f}"
    how = last["how"] if first["how"] == last["how"] else f"{first['how']}, {last['how']}"
    target = "" if last["setting"].endswith("1.5GB") else f", {last['setting'].rsplit('/', 1)[1]}"
    return [str(batch), number(before), number(after), number(saved),
            percent(Value(saved.number / before.number, both), "{:.1f}"), number(start), number(end),
            number(Value(end.number - start.number, end.is_measured)), percent(slower, "{:.1f}"), number(again),
            str(last["retained"]), share(last["retained"]), str(last["recomputed"]), share(last["recomputed"]),
            held("retained_bytes"), held("saved_bytes"), how + target]


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
        if first is None or row is None or row["how"] == "failed":
            continue
        own = peak_of(row).number / peak_of(first).number - 1
        smallest = row["least_bytes"] is not None
        lines.append([str(batch), f"−{100 * part:.1f} %", f"+{PUBLISHED_PERCENT[batch][1]:.0f} %",
                      number(peak_of(row).scaled(GB)), f"{100 * own:+.1f} %", percent(slower_than(row, first)),
                      f"{row['recomputed']} of {row['recomputed'] + row['retained']}",
                      "the smallest feasible" if smallest else "met"])
    return "ResNet-152 with the published reductions of our own peak", "", header, lines


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
        found.append(("ResNet-152, ours", impossible(rows), header, ours))
    found.append(("ResNet-152, as published", "", header, [published_line(batch) for batch in PUBLISHED]))
    reductions = reductions_table(rows)
    if reductions[3]:
        found.append(reductions)
    encoder = [line for line in (our_line(rows, "encoder", batch) for batch in ENCODER_BATCHES) if line]
    if encoder:
        found.append(("Transformer encoder, ours (d 512, 6 layers, 8 heads, FFN 2048, sequence 128)", "", header, encoder))
        found.append(halves_table(rows))
    return found


def halves_table(rows):
    header = ["batch", "peak without, GB", "peak with, GB", "of own peak", "time", "recomputed"]
    lines = []
    for batch in ENCODER_BATCHES:
        first, row = rows.get(f"encoder/b{batch}/none"), rows.get(f"encoder/b{batch}/half")
        if first is None or row is None or "failed" in (first["how"], row["how"]):
            continue
        lines.append([str(batch), number(peak_of(first).scaled(GB)), number(peak_of(row).scaled(GB)),
                      f"{100 * peak_of(row).number / peak_of(first).number:.0f} %", percent(slower_than(row, first)),
                      f"{row['recomputed']} of {row['recomputed'] + row['retained']}"])
    return "Transformer encoder in half of its own peak, or the smallest feasible", "", header, lines


def summary(rows):
    lines = []
    for batch, part in REDUCTIONS.items():
        first, row = rows.get(f"resnet152/b{batch}/none"), rows.get(f"resnet152/b{batch}/minus-{100 * part:.1f}%")
        time = slower_than(row, first)
        ours = "no result" if time.number is None else (
            f"{percent(Value(time.number, True))} {'measured' if time.is_measured else 'predicted'} at "
            f"{100 * (peak_of(row).number / peak_of(first).number - 1):+.1f} % of our own peak")
        lines.append(f"ResNet-152, batch {batch}, −{100 * part:.1f} % memory: theirs +{PUBLISHED_PERCENT[batch][1]:.0f} % time, "
                     f"simulated; ours {ours}.")
    first, row = rows.get("resnet152/b64/none"), rows.get("resnet152/b64/smallest")
    time = slower_than(row, first)
    bound = impossible({k: r for k, r in rows.items() if k == "resnet152/b64/1.5GB"})
    ours = "no result" if time.number is None else (
        f"{peak_of(row).scaled(GB).number:.2f} GB, the smallest feasible, with {percent(Value(time.number, True))} time "
        f"{'measured' if time.is_measured else 'predicted'}")
    lines.append(f"ResNet-152, batch 64: theirs 1.49 GB with +733 % time, simulated; ours {ours}"
                 + (f" ({bound.split(': ', 1)[1]})." if bound else "."))
    return lines


def batches_with_rows(rows, network, batches):
    return [batch for batch in batches if our_line(rows, network, batch)]


def memory_figure(rows, network, batches, device, with_published):
    figure, axes = plotting.pyplot.subplots(figsize=(8, 3.8))
    entries = [("ours without", plotting.SKY), ("ours within the budget", plotting.BLUE)]
    if with_published:
        entries = [("published without", "#bdbdbd"), ("published with", plotting.GREY)] + entries
    width = 0.8 / len(entries)
    for place, batch in enumerate(batches):
        first, last = rows[f"{network}/b{batch}/none"], final_row(rows, network, batch)
        values = [peak_of(first).scaled(GB), peak_of(last).scaled(GB)]
        if with_published:
            values = [Value(PUBLISHED[batch][0]), Value(PUBLISHED[batch][1])] + values
        draw_group(axes, place, values, entries, width, "{:.2f}")
    budget = axes.axhline(BUDGET / GB, color=plotting.RED, linewidth=1.2, label="budget 1.5 GB")
    finish_bars(axes, batches, "peak memory of a step, GB", f"Peak memory by batch ({device})", entries,
                "hatched: predicted, or simulated" if with_published else "hatched: predicted", [budget])
    figure.tight_layout()
    return figure


def draw_group(axes, place, values, entries, width, form):
    for own, (value, (_, color)) in enumerate(zip(values, entries)):
        if value.number is None:
            continue
        x = place + (own - (len(entries) - 1) / 2) * width
        plotting.bar(axes, x, value.number, width * 0.92, color, value.is_measured)
        axes.text(x, value.number, form.format(value.number), ha="center", va="bottom", fontsize=7)


def finish_bars(axes, batches, label, title, entries, hatched, lines=()):
    axes.set_xticks(range(len(batches)), [str(batch) for batch in batches])
    axes.set_xlabel("batch")
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(axis="x", visible=False)
    handles = plotting.bar_legend(entries)
    handles[-1].set_label(hatched)
    axes.legend(handles=[*handles, *lines], fontsize=8)


def time_figure(rows, network, batches, device, with_published):
    figure, panels = plotting.pyplot.subplots(1, 2, figsize=(9.5, 3.8))
    seconds = [("ours without", plotting.SKY), ("ours within the budget", plotting.BLUE)]
    overheads = [("ours", plotting.BLUE)]
    if with_published:
        overheads = [("published", plotting.GREY)] + overheads
    for place, batch in enumerate(batches):
        first, last = rows[f"{network}/b{batch}/none"], final_row(rows, network, batch)
        draw_group(panels[0], place, [step_of(first), step_of(last)], seconds, 0.4, "{:.1f}")
        values = [slower_than(last, first).scaled(0.01)]
        if with_published:
            values = [Value(PUBLISHED_PERCENT[batch][1])] + values
        draw_group(panels[1], place, values, overheads, 0.8 / len(overheads), "{:.0f}")
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
