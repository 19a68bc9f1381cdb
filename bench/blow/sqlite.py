#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: two queries of the shell of sqlite3. sqlite.py STROBE [SECONDS [PAIRS]]

The table is larger than the page cache (2 MB by default), so sqlite3 reads pages with pread. In a program of one thread the slope of a function is the share of the run
time that is saved if the function is no longer called. The real change is a larger cache: it leaves so few calls of pread that their number gives the forecast."""
import sys
import tempfile
from pathlib import Path

from case import Case, judge, numbers, realised

TABLE = """
create table t(id integer primary key, a integer, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 200000)
	insert into t select x, x * 7919 % 200000, 'row number ' || x || ' of the table' from c;
create index i on t(a);
"""
QUERIES = """
select count(*), sum(length(b)) from t where id in (select a * 7907 % 200000 from t where a < 150000);
with recursive c(x, y) as (select 1, 1 union all select x + 1, y * 48271 % 200003 from c where x < 300000) select sum(length(t.b)) from c join t on t.id = c.y;
"""
FUNCTIONS = "sqlite3_prepare_v2,sqlite3_step,pread,malloc,free"


def main():
    strobe, (seconds, pairs) = sys.argv[1], numbers(30, 20)
    program = ["sqlite3", "data.db"]
    with tempfile.TemporaryDirectory(prefix="strobe-sqlite-") as place:
        case, here = Case(strobe, place), Path(place)
        for name, text in (("table", TABLE), ("small", QUERIES), ("large", "pragma cache_size=-100000;" + QUERIES)):
            (here / name).write_text(text)
        case.run_time(program, stdin=here / "table")
        case.campaign("all functions, slower", "all", ["-F", FUNCTIONS, "--timeout", f"{seconds}s", "--stdin", "small"], program)
        case.campaign("all functions, faster", "causal", ["-m", "causal", "-F", "sqlite3_step,pread,malloc", "--timeout", f"{seconds}s", "--stdin", "small"], program)
        # Probes cost time, so a campaign with no others gives the best slope.
        case.campaign("pread, slower", "pread", ["-F", "pread", "--timeout", f"{seconds}s", "--stdin", "small"], program)
        (target,) = case.result("pread")["targets"]
        case.campaign("pread, slower, with a cache of 100 MB", "large", ["-F", "pread", "-i", "1", "--stdin", "large"], program)
        if target["slope"]["value"] is None:
            raise SystemExit("no forecast: the slope of pread could not be measured; give more seconds")
        left = case.result("large")["targets"][0]["calls"] / target["calls"]
        forecast = [target["slope"][end] * (1 - left) for end in ("value", "lo", "hi")]
        real = realised(lambda: case.run_time(program, stdin=here / "small"), lambda: case.run_time(program, stdin=here / "large"), pairs)
        judge(f"a cache that leaves {left:.2%} of the calls of pread", forecast, real)


if __name__ == "__main__":
    main()
