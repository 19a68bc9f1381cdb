#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: symbols.py BUILD_DIRECTORY. Who may call whom: of the libraries of the hosted folders, refuses symbols that come from a folder which
tests/lint/layers.py does not let them include. A header of one's own that declares another folder's function gets past that one."""
import glob
import os
import re
import subprocess
import sys

from layers import MAY

LINE = re.compile(r"^[0-9a-f ]{16} ([A-Za-z]) (\S+)$", re.M)


def main():
    build = sys.argv[1]
    needs, home = {}, {}
    for path in sorted(glob.glob(os.path.join(build, "src", "*", "lib*.a"))):
        folder = "tools" if path.endswith("libtools_hosted.a") else os.path.basename(os.path.dirname(path))
        listed = subprocess.run(["nm", "-g", path], capture_output=True, text=True, check=True).stdout
        for kind, symbol in LINE.findall(listed):
            if kind == "U":
                needs.setdefault(folder, set()).add(symbol)
            elif kind in "TDBR":
                home[symbol] = folder
    bad = [f"src/{folder}: must not use {symbol} of src/{home[symbol]}" for folder in needs for symbol in sorted(needs[folder])
           if home.get(symbol, folder) not in MAY[folder] | {folder}]
    print("\n".join(bad) or f"{len(home)} symbols, none used from below")
    return 1 if bad or not home else 0


sys.exit(main())
