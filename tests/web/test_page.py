#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a browser: test_page.py STROBE [-k NAME]. STROBE_SCREENSHOTS=DIRECTORY keeps a picture of every view."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402
import results  # noqa: E402

STROBE = os.path.abspath(sys.argv.pop(1))
SCREENSHOTS = os.environ.get("STROBE_SCREENSHOTS")


def write(place, name, result):
    path = os.path.join(place, name)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f)
    return path


def report(place, name, *inputs):
    out = os.path.join(place, name)
    done = subprocess.run([STROBE, "report", "-o", out, *inputs], capture_output=True, text=True, timeout=120)
    done.stderr = done.stderr.removesuffix(f"strobe: wrote {out}: open it in a browser\n")
    return out, done


class Pages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="strobe-page-")
        files = [write(cls.place.name, f"{name}.json", result) for name, result in (
            ("hot", results.hot()), ("slower", results.hot(scale=3, rows=5)), ("paths", results.paths()), ("longer", results.paths(scale=4)))]
        loops = write(cls.place.name, "loops.json", results.loops())
        cls.loops, done = report(cls.place.name, "loops.html", loops)
        assert done.returncode == 0, done.stderr
        cls.all, done = report(cls.place.name, "all.html", *files)
        assert done.returncode == 0, done.stderr
        cls.calls, done = report(cls.place.name, "calls.html", *files[2:])
        assert done.returncode == 0, done.stderr
        cls.sampled, done = report(cls.place.name, "sampled.html", write(cls.place.name, "sampled.json", results.sampled()))
        assert done.returncode == 0, done.stderr
        cls.study, done = report(cls.place.name, "study.html", write(cls.place.name, "study.json", results.study()))
        assert done.returncode == 0, done.stderr
        cls.page = chromium.Page()

    @classmethod
    def tearDownClass(cls):
        cls.page.__exit__()
        cls.place.cleanup()

    def setUp(self):
        self.page.problems.clear()
        self.page.resize(1280, 800)
        self.page.scheme("light")

    def tearDown(self):
        self.assertEqual(self.page.problems, [])

    def open(self, view="", path=None):
        self.page.call("Page.navigate", url="about:blank")
        self.page.open(path or self.all, view)
        self.page.until("document.querySelector('.tab[aria-selected=true]') !== null")
        self.page.settle()
        if SCREENSHOTS:
            self.page.screenshot(os.path.join(SCREENSHOTS, f"{self.id().rsplit('.', 1)[-1]}.png"))

    def go(self, view):
        """To a view of the page that is open."""
        self.page.js(f"location.hash = {json.dumps(view)}")
        self.page.settle()

    def texts(self, selector):
        return self.page.js(f"[...document.querySelectorAll('section:not([hidden]) {selector}')].map(e => e.textContent)")

    def rows(self):
        """The rows in sight, each a list of texts."""
        return self.page.js("[...document.querySelectorAll('section:not([hidden]) .grid-body .grid-row')]"
                            ".map(r => [...r.children].map(c => c.textContent))")

    def chosen(self):
        return self.page.js("document.querySelector('.tab[aria-selected=true]').textContent")

    def status(self):
        return self.texts(".status")[0]


