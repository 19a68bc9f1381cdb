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
    "features": {"base", "wire", "symbol"},
    "stats": {"base"},
    "model": {"base", "stats"},
    "annotate": {"base", "stats"},
    "experiment": {"base"},
    "qos": {"base", "strobe"},
    "toolkit": {"base", "wire", "strobe"},
    "control": {"base", "wire", "strobe", "tools", "toolkit", "qos"},
    "probe": {"base", "wire", "symbol", "control"},
    "profile": {"base", "wire", "strobe"},
    "collect": {"base", "wire", "strobe", "insn", "symbol", "stats", "qos", "control", "profile"},
    "import": {"base", "profile"},
    "timing": {"base", "profile", "collect"},
    "rows": {"base", "wire", "strobe", "symbol", "control", "profile", "collect"},
    "coverage": {"base", "wire", "strobe", "symbol", "control", "profile", "collect"},
    "session": {"base", "wire", "strobe", "tools", "toolkit", "symbol", "qos", "control", "profile", "collect", "rows", "coverage"},
    "reconstruct": {"base", "strobe", "symbol", "profile", "rows"},
    "check": {"base", "strobe", "stats", "model", "profile"},
    "store": {"base", "strobe", "profile", "check"},
    "campaign": {"base", "profile"},
    "batch": {"base", "profile", "collect", "timing", "store", "campaign"},
    "job": {"batch", "campaign", "base", "stats", "collect", "import", "timing", "experiment", "profile", "store"},
    "contexts": {"base", "strobe", "profile", "check"},
    "trace": {"base", "wire", "strobe", "tools", "symbol", "control", "probe", "profile", "collect", "rows", "session", "check"},
    "mem": {"base", "wire", "strobe", "symbol", "control", "probe", "profile", "collect", "session"},
    "blow": {"base", "wire", "strobe", "stats", "symbol", "qos", "control", "probe", "profile", "collect", "session", "trace", "experiment", "timing"},
    "recording": {"base", "wire", "tools", "symbol", "features", "control", "probe", "profile", "session", "mem"},
    "ebpf": {"base", "wire", "strobe", "tools", "symbol", "control", "profile", "collect", "session", "trace"},
    "report": {"base", "wire", "strobe", "insn", "symbol", "stats", "qos", "control", "profile", "collect", "rows", "coverage", "model", "check", "contexts", "reconstruct", "trace", "mem",
               "blow", "features", "annotate"},
    "export": {"base", "strobe", "wire", "symbol", "profile", "rows", "contexts", "trace", "mem", "report"},
    "plot": {"base", "report"},
    "views": {"base", "strobe", "stats", "profile", "check", "contexts", "trace", "mem", "model", "rows", "report", "export", "plot"},
    "live": {"base", "wire", "strobe", "symbol", "control", "profile", "collect", "contexts", "report"},
    "tui": {"base", "strobe", "profile", "contexts", "mem", "symbol", "report", "views"},
    "tune": {"base", "strobe", "stats", "experiment", "qos", "control", "profile", "coverage", "session", "report"},
    "fuzz": {"base", "wire", "strobe", "symbol", "stats", "experiment", "control", "collect", "session", "report"},
    "gate": {"base", "strobe", "symbol", "stats", "profile", "collect", "check", "timing", "store", "batch", "job", "contexts", "report"},
    "cli": {"base", "wire", "strobe", "tools", "toolkit", "insn", "symbol", "stats", "model", "qos", "control", "profile", "collect", "import", "timing", "rows", "coverage",
            "session", "contexts", "reconstruct", "trace", "mem", "blow", "ebpf", "report", "export", "plot", "views", "live", "tui", "experiment", "campaign", "batch", "tune", "store", "job", "check", "gate", "fuzz",
            "features", "annotate", "recording"},
}
# The same for the folders of the runtime, from below; "rt" is what lies in src/rt itself: the context that all but the first
# two share, and headers of what every folder may ask of those above it.
RT_COMMON = {"base", "wire", "strobe", "rt", "arch", "lib"}
RT_MAY = {
    "arch": {"base"},
    "lib": {"wire"},
    "rt": {"base", "wire", "strobe", "arch", "lib", "budget", "native", "os", "jit", "tool", "contexts"},
    "probe": {"base", "wire", "lib", "unwind"},
    "tool": RT_COMMON | {"tools"},
    "unwind": RT_COMMON | {"tool"},
    "contexts": RT_COMMON | {"tools", "tool"},
    "budget": RT_COMMON | {"tool"},
    "native": RT_COMMON | {"tool", "budget"},
    "jit": RT_COMMON | {"tool", "budget", "native"},
    "os": RT_COMMON | {"tool", "unwind", "budget", "native", "jit"},
}
# Of its folders, rt.h has only what each of them keeps of a thread, which is data. Only the API's inside knows the list of
# tools; of tools, contexts has the cursor that a thread has.
RT_ONLY = {("rt", folder): {f"rt/{folder}/thread_{name}.h"} for folder, name in
           (("budget", "budget"), ("native", "native"), ("os", "os"), ("jit", "jit"), ("tool", "tools"), ("contexts", "contexts"))}
RT_ONLY |= {("tool", "tools"): {"tools/cells.h", "tools/tools.h"}, ("contexts", "tools"): {"tools/forest.h"}}
# Files of a room that need nothing of it: functions of bytes, built for both worlds. Who may include them besides.
SHARED = {"rt/arch/x86_64/decode.h": {"symbol", "probe"}, "rt/arch/x86_64/apart.h": {"symbol"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:\.\./)*(([a-z]+)/[^>"]*)[>"]', re.M)


def rt_folder(path):
    """Of the runtime's file rt/a/b.h: a; of rt/rt.h: rt."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "rt"


def bad_in_rt(path, text):
    """Includes of a file of the runtime that its folder must not have."""
    folder, bad = rt_folder(path), []
    if folder not in RT_MAY:
        return [f"src/rt/{folder}: a folder that tests/lint/layers.py does not know; say what it may include"]
    for file, target in INCLUDE.findall(text):
        to = rt_folder(file) if target == "rt" else target
        if to == folder or (to not in RT_MAY and to not in MAY and to != "strobe"):
            continue
        if to not in RT_MAY[folder] or file not in RT_ONLY.get((folder, to), {file}):
            bad.append(f"src/{path}: rt/{folder} must not include {file}")
    return bad


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
            if room == "rt":
                bad += bad_in_rt(os.path.relpath(path, root), text)
            for file, target in INCLUDE.findall(text):
                if room in SHARED.get(file, ()):
                    continue
                if target in MAY or target == "strobe":
                    if target != room and target not in MAY[room]:
                        bad.append(f"{os.path.relpath(path, os.path.dirname(root))}: {room} must not include {target}")
    print("\n".join(sorted(set(bad))) or f"{seen} files, no include out of order")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
