#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a campaign of strobe blow: test_blow.py STROBE PLANTED [-k NAME]. PLANTED is the program of tests/blow/programs/planted.c."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blown  # noqa: E402
import chromium  # noqa: E402
import results  # noqa: E402
from test_page import STROBE, Pages, report, write  # noqa: E402

PLANTED = os.path.abspath(sys.argv.pop(1))


def data_of(path):
    with open(path, encoding="utf-8") as f:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S)[1])


class Campaigns(Pages):
    def page_of(self, name, *made):
        """The page of results as files of JSON, which are named after it."""
        files = [write(self.place.name, f"{name}{i or ''}.json", each) for i, each in enumerate(made)]
        path, done = report(self.place.name, f"{name}.html", *files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def tabs(self):
        return self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)")

    def facts(self):
        return dict(zip(self.texts(".facts dt"), self.texts(".facts dd")))

    def heads(self):
        return self.texts(".grid-header .cell")


class Targets(Campaigns):
    def test_table(self):
        self.open("blow", self.page_of("slow", blown.slow_down()))
        self.assertEqual(self.heads(), ["#", "Function", "Slope", "95 % interval of the slope", "Fitness", "Exp", "Time %", "Calls", "Image"])
        self.assertEqual(self.rows(), [
            ["1", "main", "0.8603", "0.7640 to 0.9567", "1.05286", "25", "87.31 %", "1", "example"],
            ["2", "quarter", "0.2526", "0.2217 to 0.2835", "0.34676", "4", "25.00 %", "10", "example"],
            ["3", "the_rest", "−0.0123", "−0.0300 to 0.0054", "0.30799", "5", "25.00 %", "2.5", "example"],
            ["4", results.EVIL, "–", "not measurable: noise lost in the spread", "0.00000", "1", "–", "0", "example"]])
        self.assertEqual(self.status(), "slow-down: noise in one function at a time · 35 experiments on 4 functions")
        self.assertEqual(self.page.js("document.querySelectorAll('#page img, #page script').length"), 0)

    def test_sorting_and_search(self):
        self.open("blow", self.page_of("slow", blown.slow_down()))
        names = {5: ["main", "quarter", "the_rest", results.EVIL], 6: ["main", "the_rest", "quarter", results.EVIL], 3: ["main", "quarter", "the_rest", results.EVIL],
                 2: [results.EVIL, "main", "quarter", "the_rest"]}
        for column, order in names.items():
            self.page.click(f"section:not([hidden]) .grid-header .cell:nth-child({column}) button")
            self.assertEqual([row[1] for row in self.rows()], order, column)
        self.page.key("/", "/")
        self.page.type("/^(main|quarter)$/")
        self.assertEqual([row[1] for row in self.rows()], ["main", "quarter"])
        self.assertIn("on 4 functions, 2 shown", self.status())

    def test_top_50(self):
        """The first 50 by the column that sorts, and all of them with the button."""
        self.open("blow", self.page_of("many", blown.many(60)))
        count = "document.querySelector('section:not([hidden]) .grid').getAttribute('aria-rowcount') - 1"
        more = "section:not([hidden]) .bar-of-tools button"
        self.assertEqual((self.page.js(count), self.texts(".bar-of-tools button")), (50, ["Show all 60"]))
        self.assertEqual(self.rows()[0][1], "f000")
        self.page.click("section:not([hidden]) .grid-header .cell:nth-child(5) button")
        best = max(range(60), key=lambda i: i * 37 % 60)
        self.assertEqual((self.page.js(count), self.rows()[0][1]), (50, f"f{best:03}"), "the 50 of all that are best by this column")
        self.page.click(more)
        self.assertEqual((self.page.js(count), self.texts(".bar-of-tools button")), (60, ["Show 50"]))
        self.assertNotIn("shown", self.status())
        self.page.click(more)
        self.assertEqual(self.page.js(count), 50)
        self.page.js("document.querySelector('section:not([hidden]) [data-search]').focus()")
        self.page.type("f01")
        self.assertEqual((self.page.js(count), self.page.js(f"document.querySelector({json.dumps(more)}).hidden")), (10, True))

    def test_details(self):
        path = self.page_of("slow", blown.slow_down())
        self.open("blow", path)
        self.assertEqual(self.texts("h2.function"), ["main"], "the first one is chosen")
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(2)")
        self.assertEqual(self.texts("h2.function") + self.texts(".lead"), ["quarter", "/usr/bin/example · offset 0x1000 · _Z7quarterv"])
        self.assertEqual(self.facts(), {"Slope": "0.2526, 95 % interval 0.2217 to 0.2835", "Fitness": "0.34676", "Experiments": "4", "Time without noise": "25.00 % of the run time",
                                        "Calls without noise": "10, 1.50 ms on average", "Criteria": "calls, time", "Threads": "0: 4 calls; 2: 6 calls"})
        self.open(f"blow/{results.EVIL}", path)
        self.assertEqual(self.facts(), {"Slope": "not measurable: noise lost in the spread", "Fitness": "0.00000", "Experiments": "1", "Time without noise": "–",
                                        "Calls without noise": "0, – on average", "Criteria": "calls", "Threads": "none called it without noise"})
        self.open("blow/the_rest", path)
        self.assertEqual(self.facts()["Criteria"], "none: it was named")
        self.assertEqual(self.texts(".grid-row[aria-selected=true] .cell:nth-child(2)"), ["the_rest"])

    def test_waiting(self):
        """On-CPU and waiting time apart, if the campaign has measured them."""
        campaign = blown.slow_down()
        campaign["targets"][1] |= {"waiting": blown.waiting(2000000, 6000000, 0.7, 0.8), "slope_cpu": blown.slope(0.0632, 0.05, 0.08), "slope_waiting": blown.slope(0.1894, 0.17, 0.21)}
        campaign["targets"][2]["waiting"] = {"runs": 0, "cpu_ns": None, "wait_ns": None, "value": None, "lo": None, "hi": None, "state": "a call was open at the end of the process"}
        path = self.page_of("slow", campaign)
        self.open("blow/quarter", path)
        self.assertEqual(self.heads()[5:9], ["Exp", "Time %", "Wait %", "Calls"])
        self.assertEqual([row[7] for row in self.rows()], ["–", "75.00 %", "–", "–"])
        self.assertEqual([self.facts()[key] for key in ("On the CPU", "Waiting")],
                         ["2.00 ms without noise, slope 0.0632 (0.0500 to 0.0800)", "6.00 ms, slope 0.1894 (0.1700 to 0.2100): 75.0 % of the time, 95 % interval 70.0 to 80.0 %"])
        self.open("blow/the_rest", path)
        self.assertEqual(self.facts()["Waiting"], "cannot tell: a call was open at the end of the process")

    def test_speed_up(self):
        self.open("blow", self.page_of("speed", blown.speed_up()))
        self.assertEqual(self.heads(), ["#", "Function", "Fitness", "Exp", "Time %", "Calls", "Mean", "Image"])
        self.assertEqual(self.rows(), [["1", "wait", "6.03911", "4", "50.46 %", "10", "1.50 ms", "example"], ["2", "join", "0.11902", "4", "25.00 %", "10", "–", "example"]])
        self.assertIn("speed-up: noise in all functions except one", self.status())
        self.assertNotIn("Slope", self.facts())

    def test_causal(self):
        """The gains at the progress point that is chosen, with their intervals or the reason why there is no number."""
        self.open("blow", self.page_of("causal", blown.causal()))
        self.assertEqual(self.heads(), ["#", "Function", "50 % faster", "No time", "Exp", "Time %", "Calls", "Image"])
        self.assertEqual([row[1:4] for row in self.rows()], [["parse", "25.0 (20.0 to 31.0)", "100.0 (80.0 to unknown)"], ["print", "not tried", "0.0 (−2.0 to 2.0)"],
                                                             ["never", "not tried", "not tried"]])
        self.assertEqual(self.facts()["50 % faster"], "25.0 (20.0 to 31.0), 5 runs")
        self.page.js("(e => { e.value = 'end of the run'; e.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) select'))")
        self.assertEqual([row[1:4] for row in self.rows()], [["parse", "6.0 (5.0 to 7.0)", "12.5 (11.0 to 14.0)"], ["print", "not tried", "−0.1 (−1.0 to 0.8)"],
                                                             ["never", "not measurable: too few runs", "not tried"]])
        self.assertEqual(self.facts()["50 % faster"], "6.0 (5.0 to 7.0), 5 runs")
        self.assertEqual(self.page.js("document.querySelector('section:not([hidden]) .grid-header .cell:nth-child(3)').title"),
                         "decrease of the run time in %, with its 95 % interval, if the function took 50 % less time")

    def test_links_to_other_results(self):
        """A function that another result of the page shows, by name and file name of the image, is a link to it."""
        trace, campaign = results.trace(), blown.slow_down()
        trace["functions"][2]["image"] = "/elsewhere/example"
        campaign["targets"][1]["function"] = "leaf"
        self.open("blow", self.page_of("linked", campaign, trace))
        link = ".grid-body .grid-row:nth-child({}) a"
        self.assertEqual([self.texts(link.format(n)) for n in (1, 2, 3)], [["main"], ["leaf"], []])
        self.page.click("section:not([hidden]) .grid-body .grid-row:nth-child(2) .cell:nth-child(5)")
        self.assertEqual(self.texts(".links a"), ["call times in linked1.json"])
        self.page.click(f"section:not([hidden]) {link.format(1)}")
        self.assertEqual(self.page.js("[document.querySelector('.top select').value, document.querySelector('.tab[aria-selected=true]').textContent]"), ["1", "Functions"])
        self.assertEqual(self.texts("h2.function"), ["main"])
        self.page.key("1")
        self.assertEqual(self.page.js("document.title"), "Summary · linked1.json · Strobe")

    def test_summary(self):
        self.open("summary", self.page_of("slow", blown.slow_down()))
        cards = dict(zip(self.texts(".card-title"), self.texts(".card-value")))
        self.assertEqual([cards[name] for name in ("Experiments", "Without noise", "Faults")], ["35", "60.0 ms", "0"])
        self.assertEqual(self.texts(".hottest a") + self.texts(".hottest .share"), ["main", "quarter", "0.8603", "0.2526"])
        self.page.click("section:not([hidden]) .hottest li:nth-child(2) a")
        self.assertEqual(self.texts("h2.function"), ["quarter"])

    def test_widths(self):
        """The page is never larger than the window."""
        for name, made in (("slow", blown.slow_down()), ("causal", blown.causal())):
            path = self.page_of(name, made)
            for width in (1400, 800, 390):
                self.page.resize(width, 800)
                self.open("blow", path)
                self.assertEqual(self.page.js("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"), [width, 800], name)


