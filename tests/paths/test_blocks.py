#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""All functions and basic blocks of `strobe paths`: --functions, --blocks, --disasm, and blocks that have an entry in their middle, against
programs of which all is known, random ones, and gcov.

usage: test_blocks.py STROBE FOLDER (with programs/NAME-WAY)"""

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import forest
from reading import plain

STROBE = Path(sys.argv.pop(1)).resolve()
PROGRAMS = Path(sys.argv.pop(1)).resolve() / "programs"
HERE = Path(__file__).resolve().parent

# programs/entries.S: (count, bytes, instructions of one execution) of each block.
ENTRIES = {
    "f_loop+0": (1, 16, 15), "f_loop+16": (3, 16, 10), "f_loop+32": (2, 16, 16), "f_loop+48": (3, 16, 14), "f_loop+64": (1, 1, 1),
    "f_switch+0": (3, 10, 2), "f_switch+16": (1, 16, 16), "f_switch+32": (2, 16, 16), "f_switch+48": (3, 1, 1),
    "f_locks+0": (2, 16, 14), "f_locks+16": (1, 7, 1), "f_locks+17": (1, 6, 1), "f_locks+23": (2, 1, 1),
}
PINNED = {
    "f_loop+0": (1, 32, 25), "f_loop+16": (2, 16, 10), "f_loop+32": (2, 32, 30), "f_loop+48": (1, 16, 14), "f_loop+64": (1, 1, 1),
    "f_switch+0": (3, 10, 2), "f_switch+16": (1, 33, 33), "f_switch+32": (1, 17, 17), "f_switch+48": (1, 1, 1),
    "f_locks+0": (2, 16, 14), "f_locks+16": (1, 8, 2), "f_locks+17": (1, 7, 2),
}
FUNCTIONS = {"f_loop": 1, "f_switch": 3, "f_locks": 2}
MODES = [["--mode", mode, *k] for mode in ("intra", "inter") for k in (["-k", "0"], ["-k", "2"], ["--roll-loops"])]


class Paths(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="strobe-blocks-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.profile = self.place / "p.db"

    def strobe(self, *words, code=0):
        done = subprocess.run([STROBE, "paths", *words], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=self.place)
        self.assertEqual(done.returncode, code, done.stderr[-1000:])
        return done.stderr if code else done.stdout

    def run_program(self, program, *words):
        self.strobe("-q", "-o", self.profile, *words, "--", program)

    def show(self, *words):
        return json.loads(self.strobe("--from", self.profile, "--format", "json", *words))

    def lines(self, *words):
        return self.strobe("--from", self.profile, "--format", "text", *words).splitlines()


class Lists(Paths):
    def check(self, got, want, image):
        first = {}
        for block in got["all_blocks"]:
            function, _, inside = block["name"].partition("+")
            start = first.setdefault(function, block["offset"] - int(inside))
            self.assertEqual((block["function"], block["image"], block["offset"]), (function, str(image), start + int(inside)))
            self.assertEqual(block["instructions"] % block["count"], 0)
        self.assertEqual({block["name"]: (block["count"], block["bytes"], block["instructions"] // block["count"]) for block in got["all_blocks"]}, want)
        self.assertEqual([block["offset"] for block in got["all_blocks"]], sorted(block["offset"] for block in got["all_blocks"]))
        self.assertEqual(got["blocks"], len(want))
        self.assertEqual([function["offset"] for function in got["all_functions"]], [first[function["name"]] for function in got["all_functions"]])
        functions = {function["name"]: (function["count"], function["blocks"], function["instructions"]) for function in got["all_functions"]}
        for name, count in FUNCTIONS.items():
            own = [block for block_name, block in want.items() if block_name.startswith(name + "+")]
            self.assertEqual(functions.pop(name), (count, len(own), sum(count * insns for count, _, insns in own)))
        self.assertEqual(functions, {})

    def test_counts(self):
        program = PROGRAMS / "entries-lazy"
        for words in MODES:
            self.run_program(program, *words, "--funcs", "f_*")
            self.check(self.show("--functions", "--blocks"), ENTRIES, program)
            self.assertNotIn("all_functions", self.show("--blocks"))
            self.assertNotIn("all_blocks", self.show("--functions"))
            if "--roll-loops" in words:
                message = self.strobe("--from", self.profile, "--pin-blocks", code=125)
                self.assertIn("record them with --roll-loops --pin-blocks", message)
                self.run_program(program, *words, "--pin-blocks", "--funcs", "f_*")
                self.check(self.show("--functions", "--blocks"), ENTRIES, program)
            pinned = self.show("--functions", "--blocks", "--pin-blocks")
            self.check(pinned, PINNED, program)
            self.assertTrue(pinned["pinned"])

    def test_activations(self):
        """Of functions, where contexts are of functions."""
        for words in ["-k", "0"], ["-k", "2", "--instructions"], ["--unroll-recursion"], ["--roll-cycles"]:
            self.run_program(PROGRAMS / "prog1-O0", *words, "--funcs", "a,b,c,d,e,f")
            functions = self.show("--functions")["all_functions"]
            self.assertEqual({one["name"]: one["count"] for one in functions}, {"a": 4, "b": 4, "c": 9, "d": 2, "e": 2, "f": 1})
            self.assertEqual(["instructions" in one for one in functions], ["--instructions" in words] * 6)
            self.assertTrue(all(one["file"].endswith("prog1.c") for one in functions))

    def test_instructions(self):
        """What each function executed by itself is the sum over its contexts."""
        self.run_program(PROGRAMS / "prog1-O0", "-k", "2", "--instructions", "--join-threads")
        document, want = self.show("--functions", "--kccf", "--join-threads"), {}
        for node in document["threads"][0]["kccf"]:
            want[node["name"], node["offset"]] = node["count"], node["instructions"]
        self.assertEqual({(one["name"], one["offset"]): (one["count"], one["instructions"]) for one in document["all_functions"]}, want)

    def test_text(self):
        self.run_program(PROGRAMS / "blocks-lazy", "--mode", "intra", "--roll-loops", "--funcs", "foo,p")
        lines = self.lines("--functions", "--blocks", "--disasm")
        self.assertEqual(lines[1:4], ["Functions count: 2", "Basic blocks count: 10", "Maximum number of different threads: 1"])
        at = lines.index("All functions")
        self.assertRegex(lines[at + 2], r"^p\(\) addr: blocks-lazy\+0x[0-9a-f]+ counter: 5 blocks: 1 insns: 5 at .*blocks\.S:\d+$")
        self.assertEqual(lines[at + 3:at + 5], ["Disassembly:", "              +0  ret"])
        at = lines.index("All basic blocks")
        blocks = [line for line in lines[at:] if line.startswith("{")]
        self.assertEqual([re.sub(r" at \d+,\d+} addr: .* counter: (\d+) .*", r" \1", line) for line in blocks],
                         ["{p+0 5", "{foo+0 2", "{foo+5 1", "{foo+32 1", "{foo+48 3", "{foo+64 3", "{foo+68 1", "{foo+96 1", "{foo+112 1", "{foo+128 2"])

        def last_of(block):
            """The last instruction of a block, without the place."""
            begin = next(i for i in range(at, len(lines)) if lines[i].startswith("{" + block + " "))
            end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("{")), len(lines))
            return re.sub(r" +\+\d+  ", "", lines[end - 1])

        self.assertEqual(last_of("foo+48"), "call p")
        self.assertRegex(last_of("foo+32"), r"^jmp \{foo\+48 at \d+,0}$")
        self.assertRegex(last_of("foo+64"), r"^jnz \{foo\+48 at \d+,0}$")
        # The terminal has the same lists.
        self.assertIn("\n".join(lines[lines.index("All functions"):]), self.strobe("--from", self.profile, "--functions", "--blocks", "--disasm"))

    def test_code(self):
        """A function's code is all of it; addresses of functions and blocks have names, others are left."""
        self.run_program(PROGRAMS / "entries-lazy", "--mode", "inter", "--roll-loops", "--funcs", "f_*")
        document = self.show("--functions", "--blocks", "--disasm")
        functions = {one["name"]: one for one in document["all_functions"]}
        code = {insn["offset"] - functions["f_loop"]["offset"]: insn["text"] for insn in functions["f_loop"]["code"]}
        self.assertEqual((code[0], code[30], code[62], code[64]), ("mov ecx, edi", "jz f_loop+48", "jnz f_loop+16", "ret"))
        blocks = {one["name"]: [insn["text"] for insn in one["code"]] for one in document["all_blocks"]}
        self.assertEqual(blocks["f_locks+0"][-1], "jz f_locks+17")
        self.assertRegex(blocks["f_locks+16"][0], r"^lock inc \[0x[0-9a-f]+\]$")
        self.assertEqual(blocks["f_locks+23"], ["ret"])
        for block in document["all_blocks"]:
            self.assertEqual(len(block["code"]), ENTRIES[block["name"]][2])
        self.run_program(PROGRAMS / "blocks-lazy")
        [main] = [one for one in self.show("--functions", "--disasm")["all_functions"] if one["name"] == "main"]
        self.assertIn("call foo", [insn["text"] for insn in main["code"]])

    def test_part(self):
        """The part of a function that stands elsewhere."""
        self.run_program(PROGRAMS / "parts-lazy", "--mode", "intra", "--roll-loops", "--funcs", "f_hot")
        document = self.show("--functions", "--blocks", "--disasm")
        [hot] = document["all_functions"]
        self.assertEqual((hot["name"], hot["count"], hot["blocks"]), ("f_hot", 2, 3))
        code = {insn["offset"] - hot["offset"]: insn["text"] for insn in hot["code"]}
        self.assertEqual((code[0], code[14], code[16], code[-16], code[-15]), ("test edi, edi", "jnz f_hot-16", "ret", "nop", "jmp f_hot+16"))
        self.assertEqual({block["name"]: block["count"] for block in document["all_blocks"]}, {"f_hot-16": 1, "f_hot+0": 2, "f_hot+16": 2})
        lines = self.lines("--functions", "--disasm")
        self.assertEqual(lines[lines.index("                  f_hot.cold:") + 1], "              +0  nop")

    def test_gone(self):
        """Code that is not there any more."""
        program = self.place / "program"
        shutil.copy(PROGRAMS / "entries-lazy", program)
        self.run_program(program, "--mode", "intra", "-k", "2", "--funcs", "f_*")
        shutil.copy(PROGRAMS / "blocks-lazy", program)
        for why in (f"{program} is not the file that ran (its build-id differs)", None):
            document = self.show("--functions", "--blocks", "--disasm")
            for one in document["all_functions"] + document["all_blocks"]:
                self.assertNotIn("code", one)
                self.assertEqual(one["no_code"], why or one["no_code"])
            self.assertIn(str(program), document["all_blocks"][0]["no_code"])
            self.assertIn(f"Disassembly: none, {document['all_blocks'][0]['no_code']}", self.lines("--blocks", "--disasm"))
            self.assertEqual({block["name"]: block["count"] for block in document["all_blocks"]}, {name: one[0] for name, one in ENTRIES.items()})
            program.unlink(missing_ok=True)

    def test_mistakes(self):
        self.run_program(PROGRAMS / "prog1-O0", "-k", "0")
        for option in "--blocks", "--pin-blocks":
            message = self.strobe("--from", self.profile, option, code=125)
            self.assertEqual(message.count("\n"), 1)
            self.assertIn(f"{option} needs contexts of blocks, and {self.profile} has contexts of functions", message)


