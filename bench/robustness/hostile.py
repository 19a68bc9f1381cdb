# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives strobe what nobody in his right mind has made: results that the program writes over while strobe reads them, and profiles,
rows, logs, tools, programs and files of names with bytes changed at random. strobe may refuse them, in a sentence; it must not die of
them, hang, or hand characters on that a terminal acts upon. A strobe that was built with sanitizers says more."""
import os
import re
import shutil
import subprocess
import tempfile

from robustness import tries

HELP = "results and files that are damaged on purpose"
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
REFUSED, CRASHED = "refused", "the program died of it"
PATIENCE = 120  # seconds
SANITIZED = re.compile(rb"runtime error:|ERROR: (Address|Leak|UndefinedBehavior)Sanitizer|\*\*\* (buffer overflow|stack smashing)")
TRICKS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
SOURCE = """
static __attribute__((noinline)) int leaf(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }
static __attribute__((noinline)) int middle(int n) { int s = 0; while (n--) s += leaf(n % 7); return s; }
int main(void) { int t = 0; for (int i = 0; i < 300; i++) t += middle(i % 50); return t == 1; }
"""

# What hostile.c writes over, by strobe's words.
RESULTS = {
    "results, hot": "run -t hot", "results, bbcount": "run -t bbcount", "results, streams": "run -t memtrace",
    "results, tables": "run -t opmix", "results, paths": "paths", "results, -b": "run -t branches -b 20% -T 20ms",
    "results, --unique-log": "run -t branches --unique-log log", "results, --follow": "run -t hot --follow",
    "results, --funcs": "run -t calls --funcs work,main",
}
# name: what is damaged, where its bytes are left as they are, what reads it.
FILES = {
    "profiles": ("hot.db", (0, 100), ["show --stats --images --threads --lines --blocks {}", "show --func main {}",
                                      "report -o page.html {}", "show --format json {}"]),
    "profiles of contexts": ("paths.db", (0, 100), ["paths --from {} --format text", "diff {} paths.db", "report -o page.html {}"]),
    "rows": ("rows.rows", (0, 12), ["show --rows x {}"]),
    "logs": ("log", (0, 100), ["covered --functions --missing {}", "run -q -t branches --unique-log {} -o r.db -- ./program"]),
    "tools": ("tool.tool", (0, 0), ["tools {}", "run -q -t {} -o r.db -- /bin/true"]),
    "programs": ("program", (0, 16), ["show --func main hot.db", "show --lines hot.db", "report -o page.html hot.db"]),
}


def options(a):
    a.add_argument("-n", "--tries", type=int, default=200, help="of each kind (default 200)")
    a.add_argument("-m", "--modes", help=f"only those between the commas that begin so: {'; '.join([*RESULTS, *FILES, 'files of names'])}")


def call(t, words, folder):
    """A failure in words, or None; and strobe's exit code."""
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=1", LC_ALL="C.UTF-8")
    try:
        done = subprocess.run([t.args.strobe, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
                              env=environment)
    except subprocess.TimeoutExpired:
        return f"{' '.join(words)}: does not end", None
    wrong = SANITIZED.search(done.stderr)
    if wrong:
        where = next((line for line in done.stderr.decode(errors="replace").splitlines() if SANITIZED.search(line.encode())), "")
        return f"{' '.join(words)}: {where}", done.returncode
    if done.returncode < 0:
        return f"{' '.join(words)}: signal {-done.returncode}", done.returncode
    trick = TRICKS.search(done.stdout) or TRICKS.search(done.stderr)
    if trick:
        return f"{' '.join(words)}: prints {trick[0]!r}", done.returncode
    return None, done.returncode


def write_over(t, seeds):
    words = RESULTS[t.kind].split()
    failure, code = call(t, [*words, "-q", "-o", "r.db", "--", os.path.join(seeds, "hostile"), "results", str(t.random.randrange(1 << 30))],
                         t.folder)
    if not failure and os.path.exists(os.path.join(t.folder, "r.db")):
        failure, _ = call(t, ["show", "--stats", "--images", "--threads", "r.db"], t.folder)
    return tries.Verdict(failure, REFUSED if code == 125 else CRASHED if code not in (None, 7) else None)


def damage(random, content, kept):
    """Some bytes are others, or it is shorter."""
    content = bytearray(content)
    odd = (0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0xffffffff, (1 << 63) - 1, (1 << 64) - 1)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(content))
        if kept[0] <= at < kept[1]:
            continue
        value = random.choice(odd) if random.random() < 0.5 else random.getrandbits(64)
        length = random.choice((1, 1, 2, 4, 8))
        content[at:at + length] = value.to_bytes(8, "little")[:length][:len(content) - at]
    if random.random() < 0.1:
        del content[random.randrange(kept[1] + 1, len(content)):]
    return bytes(content)