class Causal(Campaigns):
    def choose(self, label, value):
        find = f"[...document.querySelectorAll('section:not([hidden]) .choice')].find(e => e.firstChild.textContent === {json.dumps(label)}).querySelector('select')"
        self.page.js(f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }})({find})")

    def points(self):
        """(x, y) of each circle, as the page was given them."""
        return self.page.js("[...document.querySelectorAll('section:not([hidden]) circle.experiment')].map(e => [Number(e.dataset.x), Number(e.dataset.y)])")

    def test_lines(self):
        self.open("causal", self.page_of("slow", blown.slow_down()))
        self.assertEqual(self.tabs(), ["Summary", "Experiments", "Causal profiles", "Threads"])
        self.assertEqual(self.points(), [[1, 1], [2, 1.9], [3.5, 3.2], [1, 1], [5, 2], [140000, 35000]])
        self.assertEqual(self.status(), "2 of 2 lines")
        self.assertEqual(self.page.js("[...document.querySelectorAll('section:not([hidden]) polyline.experiments')].map(e => e.dataset.name)"), ["main", "quarter"])
        texts = self.texts("svg text")
        self.assertEqual(texts[:2], ["causal profiles of slow.json (slow-down)", "run time"])
        self.assertIn("time of the function", texts)
        self.assertEqual(self.texts(".caption"), ["A note on slopes. Experiments with faults are not drawn."])
        # The document's cut: what is beyond it is left out, and the page says so.
        self.page.js("document.querySelector('section:not([hidden]) input[type=number]').focus()")
        self.page.type("100")
        self.assertEqual((self.points()[-1], self.status()), ([5, 2], "2 of 2 lines; 1 point beyond x = 100 is left out"))
        self.page.js("document.querySelector('section:not([hidden]) [data-search]').focus()")
        self.page.type("main")
        self.assertEqual((self.points(), self.status()), ([[1, 1], [2, 1.9], [3.5, 3.2]], "1 of 1 line"))

    def test_geometry(self):
        """Points of a line with equal steps lie at equal distances."""
        self.open("causal", self.page_of("speed", blown.speed_up()))
        circles = self.page.js("[...document.querySelectorAll('section:not([hidden]) circle.experiment')].map(e => [Number(e.getAttribute('cx')), Number(e.getAttribute('cy'))])")
        self.assertEqual((circles[0], circles[1][0]), (circles[2], circles[3][0]))
        self.assertAlmostEqual((circles[0][1] - circles[1][1]) / (circles[2][1] - circles[3][1]), 43 / 42)
        self.assertEqual(self.texts("svg text")[-3:-1], ["wait, thread 0wait, thread 0", "wait, thread 3wait, thread 3"], "names and their hints")

    def test_intervals_and_progress_points(self):
        self.open("causal", self.page_of("causal", blown.causal()))
        intervals = "document.querySelectorAll('section:not([hidden]) line.interval').length"
        self.assertEqual((self.points()[1], self.page.js(intervals)), ([50, 25], 2), "an interval without an end is not drawn")
        self.assertIn("parse: 100, 100 (80 to unknown)", self.texts("circle title"))
        self.choose("Progress", "end of the run")
        self.assertEqual((self.points(), self.page.js(intervals)), ([[0, 0], [50, 6], [100, 12.5], [0, 0], [100, -0.1]], 3))
        self.assertIn("decrease of the run time in %", self.texts("svg text"))

    def test_number_of_lines(self):
        self.open("causal", self.page_of("many", blown.many(60)))
        self.assertEqual(self.status(), "9 of 60 lines")
        self.choose("Lines", "all")
        self.assertEqual((self.status(), len(self.points())), ("60 of 60 lines", 120))

    def test_chosen_function(self):
        """The table's chosen function has the picture of its own experiments."""
        self.open("blow/quarter", self.page_of("slow", blown.slow_down()))
        self.assertEqual(self.points(), [[1, 1], [5, 2], [140000, 35000]])
        self.assertEqual(self.texts("svg text")[0], "experiments with quarter")
        self.go("blow/the_rest")
        self.assertEqual(self.points(), [])

    def test_widths(self):
        path = self.page_of("causal", blown.causal())
        for width in (1400, 800, 390):
            self.page.resize(width, 800)
            self.open("causal", path)
            self.assertEqual(self.page.js("document.documentElement.scrollWidth"), width)
            self.assertEqual(self.page.js("getComputedStyle(document.querySelector('section:not([hidden]) .page')).backgroundColor"), "rgba(0, 0, 0, 0)")