class Split(Paths):
    """Random programs: a table says where a function jumps next, and its places run into one another."""

    def build(self, seed):
        """The program, and the offsets in f that it executes."""
        chance = random.Random(seed)
        ends = [chance.random() < 0.4 for _ in range(12)] + [True]
        table = [chance.randrange(len(ends)) for _ in range(25)]
        text = ['#include "function.inc.S"', "FUNCTION f", ".Lnext: lea .Ltable(%rip), %rax", "mov (%rax,%rbx,8), %rax", "inc %rbx", "jmp *%rax"]
        for i, end in enumerate(ends):
            text += [f".org f+{16 * (i + 2)}, 0x90", f".L{i}: nop"] + ["jmp .Lnext"] * end
        text += [f".org f+{16 * (len(ends) + 2)}, 0x90", ".Lend: ret", "END f"]
        text += ["FUNCTION main", "push %rbx", "xor %ebx, %ebx", "call f", "pop %rbx", "xor %eax, %eax", "ret", "END main", ".data", ".balign 8"]
        text += [".Ltable: .quad " + ", ".join([f".L{i}" for i in table] + [".Lend"])]
        (self.place / "random.S").write_text("\n".join(text) + "\n")
        program = self.place / f"random-{seed}"
        subprocess.run(["gcc", "-I", HERE / "programs", "-o", program, self.place / "random.S"], check=True)
        entries, executed = set(table), []
        for i in table:
            executed.append(0)
            for at in range(i, len(ends)):
                if at == i or at in entries:
                    executed.append(16 * (at + 2))
                if ends[at]:
                    break
        return program, executed + [0, 16 * (len(ends) + 2)]

    def test_random(self):
        for seed in 1, 2:
            program, executed = self.build(seed)
            trace = "f( " + " ".join(f"+{offset}" for offset in executed) + " )"
            counts = {f"f+{offset}": executed.count(offset) for offset in executed}
            for mode in "intra", "inter":
                for k in "1", "4", "inf":
                    self.run_program(program, "--mode", mode, *(["--roll-loops"] if k == "inf" else ["-k", k]), "--funcs", "f")
                    document = self.show("--kccf", "--blocks")
                    self.assertEqual({block["name"]: block["count"] for block in document["all_blocks"]}, counts)
                    if k == "inf":
                        continue
                    thread = document["threads"][0]
                    got = thread["functions"][0] if mode == "intra" else thread
                    paths = forest.intra(trace, "none")["f"] if mode == "intra" else forest.inter(trace, "none")
                    _, want = forest.slabs_of_paths(paths, int(k))
                    self.assertEqual(plain(got["kccf"], f"{mode}, {k}, seed {seed}"), forest.plain(want))


