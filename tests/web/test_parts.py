#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a result on the page: processes, start-up, groups, colours, and links that keep what was chosen: test_parts.py STROBE."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
import results  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")
APP, LOADER, LIBC = "/usr/bin/app", "/usr/lib/ld-linux-x86-64.so.2", "/usr/lib/libc.so.6"
LONG = "std::map<int, std::vector<unsigned long> >::a_function_with_a_long_name(unsigned long, unsigned long) const"
SECTION = "section:not([hidden])"


def frame(name, count, children=(), image=APP):
    return {"name": name, "count": count, "children": list(children), "image": image, "offset": 4096 + sum(map(ord, name))}


def function(name, image, calls, instructions):
    return {"name": name, "image": image, "offset": 4096 + sum(map(ord, name)), "file": None, "line": None, "calls": calls, "instructions": instructions,
            "self_share": instructions / 1000, "total_share": None}


def entry():
    """Process 7 is a shell, which 8 and 9 run app from; the stacks of 8 recurse."""
    result = results.hot()
    result.update(processes=[{"pid": pid, "ppid": 1, "command": command, "exit": 0, "signal": None, "state": "exited"}
                             for pid, command in ((7, "/bin/sh"), (8, APP), (9, APP))],
                  functions=[function("main", APP, 2, 500), function(LONG, APP, 30, 300), function("_dl_start", LOADER, 3, 150), function("memcpy", LIBC, 9, 50)],
                  share_of="instructions", budget=None, qos=None, notes=[], many=[])
    recursive = frame("main", 1, [frame(LONG, 30, [frame(LONG, 20, [frame("memcpy", 9, (), LIBC)])])])
    threads = [{"thread": 1, "tid": 7, "pid": 7, "comm": "sh", "ksf": [frame("_dl_start", 4, (), LOADER)], "kccf": []},
               {"thread": 2, "tid": 8, "pid": 8, "comm": "app", "ksf": [recursive], "kccf": []},
               {"thread": 3, "tid": 9, "pid": 9, "comm": "app", "ksf": [frame("main", 35), frame("_dl_start", 1, (), LOADER)], "kccf": []}]
    shares = [{"process": 0, "pid": 7, "instructions": 100, "samples": 0, "kernel": 0, "engine": 1, "stacks": 0, "functions": [[2, 1, 100, 0, 0]]},
              {"process": 1, "pid": 8, "instructions": 600, "samples": 0, "kernel": 0, "engine": 1, "stacks": 0, "functions": [[0, 1, 250, 0, 0], [1, 30, 300, 0, 0], [3, 9, 50, 0, 0]]},
              {"process": 2, "pid": 9, "instructions": 300, "samples": 0, "kernel": 0, "engine": 1, "stacks": 0, "functions": [[0, 1, 250, 0, 0], [2, 2, 50, 0, 0]]}]
    return {"label": "build.db", "result": result, "process_functions": shares, "paths": {"mode": "func", "counted": "samples", "k": "inf", "threads": threads}}


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-parts-")
        cls.addClassCleanup(cls.place.cleanup)
        plain, cls.path = (os.path.join(cls.place.name, name) for name in ("hot.json", "page.html"))
        with open(plain, "w", encoding="utf-8") as file:
            json.dump(results.hot(), file)
        subprocess.run([STROBE, "report", "-o", cls.path, plain], check=True, capture_output=True, timeout=120)
        with open(cls.path, encoding="utf-8") as file:
            text = file.read()
        data = json.dumps({"strobe": {"version": 1, "report": 1}, "results": [entry()]}).replace("<", "\\u003c")
        text = re.sub(r'(<script type="application/json" id="data">).*?(</script>)', lambda found: found[1] + data + found[2], text, count=1, flags=re.S)
        with open(cls.path, "w", encoding="utf-8") as file:
            file.write(text)
        cls.page = chromium.Page()
        cls.addClassCleanup(cls.page.__exit__)

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)
        self.page.scheme("light")

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def open(self, view):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(self.path, view)
        self.page.until("document.querySelector('.tab[aria-selected=true]') !== null")
        self.page.settle()

    def picture(self, name):
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"parts-{name}.png"))

    def choose(self, label, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})([...document.querySelectorAll("
                     f"'.top .choice, {SECTION} .choice')].find(e => e.textContent.startsWith({json.dumps(label)})).querySelector('select'))")
        self.page.settle()

    def tick(self, label):
        self.page.js(f"[...document.querySelectorAll('{SECTION} .choice')].find(e => e.textContent === {json.dumps(label)}).querySelector('input').click()")
        self.page.settle()

    def chosen(self, label):
        return self.page.js(f"[...document.querySelectorAll('.top .choice, {SECTION} .choice')].find(e => e.textContent.startsWith({json.dumps(label)}))"
                            "?.querySelector('select').value ?? null")

    def frames(self):
        return self.page.js(f"[...document.querySelectorAll('{SECTION} .flame-place g.frame:not(.fade)')].map(g => g.getAttribute('name'))")

    def details(self):
        return self.page.js(f"document.querySelector('{SECTION} .flame-details').textContent")

    def address(self):
        return self.page.js("location.hash")

    def functions(self):
        """Name, self percentage and instructions of each row."""
        rows = self.page.js(f"[...document.querySelectorAll('{SECTION} .grid-body .grid-row')].map(r => [...r.children].map(c => c.textContent))")
        return [(row[3], row[0], row[1]) for row in rows]

    def test_processes(self):
        self.open("functions")
        self.assertEqual(self.page.js("[...document.querySelectorAll('.top .parts option')].map(o => o.textContent)"),
                         ["all 3", "app, 2 processes", "7 sh", "8 app", "9 app"])
        self.assertEqual(self.functions()[0], ("main", "50.00 %", "500"))
        self.choose("Process", "8")
        self.assertEqual(self.functions(), [(LONG, "50.00 %", "300"), ("main", "41.67 %", "250"), ("memcpy", "8.33 %", "50")])
        self.assertEqual(self.address(), "#functions?process=8")
        self.choose("Process", "=app")
        self.assertEqual(self.functions()[0], ("main", "55.56 %", "500"))
        self.page.js("location.hash = 'flame'")
        self.page.settle()
        self.assertEqual(self.address(), "#flame?process=%3Dapp")
        self.assertIn("96, 100 % of all", self.details())
        self.choose("Process", "7")
        self.assertEqual(sorted(self.frames()), ["./example 'a b'", "_dl_start"])
        self.choose("Process", "")
        self.assertEqual(self.address(), "#flame")
        self.assertIn("main", self.frames())

    def test_views_are_made_once_for_each_choice(self):
        self.open("functions")
        for process in "8", "", "8", "":
            self.choose("Process", process)
        self.assertEqual(self.page.js("document.querySelectorAll('#view > section').length"), 2)
        self.assertEqual(self.functions()[0], ("main", "50.00 %", "500"))

    def test_summary_of_processes(self):
        cards = f"[...document.querySelectorAll('{SECTION} .card')].map(c => [...c.children].map(e => e.textContent))"
        self.open("summary?process=8")
        self.assertEqual(self.page.js(cards)[:3], [["Process", "8", "of 3 processes: app"], ["Instructions", "600", ""], ["Samples", "0", "0 in the kernel, 1 in the engine"]])
        self.open("summary?process=%3Dapp")
        self.assertEqual(self.page.js(cards)[0], ["Processes", "2", "of 3 processes: app"])
        self.picture("summary")

    def test_start_up(self):
        self.open("functions")
        self.page.click(".top .parts input")
        self.assertEqual([(name, share) for name, share, _ in self.functions()], [("main", "58.82 %"), (LONG, "35.29 %"), ("memcpy", "5.88 %")])
        self.assertEqual(self.address(), "#functions?startup=hidden")
        self.open("flame?startup=hidden&process=9")
        self.assertEqual(sorted(self.frames()), ["./example 'a b'", "main"])
        self.assertEqual((self.chosen("Process"), self.page.js("document.querySelector('.top .parts input').checked")), ("9", True))

    def test_recursion_and_templates(self):
        self.open("flame")
        self.assertEqual(self.frames().count(LONG), 2)
        self.tick("collapse recursion")
        self.assertEqual(self.frames().count(LONG), 1)
        self.tick("no template arguments")
        short = "std::map<…>::a_function_with_a_long_name(unsigned long, unsigned long) const"
        self.assertEqual(self.frames().count(short), 1)
        self.assertEqual(self.address(), "#flame?recursion=hidden&templates=hidden")
        self.picture("recursion")

    def cells(self):
        """Name, amount and percentage of the rows of a tree in sight."""
        return self.page.js(f"[...document.querySelectorAll('{SECTION} .grid-body .grid-row')].map(r => [...r.children].slice(0, 3).map(c => c.textContent.replace(/^[▸▾]/, '')))")

    def test_percentages_of_frames(self):
        self.open("flame?process=8")
        label = f"document.querySelector('{SECTION} g[name=memcpy] .d3-flame-graph-label').textContent"
        self.page.click(f"{SECTION} g[name=memcpy]")
        self.assertIn("9, 15.00 % of all", self.details())
        self.assertEqual(self.page.js(label), "memcpy 15.00 %")
        self.choose("Percent of the", "parent")
        self.assertIn(f"9, 31.03 % of its parent, {LONG}", self.details())
        self.assertEqual(self.page.js(label), "memcpy 31.03 %")
        address = self.address()
        self.assertEqual(address, "#flame?zoom=0.0.0.0&of=parent&process=8")
        self.open(address[1:])
        self.assertEqual((self.chosen("Percent of the"), self.page.js(label)), ("parent", "memcpy 31.03 %"))
        self.page.click(f"{SECTION} g[name=main]")
        self.assertIn("60, 100 % of its parent", self.details())
        self.picture("percent-of-the-parent")
        self.choose("Percent of the", "total")
        self.assertEqual(self.address(), "#flame?zoom=0&process=8")

    def test_percentages_of_trees(self):
        self.open("contexts?direction=ksf&process=8")
        self.page.until(f"document.querySelectorAll('{SECTION} .grid-body .grid-row').length === 4")
        self.assertEqual(self.cells(), [["main", "60", "100 %"], [LONG, "59", "98.33 %"], [LONG, "29", "48.33 %"], ["memcpy", "9", "15.00 %"]])
        self.choose("Percent of the", "parent")
        self.assertEqual(self.cells(), [["main", "60", "100 %"], [LONG, "59", "98.33 %"], [LONG, "29", "49.15 %"], ["memcpy", "9", "31.03 %"]])
        self.page.js(f"[...document.querySelectorAll('{SECTION} .sorter')].find(b => b.textContent === 'Of the parent').click()")
        self.page.settle()
        self.assertEqual(self.address(), "#contexts?direction=ksf&of=parent&sort=-Of+the+parent&process=8")
        self.open(self.address()[1:])
        self.assertEqual((self.chosen("Percent of the"), self.cells()[3]), ("parent", ["memcpy", "9", "31.03 %"]))
        self.choose("Percent of the", "top")
        self.assertEqual(self.address(), "#contexts?direction=ksf&of=top&sort=-Of+the+top&process=8")
        self.assertEqual(self.cells()[3], ["memcpy", "9", "15.00 %"])

    def test_groups(self):
        for group, wanted in (("thread", ["app 8", "app 9", "sh 7"]), ("process", ["process 7 sh", "process 8 app", "process 9 app"])):
            self.open(f"flame?group={group}")
            self.assertEqual(sorted(name for name in self.frames() if name in wanted), wanted)
            self.assertEqual(self.chosen("Frames"), group)
        self.picture("processes")
        self.choose("Frames", "image")
        self.assertEqual(sorted(self.frames()), ["./example 'a b'", "app", "ld-linux-x86-64.so.2", "libc.so.6"])

    def test_colours(self):
        self.open("flame")
        self.assertEqual(self.page.js(f"[...document.querySelectorAll('{SECTION} .flame-legend .flame-image')].map(e => e.textContent)"),
                         ["app", "libc.so.6", "ld-linux-x86-64.so.2"])
        fill = f"document.querySelector('{SECTION} g[name=main] rect').getAttribute('fill')"
        self.assertTrue(self.page.js(fill).startswith("hsl("))
        self.picture("images")
        self.choose("Colour", "heat")
        self.assertEqual(self.page.js(fill), "color-mix(in srgb, rgb(var(--heat-colour)) 100%, var(--flame-root))")
        self.assertEqual(self.page.js(f"document.querySelector('{SECTION} .flame-legend').textContent"), "self:0 %36.00 % of all")
        self.page.scheme("dark")
        self.picture("heat")

    def test_names_are_cut_in_the_middle(self):
        self.page.resize(390, 800)
        self.open("flame")
        label = self.page.js(f"[...document.querySelectorAll('{SECTION} g.frame')].find(g => g.getAttribute('name') === {json.dumps(LONG)})"
                             ".querySelector('.d3-flame-graph-label').textContent")
        self.assertRegex(label, r"^std::map<int.*….*\) const$")
        self.assertLess(len(label), len(LONG))
        self.picture("390")

    def test_links_keep_what_was_chosen(self):
        """An address leads to the same picture in a new page."""
        self.open("flame?process=8")
        self.page.key("/", "/")
        self.page.type("memcpy")
        self.choose("Colour", "heat")
        self.choose("Root", "bottom")
        self.choose("Form", "inverted")
        self.page.click(f"{SECTION} g[name=memcpy]")
        address, frames = self.address(), self.frames()
        self.assertEqual(address, "#flame?search=memcpy&colour=heat&root=bottom&form=inverted&zoom=1&process=8")
        self.open(address[1:])
        self.assertEqual(self.address(), address)
        self.assertEqual(self.frames(), frames)
        self.assertEqual([self.chosen(label) for label in ("Process", "Colour", "Root", "Form")], ["8", "heat", "bottom", "inverted"])
        self.assertEqual(self.page.js(f"document.querySelector('{SECTION} [data-search]').value"), "memcpy")
        self.page.js(f"[...document.querySelectorAll('{SECTION} .plain')].find(b => b.textContent === 'Show all').click()")
        self.page.settle()
        self.assertNotIn("zoom", self.address())

    def test_escape_works_at_once_after_a_link(self):
        """A link with a zoom is opened, and nothing has been clicked yet."""
        width = f"document.querySelector('{SECTION} g[name=memcpy]').getBoundingClientRect().width"
        self.open("flame?process=8")
        whole = self.page.js(width)
        self.open("flame?zoom=0.0.0.0&process=8")
        self.assertGreater(self.page.js(width), whole * 2)
        self.assertEqual(self.page.js("document.activeElement.tagName"), "BODY")
        self.page.key("Escape")
        self.assertEqual(self.address(), "#flame?process=8")
        self.assertAlmostEqual(self.page.js(width), whole, delta=1)

    def test_links_keep_the_order_of_tables(self):
        self.open("functions")
        self.page.js(f"[...document.querySelectorAll('{SECTION} .sorter')].find(b => b.textContent === 'Calls').click()")
        self.page.settle()
        self.assertEqual(self.address(), "#functions?sort=-Calls")
        self.assertEqual([row[0] for row in self.functions()], [LONG, "memcpy", "_dl_start", "main"])
        self.open("functions?sort=Function&search=m")
        self.assertEqual([row[0] for row in self.functions()], ["main", "memcpy", LONG])
        self.open("functions?sort=nothing&process=99&search=%")
        self.assertEqual(self.chosen("Process"), "")

    def test_links_of_other_views(self):
        self.open("contexts?thread=1&direction=ksf")
        self.assertEqual(self.chosen("Thread"), "1")
        self.open("callgraph?thread=2&least=0.2")
        self.assertEqual((self.chosen("Thread"), self.chosen("Hide below")), ("2", "0.2"))
        self.open("flame/main")
        self.assertEqual((self.chosen("Form"), self.address()), ("sandwich", "#flame/main?form=sandwich"))
        self.choose("Form", "callees")
        address = self.address()
        self.open(address[1:])
        self.assertEqual(self.chosen("Form"), "callees")

    def test_the_browser_goes_back(self):
        self.open("functions?sort=Calls")
        self.page.js("document.querySelector('[data-view=flame]').click()")
        self.page.settle()
        self.choose("Colour", "heat")
        self.page.js("history.back()")
        self.page.until("document.querySelector('.tab[aria-selected=true]').dataset.view === 'functions'")
        self.page.settle()
        self.assertEqual(self.address(), "#functions?sort=Calls")
        self.page.js("history.forward()")
        self.page.until("document.querySelector('.tab[aria-selected=true]').dataset.view === 'flame'")
        self.page.settle()
        self.assertEqual(self.chosen("Colour"), "heat")

    def test_no_view_is_wider_than_its_window(self):
        for width in 390, 1280:
            self.page.resize(width, 800)
            for view in "functions", "flame", "flame?colour=heat", "contexts", "callgraph":
                self.open(view)
                self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), width, view)
                self.picture(f"{width}-{re.sub('[^a-z]', '-', view)}")


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