class Matrix(Campaigns):
    def table(self):
        return self.page.js("[...document.querySelectorAll('section:not([hidden]) .matrix tr')].map(r => [...r.children].map(c => c.textContent))")

    def test_matrix(self):
        self.open("matrix", self.page_of("slow", blown.slow_down()))
        self.assertEqual(self.table(), [["Function", "thread 0", "thread 2"], ["main", "10", "–"], ["quarter", "4", "6"], ["the_rest", "10", "–"], [results.EVIL, "–", "–"]])
        self.assertEqual(self.status(), "4 functions in 2 threads")
        self.assertEqual(self.texts(".legend span"), ["– none", "fewer  10", "mean number of calls in a run without noise; the colour is logarithmic"])
        heats = self.page.js("[...document.querySelectorAll('section:not([hidden]) .matrix td.hot')].map(e => Number(e.style.getPropertyValue('--heat')))")
        self.assertEqual(heats[0], 1)
        self.assertTrue(heats[1] < heats[2] < 1, "6 calls are hotter than 4")
        self.page.key("/", "/")
        self.page.type("quarter")
        self.assertEqual(self.table()[1:], [["quarter", "4", "6"]])
        self.page.click("section:not([hidden]) .matrix a")
        self.assertEqual(self.texts("h2.function"), ["quarter"])

    def test_names(self):
        """What has created the threads is below the table, and in the hints of its columns."""
        campaign = blown.slow_down()
        name = f"{results.EVIL} 2 (created by main in start_pool)"
        campaign["threads"] = [{"thread": 2, "name": name, "creator": 0, "start": results.EVIL, "created_in": "start_pool", "nth": 1}]
        self.open("matrix", self.page_of("names", campaign))
        self.assertEqual(self.texts("[aria-label=Threads] dt"), ["thread 0", "thread 2"])
        self.assertEqual(self.texts("[aria-label=Threads] dd"), ["main", name])
        self.assertEqual(self.page.js("[...document.querySelectorAll('section:not([hidden]) .matrix th[title]')].map(e => e.title)"), ["main", name])

    def test_many(self):
        campaign = blown.many(60)
        for thread in range(40):
            campaign["targets"][0]["threads"].append({"thread": thread + 1, "calls": 1000 * thread + 0.5})
        path = self.page_of("matrix", campaign)
        self.open("matrix", path)
        self.assertEqual((len(self.table()) - 1, len(self.table()[0]) - 1), (50, 41))
        self.page.click("section:not([hidden]) .bar-of-tools button")
        self.assertEqual(len(self.table()) - 1, 60)
        for width in (1400, 800, 390):
            self.page.resize(width, 800)
            self.open("matrix", path)
            self.assertEqual(self.page.js("document.documentElement.scrollWidth"), width)


