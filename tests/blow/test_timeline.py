#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests the timeline that strobe blow records: test_timeline.py STROBE PLANTED. Only counts are checked: times depend on the machine."""

import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ET

from command import STROBE, Case

PLANTED = os.path.abspath(sys.argv[2])
del sys.argv[1:3]
SVG = "{http://www.w3.org/2000/svg}"


class Timeline(Case):
    def blow(self, what, *options):
        done = self.strobe("--baseline-runs", "3", "--timeout", "0", *options, "-o", "r.db", "--", PLANTED, what)
        return json.loads(self.strobe("--from", "r.db", "--format", "json").stdout)["timeline"], done

    def slices(self, timeline):
        """(thread, level, begin, end, function) of each slice."""
        out = []
        for thread, lane in enumerate(timeline["lanes"]):
            for level, row in enumerate(lane["rows"]):
                end = 0
                for i in range(0, len(row), 4):
                    begin = end + row[i]
                    end = begin + row[i + 1]
                    self.assertEqual(row[i + 3], 1, "no calls were merged")
                    out.append((thread, level, begin, end, timeline["functions"][row[i + 2]]["name"]))
        return out

    def test_rectangles_are_calls(self):
        """Each call has a slice, and slices overlap only where calls are nested."""
        timeline, _ = self.blow("serial", "-F", "main,quarter,other_half", "--noise", "busy", "--iterations", "3")
        slices = self.slices(timeline)
        self.assertEqual(timeline["calls"], len(slices))
        self.assertEqual((timeline["merged_calls"], timeline["too_deep"], timeline["lost"]), (0, 0, 0))
        names = [name for *_, name in slices]
        self.assertEqual({name: names.count(name) for name in ("main", "quarter", "other_half")}, {"main": 1, "quarter": 10, "other_half": 10})
        main = next(each for each in slices if each[4] == "main")
        for thread, level, begin, end, name in slices:
            if name in ("quarter", "other_half"):
                self.assertEqual((thread, level), (0, 1))
                self.assertLessEqual(main[2], begin)
                self.assertLessEqual(end, main[3])
        kinds = {each["name"]: each["kind"] for each in timeline["functions"]}
        self.assertEqual(kinds[timeline["experiment"]["function"]], "blown")
        self.assertEqual(list(kinds.values()).count("blown"), 1)
        # The picture has the same rectangles.
        root = ET.fromstring(self.strobe("timeline", "r.db", "-o", "-", command="plot").stdout)
        frames = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "frame"]
        self.assertEqual(len(frames), len(slices))
        marked = [each for each in frames if each.get("style") == "fill:#e67e00"]
        self.assertEqual(len(marked), names.count(timeline["experiment"]["function"]))
        self.assertNotIn(None, [each.find(f"{SVG}title") for each in frames])
        # So has the page, if strobe was built with it.
        done = subprocess.run([STROBE, "report", "-o", "r.html", "r.db"], capture_output=True, text=True, timeout=120, cwd=self.at, check=False)
        if "built without the page" not in done.stderr:
            self.assertEqual(done.returncode, 0, done.stderr)
            data = json.loads((self.at / "r.html").read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0])
            self.assertEqual(data["results"][0]["timeline"], timeline)

    def test_waits_are_recognisable(self):
        """Two threads with a barrier: each waits there, and the first one for the end of the other."""
        timeline, _ = self.blow("pair", "-F", "left_part,right_part", "--iterations", "2", "--timeline", "left_part")
        self.assertEqual(timeline["experiment"]["function"], "left_part")
        self.assertEqual(len(timeline["lanes"]), 2)
        kinds = {each["name"]: each["kind"] for each in timeline["functions"]}
        self.assertEqual((kinds["left_part"], kinds["right_part"], kinds["pthread_join"]), ("blown", "other", "waits"))
        names = [name for *_, name in self.slices(timeline)]
        self.assertEqual((names.count("left_part"), names.count("right_part"), names.count("pthread_join")), (10, 10, 1))
        self.assertIn("waits for another thread", self.strobe("timeline", "r.db", "-o", "-", command="plot").stdout)

    def test_other_modes(self):
        for mode, options in (("speed-up", ("--iterations", "1")), ("causal", ("--repeat", "1", "--iterations", "2"))):
            timeline, _ = self.blow("compute", "-m", mode, "-F", "worker_part,main_part", *options)
            if timeline is None:  # noise can be lost on a busy machine: then no experiment has an indicator
                continue
            names = [name for *_, name in self.slices(timeline)]
            self.assertEqual((names.count("worker_part"), names.count("main_part")), (10, 10), mode)

    def test_none(self):
        timeline, done = self.blow("serial", "-F", "quarter", "--iterations", "1", "--timeline", "none")
        self.assertIsNone(timeline)
        self.assertNotIn("timeline", done.stderr)
        self.assertIn("r.db has no timeline: strobe blow records one", self.strobe("timeline", "r.db", code=125, command="plot").stderr)
        self.assertFalse((self.at / "timeline.svg").exists())

    def test_mistakes(self):
        timeline, done = self.blow("serial", "-F", "quarter", "--iterations", "1", "--timeline", "nothing")
        self.assertIsNone(timeline)
        self.assertIn("there is no timeline, since no experiment with 'nothing' has an indicator", done.stderr)
        self.assertIn("leave out one", self.strobe("--from", "r.db", "--timeline", "x", code=2).stderr)
        self.assertIn("no profile to draw", self.strobe("timeline", code=2, command="plot").stderr)
        self.strobe("-q", "-o", "t.db", "--", "true", command="time")
        self.assertIn("not of strobe blow", self.strobe("timeline", "t.db", code=2, command="plot").stderr)


if __name__ == "__main__":
    unittest.main()
