"""A LAN of virtual hosts on one Linux machine, for the tests that run the real programs.

Every program that uses it calls `enter()` first. That starts the program again as the first process of its own
network, mount and PID namespaces. This process is the switch: the cables end in its network namespace, and its files
are on a tmpfs that only it sees. When this process ends (even by SIGKILL of the outer process), the kernel ends
every process inside and nothing is left behind. The machine's own network is never touched, and any number of rigs
can run side by side.

Each `Host` has its own network, mounts, name and processes, a fresh /run, its own HOME, its own dbus-daemon on the
usual path and its own avahi-daemon.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
STATE = pathlib.Path("/run/whiteboard-lan")  # on the driver's own tmpfs, visible to every host
INSIDE = "WHITEBOARD_LAN_INSIDE"
TOOLS = {
    "ip": "iproute2",
    "bridge": "iproute2",
    "ethtool": "ethtool",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "dbus-daemon": "dbus-daemon",
    "avahi-daemon": "avahi-daemon",
}


class RigError(Exception):
    """The rig itself failed: the machine lacks a requirement, or a command of the rig was refused."""


class Late(Exception):
    """A condition did not become true before its deadline."""


# --- Private namespaces ------------------------------------------------------------------------


def namespaces_command(arguments):
    """The command line that runs this Python with `arguments` as process 1 of its own namespaces."""
    return [
        *("setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork"),
        *("--kill-child=KILL", "--mount-proc", "--propagation", "private"),
        *(sys.executable, "-B", "-u", *arguments),
    ]


def unusable():
    """The reason why a rig cannot run on this machine, in one line, or None if it can."""
    if os.geteuid() != 0:
        return "needs root"
    lacking = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool, path=path())})
    if lacking:
        return "needs these Debian packages: " + " ".join(lacking)
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "ip", "link", "add", "br0", "type", "bridge"],
        capture_output=True, text=True, env={"PATH": path()}, stdin=subprocess.DEVNULL,
    )
    return None if tried.returncode == 0 else "no namespaces or no bridge: " + tried.stderr.strip()


def path():
    """The search path of all programs on the rig; Debian has half of the tools in sbin."""
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def enter():
    """Returns only inside of private namespaces; the outer process waits, and exits with the inner status."""
    if os.environ.get(INSIDE) and os.getpid() == 1:
        _prepare()
        return
    why = unusable()
    if why:
        print(f"rig: cannot run here: {why}", file=sys.stderr)
        sys.exit(69)
    child = subprocess.Popen(
        namespaces_command(sys.argv), env={**os.environ, INSIDE: str(os.getpid())}, start_new_session=True
    )

    stopped = []

    def stop(number, _):
        stopped.append(number)
        child.kill()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    status = child.wait()
    sys.exit(128 + stopped[0] if stopped else status if status >= 0 else 128 - status)


def _prepare():
    command("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    STATE.mkdir()
    command("ip", "link", "set", "lo", "up")
    # The switch only forwards frames, and sends none itself, so it needs no IPv6.
    pathlib.Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    pathlib.Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")


def command(*words, **options):
    """Runs one command of the rig, and raises an error with the command's message if the command fails."""
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, env={"PATH": path()}, **options,
    )
    if done.returncode != 0:
        raise RigError(f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


# --- Waiting ---------------------------------------------------------------------------------

# The factor for all time limits, for machines that are shared with other work.
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))

news = threading.Condition()  # notified whenever any process on the rig writes a line or ends


def until(condition, within, what, every=0.25):
    """Waits until `condition()` is true and returns its result; raises `Late` after `within` seconds.

    The condition is checked after each output line or end of a process, and at least every `every` seconds, for changes
    without output.
    """
    deadline = time.monotonic() + within * PATIENCE
    while True:
        with news:
            value = condition()
            if value:
                return value
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late(f"not within {within:g} s: {what() if callable(what) else what}")
            news.wait(min(left, every))


# --- Processes -------------------------------------------------------------------------------


