# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Slurm: munged, one slurmctld and two slurmd on the loopback interface, in a folder that goes with it."""
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "setpriv")
CONFIGURATION = """ClusterName=strobe
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=60
InactiveLimit=0
KillWait=5
SchedulerParameters=sched_interval=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=test Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


class Unavailable(Exception):
    """Slurm cannot run here; the text says why."""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """Use it with `with`; its environment is for programs that ask it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.daemons = {}
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        missing = [name for name in NEEDED if not shutil.which(name, path=path)]
        if missing or os.geteuid() != 0:
            raise Unavailable(f"no {missing[0]}" if missing else "Slurm's daemons of several nodes need root")
        self.folder.mkdir(mode=0o755)
        for name in ("state", "spool-n1", "spool-n2"):
            (self.folder / name).mkdir()
        values = {"folder": self.folder, "ports": free_ports(3), "host": socket.gethostname().split(".")[0]}
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(**values), encoding="utf-8")
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                    f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed", "--num-threads=2")
        self.wait(lambda: (self.folder / "munge.socket").exists(), "munged does not start")
        self.daemon("slurmctld", "-D", "-c", "-f", str(self.folder / "slurm.conf"))
        self.start_node("n1")
        self.start_node("n2")
        self.wait(lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"], "the nodes do not become idle")
        if self.run("sbatch", "--wait", "--output=/dev/null", "--wrap=true").returncode:
            raise Unavailable("a job fails that does nothing")

    def start_node(self, name):
        self.daemon("slurmd", "-D", "-N", name, "-f", str(self.folder / "slurm.conf"), called=name)

    def daemon(self, *argv, called=None):
        """It ends with this process, also if that is killed."""
        with open(self.folder / "daemons.log", "ab") as log:
            self.daemons[called or argv[0]] = subprocess.Popen(["setpriv", "--pdeathsig=KILL", "/usr/sbin/" + argv[0], *argv[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                               env={**os.environ, **self.environment}, start_new_session=True)

    def wait(self, true, problem, seconds=40):
        until = time.monotonic() + seconds
        while not true():
            ended = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if ended or time.monotonic() > until:
                raise Unavailable(f"{ended[0]} ended" if ended else problem)
            time.sleep(0.2)

    def run(self, *argv):
        try:
            return subprocess.run(argv, env={**os.environ, **self.environment}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
        except subprocess.TimeoutExpired as why:
            raise Unavailable(f"{argv[0]} does not answer") from why

    def ask(self, *argv):
        return self.run(*argv).stdout.decode()

    def stop(self):
        """Ends the jobs, then the daemons, and waits for all of them."""
        if "slurmctld" in self.daemons and self.daemons["slurmctld"].poll() is None:
            try:
                self.ask("scancel", "--user=root", "--signal=KILL", "--full")
                self.ask("scancel", "--user=root")
                time.sleep(1)
            except Unavailable:
                pass
        for daemon in reversed(list(self.daemons.values())):
            self.end(daemon)
        self.end_steps()
        self.daemons = {}

    @staticmethod
    def end(daemon):
        daemon.terminate()
        try:
            daemon.wait(10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def end_steps(self):
        """slurmstepd outlives slurmd; those of this Slurm have its configuration in their environment."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in Path("/proc", process, "environ").read_bytes().split(b"\0") and int(process) != os.getpid():
                    os.kill(int(process), signal.SIGKILL)
            except OSError:
                pass
