#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that are recorded with many inputs, one by one and by workers: test_annotate.py STROBE SUMS."""
import errno
import json
import os
import shutil
import signal
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import worked  # noqa: E402
from worked import WORKERS  # noqa: E402

worked.Case.strobe, SUMS = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
ON = ["--on", f"local:{WORKERS}", "--noise", "0"]


class Annotate(worked.Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "ran"
        self.writers = []
        self.addCleanup(self.close_writers)
        self.environment["OUT"] = str(self.out)

    def inputs(self, n):
        (self.folder / "in").mkdir()
        for i in range(n):
            (self.folder / "in" / f"{i:03}").write_text(f"{10 * i}\n", encoding="utf-8")

    def annotate(self, output, *options, code=0, program=(SUMS, "@@")):
        return self.end(self.start("annotate", "-m", "instructions", "-F", "work", "-o", output, "-i", "in", *options, "--", *program), code)

    def records(self, output):
        return [line for line in (self.folder / output).read_text(encoding="utf-8").splitlines() if not line.startswith(("#made,", "#program,"))]

    def costs(self, output):
        """The values of n in the order of the records."""
        return [int(line.split(",")[2]) for line in self.records(output) if not line.startswith("#")]

    def test_same_records(self):
        """Records are in the order of the inputs, with and without workers, and however the program gets its input."""
        self.inputs(7)
        _, errors = self.annotate("alone")
        self.assertEqual(errors, "strobe: wrote alone: records of 7 inputs\n")
        self.assertEqual(self.costs("alone"), [0, 10, 20, 30, 40, 50, 60])
        _, errors = self.annotate("workers", *ON)
        self.assertEqual(errors, "strobe: wrote workers: records of 7 inputs\n")
        self.assertEqual(self.records("workers"), self.records("alone"))
        self.annotate("stdin", *ON, program=(SUMS,))
        self.assertEqual(self.records("stdin"), self.records("alone"))
        self.assertEqual(Counter(map(int, self.out.read_text(encoding="utf-8").split())), {10 * i: 3 for i in range(7)})
        out, _ = self.end(self.start("annotate", "--format", "json", "workers"), 0)
        [annotation] = json.loads(out)["annotations"]
        self.assertEqual((annotation["function"].split("(")[0], annotation["metric"], annotation["records"]), ("work", "instructions", 7))
        self.assertEqual(sorted(os.listdir(self.folder)), ["alone", "in", "ran", "stdin", "workers"])

    def test_killed(self):
        """A worker and the controller are killed; the inputs that have records are not recorded again."""
        n = 24
        self.inputs(n)
        controller = self.start("annotate", "-m", "instructions", "-F", "work", "-o", "records", "-i", "in", *ON, "--campaign", "campaign", "--", SUMS, "@@")
        kept = self.kill_both(controller, 3, 8)
        self.end(self.start("campaign", "resume", "campaign"), 0)
        self.assertEqual(self.costs("records"), [10 * i for i in range(n)])
        self.assert_kept(kept, n)
        self.assertLessEqual(sum(Counter(self.out.read_text(encoding="utf-8").split()).values()), n + 1 + WORKERS)
        # The same command has all results; with another input it is another one.
        ran = self.out.read_text(encoding="utf-8")
        self.annotate("again", *ON, "--campaign", "campaign")
        self.assertEqual((self.records("again"), self.out.read_text(encoding="utf-8")), (self.records("records"), ran))
        (self.folder / "in/000").write_text("12345\n", encoding="utf-8")
        _, errors = self.annotate("again", *ON, "--campaign", "campaign", code=125)
        self.assertEqual(errors, worked.REFUSED)

    def test_failures(self):
        """A program that fails is told from a strobe that cannot record it."""
        self.inputs(3)
        (self.folder / "in/001").write_text("13\n", encoding="utf-8")
        for options in (), ON:
            _, errors = self.annotate("records", *options, code=3)
            self.assertEqual(errors, "strobe: wrote records: records of 3 inputs\nstrobe: the program failed with 1 of 3 inputs, first with exit code 3\n")
            self.assertEqual(self.costs("records"), [0, 13, 20])
        _, errors = self.end(self.start("annotate", "-m", "instructions", "-F", "nosuch", "-o", "none", "-i", "in", *ON, "--", SUMS, "@@"), 125)
        first, second = errors.splitlines()
        self.assertRegex(first, "^strobe: no records of the input in/000: .*'nosuch'")
        [folder] = [name for name in os.listdir(self.folder) if name.startswith("strobe-campaign-annotate.")]
        self.assertEqual(second, f"strobe: all results are kept; to continue: strobe campaign resume {self.folder / folder}")
        shutil.rmtree(self.folder / folder)
        self.assertFalse((self.folder / "none").exists())

    def test_inputs_without_records(self):
        """An input with which the functions are not called costs none of the other records."""
        self.inputs(4)
        (self.folder / "in/001").write_text("", encoding="utf-8")
        (self.folder / "in/002").write_text("-1\n", encoding="utf-8")
        not_called = "nothing was recorded, because the program did not call work: give it an input for which it does"
        aborted = "nothing was recorded, because the program was ended by SIGABRT (Aborted) and did not call work: check whether it also fails without strobe"
        for options in (), ON:
            _, errors = self.annotate("records", *options, code=128 + signal.SIGABRT)
            self.assertEqual(errors, "strobe: wrote records: records of 2 inputs\nstrobe: the program failed with 1 of 4 inputs, first with exit code 134\n"
                                     f"strobe: 2 inputs have no records; with the first one, in/001: {not_called}\n")
            self.assertEqual(self.costs("records"), [0, 30])
            self.assertEqual([line for line in self.records("records") if line.startswith("#silent")],
                             [f'#silent,in/001,"{not_called}"', f'#silent,in/002,"{aborted}"'])
            os.remove(self.folder / "records")
        for name in "000", "003":
            os.remove(self.folder / "in" / name)
        for options in (), ON:
            _, errors = self.annotate("records", *options, code=128 + signal.SIGABRT)
            self.assertEqual(errors, f"strobe: no call was recorded with any input; with the first one, in/001: {not_called}\n")
            self.assertEqual(sorted(os.listdir(self.folder)), ["in", "ran"])

    def close_writers(self):
        while self.writers:
            os.close(self.writers.pop())

    def open_for_reader(self, fifo):
        """Opens the FIFO for writing if a process opens it for reading."""
        try:
            self.writers.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:
            self.assertEqual(error.errno, errno.ENXIO)
            return False
        return True

    def test_interrupted(self):
        """A signal that only strobe gets ends the program, too; neither records nor temporary files are left."""
        self.inputs(1)
        os.mkfifo(self.folder / "fifo")
        process = self.start("annotate", "-m", "instructions", "-F", "work", "-o", "records", "-i", "in", "-i", "fifo", "--", SUMS, "@@")
        self.wait(lambda: self.open_for_reader(self.folder / "fifo"))
        process.send_signal(signal.SIGTERM)
        self.end(process, 128 + signal.SIGTERM)
        self.assertEqual((sorted(os.listdir(self.folder)), self.out.read_text(encoding="utf-8")), (["fifo", "in", "ran"], "0\n"))

    def test_result_cannot_be_written(self):
        """The records are kept until they are in the file of -o: its folder is removed while the last input is recorded."""
        self.inputs(1)
        os.mkfifo(self.folder / "fifo")
        (self.folder / "out").mkdir()
        process = self.start("annotate", "-m", "instructions", "-F", "work", "-o", "out/records", "-i", "in", "-i", "fifo", *ON, "--", SUMS, "@@")
        self.wait(lambda: self.open_for_reader(self.folder / "fifo"))
        shutil.rmtree(self.folder / "out")
        os.write(self.writers[0], b"20\n")
        self.close_writers()
        _, errors = self.end(process, 125)
        [folder] = [name for name in os.listdir(self.folder) if name.startswith("strobe-campaign-annotate.")]
        self.assertEqual(errors.splitlines()[1:], [f"strobe: all results are kept; to continue: strobe campaign resume {self.folder / folder}"])
        (self.folder / "out").mkdir()
        self.end(self.start("campaign", "resume", folder), 0)
        self.assertEqual(self.costs("out/records"), [0, 20])

    def test_identity(self):
        """Options that change the records make another campaign; those of the nodes do not."""
        self.inputs(2)
        command = ("-m", "time", "--on", f"local:{WORKERS}", "--campaign", "campaign")
        self.annotate("first", *command, "--noise", "0")
        self.annotate("second", *command, "--noise", "90000")
        self.assertEqual(self.records("second"), self.records("first"))
        self.assertEqual(self.annotate("third", *command, "--noise", "0", "--twice", code=125)[1], worked.REFUSED)

    def test_mistakes(self):
        (self.folder / "empty").mkdir()
        for words, code, text in (
                (("--on", "local", "-o", "r", "--", SUMS), 125, "--on needs inputs with which the program is recorded: give them with --inputs"),
                (("--campaign", "x", "-i", "empty", "-o", "r", "--", SUMS), 125, "--campaign needs workers: add --on local or --on slurm"),
                (("-i", "empty", "-o", "r", "--", SUMS), 125, "the folder empty has no file to use as an input"),
                (("-i", "none", "-o", "r", "--", SUMS), 125, "cannot read the input none: No such file or directory"),
                (("-i", "empty", "records"), 2, "--inputs is for recording: strobe annotate -o FILE -- PROGRAM"),
                (("-i", "empty", "-o", "-", "--", SUMS), 125, "standard output belongs to the program: give -o the name of a file"),
        ):
            self.assertEqual(self.end(self.start("annotate", *words), code), ("", f"strobe: {text}\n"))
        self.assertEqual(os.listdir(self.folder), ["empty"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