class Process:
    """A program on a host. Both outputs are stored line by line, with the time of each line."""

    def __init__(self, host, name, arguments, environment):
        self.host, self.name, self.arguments = host, name, [str(word) for word in arguments]
        self.started = time.monotonic()
        self.output, self.errors = [], []  # (monotonic time in seconds since the epoch, line)
        self.popen = subprocess.Popen(
            [*host.inside, *self.arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
        )
        self._ended = {"output": False, "errors": False}
        self._readers = [
            threading.Thread(target=self._read, args=(stream, kept, key), daemon=True)
            for stream, kept, key in (
                (self.popen.stdout, self.output, "output"),
                (self.popen.stderr, self.errors, "errors"),
            )
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream, kept, key):
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            with news:
                kept.append((time.monotonic(), line))
                if key == "output":
                    self.heard(line, kept[-1][0])
                news.notify_all()
        with news:
            self._ended[key] = True
            news.notify_all()

    def heard(self, line, when):
        """Called, with the lock of `news` held, for each line of standard output. For subclasses."""

    @property
    def pid(self):
        """The program's own process id in the driver's namespace (its parent is `nsenter`)."""

        def child():
            with contextlib.suppress(OSError):
                children = pathlib.Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children")
                return children.read_text().split()
            return None

        if self.popen.poll() is not None:
            raise RigError(f"{self} has ended with status {self.popen.returncode}")
        return int(until(child, 5, f"{self} to start", every=0.005)[0])

    def send_signal(self, number):
        """Sends a signal to the program itself."""
        os.kill(self.pid, number)

    def write(self, line):
        """Writes one line to the program's standard input."""
        try:
            self.popen.stdin.write(line.encode() + b"\n")
            self.popen.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise RigError(f"{self} no longer reads its input") from error

    def close_input(self):
        """Closes the program's standard input."""
        with contextlib.suppress(BrokenPipeError, ValueError):
            self.popen.stdin.close()

    @property
    def is_running(self):
        return self.popen.poll() is None

    def wait_line(self, pattern, within, start=0):
        """Waits for a line on either output that matches a regular expression, and returns the match."""
        expression = re.compile(pattern)

        def seen():
            for kept in (self.output, self.errors):
                for _, line in kept[start:]:
                    found = expression.search(line)
                    if found:
                        return found
            if not self.is_running and all(self._ended.values()):
                raise RigError(f"{self} ended with status {self.popen.returncode} without saying {pattern!r}\n{self.log(10)}")
            return None

        return until(seen, within, f"{self} to say {pattern!r}")

    def wait_end(self, within):
        """Waits for the program to end, and for the rest of its output; returns its exit status."""
        until(
            lambda: not self.is_running and all(self._ended.values()), within, f"{self} to end", every=0.02
        )
        return self.popen.returncode

    def stop(self, number=signal.SIGTERM, within=5):
        """Asks the program to end; returns its status. Kills a program that does not end, and raises `Late`."""
        if self.is_running:
            with contextlib.suppress(RigError, ProcessLookupError):
                self.send_signal(number)
        try:
            return self.wait_end(within)
        except Late:
            self.kill()
            raise

    def kill(self):
        """Ends the program at once, as `kill -9` does, and waits until it is gone."""
        if self.is_running:
            with contextlib.suppress(RigError, ProcessLookupError, Late):
                self.send_signal(signal.SIGKILL)
        return self.wait_end(5)

    def log(self, last=40):
        """The last lines of both outputs in order, with times since the program's start."""
        with news:
            lines = sorted(
                [(when, " ", line) for when, line in self.output]
                + [(when, "!", line) for when, line in self.errors],
                key=lambda line: line[0],
            )
        dropped = max(0, len(lines) - last)
        text = [f"   ... {dropped} lines before"] if dropped else []
        text += [f"{when - self.started:9.3f} {mark} {line[:260]}" for when, mark, line in lines[-last:]]
        return "\n".join(text)

    def __str__(self):
        return f"{self.name} on {self.host.name}"


# --- Hosts -----------------------------------------------------------------------------------

# Runs as process 1 of a host. Its arguments are the host's name, the directory that becomes the host's /run, the
# directory with the rig's state (which must stay visible in this /run), and whether IPv6 is off.
_HOLDER = """
set -e
echo "$1" > /proc/sys/kernel/hostname
mkdir -p "$2/dbus" "$2/avahi-daemon" "$2/lock" "$2/${3##*/}"
mount --bind "$3" "$2/${3##*/}"
mount --rbind "$2" /run
mount -t sysfs sysfs /sys
for each in all default; do
  echo "$4" > /proc/sys/net/ipv6/conf/$each/disable_ipv6
  echo 0 > /proc/sys/net/ipv6/conf/$each/accept_dad
done
echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range
ip link set lo up
echo ready
exec sleep infinity
"""

_DBUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
    <allow send_type="method_call"/><allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/><allow receive_type="method_return"/>
    <allow receive_type="error"/><allow receive_type="signal"/>
  </policy>
</busconfig>
"""

_AVAHI = """[server]
host-name={name}
use-ipv4={ipv4}
use-ipv6={ipv6}
deny-interfaces=lo
ratelimit-interval-usec=1000000
ratelimit-burst=1000
enable-dbus=yes
disallow-other-stacks=no
[wide-area]
enable-wide-area=no
[publish]
publish-addresses=yes
publish-hinfo=no
publish-workstation=no
disable-publishing={mute}
"""


class Host:
    """One machine on the LAN: `h1` has the address 10.77.0.1, or 10.77.1.1 on the second subnet."""

    def __init__(self, rig, number, subnet):
        self.rig, self.number, self.subnet = rig, number, subnet
        self.name = f"h{number}"
        self.port = f"p{number}"  # the switch's end of its cable
        self.directory = rig.directory / self.name
        self.home = self.directory / "home"
        self.home.mkdir(parents=True)
        self.processes = []
        self.bus = self.avahi = self._wire = self._holder = None
        self._switch = f"br{subnet}"
        self._is_blackholed = False
        self._starts = 0

    # Life

    def _boot(self):
        self._holder = subprocess.Popen(
            [
                *("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child=KILL"),
                *("--mount-proc", "--propagation", "private", "/bin/sh", "-c", _HOLDER),
                *(f"{self.rig.name}-{self.name}", self.name, self.directory / "run", STATE),
                "0" if self.rig.ipv6 else "1",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=self.environment(),
        )

    def _booted(self):
        line = self._holder.stdout.readline()
        if line != "ready\n":
            raise RigError(f"{self.name} did not start: {line}{self._holder.stdout.read()}")
        first = self._holder.pid
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        self.first = int(children[0])
        self.inside = ["nsenter", "-t", str(self.first), "-m", "-u", "-n", "-p", "--"]
        command("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.first)
        command("ip", "link", "set", self.port, "master", self._switch, "up")
        hardware = f"02:77:00:00:{self.subnet:02x}:{self.number:02x}"
        self.ip("link", "set", "eth0", "address", hardware, "up")
        if self.rig.ipv4:
            self.settle(self.subnet)

    def settle(self, subnet, number=None):
        """Gives the host its address on a subnet, as a DHCP server would, and removes the old address."""
        self.subnet = subnet
        self.address = f"10.77.{subnet}.{number or self.number}"
        self.ip("-4", "address", "flush", "dev", "eth0")
        self.ip("address", "add", f"{self.address}/24", "brd", "+", "dev", "eth0")
        self.ip("route", "replace", "224.0.0.0/4", "dev", "eth0")
        self.ip("route", "replace", "default", "via", f"10.77.{subnet}.254")

    def roam(self, subnet=None, number=None):
        """Moves the cable to another subnet's switch, or only changes the address on the current subnet."""
        subnet = self.subnet if subnet is None else subnet
        self._move_port(f"br{subnet}")
        self.settle(subnet, number)

    def second_cable(self, subnet):
        """Gives the host another interface, eth1, on another subnet's switch."""
        port = f"q{self.number}"
        command("ip", "link", "add", port, "type", "veth", "peer", "name", "eth1", "netns", self.first)
        command("ip", "link", "set", port, "master", f"br{subnet}", "up")
        self.ip("link", "set", "eth1", "up")
        self.ip("address", "add", f"10.77.{subnet}.{self.number}/24", "brd", "+", "dev", "eth1")

    # Programs

    def environment(self, **more):
        """The environment of a program on this host, without that of the machine."""
        kept = {key: os.environ[key] for key in (INSIDE, "LD_LIBRARY_PATH") if key in os.environ}
        return {
            "PATH": path(), "HOME": str(self.home), "LANG": "C.UTF-8", "TMPDIR": str(self.directory),
            "SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no,threads=crashed", **kept, **more,
        }

    def run(self, *words, within=20, check=True, text=None):
        """Runs a program on the host until it ends, and returns its `subprocess.CompletedProcess`."""
        done = subprocess.run(
            [*self.inside, *map(str, words)], capture_output=True, text=True, input=text or "",
            timeout=within, env=self.environment(),
        )
        if check and done.returncode != 0:
            raise RigError(f"{self.name}: {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done

    def start(self, *words, name=None, kind=Process, **more):
        """Starts a program on the host; it ends with the rig at the latest."""
        process = kind(self, name or pathlib.Path(words[0]).name, words, self.environment(**more))
        self.processes.append(process)
        return process

    def ip(self, *words):
        """Runs `ip` in the host's network."""
        return command("nsenter", "-t", self.first, "-n", "--", "ip", *words)

    # The host's daemons

    def start_bus(self):
        """Starts the host's message bus and waits until it listens."""
        (self.directory / "bus.conf").write_text(_DBUS)
        (self.directory / "run/dbus/system_bus_socket").unlink(missing_ok=True)
        self.bus = self.start(
            "dbus-daemon", f"--config-file={self.directory / 'bus.conf'}",
            "--nofork", "--nopidfile", "--nosyslog", "--print-address",
        )
        self.bus.wait_line("unix:", 5)

    def start_avahi(self, wait=True, publishing=True):
        """Starts the host's bus and avahi-daemon, and waits until the daemon has its host name."""
        if not (self.bus and self.bus.is_running):
            self.start_bus()
        (self.directory / "avahi.conf").write_text(
            _AVAHI.format(
                name=self.name, mute="no" if publishing else "yes",
                ipv4="yes" if self.rig.ipv4 else "no", ipv6="yes" if self.rig.ipv6 else "no",
            )
        )
        (self.directory / "run/avahi-daemon/pid").unlink(missing_ok=True)
        self.avahi = self.start(
            "avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--no-proc-title",
            "--debug", "-f", self.directory / "avahi.conf",
        )
        if wait:
            self.wait_avahi()

    def wait_avahi(self):
        """Waits until the daemon has probed its host name and serves clients."""
        self.avahi.wait_line("Server startup complete", 15)

    def stop_avahi(self):
        """Ends the daemon normally: it says goodbye for its publications."""
        self.avahi.stop()

    def kill_avahi(self):
        """Ends the daemon with SIGKILL, without a goodbye."""
        self.avahi.kill()

    def restart_avahi(self):
        """Restarts the daemon, as a package upgrade does."""
        self.stop_avahi()
        self.start_avahi()

    def restart_bus(self):
        """Restarts the message bus, which also ends the daemon."""
        self.bus.stop()
        with contextlib.suppress(Late):
            self.avahi.wait_end(2)
        self.avahi.kill()
        self.start_avahi()

    # The host's cable

    def unplug(self):
        """Unplugs the cable: the host loses its carrier."""
        command("ip", "link", "set", self.port, "down")

    def plug(self):
        """Plugs the cable in again."""
        command("ip", "link", "set", self.port, "up")

    def blackhole(self):
        """Drops every frame while the link looks up, as behind a broken switch."""
        command("bridge", "link", "set", "dev", self._switch_port, "state", 0)
        self._is_blackholed = True

    def unblackhole(self):
        """Ends `blackhole`."""
        # The kernel refuses this command for a moment after a cable was plugged in, so run it only if necessary.
        if self._is_blackholed:
            command("bridge", "link", "set", "dev", self._switch_port, "state", 3)
        self._is_blackholed = False

    def cable(self, direction="both", **quality):
        """Degrades the cable from now on, with the parameters of wire.c; without any, the cable is perfect again.

        `host.cable(loss=0.05, delay=15, jitter=3)`, `host.cable("out", rate=20e6)`. A frame crosses the cable once per
        direction, so 15 ms on both hosts' cables give a round trip of 60 ms.
        """
        if not self._wire:
            self._insert_wire()
        words = " ".join(f"{key}={value:.12g}" for key, value in quality.items())
        answer = self._order(f"set {direction} {words}".rstrip())
        if answer != "ok":
            raise RigError(f"wire of {self.name}: {words}: {answer}")

    def cable_counts(self):
        """The counters of the cable: {"out": {"seen": N, "lost": N, ...}, "in": {...}}."""
        words = self._order("count").split()
        counts = {}
        for word in words:
            if "=" not in word:
                one = counts[word] = {}
            else:
                key, value = word.split("=")
                one[key] = int(value)
        return counts

    def _order(self, line):
        self._wire.stdin.write(line + "\n")
        self._wire.stdin.flush()
        answer = self._wire.stdout.readline().rstrip("\n")
        if not answer:
            raise RigError(f"the wire of {self.name} has ended")
        return answer

    @property
    def _switch_port(self):
        return f"w{self.number}" if self._wire else self.port

    def _move_port(self, switch):
        self._switch = switch
        command("ip", "link", "set", self._switch_port, "master", switch)

    def _insert_wire(self):
        # eth0 = p1 <-> the wire <-> v1 = w1, a port of the switch. Offloads are off, so that the frames on the
        # wire are whole, have checksums, and are no longer than on a real cable.
        program = wire_program()
        port, switch_side, far = self.port, f"w{self.number}", f"v{self.number}"
        plain = ("tx", "off", "gso", "off", "tso", "off", "gro", "off")
        command("nsenter", "-t", self.first, "-n", "--", "ethtool", "-K", "eth0", *plain)
        command("ip", "link", "add", switch_side, "type", "veth", "peer", "name", far)
        command("ethtool", "-K", switch_side, *plain)
        command("ip", "link", "set", far, "up")
        command("ip", "link", "set", switch_side, "master", self._switch, "up")
        command("ip", "link", "set", port, "nomaster")
        self._wire = subprocess.Popen(
            [program, port, far], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=self.environment(),
        )
        if self._wire.stdout.readline() != "ready\n":
            raise RigError(f"the wire of {self.name} did not start")

    def _down(self):
        for process in (self._wire, self._holder):
            if process:
                process.kill()
                process.wait()
                process.stdout.close()
        with contextlib.suppress(RigError):
            command("ip", "link", "delete", self._switch_port)

    def __str__(self):
        return self.name


def wire_program():
    """The path of the compiled wire.c; compiled at its first use with any C compiler."""
    program = STATE / "wire"
    if program.exists():
        return program
    for compiler in ("cc", "gcc", "clang"):
        found = shutil.which(compiler)
        if not found:
            continue
        done = subprocess.run(
            [found, "-O2", "-Wall", "-o", program, HERE / "wire.c"], capture_output=True, text=True
        )
        if done.returncode == 0:
            return program
        raise RigError(f"{compiler} could not compile wire.c: {done.stderr}")
    raise RigError("a bad cable needs a C compiler: install gcc or clang")


# --- The LAN ---------------------------------------------------------------------------------


class Rig:
    """Hosts on a switch: `with Rig(3) as rig: rig.h1.run("ping", "-c1", rig.h2.address)`.

    `subnets` are the numbers of hosts on each subnet: `Rig(2, 1)` has h1 and h2 on 10.77.0.0/24 and h3 on
    10.77.1.0/24, with a router between them that forwards no multicast.
    """

    _count = 0

    def __init__(self, *subnets, avahi=True, ipv4=True, ipv6=True):
        Rig._count += 1
        self.name = f"whiteboard-lan-{os.environ.get(INSIDE)}-{Rig._count}"
        self.directory = STATE / f"rig{Rig._count}"
        self.ipv4, self.ipv6, self._with_avahi = ipv4, ipv6, avahi
        self._subnets = max(2, len(subnets))
        places = [subnet for subnet, count in enumerate(subnets) for _ in range(count)]
        if not 1 <= len(places) <= 60:
            raise RigError("a rig has 1 to 60 hosts")
        self.hosts = [Host(self, number, subnet) for number, subnet in enumerate(places, 1)]
        for host in self.hosts:
            setattr(self, host.name, host)

    def __enter__(self):
        try:
            self._up()
        except BaseException:
            self._down()
            raise
        return self

    def __exit__(self, *_):
        self._down()

    def _up(self):
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        for subnet in range(self._subnets):
            self._add_switch(f"br{subnet}")
            command("ip", "address", "add", f"10.77.{subnet}.254/24", "dev", f"br{subnet}")
        self._add_switch("island")
        for host in self.hosts:
            host._boot()
        for host in self.hosts:
            host._booted()
        if self._with_avahi:
            for host in self.hosts:
                host.start_avahi(wait=False)
            for host in self.hosts:
                host.wait_avahi()

    def _add_switch(self, name):
        command(
            *("ip", "link", "add", name, "type", "bridge"),
            *("stp_state", 0, "forward_delay", 0, "mcast_snooping", 0),
        )
        command("ip", "link", "set", name, "up")

    def _down(self):
        for host in self.hosts:
            host._down()
        for name in [*(f"br{subnet}" for subnet in range(self._subnets)), "island"]:
            with contextlib.suppress(RigError):
                command("ip", "link", "delete", name)
        shutil.rmtree(self.directory, ignore_errors=True)

    def partition(self, *hosts):
        """Moves these hosts to their own switch: they see each other and no other host."""
        for host in hosts:
            host._move_port("island")

    def cut(self, some, others):
        """Drops all packets between two groups of hosts without a sign of it; other hosts reach both groups."""
        for one, other in self._directions(some, others):
            # No host has this address.
            one.ip("neighbor", "replace", other.address, "lladdr", "02:77:00:00:ff:ff", "dev", "eth0", "nud", "permanent")

    def uncut(self, some, others):
        """Ends `cut`."""
        for one, other in self._directions(some, others):
            one.ip("neighbor", "delete", other.address, "dev", "eth0")

    @staticmethod
    def _directions(some, others):
        return [pair for one in some for other in others for pair in ((one, other), (other, one))]

    def route(self, is_routed):
        """Whether the router forwards packets from one subnet to another."""
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1" if is_routed else "0")

    def heal(self):
        """Makes every cable plugged, perfect and connected to the switch of its host's subnet."""
        for host in self.hosts:
            host._move_port(f"br{host.subnet}")
            host.plug()
            host.unblackhole()
            if host._wire:
                host.cable()

    def logs(self, last=40):
        """The last output of every program on every host; of the daemons, only those that failed."""
        parts = []
        for host in self.hosts:
            for process in host.processes:
                daemon = process.name in ("dbus-daemon", "avahi-daemon")
                if daemon and process.popen.poll() in (None, 0, -signal.SIGKILL):
                    continue
                state = "running" if process.is_running else f"ended with {process.popen.returncode}"
                parts.append(f"--- {process} ({state}): {' '.join(process.arguments)}\n{process.log(last)}")
        return "\n".join(parts)
