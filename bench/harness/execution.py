# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one case once, natively or under a tool, and compares two runs."""
import dataclasses
import fnmatch
import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))

# What every script starts with.
PRELUDE = r'''
set -u
fail() { echo "gauntlet: $*"; exit 97; }
inputs() { /usr/bin/python3 "$HARNESS/inputs.py" "$@"; }
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# every N WORD...: each Nth of the words, from the first on
every() { local n=$1 i; shift; for ((i = 1; i <= $#; i += n)); do echo "${!i}"; done; }
await_port() {
	local i
	for i in $(seq 600); do
		(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
		sleep 0.1
	done
	fail "nothing listens on port $1 after a minute"
}
'''


@dataclasses.dataclass
class Outcome:
    """What one run left."""
    exit: int = None
    seconds: float = 0.0
    cpu: float = 0.0
    timed_out: bool = False
    output: str = ""
    errors: str = ""
    files: dict = dataclasses.field(default_factory=dict)
    running: list = dataclasses.field(default_factory=list)
    left: list = dataclasses.field(default_factory=list)
    results: list = dataclasses.field(default_factory=list)  # Strobe's own JSON, one per use of `under`


TRACE = "trace-"  # and the name of an engine, in place of a tool's: all functions are traced


class Harness:
    """Where cases run: a scratch folder, the strobe to test and how to call it."""

    def __init__(self, scratch, strobe, stress, patience=1.0, keep=False, part=1, options=()):
        self.scratch, self.strobe, self.stress = scratch, strobe, stress
        self.patience, self.keep, self.part, self.options = patience, keep, part, list(options)
        self.prepare_lock = threading.Lock()
        os.chmod(scratch, 0o755)

    def folder(self, case, *more):
        return os.path.join(self.scratch, case.name, *more)

    def prefix(self, tool, follow, output):
        """The words before a program that put it under a tool."""
        words = [self.strobe, "run", "-t", tool, *self.options]
        if tool.startswith(TRACE):
            words = [self.strobe, "trace", "--all", "--engine", tool.removeprefix(TRACE), *self.options]
            follow &= tool != TRACE + "probe"
        if follow:
            words.append("--follow")
        if self.stress:
            words += ["--stress", self.stress]
        return words + ["-q", "--format", "json", "-o", output, "--"]

    def make_wrappers(self, case, tool):
        """`under` and `under-all`, first on the script's PATH."""
        folder = self.folder(case, "bin")
        os.makedirs(folder, exist_ok=True)
        for name, follow in (("under", False), ("under-all", True)):
            lines = ["#!/bin/bash"]
            if tool == "native":
                lines.append('exec "$@"')
            else:
                words = self.prefix(tool, follow, "@OUT@")
                quoted = " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)
                lines.append("exec " + quoted.replace("'@OUT@'", '"$RESULTS/$$.json"') + ' "$@"')
            path = os.path.join(folder, name)
            with open(path, "w") as wrapper:
                wrapper.write("\n".join(lines) + "\n")
            os.chmod(path, 0o755)
        return folder

    def environment(self, case, work, wrappers):
        return {
            "PATH": f"{wrappers}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.folder(case, "home"),
            "TMPDIR": self.folder(case, "tmp"), "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1", "IN": self.folder(case, "in"), "WORK": work,
            "RESULTS": self.folder(case, "results"), "HARNESS": HERE, "ROOT": os.path.dirname(os.path.dirname(HERE)),
            "STATE": self.folder(case, "state"), "PART": str(self.part),
        }

    def fresh(self, case, *names):
        """Empty folders, owned by the case's user."""
        for name in names:
            path = self.folder(case, name)
            shutil.rmtree(path, ignore_errors=True)
            os.makedirs(path, exist_ok=True)
            if case.user and os.getuid() == 0:
                user = pwd.getpwnam(case.user)
                os.chown(path, user.pw_uid, user.pw_gid)

    def shell(self, case, script, work, wrappers, limit, outputs):
        """Runs a script under the supervisor; returns what the supervisor says."""
        command = [sys.executable, os.path.join(HERE, "supervise.py"), str(limit), self.folder(case, "supervisor.json")]
        if case.user and os.getuid() == 0:
            gid = pwd.getpwnam(case.user).pw_gid
            command += ["setpriv", "--reuid", case.user, "--regid", str(gid), "--init-groups", "--"]
        command += ["bash", "-c", PRELUDE + script, case.name]
        with open(outputs[0], "wb") as out, open(outputs[1], "wb") as err:
            subprocess.run(command, cwd=work, env=self.environment(case, work, wrappers), stdin=subprocess.DEVNULL,
                           stdout=out, stderr=err, start_new_session=True)
        with open(self.folder(case, "supervisor.json")) as said:
            return json.load(said)

    def prepare(self, case):
        """Makes the case's inputs; returns an error text or None."""
        self.fresh(case, "in", "home", "tmp", "state", "results")
        if not case.prepare:
            return None
        outputs = self.folder(case, "prepare.out"), self.folder(case, "prepare.err")
        wrappers = self.make_wrappers(case, "native")
        said = self.shell(case, "set -e\n" + case.prepare, self.folder(case, "in"), wrappers, 300, outputs)
        if said["exit"] != 0:
            return "its inputs could not be made: " + (read(outputs[1]) + read(outputs[0]))[-400:]
        return None

    def run(self, case, tool, limit):
        """One run of the case under a tool ("native": none)."""
        self.fresh(case, "work", "tmp", "home", "state", "results")
        work = self.folder(case, "work")
        outputs = self.folder(case, "stdout"), self.folder(case, "stderr")
        said = self.shell(case, case.script, work, self.make_wrappers(case, tool), limit, outputs)
        return Outcome(exit=said["exit"], seconds=said["seconds"], cpu=said["cpu"] or 0.0,
                       timed_out=said["timed_out"], running=said["running"],
                       left=said["left"], output=case.cleaned(read(outputs[0])), errors=read(outputs[1]),
                       files=manifest(work, case.ignore), results=load_results(self.folder(case, "results")))

    def clean(self, case):
        if not self.keep:
            shutil.rmtree(self.folder(case), ignore_errors=True)