class Whole(Pages):
    def test_tabs(self):
        self.open()
        tabs = ["Summary", "Functions", "Lines", "Flame graph", "Source", "Tables", "Time", "Differences"]
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), tabs)
        for n, tab in enumerate(tabs):
            self.page.click(f".tab:nth-child({n + 1})")
            self.assertEqual(self.chosen(), tab)
            self.assertEqual(self.page.js("document.querySelectorAll('main > section:not([hidden])').length"), 1)
        self.page.key("1")
        self.assertEqual(self.chosen(), "Summary")
        self.page.js("history.back()")
        self.page.until("document.querySelector('.tab[aria-selected=true]').textContent === 'Differences'")

    def test_names_are_text(self):
        self.open("summary")
        self.assertEqual(self.texts(".notes li"), [f"A note with {results.EVIL}"])
        self.assertEqual(self.page.js("document.title"), "Summary · hot.json · Strobe")
        self.assertEqual(self.page.js("document.querySelectorAll('#page img, #page script').length"), 0)
        self.open("contexts", self.calls)
        self.assertIn(results.EVIL, [row[0].lstrip("▸▾") for row in self.rows()])
        self.assertEqual(self.page.js("document.querySelectorAll('#page img, #page script').length"), 0)

    def test_the_policy_forbids_what_is_not_the_page(self):
        self.open()
        self.page.js("window.refused = []; addEventListener('securitypolicyviolation', e => refused.push(e.effectiveDirective)); 0")
        self.page.js("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.caught = 1'}))")
        self.page.js("document.body.append(Object.assign(document.createElement('img'), {src: 'http://127.0.0.1:9/x'}))")
        self.page.js("fetch('http://127.0.0.1:9/x').catch(() => 0)")
        self.page.until("refused.length === 3")
        self.assertEqual(self.page.js("[refused.sort(), window.caught ?? null]"), [["connect-src", "img-src", "script-src-elem"], None])
        self.page.settle()
        self.page.problems.clear()  # the browser told of each

    def test_light_and_dark(self):
        back = "getComputedStyle(document.body).backgroundColor"
        self.open()
        light = self.page.js(back)
        self.page.scheme("dark")
        self.page.until(f"{back} !== '{light}'")
        dark = self.page.js(back)
        self.page.key("t")
        self.page.until(f"{back} === '{light}'")
        self.page.click("header button[aria-label='Light or dark']")
        self.page.until(f"{back} === '{dark}'")
        self.page.js("localStorage.clear()")

    def test_help(self):
        self.open()
        self.page.key("?", "?")
        self.assertTrue(self.page.js("document.querySelector('dialog').open"))
        self.assertIn("Apache License", self.page.js("document.querySelector('dialog pre').textContent"))
        self.page.click("dialog form button")
        self.assertFalse(self.page.js("document.querySelector('dialog').open"))

    def test_no_view_is_wider_than_its_window(self):
        self.page.resize(1000, 700)
        self.open()
        for view in "summary", "functions", "lines", "flame", "source", "tables", "time", "diff", "diff/flame", "diff/tree":
            self.go(view)
            self.assertLessEqual(self.page.js("document.documentElement.scrollWidth"), 1000, view)
            self.assertLessEqual(self.page.js("document.documentElement.scrollHeight"), 700, view)

    def test_values_of_the_summary_fit_into_their_cards(self):
        for width in 390, 1000, 1280, 1300:
            self.page.resize(width, 900)
            self.open("summary")
            self.assertEqual(self.page.js("[...document.querySelectorAll('.card-value')].filter((value) => value.scrollWidth > value.clientWidth).map((value) => value.textContent)"), [], width)

    def test_everything_that_is_pressed_has_a_name(self):
        self.open()
        for view in "summary", "functions", "lines", "flame", "source", "tables", "time", "diff":
            self.go(view)
            unnamed = self.page.js("""[...document.querySelectorAll('button, a, select, input, [tabindex="0"]')]
                .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).map(e => e.outerHTML)""")
            self.assertEqual(unnamed, [], view)

    def test_choice_of_the_result(self):
        self.open("functions")
        self.page.js("(s => { s.value = '1'; s.dispatchEvent(new Event('change')); })(document.querySelector('header select'))")
        self.page.settle()
        self.assertEqual([row[3] for row in self.rows()], ["turn", "spin", "memcpy"])
        self.assertEqual(self.chosen(), "Functions")
        self.page.js("(s => { s.value = '2'; s.dispatchEvent(new Event('change')); })(document.querySelector('header select'))")
        self.page.settle()
        self.assertEqual(self.chosen(), "Summary", "paths have no functions")


