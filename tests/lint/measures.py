# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of the source: measures.py [--write | --check]. Prints a table of lines, longest files and longest functions by
folder, the ratio of test code to code, and circles of includes between folders. --write puts it into docs/architecture.md,
between its marks. --check says what is beyond the limits, and nothing else.

A file or function that is too long for a reason carries a comment `long: REASON`: a file in its first ten lines, a function
in the lines before it or in its first line."""
import argparse
import ast
import collections
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_FILE, MOST_FUNCTION = 800, 120  # lines
CODE = ("src", "include", "web")
OTHERS = ("bench", "examples")
C, SCRIPTS = (".c", ".h", ".S", ".cpp"), (".py", ".js", ".mjs", ".css")
PAGE, BEGIN, END = ROOT / "docs/architecture.md", "<!-- measures: begin -->", "<!-- measures: end -->"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([a-z][^">]*)/[^/">]+"', re.M)
RUNTIME = "rt/"

Function = collections.namedtuple("Function", "name line lines excused")


class Source:
    def __init__(self, path):
        self.path, self.name = path, str(path.relative_to(ROOT))
        self.text = path.read_text(errors="replace")
        self.all = self.text.split("\n")[:-1]
        self.lines = len(self.all)
        self.excused = any("long: " in line for line in self.all[:10])
        self.functions = list({".c": c_functions, ".cpp": c_functions, ".py": python_functions}.get(suffix(path), lambda _: [])(self.all))


def suffix(path):
    """Scripts without one are Python: check and the like are the shell's, and are none of these."""
    return path.suffix


def c_functions(lines):
    """As clang-format has them: the brace that opens a function's body stands alone at the line's beginning, and so does the one that closes it."""
    begin = None
    for number, line in enumerate(lines):
        if line == "{" and begin is None:
            begin = number
            while begin and lines[begin - 1] and lines[begin - 1][0] not in "}#/ *":
                begin -= 1
        elif line == "}" and begin is not None:
            head = " ".join(lines[begin:number])
            name = re.search(r"(\w+)\(", head)
            yield Function(name.group(1) if name else "?", begin + 1, number + 1 - begin, excused(lines, begin))
            begin = None


def python_functions(lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, node.end_lineno + 1 - node.lineno, excused(lines, node.lineno - 1))


def excused(lines, begin):
    return any("long: " in line for line in lines[max(0, begin - 4):begin + 1])


def sources(*roots, kinds=C + SCRIPTS):
    for root in roots:
        for folder, folders, names in os.walk(ROOT / root):
            folders[:] = sorted(f for f in folders if f not in ("node_modules", "__pycache__"))
            for name in sorted(names):
                path = Path(folder) / name
                if path.suffix in kinds or (not path.suffix and is_python(path)):
                    yield Source(path)


def is_python(path):
    with open(path, "rb") as file:
        return file.readline().startswith(b"#!") and b"python" in path.read_bytes()[:40]


def room(source):
    """The folder that a line of the table is about: those of src and of src/rt each, the others by their first part."""
    parts = Path(source.name).parent.parts
    if parts[0] == "src":
        return "/".join(parts[1:3] if parts[1:2] == ("rt",) else parts[1:2])
    return parts[0]


def table(files):
    by_room = collections.defaultdict(list)
    for source in files:
        by_room[room(source)].append(source)
    rows = ["| folder | files | lines | longest file | longest function |", "|-|-:|-:|-|-|"]
    for name, group in sorted(by_room.items()):
        longest = max(group, key=lambda s: s.lines)
        functions = [(f, s) for s in group for f in s.functions]
        function = max(functions, key=lambda pair: pair[0].lines)[0] if functions else None
        rows.append(f"| `{name}` | {len(group)} | {sum(s.lines for s in group)} | {longest.lines}, `{longest.path.name}` | "
                    + (f"{function.lines}, `{function.name}` |" if function else "- |"))
    return rows


def includes(files):
    """Folder by folder, the others that it includes: of src, and of src/rt."""
    graph = collections.defaultdict(set)
    rooms = {room(source) for source in files}
    for source in files:
        here = room(source)
        for target in INCLUDE.findall(source.text):
            there = "/".join(target.split("/")[:2] if target.startswith("rt/") else target.split("/")[:1])
            if there in rooms and there != here:
                graph[here].add(there)
    return graph


def circles(graph):
    """Strongly connected folders, more than one of them: each can be reached from each."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for there in graph.get(todo.pop(), ()):
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
        return seen

    reached = {name: reach(name) for name in graph}
    found = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in graph if name in reached[name]}
    return sorted(sorted(circle) for circle in found)


def all_circles(files):
    """Between the folders of src, where rt is one; and between those of rt."""
    whole = collections.defaultdict(set)
    graph = includes(files)
    for here, there in graph.items():
        whole[here.split("/")[0]] |= {name.split("/")[0] for name in there} - {here.split("/")[0]}
    inside = {here: {name for name in there if name.startswith(RUNTIME)} for here, there in graph.items() if here.startswith(RUNTIME)}
    return circles(whole), circles(inside)


def too_long(files):
    for source in files:
        if source.lines > MOST_FILE and not source.excused:
            yield f"{source.name}: {source.lines} lines; {MOST_FILE} are the most"
        for function in source.functions:
            if function.lines > MOST_FUNCTION and not function.excused:
                yield f"{source.name}:{function.line}: {function.name} has {function.lines} lines; {MOST_FUNCTION} are the most"


def measures():
    code, tests = list(sources(*CODE)), list(sources("tests"))
    lines, tested = sum(s.lines for s in code), sum(s.lines for s in tests)
    between, inside = all_circles([s for s in code if s.name.startswith("src/")])
    known = "; ".join(" ".join(f"`{name}`" for name in circle) for circle in inside) or "none"
    return [*table(code), "",
            f"Tests have {tested} lines for {lines} of code: {tested / lines:.2f}. Circles of includes between folders of `src`: "
            f"{'; '.join(' '.join(circle) for circle in between) or 'none'}; between folders of `src/rt`: {known}."]


def check():
    files = list(sources(*CODE, *OTHERS, "tests"))
    bad = list(too_long(files))
    between, inside = all_circles([s for s in files if s.name.startswith("src/")])
    bad += [f"src: {', '.join(circle)} include each other, in a circle" for circle in between + inside]
    return bad


def write():
    text = PAGE.read_text()
    begin, end = text.index(BEGIN), text.index(END)
    PAGE.write_text(text[:begin] + "\n".join([BEGIN, *measures(), ""]) + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        bad = check()
        print("\n".join(bad))
        return 1 if bad else 0
    if options.write:
        write()
    else:
        print("\n".join(measures()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
