#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of records that PHP has written: a kept log of examples/annotations/php/webdav.php, and new ones where there is PHP.

usage: test_php.py STROBE EXAMPLES

EXAMPLES is examples/annotations/php. The kept log is of 400 requests, recorded under other load."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

STROBE, EXAMPLES = (os.path.abspath(name) for name in sys.argv[1:3])
KEPT = Path(__file__).resolve().parent / "data" / "webdav.txt.gz"
PHP = shutil.which("php")
# Functions of all kinds; what each prints is the same with and without recording.
KINDS = r"""<?php
namespace N;
use function strlen;
interface Named { public function describe(int $a); }
abstract class Base implements Named {
    public function describe(int $a) { return $a; }
    abstract function f();
    public static function g($x) { return 1; }
}
final class Child extends Base {
    public function describe(int $a) { return parent::describe($a + 100) + 1; }
    function f() { return [static fn() => 1]; }
}
function f(string $s, ?array $list = null, float $x = 0.5) { if ($s === 'throw') throw new \Exception('x'); return strlen($s); }
function &ref(array &$a) { return $a; }
function g(&$a) { $a = 7; }
function fact(int $n): int { return $n ? $n * fact($n - 1) : 1; }
$c = new Child;
echo $c->describe(1), f('ab'), f(s: 'abc', x: 2.5), f('a,"b', [1, 2]), Base::g(1), fact(3), "\n";
try { f('throw'); } catch (\Exception $e) { echo "caught\n"; }
g($z); echo $z, "\n";
exit(3);
"""


def has_php():
    """Needs PHP 8 with its tokenizer."""
    return PHP and subprocess.run([PHP, "-r", "exit(class_exists('PhpToken') ? 0 : 1);"], capture_output=True, timeout=60, check=False).returncode == 0


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strobe-php-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def annotations(self, file):
        done = subprocess.run([STROBE, "annotate", "--format", "json", file], cwd=self.at, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {(a["function"], a["metric"]): a for a in json.loads(done.stdout)["annotations"]}

    def check_memory(self, found):
        """The answer to a request has an object for each file: memory without any noise."""
        a = found["generateMultiStatus", "memory"]
        model, = a["models"]
        self.assertEqual((a["unit"], [(f["name"], f["path"]) for f in a["features"]]), ("bytes", [("files_count", "count($files)")]))
        self.assertEqual((model["class"], model["sd"], model["r2"], model["condition"]), ("linear", "0", 1.0, None))
        model, = found["Hooks::emit_file_hooks_pre", "memory"]["models"]
        self.assertEqual((model["class"], model["mean"], model["sd"]), ("constant", "0", "0"))


class Kept(Folder):
    def setUp(self):
        super().setUp()
        (self.at / "webdav.txt").write_bytes(gzip.decompress(KEPT.read_bytes()))
        self.found = self.annotations("webdav.txt")

    def test_memory_is_linear_without_noise(self):
        self.check_memory(self.found)
        self.assertEqual(self.found["generateMultiStatus", "memory"]["models"][0]["mean"], "80 * files_count")

    def test_time_is_quadratic(self):
        a = self.found["generateMultiStatus", "time"]
        model, = a["models"]
        self.assertEqual(([f["name"] for f in a["features"]], model["class"], model["condition"]), (["files_count"], "quadratic", None))
        self.assertIn("files_count^2", model["mean"])
        self.assertGreater(model["r2_cv"], 0.98)

    def test_hooks_have_modes_that_no_feature_explains(self):
        # The hooks work 40, 400 or 1,600 rounds for 5, 2 and 1 of 8 requests, whatever the path is.
        a = self.found["Hooks::emit_file_hooks_pre", "time"]
        self.assertEqual((a["records"], a["features"], {m["condition"] for m in a["models"]}), (400, [], {None}))
        for model, share in zip(sorted(a["models"], key=lambda m: -m["probability"]), [5 / 8, 2 / 8, 1 / 8], strict=True):
            self.assertAlmostEqual(model["probability"], share, delta=0.01)
            self.assertEqual(model["class"], "constant")


@unittest.skipUnless(has_php(), "there is no php of version 8 with its tokenizer (packages php-cli and php-common)")
class Hook(Folder):
    def php(self, *words, code=0):
        done = subprocess.run([PHP, *map(str, words)], cwd=self.at, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_same_laws(self):
        done = self.php(f"{EXAMPLES}/record.php", "calls.txt", "generateMultiStatus,emit_file_hooks_pre", f"{EXAMPLES}/webdav.php", 60)
        self.assertEqual((done.stdout, done.stderr), ("60 requests\n", ""))
        self.check_memory(self.annotations("calls.txt"))

    def test_kinds_of_functions(self):
        (self.at / "kinds.php").write_text(KINDS, encoding="utf-8")
        done = self.php(f"{EXAMPLES}/record.php", "calls.txt", "describe,f,g,ref,fact", "kinds.php", code=3)
        self.assertEqual(done.stdout, self.php("kinds.php", code=3).stdout)
        names, rows = {}, {}
        for line in (self.at / "calls.txt").read_text(encoding="utf-8").splitlines():
            word, *rest = line.split(",")
            if word == "#function":
                names[rest[0]] = rest[1]
            elif not word.startswith("#"):
                rows.setdefault(names[word], []).append((int(rest[1]), *rest[2:]))
        # Calls that an exception ends, static methods and references are left out.
        self.assertEqual(rows, {"N\\Base::describe": [(0, "101")], "N\\Child::describe": [(0, "1")],
                                "N\\f": [(0, "2", "", ""), (0, "3", "2.5", ""), (0, "4", "", "2")],
                                "N\\fact": [(0, str(n)) for n in range(4)]})

    def test_usage(self):
        done = self.php(f"{EXAMPLES}/record.php", "calls.txt", code=2)
        self.assertEqual(done.stderr, "usage: php record.php OUTPUT FUNCTION[,FUNCTION...] SCRIPT [ARGUMENT...]\n")
        done = self.php(f"{EXAMPLES}/record.php", "calls.txt", "f", "none.php", code=2)
        self.assertEqual(done.stderr, "record.php: there is no script 'none.php'\n")

    def test_output(self):
        """OUTPUT is relative to the folder where PHP began, or absolute."""
        (self.at / "moves.php").write_text("<?php function f(int $n) { chdir('/'); }\nf(1);\n", encoding="utf-8")
        for output in "calls.txt", self.at / "absolute.txt":
            self.php(f"{EXAMPLES}/record.php", output, "f", "moves.php")
            self.assertIn("#function,1,f\n", (self.at / output).read_text(encoding="utf-8"))
        done = self.php(f"{EXAMPLES}/record.php", "none/calls.txt", "f", "moves.php", code=1)
        self.assertEqual(done.stderr, f"record.php: cannot write {self.at}/none/calls.txt: No such file or directory; choose another OUTPUT\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
