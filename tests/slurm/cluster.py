"""A private Slurm of two nodes on this machine, with fake GPUs, for tests.

Needs root and the programs of Debian's ``slurm-wlm`` and ``munge`` (with ``slurmdbd`` and
``mariadb-server`` for accounting). Everything lies in one folder: own keys, own configuration, own ports;
nothing of the system is touched. Only processes that were started here are ended, each by its number.
"""

import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "squeue")
ACCOUNTING = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db", "mariadb")
FIRST_PORT = 17400


def missing(programs=PROGRAMS):
    """Why no cluster can be brought up here; empty when one can."""
    if os.geteuid() != 0:
        return "bringing up a Slurm needs root"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in programs if shutil.which(name, path=path) is None]
    return f"Slurm is not installed ({', '.join(absent)})" if absent else ""


class Cluster:
    """The cluster; ``environ`` makes Slurm's programs talk to it.

    Args:
        base: An empty folder.
        nodes, cores, gpus: How much of what.
        accounts: Whether jobs are accounted for in a database, so that ``sacct`` answers.
        port: First of its ports.
    """

    def __init__(self, base, *, nodes=2, cores=4, gpus=2, accounts=False, port=FIRST_PORT):
        self.accounts, self.port, self.has_controller = accounts, port, False
        self.base, self.nodes, self.cores, self.gpus = base, nodes, cores, gpus
        self.host = socket.gethostname().partition(".")[0]
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
            "SLURM_CONF": str(base / "slurm.conf"),
            "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin",
        }
        self.daemons: list[subprocess.Popen[bytes]] = []

    def up(self):
        """Starts the daemons and waits until all nodes are ready; leaves none behind when one fails."""
        try:
            self.begin()
        except BaseException:
            self.down()
            raise
        return self

    def begin(self):
        base = self.base
        for name in ("state", "spool", "log", "dev", "munge"):
            (base / name).mkdir()
        (base / "munge").chmod(0o755)
        key = base / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        for number in range(self.gpus):
            # Slurm wants a character device: another name of /dev/null.
            os.mknod(base / "dev" / f"nvidia{number}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        self.configure()
        self.start(
            "munged", "-F", "--force", f"--key-file={key}", f"--socket={base}/munge/sock",
            f"--pid-file={base}/munge/pid", f"--log-file={base}/log/munged.log",
            f"--seed-file={base}/munge/seed",
        )  # fmt: skip
        self.wait_for((base / "munge" / "sock").exists, "munged")
        if self.accounts:
            self.open_accounts()
        self.start("slurmctld", "-D", "-f", str(base / "slurm.conf"))
        self.has_controller = True
        for number in range(self.nodes):
            (base / "spool" / f"node{number}").mkdir()
            self.start("slurmd", "-D", "-N", f"node{number}", "-f", str(base / "slurm.conf"))
        self.wait_for(lambda: self.ready() == self.nodes, "the nodes")

    def ready(self):
        told = self.run("sinfo", "-h", "-N", "-t", "idle,mix,alloc", "-o", "%N").stdout.split()
        return len(set(told))

    def configure(self):
        base, last = self.base, self.nodes - 1
        ports = f"[{self.port + 1}-{self.port + self.nodes}]"
        (base / "slurm.conf").write_text(f"""\
ClusterName=steptest
SlurmctldHost={self.host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge/sock
CredType=cred/munge
SlurmctldPort={self.port}
SlurmctldPidFile={base}/ctld.pid
SlurmdPidFile={base}/slurmd.%n.pid
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool/%n
SlurmctldLogFile={base}/log/ctld.log
SlurmdLogFile={base}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
InactiveLimit=0
KillWait=3
{self.storage()}
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
GresTypes=gpu
DefMemPerCPU=256
NodeName=node[0-{last}] NodeHostname={self.host} NodeAddr=127.0.0.1 Port={ports} CPUs={self.cores} Sockets=1 CoresPerSocket={self.cores} ThreadsPerCore=1 RealMemory=4000 Gres=gpu:fake:{self.gpus} State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=01:00:00 State=UP
""")
        devices = f"{base}/dev/nvidia[0-{self.gpus - 1}]"
        (base / "gres.conf").write_text(f"AutoDetect=off\nName=gpu Type=fake File={devices}\n")
        (base / "cgroup.conf").write_text(
            "CgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\nConstrainDevices=no\n"
        )

    def storage(self):
        if not self.accounts:
            return "AccountingStorageType=accounting_storage/none"
        return (
            "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\n"
            f"AccountingStoragePort={self.port + 91}\nAccountingStoragePass={self.base}/munge/sock"
        )

    def open_accounts(self):
        """A private database and Slurm's daemon in front of it."""
        base, word = self.base, secrets.token_hex(12)
        store = base / "db"
        store.mkdir()
        shutil.chown(store, "mysql", "mysql")
        # The database runs as its own user, who must be able to come here.
        base.chmod(0o711)
        made = self.run(
            "mariadb-install-db", "--user=mysql", f"--datadir={store}/data", "--skip-test-db",
            "--auth-root-authentication-method=socket",
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        self.start(
            "mariadbd", "--no-defaults", "--user=mysql", f"--datadir={store}/data",
            f"--socket={store}/sock", f"--pid-file={store}/pid", "--bind-address=127.0.0.1",
            f"--port={self.port + 90}", "--innodb-buffer-pool-size=64M",
        )  # fmt: skip
        ask = ("mariadb", "--no-defaults", "-S", f"{store}/sock", "-e")
        self.wait_for(lambda: self.run(*ask, "select 1").returncode == 0, "the database")
        users = "slurm@localhost", "slurm@'127.0.0.1'"
        grants = "".join(
            f"create user {user} identified by '{word}'; grant all on accounts.* to {user};"
            for user in users
        )
        self.run(*ask, f"create database accounts; {grants}")
        settings = base / "slurmdbd.conf"
        settings.touch(mode=0o600)
        settings.write_text(f"""\
AuthType=auth/munge
AuthInfo=socket={base}/munge/sock
DbdHost={self.host}
DbdAddr=127.0.0.1
DbdPort={self.port + 91}
SlurmUser=root
PidFile={base}/slurmdbd.pid
LogFile={base}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={self.port + 90}
StorageUser=slurm
StoragePass={word}
StorageLoc=accounts
""")
        self.start("slurmdbd", "-D")
        show = ("timeout", "5", "sacctmgr", "-n", "-i", "show", "cluster")
        self.wait_for(lambda: self.run(*show).returncode == 0, "slurmdbd")
        self.run("sacctmgr", "-i", "-Q", "add", "cluster", "steptest", seconds=20)

    def start(self, *command):
        with (self.base / "log" / f"{command[0]}.{len(self.daemons)}.out").open("wb") as log:
            daemon = subprocess.Popen(
                command, env=self.environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.daemons.append(daemon)

    def wait_for(self, is_so, what, seconds=30):
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not come up")
            time.sleep(0.1)

    def run(self, *command, seconds=90, environment=None, **more):
        """Runs a program against this cluster."""
        return subprocess.run(
            command,
            env=environment or self.environ,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            **more,
        )

    def down(self):
        """Ends the jobs and then the daemons, last started first."""
        if self.has_controller:
            self.run("scancel", "--me")
            end = time.monotonic() + 10
            while self.run("squeue", "-h").stdout.strip() and time.monotonic() < end:
                time.sleep(0.2)
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(timeout=6)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons.clear()
