"""tools/study without figures: rows, resuming, bad input, and what makes a run no measurement."""

import fcntl
import os
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

from harness import StudyCase
from studies import allowance, arguments, mnist_grid, values
from studies.main import MODULES
from studies.problem import Problem

SMALL = ("mnist-grid", "--quick", "--only=112/4x1/adam/*")
THREE = ["112/4x1/adam/budget", "112/4x1/adam/none", "112/4x1/adam/sqrt"]


class Settings(unittest.TestCase):
    def test_the_grid_has_82_settings_for_each_optimizer_and_policy(self):
        grid = list(mnist_grid.grid())
        self.assertEqual((len(grid), len(set(grid))), (82, 82))
        settings = list(mnist_grid.settings())
        self.assertEqual(len({s.name for s in settings}), 82 * 2 * 3)
        for image, micro, times in grid:
            self.assertLessEqual(micro * times, max(mnist_grid.MICRO_BATCHES[image]))

    def test_names_are_unique_and_bases_exist(self):
        for module in MODULES.values():
            settings = list(module.settings())
            names = {s.name for s in settings}
            self.assertEqual(len(names), len(settings))
            self.assertLessEqual({s.budget.base for s in settings if s.budget and s.budget.base}, names)

    def test_the_whole_batch_is_split_into_micro_batches(self):
        setting = next(s for s in mnist_grid.settings() if s.name == "448/16x8/adam/sqrt")
        self.assertIn("--batch=128", setting.model)
        self.assertEqual(setting.training_flags(), ["--optimizer=adam", "--lr=0.001", "--accumulate=8", "--remat=sqrt"])


class Order(unittest.TestCase):
    def test_each_group_has_its_turn_and_the_cheapest_come_first(self):
        settings = [s for s in mnist_grid.settings() if s.priority == 2 and s.image in (112, 1792)]
        order = allowance.measuring_order(settings, lambda s: s.image * s.batch)
        self.assertEqual([bundle[0].image for bundle in order[:4]], [112, 1792, 112, 1792])
        self.assertEqual(order[0][0].batch, 4)
        self.assertEqual({len(bundle) for bundle in order}, {3})  # without, sqrt and budget together

    def test_a_larger_size_measures_what_a_smaller_only_predicted(self):
        for how in ("predicted", "not run"):
            row = {"how": how, "size": "quick", "device": "cpu"}
            self.assertTrue(allowance.is_done(row, allowance.SIZES["quick"], False))
            self.assertFalse(allowance.is_done(row, allowance.SIZES["default"], False))

    def test_without_cudnn_a_row_stands_for_a_quick_study_alone(self):
        row = {"how": "measured", "size": "quick", "device": "cuda"}
        self.assertTrue(allowance.is_done(row, allowance.SIZES["quick"], False))
        self.assertFalse(allowance.is_done(row, allowance.SIZES["default"], False))


class Arguments(unittest.TestCase):
    def test_what_has_no_effect_or_no_meaning_is_refused(self):
        for words, reason in ((["x"], "no study 'x'"), ([], "which study"), (["mnist-grid", "--fast"], "no flag '--fast'"),
                              (["mnist-grid", "--quick", "--full"], "exclude"), (["mnist-grid", "--draw", "--full"], "--full"),
                              (["mnist-grid", "--device=tpu"], "--device=tpu"), (["mnist-grid", "--output="], "--output"),
                              (["mnist-grid", "--limit=3"], "--limit goes with"), (["vit-parallel"], "several machines"),
                              (["mnist-grid", "--target=rtx3070"], "--target goes with"),
                              (["mnist-grid", "--full", "--limit=x"], "--limit=x")):
            with self.assertRaises(Problem) as caught:
                arguments.parse(words)
            self.assertIn(reason, str(caught.exception))
            self.assertEqual(caught.exception.code, 2)


class Values(unittest.TestCase):
    def test_devices_in_file_names(self):
        self.assertEqual(values.slug("cuda:RTX 3060"), "cuda-RTX-3060")

    def test_what_rounds_to_zero_has_no_sign(self):
        self.assertEqual(values.Value(-0.001, True).text("{:.2f}"), "0.00")
        self.assertEqual(values.percent(values.Value(-0.0001, True)), "+0.0 %")
        self.assertEqual(values.Value(-0.1, True).text("{:.1f}"), "-0.1")

    def test_a_plan_that_a_budget_leaves_as_it_is(self):
        base = {"how": "measured", "recomputed": 0, "recompute_fraction": 0.0, "predicted_peak_bytes": 9,
                "micro_batches": 1, "split_parts": 1, "predicted_step_seconds": 1.0, "step_seconds": 1.0}
        self.assertEqual(values.overhead_text({**base, "step_seconds": 1.02}, base), "same plan")
        self.assertEqual(values.overhead_text({**base, "step_seconds": 1.02, "recomputed": 3}, base), "+2.0 %")
        self.assertEqual(values.overhead_text({**base, "how": "failed"}, base), "–")


