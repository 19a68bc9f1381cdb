#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: pigz with two threads. pigz.py STROBE [REPEAT [PAIRS]]

Would a faster crc32 help? pigz -1 calls it in the threads that compress; pigz -t calls it in a thread beside the one that decompresses. The forecast of a causal
campaign is compared with the gain of a real change: libdeflate's crc32, put before zlib's by LD_PRELOAD. Needs pigz, gcc and libdeflate0."""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from case import Case, judge, numbers, realised

FASTER = r"""
#include <stddef.h>
#include <stdint.h>
uint32_t libdeflate_crc32(uint32_t crc, const void *data, size_t size);
unsigned long crc32(unsigned long crc, const unsigned char *data, unsigned size)
{
	return libdeflate_crc32((uint32_t)crc, data, size);
}
"""


def image(path):
    """A disk image of 384 MiB, as of a virtual machine that has just been installed: an eighth of it are log files, the rest is empty."""
    r = random.Random(1)
    with open(path, "wb") as out:
        for _ in range(48):
            lines = (f"10.0.{r.randrange(4)}.{r.randrange(256)} - [{1700000000 + i}] GET /item/{r.randrange(200)} 200 {512 << r.randrange(4)}\n" for i in range(18000))
            text = "".join(lines).encode()
            out.write(text + bytes((8 << 20) - len(text)))


def main():
    strobe, (repeat, pairs) = sys.argv[1], numbers(10, 20)
    with tempfile.TemporaryDirectory(prefix="strobe-pigz-") as place:
        case = Case(strobe, place)
        image(Path(place) / "image")
        (Path(place) / "faster.c").write_text(FASTER)
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", "faster.so", "faster.c", "-l:libdeflate.so.0"], cwd=place, check=True)
        subprocess.run(["pigz", "-1", "-p2", "-k", "image"], cwd=place, check=True)
        faster = {"LD_PRELOAD": f"{place}/faster.so"}
        for name, program, functions in (
            ("compress", ["pigz", "-1", "-p2", "-c", "image"], "deflate,crc32"),
            ("test", ["pigz", "-t", "image.gz"], "inflateBack,crc32"),
        ):
            title = " ".join(program)
            case.campaign(f"{title}, slower functions", f"{name}-slow", ["-F", functions, "--timeout", f"{max(repeat, 5)}s"], program)
            case.campaign(f"{title}, faster functions", name, ["-m", "causal", "-F", functions, "-r", repeat, "--timeout", "5m"], program)
            share = 1 - case.time_in("crc32", program, faster) / case.time_in("crc32", program)
            forecast = case.result(name, "--what-if", f"crc32={share:.0%}")["what_if"][0]
            real = realised(lambda: case.run_time(program), lambda: case.run_time(program, faster), pairs)
            judge(f"{title} with a crc32 that is {share:.0%} faster", (forecast["gain"], forecast["lo"], forecast["hi"]), real)


if __name__ == "__main__":
    main()
