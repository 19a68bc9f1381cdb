# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the parts of a document that a program writes: between `<!-- NAME -->` and `<!-- end NAME -->`."""
import re


def replace(path, name, text):
    """Puts text between the marks of a section; a section that is not there is added at the end."""
    try:
        with open(path) as file:
            old = file.read()
    except FileNotFoundError:
        old = "# Benchmarks\n"
    section = f"<!-- {name} -->\n{text.rstrip()}\n<!-- end {name} -->"
    pattern = re.compile(rf"<!-- {re.escape(name)} -->.*?<!-- end {re.escape(name)} -->", re.S)
    new = pattern.sub(lambda _: section, old) if pattern.search(old) else old.rstrip() + "\n\n" + section + "\n"
    with open(path, "w") as file:
        file.write(new)


def table(header, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "-|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def plain(header, rows):
    """The same table for a terminal."""
    rows = [[str(cell) for cell in row] for row in [header] + rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip()
                     for row in rows)
