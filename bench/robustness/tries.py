# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of bench/robust share: tries side by side, each with its own folder and random numbers, and their table."""
import concurrent.futures
import dataclasses
import os
import random
import shutil
import tempfile


@dataclasses.dataclass
class Try:
    """One of many: `random` depends on the seed, the kind and the number only."""
    kind: str
    number: int
    folder: str
    random: random.Random
    args: object


@dataclasses.dataclass
class Verdict:
    """failure: what was wrong, or None. note: what else is to be counted, such as "before its start"."""
    failure: str = None
    note: str = None


@dataclasses.dataclass
class Table:
    header: list
    rows: list
    remarks: list
    figures: dict
    failures: list


def run_all(args, kinds, numbers, function):
    """function(try) -> Verdict for each kind and number, --jobs of them side by side. A dictionary: kind -> list of verdicts."""
    scratch = tempfile.mkdtemp(prefix="robust.")
    os.chmod(scratch, 0o755)
    kept = False

    def one(job):
        kind, number = job
        folder = os.path.join(scratch, f"{kind.replace(' ', '_')}.{number}".replace("/", "_"))
        os.mkdir(folder)
        verdict = function(Try(kind, number, folder, random.Random(f"{args.seed} {kind} {number}"), args))
        if not (verdict.failure and args.keep):
            shutil.rmtree(folder, ignore_errors=True)
        return kind, number, folder, verdict

    jobs = [(kind, number) for number in numbers for kind in kinds]
    verdicts = {kind: [] for kind in kinds}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kind, number, folder, verdict in pool.map(one, jobs):
            verdicts[kind].append(verdict)
            if verdict.failure:
                kept = kept or args.keep
                where = f" ({folder})" if args.keep else ""
                print(f"{kind} {number}: {verdict.failure}{where}", flush=True)
    if not kept:
        shutil.rmtree(scratch, ignore_errors=True)
    return verdicts


def table_of(verdicts, what, notes, remarks):
    """One row for each kind: tries, failures, and how many had each of the notes."""
    header = [what, "tries", "failed", *notes]
    rows, failures = [], []
    for kind, all_ in verdicts.items():
        failed = [(i, v.failure) for i, v in enumerate(all_) if v.failure]
        rows.append([kind, len(all_), len(failed), *(sum(v.note == note for v in all_) for note in notes)])
        failures += [f"failed: {kind}: {text}" for i, text in failed]
    figures = {kind: [dataclasses.asdict(v) for v in all_] for kind, all_ in verdicts.items()}
    return Table(header, rows, remarks, figures, failures)
