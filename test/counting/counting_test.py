"""counting_test.py RUN_TESTS GOOGLE_TEST LIT: run-tests counts what it should, and fails when it should."""
import os
import subprocess
import sys
import tempfile

run_tests, google_test, lit = sys.argv[1:4]
QUICK = "Philox.*"  # cases of GOOGLE_TEST that take no time


def count(*tests, files=None):
    """Exit code and last line of run-tests on a build folder with these CTest entries."""
    with tempfile.TemporaryDirectory() as build:
        for path, text in (files or {}).items():
            with open(os.path.join(build, path), "w") as file:
                file.write(text)
        with open(os.path.join(build, "CTestTestfile.cmake"), "w") as file:
            file.write("\n".join(tests).replace("@BUILD@", build) + "\n")
        done = subprocess.run([sys.executable, run_tests, build], capture_output=True, text=True)
        return done.returncode, done.stdout.strip().split("\n")[-1]


def expect(wanted, got):
    if wanted != got:
        sys.exit(f"counting_test: expected {wanted}, got {got}")


PASS, FAIL = 'add_test(good "true")', 'add_test(bad "false")'
CRASH = 'add_test(crash "sh" "-c" "kill -SEGV $$")'
SKIP = 'add_test(skip "sh" "-c" "exit 77")\nset_tests_properties(skip PROPERTIES SKIP_RETURN_CODE 77)'
MISSING = 'add_test(missing "@BUILD@/not-built")'


def google(filter_text, cost=0):
    return (f'add_test(suite "{google_test}")\n'
            f'set_tests_properties(suite PROPERTIES ENVIRONMENT "GTEST_FILTER={filter_text}" COST {cost})')


expect((0, "1 passed, 0 failed"), count(PASS))
expect((0, "1 passed, 0 failed"), count(PASS, SKIP))
expect((1, "1 passed, 1 failed"), count(PASS, FAIL))
expect((1, "1 passed, 1 failed"), count(PASS, CRASH))
expect((1, "1 passed, 1 failed"), count(PASS, MISSING))
expect((1, "0 passed, 1 failed"), count())

# A suite that runs nothing is a failure; one that is registered case by case is run once.
expect((1, "1 passed, 1 failed"), count(PASS, google("No.Such")))
listing = subprocess.run([google_test, "--gtest_list_tests", f"--gtest_filter={QUICK}"],
                         capture_output=True, text=True).stdout
cases = sum(line.startswith("  ") for line in listing.splitlines())
if cases < 2:
    sys.exit(f"counting_test: '{google_test}' has fewer than two cases {QUICK}")
expect((0, f"{cases} passed, 0 failed"),
       count(google(QUICK), f'add_test(again "{google_test}" "--gtest_filter=No.Such")'))

LIT_CONFIG = ('import lit.formats\nconfig.name = "made-up"\nconfig.suffixes = [".sh"]\n'
              "config.test_format = lit.formats.ShTest(False)\n")
files = {"lit.cfg.py": LIT_CONFIG, "a.sh": "# RUN: true\n", "b.sh": "# RUN: true\n"}
LIT = f'add_test(lit "{lit}" "-v" "@BUILD@")'
expect((0, "2 passed, 0 failed"), count(LIT, files=files))
expect((1, "2 passed, 1 failed"), count(LIT, files={**files, "c.sh": "# RUN: false\n"}))
expect((1, "0 passed, 1 failed"), count(LIT, files={"lit.cfg.py": "raise ValueError\n"}))

# Long suites run in pieces, which count together; some pieces may be empty, but not all of them.
LONG = 200  # seconds
expect((0, f"{cases} passed, 0 failed"), count(google(QUICK, LONG)))
expect((1, "1 passed, 1 failed"), count(PASS, google("No.Such", LONG)))
LONG_LIT = LIT + f"\nset_tests_properties(lit PROPERTIES COST {LONG})"
many = {"lit.cfg.py": LIT_CONFIG, **{f"{i}.sh": "# RUN: true\n" for i in range(8)}}
expect((0, "8 passed, 0 failed"), count(LONG_LIT, files=many))
expect((1, "8 passed, 1 failed"), count(LONG_LIT, files={**many, "bad.sh": "# RUN: false\n"}))
