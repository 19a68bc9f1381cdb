# SPDX-License-Identifier: GPL-3.0-or-later
"""What a case of the gauntlet is. The files in bench/cases declare them with `case(...)`."""
import dataclasses
import re

CASES = []


@dataclasses.dataclass
class Case:
    """A bash script that does something with a real program and leaves only what must be the same every time.

    In the script, `under PROGRAM ARGS` runs the program under the engine (natively in the native run), `under-all` takes
    its children along as well. It runs in an empty folder; $IN is the folder that `prepare` filled, once, natively; $PART is
    what `--part` says. Its
    standard output, its exit code and every file it leaves in the folder are compared with the native run."""
    name: str
    script: str
    packages: tuple = ()   # Debian packages it needs
    prepare: str = ""      # script that makes the inputs in the current folder
    short: bool = False    # part of ./check
    heavy: bool = False    # takes more than ten seconds natively
    timeout: int = 120     # seconds, native; translated runs get more
    user: str = ""         # run as this user when we are root
    ignore: tuple = ()     # globs of files that may differ
    clean: tuple = ()      # (regular expression, replacement) applied to the standard output before it is compared
    children: int = 0      # at least this many children must have run under the engine (`under-all`)
    group: str = ""
    verify: object = None  # function(harness, case) -> (bool, text) in place of the comparison
    native: str = ""       # why more than 1 % of the CPU time may be native execution
    tools: tuple = ()      # run only under these; empty: all that were asked for

    def cleaned(self, output):
        for pattern, replacement in self.clean:
            output = re.sub(pattern, replacement, output, flags=re.M)
        return output


def case(name, script="", packages="", **more):
    """Declares a case."""
    CASES.append(Case(name=name, script=script, packages=tuple(packages.split()), **more))
    return CASES[-1]
