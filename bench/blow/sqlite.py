#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: two queries of the shell of sqlite3. sqlite.py STROBE [SECONDS [PAIRS]]

The table is larger than the page cache (2 MB by default), so sqlite3 reads pages with pread. In a program of one thread the slope of a function is the share of the run
time that is saved if the function takes no time. Two real changes: a library that replaces pread by one that copies from a mapping of the file, and a larger cache, with
which sqlite3 calls pread less often, but works in more memory. Needs sqlite3 and gcc."""
import subprocess
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
# Strobe is started with the same environment: its own files are read as ever.
MAPPED = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static struct { char *at; long size; } files[64];
long pread64(int file, void *to, unsigned long size, long offset)
{
	struct stat s;
	if (file < 0 || file >= 64 || strcmp(program_invocation_short_name, "sqlite3") != 0)
		return syscall(SYS_pread64, file, to, size, offset);
	if (!files[file].at && fstat(file, &s) == 0 && s.st_size) {
		files[file].size = s.st_size;
		files[file].at = mmap(0, (unsigned long)s.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
	}
	if (!files[file].at || files[file].at == MAP_FAILED || offset >= files[file].size)
		return 0;
	if (size > (unsigned long)(files[file].size - offset))
		size = (unsigned long)(files[file].size - offset);
	memcpy(to, files[file].at + offset, size);
	return (long)size;
}
"""
FUNCTIONS = "sqlite3_prepare_v2,sqlite3_step,pread,malloc,free"


def main():
    strobe, (seconds, pairs) = sys.argv[1], numbers(30, 20)
    program = ["sqlite3", "data.db"]
    with tempfile.TemporaryDirectory(prefix="strobe-sqlite-") as place:
        case, here = Case(strobe, place), Path(place)
        for name, text in (("table", TABLE), ("small", QUERIES), ("large", "pragma cache_size=-100000;" + QUERIES), ("mapped.c", MAPPED)):
            (here / name).write_text(text)
        case.run_time(program, stdin=here / "table")
        case.campaign("all functions, slower", "all", ["-F", FUNCTIONS, "--timeout", f"{seconds}s", "--stdin", "small"], program)
        case.campaign("all functions, faster", "causal", ["-m", "causal", "-F", "sqlite3_step,pread,malloc", "--timeout", f"{seconds}s", "--stdin", "small"], program)
        # Probes cost time, so a campaign with no others gives the best slope.
        case.campaign("pread, slower", "pread", ["-F", "pread", "--timeout", f"{seconds}s", "--stdin", "small"], program)
        (target,) = case.result("pread")["targets"]
        if target["slope"]["value"] is None:
            raise SystemExit("no forecast: the slope of pread could not be measured; give more seconds")
        slope = [target["slope"][end] for end in ("value", "lo", "hi")]

        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "mapped.so", "mapped.c"], cwd=place, check=True)
        mapped, small, large = {"LD_PRELOAD": f"{place}/mapped.so"}, here / "small", here / "large"
        saved = 1 - case.time_in("pread,pread64", program, mapped, small) / case.time_in("pread,pread64", program, None, small)
        real = realised(lambda: case.run_time(program, None, small), lambda: case.run_time(program, mapped, small), pairs)
        judge(f"pread from a mapping, {saved:.1%} faster", [end * saved for end in slope], real)

        case.campaign("pread, slower, with a cache of 100 MB", "large", ["-F", "pread", "-i", "1", "--stdin", "large"], program)
        left = case.result("large")["targets"][0]["calls"] / target["calls"]
        real = realised(lambda: case.run_time(program, None, small), lambda: case.run_time(program, None, large), pairs)
        judge(f"a cache that leaves {left:.2%} of the calls of pread", [end * (1 - left) for end in slope], real)


if __name__ == "__main__":
    main()
