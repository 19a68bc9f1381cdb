#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches planted defects with strobe fuzz, and programs that have none.

usage: planted.py STROBE [--seconds N] [--runs N] [--only NAME]...

Each defect is searched for N seconds (default: 60) from a small seed. The table has its law, the token, and after which part of the
search the first interesting input was found. Each linear program is then searched N times (default: 4) with other random choices,
for a quarter of the time: nothing may be found."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstatic char text[1 << 21];\nstatic size_t n;\nstatic volatile long sink;\n"
MAIN = "int main(void) { n = fread(text, 1, sizeof text - 1, stdin); run(); return 0; }\n"

# Three expressions for std::regex_search: that of Table III, the one that trims blanks (Stack Overflow, 2016), and one for addresses of
# e-mail (regexlib 1757).
REGEX = """#include <iostream>
#include <regex>
#include <string>
int main() { std::string line; std::getline(std::cin, line, LAST); return std::regex_search(line, std::regex(EXPRESSION)) ? 0 : 1; }
"""


def regex(expression, last="'\\n'"):
    return REGEX.replace("EXPRESSION", f'R"x({expression})x"').replace("LAST", last)


# Table IV: the hash of strings in Java 1.1 takes every second letter of a word of 20.
WORDS = """
struct word { struct word *next; char *text; int n; } *table[12289];
static unsigned hash(const char *w) { HASH }
static void run(void) {
	for (char *w = strtok(text, " \\n"); w; w = strtok(NULL, " \\n")) {
		struct word **at = &table[hash(w) % 12289], *e = *at;
		while (e && strcmp(e->text, w)) e = e->next;
		if (!e) { e = calloc(1, sizeof *e); e->text = w; e->next = *at; *at = e; }
		e->n++;
	}
}
"""
JAVA = "unsigned h = 0; size_t n = strlen(w), skip = n / 8; if (n < 16) { while (*w) h = 37 * h + *w++; } else for (size_t i = 0; i < n; i += skip) h = 39 * h + w[i]; return h;"
DJB = "unsigned h = 5381; while (*w) h = 33 * h + *w++; return h;"


def words(n):
    """Words of 20 letters."""
    state, made = 7, []
    for _ in range(n):
        letters = []
        for _ in range(20):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            letters.append(chr(97 + (state >> 40) % 26))
        made.append("".join(letters))
    return "".join(" ".join(made[i:i + 10]) + "\n" for i in range(0, n, 10))


