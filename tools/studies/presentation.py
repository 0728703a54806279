"""RESULTS.md, figures and index.html of a study, from its rows alone."""

from . import cnn_report, mnist_report, page, plotting, resnet_report
from .columns import HOW
from .details import write_atomically
from .main import MODULES
from .store import latest
from .values import LEGEND

REPORTS = {"mnist-grid": mnist_report, "cnn-checkpoints": cnn_report, "resnet-budgets": resnet_report}


def conditions(rows):
    """Machine, versions and commits of rows, and how many there are of each kind: what every table stands on."""
    first = rows[0]
    distinct = lambda key: ", ".join(sorted({str(row[key]) for row in rows} - {""}))
    counts = ", ".join(f"{sum(row['how'] == how for row in rows)} {how}" for how in HOW)
    loads = [row["load_average"] for row in rows if row["how"] == "measured"]
    lines = [("machine", f"{first['machine']}, {first['cores']} cores, {first['memory_bytes'] / 2**30:.1f} GiB"),
             ("versions", distinct("versions")), ("commit", distinct("commit")),
             ("run", f"{min(row['date'] for row in rows)} to {max(row['date'] for row in rows)}, "
                     f"size {distinct('size')}"),
             ("settings", counts)]
    if loads:
        lines.append(("load average", f"{min(loads):.1f} to {max(loads):.1f} while measuring"))
    if any("--cuda-library=none" in row["why"] for row in rows):
        lines.append(("kernels", "all generated, as --quick compiles for cuda with --cuda-library=none"))
    rates = distinct("rates_from")
    return lines + ([("predictions by", rates)] if rates else [])


def obtained(rows):
    """How the numbers came about."""
    steps = [row["timed_steps"] for row in rows if row["timed_steps"]]
    text = ["Measured rows: gc-run in a process of its own; the peak is what the system charged to the process between "
            "the creation of the arena and the end of the last step"]
    if steps:
        count = f"{min(steps)}" if min(steps) == max(steps) else f"{min(steps)} to {max(steps)}"
        text.append(f"time is the median of {count} step{'' if count == '1' else 's'} after the first")
    if any(row["epoch_from"] == "steps" for row in rows):
        text.append("epoch times are computed from the step's (`epoch_from=steps`)")
    if any(row["epoch_from"].startswith("epochs") for row in rows):
        text.append("epochs were trained (`epoch_from=epochs`)")
    return "; ".join(text) + ". Predicted rows: gc-compile alone."


def markdown_table(header, lines):
    cell = lambda text: str(text).replace("|", "\\|")
    rows = ["| " + " | ".join(map(cell, header)) + " |", "|" + "---|" * len(header)]
    return "\n".join(rows + ["| " + " | ".join(map(cell, line)) + " |" for line in lines])


def results_text(study, sections):
    text = [f"# {study.TITLE}", "", f"Written by `tools/study {study.NAME}`; `--draw` writes it again from results.csv.", ""]
    for section in sections:
        text += [f"## On {section['device']}", ""]
        text += [f"- {line}" for line in section["summary"]] + ["", section["explanation"], ""]
        text += [f"| | |\n|---|---|"] + [f"| {key} | {value} |" for key, value in section["conditions"]]
        text += ["", section["obtained"], "", LEGEND, ""]
        for title, note, header, lines in section["tables"]:
            text += [f"### {title}", "", markdown_table(header, lines), ""] + ([note, ""] if note else [])
        for name, caption, _ in section["figures"]:
            text += [f"![{caption}]({name}.svg)", ""]
    return "\n".join(text)


def present(name, folder, rows, progress):
    """Writes everything and returns the paths of what people open."""
    study, report, sections = MODULES[name], REPORTS[name], []
    for device in sorted({row["device"] for row in rows}):
        own = latest(rows, device)
        values, figures = list(own.values()), []
        for figure_name, caption, figure in report.figures(own, folder, device):
            progress.show(f"drawing {figure_name}")
            figures.append((figure_name, caption, plotting.save(figure, folder, figure_name)))
        sections.append({"device": device, "summary": report.summary(own), "explanation": report.EXPLANATION,
                         "conditions": conditions(values), "obtained": obtained(values), "tables": report.tables(own),
                         "figures": figures})
    results, index = folder / "RESULTS.md", folder / "index.html"
    write_atomically(results, results_text(study, sections))
    write_atomically(index, page.html(study, sections))
    return [results, index]
