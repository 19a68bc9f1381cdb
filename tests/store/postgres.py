# SPDX-License-Identifier: GPL-3.0-or-later
"""A PostgreSQL server for tests, in a temporary folder; it is reached only by a socket in that folder."""
import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

WAIT = 120  # s: a busy machine may take long to start it


def programs():
    """The folder of Debian's newest server, or of the one in PATH; None: there is none."""
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda f: float(f.split("/")[4]), reverse=True):
        if os.path.exists(folder + "/initdb"):
            return folder
    found = shutil.which("initdb")
    return os.path.dirname(os.path.realpath(found)) if found else None


class Server:
    """The server refuses to run as root; it then runs as the user nobody."""

    def __init__(self):
        self.bin = programs()
        self.databases = 0
        self.folder = Path(tempfile.mkdtemp(prefix="strobe-pg-", dir="/tmp"))  # the path of a socket must be short
        self.as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"] if os.geteuid() == 0 else []
        if self.as_user:
            os.chown(self.folder, 65534, 65534)
        self.folder.chmod(0o755)  # the socket is in it
        self.data = self.folder / "data"
        secret = self.folder / "secret"
        secret.write_text("right\n", encoding="ascii")
        secret.chmod(0o644)
        self.call("initdb", "-D", self.data, "-U", "strobe", "-E", "UTF8", "--locale=C", "-N", "-A", "scram-sha-256", "--pwfile", secret)
        self.start()

    def call(self, name, *words):
        done = subprocess.run([*self.as_user, f"{self.bin}/{name}", *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, timeout=WAIT + 30)
        assert done.returncode == 0, (name, words, done.stdout, done.stderr)

    def start(self):
        self.call("pg_ctl", "-D", self.data, "-w", "-t", str(WAIT), "-l", self.folder / "log", "-o",
                  f"-k {self.folder} -c listen_addresses='' -c shared_buffers=8MB -c max_connections=20 -c autovacuum=off", "start")

    def stop(self, how="fast"):
        self.call("pg_ctl", "-D", self.data, "-w", "-t", str(WAIT), "-m", how, "stop")

    def close(self):
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, database, user="strobe"):
        host = str(self.folder).replace("/", "%2F")
        return f"postgresql://{user}@{host}/{database}"

    def database(self, more=""):
        """Creates a database; its name."""
        self.databases += 1
        self.sql(f"CREATE DATABASE d{self.databases} {more}")
        return f"d{self.databases}"

    def sql(self, text, database="postgres"):
        """The rows that psql prints, as lists of texts."""
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", self.address(database), "-c", text],
                              env={**os.environ, "PGPASSWORD": "right", "PGOPTIONS": "-c search_path=strobe", "LC_ALL": "C"}, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, (text, done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]