class Rolled(Paths):
    """Random functions of nested loops as compilers write them without optimisation: entered by a jump to their test, which the body runs
    into. The program is a list of items, which is interpreted here."""

    SIZES = {"nop": 1, "ret": 1, "jump": 5, "set": 10, "skip": 22, "turn": 13}  # bytes of an item's code

    def loops(self, chance, items, depth):
        """Appends a random piece of code. An item is (what, target, slot or number)."""
        for _ in range(chance.randrange(1, 4)):
            kind = chance.randrange(4)
            if kind == 0 or depth == 3:
                items.append(("nop", None, None))
            elif kind == 1:
                at = len(items)
                items.append(None)
                self.loops(chance, items, depth + 1)
                items[at] = ("skip", len(items), chance.randrange(2, 4))
            else:
                slot = sum(item is not None and item[0] == "set" for item in items)
                items.append(("set", chance.randrange(0, 4), slot))
                at = len(items)
                items.append(None)
                self.loops(chance, items, depth + 1)
                items[at] = ("jump", len(items), None)
                items.append(("turn", at + 1, slot))

    def offset(self, items, i):
        return sum(self.SIZES[what] for what, _, _ in items[:i])

    def executed(self, items):
        """The offsets of the blocks, in the order of their execution."""
        targets = {target for what, target, _ in items if what in ("jump", "skip", "turn")}
        begins = {0} | targets | {i + 1 for i, item in enumerate(items) if item[0] in ("jump", "skip", "turn")}
        at, clock, slots, path = 0, 0, {}, []
        while True:
            if at in begins:
                path.append(self.offset(items, at))
            what, target, number = items[at]
            at += 1
            if what == "ret":
                return path
            if what == "set":
                slots[number] = target
            elif what == "jump":
                at = target
            elif what == "skip":
                clock += 1
                at = target if clock & number == 0 else at
            elif what == "turn":
                slots[number] -= 1
                at = target if slots[number] >= 0 else at

    def assemble(self, items):
        """An item's code; jumps are to labels .L0, .L1, ..."""
        code = {"nop": lambda target, n: ["nop"], "ret": lambda target, n: ["ret"], "jump": lambda target, n: [f"{{disp32}} jmp .L{target}"],
                "set": lambda target, n: [f"movl ${target}, slots+{4 * n}(%rip)"],
                "skip": lambda target, n: ["incl clock(%rip)", f"testl ${n}, clock(%rip)", f"{{disp32}} jz .L{target}"],
                "turn": lambda target, n: [f"subl $1, slots+{4 * n}(%rip)", f"{{disp32}} jns .L{target}"]}
        text = ['#include "function.inc.S"', "FUNCTION f"]
        for i, (what, target, number) in enumerate(items):
            text += [f".org f+{self.offset(items, i)}", f".L{i}:", *code[what](target, number)]
        text += ["END f", "FUNCTION main", "call f", "xor %eax, %eax", "ret", "END main", ".bss", "clock: .zero 4", "slots: .zero 4096"]
        (self.place / "rolled.S").write_text("\n".join(text) + "\n")
        subprocess.run(["gcc", "-I", HERE / "programs", "-o", self.place / "rolled", self.place / "rolled.S"], check=True)

    def test_random(self):
        contexts = 0
        for seed in range(12):
            items = []
            self.loops(random.Random(seed), items, 0)
            items.append(("ret", None, None))
            self.assemble(items)
            trace = "f( " + " ".join(f"+{offset}" for offset in self.executed(items)) + " )"
            for mode in "intra", "inter":
                self.run_program(self.place / "rolled", "--mode", mode, "--roll-loops", "--funcs", "f")
                thread = self.show()["threads"][0]
                got = thread["functions"][0] if mode == "intra" else thread
                paths = forest.intra(trace, "cycles")["f"] if mode == "intra" else forest.inter(trace, "cycles")
                want, _ = forest.slabs_of_paths(paths, forest.INFINITE)
                self.assertEqual(plain(got["ksf"], f"{mode}, seed {seed}"), forest.plain(want), f"{mode}, seed {seed}")
                contexts += trace.count("+")
        self.assertGreater(contexts, 400)  # the programs do something


