# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses a function whose name some other function of src/ has: `^name(` finds one place. Tools have the names of their events
in common (on_block, ...) and are not looked at; nor is main."""
import collections
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
NAME = re.compile(r"^(\w+)\(")


def definitions(path):
    """As clang-format has them: the name begins a line, and the body's brace stands alone on the first line after the head."""
    lines = path.read_text().split("\n")
    for at, line in enumerate(lines):
        found = NAME.match(line)
        if not found or not at or not re.match(r"[a-zA-Z_]", lines[at - 1]) or lines[at - 1].endswith((";", ":")):
            continue
        end = at
        while end + 1 < len(lines) and not lines[end].endswith((")", ";", "}")):
            end += 1
        if lines[end + 1:end + 2] == ["{"]:
            yield found.group(1)


def main():
    places = collections.defaultdict(set)
    for path in sorted(SOURCE.rglob("*.[ch]")):
        name = path.relative_to(SOURCE)
        if name.parts[0] != "tools":
            for definition in definitions(path):
                places[definition].add(str(name))
    bad = [f"{name}: {', '.join(sorted(files))}" for name, files in sorted(places.items())
           if name != "main" and len(files) > 1]
    print("\n".join(bad) or f"{len(places)} names")
    return 1 if bad else 0


sys.exit(main())