def read(path):
    with open(path, "rb") as file:
        return file.read().decode("utf-8", "backslashreplace")


def manifest(root, ignore):
    """Every file below root: its kind and the digest of its content."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in folders + names:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, root)
            if any(fnmatch.fnmatch(short, pattern) for pattern in ignore):
                continue
            if os.path.islink(path):
                found[short] = "link to " + os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[short] = hashlib.sha256(file.read()).hexdigest()
            else:
                found[short] = "folder" if os.path.isdir(path) else "special"
    return found


def without_tables(result):
    """A build's results have gigabytes of them, which nobody asks for here."""
    return {name: value for name, value in result.items() if not isinstance(value, list) or len(value) < 1000}


def load_results(folder):
    loaded = []
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".json")):
        try:
            with open(os.path.join(folder, name)) as file:
                loaded.append(without_tables(json.load(file)))
        except (OSError, ValueError):
            loaded.append({"broken": name})
    return loaded


def processes(outcome):
    """Processes that ran under the engine."""
    return sum(max(1, len(result.get("processes") or [])) for result in outcome.results)


LEAST_CACHE_SHARE = 0.99


def cache_share(outcome):
    """Share of the CPU time of all uses of `under` that was spent under the engine; None: no result tells."""
    runs = [r["run"] for r in outcome.results if "cache_share" in r.get("run", {})]
    cpu = sum(run["cpu_seconds"] for run in runs)
    return sum(run["cache_share"] * run["cpu_seconds"] for run in runs) / cpu if cpu else None


def not_observed(case, outcome):
    """What is wrong with Strobe's own results: every use of `under` must leave one, and the children must be in it."""
    found = [f"no valid result in {r['broken']}" for r in outcome.results if "broken" in r]
    found += [f"{s['dropped']} rows of {s['name']} lost" for r in outcome.results for s in r.get("streams", []) if s["dropped"]]
    if not outcome.results:
        found.append("no use of strobe left a result")
    if any("engine" in result for result in outcome.results):
        return found  # A trace tells nothing of processes.
    children = processes(outcome) - len(outcome.results)
    share = cache_share(outcome)
    if share is not None and share < LEAST_CACHE_SHARE and not case.native:
        found.append(f"only {100 * share:.1f} % of the CPU time under the engine")
    if children < case.children:
        found.append(f"{children} children ran under the engine, there should be {case.children} at least")
    return found


def first_difference(one, two):
    """The first line that differs between two texts, for people."""
    lines = zip(one.splitlines() + [None] * 1000000, two.splitlines() + [None])
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            show = [("nothing more" if text is None else repr(text[:160])) for text in (left, right)]
            return f"line {number}: natively {show[0]}, here {show[1]}"
    return "line ends differ"


def differences(native, other):
    """What is not the same, as a list of sentences; empty: all the same."""
    found = []
    if other.timed_out:
        return [f"stopped after {other.seconds:.0f} s (natively {native.seconds:.1f} s); still running: "
                + ", ".join(other.running[:12])]
    if native.exit != other.exit:
        found.append(f"exit code {other.exit}, natively {native.exit}")
    if native.output != other.output:
        found.append("output, " + first_difference(native.output, other.output))
    for name in sorted(set(native.files) | set(other.files)):
        if native.files.get(name) != other.files.get(name):
            kind = "is missing" if name not in other.files else "is new" if name not in native.files else "differs"
            found.append(f"file {name} {kind}")
    if found and other.errors:
        found.append("its stderr ends with: " + other.errors.strip()[-600:])
    return found
