#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the small programs of tests/programs natively and under the engine and compares everything that can be seen:
stdout, exit code or signal, the program's stderr, and the files it leaves. Each source says in its first comment how it
wants to be run (`strobe-test: key=value ...`, see tests/programs/README.md)."""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
VARIANTS = ["", "-static", "-static-pie", "-nonpie", "-O0", "-O3", "-clang"]
KEYS = {"name", "args", "env", "exit", "follow", "stdin", "timeout", "known", "script", "stderr", "stress", "tools"}
SKIPPED = 77
# What a run under the engine may take: ptrace, translation, stress and a busy machine together; a hang, not a speed limit.
TIMEOUT = 60


class Case:
    """One program with one way of running it."""

    def __init__(self, name, program, keys):
        self.name = name
        self.program = program
        self.args = shlex.split(keys.get("args", ""))
        self.env = dict(pair.split("=", 1) for pair in shlex.split(keys.get("env", "")))
        self.exit = int(keys.get("exit", "0"))
        self.follow = keys.get("follow") == "1"
        self.stdin = keys.get("stdin", "")
        self.timeout = float(keys.get("timeout", TIMEOUT))
        self.known = keys.get("known")
        self.script = keys.get("script")
        self.stderr = keys.get("stderr", "same")
        self.tools = keys["tools"].split(",") if "tools" in keys else None
        self.stress = keys["stress"].split(",") if "stress" in keys else None

    def is_about(self, stress):
        """Is the program run under these stress modes? It names the ones whose mechanism it is about, or is run under all."""
        modes = set(stress.split(",")) - {"", "watch"}  # which is about the budget
        return not modes or self.stress is None or not modes.isdisjoint(self.stress)

    def command(self, folder):
        """The command line; a script case first writes the script."""
        if not self.script:
            return [str(self.program), *self.args]
        path = folder / "script"
        path.write_text(self.script.replace("PROGRAM", str(self.program)).replace("\\n", "\n") + "\n")
        path.chmod(0o755)
        return ["./script", *self.args]


class Outcome:
    def __init__(self, code, out, err, files, timed_out, seconds, cpu):
        self.code, self.out, self.err, self.files = code, out, err, files
        self.timed_out, self.seconds, self.cpu = timed_out, seconds, cpu


# What became of one run or of a whole case; seconds and cpu are those of its runs under the engine.
Result = collections.namedtuple("Result", "status text seconds cpu", defaults=(0, 0))


def annotations(source):
    """The `strobe-test:` lines of a source's head, each a dictionary."""
    for line in source.read_text(errors="replace").split("\n")[:40]:
        found = re.fullmatch(r"/\* strobe-test:(.*) \*/", line)
        if not found:
            continue
        keys = {}
        for word in shlex.split(found.group(1)):
            key, _, value = word.partition("=")
            if key not in KEYS:
                sys.exit(f"{source}: unknown key '{key}' in its strobe-test line; known are {', '.join(sorted(KEYS))}")
            keys[key] = value
        yield keys


def find_cases(sources, programs, pattern, brief):
    cases, missing = [], []
    for source in sorted(p for p in sources.rglob("*") if p.suffix in (".c", ".cpp", ".S")):
        stem = "-".join(source.relative_to(sources).with_suffix("").parts)
        for keys in annotations(source):
            built = [v for v in VARIANTS if (programs / (stem + v)).is_file()]
            if not built:
                missing.append(stem)
            for variant in built[:1] if brief else built:
                name = stem + variant + (":" + keys["name"] if "name" in keys else "")
                if not pattern or re.search(pattern, name):
                    cases.append(Case(name, programs / (stem + variant), keys))
    if missing:
        sys.exit(f"not built: {', '.join(sorted(set(missing)))}; build the tests first, or give --programs")
    return cases


def snapshot(folder):
    """Every file below a folder with its mode and content."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            content = ""
        seen[str(path.relative_to(folder))] = (info.st_mode, content)
    return seen


def kill_session(process):
    """Ends a run that took too long: its process group, and what is left of its session."""
    for pid in [process.pid, *session_members(process.pid)]:
        for end in (os.killpg, os.kill):
            try:
                end(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
    process.wait()


def session_members(session):
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == session:
                    members.append(int(entry.name))
            except OSError:
                pass
    return members


def wait_for(process, limit):
    """The CPU seconds of a process that ends in time, else None. Popen.wait with a limit looks every 50 ms only."""
    fd = os.pidfd_open(process.pid)
    try:
        if not select.select([fd], [], [], limit)[0]:
            return None
    finally:
        os.close(fd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def execute(command, case, folder):
    """Runs a command in an empty folder, its output in files so that nobody waits for a left-over child's pipe."""
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C", **case.env}
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as into:
        into.write(case.stdin.encode())
        into.seek(0)
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=into, stdout=out, stderr=err, start_new_session=True)
        cpu = wait_for(process, case.timeout)
        if cpu is None:
            kill_session(process)
        seconds = time.monotonic() - start
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        for stream in (out, err):
            stream.seek(0)
        return Outcome(code, out.read(), err.read(), snapshot(folder), cpu is None, seconds, cpu or 0)


def run_native(case, root):
    folder = Path(tempfile.mkdtemp(dir=root))
    return execute(case.command(folder), case, folder)


def strobe_words(options, tool, stress, follow, result):
    words = [str(options.strobe), "run", "-t", tool, "-o", str(result), *shlex.split(options.options)]
    if stress:
        words += ["--stress", stress]
    if follow:
        words += ["--follow"]
    return words


