# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command to its end and leaves nothing behind: supervise.py SECONDS RESULT.json COMMAND...

The supervisor adopts every process that the command orphans (daemons that detach themselves included), so that at the end,
after a time-out, or when its own parent dies, it can end them all and only them. RESULT.json gets the exit code, the times
and what was still running."""
import ctypes
import json
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def stat_fields(pid):
    """(name, state, parent) of a process, or None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as stat:
            text = stat.read()
    except OSError:
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1])


def descendants():
    """Pids below this process, parents before children; zombies left out."""
    parents = {}
    for entry in os.listdir("/proc"):
        fields = stat_fields(entry) if entry.isdigit() else None
        if fields:
            parents.setdefault(fields[2], []).append((int(entry), fields))
    found, todo = [], [os.getpid()]
    while todo:
        for pid, fields in parents.get(todo.pop(), []):
            todo.append(pid)
            if fields[1] not in "ZX":
                found.append((pid, fields[0]))
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def end_all():
    """Kills every descendant; new ones may appear while we look, so look until none is left."""
    for _ in range(200):
        left = descendants()
        if not left:
            return
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        reap()
        time.sleep(0.02)


def main():
    limit, result, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: (end_all(), os._exit(1)))
    begin = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ,
                            setsigdef=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE])
    poll = select.poll()
    poll.register(os.pidfd_open(child), select.POLLIN)
    timed_out = not poll.poll(limit * 1000)
    running = [name for pid, name in descendants() if pid != child] if timed_out else []
    if timed_out:
        end_all()
    try:
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
    except ChildProcessError:  # reaped by end_all
        code, usage = None, None
    seconds = time.monotonic() - begin
    left = descendants()
    end_all()
    reap()
    with open(result, "w") as out:
        json.dump({"exit": code, "seconds": seconds, "timed_out": timed_out, "running": running,
                   "left": sorted({name for _, name in left}),
                   "cpu": usage.ru_utime + usage.ru_stime if usage else None}, out)


if __name__ == "__main__":
    main()