class Rows(StudyCase):
    def test_every_setting_gets_a_row_that_tells_how(self):
        self.study(*SMALL)
        rows = self.rows()
        self.assertEqual(sorted(row["setting"] for row in rows), THREE)
        for row in rows:
            self.assertEqual(row["how"], "measured")
            self.assertEqual(row["epoch_from"], "steps")
            self.assertAlmostEqual(float(row["epoch_seconds"]), 0.02 * 60000 / 4)
            self.assertGreater(int(row["optimizer_bytes"]), 0)
            self.assertEqual(float(row["utilization_mean"]), 150 / int(row["cores"]))
        self.assertEqual(int(self.row(THREE[0])["budget_bytes"]), 40_000_000)
        self.assertFalse((self.out / ".work").exists())

    def test_epochs_that_no_batch_divides(self):
        # 30 images in batches of 8: with micro-batches of 4 an epoch has a short last step, without it drops 6 images.
        self.study("mnist-grid", "--full", "--only=112/[48]x[12]/sgd/none", "--limit=30")
        for setting, steps, images in (("112/4x2/sgd/none", 4, 28), ("112/8x1/sgd/none", 3, 24),
                                       ("112/8x2/sgd/none", 2, 24), ("112/4x1/sgd/none", 7, 28)):
            row = self.row(setting)
            self.assertEqual((row["how"], row["why"], row["steps"], row["epoch_from"]),
                             ("measured", "", str(2 * steps), f"epochs of {images} images"))
            self.assertAlmostEqual(float(row["epoch_seconds"]), 0.02 * steps * 60000 / images)

    def test_run_again_it_does_nothing_twice(self):
        self.study(*SMALL)
        before = (self.out / "results.csv").read_bytes()
        self.assertIn("nothing to run", self.study(*SMALL))
        self.assertEqual((self.out / "results.csv").read_bytes(), before)

    def test_adam_that_was_sgd_is_no_measurement(self):
        self.study(*SMALL, code=1, fake="sgd-for-adam")
        self.assertEqual({row["how"] for row in self.rows()}, {"failed"})
        self.assertIn("the run's report says 'sgd", self.row(THREE[1])["why"])

    def test_adam_without_state_is_no_measurement(self):
        self.study(*SMALL, code=1, fake="no-state")
        self.assertIn("without a byte of optimizer state", self.row(THREE[1])["why"])

    def test_recomputation_that_was_off_at_the_end_is_no_measurement(self):
        self.study(*SMALL, fake="forgets")
        self.assertEqual(self.row("112/4x1/adam/none")["how"], "measured")
        for policy in ("sqrt", "budget"):
            row = self.row(f"112/4x1/adam/{policy}")
            self.assertEqual(row["how"], "failed")
            self.assertIn("computed 0 ops again", row["why"])

    def test_a_failing_run_is_a_row_with_its_reason_and_is_measured_again_when_asked(self):
        said = self.study(*SMALL, fake="fails=sqrt")
        self.assertIn("warning: 112/4x1/adam/sqrt failed: exit code 4: gc-run: the device has gone", said)
        self.assertEqual(self.row("112/4x1/adam/none")["how"], "measured")
        self.assertIn("nothing to run", self.study(*SMALL))
        self.study(*SMALL, "--retry")
        self.assertEqual(self.row("112/4x1/adam/sqrt")["how"], "measured")

    def test_budgets_and_details(self):
        self.study("resnet-budgets", "--quick", "--only=resnet152/b8/*")
        self.assertEqual(self.row("resnet152/b8/minus-29.6%")["budget_bytes"], "70400000")
        self.assertEqual(self.row("resnet152/b8/1.5GB")["retained_bytes"], "10")
        for kind in ("timeline", "activations", "operations"):
            self.assertTrue((self.out / "details" / f"{kind}-resnet152_b8_1.5GB-cpu.csv").exists(), kind)

    def test_a_budget_that_cannot_be_met_is_a_row_with_the_bound(self):
        with unittest.mock.patch.dict(os.environ):
            text = (self.build / "bin" / "gc-compile").read_text()
            (self.build / "bin" / "gc-compile").write_text(text.replace("100_000_000, 40_000_000",
                                                                        "9_000_000_000, 2_000_000_000"))
        self.study("resnet-budgets", "--quick", "--only=resnet152/b64/1.5GB")
        row = self.row("resnet152/b64/1.5GB")
        self.assertEqual((row["how"], row["bound_bytes"], row["least_bytes"]),
                         ("does not fit", "1999999999", "2000000000"))
        self.assertIn("no plan in this order of ops can need less than", row["why"])

    def test_more_checkpoints_than_values_do_not_fit(self):
        self.study("cnn-checkpoints", "--quick", "--only=cnn11/checkpoints-16")
        row = self.row("cnn11/checkpoints-16")
        self.assertEqual(row["how"], "does not fit")
        self.assertIn("saves only 15 values", row["why"])

    def test_what_does_not_fit_this_machine_is_predicted(self):
        text = (self.build / "bin" / "gc-compile").read_text()
        (self.build / "bin" / "gc-compile").write_text(text.replace("100_000_000,", "9" * 16 + ","))
        self.study("mnist-grid", "--quick", "--only=112/4x1/adam/none")
        row = self.row("112/4x1/adam/none")
        self.assertEqual(row["how"], "predicted")
        self.assertIn("this machine has", row["why"])

    def test_cuda_without_a_gpu_is_predicted(self):
        self.study("mnist-grid", "--device=cuda", "--target=rtx3070", "--only=112/4x1/adam/*")
        self.assertEqual({(row["how"], row["device"]) for row in self.rows()}, {("predicted", "cuda:rtx3070")})
        self.assertEqual({row["why"] for row in self.rows()}, {"no GPU here: predicted for rtx3070"})

    def test_a_quick_study_predicts_without_cudnn_and_a_larger_one_anew(self):
        words = ("mnist-grid", "--device=cuda", "--target=rtx3070", "--only=112/4x1/adam/none")
        self.study(*words, "--quick")
        self.assertIn("--cuda-library=none", self.row("112/4x1/adam/none")["why"])
        self.study(*words)
        self.assertNotIn("--cuda-library=none", self.row("112/4x1/adam/none")["why"])
        self.assertEqual(len(self.rows("predictions.csv")), 2)

    def test_a_card_that_is_not_known_is_bad_usage(self):
        said = self.study("mnist-grid", "--device=cuda", "--target=rtx3061", "--only=112/4x1/adam/*", code=2)
        self.assertIn("--target=rtx3061 is not known", said)
        self.assertEqual(self.rows(), [])

    def test_a_predicted_row_names_the_commit_that_predicted_it(self):
        words = ("mnist-grid", "--device=cuda", "--target=rtx3070", "--only=112/4x1/adam/none")
        self.study(*words)
        (self.out / "results.csv").unlink()
        path = self.out / "predictions.csv"
        path.write_text(path.read_text().replace(self.rows("predictions.csv")[0]["commit"], "0123456789ab"))
        self.study(*words)
        self.assertEqual(self.rows()[0]["commit"], "0123456789ab")

    def use_up(self, seconds):
        """Leaves a row that took so long of a quick study's time."""
        self.study("mnist-grid", "--quick", "--only=112/4x1/adam/none")
        path = self.out / "results.csv"
        lines = path.read_text().splitlines()
        path.write_text(f"{lines[0]}\n{lines[1].rpartition(',')[0]},{seconds}\n")

    def test_predicting_ends_when_the_time_is_over(self):
        for seconds, fake in ((600.0, ""), (497.0, "slow-compiler")):  # before it begins, and while a tool runs
            self.use_up(seconds)
            self.study("mnist-grid", "--quick", "--only=112/4x1/adam/sqrt", fake=fake)
            row = self.row("112/4x1/adam/sqrt")
            self.assertEqual((row["how"], row["why"]), ("not run", "a quick study had no time left to predict it"))
            self.assertEqual(len(self.rows("predictions.csv")), 1)
            shutil.rmtree(self.out)
        self.use_up(600.0)
        self.study("mnist-grid", "--quick", "--only=112/4x1/adam/sqrt")
        self.study("mnist-grid", "--only=112/4x1/adam/sqrt")
        self.assertEqual(self.row("112/4x1/adam/sqrt")["how"], "measured")


