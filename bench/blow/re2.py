#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: the test program of re2 with Debian's libre2. re2.py STROBE [SECONDS]

Two campaigns of SECONDS (default: 12) with different seeds: experiments a minute, and the correlation of their rankings. Needs g++ and libre2-dev."""
import subprocess
import sys
import tempfile
from pathlib import Path

from case import Case

# As testinstall.cc of re2 20220601 does: the program of the case study in appendix B of J. Pavela's thesis.
PROGRAM = r"""
#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <stdio.h>
int main()
{
	re2::FilteredRE2 f;
	int id;
	f.Add("a.*b.*c", RE2::DefaultOptions, &id);
	std::vector<std::string> v;
	f.Compile(&v);
	std::vector<int> ids;
	f.FirstMatch("abbccc", ids);
	int n;
	if (RE2::FullMatch("axbyc", "a.*b.*c") && RE2::PartialMatch("foo123bar", "(\\d+)", &n) && n == 123) {
		printf("PASS\n");
		return 0;
	}
	printf("FAIL\n");
	return 2;
}
"""


def main():
    strobe, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 12
    with tempfile.TemporaryDirectory(prefix="strobe-re2-") as place:
        case = Case(strobe, place, limit=10 * seconds + 120)
        (Path(place) / "re2.cc").write_text(PROGRAM)
        subprocess.run(["g++", "-O2", "-g", "-o", "re2", "re2.cc", "-lre2", "-lpthread"], cwd=place, check=True)
        for seed in 1, 2:
            case.ask("-q", "-F", "re2::*", "--timeout", f"{seconds}s", "--seed", seed, "-o", f"{seed}.db", "--", "./re2")
            result = case.result(seed)
            noisy = sum(run["noise"] is not None for run in result["experiments"])
            print(f"campaign {seed}: {noisy} experiments on {len(result['targets'])} functions, {60 * noisy / seconds:.0f} a minute; {len(result['faults'])} faults")
        print(case.ask("--from", "1.db", "--compare", "2.db").split("\n\n")[0])
        print(case.ask("--from", "1.db", "-n", "10"))


if __name__ == "__main__":
    main()
