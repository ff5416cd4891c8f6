"""Measures `PeerSession` between two processes on loopback, and public tools with the same work."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from bench import Missing, ROOT, figures
from results import Row, Work, least, most

sys.path.insert(0, str(ROOT / "Tests" / "LAN"))
import lan  # noqa: E402

MIB = 1 << 20
PATH = lan.path()


def tool(name, package):
    """Returns the path of a third-party program, or raises `Missing`."""
    found = shutil.which(name, path=PATH)
    if not found:
        raise Missing(f"{name} ({package}) is not installed")
    return found


class Server:
    """A session-bench server, and clients that take one measurement each."""

    def __init__(self, program, directory, near="127.0.0.1", far="127.0.0.1", inside=((), ()), words=()):
        self.program, self.near = program, near
        self.inbox = pathlib.Path(tempfile.mkdtemp(dir=directory))
        self.inside = inside
        self.server = subprocess.Popen(
            [*inside[1], program, "server", f"{far}:0", self.inbox / "server", *words],
            stdout=subprocess.PIPE, text=True,
        )
        port, self.session, self.peer = self.server.stdout.readline().split()
        self.place = f"{far}:{port}"

    def measure(self, *words, within=600):
        """Runs one client and returns its figures."""
        done = subprocess.run(
            [*self.inside[0], self.program, "client", f"{self.near}:0", self.inbox / "client", self.place,
             self.session, self.peer, *map(str, words)],
            stdout=subprocess.PIPE, text=True, check=True, timeout=within,
        )
        return json.loads(done.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()
        shutil.rmtree(self.inbox, ignore_errors=True)


# --- Third-party tools -----------------------------------------------------------------------


def free_port():
    """Returns a TCP port of loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_listener(process, port):
    """Waits until a server accepts connections; raises OSError if it has ended, or after 10 seconds."""
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextlib.contextmanager
def daemon(*words, port):
    """Runs a third-party server in the foreground until the end of the block; yields when it accepts connections."""
    process = subprocess.Popen(
        list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        try:
            await_listener(process, port)
        except OSError:
            process.kill()
            raise RuntimeError(f"{words[0]}: {process.stderr.read().decode().strip()}") from None
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def timed(*words):
    """Returns the seconds that a command takes."""
    began = time.monotonic()
    subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


class Others:
    """The third-party tools with the same work; each method is one measurement."""

    def __init__(self, bench):
        self.bench, self.directory = bench, bench.directory
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def scp(self, path):
        """MB/s of scp with AES-128-GCM over the script's own sshd."""
        options, target = self._sshd()
        copy = self.directory / "scp-copy"
        seconds = timed(tool("scp", "openssh-client"), *options, path, f"{target}:{copy}")
        copy.unlink()
        return {"rate": path.stat().st_size / 1e6 / seconds}

    def _sshd(self):
        sshd, keygen = tool("sshd", "openssh-server"), tool("ssh-keygen", "openssh-client")
        for name in ("host", "user"):
            subprocess.run(
                [keygen, "-q", "-t", "ed25519", "-N", "", "-f", self.directory / name], check=True)
        if os.geteuid() == 0 and not os.path.exists("/run/sshd"):
            os.mkdir("/run/sshd", 0o755)
            self._stack.callback(os.rmdir, "/run/sshd")
        port = free_port()
        configuration = self.directory / "sshd_config"
        configuration.write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.directory}/host\nPidFile none\n"
            f"AuthorizedKeysFile {self.directory}/user.pub\nStrictModes no\nUsePAM no\n"
            f"PasswordAuthentication no\nPermitRootLogin prohibit-password\nUseDNS no\n"
            f"Ciphers aes128-gcm@openssh.com\nSubsystem sftp internal-sftp\n")
        self._stack.enter_context(daemon(sshd, "-D", "-e", "-f", configuration, port=port))
        options = ["-q", "-F", "/dev/null", "-P", port, "-i", self.directory / "user"]
        for option in ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null",
                       "IdentitiesOnly=yes", "Ciphers=aes128-gcm@openssh.com"):
            options += ["-o", option]
        user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        return options, f"{user}@127.0.0.1"

    def rsync(self, path):
        """MB/s of unencrypted rsync to the script's own daemon."""
        program, port = self._rsyncd()
        copy = self.directory / "rsync" / path.name
        seconds = timed(program, "--whole-file", path, f"rsync://127.0.0.1:{port}/here/")
        copy.unlink()
        return {"rate": path.stat().st_size / 1e6 / seconds}

    def _rsyncd(self):
        program, port = tool("rsync", "rsync"), free_port()
        (self.directory / "rsync").mkdir()
        configuration = self.directory / "rsyncd.conf"
        configuration.write_text(
            f"use chroot = no\nuid = {os.geteuid()}\ngid = {os.getegid()}\nlog file = /dev/null\n"
            f"[here]\npath = {self.directory}/rsync\nread only = no\n")
        self._stack.enter_context(daemon(
            program, "--daemon", "--no-detach", "--address", "127.0.0.1", "--port", port, "--config",
            configuration, port=port))
        return program, port

    def openssl(self, count):
        """MB/s of bytes through openssl s_client and s_server, from a pipe to a pipe."""
        program, key, certificate = self._openssl()
        port = free_port()
        server = subprocess.Popen(
            [program, "s_server", "-quiet", "-accept", f"127.0.0.1:{port}", "-key", key, "-cert", certificate,
             "-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        client = feed = None
        try:
            # A connection without data ends immediately and leaves the server listening.
            await_listener(server, port)
            feed = subprocess.Popen(["head", "-c", str(count), "/dev/zero"], stdout=subprocess.PIPE)
            began = time.monotonic()
            client = subprocess.Popen(
                [program, "s_client", "-quiet", "-connect", f"127.0.0.1:{port}"],
                stdin=feed.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            feed.stdout.close()
            seen = 0
            while seen < count:
                piece = os.read(server.stdout.fileno(), 1 << 20)
                if not piece:
                    raise RuntimeError(f"openssl s_server ended after {seen} bytes")
                seen += len(piece)
            return {"rate": count / 1e6 / (time.monotonic() - began)}
        finally:
            for process in filter(None, (client, feed, server)):
                process.kill()
                process.wait()

    def _openssl(self):
        program = tool("openssl", "openssl")
        key, certificate = self.directory / "tls.key", self.directory / "tls.pem"
        subprocess.run(
            [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
             "/CN=bench", "-days", "2", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return program, key, certificate

    def nio(self, *words):
        """SwiftNIO with TLS, and the least above it."""
        program, (_, key, certificate) = self.bench.program("nio-bench"), self._openssl()
        server = self._stack.enter_context(
            subprocess.Popen([program, "server", key, certificate], stdout=subprocess.PIPE, text=True))
        self._stack.callback(server.kill)
        return figures(program, words[0], server.stdout.readline().strip(), *words[1:])

    def zmq(self, *words):
        """libzmq with CURVE."""
        return figures(self.bench.compiled("zmq", "zmq"), *words)

    def udp(self, *words):
        """Bare UDP."""
        return figures(self.bench.compiled("udp"), *words)


# --- The rows --------------------------------------------------------------------------------


def random_file(bench):
    """Creates a file of 1 GiB of random bytes at its first use."""
    path = bench.shared / "random"
    if not path.exists():
        block = os.urandom(16 * MIB)
        with path.open("wb") as file:
            for _ in range(bench.of(64)):
                file.write(block)
    return path


def sparse_file(path, size):
    """Creates a sparse file of zeros, which uses no disk space."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def ours(*words, unit=1, server=()):
    """A measurement by session-bench. An element of `words` may be a function of the `Bench`."""

    def measure(bench):
        with Server(bench.program("session-bench"), bench.directory, words=server) as there:
            found = there.measure(*(word(bench) if callable(word) else word for word in words))
        return {key: value / unit for key, value in found.items()}

    return measure


def beside(measure):
    """A measurement by a public tool."""

    def run(bench):
        with Others(bench) as others:
            return measure(bench, others)

    return run


def some(count):
    """A number of messages or bytes that --quick makes smaller."""
    return lambda bench: bench.of(count)


def busy(bench):
    """Measures round trips over a slow link, on the virtual network of Tests/LAN, while a resource fills the link."""
    why = lan.unusable()
    if why:
        raise Missing(f"the virtual network {why}")
    return figures(sys.executable, "-B", __file__, bench.program("session-bench"), bench.of(100_000_000, 30_000_000))


def busy_inside(program, size):
    """Runs in the private namespaces; prints the figures as JSON."""
    lan.enter()
    with lan.Rig(2, avahi=False, ipv6=False) as rig:
        rig.h2.cable(rate=100e6, delay=2)
        path = sparse_file(rig.h1.directory / "sparse", int(size))
        with Server(program, rig.h2.directory, rig.h1.address, rig.h2.address,
                    (rig.h1.inside, rig.h2.inside)) as there:
            found = there.measure("busy", path)
    print(json.dumps({key: found[key] / 1000 for key in ("p50", "p99")}))


def tools(count, length, nio, zmq):
    """The same work by SwiftNIO and by libzmq."""
    return {"nio": beside(lambda bench, others: others.nio(nio, bench.of(count), length)),
            "libzmq": beside(lambda bench, others: others.zmq(zmq, bench.of(count), length))}


ON_EXECUTOR = ("executor",)
TRIP = ("Memory and reference counts take 25 %, the runtime of tasks and checks of exclusivity 18 %, NIO 15 %, TLS 9 %, and the "
        "session's own code 6 % (2026-11-30).")
MESSAGES = ("Each message passes `send` on its own: memory and reference counts take 27 %, the session's own code 13 %, the runtime of "
            "tasks 13 %, locks 10 %, and TLS 4 % (2026-11-30).")
WORKS = (
    Work("round-trip", 2, ours("round-trip", some(20_000), "executor", server=ON_EXECUTOR), (
        Row("p50", "reliable round trip of 100 B, p50, us", most(1.3, "nio"), TRIP),
        Row("p99", "reliable round trip of 100 B, p99, us", most(1.3, "nio"), TRIP)),
        tools(20_000, 100, "round-trip", "roundtrip")),
    Work("round-trip-tasks", 3, ours("round-trip", some(20_000)), (
        Row("p50", "reliable round trip between ordinary tasks, p50, us"),
        Row("p99", "reliable round trip between ordinary tasks, p99, us"))),
    Work("datagram-round-trip", 2, ours("datagram-round-trip", some(20_000), "executor", server=ON_EXECUTOR), (
        Row("p50", "sealed datagram round trip of 100 B, p50, us", most(1.8, "udp"),
            "Memory and reference counts take 21 %, the runtime 21 %, NIO 14 %, Foundation's `Data` 8 %, and sealing 3 % (2026-11-30)."),
        Row("p99", "sealed datagram round trip of 100 B, p99, us")),
        {"udp": beside(lambda bench, others: others.udp(bench.of(20_000), 100))}),
    Work("dial", 3, ours("dial", 30, unit=1000), (
        Row("p50", "dial to admitted, p50, ms", most(10)), Row("p99", "dial to admitted, p99, ms"))),
    Work("messages", 4, ours("messages", some(2_000_000), 100, 1), (
        Row("rate", "reliable messages of 100 B per second", least(0.7, "nio"), MESSAGES),), tools(2_000_000, 100, "messages", "throughput")),
    Work("messages-1k", 4, ours("messages", some(1_000_000), 1024, 1), (
        Row("rate", "reliable messages of 1 KiB per second", least(2, "libzmq"), MESSAGES),),
        tools(1_000_000, 1024, "messages", "throughput")),
    Work("datagrams", 6, ours("datagrams", some(500_000), 256, "executor", server=ON_EXECUTOR), (
        Row("rate", "sealed datagrams of 100 B that arrive per second", least(300_000),
            "Sealing takes 40 % of the sender's time (29 % are AES-GCM with swift-crypto's `Data`), and `sendmmsg` 29 %. "
            "Opening takes 44 % of the receiver's time. A quarter of the sender's time goes to retain, release and "
            "exclusivity checks (2026-11-21)."),)),
    Work("stream", 7, ours("stream", some(2048 * MIB), 1 << 18), (
        Row("rate", "byte stream of 2 GiB, memory to memory, MB/s", least(2000),
            "Copies in memory take 12 to 17 % on both sides, AES-GCM 15 %, the kernel's copies 13 %, and page faults of new "
            "buffers 5 % (2026-11-21)."),),
        {"openssl": beside(lambda bench, others: others.openssl(bench.of(1024 * MIB)))}),
    Work("resource", 9, ours("resource", random_file), (
        Row("rate", "resource of 1 GiB, file to file, hash verified, MB/s", least(1.5, "scp"),
            "SHA-256 takes 50 % of the sender's samples and 33 % of the receiver's, on its own threads. With two processes "
            "on two cores, no core is free for these threads, so SHA-256 limits the throughput (2026-11-21)."),),
        {"scp": beside(lambda bench, others: others.scp(random_file(bench))),
         "rsync": beside(lambda bench, others: others.rsync(random_file(bench)))}),
    Work("memory", 10, ours("resource", lambda bench: sparse_file(bench.directory / "sparse", bench.of(4096 * MIB))), (
        Row("senderMemory", "additional memory for a resource of 4 GiB, sender, MB", most(32)),
        Row("receiverMemory", "additional memory for a resource of 4 GiB, receiver, MB", most(32)))),
    Work("busy", 14, busy, (
        Row("p50", "round trip of 100 B beside a resource on a link of 100 Mbit/s with 2 ms delay, p50, ms", most(12)),
        Row("p99", "round trip of 100 B beside a resource on a link of 100 Mbit/s with 2 ms delay, p99, ms", most(40)))),
)

if __name__ == "__main__":
    busy_inside(*sys.argv[1:])
