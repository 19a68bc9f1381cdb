# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers and other programs whose quality of service is a number that can be asked for, each with something that keeps it busy.
All of them listen on the loopback only, and keep what they write in one folder."""
import os
import shutil
import signal
import socket
import subprocess
import time

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def await_port(port, limit=60):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


class Service:
    """One of them, started anew for each measurement: begin(prefix), while it is asked, end()."""
    name = packages = metric = ""
    period = "200ms"
    follow = False
    share = "thread"  # whose a budget is
    user = None  # that it runs as, when we are root
    file = None  # that is made anew for each measurement, and that its source reads
    warm_up = 1.5  # seconds under its load that no reading counts
    cpu = None  # where it, what is before it and what keeps it busy run; None: anywhere

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name)
        os.makedirs(self.folder)
        self.port = free_port()
        self.processes = []
        if self.user and os.getuid() == 0:
            os.chmod(folder, 0o755)
            shutil.chown(self.folder, self.user)
        try:
            self.prepare()
        except Exception:
            self.kill()
            raise

    def path(self, name):
        return os.path.join(self.folder, name)

    def pin(self):
        """For preexec_fn."""
        if self.cpu is not None:
            os.sched_setaffinity(0, {self.cpu})

    def start(self, words, output="log", user=None):
        with open(self.path(output), "wb") as out:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder,
                                       start_new_session=True, preexec_fn=self.pin, user=user if os.getuid() == 0 else None)
        self.processes.append(process)
        return process

    def begin(self, prefix):
        """Starts it, prefix before its own words. Returns when it serves."""
        if self.file and os.path.exists(self.path(self.file)):
            os.remove(self.path(self.file))
        self.start(prefix + self.command(), user=self.user)
        self.wait_until_it_serves()

    def keep_busy(self):
        self.start(self.load(), "load.log")

    def wait_until_it_serves(self):
        await_port(self.port)

    def end(self):
        """First what keeps it busy. Returns what the service's process, or what is before it, exited with."""
        for process in self.processes[:0:-1]:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        server, self.processes = self.processes[0], []
        server.terminate()
        try:
            return server.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            return None

    def kill(self):
        """Whatever still runs."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def prepare(self):
        """What is made once."""

    def command(self):
        raise NotImplementedError

    def load(self):
        raise NotImplementedError

    def source(self):
        raise NotImplementedError


class Redis(Service):
    name, packages, metric = "redis", "redis-server redis-tools", "commands a second"

    def command(self):
        return ["/usr/bin/redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]

    def load(self):
        return ["/usr/bin/redis-benchmark", "-p", str(self.port), "-t", "get", "-c", "50", "-n", "1000000000", "-q"]

    def source(self):
        return f"redis:{self.port}:total_commands_processed/s"


class Nginx(Service):
    name, packages, metric, file = "nginx", "nginx wrk", "requests a second", "access.log"

    def prepare(self):
        with open(self.path("index.html"), "w") as page:
            page.write("x" * 4000)
        with open(self.path("nginx.conf"), "w") as conf:
            conf.write(f"daemon off; master_process off; pid {self.path('pid')}; error_log {self.path('error.log')};\n"
                       "events { worker_connections 256; }\nhttp { gzip on; gzip_min_length 1; log_format x '$status';\n"
                       + "".join(f"{kind}_temp_path {self.path(kind)};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
                       + f"access_log {self.path(self.file)} x; server {{ listen 127.0.0.1:{self.port}; root {self.folder}; }} }}\n")

    def command(self):
        return ["/usr/sbin/nginx", "-e", self.path("error.log"), "-c", self.path("nginx.conf")]

    def load(self):
        return ["/usr/bin/wrk", "-t", "1", "-c", "16", "-d", "1h", "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{self.port}/index.html"]

    def source(self):
        return f"rate:{self.path(self.file)}:^200"


class PostgreSQL(Service):
    # One budget for all processes: many live for some ms only, and would earn nothing of their own.
    share = "tree"
    # New connections do three quarters of their work in their first second, and each tells once a second what it did; its source
    # looks back two.
    warm_up = 4
    name, packages, metric, follow, user = "postgresql", "postgresql postgresql-contrib", "transactions a second", True, "postgres"

    def bin(self, name):
        folders = sorted(os.listdir("/usr/lib/postgresql"), key=float)
        return f"/usr/lib/postgresql/{folders[-1]}/bin/{name}"

    def run(self, *words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
                       user=self.user if os.getuid() == 0 else None)

    def prepare(self):
        self.run(self.bin("initdb"), "-D", self.path("data"), "-U", "postgres", "-A", "trust", "--no-sync")
        server = self.start(self.command(), user=self.user)
        self.wait_until_it_serves()
        self.run(self.bin("pgbench"), *self.to(), "-i", "-s", "5", "postgres")
        server.terminate()
        server.wait()
        self.processes = []

    def to(self):
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]

    def wait_until_it_serves(self):
        for _ in range(600):
            if not subprocess.run([self.bin("pg_isready"), "-q", *self.to()]).returncode:
                return
            time.sleep(0.1)
        raise TimeoutError("postgres does not come up")

    def command(self):
        return [self.bin("postgres"), "-D", self.path("data"), "-p", str(self.port), "-k", self.folder, "-c", "fsync=off",
                "-c", "listen_addresses=127.0.0.1"]

    def load(self):
        return [self.bin("pgbench"), *self.to(), "-n", "-S", "-c", "4", "-T", "3600", "postgres"]

    def source(self):
        return (f"postgresql://postgres@127.0.0.1:{self.port}/postgres "
                "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'; /s")


class MariaDB(Service):
    share = "process"
    name, packages, metric, user = "mariadb", "mariadb-server sysbench", "statements a second", "mysql"

    def prepare(self):
        subprocess.run(["/usr/bin/mariadb-install-db", "--no-defaults", f"--datadir={self.path('data')}", "--skip-test-db",
                        "--auth-root-authentication-method=normal"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       cwd=self.folder, user=self.user if os.getuid() == 0 else None)
        server = self.start(self.command(), user=self.user)
        self.wait_until_it_serves()
        subprocess.run(["/usr/bin/mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(self.port), "-u", "root", "-e",
                        "CREATE DATABASE bench"], check=True)
        subprocess.run(self.sysbench() + ["prepare"], check=True, stdout=subprocess.DEVNULL)
        server.terminate()
        server.wait()
        self.processes = []

    def sysbench(self):
        return ["/usr/bin/sysbench", "oltp_point_select", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.port}",
                "--mysql-user=root", "--mysql-db=bench", "--table-size=20000", "--time=3600", "--threads=4"]

    def command(self):
        return ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={self.path('data')}", f"--port={self.port}", "--bind-address=127.0.0.1",
                f"--socket={self.path('socket')}", f"--pid-file={self.path('pid')}", "--innodb-flush-log-at-trx-commit=0"]

    def load(self):
        return self.sysbench() + ["run"]

    def source(self):
        return f"mysql://root@127.0.0.1:{self.port} SHOW GLOBAL STATUS LIKE 'Questions'; /s"


class Filter(Service):
    """A program that serves by writing a file."""
    file, size = "out", 0

    def source(self):
        return f"growth:{self.path(self.file)}"

    def begin(self, prefix):
        if os.path.exists(self.path(self.file)):
            os.remove(self.path(self.file))
        self.start(prefix + self.command(), self.file)

    def keep_busy(self):
        """It has all that it needs."""


class Gzip(Filter):
    # Of 1 s, as it writes 256 KiB at once.
    name, packages, metric, period = "gzip", "gzip", "bytes a second", "1s"

    def prepare(self):
        subprocess.run(f"/usr/bin/python3 {BENCH}/harness/inputs.py text 60 > {self.path('text')}", shell=True, check=True)

    def command(self):
        # Its input never ends: a thousand times the same file.
        return ["/usr/bin/gzip", "-6", "-c"] + [self.path("text")] * 1000


class Video(Filter):
    # It uses a quarter of a CPU: with periods of 1 s its first one would last for most of a measurement. At 60 frames a second a
    # reading of 200 ms is twelve of them: with 25 it was five, and one that came a little late lay on the threshold.
    name, packages, metric = "ffmpeg", "ffmpeg", "bytes of frames a second"

    def prepare(self):
        subprocess.run(["/usr/bin/ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=60:duration=10",
                        "-c:v", "libx264", "-preset", "fast", self.path("clip.mp4")], check=True, stdin=subprocess.DEVNULL)

    def command(self):
        return ["/usr/bin/ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-threads", "1", "-i", self.path("clip.mp4"),
                "-f", "rawvideo", "-flush_packets", "1", "pipe:1"]


SERVICES = [Redis, Nginx, PostgreSQL, MariaDB, Gzip, Video]
