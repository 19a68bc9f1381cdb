#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What strobe run and strobe show make of names: inlined functions, cold parts, generated code, debuginfod."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STROBE, SAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])


class Strobe(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="strobe-symbol-")
        self.addCleanup(self.place.cleanup)

    def strobe(self, *arguments, code=0, **more):
        done = subprocess.run([STROBE, *arguments], cwd=self.place.name, capture_output=True, text=True, timeout=120,
                              check=False, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def sample(self, name):
        return os.path.join(SAMPLES, name)

    def run_hot(self, *program, **more):
        """Runs it and returns the profile's functions by name."""
        self.strobe("run", "-q", "-o", "p.db", "--", *program, **more)
        return {f["name"]: f for f in self.show()["functions"]}

    def show(self, *parts):
        return json.loads(self.strobe("show", "--format", "json", *parts, "p.db").stdout)


class Inlined(Strobe):
    def chains(self, name):
        self.run_hot(self.sample(name))
        result = self.show("--lines", "--blocks")
        lines = {line["line"]: line["inlined"] for line in result["lines"] if line["function"] == "outermost"}
        blocks = [block["inlined"] for block in result["basic_blocks"] if block["function"] == "outermost"]
        return lines, blocks

    def test_json(self):
        for name in "inlined", "inlined_split", "inlined_split4":
            lines, blocks = self.chains(name)
            self.assertEqual((lines[18], lines[25], lines[42]), (["middle", "outer"], ["outer"], []), name)
            self.assertEqual(lines[10][0], "innermost", name)
            self.assertIn(["innermost", "middle", "outer"], blocks, name)
            self.assertIn([], blocks, name)

    def test_text(self):
        self.run_hot(self.sample("inlined"))
        text = self.strobe("show", "--func", "outermost", "p.db").stdout
        self.assertIn("; inlined.c:10 innermost, from inlined.c:18 middle, from inlined.c:25 outer, from inlined.c:42\n",
                      text)
        self.assertIn("; middle, inlined\n", text)
        self.assertIn("; not inlined\n", text)

    def test_without_debug_information(self):
        self.run_hot(self.sample("stripped"))
        own = [b for b in self.show("--blocks")["basic_blocks"] if b["image"] == self.sample("stripped")]
        self.assertTrue(own)
        self.assertEqual({b["inlined"] for b in own}, {None})


class Cold(Strobe):
    """The parts run 9 times (x of 31 to 39), once and three times."""

    def test_counts(self):
        for name in "cold", "cold_lto", "cold_dwarf":
            functions = self.run_hot(self.sample(name))
            self.assertFalse([f for f in functions if ".cold" in f], name)
            self.assertEqual(functions["global_part"]["calls"], 40, name)
            blocks = [b for b in self.show("--blocks")["basic_blocks"] if b["function"] == "global_part"]
            self.assertEqual(sum(b["instructions"] for b in blocks), functions["global_part"]["instructions"], name)
            self.assertEqual(sorted({b["executions"] for b in blocks}), [9, 31, 40], name)
        self.assertEqual(functions["seldom"]["calls"], 24)

    def test_lines(self):
        self.run_hot(self.sample("cold"))
        lines = {line["line"]: line for line in self.show("--lines")["lines"] if line["function"] == "global_part"}
        self.assertEqual((lines[16]["executions"], lines[17]["executions"]), (40, 9))

    def test_branches(self):
        """Of 40 calls 9 go the cold way: said below the line of the condition, and beside the instruction."""
        for name in "cold", "cold_lto", "cold_dwarf":
            self.strobe("run", "-q", "-t", "hot,branches", "-o", "p.db", "--", self.sample(name))
            text = self.strobe("show", "--func", "global_part", "p.db").stdout
            self.assertRegex(text, r"\n +40 +\w+:  j\w+ .*  ; taken 9 of 40 times\n", name)
        self.strobe("run", "-q", "-t", "hot,branches", "-o", "p.db", "--", self.sample("cold"))
        lines = self.strobe("show", "--func", "global_part", "p.db").stdout.splitlines()
        at = next(n for n, line in enumerate(lines) if "x > 30" in line)
        self.assertRegex(lines[at + 1], "^ {48}; branch at [0-9a-f]+: taken 9 of 40 times$")

    def test_branches_alone(self):
        self.strobe("run", "-q", "-t", "branches", "-o", "p.db", "--", self.sample("cold"))
        self.assertEqual(self.strobe("show", "--func", "global_part", "p.db", code=2).stderr,
                         "strobe: the profile holds no functions: it was made with 'branches'; use strobe run -t hot,branches\n")
        self.strobe("run", "-q", "-t", "hot", "-o", "p.db", "--", self.sample("cold"))
        self.assertNotIn("taken", self.strobe("show", "--func", "global_part", "p.db").stdout)

    def test_table_of_lines(self):
        """Each line with its share, and its text where the file is found."""
        made = self.run_hot(self.sample("cold"))["global_part"]
        rows = json.loads(self.strobe("show", "--table", "lines", "--format", "json", "p.db").stdout)["lines"]
        own = [row for row in rows if row["function"] == "global_part"]
        self.assertEqual({row["line"]: row["executions"] for row in own}[17], 9)
        self.assertEqual(sum(row["instructions"] for row in own), made["instructions"])
        self.assertAlmostEqual(sum(row["percent"] for row in own), 100 * made["self_share"])
        with open(own[0]["file"], encoding="utf-8") as f:
            texts = [line.strip() for line in f]
        self.assertEqual([row["text"] for row in own], [texts[row["line"] - 1] for row in own])
        text = self.strobe("show", "--table", "lines", "--where", "function=global_part", "-n", "1", "p.db").stdout
        self.assertTrue(text.splitlines()[3].endswith(f"  global_part  {own[0]['text']}"), text)

    def test_locals_of_one_name(self):
        self.run_hot(self.sample("cold"))
        blocks = self.show("--blocks")["basic_blocks"]
        functions = [f for f in self.show()["functions"] if f["name"] == "same_name"]
        self.assertEqual(sorted(f["calls"] for f in functions), [2, 2])
        self.assertEqual(sum(b["instructions"] for b in blocks if b["function"] == "same_name"),
                         sum(f["instructions"] for f in functions))

    def test_entries(self):
        """A function is entered at its beginning, not at its cold part; its code is both."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        self.strobe("build-tool", "-q", "-I", os.path.join(source, "include"),
                    os.path.join(source, "examples", "tools", "argument.c"))
        self.strobe("run", "-q", "-o", "p.db", "-t", "./argument.tool:function=global_part", "--", self.sample("cold"))
        self.assertEqual(sum(row["calls"] for row in self.show()["arguments"]), 40)
        self.strobe("run", "-q", "-o", "p.db", "-t", "inscount", "--funcs", "global_part", "--", self.sample("cold"))
        limited = self.show()["instructions"]
        self.assertEqual(limited, self.run_hot(self.sample("cold"))["global_part"]["instructions"])

    def test_text(self):
        self.run_hot(self.sample("cold"))
        text = self.strobe("show", "--func", "global_part", "p.db").stdout
        self.assertRegex(text, "bytes\n  cold part at offset 0x[0-9a-f]+, 50 bytes\n  self")
        self.assertRegex(text, r"\n +global_part.cold\n")
        self.assertRegex(text, r"9 +[0-9a-f]+:  call 0x[0-9a-f]+ <seldom>\n")


class Generated(Strobe):
    def setUp(self):
        super().setUp()
        self.made = set(os.listdir("/tmp"))

    def tearDown(self):
        for name in set(os.listdir("/tmp")) - self.made:
            if name.startswith("perf-") and name.endswith(".map"):
                os.unlink(os.path.join("/tmp", name))

    def calls(self):
        return {f["name"]: f["calls"] for f in self.show()["functions"] if f["image"] == "[anon]"}

    def test_names(self):
        self.run_hot(self.sample("jit"))
        self.assertEqual(self.calls(), {"whole_page": 3, "second": 5, "JS:~third name file.js:3:4": 7})
        image = next(i for i in self.show("--images")["images"] if i["path"] == "[anon]")
        self.assertEqual((image["symbols"], image["build_id"]), ("symbols", None))
        text = self.strobe("show", "--func", "second", "p.db").stdout
        self.assertIn("no disassembly: generated code is gone with the program", text)

    def test_child_goes_on_with_the_names(self):
        self.strobe("run", "-q", "-f", "-o", "p.db", "--", self.sample("jit"), "fork")
        functions = [(f["name"], f["calls"]) for f in self.show()["functions"] if f["image"] == "[anon]"]
        self.assertEqual(sorted(functions), [("JS:~third name file.js:3:4", 7), ("second", 5), ("second", 11),
                                             ("whole_page", 3)])

    def test_child_that_executes_has_other_code(self):
        """Its own name and its code's place are the parent's."""
        self.strobe("run", "-q", "-f", "-o", "p.db", "--", self.sample("jit"), "again")
        calls = self.calls()
        calls.pop("[generated code]")
        self.assertEqual(calls, {"whole_page": 3, "second": 5, "JS:~third name file.js:3:4": 7})

    def test_tmp_of_its_own(self):
        """It is gone at the end."""
        if os.path.realpath(self.sample("jit")).startswith("/tmp/"):
            self.skipTest("the build is in /tmp, which the program cannot see then")
        command = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /tmp && exec {self.sample('jit')}"]
        if subprocess.run([*command[:-1], "mount -t tmpfs none /tmp"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces here")
        self.strobe("run", "-q", "-f", "-o", "p.db", "--", *command)
        self.assertEqual(self.calls(), {"whole_page": 3, "second": 5, "JS:~third name file.js:3:4": 7})

    def test_file_of_another_program(self):
        """Of a process that had the number before: a shell leaves a file and becomes the program."""
        script = f"echo '1000 ffffffffffff false' > /tmp/perf-$$.map; exec {self.sample('jit')} silent"
        self.strobe("run", "-q", "-f", "-o", "p.db", "--", "sh", "-c", script)
        self.assertEqual(list(self.calls()), ["[generated code]"])

    def test_node(self):
        node = shutil.which("node")
        if not node:
            self.skipTest("no node")
        script = "function spinning(n) { let s = 0; for (let i = 0; i < n; i++) s += i ^ s; return s }" \
                 "let t = 0; for (let i = 0; i < 3000; i++) t += spinning(10000); console.log(t)"
        with open(os.path.join(self.place.name, "spin.js"), "w", encoding="utf-8") as file:
            file.write(script)
        self.run_hot(node, "--perf-basic-prof", "spin.js")
        mine = [f for f in self.show()["functions"] if "spinning" in f["name"] and f["image"] == "[anon]"]
        self.assertGreater(sum(f["instructions"] for f in mine), 10_000_000)


class Server(ThreadingHTTPServer):
    """A debuginfod server on this machine, for one file."""

    def __init__(self, build_id, path):
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                known = self.path == f"/buildid/{build_id}/debuginfo"
                self.send_response(200 if known else 404)
                self.end_headers()
                if known:
                    with open(path, "rb") as file:
                        self.wfile.write(file.read())

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Debuginfod(Strobe):
    def setUp(self):
        super().setUp()
        notes = subprocess.run(["readelf", "-n", self.sample("byid")], capture_output=True, text=True, check=True).stdout
        self.build_id = notes.split("Build ID: ")[1].split()[0]

    def serve(self):
        server = Server(self.build_id, self.sample("full"))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.environment = dict(os.environ, STROBE_DEBUG_DIRECTORY="/nonexistent",
                                DEBUGINFOD_URLS=f"http://127.0.0.1:{server.server_address[1]}",
                                DEBUGINFOD_CACHE_PATH=os.path.join(self.place.name, "cache"))
        return server

    def hot(self, *options):
        done = self.strobe("run", "-o", "p.db", *options, "--", self.sample("byid"), env=self.environment)
        return done.stderr, [f for f in self.show()["functions"] if f["image"] == self.sample("byid")]

    def test_run_and_show(self):
        server = self.serve()
        functions = self.hot()[1]
        self.assertIsNone(next((f for f in functions if f["name"] == "local_twice"), None))
        self.assertEqual(server.asked, [])
        functions = self.hot("--debuginfod")[1]
        twice = next(f for f in functions if f["name"] == "local_twice")
        self.assertTrue(twice["file"].endswith(("plain.c", "other.c")))
        self.assertIn(f"/buildid/{self.build_id}/debuginfo", server.asked)
        text = self.strobe("show", "--debuginfod", "--func", "local_twice", "p.db", env=self.environment).stdout
        self.assertIn("; plain.c:", text)
        self.assertIn("inlined_square, from", text)
        server.asked.clear()
        text = self.strobe("show", "--func", "local_twice", "p.db", env=self.environment).stdout
        self.assertNotIn("; plain.c:", text)
        self.assertEqual(server.asked, [])

    def test_no_server_answers(self):
        self.serve()
        self.environment["DEBUGINFOD_URLS"] = "http://127.0.0.1:9"
        self.assertIn("note: debuginfod: strobe stopped asking the servers for debug files", self.hot("--debuginfod")[0])

    def test_no_servers(self):
        self.serve()
        del self.environment["DEBUGINFOD_URLS"]
        for arguments in ["run", "--debuginfod", "true"], ["show", "--debuginfod", "p.db"]:
            done = self.strobe(*arguments, code=125, env=self.environment)
            self.assertIn("--debuginfod: DEBUGINFOD_URLS names no server", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
