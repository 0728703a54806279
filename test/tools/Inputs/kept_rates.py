"""kept_rates.py FOLDER THREADS OTHER: the rates that are kept in FOLDER are whole. A machine that was too busy to be measured
(which gc-compile says, and which is no fault) gets rates written down here; OTHER has times that say which machine it is."""
import glob
import json
import os
import sys

folder, threads, other = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if not glob.glob(f"{folder}/*.rates.json"):
    (times,) = glob.glob(f"{other}/*.times.json")
    names = ["starts", "conv_forward_flops", "conv_data_flops", "conv_weights_flops", "conv_strided_weights_flops",
             "matmul_flops", "attention_flops", "product_bytes", "stream_bytes", "row_bytes", "arithmetic_flops"]
    rates = {"of": json.load(open(times))["of"], "roofline": {name + "_per_second": 1e9 for name in names}}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, os.path.basename(times).replace(".times.", ".rates.")), "w") as file:
        json.dump(rates, file)
    sys.exit(0)
(path,) = glob.glob(f"{folder}/*.rates.json")
kept = json.load(open(path))
assert kept["of"]["threads"] == threads and kept["of"]["cpu"] and kept["of"]["library"], kept["of"]
assert len(kept["roofline"]) == 11 and all(rate > 0 for rate in kept["roofline"].values()), kept["roofline"]
assert 1e7 < kept["input_bytes_per_second"] < 1e12, kept["input_bytes_per_second"]
assert len(kept["networks"]) == 4, "not every network was measured"
assert 0 <= kept["busy"] <= 1
