# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills strobe, the process that attaches for it (the agent), or both, at a random moment of a run: the program must end as it does
natively, with its output, exit code, signal masks and descriptors, and nothing may be left running."""
import ctypes
import dataclasses
import os
import pickle
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
UNBEGUN, LATE = "before its start", "too late"
STILLBORN = 125  # strobe's child, when strobe is gone before it lets it become the program
PATIENCE = 60  # seconds, for what takes half of one
PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass
class Mode:
    """way: the program's; words: strobe's. whom: who is killed; attached: of a program that runs already. steps: whoever traces
    the program kills itself, before or after one of the calls by which it changes it."""
    name: str
    way: str
    words: str
    whom: tuple = ("strobe",)
    attached: bool = False
    steps: bool = False
    span: float = 0  # of a run that nobody disturbs: seconds
    count: int = 0  # of such calls


def attached(name, way, words, *whom, steps=False):
    return Mode(name, way, words, whom, True, steps)


MODES = [
    Mode("run", "plain", "run -q -t hot"),
    Mode("run, threads", "threads", "run -q -t bbcount"),
    Mode("streams", "plain", "run -q -t memtrace"),
    Mode("streams, threads", "threads", "run -q -t memtrace"),
    Mode("streams, -b", "plain", "run -q -t memtrace -b 20% -T 50ms"),
    Mode("paths", "plain", "paths"),
    Mode("paths, threads", "threads", "paths"),
    Mode("--funcs", "plain", "run -q -t calls --funcs compute,mix"),
    Mode("-b", "threads", "run -q -t branches -b 10% -T 50ms"),
    Mode("--unique-log", "threads", "run -q -t branches -b 10% -T 20ms --unique-log log"),
    Mode("--follow", "tree", "run -q -t bbcount --follow"),
    Mode("--follow, paths", "tree", "paths --follow"),
    Mode("--follow, --unique-log", "tree", "run -q -t bbcount --follow -b 10% -T 20ms --unique-log log"),
    Mode("--follow, -b of all", "tree", "run -q -t bbcount --follow -b 10% -T 20ms --budget-share tree"),
    Mode("--follow, streams", "tree", "run -q -t memtrace --follow"),
    Mode("--follow, each step", "tree", "run -q -t bbcount --follow", steps=True),
    attached("attach: strobe", "threads", "attach -q -t bbcount --for 200ms", "strobe"),
    attached("attach: agent", "threads", "attach -q -t bbcount --for 200ms", "agent"),
    attached("attach: both", "threads", "attach -q -t bbcount --for 200ms", "agent", "strobe"),
    attached("attach, streams", "threads", "attach -q -t memtrace --for 200ms", "strobe"),
    attached("attach, -b", "threads", "attach -q -t branches -b 10% -T 20ms --for 200ms", "agent", "strobe"),
    attached("attach, paths", "threads", "paths --for 200ms -p", "strobe", "agent"),
    attached("attach, one thread", "plain", "attach -q -t hot --for 200ms", "agent"),
    attached("attach, each step", "threads", "attach -q -t bbcount --for 100ms", "agent", steps=True),
]
SHORT = ("streams", "streams, -b", "paths", "--unique-log", "--follow", "--follow, --unique-log", "--follow, each step", "attach: strobe",
         "attach: both", "attach, each step")


def options(a):
    a.add_argument("-n", "--tries", type=int, default=200, help="kills in each mode (default 200)")
    a.add_argument("-m", "--modes", help=f"only those between the semicolons that begin so: {'; '.join(m.name for m in MODES)}")


class Session:
    """The processes of one try. Orphans become this process's children, which waits for all of them."""

    def __init__(self, t, mode, tools, **environment):
        self.mode, self.folder = mode, t.folder
        self.output = os.path.join(t.folder, "out")
        self.program = [tools.program, mode.way, "0.6" if mode.attached else "0.25"]
        self.strobe = t.args.strobe
        self.environment = dict(os.environ, TMPDIR=t.folder, **environment)
        self.ends, self.killed = {}, []
        self.main = None

    def start(self, words, environment=None):
        with open(self.output, "ab") as out, open(os.path.join(self.folder, "err"), "ab") as err:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.folder, env=environment).pid

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

    def begin(self):
        """Starts strobe, and before that, perhaps, the program that it attaches."""
        words = [self.strobe, *self.mode.words.split()]
        last = ["--", *self.program]
        if self.mode.attached:
            self.main = self.start(self.program)
            self.wait(self.said, PATIENCE)
            last = [str(self.main)]
            if words[-1] == "-p":
                last.insert(0, words.pop())
        return self.start([*words, "-o", "result.db", *last], self.environment)


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


