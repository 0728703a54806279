"""tools_test.py BUILD: two epochs of one small setting, with gc's own tools.

The published grid trained its second epoch in evaluation mode with recomputation off, and with SGD in place of Adam. So
the second epoch must recompute to its last step, must give the bits of the one without recomputation, and must have
learnt: its losses are those of training, not the first epoch's again.
"""

import os
import subprocess
import sys
import unittest

from harness import ROOT, StudyCase

BUILD = sys.argv.pop()


class TwoEpochs(StudyCase):
    def test_the_second_epoch_trains_with_the_same_recomputation(self):
        os.environ["GC_NO_CALIBRATE"] = "1"
        images = self.folder / "images"
        subprocess.run([sys.executable, ROOT / "test" / "tools" / "Inputs" / "idx.py", images], check=True)
        self.build = BUILD
        # Batches of 8 do not divide 36 images: an epoch ends with a step of one micro-batch.
        self.study("mnist-grid", "--full", "--only=112/4x2/adam/[nb]*", f"--data=mnist:{images}", "--limit=36")
        none, budget = (self.row(f"112/4x2/adam/{policy}") for policy in ("none", "budget"))
        for row in (none, budget):
            self.assertEqual((row["how"], row["optimizer"], row["micro_batches"]), ("measured", "adam", "2"))
            self.assertEqual((row["steps"], row["epoch_from"]), ("10", "epochs of 36 images"))
            self.assertGreater(int(row["optimizer_bytes"]), 2 * 4 * 133650 - 1)
            self.assertLess(float(row["loss_last"]), float(row["loss_first"]))
        self.assertEqual(none["recomputed_in_last_step"], "0")
        self.assertGreater(int(budget["recomputed_in_last_step"]), 0)
        self.assertLess(int(budget["measured_peak_bytes"]), int(none["measured_peak_bytes"]))
        self.assertEqual((budget["loss_first"], budget["loss_last"]), (none["loss_first"], none["loss_last"]))

    def test_data_that_is_not_there_is_told_before_anything_runs(self):
        self.build = BUILD
        said = self.study("mnist-grid", "--full", f"--data=mnist:{self.folder}/none", code=2)
        self.assertIn("--full trains on", said)
        self.assertEqual(self.rows(), [])


if __name__ == "__main__":
    unittest.main()