class Faults(Campaigns):
    def test_list(self):
        self.open("faults", self.page_of("faults", blown.with_faults()))
        self.assertIn("Faults", self.tabs())
        self.assertEqual(self.status(), "2 faults: 1 deadlock, 1 crash")
        self.assertEqual(self.texts(".fault h2"), ["deadlock in experiment 7", "crash in experiment 9"])
        self.assertEqual(self.texts(".fault .facts dd"), ["nanosleep 27,000,000 ns in quarter, in 7 calls", "137; without noise 0", "two threads wait for each other",
                                                          "yield 1,000 yields in main, in 7 calls", "139; without noise 0", "not known"])
        self.assertEqual(self.texts(".command-line"), ["strobe blow --from FILE --again 7", "strobe blow --from FILE --again 9"])
        self.assertEqual(self.page.js("document.querySelectorAll('#page img, #page script').length"), 0)

    def test_stacks(self):
        """Each thread's stack can be opened and closed; the first one is open."""
        self.open("faults", self.page_of("faults", blown.with_faults()))
        opened = "[...document.querySelectorAll('section:not([hidden]) .stack')].map(e => e.open)"
        self.assertEqual(self.texts(".stack summary"), [f"thread 11 ({results.EVIL}) waits for a lock of thread 12", "thread 12 waits for a lock of thread 11"])
        self.assertEqual(self.texts(".frames li"), ["pthread_mutex_lock libc.so.6+0x1234", "main libc.so.6+0xa"])
        self.assertEqual(self.texts(".stack p"), ["code that belongs to no file"])
        self.assertEqual(self.page.js(opened), [True, False])
        self.page.click("section:not([hidden]) .stack:nth-of-type(2) summary")
        self.page.click("section:not([hidden]) .stack summary")
        self.assertEqual(self.page.js(opened), [False, True])

    def test_choice(self):
        self.open("faults", self.page_of("many", blown.with_faults(60)))
        self.assertEqual((len(self.texts(".fault")), self.texts(".bar-of-tools button")), (50, ["Show all 62"]))
        self.page.js("(e => { e.value = 'deadlock'; e.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) select'))")
        self.assertEqual((self.texts(".fault h2"), self.status()), (["deadlock in experiment 7"], "1 fault: 1 deadlock"))
        self.page.key("/", "/")
        self.page.type("nothing")
        self.assertEqual(self.texts(".nothing"), ["No fault fits."])

    def test_no_faults(self):
        self.open("faults", self.page_of("slow", blown.slow_down()))
        self.assertNotIn("Faults", self.tabs())
        self.assertEqual(self.chosen(), "Summary")

    def test_widths(self):
        path = self.page_of("faults", blown.with_faults())
        for width in (1400, 800, 390):
            self.page.resize(width, 800)
            self.open("faults", path)
            self.assertEqual(self.page.js("document.documentElement.scrollWidth"), width)