class Studies(Pages):
    def test_figures(self):
        self.open(path=self.study)
        self.assertEqual(self.page.js("[...document.querySelectorAll('.tab')].map(e => e.textContent)"), ["Study"])
        self.assertEqual(self.texts("h1"), ["gzip -9"])
        self.assertEqual(self.texts("h2")[1:], ["Slowdown factor, CPU time", "Slowdown factor, elapsed time", "Unique coverage", "Raw coverage"])
        self.assertEqual(self.page.js("document.querySelectorAll('svg g.box').length"), 4 * 4)
        self.assertEqual(self.page.js("[...document.querySelectorAll('svg g.box')].every(g => g.dataset.n === '3')"), True)
        self.assertIn("B 10 %, T 1 s: median 1.10", self.texts("svg g.box title")[0])
        self.page.js("window.saved = []; URL.createObjectURL = blob => { blob.text().then(t => saved.push(t)); return 'blob:x'; }; HTMLAnchorElement.prototype.click = () => 0; 0")
        self.page.click("section:not([hidden]) figure button")
        self.page.until("saved.length === 1")
        self.assertEqual(self.page.js("new DOMParser().parseFromString(saved[0], 'image/svg+xml').documentElement.querySelectorAll('g.box').length"), 4)


class Views(Pages):
    def test_summary(self):
        self.open("summary")
        self.assertEqual(self.texts("h1"), ["./example 'a b'"])
        cards = dict(zip(self.texts(".card-title"), self.texts(".card-value")))
        self.assertEqual(cards, {"Time": "2.50 s", "Slowdown": "1.10 to 1.50 ×", "Measured": "10.00 %", "Exit": "0", "Instructions": "1,000", "Samples": "8",
                                 "Functions": "3", "Threads": "2", "Budget": "10.00 %", "Metric kept": "66.67 %"})
        self.assertEqual(self.texts(".hottest a"), ["spin", "turn", "memcpy"])
        self.page.click("section:not([hidden]) .hottest a")
        self.assertEqual(self.chosen(), "Source")

    def test_lines(self):
        self.open("lines")
        self.assertEqual(self.rows(), [["50.00 %", "100", "500", "x.c:12", "spin", ""], ["10.00 %", "100", "100", "x.c:11", "spin", ""]])
        self.assertEqual(self.status(), "2 lines, together 60.00 % of the instructions")
        self.page.click("section:not([hidden]) .grid-body .grid-row")
        self.page.key("Enter", "\r")
        self.page.until("document.querySelector('.tab[aria-selected=true]').textContent === 'Source'")
        self.assertEqual(self.texts("h2.function"), ["spin"])

    def test_functions(self):
        self.open("functions")
        self.assertEqual(self.rows()[0], ["60.00 %", "600", "5", "spin", "example", "x.c:10"])
        self.page.click("section:not([hidden]) .grid-header .cell:nth-child(3) button")
        self.assertEqual([row[2] for row in self.rows()], ["90", "7", "5"])
        self.page.click("section:not([hidden]) .grid-header .cell:nth-child(3) button")
        self.assertEqual([row[2] for row in self.rows()], ["5", "7", "90"])
        self.page.key("/", "/")
        self.page.type("LIBC")
        self.assertEqual([row[3] for row in self.rows()], ["memcpy"])
        self.assertEqual(self.status(), "1 function, together 10.00 % of the instructions")
        self.page.key("Escape")
        self.assertEqual(len(self.rows()), 3)
        self.page.key("ArrowDown")
        self.page.key("ArrowDown")
        self.assertEqual(self.page.js("document.querySelector('section:not([hidden]) [aria-selected=true]').textContent").count("turn"), 1)
        self.page.key("Enter")
        self.assertEqual((self.chosen(), self.texts("h2.function")), ("Source", ["turn"]))

    def test_flame_graph(self):
        self.open("flame", self.calls)
        frames = "[...document.querySelectorAll('section:not([hidden]) g.frame')]"
        self.assertEqual(sorted(self.page.js(f"{frames}.map(g => g.getAttribute('name'))")),
                         sorted(["paths.json", "(root)", "main", "spin", "memcpy", "turn", "memcpy", "worker"]))
        width = f"{frames}.find(g => g.getAttribute('name') === 'spin').getBoundingClientRect().width"
        before = self.page.js(width)
        self.page.type("")
        self.page.key("/", "/")
        self.page.type("memcpy")
        self.assertEqual(self.status(), "68.81 % matches the search")
        self.assertEqual(self.page.js(f"{frames}.filter(g => g.querySelector('rect').getAttribute('fill') === 'var(--hit)').length"), 2)
        self.page.key("Escape")
        self.page.click("section:not([hidden]) g[name=spin]")
        self.assertGreater(self.page.js(width), before)
        self.assertTrue(self.texts(".flame-details")[0].startswith("spin90.0 µs, 82.57 % of allitself 20.0 µs20 callsexample"), self.texts(".flame-details"))
        self.page.js("[...document.querySelectorAll('section:not([hidden]) .plain')].find(b => b.textContent === 'Show all').click()")
        self.page.settle()
        self.assertAlmostEqual(self.page.js(width), before, delta=1)

    def test_flame_graph_from_the_callees_and_of_one_function(self):
        self.open("flame", self.calls)
        names = "[...document.querySelectorAll('section:not([hidden]) .flame-place:not([hidden]) g.frame')].map(g => g.getAttribute('name'))"
        form = "[...document.querySelectorAll('section:not([hidden]) .choice')].find(e => e.textContent.startsWith('Form')).querySelector('select')"
        self.page.js(f"(s => {{ s.value = 'inverted'; s.dispatchEvent(new Event('change')); }})({form})")
        self.page.settle()
        made = self.page.js(names)
        self.assertNotIn("(root)", made)
        self.assertGreaterEqual(made.count("main"), 3, "it calls all others")
        self.go("flame/spin")
        self.assertEqual(self.page.js(f"{form}.value"), "sandwich")
        self.assertEqual(sorted(self.page.js(names)), sorted(["all of spin", "spin", "main", "all of spin", "spin", "memcpy"]))

    def test_invalid_expressions_are_said(self):
        for view in "functions", "flame", "contexts":
            self.open(view, self.calls if view != "functions" else None)
            self.page.key("/", "/")
            self.page.type("/main(/")
            self.assertEqual(self.texts(".invalid"), ["no valid expression: Unterminated group"], view)
            self.assertEqual(self.page.js("document.querySelector('section:not([hidden]) [aria-invalid=true]') !== null"), True)
            self.page.key("Escape")
            self.assertEqual(self.texts(".invalid"), [], view)

    def test_flame_graph_by_keys(self):
        self.open("flame", self.calls)
        self.page.js("document.querySelector('section:not([hidden]) .flame').focus()")
        at = "document.querySelector('section:not([hidden]) g.at')?.getAttribute('name')"
        for key, name in ("ArrowDown", "(root)"), ("ArrowRight", "worker"), ("ArrowLeft", "(root)"), ("ArrowDown", "main"), \
                ("ArrowDown", "spin"), ("ArrowRight", "turn"), ("ArrowUp", "main"):
            self.page.key(key)
            self.assertEqual(self.page.js(at), name, key)
        width = "document.querySelector('section:not([hidden]) g[name=turn]').getBoundingClientRect().width"
        before = self.page.js(width)
        self.page.key("ArrowDown")
        self.page.key("ArrowRight")
        self.page.key("Enter")
        self.assertGreater(self.page.js(width), before)
        self.page.key("Escape")
        self.assertAlmostEqual(self.page.js(width), before, delta=1)

    def test_flame_graph_without_calls(self):
        self.open("flame")
        self.assertEqual(sorted(self.page.js("[...document.querySelectorAll('g.frame')].map(g => g.getAttribute('name'))")),
                         sorted(["./example 'a b'", "example", "x.c", "spin", "turn", "libc.so.6", "memcpy"]))
        self.assertTrue(self.status().startswith("No calls are known"))

    def test_contexts(self):
        self.open("contexts", self.calls)
        self.assertEqual([row[:3] for row in self.rows()[:3]], [["▸memcpy", "75", "66.96 %"], ["▸spin", "20", "17.86 %"], ["▸turn", "9", "8.04 %"]])
        self.page.js("document.querySelector('section:not([hidden]) .grid').focus()")
        for key in "ArrowDown", "ArrowRight":
            self.page.key(key)
        self.assertEqual([row[:3] for row in self.rows()[:3]], [["▾memcpy", "75", "66.96 %"], ["▸spin", "70", "62.50 %"], ["▸turn", "5", "4.46 %"]])
        for key in "ArrowDown", "Enter":
            self.page.key(key)
        self.assertEqual(self.rows()[2][:3], ["main", "70", "62.50 %"])
        self.assertEqual(self.page.js("document.querySelectorAll('section:not([hidden]) .grid-body .grid-row')[2].getAttribute('aria-level')"), "3")
        self.page.key("ArrowDown")
        self.page.key("ArrowLeft")
        self.page.key("ArrowLeft")
        self.assertEqual(self.rows()[1][0], "▸spin")
        self.page.key("/", "/")
        self.page.type("turn")
        self.assertEqual([row[0] for row in self.rows()], ["▾memcpy", "▸turn", "▸turn"])
        self.open("contexts/worker", self.calls)
        self.assertEqual([row[0] for row in self.rows()], ["worker"])

    def test_stacks_of_samples(self):
        self.open("contexts", self.sampled)
        heads = self.page.js("[...document.querySelectorAll('section:not([hidden]) [role=columnheader]')].map(e => e.textContent)")
        self.assertEqual(heads[:3], ["Function", "Samples", "Of the total"])
        self.assertEqual([row[:3] for row in self.rows()[:2]], [["▸spin", "6", "60.00 %"], ["▸memcpy", "3", "30.00 %"]])
        chooser = "[...document.querySelectorAll('section:not([hidden]) .choice')].find(e => e.textContent.startsWith('Show')).querySelector('select')"
        self.page.js(f"(s => {{ s.value = 'ksf'; s.dispatchEvent(new Event('change')); }})({chooser})")
        self.page.settle()
        # A function has what it called, too.
        self.assertEqual([row[:3] for row in self.rows()[:2]], [["▸main", "9", "90.00 %"], ["▸(unknown callers)", "1", "10.00 %"]])
        self.assertTrue(self.status().startswith("stacks of samples; 2 trees"))
        self.go("flame")
        frames = "[...document.querySelectorAll('section:not([hidden]) g.frame')].map(g => g.getAttribute('name'))"
        self.assertEqual(sorted(self.page.js(frames)), ["(unknown callers)", "main", "memcpy", "sampled.json", "spin", "turn"])
        self.assertTrue(self.status().startswith("Widths are numbers of samples."))

    def test_source(self):
        self.open("source/spin")
        self.assertEqual(self.texts("h2.function"), ["spin"])
        self.assertEqual(self.texts(".listing:nth-of-type(1) tbody tr .line"), ["11", "12"])
        self.assertEqual(self.texts(".inlined"), ["inlined from helper"])
        self.assertEqual(self.texts(".listing h3"), ["/src/x.c (its text is not in this page)", "2 basic blocks"])
        # The hottest basic block first.
        blocks = "[...document.querySelectorAll('section:not([hidden]) .listing:last-of-type tbody tr')].map(r => [...r.children].slice(2, 4).map(e => e.textContent))"
        self.assertEqual(self.page.js(blocks), [["450", "0x1008"], ["300", "0x1000"]])
        self.page.click("section:not([hidden]) .side .grid-row[aria-rowindex='4']")
        self.assertEqual(self.texts("h2.function"), ["memcpy"])
        self.assertEqual(self.texts(".nothing"), ["No source lines: the image has no line information. Install its debug symbols or compile with -g."])

    def with_more(self, page, **more):
        """A page whose first result has more than a file of JSON can say."""
        with open(page, encoding="utf-8") as f:
            head, rest = f.read().split('<script type="application/json" id="data">')
        data, tail = rest.split("</script>", 1)
        document = json.loads(data)
        document["results"][0].update(more)
        data = json.dumps(document).replace("<", "\\u003c")
        path = os.path.join(self.place.name, "texts.html")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'{head}<script type="application/json" id="data">{data}</script>{tail}')
        return path

    def test_loops(self):
        self.open("loops", self.loops)
        self.assertEqual(self.status(), "3 loops, 7,310 iterations")
        self.assertEqual([row[:5] + row[6:] for row in self.rows()],
                         [["7,000", "1", "7,000", "7,000", "7,000", "turn", "x.c:40", "example"],
                          ["300", "10", "1", "30.0", "60", "spin", "x.c:12", "example"], ["10", "2", "5", "5.0", "5", "spin", "x.c:11", "example"]])
        self.assertEqual(self.texts("h2.function"), ["turn+4"])
        self.assertEqual(self.texts(".listing .line"), ["40"])
        self.page.click("section:not([hidden]) .grid-row[aria-rowindex='3']")
        self.assertEqual(self.texts("h2.function"), ["spin+24"])
        self.assertEqual(self.texts(".listing .line"), ["11", "12"])
        self.assertEqual(self.texts(".chosen .heads"), ["↻ 10 entries of 1 to 60, mean 30.0 "])
        self.assertEqual(self.page.js("[...document.querySelectorAll('.chosen .classes i')].map(e => e.title)"),
                         ["1: 2", "2–3: 0", "4–7: 0", "8–15: 0", "16–31: 5", "32–63: 3"])
        self.page.key("/", "/")
        self.page.type("turn")
        self.assertEqual(self.status(), "1 loop, 7,000 iterations")

    def test_loops_on_source(self):
        lines = [{"file": "/src/x.c", "line": line, "function": "spin", "executions": n} for line, n in ((10, 2), (11, 10), (12, 300))]
        self.open("loops", self.with_more(self.loops, loop_lines=lines, sources={"/src/x.c": [[10, "spin(void)", "\tfor (;;)", "\t\twhile (x)", "\t\t\tx--;"]]}))
        self.page.click("section:not([hidden]) .grid-row[aria-rowindex='4']")
        self.assertEqual(self.texts(".listing tbody tr"), ["210spin(void)", "1011\tfor (;;)↻ 2 entries of 5, mean 5.0 ",
                                                          "30012\t\twhile (x)↻ 10 entries of 1 to 60, mean 30.0 ", "13\t\t\tx--;"])
        self.assertEqual(self.texts(".chosen .line"), ["11"])

    def test_source_with_texts_and_code(self):
        path = self.with_more(self.all, sources={"/src/x.c": [[10, "int", "\tspin(void)", "{ /* </b> */", "}"]]},
                              code={"/usr/bin/example": {"4096": ["xor eax, eax", "jz 0x1008 <spin+0x8>"]}})
        self.open("source/spin", path)
        self.assertEqual(self.texts(".listing:nth-of-type(1) tbody .text"), ["int", "\tspin(void)", "{ /* </b> */inlined from helper", "}"])
        self.assertEqual(self.texts(".assembly"), ["xor eax, eax\njz 0x1008 <spin+0x8>"])
        self.page.click("section:not([hidden]) details summary")
        self.assertFalse(self.page.js("document.querySelector('section:not([hidden]) details').open"))

    def test_branches_beside_source_and_code(self):
        branch = {"image": "/usr/bin/example", "function": "spin", "offset": 4110, "file": "/src/x.c", "line": 12, "taken": 1149, "not_taken": 1}
        other = {**branch, "function": "turn", "offset": 8192}
        path = self.with_more(self.all, branches=[branch, other], sources={"/src/x.c": [[10, "int", "\tspin(void)", "{", "}"]]},
                              code={"/usr/bin/example": {"4096": ["setz al", "cmovz eax, edi"], "4104": ["dec edi", "jnz 0x1008 <spin+0x8>"]}})
        self.open("source/spin", path)
        self.assertEqual(self.texts(".branch"), ["branch at 0x100e: taken 1,149 of 1,150 times"])
        self.assertEqual(self.texts(".listing:nth-of-type(1) tbody tr")[2:4], ["10050012{inlined from helper", "branch at 0x100e: taken 1,149 of 1,150 times"])
        self.assertEqual(self.texts("summary"), ["branch, taken 1,149 of 1,150 times", "branch"])
        self.assertEqual(self.texts(".assembly"), ["dec edi\njnz 0x1008 <spin+0x8>",
                                                   "setz al  ; a condition as a value, no branch: not counted\ncmovz eax, edi  ; a conditional move, no branch: not counted"])

    def test_tables(self):
        self.open("tables")
        self.assertEqual(self.status(), "20,000 rows")
        self.assertLess(len(self.rows()), 100, "only rows in sight are made")
        self.assertEqual(self.rows()[0], ["key 0", "20,000"])
        self.page.js("document.querySelector('section:not([hidden]) .grid').focus()")
        self.page.key("End")
        self.assertEqual(self.rows()[-1], ["key 19999", "1"])
        self.page.key("/", "/")
        self.page.type("key 1234")
        self.assertEqual(self.status(), "11 rows")
        self.open("tables/threads?sort=tid&search=7")
        self.assertEqual([row[1] for row in self.rows()], ["7", "8"])
        self.assertEqual(self.page.js("location.hash"), "#tables/threads?sort=tid&search=7")
        self.open("tables/threads")
        self.assertEqual(self.rows(), [["8", "7", "7", "0 s", "–", "example"], ["2", "8", "7", "500 ms", "1.50 s", "worker"]])

    def test_time(self):
        self.open("time")
        self.page.until("document.querySelector('section:not([hidden]) .plot canvas') !== null")
        drawn = self.page.js("(c => { const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return p.some((v, i) => i % 4 === 3 && v); })"
                             "(document.querySelector('.plot canvas'))")
        self.assertTrue(drawn)
        self.assertEqual(self.texts("h2"), ["cmd:x: at least 3, policy hold", "Quality of service in all runs", "Budget", "Threads"])
        self.assertEqual(self.texts(".runs li"), [f"{n}: {name}.json: kept in 66.67 % of 3 readings, median 4, quartiles 3 and 4.50" for n, name in ((1, "hot"), (2, "slower"))])
        self.assertEqual(self.page.js("document.querySelectorAll('section:not([hidden]) svg g.box').length"), 2)
        self.assertEqual(self.texts(".legend")[0].split(), "measured 10.00 % in the engine, not measured 0.00 % native 90.00 %".split())
        self.assertEqual(self.page.js("[...document.querySelectorAll('.band:not(.tall) span')].map(e => e.className)"), ["kept", "missed", "silent"])

    def test_links_of_differences(self):
        self.open("diff/functions?a=1&b=0&search=spin")
        self.assertEqual(self.rows(), [["+22.50 %", "37.50 %", "60.00 %", "0", "0", "spin", "example"]])
        self.open("diff?a=1&b=0&sort=Function")
        self.assertEqual([row[5] for row in self.rows()], ["memcpy", "spin", "turn"])
        self.page.click("section:not([hidden]) [role=columnheader]:nth-of-type(6) button")
        self.page.js("(e => { e.value = '0'; e.dispatchEvent(new Event('change')); })(document.querySelector('section:not([hidden]) select'))")
        self.assertEqual(self.page.js("location.hash"), "#diff?b=0&sort=-Function")
        self.open("diff/flame", self.calls)
        self.page.click("section:not([hidden]) g[name=turn]")
        self.page.until("location.hash.includes('zoom')")
        zoomed = self.page.js("location.hash")
        self.open(zoomed.removeprefix("#"), self.calls)
        self.page.until("document.querySelector('section:not([hidden]) g.frame') !== null")
        self.assertEqual(self.page.js("location.hash"), zoomed)
        self.open("diff/tree?search=spin", self.calls)
        self.assertEqual([row[0] for row in self.rows()][:2], ["▾(root)", "▾main"])

    def test_differences(self):
        self.open("diff")
        self.assertEqual([(row[0], row[5]) for row in self.rows()], [("+26.25 %", "turn"), ("−22.50 %", "spin"), ("−3.75 %", "memcpy")])
        self.assertEqual(self.rows()[0], ["+26.25 %", "30.00 %", "56.25 %", "+600", "0", "turn", "example"])
        self.open("diff/tree", self.calls)
        self.page.js("document.querySelector('section:not([hidden]) .grid').focus()")
        for key in "End", "ArrowRight":
            self.page.key(key)
        self.assertEqual([row[:4] for row in self.rows()], [["worker", "−0.73 %", "3.67 %", "2.94 %"],
                                                           ["▾(root)", "+0.73 %", "96.33 %", "97.06 %"], ["▾main", "+0.73 %", "96.33 %", "97.06 %"],
                                                           ["▸turn", "+17.30 %", "12.84 %", "30.15 %"], ["▸spin", "−16.39 %", "82.57 %", "66.18 %"]])
        self.open("diff/flame", self.calls)
        self.page.click("section:not([hidden]) g[name=turn]")
        self.assertEqual(self.texts(".flame-details"), ["turnA 12.84 %B 30.15 %+17.30 %"])


