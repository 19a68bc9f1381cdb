# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bench hands on what it has found: a table on the terminal and in a document, and all figures for whoever draws them."""
import datetime
import json
import shlex
import sys

from harness import packages, sections
from harness.report import machine


def options(a):
    a.add_argument("--write", metavar="FILE.md", help="put the table into this document, between its marks")
    a.add_argument("--json", metavar="FILE", help="write the table and all figures behind it")


def publish(args, name, header, rows, remarks, figures):
    """name: the marks in the document."""
    print(sections.plain(header, rows))
    print("\n".join(remarks))
    command, date = shlex.join(sys.argv), str(datetime.date.today())
    if args.write:
        text = f"`{command}`, {date}: {machine()}.\n\n{sections.table(header, rows)}\n\n" + "\n".join(f"- {r}" for r in remarks)
        sections.replace(args.write, name, text)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"bench": name, "command": command, "date": date, "machine": machine(), "header": header, "rows": rows,
                       "remarks": remarks, "figures": figures}, file, indent=1)


def chosen(all_, only, remarks):
    """Of workloads or services those whose names stand between the commas (all, if none does) and whose packages are here; the
    remarks tell of the others."""
    wanted = [w for w in all_ if not only or w.name in only.split(",")]
    lacking = {w.name: packages.missing(w.packages.split()) for w in wanted}
    remarks += [f"{name} left out, not installed: {' '.join(gone)}" for name, gone in lacking.items() if gone]
    return [w for w in wanted if not lacking[w.name]]