class Links(Campaigns):
    """The address of a view has what was chosen in it, and leads to the same again."""

    def address(self):
        return self.page.js("location.hash")

    def type(self, text):
        self.page.key("/", "/")
        self.page.type(text)
        self.page.settle()

    def choose(self, label, value):
        self.page.js(f"(s => {{ s.value = {json.dumps(value)}; s.dispatchEvent(new Event('change')); }})([...document.querySelectorAll('section:not([hidden]) .choice')]"
                     f".find(e => e.textContent.startsWith({json.dumps(label)})).querySelector('select'))")
        self.page.settle()

    def again(self, path, wanted, shown):
        """Opens the address anew; shown() is the same as before."""
        before = shown()
        self.assertEqual(self.address(), wanted)
        self.open(wanted[1:], path)
        self.assertEqual((self.address(), shown()), (wanted, before))
        return before

    def test_experiments(self):
        path = self.page_of("many", blown.many(60))
        self.open("blow", path)
        self.page.click("section:not([hidden]) .grid-header .cell:nth-child(2) button")
        self.page.click("section:not([hidden]) .bar-of-tools button")
        self.type("f05")
        rows = self.again(path, "#blow?sort=Function&all=yes&search=f05", self.rows)
        self.assertEqual([row[1] for row in rows], [f"f05{n}" for n in range(0, 10)])
        path = self.page_of("causal", blown.causal())
        self.open("blow", path)
        self.choose("Progress", "end of the run")
        rows = self.again(path, "#blow?progress=end+of+the+run", self.rows)
        self.assertEqual(rows[0][2], "6.0 (5.0 to 7.0)")

    def test_causal_profiles(self):
        path = self.page_of("many", blown.many(60))
        self.open("causal", path)
        self.choose("Lines", "20")
        self.page.js("(e => { e.value = '1000000'; e.dispatchEvent(new Event('input')); })(document.querySelector('section:not([hidden]) input[type=number]'))")
        self.type("f0")
        status = self.again(path, "#causal?lines=20&cut=1000000&search=f0", self.status)
        self.assertEqual(status, "20 of 60 lines")

    def test_threads_and_faults(self):
        path = self.page_of("many", blown.many(60))
        self.open("matrix", path)
        if self.page.js("document.querySelector('section:not([hidden]) [data-search]') !== null"):
            self.type("f01")
            self.again(path, "#matrix?search=f01", self.status)
        path = self.page_of("faults", blown.with_faults(60))
        self.open("faults", path)
        kind = self.page.js("document.querySelector('section:not([hidden]) select').options[1].value")
        self.choose("Kind", kind)
        self.page.js("document.querySelector('section:not([hidden]) .bar-of-tools button').click()")
        self.page.settle()
        self.again(path, f"#faults?kind={kind.replace(' ', '+')}&all=yes", self.status)


