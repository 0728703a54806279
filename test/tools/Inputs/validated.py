"""validated.py: what reports say of validations and classes agrees with itself.

  report RUN                                    of one run
  alone RUN BEST LAST ANSWERS.safetensors ANSWERS.csv
      BEST evaluated RUN's best checkpoint and wrote the first answers, LAST its last weights and the second
"""
import csv
import json
import math
import struct
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


def check_classes(classes, evaluation):
    rows, matrix = classes["per_class"], classes["confusion"]
    count, right = evaluation["samples"], round(evaluation["accuracy"] * evaluation["samples"])
    assert sum(row["samples"] for row in rows) == count
    assert sum(row["correct"] for row in rows) == right, "the host counts otherwise than the plan"
    assert sum(row["answers"] for row in rows) == count
    for row, line in zip(rows, matrix):
        assert sum(line) == row["samples"] and line[row["class"]] == row["correct"]
    assert evaluation["top5"] >= evaluation["accuracy"]


def check_report(run):
    assert run["validation"] and run["evaluations"]
    for split, evaluations in (("validation", run["validation"]), ("test", run["evaluations"])):
        check_classes(run["classification"][split], evaluations[-1])
    best = min(run["validation"], key=lambda each: each["loss"])
    assert (run["best"]["value"], run["best"]["step"]) == (best["loss"], best["step"]), run["best"]
    assert run["best"]["metric"] == "loss:min" and run["early_stop"] is None
    kept = run["checkpoint"]
    assert kept["copy_bytes"] > 0 and kept["written"] == 3 and 1 <= len(kept["kept"]) <= 2, kept


def check_alone(run, best, last, tensors, table):
    check_report(run)
    assert best["validation"][0]["loss"] == run["best"]["value"]
    assert last["evaluations"][0]["loss"] == run["evaluations"][-1]["loss"]
    assert last["test_accuracy"] == run["test_accuracy"] and last["steps"] == 0
    with open(tensors, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()

    def values(name, code):
        begin, end = header[name]["data_offsets"]
        return struct.unpack(f"<{(end - begin) // struct.calcsize(code)}{code}", data[begin:end])

    rows, columns = header["logits"]["shape"]
    logits, labels = values("logits", "f"), values("label", "q")
    check_answers([logits[i * columns:(i + 1) * columns] for i in range(rows)], labels, best)
    with open(table, newline="") as file:
        lines = list(csv.DictReader(file))
    answers = [[float(line[f"logit_{i}"]) for i in range(columns)] for line in lines]
    assert [line["sample"] for line in lines] == [str(i) for i in range(rows)]
    assert all(int(line["answer"]) == row.index(max(row)) for line, row in zip(lines, answers))
    check_answers(answers, [int(line["label"]) for line in lines], last)


def check_answers(logits, labels, report):
    """Loss and accuracy once more from the logits."""
    evaluation = report["evaluations"][0]
    assert len(logits) == len(labels) == evaluation["samples"]
    right = sum(row.index(max(row)) == label for row, label in zip(logits, labels))
    assert right == round(evaluation["accuracy"] * len(labels))
    among = sum(sum(other > row[label] for other in row) < 5 for row, label in zip(logits, labels))
    assert among == round(evaluation["top5"] * len(labels))
    loss = sum(math.log(sum(math.exp(v - max(row)) for v in row)) + max(row) - row[label]
               for row, label in zip(logits, labels)) / len(labels)
    assert abs(loss - evaluation["loss"]) < 1e-5 * max(1, loss), (loss, evaluation["loss"])


if sys.argv[1] == "report":
    check_report(load(sys.argv[2]))
else:
    check_alone(*(load(path) for path in sys.argv[2:5]), *sys.argv[5:7])
