# SPDX-License-Identifier: GPL-3.0-or-later
"""The plots of bench/time-aware, made of the figures that its parts have written. Each returns the paths of what it has drawn."""
import os

from harness.plot import COLORS, DASHES, Figure, Panel

COVERAGE_AIMS, SERVICE_AIMS = {97: 3, 99: 5}, {95: 5}  # %: after this number of runs
OVERSHOOT_AIM = 20000  # ns, of 99 in 100


def style(i):
    return COLORS[i % len(COLORS)], DASHES[i // len(COLORS) % len(DASHES)]


def slowdown(entries, path):
    """For each budget a panel: a bar for each tool's mean, a stroke for its slowest program, a line for the aim."""
    figure = Figure("CPU time over native")
    for budget in dict.fromkeys(e["budget"] for e in entries):
        mine = [e for e in entries if e["budget"] == budget and e["mean"]]
        if not mine:
            continue
        aim, most = mine[0]["aim"] or 1, max(e["most"] for e in mine)
        low, high = min([1.0] + [e["mean"] for e in mine]), max(aim, most)
        panel = Panel(figure, f"budget {budget}", (0, len(mine)), (low - 0.005, high + (high - low) / 10))
        panel.legend("geometric mean", COLORS[0])
        panel.legend("slowest program", COLORS[1])
        for i, e in enumerate(mine):
            panel.bar(i + 0.5, e["mean"], 0.6, COLORS[0])
            panel.mark(i + 0.5, e["most"], 0.6, COLORS[1])
            panel.below(i + 0.5, e["tool"])
        if mine[0]["aim"]:
            panel.level(aim, f"aim {aim}")
    return [figure.write(path)]


def histogram(figure, title, classes, label, aim=None):
    """classes: (bound, how many were below it and not below the one before). What lies beyond the aim has another colour."""
    most, beyond = max(count for _, count in classes), 0
    panel = Panel(figure, title, (0, len(classes)), (0.5, max(10, 2 * most)), height=90, log=True)
    for i, (below, count) in enumerate(classes):
        late = aim is not None and (below is None or below > aim)
        beyond += late * count
        if count:
            panel.bar(i + 0.5, count, 0.9, COLORS[late])
        panel.below(i + 0.5, label(below) if below else "more")
    if aim is not None:
        panel.legend(f"beyond: {100 * beyond / max(1, sum(count for _, count in classes)):.2g} %", COLORS[1])


def nanoseconds(v):
    return f"< {v} ns" if v < 1000 else f"< {v // 1000} us" if v < 1000000 else f"< {v // 1000000} ms"


def overshoots(entries, path):
    figure = Figure("Overshoots: by how much a spent budget was exceeded (aim: 99 % below 20 us)")
    for e in entries:
        if e["overshoots"]:
            histogram(figure, f"{e['tool']}, {e['budget']}", e["overshoots"], nanoseconds, OVERSHOOT_AIM)
    return [figure.write(path)]


def lateness(entries, path):
    figure = Figure("Control loop: share of wake-ups that were late by less than this many microseconds")
    for e in entries:
        histogram(figure, e["name"], e["late"], str)
    return [figure.write(path)]


def coverage(shares, path, aims):
    """shares: by program, in % after each run."""
    shares = {name: values for name, values in shares.items() if values}
    if not shares:
        return []
    runs = max(map(len, shares.values()))
    figure = Figure("Coverage: what runs that share a log have seen of what runs without a budget see, %")
    least = min(min(values) for values in shares.values())
    panel = Panel(figure, "after each run", (0.8, runs + 0.2), (min(90, least - 2), 100.5), height=max(260, 15 * (len(shares) + len(aims))))
    for run in range(1, runs + 1):
        panel.below(run, str(run))
    for i, (name, values) in enumerate(shares.items()):
        panel.line(list(enumerate(values, 1)), *style(i), dots=True)
        panel.legend(name, *style(i))
    for aim, after in aims.items():
        panel.level(aim, f"aim {aim} after {after}")
    return [figure.write(path)]


def held(course, path):
    """A run with --qos: what it did, the threshold and the budget over time."""
    rows = course["rows"]
    span = (0, max(row[0] for row in rows))
    figure = Figure(f"{course['program']} under {course['tool']}, held at its threshold")
    most = max([course["threshold"]] + [row[1] for row in rows])
    panel = Panel(figure, course["metric"], span, (0, 1.1 * most))
    panel.line([row[:2] for row in rows], COLORS[0], dots=True)
    panel.level(course["threshold"], "threshold")
    panel.legend("done", COLORS[0])
    panel.numbers("s")
    panel = Panel(figure, "budget, % of a period", span, (0, max(1, 110 * max(row[2] for row in rows))))
    panel.line([(row[0], 100 * row[2]) for row in rows], COLORS[1], dots=True)
    panel.numbers("s")
    return [figure.write(path)]


def services(figures, path):
    """One held run of each service, of its last tool; and what runs that are held know together."""
    stem = path.removesuffix(".svg")
    courses = {c["program"]: c for c in figures["held"] if c["rows"]}
    drawn = [path for name, course in courses.items() for path in held(course, f"{stem}-{name}.svg")]
    return drawn + coverage(figures["coverage"], f"{stem}-coverage.svg", SERVICE_AIMS)


def draw(part, figures, folder):
    """All plots of a part, whose names are returned."""
    drawn = [plot(figures, os.path.join(folder, name + ".svg")) for name, plot in PLOTS.get(part, {}).items()]
    return [os.path.basename(path) for paths in drawn for path in paths]


PLOTS = {
    "budget": {"slowdown": slowdown, "overshoots": overshoots},
    "shares": {"slowdown-shares": slowdown},
    "coverage": {"coverage": lambda figures, path: coverage(figures, path, COVERAGE_AIMS)},
    "services": {"qos": services},
    "control": {"lateness": lateness},
}
