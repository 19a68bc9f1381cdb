#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quality of service: test_service.py STROBE SERVED. How well it is kept is measured by bench/; here the threshold is that of a
program which says how much it does per second of its own CPU time."""
import csv
import io
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

STROBE, SERVED = (os.path.abspath(path) for path in sys.argv[1:3])
OPTIONS = ("-T", "50ms", "-t", "branches", "--sample-hz", "0")


class Service(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-qos-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"
        self.source = f"file:{self.log}:rate ([0-9.]+)"

    def run_strobe(self, *arguments, code=0, seconds="2", slot="none", options=OPTIONS):
        file = self.folder / "result.db"
        line = [STROBE, "run", "-q", "-o", str(file), *options, *arguments, "--", SERVED, seconds, str(self.log), slot]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return file, done.stderr

    def shown(self, file, *options):
        return subprocess.run([STROBE, "show", *options, str(file)], capture_output=True, text=True, timeout=60, check=True).stdout

    def json(self, file):
        return json.loads(self.shown(file, "--format", "json"))

    def native(self):
        subprocess.run([SERVED, "0.6", str(self.log), "none"], timeout=60, check=True)
        rates = [float(line.split()[1]) for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return statistics.median(rates)

    def test_kept(self):
        """A threshold that the program cannot miss, however busy the machine is: every value keeps it, and something is measured."""
        for options, policy in (((), "hold"), (("--qos-policy", "function"), "function")):
            with self.subTest(policy=policy):
                file, _ = self.run_strobe("-b", "50%", "--qos", self.source, "--qos-min", "1e-9", *options)
                result = self.json(file)
                self.assertGreater(result["budget"]["windows"], 1)
                self.assertGreater(len(result["branches"]), 0)
                qos = result["qos"]
                self.assertEqual((qos["source"], qos["policy"]), (self.source, policy))
                states = {row["state"] for row in qos["rows"] if row["value"] is not None}
                self.assertEqual(states, {"kept"})
                self.assertEqual(qos["kept"], qos["readings"])

    def test_rows(self):
        """Each budget is what equation 6.1 makes of the value; the file, JSON, CSV and the text say the same."""
        threshold = 0.8 * self.native()
        file, _ = self.run_strobe("-b", "10%", "--qos-policy", "function", "--qos", self.source, "--qos-min", f"{threshold:.1f}")
        logged = {float(line.split()[1]) for line in self.log.read_text().splitlines()}
        threshold = float(f"{threshold:.1f}")
        qos = self.json(file)["qos"]
        rows = [row for row in qos["rows"] if row["value"] is not None]
        self.assertEqual((qos["min"], qos["readings"]), (threshold, len(rows)))
        self.assertEqual(qos["kept"], sum(row["state"] == "kept" for row in rows))
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(row["value"], logged)
            slack = (row["value"] - threshold) / (row["value"] + threshold)
            self.assertEqual(row["state"], "kept" if slack >= 0 else "missed")
            self.assertAlmostEqual(row["budget_ns"], min(max(slack, 0) * 50e6, 5e6), delta=2)
        database = sqlite3.connect(file)
        self.addCleanup(database.close)
        table = database.execute("SELECT time_ns, value, budget_ns, state FROM qos").fetchall()
        self.assertEqual(table, [tuple(row.values()) for row in qos["rows"]])
        self.assertEqual(database.execute("SELECT * FROM qos_goal").fetchall(), [(self.source, "function", "min", threshold)])
        text = list(csv.DictReader(io.StringIO(self.shown(file, "--table", "qos", "--format", "csv"))))
        self.assertEqual([(int(r["time_ns"]), float(r["value"]) if r["value"] else None, int(r["budget_ns"]), r["state"]) for r in text], table)
        self.assertEqual(json.loads(self.shown(file, "--table", "qos", "--format", "json")), {"qos": qos})
        self.assertEqual(len(self.shown(file, "--table", "qos", "--all").splitlines()), len(table) + 1)
        self.assertIn(f"kept in {qos['kept']} of {len(rows)} readings", self.shown(file))

    def nothing_measured(self, *options, says=None):
        """Nothing is charged, and the program is as it is."""
        file, said = self.run_strobe(*options, seconds="0.5")
        self.assertEqual(said.count("\n"), 1 if says else 0, said)
        self.assertIn(says or "", said)
        result = self.json(file)
        self.assertEqual((result["budget"]["windows"], result["budget"]["charged_ns"]), (0, 0))
        self.assertEqual(result.get("branches", []), [])
        return result

    def test_below(self):
        """There is a budget also where the threshold is missed."""
        file, _ = self.run_strobe("--qos", self.source, "--qos-min", "1e12", "--qos-below", "10%")
        result = self.json(file)
        self.assertEqual({row["budget_ns"] for row in result["qos"]["rows"] if row["value"] is not None}, {5000000})
        self.assertEqual(result["qos"]["kept"], 0)
        self.assertGreater(result["budget"]["windows"], 0)

    def test_start(self):
        """There is a budget until the source has said something."""
        for source in ("cmd:exit 1", self.source):
            with self.subTest(source=source):
                file, said = self.run_strobe("--qos", source, "--qos-min", "1e12", "--qos-start", "10%", seconds="0.5")
                self.assertEqual(said, "")
                self.assertGreater(self.json(file)["budget"]["windows"], 0)

    def test_end(self):
        """When the program is asked to end there is what there was at the start."""
        script = 'trap "for ((i = 0; i < 200000; i++)); do :; done; exit 0" TERM; echo ready; while :; do read -t 0.05 < <(sleep 1); done'
        for start in (), ("--qos-start", "10%"):
            with self.subTest(start=start):
                file = self.folder / "end.db"
                line = [STROBE, "run", "-q", "-o", str(file), *OPTIONS, "-b", "10%", "--qos", "cmd:echo 5", "--qos-min", "10", *start, "--", "bash", "-c", script]
                with subprocess.Popen(line, stdout=subprocess.PIPE) as program:
                    program.stdout.readline()
                    time.sleep(0.3)
                    program.terminate()
                    self.assertEqual(program.wait(120), 0)
                budget = self.json(file)["budget"]
                if start:
                    self.assertGreater(budget["charged_ns"], 3 * budget["amount_ns"])
                else:
                    self.assertEqual(budget["windows"], 0)

    def test_start_with_all_of_it(self):
        """An amount that is written as the budget is fits into it, however the budget has been rounded."""
        for share in ("10%", "30%", "50%", "70%", "100%"):
            for period in ("50ms", "200ms", "300ms"):
                with self.subTest(share=share, period=period):
                    words = ("-b", share, "-T", period, "--qos-start", share, "--qos-below", share)
                    self.run_strobe(*words, "--qos", "cmd:exit 1", "--qos-min", "1", seconds="0", options=())

    def test_never_kept(self):
        result = self.nothing_measured("--qos", self.source, "--qos-min", "1e12")
        self.assertEqual(result["qos"]["kept"], 0)
        self.assertEqual({row["budget_ns"] for row in result["qos"]["rows"]}, {0})
        self.nothing_measured("--qos", self.source, "--qos-max", "0.001", "--qos-policy", "function")

    def test_tree(self):
        """One budget for all processes follows, too."""
        self.nothing_measured("-f", "--budget-share", "tree", "--qos", self.source, "--qos-min", "1e12")
        file, _ = self.run_strobe("-b", "10%", "-f", "--budget-share", "tree", "--qos", self.source, "--qos-min", "1e-9")
        self.assertGreater(self.json(file)["budget"]["windows"], 0)

    def test_watched(self):
        """The budget stays as it is, whatever the source says."""
        for source, threshold in ((self.source, "1e12"), ("cmd:exit 1", "1")):
            with self.subTest(source=source):
                file, _ = self.run_strobe("-b", "10%", "--qos-policy", "watch", "--qos", source, "--qos-min", threshold, seconds="0.5")
                result = self.json(file)
                self.assertGreater(result["budget"]["windows"], 0)
                self.assertGreater(len(result["branches"]), 0)
                self.assertTrue(result["qos"]["rows"])
                for row in result["qos"]["rows"]:
                    self.assertAlmostEqual(row["budget_ns"], 5e6, delta=2)
                self.assertEqual((result["qos"]["policy"], result["qos"]["kept"]), ("watch", 0))

    def test_bad_sources(self):
        """Said once; and the program goes on."""
        for source, says in (("cmd:exit 1", "ended and had printed no number"), ("cmd:echo much", "'much', which is not a number"),
                             ("redis:1:x", "refused"), ("http://127.0.0.1:1/", "refused"), (f"file:{self.folder}:x", "regular file")):
            with self.subTest(source=source):
                result = self.nothing_measured("--qos", source, "--qos-min", "1", says=says)
                self.assertEqual({row["state"] for row in result["qos"]["rows"]}, {"failed"})
                self.assertIn(says, " ".join(result["notes"]))

    def test_a_server_that_waits_for_its_clients(self):
        """As PostgreSQL does when it is asked to end: strobe's own connection does not keep it."""
        client = self.folder / "psql"
        client.write_text(f"#!/bin/sh\necho $$ > {self.folder}/pid.new; mv {self.folder}/pid.new {self.folder}/pid\n"
                          "while read -r line; do echo 1; echo =strobe=; done\n")
        client.chmod(0o700)
        server = ("import os, signal, sys, time\n"
                  "signal.signal(signal.SIGTERM, lambda *_: None)\n"
                  "open(sys.argv[2], 'w').close()\n"
                  "signal.pause()\n"
                  "pid = int(open(sys.argv[1]).read())\n"
                  "while os.path.exists(f'/proc/{pid}'): time.sleep(0.01)\n"
                  "os._exit(42)\n")
        pid, ready = self.folder / "pid", self.folder / "ready"
        line = [STROBE, "run", "-q", "-o", str(self.folder / "result.db"), *OPTIONS, "--qos", "postgresql:SELECT 1", "--qos-min", "1", "--",
                sys.executable, "-c", server, str(pid), str(ready)]
        with subprocess.Popen(line, env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}) as run:
            self.addCleanup(run.kill)
            while not pid.exists() or not ready.exists():
                time.sleep(0.01)
            while run.poll() is None:  # it may not have begun to wait
                run.terminate()
                time.sleep(0.5)
            self.assertEqual(run.returncode, 42)

    def test_slot(self):
        """A program that counts in strobe/qos.h."""
        slot = f"served-{os.getpid()}"
        file, _ = self.run_strobe("--qos", f"shm:{slot}", "--qos-min", "1", slot=slot)
        qos = self.json(file)["qos"]
        self.assertGreater(qos["kept"], 0)
        self.assertFalse(Path(f"/dev/shm/strobe-qos.{slot}").exists())

    def test_attached(self):
        with subprocess.Popen([SERVED, "1000", str(self.log), "none"]) as process:
            self.addCleanup(process.kill)
            file = self.folder / "result.db"
            line = [STROBE, "attach", "-q", "--for", "2s", "-o", str(file), *OPTIONS, "--qos", self.source, "--qos-min", "1", str(process.pid)]
            done = subprocess.run(line, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr, process.poll()), (0, "", None))
            result = self.json(file)
            self.assertEqual(result["qos"]["kept"], result["qos"]["readings"])
            self.assertGreater(result["budget"]["windows"], 0)
            process.kill()

    def test_slot_again(self):
        """The program finds the slot of each strobe that comes to it, also when it has had another one."""
        slot = f"again-{os.getpid()}"
        with subprocess.Popen([SERVED, "1000", str(self.log), slot]) as process:
            self.addCleanup(process.kill)
            for number in range(2):
                file = self.folder / f"result.{number}.db"
                line = [STROBE, "attach", "-q", "--for", "3s", "-o", str(file), *OPTIONS, "--qos", f"shm:{slot}", "--qos-min", "1", str(process.pid)]
                done = subprocess.run(line, capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, process.poll()), (0, None), done.stderr)
                self.assertGreater(self.json(file)["qos"]["kept"], 0)
            process.kill()

    def test_plot(self):
        """Each column is where its readings are; the threshold is a line, none of the budget a dot."""
        file, _ = self.run_strobe("--qos", self.source, "--qos-min", "1e12")
        text = self.shown(file)
        if self.json(file)["qos"]["readings"] < 10:
            self.assertNotIn("budget |", text)
            return
        plot = [line.split("|")[1][:60] for line in text.splitlines() if line[12:14] == " |"]
        self.assertEqual(len(plot), 9)
        self.assertEqual(plot[0], "-" * 60)  # far above
        self.assertEqual(set("".join(plot[1:7])), {" "})
        self.assertGreaterEqual(plot[7].count("*"), 1)
        self.assertEqual(set(plot[8]) | {" "}, {".", " "})

    def test_mistakes(self):
        for options, says in ((("--qos", "cmd:x"), "--qos-min N"), (("--qos-min", "5"), "needs --qos"), (("--qos-policy", "hold"), "needs --qos"),
                              (("--qos-below", "1%"), "--qos-below needs --qos"), (("--qos-start", "1%"), "--qos-start needs --qos"),
                              (("--qos", "cmd:x", "--qos-min", "5", "-b", "1%", "--qos-start", "2%"), "--qos-start is 0.02 s"),
                              (("--qos", "cmd:x", "--qos-min", "5", "--qos-below", "x"), "--qos-below takes"),
                              (("--qos", "cmd:x", "--qos-min", "5", "-b", "1%", "--qos-below", "2%"), "--budget allows only 0.01 s"),
                              (("--qos", "cmd:x", "--qos-min", "5", "--qos-below", "2%", "--qos-policy", "watch"), "leave out --qos-policy watch"),
                              (("--qos", "cmd:x", "--qos-min", "5", "--qos-max", "6"), "exclude"), (("--qos", "cmd:x", "--qos-min", "0"), "greater than 0"),
                              (("--qos", "cmd:x", "--qos-min", "much"), "greater than 0"), (("--qos", "cdm:x", "--qos-min", "5"), "cmd:COMMAND"),
                              (("--qos", "redis", "--qos-min", "5"), "redis:PORT:FIELD"), (("--qos", "x", "--qos-min", "5"), "growth:PATH"),
                              (("--qos", "shm:a/b", "--qos-min", "5"), "shm:NAME"), (("--qos", "http://example.org/", "--qos-min", "5"), "this machine only"),
                              (("--qos", "cmd:x", "--qos-min", "5", "--qos-policy", "grow"), "hold, function or watch")):
            with self.subTest(options=options):
                _, said = self.run_strobe(*options, code=125, options=())
                self.assertEqual(said.count("\n"), 1, said)
                self.assertIn(says, said)


unittest.main(argv=sys.argv[:1])
