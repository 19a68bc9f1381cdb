#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads of different runs are matched by what has created them: test_threads.py STROBE POOLS. Only numbers of calls are checked."""

import json
import os
import sys
import unittest

from command import Case

POOLS = os.path.abspath(sys.argv[2])


class Threads(Case):
    def campaign(self, what, functions, *options):
        self.strobe("-q", "--baseline-runs", "8", "--iterations", "2", "--timeout", "0", "--called-threshold", "1", "-F", functions, "--timeline", "none", "--native-runs", "0",
                    *(options or ("--noise", "busy")), "-o", "r.db", "--", POOLS, what, str(self.at / "runs"))
        self.result = json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)
        self.names = {0: "main"} | {row["thread"]: row["name"] for row in self.result["threads"]}
        return {target["function"]: {self.names[row["thread"]]: row["calls"] for row in target["threads"]} for target in self.result["targets"]}

    def test_pool(self):
        """Workers of two kinds, which are created and begin in another order in each run: each has the same numbers of calls in all runs, so the means are whole."""
        calls = self.campaign("pool", "read_part,write_part,main_work")
        self.assertEqual(calls, {"main_work": {"main": 1},
                                 "read_part": {"reader (created by main in start_pool)": 10, "reader 2 (created by main in start_pool)": 20},
                                 "write_part": {"writer (created by main in start_pool)": 30, "writer 2 (created by main in start_pool)": 40}})
        self.assertEqual(sorted((row["start"], row["created_in"], row["creator"], row["nth"]) for row in self.result["threads"]),
                         [("reader", "start_pool", 0, 0), ("reader", "start_pool", 0, 1), ("writer", "start_pool", 0, 0), ("writer", "start_pool", 0, 1)])
        self.assertEqual(sorted(row["thread"] for row in self.result["threads"]), [1, 2, 3, 4])

    def test_text(self):
        """The matrix has the names below it."""
        self.campaign("pool", "read_part,write_part,main_work")
        text = self.strobe("--from", "r.db", "--threads").stdout.split("calls by thread, without noise:\n")[1]
        rows = {line.split()[-1]: line.split()[:-1] for line in text.splitlines()[:4]}
        self.assertEqual(rows["function"], ["thread", "0", "1", "2", "3", "4"])
        self.assertEqual(rows["main_work"], ["1", "-", "-", "-", "-"])
        number = {name: thread for thread, name in self.names.items()}
        self.assertEqual(rows["write_part"][number["writer 2 (created by main in start_pool)"]], "40")
        self.assertIn("  thread 0: main\n", text)
        for thread in range(1, 5):
            self.assertIn(f"  thread {thread}: {self.names[thread]}\n", text)

    def test_creators(self):
        """Threads of the same kind are told apart by the threads that have created them."""
        self.assertEqual(self.campaign("kinds", "read_part"), {"read_part": {"reader (created by first_branch in first_branch)": 10,
                                                                             "reader (created by second_branch in second_branch)": 20}})

    def test_same_stack(self):
        """The C library gives a thread the control block of one that has ended."""
        self.assertEqual(self.campaign("reused", "read_part,write_part"), {"read_part": {"reader (created by main in start_in_turn)": 10,
                                                                                         "reader 2 (created by main in start_in_turn)": 30},
                                                                           "write_part": {"writer (created by main in start_in_turn)": 20}})

    def test_without_calls(self):
        """The second worker has no calls, but keeps its place in the order."""
        self.assertEqual(self.campaign("unnoticed", "read_part"), {"read_part": {"reader (created by main in start_unnoticed)": 10,
                                                                                 "reader 3 (created by main in start_unnoticed)": 30}})

    def test_first_thread_without_calls(self):
        """Thread 0 is the first one also if it calls nothing that is measured."""
        calls = self.campaign("outside", "read_part,write_part")
        self.assertEqual(calls["read_part"], {"reader (created by main in start_pool)": 10, "reader 2 (created by main in start_pool)": 20})
        self.assertNotIn(0, [row["thread"] for target in self.result["targets"] for row in target["threads"]])

    def test_speed_up(self):
        """The indicators of each thread use the same match: each has its own line in the picture."""
        calls = self.campaign("pool", "read_part,write_part", "--mode", "speed-up", "--full-analysis", "--sampling", "100")
        self.assertEqual(calls["write_part"], {"writer (created by main in start_pool)": 30, "writer 2 (created by main in start_pool)": 40})
        for function, names in calls.items():
            lines = [line for curves in self.result["curves"] for line in curves["lines"] if line["function"] == function]
            threads = {line["thread"] for line in lines} - {None}
            self.assertLessEqual({self.names[thread] for thread in threads}, set(names))

    def test_resume(self):
        """The journal keeps what has created the threads."""
        first = self.campaign("pool", "read_part,write_part,main_work", "--journal", str(self.at / "j"), "--noise", "busy")
        self.assertEqual(self.campaign("pool", "read_part,write_part,main_work", "--journal", str(self.at / "j"), "--noise", "busy"), first)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