class Big(Pages):
    def test_deep_and_wide_trees(self):
        """As deep as the reader of JSON lets through, and with more nodes than are drawn."""
        tree = '{"name": "leaf", "count": 1, "children": []}'
        for n in range(900):
            tree = f'{{"name": "f{n % 7}", "count": {n * 1000000}, "time_ns": {n * 1000000000}, "children": [{tree}, {{"name": "leaf", "count": 1, "children": []}}]}}'
        wide = ", ".join(json.dumps(results.node(f"g{n}", n + 1)) for n in range(30000))
        big = os.path.join(self.place.name, "big.json")
        with open(big, "w", encoding="utf-8") as f:
            f.write(f'{{"strobe": {{"version": 1, "tool": "paths"}}, "k": 2, "threads": [{{"thread": 1, "ksf": [{tree}, {wide}], "kccf": [{tree}]}}]}}')
        path, done = report(self.place.name, "big.html", big)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.open("flame", path)
        self.assertRegex(self.status(), r"^ ?[\d,]+ small frames are in \(other\)\.$")
        self.assertGreater(self.page.js("document.querySelectorAll('g.frame').length"), 10)
        # The frame of all is as wide as all of them together: those that are not drawn are in (other).
        self.assertEqual(self.page.js("(root => root.value === root.data.children.reduce((sum, each) => sum + each.value, 0))"
                                      "(document.querySelector('section:not([hidden]) g.frame').__data__)"), True)
        self.assertGreater(self.page.js("[...document.querySelectorAll('g.frame')].filter(g => g.__data__.data.name === '(other)').length"), 0)
        self.open("contexts", path)
        self.assertEqual(len(self.rows()) > 2, True)


if __name__ == "__main__":
    chromium.require(STROBE)
    unittest.main()
