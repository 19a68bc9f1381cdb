#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a trace: test_trace.py STROBE CALLS [-k NAME]. CALLS is the program of tests/trace/programs/calls.c."""
import json
import os
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
import results  # noqa: E402
from test_page import STROBE, Pages, report, write  # noqa: E402

CALLS = os.path.abspath(sys.argv.pop(1))


def strobe(place, *arguments):
    return subprocess.run([STROBE, *arguments], cwd=place, capture_output=True, text=True, timeout=300, check=True).stdout


def data_of(path):
    with open(path, encoding="utf-8") as f:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S)[1])


def duration(ns):
    """As the page writes it."""
    size, unit = next((each for each in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if ns >= each[0]), (1, "ns"))
    value = ns / size
    return "0 s" if not ns else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


class Made(Pages):
    """A trace that is known by heart."""

    def setUp(self):
        super().setUp()
        if not hasattr(Made, "trace"):
            Made.trace, done = report(self.place.name, "trace.html", write(self.place.name, "trace.json", results.trace()))
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_table(self):
        self.open("trace", self.trace)
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Summary", "Functions", "Call graph", "Tables"])
        self.assertEqual(self.page.js("document.title"), "Functions · trace.json · Strobe")
        self.assertEqual(self.status(), "4 functions, together 100 % of the self time")
        self.assertEqual(self.rows(), [["6.00 ms", "6.00 ms", "1,001", "64.0 ns", "5.00 µs", "100 µs", "leaf", "example", "x.c:10"],
                                       ["2.50 ms", "8.50 ms", "40", "64.0 ns", "5.00 µs", "100 µs", "work", "example", "x.c:20"],
                                       ["1.50 ms", "10.0 ms", "1", "10.0 ms", "10.0 ms", "10.0 ms", "main", "example", "x.c:30"],
                                       ["–", "–", "1", "–", "–", "–", results.EVIL, "example", "0x280"]])

    def test_sorting_and_filter(self):
        self.open("trace", self.trace)
        for column, order in ((2, ["main", "work", "leaf", results.EVIL]), (3, ["leaf", "work", "main", results.EVIL]), (6, ["main", "leaf", "work", results.EVIL])):
            self.page.click(f"section:not([hidden]) .grid-header .cell:nth-child({column}) button")
            self.assertEqual([row[6] for row in self.rows()], order)
        self.page.key("/", "/")
        self.page.type("work")
        self.assertEqual([row[6] for row in self.rows()], ["work"])
        self.assertEqual(self.status(), "1 function, together 25.00 % of the self time")

    def test_links(self):
        """The address has the order and the search, and the function that was chosen."""
        self.open("trace", self.trace)
        self.page.click("section:not([hidden]) .grid-header .cell:nth-child(3) button")
        self.page.key("/", "/")
        self.page.type("example")
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(2)")
        self.page.settle()
        address = self.page.js("location.hash")
        self.assertEqual(address, "#trace/work/%2Fusr%2Fbin%2Fexample?sort=-Calls&search=example")
        rows = self.rows()
        self.open(address[1:], self.trace)
        self.assertEqual((self.page.js("location.hash"), self.rows(), self.texts("h2.function")), (address, rows, ["work"]))
        self.assertEqual([row[6] for row in rows][:3], ["leaf", "work", "main"])

    def test_chosen_function(self):
        self.open("trace", self.trace)
        self.assertEqual(self.texts("h2.function"), ["leaf"], "the first one is chosen")
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(2)")
        self.assertEqual(self.page.js("decodeURIComponent(location.hash)"), "#trace/work//usr/bin/example")
        self.assertEqual(self.texts("h2.function") + self.texts(".lead"), ["work", "/usr/bin/example · /src/x.c:20 · offset 0x140"])
        self.assertEqual(self.texts(".facts dd"), ["2,500,000 ns", "8,500,000 ns", "9,400,000 ns", "40", "10 ns, 100,000 ns"])
        self.assertEqual(self.texts("table[aria-label=Callers] tbody tr"), ["108.50 ms8.50 msmain", "300 s900 µswork"])
        self.assertEqual(self.texts("table[aria-label=Callees] tbody tr"), ["1,0006.00 ms6.00 msleaf", "300 s900 µswork"])
        self.page.click("section:not([hidden]) table[aria-label=Callers] a")
        self.assertEqual(self.texts("h2.function"), ["main"])
        self.assertEqual(self.texts("table[aria-label=Callers] tbody tr"), ["110.0 ms10.0 ms(not traced)"])
        self.assertEqual(self.texts(".grid-row[aria-selected=true] .cell:nth-child(7)"), ["main"])

    def test_distribution(self):
        self.open("trace/leaf", self.trace)
        self.assertEqual(self.texts("rect.duration title"), ["10.0 ns to 10.5 ns: 400 calls", "64.0 ns to 68.0 ns: 550 calls", "4.86 µs to 5.12 µs: 49 calls", "98.3 µs to 102 µs: 1 call"])
        self.assertEqual(self.texts("line.quantile title"), ["p50: 64.0 ns", "p90: 1.00 µs", "p99: 5.00 µs"])
        bars = self.page.js("[...document.querySelectorAll('section:not([hidden]) rect.duration')].map(e => [e.dataset.calls, e.getAttribute('x'), e.getAttribute('height')].map(Number))")
        self.assertEqual([calls for calls, _, _ in bars], [400, 550, 49, 1])
        self.assertAlmostEqual(bars[0][2] / bars[1][2], 400 / 550)
        self.assertEqual(bars[3][2], 1, "what is rare is seen")
        steps = [bars[i + 1][1] - bars[i][1] for i in range(3)]
        # Logarithmic: from 10 to 64 as far as from 100 to 640.
        self.assertAlmostEqual(steps[0] / steps[1], 0.4283, 3)
        marks = self.page.js("[...document.querySelectorAll('section:not([hidden]) line.quantile')].map(e => Number(e.getAttribute('x1')))")
        self.assertEqual(marks[0], bars[1][1])
        self.assertEqual(sorted(marks), marks)

    def test_what_is_not_known(self):
        self.open("trace", self.trace)
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(4)")
        self.assertEqual(self.texts("h2.function"), [results.EVIL])
        self.assertEqual(self.texts(".nothing"), ["No duration is known of this function."])
        self.assertEqual(self.texts(".facts dd"), ["–", "–", "–", "1, 1 of them without a return that was seen: they have no time", "–, –"])
        self.assertEqual(self.texts(".refused h3") + self.texts(".refused tr"), ["1 function could not be traced", "tinyexampleits code is too short for a jump"])

    def limited(self):
        """Returns the page of a trace under a budget."""
        if not hasattr(Made, "budget"):
            Made.budget, done = report(self.place.name, "limited.html", write(self.place.name, "limited.json", results.limited_trace()))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.budget

    def test_what_was_sampled_and_dropped(self):
        """The page has tables of the functions with fewer timed calls and of those without a probe, and the cost of the probes."""
        self.open("trace", self.limited())
        self.assertEqual(self.texts(".budget"), ["Budget: 2.00 % of the CPU time without probes. The probes have taken 125 µs (± 31.3 µs) of 10.1 ms, which is 1.25 %."])
        self.assertEqual(self.texts(".sampled h3") + self.texts(".sampled th") + self.texts(".sampled td"),
                         ["1 function whose calls were not all timed, to keep the budget", "Calls", "Timed", "At least 1 of", "Since", "Function", "1,001", "100", "16", "2.00 ms", "leaf [example]"])
        self.assertEqual(self.texts(".dropped h3") + self.texts(".dropped th") + self.texts(".dropped td"),
                         ["1 function whose probe was taken out, to keep the budget", "Calls before", "At", "Function", "40", "5.00 ms", "work [example]"])
        self.assertEqual(self.texts(".left-out h3") + self.texts(".left-out tr"),
                         ["2 functions were left out", "oftenexampleit was called 200000 times", f"{results.EVIL}exampleit was called 200000 times"])
        self.open("trace", self.trace)
        self.assertEqual([self.texts(f".{part}") for part in ("budget", "sampled", "dropped", "left-out")], [[]] * 4, "no budget, no table")

    def test_estimates_have_their_errors(self):
        """The facts of a function have the number of timed calls, the error of the times, and the limits of both."""
        self.open("trace", self.limited())
        self.assertEqual([row[6] for row in self.rows()], ["leaf *", "work +", "main", results.EVIL])
        for name, wanted in (("leaf", ["Timed", "100 of 1,000 calls (at least 1 of 16, since 2.00 ms): the times are estimates", "Error of the sum", "± 250,000 ns (95 % interval)",
                                       "Below resolution", "on average, the calls last less than 12.8 ns, too short for a probe: their number is right, their times are not"]),
                             ("work", ["Timed", "1 of 40 calls: the times are estimates", "Error of the sum", "not known, because only one call was timed",
                                       "Probe", "taken out at 5.00 ms: there were more calls, whose time is in that of their callers"]),
                             ("main", ["Timed", "0 of 1 call: the calls were only counted"])):
            self.open(f"trace/{name}", self.budget)
            facts = [text for pair in zip(self.texts(".facts dt"), self.texts(".facts dd")) for text in pair]
            self.assertEqual(facts[10:], wanted)

    def test_summary(self):
        self.open("summary", self.trace)
        self.assertEqual(dict(zip(self.texts(".card-title"), self.texts(".card-value")))["Traced functions"], "4")
        self.assertEqual(self.texts(".hottest a"), ["leaf", "work", "main"])
        self.page.click("section:not([hidden]) .hottest li:nth-child(2) a")
        self.assertEqual(self.texts("h2.function"), ["work"])

    def test_raw_files_and_plans(self):
        raw = os.path.join(self.place.name, "raw")
        with open(raw, "w", encoding="utf-8") as f:
            f.write("0 1 1000;outer\n0 1 2000;inner\n1 1 2500;inner\n1 1 5000;outer\n")
        with open(raw + ".json", "w", encoding="utf-8") as f:
            f.write(strobe(self.place.name, "trace", "--from-raw", raw, "--format", "json"))
        path, done = report(self.place.name, "raw.html", raw + ".json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.open("trace", path)
        self.assertEqual([row[:3] + row[6:7] for row in self.rows()], [["3.50 µs", "4.00 µs", "1", "outer"], ["500 ns", "500 ns", "1", "inner"]])
        self.assertEqual(self.texts(".nothing"), ["How durations are distributed is not in this result: report the profile that it was made of."])
        self.open("summary", path)
        self.assertEqual(self.texts("h1") + self.texts(".hottest a"), ["raw.json", "outer", "inner"])
        with open(raw + ".json", "w", encoding="utf-8") as f:
            f.write(strobe(self.place.name, "trace", "--dry-run", "--format", "json", CALLS))
        done = report(self.place.name, "raw.html", raw + ".json")[1]
        self.assertEqual((done.returncode, "has nothing to show" in done.stderr), (125, True))


class Recorded(Pages):
    """What the page shows of a profile is what strobe trace says of it."""

    def setUp(self):
        super().setUp()
        if hasattr(Recorded, "html"):
            return
        strobe(self.place.name, "trace", "-q", "-e", "jit", "--events", "-o", "calls.db", "--", CALLS, "fib")
        Recorded.json = json.loads(strobe(self.place.name, "trace", "--from", "calls.db", "--format", "json"))
        Recorded.html, done = report(self.place.name, "calls.html", os.path.join(self.place.name, "calls.db"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_data(self):
        trace = data_of(self.html)["results"][0]["trace"]
        histograms = [function.pop("histogram") for function in trace["functions"]]
        self.assertEqual(trace.pop("cut"), [])
        self.assertEqual(trace, self.json)
        for function, histogram in zip(trace["functions"], histograms):
            self.assertEqual(sum(histogram[1::2]), function["calls"], function["name"])
            self.assertEqual(histogram[::2], sorted(histogram[::2]))

    def test_table(self):
        self.open("trace", self.html)
        wanted = [[*(duration(f[key]) for key in ("exclusive_ns", "outermost_ns")), f"{f['calls'] + f['lost']:,}", *(duration(f[key]) for key in ("p50_ns", "p99_ns", "max_ns")),
                   f["name"]] for f in self.json["functions"]]
        self.assertEqual([row[:7] for row in self.rows()], wanted[:len(self.rows())])

    def test_function(self):
        index, fib = next((i, f) for i, f in enumerate(self.json["functions"]) if f["name"] == "t_fib")
        self.open("trace/t_fib", self.html)
        self.assertEqual(self.texts(".facts dd"), [*(f"{fib[key]:,} ns" for key in ("exclusive_ns", "outermost_ns", "inclusive_ns")), "1,973", f"{fib['min_ns']:,} ns, {fib['max_ns']:,} ns"])
        self.assertEqual(self.page.js("[...document.querySelectorAll('section:not([hidden]) rect.duration')].reduce((sum, e) => sum + Number(e.dataset.calls), 0)"), 1973)
        self.assertEqual(self.texts("line.quantile title"), [f"{name}: {duration(fib[f'{name}_ns'])}" for name in ("p50", "p90", "p99")])
        for title, end, other in (("Callers", "callee_index", "caller"), ("Callees", "caller_index", "callee")):
            wanted = [f"{p['calls']:,}{duration(p['outermost_ns'])}{duration(p['inclusive_ns'])}{p[other] or '(not traced)'}" for p in self.json["pairs"] if p[end] == index]
            self.assertEqual(self.texts(f"table[aria-label={title}] tbody tr"), wanted)

    def test_one_of_ten(self):
        """The page has the number of timed calls and the error that JSON has."""
        strobe(self.place.name, "trace", "-q", "--every", "10", "-o", "every.db", "--", CALLS, "fib")
        fib = next(f for f in json.loads(strobe(self.place.name, "trace", "--from", "every.db", "--format", "json"))["functions"] if f["name"] == "t_fib")
        path, done = report(self.place.name, "every.html", os.path.join(self.place.name, "every.db"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.open("trace/t_fib", path)
        self.assertEqual(self.texts(".facts dd")[5:7], [f"{fib['timed']:,} of 1,973 calls: the times are estimates", f"± {fib['inclusive_error_ns']:,} ns (95 % interval)"])
        self.assertLess(fib["timed"], 1973)

    def test_limits_are_said(self):
        path = os.path.join(self.place.name, "cut.html")
        strobe(self.place.name, "report", "-n", "1", "-o", path, "calls.db")
        trace = data_of(path)["results"][0]["trace"]
        self.assertEqual((len(trace["functions"]), len(trace["pairs"])), (1, 1))
        self.open("summary", path)
        self.assertIn(f"This page has the 1 hottest of {len(self.json['functions'])} traced functions; strobe report --top 0 includes all.", self.texts(".notes li"))


AXIS, TITLE, ROW, GAP = 24, 22, 18, 8  # pixels: web/src/parts/lanes.js


def exact(ns):
    return f"{ns} ns" if ns < 1000 else f"{duration(ns)} ({ns:,} ns)"


def calls_of(place, db):
    """Calls of each thread as (begin, end, name, level), from the rows as strobe show prints them."""
    threads, open_calls = {}, {}
    for line in strobe(place, "show", db, "--rows", "events", "--format", "json", "-n", "0").splitlines():
        row = json.loads(line)
        stack = open_calls.setdefault(row["thread"], [])
        while len(stack) >= row["depth"]:
            begin, name = stack.pop()
            threads.setdefault(row["thread"], []).append((begin, row["time"], name, len(stack)))
        if row["event"] == "entry":
            stack.append((row["time"], row["function"]))
    return threads


class Timelines(Pages):
    def page_of(self, mode, *options):
        name = "".join((mode, *options))
        db, html = (os.path.join(self.place.name, f"{name}.{end}") for end in ("db", "html"))
        if not os.path.exists(html):
            strobe(self.place.name, "trace", "-q", "-e", "jit", "--events", *options, "-o", db, "--", CALLS, mode)
            done = report(self.place.name, f"{name}.html", db)[1]
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return html, data_of(html)["results"][0]["timeline"]

    def mouse(self, kind, x, y, **more):
        left, top = self.page.js("(r => [r.left, r.top])(document.querySelector('.lanes').getBoundingClientRect())")
        self.page.call("Input.dispatchMouseEvent", type=kind, x=left + x, y=top + y, **more)
        self.page.settle()

    def drag(self, x, to, y, **more):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1, **more)
        self.mouse("mouseMoved", to, y, button="left", buttons=1, **more)
        self.mouse("mouseReleased", to, y, button="left", clickCount=1, **more)

    def width(self):
        return self.page.js("document.querySelector('.lanes').clientWidth")

    def point_at(self, begin, span, level):
        """Moves the mouse to a visible slice; repeats it while the page is still being laid out or zoomed."""
        end = time.monotonic() + chromium.PATIENCE
        while True:
            seen = self.shown()
            self.mouse("mouseMoved", (begin + span / 2 - seen[0]) / (seen[1] - seen[0]) * self.width(), AXIS + TITLE + level * ROW + ROW / 2)
            if len(self.details()) > 1 or time.monotonic() > end:
                return
            self.mouse("mouseMoved", 1, AXIS / 2)

    def wait_for_zoom(self, seen):
        """Waits until the visible range differs from `seen`, at most a second, because the page may draw a turn of the wheel later."""
        end = time.monotonic() + 1
        while self.shown() == seen and time.monotonic() < end:
            self.page.settle()

    def details(self):
        return self.page.js("[...document.querySelector('section:not([hidden]) .flame-details').children].map(e => e.textContent)")

    def shown(self):
        """What is in sight, in ns."""
        title = self.page.js("document.querySelector('section:not([hidden]) .status').title")
        return [int(ns.replace(",", "")) for ns in re.fullmatch(r"([\d,]+) ns to ([\d,]+) ns", title).groups()]

    def assertShown(self, begin, end):
        for seen, wanted in zip(self.shown(), (begin, end)):
            self.assertAlmostEqual(seen, wanted, delta=(end - begin) * 1e-6 + 1)

    def test_slices_are_the_calls(self):
        _, data = self.page_of("threads")
        names = [function["name"] for function in data["functions"]]
        shown = {}
        for lane in data["lanes"]:
            for level, numbers in enumerate(lane["rows"]):
                end = 0
                for gap, span, function, calls in zip(*(numbers[i::4] for i in range(4))):
                    begin, end = end + gap, end + gap + span
                    self.assertEqual(calls, 1)
                    shown.setdefault(lane["tid"], []).append((begin, end, names[function], level))
        wanted = calls_of(self.place.name, "threads.db")
        self.assertGreater(len(wanted), 1)
        self.assertEqual({tid: sorted(calls) for tid, calls in shown.items()}, {tid: sorted(calls) for tid, calls in wanted.items()})
        self.assertEqual((data["calls"], data["events"], data["merged_calls"], data["too_deep"]), (sum(map(len, wanted.values())), 2 * data["calls"], 0, 0))

    def test_links_keep_the_zoom(self):
        html, data = self.page_of("levels")
        self.open("timeline", html)
        self.page.click("section:not([hidden]) .bar-of-tools button[aria-label='Zoom in']")
        self.page.key("/", "/")
        self.page.type("level")
        self.page.settle()
        address, seen = self.page.js("location.hash"), self.status()
        found = re.fullmatch(r"#timeline\?span=(\d+)-(\d+)&search=level", address)
        begin, end = int(found[1]), int(found[2])
        self.assertAlmostEqual(end - begin, (data["end_ns"] - data["begin_ns"]) / 2, delta=2)
        self.open(address[1:], html)
        self.assertShown(begin, end)
        self.assertEqual((self.page.js("location.hash"), self.status().split(":")[0]), (address, seen.split(":")[0]))
        self.page.js("[...document.querySelectorAll('section:not([hidden]) .bar-of-tools button')].find(b => b.textContent === 'All').click()")
        self.page.settle()
        self.assertEqual(self.page.js("location.hash"), "#timeline?search=level")

    def test_hover_names_the_call(self):
        html, data = self.page_of("levels")
        self.open("timeline", html)
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Summary", "Functions", "Timeline", "Call graph", "Tables", "Time"])
        begin, end = data["begin_ns"], data["end_ns"]
        found = re.fullmatch(rf"1 thread, {data['calls']:,} calls: ([\d.]+) (\S+) to ([\d.]+) (\S+), {re.escape(duration(end - begin))}", self.status())
        size = {"µs": 1e3, "ms": 1e6, "s": 1e9}[found[2]]
        self.assertEqual(found[2], found[4])
        for text, wanted in (found[1], begin), (found[3], end):
            self.assertAlmostEqual(float(text) * size, wanted, delta=(end - begin) / 1000)
            self.assertLess(len(text.partition(".")[2]), 6)
        self.assertEqual(self.details(), ["Point at a slice. The wheel or dragging zooms, with Shift it moves; a double click shows all."])
        [(tid, calls)] = calls_of(self.place.name, "levels.db").items()
        wide = sorted((call for call in calls if call[1] - call[0] > (end - begin) / 200), key=lambda call: call[3])
        self.assertGreater(len(wide), 10)
        for from_ns, to_ns, name, level in wide[:12]:
            self.point_at(from_ns, to_ns - from_ns, level)
            self.assertEqual(self.details(), [name, "trace-calls", f"at {exact(from_ns)}", exact(to_ns - from_ns), f"trace-calls {tid}", "all its calls"])
        self.mouse("mouseMoved", 5, AXIS + TITLE + 40 * ROW)
        self.assertEqual(len(self.details()), 1)

    def test_a_click_leads_to_the_function(self):
        html, _ = self.page_of("levels")
        self.open("timeline", html)
        self.drag(self.width() / 2, self.width() / 2, AXIS + TITLE + ROW / 2)
        self.mouse("mouseMoved", 5, AXIS + TITLE + 40 * ROW)
        self.assertEqual(self.details()[0], "main", "what was clicked stays")
        self.page.click("section:not([hidden]) .flame-details a")
        self.assertEqual((self.chosen(), self.texts("h2.function")), ("Functions", ["main"]))

    def test_zoom(self):
        html, data = self.page_of("levels")
        self.open("timeline", html)
        begin, end = data["begin_ns"], data["end_ns"]
        span, y = end - begin, AXIS + TITLE + ROW / 2
        # A pointer is at whole pixels.
        x1, x2 = (self.width() * part // 4 for part in (1, 2))
        first, second = (x / self.width() * span for x in (x1, x2))
        self.mouse("mouseWheel", x1, y, deltaX=0, deltaY=-300)
        near = 1 / 1.25 ** 3
        self.assertShown(begin + first * (1 - near), begin + first * (1 - near) + span * near)
        self.mouse("mouseWheel", x1, y, deltaX=0, deltaY=3000)
        self.assertShown(begin, end)
        self.drag(x2, x1, y)
        self.assertShown(begin + first, begin + second)
        part = second - first
        by = part * (x2 - x1) / self.width()
        self.drag(x2, x1, y, modifiers=8)
        self.assertShown(begin + first + by, begin + second + by)
        self.mouse("mouseWheel", x2, y, deltaX=x1 - x2, deltaY=0)
        self.assertShown(begin + first, begin + second)
        self.page.js("document.querySelector('.lanes').focus()")
        self.page.key("ArrowRight")
        self.assertShown(begin + first + part / 8, begin + second + part / 8)
        self.page.key("+")
        self.assertShown(begin + first + part * 3 / 8, begin + second - part / 8)
        self.page.key("Escape")
        self.assertShown(begin, end)
        self.page.click("section:not([hidden]) button[aria-label='Zoom in']")
        self.assertShown(begin + span / 4, begin + span * 3 / 4)

    def test_the_address_follows_a_turning_wheel(self):
        """Browsers refuse hundreds of changes of the address in a second."""
        html, _ = self.page_of("levels")
        self.open("timeline", html)
        self.page.js("""(e => { for (let i = 0; i < 400; i++) e.dispatchEvent(new WheelEvent('wheel', {deltaY: i < 399 ? -1 : -100, clientX: 300, clientY: 300, cancelable: true})); })
            (document.querySelector('.lanes'))""")
        self.page.settle()
        begin, end = self.shown()
        self.page.until(f"Math.abs(Number(/span=(\\d+)-/.exec(location.hash)?.[1]) - {begin}) <= 1 && Math.abs(Number(/-(\\d+)$/.exec(location.hash)?.[1]) - {end}) <= 1")

    def test_keys_work_without_a_click(self):
        html, data = self.page_of("levels")
        self.open("timeline", html)
        begin, end = data["begin_ns"], data["end_ns"]
        span = end - begin
        self.assertEqual(self.page.js("document.activeElement.tagName"), "BODY")
        half = begin + span / 4, end - span / 4
        for key, wanted in (("+", half), ("ArrowRight", (half[0] + span / 16, half[1] + span / 16)), ("0", (begin, end)), ("=", half), ("-", (begin, end)), ("+", half),
                            ("Escape", (begin, end))):
            self.page.key(key)
            self.assertShown(*wanted)
        self.page.key("/", "/")
        self.page.key("+", "+")
        self.assertShown(begin, end)
        self.assertEqual(self.texts(".unfound"), ["No function matches '+'."])
        self.page.key("Escape")
        self.assertEqual(self.texts(".unfound"), [""])

    def test_slices_are_drawn(self):
        html, _ = self.page_of("levels")
        self.open("timeline", html)
        width = self.width()
        pixel = ("(c => { const copy = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});"
                 " copy.drawImage(c, %d, %d, 1, 1, 0, 0, 1, 1); return [...copy.getImageData(0, 0, 1, 1).data]; })(document.querySelector('.lanes canvas'))")
        main, empty = pixel % (width - 20, AXIS + TITLE + 4), pixel % (width - 20, AXIS + TITLE + 30 * ROW)
        self.assertEqual(self.page.js(empty)[3], 0)
        colour = self.page.js(main)
        self.assertEqual(colour[3], 255)
        self.page.key("/", "/")
        self.page.type("level")
        self.assertLess(self.page.js(main)[3], 255, "what does not match is faint")
        self.page.scheme("dark")
        self.page.until(f"JSON.stringify({main}) !== '{json.dumps(colour, separators=(',', ':'))}'")

    def test_no_samples_where_none_are_taken(self):
        html, data = self.page_of("threads", "--sample-hz", "0")  # else a run on a busy machine is long enough for one
        self.open("time", html)
        self.assertEqual(len(self.texts(".lives li")), len(data["lanes"]))
        self.assertEqual(set(self.texts(".lives .share")), {""})
        self.assertNotIn("sample", self.page.js("document.querySelector('section:not([hidden]) .lives').outerHTML"))
        self.open("tables/threads", html)
        self.assertEqual(self.texts(".grid-header .cell"), ["tid", "pid", "began", "ended", "name"])

    def test_threads_have_lanes(self):
        html, data = self.page_of("threads")
        self.open("timeline", html)
        self.assertTrue(self.status().startswith(f"{len(data['lanes'])} threads, "))
        top, begin, span = AXIS, data["begin_ns"], data["end_ns"] - data["begin_ns"]
        for lane in sorted(data["lanes"], key=lambda lane: lane["rows"][0][0]):
            from_ns, length, function, _ = lane["rows"][0][:4]
            self.mouse("mouseMoved", (from_ns + length / 2 - begin) / span * self.width(), top + TITLE + ROW / 2)
            self.assertEqual((self.details()[0], self.details()[4]), (data["functions"][function]["name"], f"{lane['name']} {lane['tid']}"))
            top += TITLE + len(lane["rows"]) * ROW + GAP

    def test_a_million_events(self):
        html, data = self.page_of("many")
        self.assertEqual((data["calls"], data["events"]), (635622, 1271244))
        rows = [numbers for lane in data["lanes"] for numbers in lane["rows"]]
        self.assertLessEqual(sum(len(numbers) // 4 for numbers in rows), 100000)
        self.assertEqual(sum(sum(numbers[3::4]) for numbers in rows), data["calls"], "no call is lost")
        merged = [(span, calls) for numbers in rows for span, calls in zip(numbers[1::4], numbers[3::4]) if calls > 1]
        self.assertEqual((data["merged_slices"], data["merged_calls"]), (len(merged), sum(calls for _, calls in merged)))
        self.assertLessEqual(max(span for span, _ in merged), data["width_ns"])
        self.open("timeline", html)
        self.assertEqual(self.texts(".lanes-note"), [
            f"{data['merged_calls']:,} of 635,622 calls, none of them longer than {duration(data['width_ns'])}, are merged with their neighbours into "
            f"{len(merged):,} slices. To see each call, record fewer of them: strobe trace --events with --depth or --funcs."])
        level, begin, span, function, calls = self.first_merged(data)
        width = self.width()
        # Towards the slice, until it is wide enough to be pointed at; back when it is out of sight.
        for _ in range(200):
            seen, middle = self.shown(), begin + span / 2
            inside = seen[0] <= middle <= seen[1]
            if inside and span / (seen[1] - seen[0]) * width >= 5:
                break
            x = (middle - seen[0]) / (seen[1] - seen[0]) if inside else 0.5
            self.mouse("mouseMoved", x * width, AXIS + TITLE + level * ROW + ROW / 2)
            self.mouse("mouseWheel", x * width, AXIS + TITLE + level * ROW + ROW / 2, deltaX=0, deltaY=-500 if inside else 500)
            self.wait_for_zoom(seen)
        self.point_at(begin, span, level)
        of = data["functions"][function]["name"] if function >= 0 else "several functions"
        self.assertEqual(self.details()[0], f"{calls:,} calls of {of}")
        self.assertIn(f"within {exact(span)}", self.details())

    def first_merged(self, data):
        for level, numbers in enumerate(data["lanes"][0]["rows"]):
            end = 0
            for gap, span, function, calls in zip(*(numbers[i::4] for i in range(4))):
                begin, end = end + gap, end + gap + span
                if calls > 1 and level < 20:
                    return level, begin, span, function, calls
        raise AssertionError("nothing was merged")

    def test_deep_recursion(self):
        html, data = self.page_of("deep")
        self.assertEqual(len(data["lanes"][0]["rows"]), 250)
        self.assertGreater(data["too_deep"], 99000)
        self.open("timeline", html)
        self.assertEqual(self.texts(".lanes-note"), [f"{data['too_deep']:,} calls nested more than 250 levels deep are left out."])
        self.page.js("document.querySelector('.lanes').scrollTop = 1e6")
        self.page.settle()
        height = self.page.js("document.querySelector('.lanes').clientHeight")
        self.mouse("mouseMoved", self.width() / 2, height - GAP - ROW / 2)
        self.assertEqual(self.details()[0], "t_deep", "the last row can be reached")

    def test_rows_that_are_gone(self):
        html, _ = self.page_of("fib")
        os.mkdir(os.path.join(self.place.name, "alone"))
        os.rename(html.replace(".html", ".db"), os.path.join(self.place.name, "alone", "x.db"))
        rows = os.path.join(self.place.name, "fib.db.events.rows")
        os.rename(rows, rows + ".gone")
        path, done = report(self.place.name, "gone.html", os.path.join(self.place.name, "alone", "x.db"))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^strobe: the page has no timeline of \S+/x\.db: cannot read \S+fib\.db\.events\.rows: No such file or directory\n$")
        self.open("timeline", path)
        self.assertRegex(self.texts(".nothing")[0], r"^The entries and returns were recorded, but they could not be read when this page was made: cannot read \S+: No such file or directory\.$")
        os.remove(html)

    def test_nothing_is_wider_than_the_window(self):
        html, _ = self.page_of("many")
        self.page.resize(1000, 700)
        self.open("timeline", html)
        for view in "timeline", "trace":
            self.go(view)
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 1000, view)
            self.assertLessEqual(self.page.js("document.documentElement.scrollHeight"), 700, view)
            unnamed = self.page.js("""[...document.querySelectorAll('button, a, select, input, [tabindex="0"]')]
                .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).map(e => e.outerHTML)""")
            self.assertEqual(unnamed, [], view)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
