# SPDX-License-Identifier: GPL-3.0-or-later
"""`strobe paths` run and read, and its forests compared with true ones."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import forest

sys.setrecursionlimit(20000)
TIMEOUT = 120
DIFFERENCES = 12
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


class Failure(Exception):
    pass


def run(command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENVIRONMENT, start_new_session=True)
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no end within {TIMEOUT} s: {shlex.join(command)}") from None
    return out.decode(errors="replace"), err.decode(errors="replace"), process.returncode


def paths(strobe, words, program, form="json"):
    """What `strobe paths` writes about a program, and the command that did."""
    with tempfile.TemporaryDirectory(prefix="strobe-paths-") as folder:
        file = Path(folder) / "paths"
        command = [str(strobe), "paths", *words, "--format", form, "-o", str(file), "--", *map(str, program)]
        again = shlex.join(command)
        _, err, code = run(command)
        if code:
            raise Failure(f"exit code {code}, should be 0: {err.strip()[-400:]}\n    {again}")
        try:
            text = file.read_text()
        except OSError as error:
            raise Failure(f"no result: {error}\n    {again}") from None
    return text, again


def read_json(text, again, mode, k):
    """The document, when it says what it must about itself."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise Failure(f"not JSON: {error}\n    {again}") from None
    header = {"version": document["strobe"]["version"], "tool": document["strobe"]["tool"], "mode": document["mode"], "k": document["k"]}
    want = {"version": 1, "tool": "paths", "mode": mode, "k": k if k == "inf" else int(k)}
    if header != want:
        raise Failure(f"the document says {header}, should be {want}\n    {again}")
    return document


def plain(nodes, again):
    """A list of NODEs as forest.plain has them. Functions of the same name are one; a function is one sibling only."""
    result = forest.forest()
    read_nodes(nodes, result, again)
    return forest.plain(result)


def read_nodes(nodes, into, again):
    places = set()
    for node in nodes:
        place = node["name"], node.get("image"), node.get("offset")
        if place in places:
            raise Failure(f"two siblings are {place}\n    {again}")
        places.add(place)
        below = into.child(node["name"])
        below.count += node["count"]
        read_nodes(node["children"], below, again)


def read_text(text, heading):
    """The forests of the text form under a heading, one for each thread: lines `| name(),count`, two blanks a level."""
    found, stack = [], None
    for line in text.splitlines():
        node = re.fullmatch(r"( *)\| (.+)\(\),(\d+)", line)
        if line.startswith("DUMP of "):
            stack = None
            if line == "DUMP of " + heading:
                stack = [{}]
                found.append(stack[0])
        elif node and stack:
            level = len(node[1]) // 2
            del stack[level + 1:]
            below = {}
            stack[level][node[2]] = int(node[3]), below
            stack.append(below)
    return found


def differences(got, want, path=""):
    """Of two plain forests, one line each. A count None is any; what was not activated need not be there."""
    lines = []
    for label in sorted(set(got) | set(want)):
        here = f"{path}{label}"
        if label not in want:
            lines.append(f"{here}: {got[label][0]}, should not be there")
        elif label not in got:
            lines.append(f"{here}: not there, should be {want[label][0]}")
        else:
            if want[label][0] not in (None, got[label][0]):
                lines.append(f"{here}: {got[label][0]}, should be {want[label][0]}")
            lines += differences(got[label][1], want[label][1], here + " > ")
    return lines


def compare(what, got, wants, again):
    """Fails unless `got` is one of `wants`."""
    found = [differences(got, want) for want in wants]
    if all(found):
        lines = min(found, key=len)
        whole = [f"is        {forest.show(got)[:1500]}", f"should be {forest.show(wants[found.index(lines)])[:1500]}"]
        raise Failure("\n    ".join([f"{what}: {len(lines)} differ:", *lines[:DIFFERENCES], *whole, again]))


def without_zeros(tree):
    """A child by fork may have nodes of its parent's that it never activated."""
    below = {label: (count, without_zeros(children)) for label, (count, children) in tree.items()}
    return {label: node for label, node in below.items() if node[0] or node[1]}
