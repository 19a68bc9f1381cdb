# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills strobe, the process that attaches for it (the agent), or both, at a random moment of a run: the program must end as it does
natively, with its output, exit code, signal masks and descriptors, and nothing may be left running."""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import supervise
from robustness import tries

HELP = "strobe is killed at random moments"
HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED, EXIT = "begun\n0 wrong, some alarms\n", 7
UNBEGUN, LATE = "before its start", "after its end"
STILLBORN = 125  # strobe's child, when strobe is gone before it lets it become the program
PATIENCE = 60  # seconds, for what takes half of one
PR_SET_CHILD_SUBREAPER = 36

# name: the program's way, strobe's words; who is killed in those that attach.
RUNS = {
    "run": ("plain", "run -q -t hot"),
    "run, threads": ("threads", "run -q -t bbcount"),
    "streams": ("plain", "run -q -t memtrace"),
    "streams, threads": ("threads", "run -q -t memtrace"),
    "streams, -b": ("plain", "run -q -t memtrace -b 20% -T 50ms"),
    "paths": ("plain", "paths"),
    "paths, threads": ("threads", "paths"),
    "--funcs": ("plain", "run -q -t calls --funcs compute,mix"),
    "-b": ("threads", "run -q -t branches -b 10% -T 50ms"),
    "--unique-log": ("threads", "run -q -t branches -b 10% -T 20ms --unique-log log"),
    "--follow": ("tree", "run -q -t bbcount --follow"),
    "--follow, paths": ("tree", "paths --follow"),
    "--follow, --unique-log": ("tree", "run -q -t bbcount --follow -b 10% -T 20ms --unique-log log"),
    "--follow, -b of all": ("tree", "run -q -t bbcount --follow -b 10% -T 20ms --budget-share tree"),
    "--follow, streams": ("tree", "run -q -t memtrace --follow"),
}
ATTACHED = {
    "attach: strobe": ("threads", "attach -q -t bbcount --for 200ms", ("strobe",)),
    "attach: agent": ("threads", "attach -q -t bbcount --for 200ms", ("agent",)),
    "attach: both": ("threads", "attach -q -t bbcount --for 200ms", ("agent", "strobe")),
    "attach, streams": ("threads", "attach -q -t memtrace --for 200ms", ("strobe",)),
    "attach, -b": ("threads", "attach -q -t branches -b 10% -T 20ms --for 200ms", ("agent", "strobe")),
    "attach, paths": ("threads", "paths --for 200ms -p", ("strobe", "agent")),
    "attach, one thread": ("plain", "attach -q -t hot --for 200ms", ("agent",)),
}


def options(a):
    a.add_argument("-n", "--tries", type=int, default=200, help="kills in each mode (default 200)")
    a.add_argument("-m", "--modes", help=f"only those between the commas that begin so: {'; '.join([*RUNS, *ATTACHED])}")


class Session:
    """The processes of one try. Orphans become this process's children, which waits for all of them."""

    def __init__(self, t, program, way, words, attached):
        self.t, self.folder = t, t.folder
        self.output = os.path.join(t.folder, "out")
        self.program = [program, way, "0.6" if attached else "0.25"]
        self.words = [t.args.strobe, *words.split()]
        self.environment = dict(os.environ, TMPDIR=t.folder)
        self.ends, self.killed = {}, []
        self.main = None

    def start(self, words):
        with open(self.output, "ab") as out, open(os.path.join(self.folder, "err"), "ab") as err:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.folder, env=self.environment).pid

    def said(self):
        with open(self.output) as file:
            return file.read()

    def take_ends(self):
        """Notes who has ended; False when there is nobody left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return True
                self.ends[pid] = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            return False

    def wait(self, condition, seconds):
        end = time.monotonic() + seconds
        while self.take_ends() and not condition() and time.monotonic() < end:
            time.sleep(0.005)

    def begin(self, attached):
        if not attached:
            return self.start([*self.words, "-o", "result.db", "--", *self.program])
        self.main = self.start(self.program)
        self.wait(lambda: self.said(), PATIENCE)
        last = self.words[-1:] if self.words[-1] == "-p" else []
        words = self.words[:-1] if last else self.words
        return self.start([*words, "-o", "result.db", *last, str(self.main)])


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all(session, strobe, whom):
    """A pid is not another's: nobody has waited for strobe's end, and the agent's parent is strobe until it has ended."""
    session.take_ends()
    if strobe in session.ends:
        return
    agents = [pid for pid in children_of(strobe) if name_of(pid) in ("strobe", "strobe-agent") and pid != session.main]
    for who in whom:
        for pid in agents if who == "agent" else [strobe]:
            session.killed.append(pid)
            kill(pid)


