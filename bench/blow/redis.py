#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case study of strobe blow: a redis-server that answers redis-benchmark. redis.py STROBE [SECONDS]

All experiments are windows in the one process. The server answers before, between and after them; the rates tell whether the campaigns leave it as it was."""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import Case, numbers

# The ways of a request: waiting, reading, parsing, executing, answering.
FUNCTIONS = "aeProcessEvents,readQueryFromClient,processInputBuffer,call,setKey,lookupKeyReadWithFlags,writeToClient,handleClientsWithPendingWrites,sendReplyToClient,write,read,epoll_wait"


def answered(socket):
    """How many commands the server has executed, and when."""
    text = subprocess.run(["redis-cli", "-s", socket, "info", "stats"], capture_output=True, text=True, check=True, timeout=30).stdout
    return int(text.split("total_commands_processed:")[1].split()[0]), time.monotonic()


def rate(socket, seconds=2):
    first = answered(socket)
    time.sleep(seconds)
    last = answered(socket)
    return (last[0] - first[0]) / (last[1] - first[1])


def main():
    strobe, (seconds,) = sys.argv[1], numbers(45)
    with tempfile.TemporaryDirectory(prefix="strobe-redis-") as place:
        case, socket = Case(strobe, place), f"{place}/socket"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"], cwd=place, stdout=subprocess.DEVNULL)
        load = None
        try:
            for _ in range(100):
                if Path(socket).exists():
                    break
                time.sleep(0.1)
            load = subprocess.Popen(["redis-benchmark", "-s", socket, "-q", "-l", "-t", "set", "-r", "100000", "-d", "100", "-c", "20"], stdout=subprocess.DEVNULL)
            time.sleep(1)
            print(f"before: {rate(socket):.0f} commands a second")
            shared = ["--pid", server.pid, "-F", FUNCTIONS, "--progress", "processCommand", "--timeout", f"{seconds}s"]
            for title, mode in (("slower", "slow-down"), ("faster", "causal")):
                case.ask("-q", "-m", mode, *shared, "-o", f"{mode}.db")
                case.show(f"functions of redis-server, {title}", mode)
            print(f"after: {rate(socket):.0f} commands a second")
        finally:
            for process in filter(None, (load, server)):
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
