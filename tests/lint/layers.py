# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may include whom (docs/architecture.md): reads every #include "folder/..." under src/ and refuses the ones that go
up, sideways into the other world, or in a circle."""
import os
import re
import sys

# Folder: the folders it may include from, itself apart. "strobe" is include/strobe, the header of tool authors.
MAY = {
    "base": set(),
    "wire": set(),
    "tools": {"base", "wire", "strobe"},
    "rt": {"base", "wire", "strobe", "tools"},
    "insn": {"base", "wire"},
    "symbol": {"base", "wire"},
    "stats": {"base"},
    "qos": {"base", "strobe"},
    "toolkit": {"base", "wire", "strobe"},
    "control": {"base", "wire", "strobe", "tools", "toolkit", "qos"},
    "profile": {"base", "wire", "strobe"},
    "collect": {"base", "wire", "strobe", "insn", "symbol", "stats", "qos", "control", "profile"},
    "rows": {"base", "wire", "strobe", "control", "profile", "collect"},
    "coverage": {"base", "wire", "strobe", "symbol", "control", "profile", "collect"},
    "reconstruct": {"base", "strobe", "symbol", "profile", "rows"},
    "contexts": {"base", "strobe", "profile"},
    "report": {"base", "wire", "strobe", "insn", "symbol", "stats", "qos", "control", "profile", "collect", "rows", "coverage", "contexts", "reconstruct"},
    "export": {"base", "strobe", "symbol", "profile", "contexts", "report"},
    "live": {"base", "wire", "strobe", "symbol", "control", "profile", "collect", "contexts", "report"},
    "tune": {"base", "stats", "profile", "report"},
    "cli": {"base", "wire", "strobe", "tools", "toolkit", "insn", "symbol", "stats", "qos", "control", "profile", "collect", "rows", "coverage",
            "contexts", "reconstruct", "report", "export", "live", "tune"},
}
# Files of a room that need nothing of it: functions of bytes, built for both worlds. Who may include them besides.
SHARED = {"rt/arch/x86_64/decode.h": {"symbol"}, "rt/arch/x86_64/apart.h": {"symbol"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:\.\./)*(([a-z]+)/[^>"]*)[>"]', re.M)


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")
    bad, seen = [], 0
    for folder, _, names in sorted(os.walk(root)):
        room = os.path.relpath(folder, root).split(os.sep)[0]
        for name in sorted(names):
            if not name.endswith((".c", ".h", ".S")):
                continue
            path = os.path.join(folder, name)
            if room not in MAY:
                bad.append(f"src/{room}: a folder that tests/lint/layers.py does not know; say what it may include")
                continue
            seen += 1
            with open(path) as source:
                text = source.read()
            for file, target in INCLUDE.findall(text):
                if room in SHARED.get(file, ()):
                    continue
                if target in MAY or target == "strobe":
                    if target != room and target not in MAY[room]:
                        bad.append(f"{os.path.relpath(path, os.path.dirname(root))}: {room} must not include {target}")
    print("\n".join(sorted(set(bad))) or f"{seen} files, no include out of order")
    return 1 if bad or not seen else 0


sys.exit(main())