class Gcov(Paths):
    """How often each line of a real program was executed."""

    def counted(self, *words):
        """By line of json.c: the executions of its most executed block."""
        source = HERE / "hooks" / "json.c"
        rows, counts = [], {}
        listing = subprocess.run(["objdump", "--dwarf=decodedline", self.place / "plain"], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            found = re.match(r"(\S+) +(\d+|-) +0x([0-9a-f]+)", line)
            if found:
                rows.append((int(found[3], 16), int(found[2]) if found[1] == source.name and found[2] != "-" else None))
        rows.sort(key=lambda row: row[0])
        for block in self.show("--blocks", *words)["all_blocks"]:
            for (begin, line), (end, _) in zip(rows, rows[1:]):
                if line and begin < end and begin < block["offset"] + block["bytes"] and end > block["offset"]:
                    counts[line] = max(counts.get(line, 0), block["count"])
        return {line: counts.get(line, 0) for _, line in rows if line}

    def test_lines(self):
        for tool in "gcov", "objdump":
            if not shutil.which(tool):
                self.skipTest(f"{tool} is not installed")
        source, stub = HERE / "hooks" / "json.c", self.place / "stub.c"
        stub.write_text("int write_events(const char *);\nint write_events(const char *file) { return !file; }\n")
        for name, more in ("plain", []), ("covered", ["--coverage"]):
            subprocess.run(["gcc", "-O0", "-g", *more, "-o", name, source, stub], check=True, cwd=self.place)
        subprocess.run([self.place / "covered", "none"], check=True, capture_output=True, cwd=self.place)
        done = subprocess.run(["gcov", "--json-format", "-t", "covered-json.gcda"], capture_output=True, check=True, cwd=self.place)
        want = {}
        for file in json.loads(done.stdout)["files"]:
            for line in file["lines"]:
                if Path(file["file"]).name == source.name:
                    want[line["line_number"]] = want.get(line["line_number"], 0) + line["count"]
        self.strobe("-q", "-o", self.profile, "--mode", "inter", "--roll-loops", "--images", "plain", "--", self.place / "plain", "none")
        got = self.counted()
        lines = set(want) & set(got)
        self.assertGreater(len(lines), 140)
        self.assertEqual({line: got[line] for line in lines}, {line: want[line] for line in lines})
        # So this says something: as they were executed, blocks count less.
        self.strobe("-q", "-o", self.profile, "--mode", "inter", "--roll-loops", "--pin-blocks", "--images", "plain", "--", self.place / "plain", "none")
        pinned = self.counted("--pin-blocks")
        self.assertNotEqual({line: pinned[line] for line in lines}, {line: want[line] for line in lines})


if __name__ == "__main__":
    unittest.main()
