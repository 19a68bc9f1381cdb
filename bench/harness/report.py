# SPDX-License-Identifier: GPL-3.0-or-later
"""The gauntlet's lines and its table for the docs."""
import collections
import dataclasses
import datetime
import math
import os
import platform
import shlex

from harness.case import Case
from harness.execution import cache_share


@dataclasses.dataclass
class Row:
    """One case under one tool."""
    case: Case
    tool: str
    verdict: str  # passed, failed, skipped
    text: str = ""
    native: object = None
    other: object = None

    def slowdown(self):
        return self.other.seconds / self.native.seconds if self.native and self.native.seconds > 0.05 else None


def fallbacks(row):
    """Native fallbacks by cause, summed over the runs of the case."""
    causes = collections.Counter()
    for result in row.other.results if row.other else []:
        for item in result.get("fallbacks") or []:
            causes[item["cause"]] += item["count"]
    return causes


def line(row):
    """What the terminal shows for one row."""
    extra = ""
    if row.native and row.other:
        factor = row.slowdown()
        extra = f"  {row.native.seconds:.2f} s" + (f", {factor:.1f}x" if factor else "") + f", CPU {row.other.cpu:.0f} s"
        share = cache_share(row.other)
        if share is not None and share < 0.9995:
            extra += f"  {100 * share:.1f} % under the engine"
        causes = fallbacks(row)
        if causes:
            extra += "  native: " + ", ".join(f"{c} x{n}" for c, n in sorted(causes.items()))
        if row.other.left != row.native.left:
            extra += "  left running: " + ", ".join(row.other.left)
        if row.tool == "native" and row.native.errors:
            extra += "  stderr: " + row.native.errors.strip().replace("\n", " / ")[:200]
    mark = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}[row.verdict]
    text = "".join("\n       " + part for part in row.text.splitlines()) if row.verdict == "failed" else \
        "  " + row.text if row.text else ""
    return f"{mark} {row.case.name} [{row.tool}]{extra}{text}"


def listing(cases):
    return "\n".join(f"{c.group:14} {c.name:28} {'short' if c.short else 'heavy' if c.heavy else '':6}"
                     f" {' '.join(c.packages)}" for c in cases)


def machine():
    """One line about this machine."""
    model = "unknown CPU"
    with open("/proc/cpuinfo") as info:
        for text in info:
            if text.startswith("model name"):
                model = text.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} CPUs, Linux {platform.release()}, {debian()}"


def debian():
    try:
        with open("/etc/debian_version") as version:
            return "Debian " + version.read().strip()
    except OSError:
        return platform.platform()


def cell(row):
    if row is None:
        return ""
    if row.verdict != "passed":
        return "**failed**" if row.verdict == "failed" else "skipped"
    factor = row.slowdown()
    return f"same, {factor:.1f}x" if factor else "same" if row.native else row.text


def cpu_time(rows):
    """What the whole took, by tool, in one sentence."""
    minutes = collections.Counter()
    for row in rows:
        if row.other:
            minutes[row.tool] += row.other.cpu / 60
    minutes["native"] = sum({row.case.name: row.native.cpu / 60 for row in rows if row.native}.values())
    return "CPU time: " + ", ".join(f"{tool} {spent:.1f} minutes" for tool, spent in minutes.items())


def least_share(rows):
    """The smallest share of CPU time under the engine among the runs of a case, in per cent."""
    shares = [share for share in (cache_share(row.other) for row in rows if row and row.other) if share is not None]
    return f"{math.floor(1000 * min(shares)) / 10:.1f}" if shares else ""


def write(path, rows, cases, argv, seconds):
    """The table for the docs."""
    tools = list(dict.fromkeys(row.tool for row in rows))
    by = {(row.case.name, row.tool): row for row in rows}
    total = [sum(row.verdict == v for row in rows) for v in ("passed", "failed", "skipped")]
    out = ["# The gauntlet", "",
           "Real programs, natively and under Strobe; `same` means the same output, exit code and files. The factor is elapsed",
           "time of the whole script over native, set-up included: an impression, not a benchmark (those are in",
           "`benchmarks.md`). `under the engine`: the share of CPU time that was not native execution (`cache_share` in json.md), the least",
           "of the tools; below 99 % a case fails unless its cause stands behind it.", "",
           f"    {shlex.join(argv)}", "",
           f"{datetime.date.today()}, {machine()}; {seconds / 60:.0f} minutes:"
           f" {total[0]} passed, {total[1]} failed, {total[2]} skipped. {cpu_time(rows)}.", "",
           "| case | native, s | " + " | ".join(tools) + " | under the engine, % | handed to native execution |",
           "|-|-|" + "-|" * len(tools) + "-|-|"]
    for case in cases:
        mine = [by.get((case.name, tool)) for tool in tools]
        if not any(mine):
            continue
        native = next((row.native for row in mine if row and row.native), None)
        causes = collections.Counter()
        for row in mine:
            causes |= fallbacks(row) if row else collections.Counter()
        out.append(f"| {case.name} | {f'{native.seconds:.1f}' if native else ''} | " + " | ".join(map(cell, mine))
                   + f" | {least_share(mine)} | " + ", ".join(f"{c} {n}" for c, n in sorted(causes.items()))
                   + (f" ({case.native})" if case.native else "") + " |")
    bad = [row for row in rows if row.verdict != "passed"]
    if bad:
        out += ["", "Not the same, or not run:", ""]
        out += [f"- {row.case.name}, {row.tool}: {' '.join(row.text.split())[:300]}" for row in bad]
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")