class Measured(Campaigns):
    """The page of a profile has what strobe blow prints of it."""

    def setUp(self):
        super().setUp()
        if hasattr(Measured, "json"):
            return
        self.strobe("blow", "-q", "-F", "quarter,other_half", "--noise", "busy", "--iterations", "3", "--baseline-runs", "3", "--timeout", "0", "-o", "r.db", "--", PLANTED, "serial")
        Measured.json = json.loads(self.strobe("blow", "--from", "r.db", "--format", "json"))
        Measured.html, done = report(self.place.name, "r.html", os.path.join(self.place.name, "r.db"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def strobe(self, *arguments):
        return subprocess.run([STROBE, *arguments], cwd=self.place.name, capture_output=True, text=True, timeout=300, check=True).stdout

    def test_data(self):
        entry = data_of(self.html)["results"][0]
        self.assertEqual({key: value for key, value in self.json.items() if key not in ("experiments", "timeline", "run", "notes")}, entry["blow"])
        self.assertEqual(entry.get("timeline"), self.json["timeline"])

    def test_table(self):
        self.open("blow", self.html)
        rows = self.rows()
        self.assertEqual([row[1] for row in rows], [row["function"] for row in self.json["targets"]])
        self.assertEqual([row[4:6] for row in rows], [[f"{row['fitness']:.5f}", str(row["experiments"])] for row in self.json["targets"]])
        # The threads are those of --threads.
        self.open("matrix", self.html)
        self.assertEqual(self.page.js("[...document.querySelectorAll('section:not([hidden]) .matrix tbody tr')].map(r => [...r.children].map(c => c.textContent))"),
                         [[row["function"], *(f"{each['calls']:.0f}" for each in row["threads"])] for row in self.json["targets"]])
        # The picture has the points of strobe plot causal.
        self.open("causal", self.html)
        hints = sorted(re.findall(r"<circle [^>]*><title>([^<]*)</title>", self.strobe("plot", "causal", "r.db", "-o", "-")))
        drawn = sorted(f"{line['function']}: {x:.4g}, {y:.4g}" for line in self.json["curves"][0]["lines"] for x, y in line["points"])
        self.assertEqual((hints, len(self.texts("circle.experiment"))), (drawn, len(drawn)))
        # The page of the file of JSON is the same.
        write(self.place.name, "r.json", self.json)
        path, done = report(self.place.name, "rj.html", os.path.join(self.place.name, "r.json"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.open("blow", path)
        self.assertEqual(self.rows(), rows)
        self.assertIn("Timeline", self.tabs())

    def test_two_campaigns(self):
        """The page compares as strobe blow --compare does, and says why campaigns of different modes cannot be compared."""
        options = ("-F", "quarter,other_half", "--noise", "busy", "--iterations", "2", "--baseline-runs", "3", "--timeout", "0", "--timeline", "none")
        self.strobe("blow", "-q", *options, "-o", "s.db", "--", PLANTED, "serial")
        self.strobe("blow", "-q", "-m", "causal", "-F", "main_part", "--iterations", "1", "--baseline-runs", "3", "--timeout", "0", "--timeline", "none", "-o", "c.db", "--", PLANTED, "compute")
        path, done = report(self.place.name, "two.html", *(os.path.join(self.place.name, name) for name in ("r.db", "s.db", "c.db")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        wanted = json.loads(self.strobe("blow", "--from", "r.db", "--compare", "s.db", "--format", "json"))
        pairs = data_of(path)["campaigns"]
        self.assertEqual([(pair["a"], pair["b"]) for pair in pairs], [(0, 1), (0, 2), (1, 2)])
        self.assertEqual({key: value for key, value in pairs[0].items() if key not in "ab"}, wanted)
        self.assertEqual(set(pairs[1]), {"a", "b", "missing"})
        self.open("campaigns", path)
        text = self.strobe("blow", "--from", "r.db", "--compare", "s.db")
        self.assertEqual(self.texts(".totals")[0].split("\n")[0].replace("−", "-"), text.split("\n")[1])
        self.assertEqual([row[0] for row in self.rows()], [row["function"] for row in wanted["functions"]])
        for row, function in zip(self.rows(), wanted["functions"]):
            self.assertEqual([row[1], row[3], row[5]], [f"{function['a']['rank']:.1f}", f"{function['b']['rank']:.1f}", "yes" if function["differ"] else "–"])
        self.page.js("(e => { e.value = '1'; e.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) select'))")
        self.assertIn("cannot be compared: --compare needs two campaigns of the same mode: the modes are slow-down and causal", self.texts(".nothing")[0])
        for width in (1400, 800, 390):
            self.page.resize(width, 800)
            self.open("campaigns", path)
            self.assertEqual(self.page.js("document.documentElement.scrollWidth"), width)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