# name: (code, seed, further options). Code with a main function of its own is C++.
DEFECTS = {
    "expression of Table III": (regex("^(([a-z])+.)+[A-Z]([a-z])+$"), "myAwesomeClassName\n", ["-N", "38", "--hang", "1s"]),
    "expression for blanks": (regex("^\\s+|\\s+$", "'\\0'"), "int main(void)\n{\n\treturn 0; /* nothing */\n}\n", ["-N", "10000", "--hang", "5s"]),
    "expression for e-mail": (regex("^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$"), "spse1po@gmail.com\n",
                              ["-N", "36", "--hang", "1s"]),
    "tries all ways": ("""
static int rest(const char *t) { return !*t || (*t == 'a' && rest(t + 1)) || (t[0] == 'a' && t[1] == 'a' && rest(t + 2)); }
static void run(void) { text[strcspn(text, "\\n")] = 0; sink = rest(text); }
""", "aab\n", ["--hang", "1s"]),
    "hash table, Java 1.1": (WORDS.replace("HASH", JAVA), words(1000), []),
    "list without duplicates": ("""
struct word { struct word *next; char *text; } *head;
static void run(void) {
	for (char *w = strtok(text, " \\n"); w; w = strtok(NULL, " \\n")) {
		struct word **at = &head;
		while (*at && strcmp((*at)->text, w)) at = &(*at)->next;
		if (!*at) { *at = calloc(1, sizeof **at); (*at)->text = w; }
	}
}
""", "some words of a text\n", []),
    "list of numbers": ("""
struct number { struct number *next; long value; } *head;
static void run(void) {
	for (char *w = strtok(text, "[, ]\\n"); w; w = strtok(NULL, "[, ]\\n")) {
		struct number **at = &head;
		while (*at) at = &(*at)->next;
		*at = calloc(1, sizeof **at);
		(*at)->value = atol(w);
	}
}
""", "[1, 2, 3]\n", []),
    "parser, nested": ("""
static const char *group(const char *t, int depth) {
	for (int i = 0; i < depth; i++) sink++;
	while (*t && *t != ')') t = *t == '(' && depth < 20000 ? group(t + 1, depth + 1) : t + 1;
	return *t ? t + 1 : t;
}
static void run(void) { group(text, 0); }
""", "f(a, g(b), (c))\n", []),
    "parser, repeated": ("""
struct item { struct item *next; char c; } *items;
static void append(char c) { struct item **at = &items; while (*at) at = &(*at)->next; *at = calloc(1, sizeof **at); (*at)->c = c; }
static void run(void) { for (size_t i = 0; i < n; i++) if (text[i] == ';') append(';'); }
""", "a = 1; b = 2;\nc = 3;\n", []),
    "parser, long token": ("""
static char token[1 << 21];
static void run(void) { for (char *t = text; *t; t++) { if (*t == ' ' || *t == '\\n') *token = 0; else { size_t k = 0; while (token[k]) k++; token[k] = *t; token[k + 1] = 0; } } }
""", "some words of a text\n", []),
    "XML reader": ("""
static int used; static size_t names[1 << 16];
static void run(void) {
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '<') continue;
		int open = text[i + 1] != '/';
		for (int k = 0; k < used; k++) sink++;
		if (open && used < 1 << 16) names[used++] = i;
	}
}
""", "<a><b c='d'>text</b><e/></a>\n", []),
    "decompressor": ("""
static unsigned char out[1 << 22]; static size_t m;
static void run(void) {
	for (size_t i = 0; i < n; i++) {
		unsigned char c = text[i];
		if (c < 128) { if (m < sizeof out) out[m++] = c; continue; }
		for (size_t k = 0; k < m; k++) sink += out[k]; /* a window that is moved for each copy */
	}
}
""", "abc\x80abcd\x81ab\n", []),
}

# Insertion sort of at most 64 bytes, which the campaign begins with 64 zeros.
SORT = """
static void run(void) { for (size_t i = 1; i < n; i++) { char c = text[i]; size_t k = i; for (; k > 0 && text[k - 1] > c; k--) text[k] = text[k - 1]; text[k] = c; } }
"""

LINEAR = {
    "words": ("static void run(void) { int in = 0; for (size_t i = 0; i < n; i++) { int w = text[i] != ' ' && text[i] != '\\n'; sink += w && !in; in = w; } }", "some words of a text\n"),
    "brackets": ("static void run(void) { long d = 0; for (size_t i = 0; i < n; i++) { if (text[i] == '(') d++; if (text[i] == ')') d--; } sink = d; }", "f(a, g(b))\n"),
    "state machine": ("static void run(void) { int s = 0; for (size_t i = 0; i < n; i++) switch (s) { case 0: s = text[i] == '<'; break; case 1: s = text[i] == '\"' ? 2 : text[i] != '>'; break; "
                      "default: s = text[i] == '\"' ? 1 : 2; } sink = s; }", "<a b=\"c\">text</a>\n"),
    "hash table, DJB": (WORDS.replace("HASH", DJB), words(1000)),
    "radix sort": ("static void run(void) { long c[256] = {0}; for (size_t i = 0; i < n; i++) c[(unsigned char)text[i]]++; for (int i = 0; i < 256; i++) for (; c[i]; c[i]--) sink += i; }",
                   "a few bytes\n"),
}


def comparisons(data):
    """Of insertion sort, as the program above makes them and as they are counted for n bytes in reverse: n (n - 1) / 2."""
    signed = [byte - 256 if byte > 127 else byte for byte in data]
    return sum(sum(1 for k in range(i) if signed[k] > signed[i]) for i in range(len(signed)))