def read_damaged(t, seeds):
    name, kept, readers = FILES[t.kind]
    for other in os.listdir(seeds):
        if other != name:
            os.symlink(os.path.join(seeds, other), os.path.join(t.folder, other))
    with open(os.path.join(seeds, name), "rb") as file:
        content = damage(t.random, file.read(), kept)
    path = os.path.join(t.folder, name if t.kind == "programs" else "damaged" + os.path.splitext(name)[1])
    if t.kind != "programs":
        os.symlink(os.path.join(seeds, name), os.path.join(t.folder, name))
    codes = []
    for reader in readers:
        with open(path, "wb") as file:  # again, as some are written to
            file.write(content)
        os.chmod(path, 0o755)
        failure, code = call(t, reader.format(path).split(), t.folder)
        if failure:
            return tries.Verdict(failure)
        codes.append(code)
    return tries.Verdict(note=REFUSED if any(codes) else None)


def read_names(t, seeds):
    """A shell writes the file of names for its own generated code, of which it has none."""
    random = t.random
    lines = [random.choice(("{:x} {:x} n\x1b[2J{}", "{:x} {:x} {}", "{:x}  {}{}", "{:x} {:x}", "-{:x} {:x} {}", "\0{:x} {:x}\0 {}")).format(
        random.getrandbits(random.choice((12, 47, 64))), random.getrandbits(random.choice((4, 12, 64))), "x" * random.choice((1, 9, 5000)))
        for _ in range(random.randrange(1, 200))]
    with open(os.path.join(t.folder, "names"), "w") as file:
        file.write(random.choice(("\n", "\r\n", "\n\n")).join(lines))
    failure, code = call(t, ["run", "-q", "-t", "hot", "-o", "r.db", "--", "sh", "-c", "cp names /tmp/perf-$$.map; echo $$ >pid"], t.folder)
    with open(os.path.join(t.folder, "pid")) as file:
        os.unlink(f"/tmp/perf-{int(file.read())}.map")
    if not failure:
        failure, code = call(t, ["show", "--images", "r.db"], t.folder)
    return tries.Verdict(failure, REFUSED if code else None)


def attempt(t, seeds):
    if t.kind in RESULTS:
        return write_over(t, seeds)
    return read_damaged(t, seeds) if t.kind in FILES else read_names(t, seeds)


def make_seeds(args, folder):
    """Sound files of every kind."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    with open(os.path.join(folder, "program.c"), "w") as file:
        file.write(SOURCE)
    commands = [[compiler, "-O1", "-g", "-o", "program", "program.c"],
                [compiler, "-O1", "-D_GNU_SOURCE", "-I", f"{ROOT}/src", "-I", f"{ROOT}/include", "-o", "hostile",
                 f"{ROOT}/tests/engine/hostile.c"]]
    commands += [[args.strobe, *words.split()] for words in (
        "run -q -t hot -o hot.db -- ./program", "paths -q -o paths.db -- ./program", "run -q -t memtrace -o rows.db -- /bin/true",
        "run -q -t branches --unique-log log -o r.db -- ./program", f"build-tool -q -I {ROOT}/include -o tool.tool {ROOT}/src/tools/bbcount.c")]
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, env=environment)
    rows = next(name for name in os.listdir(folder) if name.endswith(".rows"))
    os.rename(os.path.join(folder, rows), os.path.join(folder, "rows.rows"))
    os.unlink(os.path.join(folder, "r.db"))


def run(args):
    kinds = [*RESULTS, *FILES, "files of names"]
    wanted = args.modes.split(",") if args.modes else [""]
    kinds = [kind for kind in kinds if any(kind.startswith(w.strip()) for w in wanted)]
    with tempfile.TemporaryDirectory(prefix="robust.") as seeds:
        make_seeds(args, seeds)
        count = min(args.tries, 3) if args.short else args.tries
        verdicts = tries.run_all(args, kinds, range(count), lambda t: attempt(t, seeds))
    remarks = ["failed: strobe died, hung, printed characters that terminals act upon, or a sanitizer complained",
               "refused: strobe said in a sentence that it cannot read it; the program died of it: it wrote over what its own runtime needs"]
    return tries.table_of(verdicts, "what", [REFUSED, CRASHED], remarks)