def agents_of(strobe):
    return [pid for pid in children_of(strobe) if name_of(pid) in ("strobe", "strobe-agent")]


def kill_all(session, strobe, whom):
    """A pid is not another's: nobody has waited for strobe's end, and the agent's parent is strobe until it has ended."""
    session.take_ends()
    if strobe in session.ends:
        return
    agents = agents_of(strobe)
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
    return tries.Verdict(note=None if others and (session.killed or session.mode.steps) else LATE)


def moment(t, mode):
    """When strobe is killed. What attaches has more to do at the beginning and at the end."""
    part = t.random.random() if mode.attached else 0
    if part > 0.7:
        return t.random.uniform(max(0, mode.span - 0.06), mode.span)
    return t.random.uniform(0, mode.span if part < 0.4 else 0.05)


def attempt(t, mode, tools):
    """One kill, in a process of its own."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    steps = {"LD_PRELOAD": tools.preload, "KILL_AT": str(t.random.choice((-1, 1)) * t.random.randint(1, mode.count))} if mode.steps else {}
    session = Session(t, mode, tools, **steps)
    strobe = session.begin()
    if not mode.steps:
        if "agent" in mode.whom:
            session.wait(lambda: agents_of(strobe) or strobe in session.ends, PATIENCE)
        time.sleep(moment(t, mode))
        kill_all(session, strobe, mode.whom)
    session.wait(lambda: False, PATIENCE)
    left = [f"{name} {pid}" for pid, name in supervise.descendants()]
    supervise.end_all()
    verdict = verdict_of(session, strobe, left)
    if verdict.failure and mode.steps:
        verdict.failure += f" (KILL_AT={steps['KILL_AT']})"
    return verdict


def apart(function, *arguments):
    """Its answer, from a process of its own: what is waited for there is nobody else's."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer = function(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            answer = tries.Verdict(f"the try itself failed: {error!r}")
        os.write(there, pickle.dumps(answer))
        os._exit(0)
    os.close(there)
    with open(here, "rb") as file:
        answer = pickle.loads(file.read())
    os.waitpid(pid, 0)
    return answer


def measure(t, mode, tools):
    """The mode, with how long a run takes that nobody kills, and how many calls change the program meanwhile."""
    count = os.path.join(t.folder, "count")
    with open(count, "w"):
        pass
    session = Session(t, mode, tools, LD_PRELOAD=tools.preload, KILL_COUNT=count)
    strobe = session.begin()
    begin = time.monotonic()
    session.wait(lambda: strobe in session.ends, PATIENCE)
    mode.span = time.monotonic() - begin
    session.wait(lambda: False, PATIENCE)
    with open(count) as file:
        mode.count = int(file.read() or 0)
    return mode


@dataclasses.dataclass
class Tools:
    program: str
    preload: str

    @staticmethod
    def build(folder):
        os.chmod(folder, 0o755)
        tools = Tools(os.path.join(folder, "killed"), os.path.join(folder, "kill_at.so"))
        compiler = shutil.which("cc") or shutil.which("gcc")
        subprocess.run([compiler, "-O1", "-o", tools.program, os.path.join(HERE, "killed.c"), "-lpthread", "-ldl"], check=True)
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", tools.preload, os.path.join(HERE, "kill_at.c"), "-ldl"], check=True)
        return tools


def chosen(args):
    wanted = args.modes.split(";") if args.modes else [""]
    modes = [m for m in MODES if any(m.name.startswith(w.strip()) for w in wanted)]
    return [m for m in modes if not args.short or m.name in SHORT]


def run(args):
    with tempfile.TemporaryDirectory(prefix="robust.") as folder:
        tools = Tools.build(folder)
        modes = {}
        for mode in chosen(args):
            with tempfile.TemporaryDirectory(prefix="robust.") as scratch:
                modes[mode.name] = apart(measure, tries.Try(mode.name, 0, scratch, None, args), mode, tools)
        verdicts = tries.run_all(args, modes, range(min(args.tries, 3) if args.short else args.tries),
                                 lambda t: apart(attempt, t, modes[t.kind], tools))
    remarks = ["killed with SIGKILL at a random moment between the start of strobe and the time at which an undisturbed run ends",
               "each step: the process that traces the program kills itself before or after a random one of the calls by which it changes the program",
               "before its start: the program had not executed an instruction, and never did; "
               "too late: the program, or the process that was to be killed, had ended already"]
    return tries.table_of(verdicts, "mode", [UNBEGUN, LATE], remarks)