class Place:
    def __init__(self, strobe, folder):
        self.strobe, self.folder = strobe, folder

    def compile(self, code):
        plus = "int main()" in code
        source = self.folder / ("p.cc" if plus else "p.c")
        source.write_text(code if plus else HEAD + code + MAIN, encoding="utf-8")
        subprocess.run(["g++" if plus else "gcc", "-O1", "-w", "-o", self.folder / "p", source], check=True)

    def fuzz(self, seed, seconds, *words):
        (self.folder / "seed").write_bytes(seed.encode("latin-1"))
        out = self.folder / "out"
        subprocess.run(["rm", "-rf", out], check=True)
        began = time.monotonic()
        done = subprocess.run([self.strobe, "fuzz", "-q", "-s", self.folder / "seed", "-t", f"{seconds}s", "--judge", "120s", "--format", "json", "-o", out, *words, "--",
                               self.folder / "p"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"planted.py: {done.stderr.strip()}")
        rows = list(csv.DictReader((out / "log.csv").read_text(encoding="utf-8", errors="replace").splitlines()))
        return json.loads(done.stdout), rows, time.monotonic() - began


def law_of(finding):
    law = finding.get("law")
    if not law:
        return finding["kind"]
    if law.get("base") is not None:
        return f"exponential, {law['base']:.3f} for each repetition ({law['lo']:.3f} to {law['hi']:.3f})"
    return f"{law['form']} {law['exponent']:.2f} ({law['lo']:.2f} to {law['hi']:.2f})" if law.get("exponent") is not None else law["form"]


def defects(place, seconds, names):
    bad = 0
    print("| defect | found | law | function | token | search and judgement |\n|-|-|-|-|-|-:|")
    for name in names:
        code, seed, words = DEFECTS[name]
        place.compile(code)
        found, rows, took = place.fuzz(seed, seconds, *words)
        findings = [f for f in found["findings"] if f["kind"] != "fault" and (f.get("law") or {}).get("form") in ("power", "exponential")]
        first = f"after {float(next(iter(rows[0].values()))):.1f} s" if rows else "nothing"
        bad += not findings
        best = findings[0] if findings else {}
        short = str(best.get("function")).partition("<")[0][:40]
        print(f"| {name} | {first if findings else 'no'} | {law_of(best) if best else '-'} | {short} | `{str(best.get('token'))[:24]!r}` | {took:.0f} s |", flush=True)
    return bad


def sort_case(place, seconds):
    place.compile(SORT)
    place.fuzz("\0" * 64, seconds, "-N", "64")
    best = max((comparisons(path.read_bytes()) for path in (place.folder / "out/results").iterdir()), default=0)
    print(f"\ninsertion sort of 64 bytes: {best} moves of at most 2016", flush=True)
    return best < 2016


def linear(place, seconds, runs):
    wrong = 0
    for name, (code, seed) in LINEAR.items():
        place.compile(code)
        for run in range(runs):
            found, _, _ = place.fuzz(seed, seconds, "--seed", str(run + 1))
            wrong += len(found["findings"]) > 0
            if found["findings"]:
                print(f"false finding: {name}, --seed {run + 1}: {law_of(found['findings'][0])}", flush=True)
    print(f"linear programs: {wrong} of {runs * len(LINEAR)} runs with a finding")
    return wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("strobe", type=os.path.abspath)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--runs", type=int, default=4)
    arguments.add_argument("--only", action="append", choices=[*DEFECTS, "sort", "linear"])
    a = arguments.parse_args()
    wanted = a.only or [*DEFECTS, "sort", "linear"]
    with tempfile.TemporaryDirectory() as folder:
        place = Place(a.strobe, Path(folder))
        bad = defects(place, a.seconds, [name for name in DEFECTS if name in wanted])
        bad += "sort" in wanted and sort_case(place, a.seconds)
        bad += "linear" in wanted and linear(place, a.seconds / 4, a.runs)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