class Trouble(StudyCase):
    def start(self, *words, fake="slow"):
        process = subprocess.Popen(self.command(*words, f"--build={self.build}", "--rows-only"), text=True,
                                   stderr=subprocess.PIPE, env={**os.environ, "FAKE": fake})
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "measuring" in line:
                return process
        self.fail("it never began to measure")

    def running_tools(self):
        return subprocess.run(["pgrep", "-f", f"^[^ ]+ -S {self.build}/bin/gc-run"], capture_output=True,
                              text=True).stdout.split()

    def test_killed_it_ends_its_children_and_goes_on(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start(*SMALL)
            children = self.running_tools()
            while not children and process.poll() is None:  # it compiles the plan first
                time.sleep(0.05)
                children = self.running_tools()
            process.send_signal(number)
            self.assertEqual(process.wait(20), code)
            process.stderr.close()
            self.assertTrue(children)
            for child in children:
                self.assertFalse(os.path.exists(f"/proc/{child}"), "a child of the study still runs")
        self.assertEqual(self.rows(), [])  # the row under way is absent
        self.assertEqual(len(self.rows("predictions.csv")), 3)
        self.study(*SMALL)
        self.assertEqual(sorted(row["setting"] for row in self.rows()), THREE)

    def test_killed_beyond_clearing_up_its_folder_stays_locked_until_its_tools_end(self):
        process = self.start(*SMALL)
        children = self.running_tools()
        while not children and process.poll() is None:
            time.sleep(0.05)
            children = self.running_tools()
        process.kill()
        process.wait(20)
        process.stderr.close()
        self.assertIn("or a tool that a killed one left", self.study(*SMALL, code=2))
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        self.study(*SMALL)
        self.assertEqual(sorted(row["setting"] for row in self.rows()), THREE)

    def test_what_is_not_ours_is_refused_and_kept(self):
        self.out.mkdir()
        path, work = self.out / "results.csv", self.out / ".work"
        for text, reason in (("my own notes", "no table of a study"), ("study,setting,mine", "no table of a study"),
                             ("study,setting\n", "not the columns")):
            path.write_text(text)
            self.assertIn(reason, self.study(*SMALL, code=2))
            self.assertEqual(path.read_text(), text)
        path.write_text("study,setting,dev")  # the beginning of our header
        work.mkdir()
        (work / "mine").write_text("x")
        self.assertIn("is no folder of a study", self.study(*SMALL, code=2))
        self.assertEqual((work / "mine").read_text(), "x")
        (work / "mine").unlink()
        self.study(*SMALL)
        self.assertFalse(work.exists())

    def test_a_table_that_cannot_be_read_is_a_message(self):
        self.study(*SMALL)
        path = self.out / "results.csv"
        path.write_text(path.read_text() + "x" * 140_000 + "\n")
        self.assertIn("results.csv:5: field larger than", self.study(*SMALL, code=2))
        path.unlink()
        path.mkdir()
        self.assertIn("cannot be read: Is a directory", self.study(*SMALL, code=2))

    def test_a_torn_row_is_dropped_with_a_word(self):
        self.study(*SMALL)
        path = self.out / "results.csv"
        path.write_bytes(path.read_bytes()[:-30])
        said = self.study(*SMALL)
        self.assertIn("dropped the last", said)
        self.assertEqual(sorted(row["setting"] for row in self.rows()), THREE)

    def test_rows_of_others_are_refused_and_kept(self):
        self.study(*SMALL)
        path = self.out / "results.csv"
        whole = path.read_bytes()
        for old, new, reason in ((b"mnist-grid", b"cnn-checkpoints", "of the study cnn-checkpoints"),
                                 (b"\nmnist-grid", None, ""), (b"load_average", b"load_avg", "not the columns"),
                                 (b",measured,", b",guessed,", "how='guessed'")):
            changed = whole.replace(old, new) if new else whole.replace(self.rows()[0]["machine"].encode(), b"PDP-11")
            path.write_bytes(changed)
            said = self.study(*SMALL, code=2)
            self.assertIn(reason or "another machine (PDP-11", said)
            self.assertEqual(path.read_bytes(), changed)

    def test_two_studies_in_one_folder(self):
        self.out.mkdir()
        with open(self.out / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another study is running", self.study(*SMALL, code=2))
        self.assertFalse((self.out / "results.csv").exists())

    def test_a_full_disk_keeps_whole_rows(self):
        said = self.study(*SMALL, code=1, fake="disk")
        self.assertIn("free some space", said)
        self.study(*SMALL)
        path = self.out / "results.csv"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
        whole = path.read_bytes()
        # The system refuses to let files of this process grow beyond the limit, as a full disk would.
        limited = ["prlimit", f"--fsize={len(whole) + 40}", *self.command(*SMALL, f"--build={self.build}", "--rows-only")]
        done = subprocess.run(limited, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rows before it are kept", done.stderr)
        self.assertEqual(path.read_bytes(), whole)
        self.study(*SMALL)
        self.assertEqual(sorted(row["setting"] for row in self.rows()), THREE)

    def test_bad_usage(self):
        self.assertIn("no setting of mnist-grid matches", self.study("mnist-grid", "--only=nothing", code=2))
        self.assertIn("there are no rows to draw", self.study("mnist-grid", "--draw", code=2, rows_only=False))
        (self.build / "bin" / "gc-run").unlink()
        self.assertIn("gc-run not found", self.study(*SMALL, code=2))
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
