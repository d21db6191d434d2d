"""Hosts on one machine: a namespace each for network, processes, names and mounts, and a switch.

A host has an address, a host name, a `/tmp` and a `/dev/shm` of its own, and sees its own processes
alone. Hosts reach each other through the switch, and nothing else. To pull a cable, or a plug, does
what it does with real ones: nobody is told. Everything ends with the program, however that ends.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

NETWORK = "10.77.0"
SWITCH = "gr-switch"
TOOLS = ("ip", "unshare", "nsenter", "setpriv", "mount")
SHARED_MEMORY = "256m"
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL")


class LabError(Exception):
    """Hosts cannot be made here."""


def ip(*words):
    try:
        return subprocess.run(
            ["ip", *words], check=True, capture_output=True, text=True, timeout=30
        ).stdout
    except subprocess.CalledProcessError as error:
        raise LabError(f"ip {' '.join(words)}: {error.stderr.strip()}") from error


def check_that_hosts_can_be_made():
    """Raise LabError where this machine, or this user, cannot make hosts."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise LabError(f"needs {', '.join(missing)}: install iproute2 and util-linux (Linux only)")
    if os.geteuid() != 0:
        raise LabError("needs root, to make network namespaces: run it in a container or with sudo")


def children(pid):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(stat_of(folder)[1]) == pid:
                found.append(int(folder.name))
    return found


def stat_of(folder):
    """The fields of `/proc/PID/stat` after the name, which may hold anything."""
    return (folder / "stat").read_text().rpartition(") ")[2].split()


class Host:
    """One host. Made by `network`."""

    def __init__(self, name, number, folder):
        self.name = name
        self.address = f"{NETWORK}.{number}"
        self.folder = folder / name
        """Its `/tmp`, seen from outside."""
        self.namespace = f"gr-{name}"
        self._init = None

    def plug_in(self):
        """Join it to the switch and start it."""
        ip("netns", "add", self.namespace)
        ip("-n", SWITCH, "link", "add", self.name, "type", "veth",
           "peer", "name", "eth0", "netns", self.namespace)  # fmt: skip
        ip("-n", SWITCH, "link", "set", self.name, "master", "switch", "up")
        ip("-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", "eth0")
        ip("-n", self.namespace, "link", "set", "lo", "up")
        ip("-n", self.namespace, "link", "set", "eth0", "up")
        self.folder.mkdir(exist_ok=True)
        self.power_on()

    def power_on(self):
        boot = (
            f"hostname {self.name} && mount --bind {self.folder} /tmp && "
            f"mount -t tmpfs -o size={SHARED_MEMORY} tmpfs /dev/shm && echo up && "
            # a shell that waits collects orphans, as the first process of a system has to
            "while :; do sleep 1000 & wait; done"
        )
        isolated = [
            "unshare",
            "--mount",
            "--uts",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]
        self._init = subprocess.Popen(
            [*DIE_WITH_PARENT, "ip", "netns", "exec", self.namespace, *isolated, "sh", "-c", boot],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if (said := self._init.stdout.readline()) != "up\n":
            raise LabError(f"the host {self.name} did not start: {said.strip()}")

    def power_off(self):
        """End all its processes at once, without a word to anybody."""
        self.cut()  # first, so that not even the kernel says that connections are closed
        self.end()

    def end(self):
        """End all its processes."""
        if self._init is not None:
            for inside in children(self._init.pid):
                os.kill(inside, signal.SIGKILL)  # the first process takes all others with it
            self._init.wait(30)
            self._init.stdout.close()
            self._init = None

    def cut(self):
        """Pull its cable."""
        ip("-n", SWITCH, "link", "set", self.name, "down")

    def restore(self):
        """Plug its cable in again."""
        ip("-n", SWITCH, "link", "set", self.name, "up")

    def start(self, *command, **options):
        """A process of this host, as subprocess.Popen."""
        [inside] = children(self._init.pid)
        enter = [
            *DIE_WITH_PARENT,
            "nsenter",
            "--target",
            str(inside),
            "--mount",
            "--uts",
            "--net",
            "--pid",
        ]
        return subprocess.Popen([*enter, *map(str, command)], text=True, **options)

    def run(self, *command, timeout_s=120, **options):
        """Run a command in it to its end; raise where it fails."""
        with self.start(
            *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
        ) as process:
            try:
                said, _ = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        if process.returncode:
            raise RuntimeError(f"{self.name}: {command[0]} ended with {process.returncode}: {said}")
        return said

    def processes(self):
        """The command line of each of its processes, by the number that it has outside."""
        if self._init is None:
            return {}
        try:
            [inside] = children(self._init.pid)
            mine = Path(f"/proc/{inside}/ns/pid").readlink()
        except (OSError, ValueError):
            return {}
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (folder / "ns" / "pid").readlink() == mine:
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = command.strip()
        return found

    def pids(self, part):
        """Its processes whose command line begins with, or whose program is, `part`."""
        return [
            pid
            for pid, command in self.processes().items()
            if command.startswith(part) or command.partition(" ")[0].endswith(f"/{part}")
        ]

    def kill(self, part):
        """SIGKILL to its processes by what they are; how many there were."""
        victims = self.pids(part)
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        return len(victims)

    def memory_mb(self):
        """Proportional resident memory of its processes, shared pages divided among their users."""
        total = 0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += int(rollup.partition("Pss:")[2].split()[0])
        return total / 1024


@contextlib.contextmanager
def network(names, folder):
    """Hosts by name, joined by a switch."""
    check_that_hosts_can_be_made()
    hosts = {name: Host(name, number, folder) for number, name in enumerate(names, 1)}
    _take_down(hosts)  # what a program that was killed has left
    try:
        ip("netns", "add", SWITCH)
        ip("-n", SWITCH, "link", "add", "switch", "type", "bridge")
        ip("-n", SWITCH, "link", "set", "switch", "up")
        for host in hosts.values():
            host.plug_in()
        yield hosts
    finally:
        for host in hosts.values():
            host.end()
        _take_down(hosts)


def _take_down(hosts):
    there = {line.split()[0] for line in ip("netns", "list").splitlines() if line}
    ours = there & {SWITCH, *(host.namespace for host in hosts.values())}
    if used := sorted(name for name in ours if ip("netns", "pids", name).split()):
        raise LabError(f"{', '.join(used)} are in use: another lab is running here")
    for name in ours:
        ip("netns", "delete", name)


def until(done, within_s, what):
    """Wait until `done()` is true, and return it; raise where it takes longer."""
    ends = time.monotonic() + within_s
    while not (found := done()):
        if time.monotonic() > ends:
            raise TimeoutError(f"{what}: not within {within_s:g} s")
        time.sleep(0.1)
    return found
