# SPDX-License-Identifier: GPL-3.0-or-later
"""What the case studies of strobe blow share: campaigns, and runs of two variants in turn."""
import json
import math
import os
import statistics
import subprocess
import sys
import time


def numbers(*defaults):
    """The numbers after the first argument of the command, or the defaults of those that are not given."""
    given = [int(word) for word in sys.argv[2:]]
    return [*given, *defaults[len(given) :]]  # noqa: E203


class Failed(Exception):
    """A strobe command failed; the text says which one, and why."""


class Case:
    """A folder in which the campaigns of one strobe run."""

    def __init__(self, strobe, place, limit=900):
        self.strobe, self.place, self.limit = os.path.abspath(strobe), place, limit

    def ask(self, *words, command="blow", extra=None, stdin=None):
        """The standard output of a strobe command; extra: more variables of the environment."""
        with open(stdin or os.devnull, "rb") as source:
            done = subprocess.run(
                [self.strobe, command, *map(str, words)], cwd=self.place, stdin=source, capture_output=True, timeout=self.limit, env={**os.environ, **(extra or {})}
            )
        if done.returncode:
            raise Failed(f"strobe {command} {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode(errors="replace")

    def campaign(self, title, name, options, program):
        """Runs a campaign and prints its tables, with the calls of the functions in each thread."""
        self.ask("-q", "--timeline", "none", *options, "-o", f"{name}.db", "--", *program)
        self.show(title, name)

    def show(self, title, name):
        result = self.result(name)
        made = sum(run["noise"] is not None for run in result["experiments"])
        print(f"## {title}; experiments: {made}, faults: {len(result['faults'])}, seconds: {result['run']['seconds']:.0f}, load: {os.getloadavg()[0]:.1f}")
        print(self.ask("--from", f"{name}.db", "-n", 12, "--full", "--threads"), flush=True)

    def result(self, name, *options):
        return json.loads(self.ask("--from", f"{name}.db", "--format", "json", *options))

    def time_in(self, functions, program, extra=None, stdin=None):
        """The CPU time that the program spends in functions, in seconds; the median of three runs."""
        times = []
        for _ in range(3):
            self.ask("-q", "--cpu", "--funcs", functions, "-o", "time.db", "--", *program, command="trace", extra=extra, stdin=stdin)
            result = json.loads(self.ask("--from", "time.db", "--format", "json", command="trace"))
            times.append(sum(f["outermost_ns"] for f in result["functions"]) * 1e-9)
        return statistics.median(times)

    def run_time(self, program, extra=None, stdin=None):
        with open(stdin or os.devnull, "rb") as source:
            begin = time.perf_counter()
            subprocess.run(program, cwd=self.place, stdin=source, stdout=subprocess.DEVNULL, env={**os.environ, **(extra or {})}, check=True)
            return time.perf_counter() - begin


def quantile(n):
    """Student's 97.5 % quantile for n degrees of freedom, to 0.5 % from 5 on."""
    return 1.96 + 2.37 / n + 3.3 / n**2


def realised(before, after, pairs):
    """How much less time after() takes than before(), measured in pairs whose order alternates: gain, lower and upper end (95 %)."""
    logs = []
    for i in range(pairs + 1):
        first, second = (before, after) if i % 2 else (after, before)
        times = first(), second()
        if i:  # the first pair only warms the caches
            logs.append(math.log(times[1] / times[0]) * (1 if i % 2 else -1))
    mean, half = statistics.mean(logs), quantile(pairs - 1) * statistics.stdev(logs) / math.sqrt(pairs)
    return tuple(1 - math.exp(x) for x in (mean, mean + half, mean - half))


def judge(title, forecast, real):
    """Prints a forecast beside the realised gain, each (gain, lower, upper), and whether their intervals overlap."""
    shown = ["{:.1f} % ({:.1f} to {:.1f})".format(*(100 * x for x in one)) for one in (forecast, real)]
    meets = "the realised gain lies in the interval" if forecast[1] <= real[0] <= forecast[2] else "the intervals overlap" if forecast[1] <= real[2] and real[1] <= forecast[2] else "they differ"
    print(f"{title}: forecast {shown[0]}, realised {shown[1]}: {meets}", flush=True)
