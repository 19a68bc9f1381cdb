#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a narrow window, as on a telephone: test_narrow.py STROBE [-k NAME]."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
from test_page import STROBE, Pages  # noqa: E402

SECTION = "section:not([hidden])"
HELP = "acquisitions of locks, and the waits for them, by the line that called"


def with_table(path):
    """Returns a copy of a page whose first result has a table with a long description, as results of tools have them."""
    with open(path, encoding="utf-8") as f:
        head, data, tail = re.split(r'(?<=id="data">)(.*?)(?=</script>)', f.read(), maxsplit=1, flags=re.S)
    document = json.loads(data)
    entry = document["results"][0]
    columns = [{"name": name, "type": "string", "role": "key"} for name in ("lock", "kind", "first_used", "last_used")]
    entry["tables"] = [{"name": "locks", "tool": "locks", "help": HELP, "columns": columns}]
    entry["result"]["locks"] = [{column["name"]: "/usr/include/c++/12/bits/gthr-default.h:749" for column in columns}]
    made = path.replace(".html", ".narrow.html")
    with open(made, "w", encoding="utf-8") as f:
        f.write(head + json.dumps(document).replace("<", "\\u003c") + tail)
    return made


class Narrow(Pages):
    def box(self, selector):
        return self.page.js(f"(r => [r.left, r.top, r.right, r.bottom])(document.querySelector({json.dumps(f'{SECTION} {selector}')}).getBoundingClientRect())")

    def assertWindow(self, width):
        self.assertEqual(self.page.js("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"), [width, 800])

    def test_the_list_is_above_the_source(self):
        self.page.resize(390, 800)
        self.open("source")
        self.assertWindow(390)
        side, code = self.box(".side"), self.box(".code-place")
        self.assertEqual((side[0], side[2], code[0], code[2]), (0, 390, 0, 390), "both have the whole width")
        self.assertEqual(side[3], code[1])
        self.assertEqual(code[3], 800)
        self.assertGreater(code[3] - code[1], side[3] - side[1])
        self.page.resize(1280, 800)
        self.page.settle()
        side, code = self.box(".side"), self.box(".code-place")
        self.assertEqual((side[1], side[2]), (code[1], code[0]), "beside one another in a wide window")

    def test_a_long_list_leaves_room_for_the_source(self):
        self.page.resize(390, 800)
        self.open("source")
        height = self.box(".side")[3] - self.box(".side")[1]
        self.page.js(f"document.querySelector('{SECTION} .grid-body').style.height = '5000px'")
        self.page.settle()
        self.assertEqual(self.box(".side")[3] - self.box(".side")[1], height)

    def test_tables_scroll_in_their_place(self):
        self.page.resize(390, 800)
        self.open("tables/locks", with_table(self.all))
        self.assertEqual(self.page.js(f"document.querySelector('{SECTION} select').selectedOptions[0].textContent"), f"locks (locks: {HELP})")
        self.assertWindow(390)
        self.assertLessEqual(self.box(".choice select")[2], 390)
        self.assertGreater(self.page.js(f"document.querySelector('{SECTION} .grid').scrollWidth"), 390)

    def test_no_text_leaves_its_card(self):
        self.page.resize(390, 800)
        self.open("time")
        self.page.until(f"document.querySelector('{SECTION} .lives') !== null")
        self.assertEqual(self.texts(".lives .share"), ["8 samples", "2 samples"])
        right = self.box(".lives")[2]
        self.assertEqual(self.page.js(f"[...document.querySelectorAll('{SECTION} .lives *')].filter(e => e.getBoundingClientRect().right > {right}).length"), 0)
        self.assertEqual(len(set(self.page.js(f"[...document.querySelectorAll('{SECTION} .track')].map(e => e.getBoundingClientRect().width)"))), 1, "all lives have one scale")
        self.open("summary")
        self.assertWindow(390)
        self.assertEqual(self.page.js(f"[...document.querySelectorAll('{SECTION} .card')].filter(e => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > 390).length"), 0)

    def test_all_tabs_can_be_reached(self):
        ends = "[...document.querySelectorAll('.tab')].map(e => e.getBoundingClientRect()).filter(r => r.left < 0 || r.right > innerWidth).length"
        for width in 501, 700, 900:
            self.page.resize(width, 800)
            self.open("summary")
            self.assertEqual(self.page.js("document.querySelectorAll('.tab').length"), 8)
            self.assertEqual(self.page.js(ends), 0, f"they wrap at {width}")
        self.page.resize(390, 800)
        self.open("diff")
        last = self.page.js("(r => [r.left, r.right])(document.querySelector('.tab[aria-selected=true]').getBoundingClientRect())")
        self.assertEqual(self.chosen(), "Differences")
        self.assertGreaterEqual(last[0], 0, "the chosen tab is in sight")
        self.assertLess(last[1], 391)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