def run_strobe(case, options, root, tool, stress, follow):
    folder = Path(tempfile.mkdtemp(dir=root))
    result = Path(tempfile.mkdtemp(dir=root)) / "result.db"
    command = strobe_words(options, tool, stress, follow, result) + ["--", *case.command(folder)]
    return execute(command, case, folder)


def show(data):
    text = data.decode(errors="replace").strip()
    return "(nothing)" if not text else repr(text if len(text) < 300 else text[:140] + " ... " + text[-140:])


def difference(native, under, case):
    """One sentence on how the run under the engine differs, or None."""
    if under.timed_out:
        return f"no end within {case.timeout:.0f} s; stdout so far {show(under.out)}"
    if under.code != native.code:
        return f"exit code {under.code}, natively {native.code}; stderr {show(under.err)}"
    if under.out != native.out:
        return f"stdout {show(under.out)}, natively {show(native.out)}"
    if case.stderr == "same" and native.err.strip() not in under.err:
        return f"stderr {show(under.err)}, natively {show(native.err)}"
    if under.files != native.files:
        names = sorted(n for n in native.files.keys() | under.files.keys() if native.files.get(n) != under.files.get(n))
        return f"files differ: {', '.join(names)}"
    return None


def reproduce(case, options, tool, stress, follow):
    words = strobe_words(options, tool, stress, follow, "/tmp/result.db")
    target = [str(case.program), *case.args] if not case.script else ["SCRIPT", *case.args]
    env = " ".join(f"{k}={shlex.quote(v)}" for k, v in case.env.items())
    return (env + " " if env else "") + shlex.join(words + ["--", *target])


def settings(case, options):
    """Every (tool, stress, follow) that a case is run with."""
    for tool in options.tools.split(","):
        if case.tools and tool not in case.tools:
            continue
        for stress in filter(case.is_about, options.stress or [""]):
            if not (case.follow and options.brief):
                yield tool, stress, False
            if case.follow:
                yield tool, stress, True


def check_setting(case, options, root, native, setting):
    tool, stress, follow = setting
    seconds = cpu = 0
    for _ in range(options.repeat):
        under = run_strobe(case, options, root, tool, stress, follow)
        seconds, cpu = seconds + under.seconds, cpu + under.cpu
        wrong = difference(native, under, case)
        if wrong:
            break
    status = "passed" if not wrong else "known" if case.known else "failed"
    text = f"{case.name} [{tool}{' ' + stress if stress else ''}{' follow' if follow else ''}]"
    if wrong:
        text += f": {wrong}\n    {reproduce(case, options, tool, stress, follow)}"
    if status == "known":
        text += f"\n    known: {case.known}"
    return Result(status, text, seconds, cpu)


def check_case(case, options):
    """The results of one case; a native run that is wrong in itself is a failure of the test."""
    root = Path(tempfile.mkdtemp(prefix="strobe-engine-"))
    try:
        if not options.native_only and not list(settings(case, options)):
            return []
        native = run_native(case, root)
        if native.code == SKIPPED and case.exit != SKIPPED:
            return [Result("skipped", f"{case.name}: {show(native.out + native.err)}")]
        if native.timed_out or native.code != case.exit:
            return [Result("failed", f"{case.name}: natively exit code {native.code}, should be {case.exit}; {show(native.err)}")]
        if options.native_only:
            again = run_native(case, root)
            wrong = difference(native, again, case)
            text = f"{case.name}: a second native run: {wrong}" if wrong else case.name
            return [Result("failed" if wrong else "passed", text, again.seconds, again.cpu)]
        return [check_setting(case, options, root, native, setting) for setting in settings(case, options)]
    finally:
        shutil.rmtree(root, ignore_errors=True)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strobe", type=Path, default=HERE / "../../build/strobe", help="the strobe to test")
    parser.add_argument("--programs", type=Path, default=HERE / "../../build/tests/programs", help="folder of the built programs")
    parser.add_argument("--sources", type=Path, default=HERE / "../programs", help="folder of their sources")
    parser.add_argument("--tools", default="null,bbcount,hot", help="comma-separated tools (default: %(default)s)")
    parser.add_argument("--options", default="", help="options of strobe run in every run")
    parser.add_argument("--stress", action="append", help="stress modes of one pass, comma-separated; may be repeated; '' is none")
    parser.add_argument("--brief", action="store_true", help="only the first build of each program, and only with --follow if it has children")
    parser.add_argument("--filter", help="only cases whose name matches this regular expression")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each case under the engine")
    parser.add_argument("--native-only", action="store_true", help="only check that each program is deterministic natively")
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="also name what passed, and the time that each run took")
    options = parser.parse_args()
    options.strobe = options.strobe.resolve()
    options.programs = options.programs.resolve()
    if not options.native_only and not options.list and not os.access(options.strobe, os.X_OK):
        parser.error(f"no strobe at {options.strobe}; build it, or name it with --strobe")
    return options


def heed_signals():
    """What a shell's background jobs ignore, programs would ignore natively as well."""
    for signo in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(signo) == signal.SIG_IGN:
            signal.signal(signo, signal.SIG_DFL)


def main():
    options = parse_options()
    heed_signals()
    cases = find_cases(options.sources.resolve(), options.programs, options.filter, options.brief)
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if not cases:
        sys.exit("no case matches")
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda case: check_case(case, options), cases):
            for result in results:
                counts[result.status] += 1
                if result.status != "passed" or options.verbose:
                    spent = f" ({result.seconds:.1f} s, CPU {result.cpu:.1f} s)" if options.verbose else ""
                    print(f"{result.status.upper() if result.status == 'failed' else result.status} {result.text}{spent}", flush=True)
    if counts["known"]:
        print(f"{counts['known']} known to fail")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