def verdict_of(session, strobe, left):
    said = re.sub(r"(?s).*?(?=begun)", "", session.said(), count=1) if "begun" in session.said() else ""
    others = {pid: code for pid, code in session.ends.items() if pid not in (strobe, *session.killed)}
    if left:
        return tries.Verdict(f"still there after {PATIENCE} s: {', '.join(left)}")
    if session.main is None and not said and all(code in (-signal.SIGKILL, STILLBORN) for code in others.values()):
        return tries.Verdict(note=UNBEGUN)
    if not said.startswith(EXPECTED):
        return tries.Verdict(f"output {said!r}, ends {list(others.values())}")
    if session.main:  # the agent ends as it likes
        others = {session.main: session.ends.get(session.main)}
    if any(code != EXIT for code in others.values()):  # or none: strobe has waited for the program before it was killed
        return tries.Verdict(f"ends {list(others.values())} instead of {EXIT}")
    return tries.Verdict(note=None if session.killed and others else LATE)


def attempt(t, program, way, words, whom, span):
    """One kill, in a process of its own."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    session = Session(t, program, way, words, whom is not None)
    strobe = session.begin(whom is not None)
    time.sleep(t.random.uniform(0, span))
    kill_all(session, strobe, whom or ("strobe",))
    session.wait(lambda: False, PATIENCE)
    left = [f"{name} {pid}" for pid, name in supervise.descendants()]
    supervise.end_all()
    return verdict_of(session, strobe, left)


def apart(function, *arguments):
    """Its answer, from a process of its own: what is waited for there is nobody else's."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            verdict = function(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            verdict = tries.Verdict(f"the try itself failed: {error!r}")
        os.write(there, f"{verdict.failure or ''}\0{verdict.note or ''}".encode())
        os._exit(0)
    os.close(there)
    with open(here, "rb") as file:
        failure, note = file.read().decode().split("\0")
    os.waitpid(pid, 0)
    return tries.Verdict(failure or None, note or None)


def span_of(t, program, way, words, whom):
    """How long a run takes that nobody kills."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="robust.") as folder:
        t.folder = folder
        session = Session(t, program, way, words, whom is not None)
        strobe = session.begin(whom is not None)
        if whom is not None:
            begin = time.monotonic()
        while strobe not in session.ends:
            pid, status = os.wait()
            session.ends[pid] = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        while session.main and session.main not in session.ends:
            pid, status = os.wait()
            session.ends[pid] = os.waitstatus_to_exitcode(status)
    return seconds


def run(args):
    compiler = shutil.which("cc") or shutil.which("gcc")
    modes = {name: (*mode, None) for name, mode in RUNS.items()} | ATTACHED
    wanted = args.modes.split(",") if args.modes else [""]
    modes = {name: mode for name, mode in modes.items() if any(name.startswith(w.strip()) for w in wanted)}
    with tempfile.TemporaryDirectory(prefix="robust.") as folder:
        program = os.path.join(folder, "killed")
        os.chmod(folder, 0o755)
        subprocess.run([compiler, "-O1", "-o", program, os.path.join(HERE, "killed.c"), "-lpthread", "-ldl"], check=True)
        spans = {name: span_of(tries.Try(name, 0, None, None, args), program, *mode) for name, mode in modes.items()}
        count = min(args.tries, 2) if args.short else args.tries
        verdicts = tries.run_all(args, modes, range(count),
                                 lambda t: apart(attempt, t, program, *modes[t.kind], spans[t.kind]))
    remarks = ["killed with SIGKILL at a moment that is random between the start of strobe and the end of a run that nobody disturbs",
               "before its start: the program had not executed an instruction, and did not; after its end: strobe was through already, or only its agent was killed"]
    return tries.table_of(verdicts, "mode", [UNBEGUN, LATE], remarks)
