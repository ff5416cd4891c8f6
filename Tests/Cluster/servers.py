"""NATS servers for tests: a cluster with JetStream, on loopback or on other machines, and servers that lack something."""

import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import typing
import urllib.error
import urllib.request

SERVER = "nats-server"
#: The seconds in which a cluster elects its leader.
PATIENCE = 30


class Machine(typing.NamedTuple):
    """Where a program runs."""

    #: The name in the certificates. libnats does not accept an address there.
    name: str = "localhost"
    address: str = "127.0.0.1"
    #: The words before a command that run it on this machine.
    inside: tuple = ()


def free_ports(count):
    """Ports that no program used a moment ago."""
    with_port = [socket.socket() for _ in range(count)]
    try:
        for one in with_port:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in with_port]
    finally:
        for one in with_port:
            one.close()


def make_certificates(folder, hosts):
    """Writes an authority, and certificates for `server` and `relay`, with OpenSSL."""

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)

    folder.mkdir()
    names = ",".join(f"DNS:{host}" for host in sorted(hosts))
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
    openssl("req", "-x509", *key, "-days", 2, "-subj", "/CN=test", "-keyout", folder / "ca.key", "-out", folder / "ca.pem")
    for name in ("server", "relay"):
        openssl("req", "-x509", *key, "-days", 2, "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
                "-addext", "basicConstraints=CA:FALSE", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
                "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem")
    return folder


class Node:
    """One server, which can be killed and started again with the same ports and data."""

    def __init__(self, folder, name, config, port, monitor=None, machine=Machine()):
        self.folder, self.name, self.port, self.monitor, self.machine = folder, name, port, monitor, machine
        self.file = folder / f"{name}.conf"
        self.file.write_text(config)
        self.log = folder / f"{name}.log"
        self.killed = folder / f"{name}.killed"
        self.process = None
        #: Whether the server must not start again by itself.
        self.is_held = False

    def start(self):
        with open(self.log, "ab") as log:
            words = [*self.machine.inside, SERVER, "-c", self.file]
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.is_held = False
        (self.folder / f"{self.name}.pid").write_text(f"{self.process.pid}\n")

    def stop(self, number=signal.SIGKILL):
        """Ends the server until it is started."""
        self.is_held = True
        if self.process:
            self.process.send_signal(number)
            self.process.wait()

    def is_healthy(self):
        """Whether the server answers, and its streams have leaders and are up to date."""
        return self.monitored("healthz") is not None

    def monitored(self, page):
        """A page of the server's monitor, or None if the server does not answer."""
        try:
            url = f"http://{self.machine.address}:{self.monitor}/{page}"
            with urllib.request.urlopen(url, timeout=2) as answer:
                return json.load(answer) if answer.status == 200 else None
        except (urllib.error.URLError, OSError):
            return None


class Servers:
    """A cluster of three servers that require client certificates, a server without JetStream, and a server with a
    password. When the context or this process ends, however it ends, the servers end, and their files are removed.

    The file NAME.pid in `folder` contains the process of a server; a test may kill it, after it has created the file
    NAME.killed. The server then starts again after a second. The file disappears when all streams have a leader again,
    and the server has all data. The servers of the cluster run on `machines`.
    """

    def __init__(self, machines=(Machine(),) * 3, folder=None):
        self.machines = machines
        self.folder = folder or pathlib.Path(tempfile.mkdtemp(prefix="whiteboard-nats-"))
        self.is_ending = threading.Event()

    def __enter__(self):
        self._start_janitor()
        try:
            self.certificates = make_certificates(self.folder / "certificates", {one.name for one in self.machines})
            # Another program may take a port before a server does, so this tries again.
            for attempt in range(3):
                if self._start():
                    break
                for node in self.nodes:
                    node.stop()
            else:
                raise RuntimeError("\n".join(node.log.read_text()[-2000:] for node in self.nodes))
            threading.Thread(target=self._restart_killed, daemon=True).start()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.is_ending.set()
        self.janitor.stdin.close()
        self.janitor.wait()

    def _start_janitor(self):
        """The janitor waits until this process closes the pipe or ends."""
        script = 'read -r _; kill -9 $(cat "$1"/*.pid 2>/dev/null) 2>/dev/null; sleep 0.1; rm -rf "$1"'
        self.janitor = subprocess.Popen(["sh", "-c", script, "janitor", self.folder], stdin=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def _start(self):
        ports = free_ports(11)
        clients, routes, monitors = ports[:3], ports[3:6], ports[6:9]
        c = self.certificates
        self.cluster = []
        others = ", ".join(f"nats://{one.address}:{route}" for one, route in zip(self.machines, routes))
        for number, machine in enumerate(self.machines):
            name = f"n{number}"
            self.cluster.append(Node(self.folder, name, f"""
server_name: {name}
listen: "{machine.address}:{clients[number]}"
client_advertise: "{machine.name}:{clients[number]}"
http: "{machine.address}:{monitors[number]}"
jetstream {{ store_dir: "{self.folder}/{name}", max_mem: 64MB, max_file: 1GB }}
cluster {{ name: test, listen: "{machine.address}:{routes[number]}", routes: [{others}] }}
tls {{ cert_file: "{c}/server.pem", key_file: "{c}/server.key", ca_file: "{c}/ca.pem", verify: true }}
""", clients[number], monitors[number], machine))
        self.plain = Node(self.folder, "plain", f'listen: "127.0.0.1:{ports[9]}"\n', ports[9])
        self.locked = Node(self.folder, "locked", f'listen: "127.0.0.1:{ports[10]}"\n'
                           "authorization { user: relay, password: secret }\n", ports[10])
        self.nodes = [*self.cluster, self.plain, self.locked]
        for node in self.nodes:
            node.start()
        return self.until_healthy()

    def until_healthy(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if any(node.process.poll() is not None for node in self.nodes):
                return False
            if all(node.is_healthy() for node in self.cluster):
                return True
            self.is_ending.wait(0.1)
        return False

    def kill(self, node):
        """Kills a server of the cluster, which then starts again."""
        node.killed.write_text(str(node.process.pid))
        node.process.kill()

    def until_replaced(self):
        """Waits until the killed servers of the cluster have returned, and have all data."""
        deadline = time.monotonic() + PATIENCE
        while any(node.killed.exists() for node in self.cluster):
            if time.monotonic() > deadline:
                raise RuntimeError("the servers did not return")
            self.is_ending.wait(0.1)

    def _restart_killed(self):
        while not self.is_ending.wait(1):
            for node in self.cluster:
                if node.process.poll() is not None and not node.is_held:
                    node.start()
                elif node.killed.exists() and all(other.is_healthy() for other in self.cluster):
                    # The file contains the process, which may be about to end.
                    if node.killed.read_text() != str(node.process.pid):
                        node.killed.unlink()

    @property
    def environment(self):
        """The variables that Tests/RelayClusterTests reads."""
        return {
            "WHITEBOARD_CLUSTER_SERVERS": ",".join(f"tls://{node.machine.name}:{node.port}" for node in self.cluster),
            "WHITEBOARD_CLUSTER_FOLDER": str(self.folder),
            "WHITEBOARD_CLUSTER_PLAIN": f"nats://127.0.0.1:{self.plain.port}",
            "WHITEBOARD_CLUSTER_LOCKED": f"nats://127.0.0.1:{self.locked.port}",
        }
