"""A plan as JSON, by flatc; for scripts of this folder."""
import json
import subprocess
import tempfile

HEADER_BYTES = 24  # in front of the FlatBuffer: runtime/plan/PlanSeal.h


def plan_json(schema, path):
    with open(path, "rb") as file:
        data = file.read()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/bare.bin", "wb") as file:
            file.write(data[HEADER_BYTES:])
        subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "--defaults-json", "-o", folder,
                        schema, "--", f"{folder}/bare.bin"], check=True)
        with open(f"{folder}/bare.json") as file:
            return json.load(file)
