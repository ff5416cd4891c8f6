"""The programs in tests of browser guests: peers and relays, which are driven by their JSON lines, and a network that can
fail."""

import contextlib
import itertools
import json
import os
import select
import socket
import subprocess
import threading
import time

#: The host name in the links. Browsers apply other rules to it than to localhost.
LAN_NAME = f"{socket.gethostname().split('.')[0].lower()}.local"
#: The factor by which all timeouts are multiplied on busy machines.
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))


class Late(Exception):
    """A condition did not hold in time."""


def until(condition, what, seconds=20):
    """Returns the result of the condition as soon as it is true."""
    end = time.monotonic() + seconds * PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise Late(what() if callable(what) else what)
        time.sleep(0.05)


def free_port():
    """A port that no program uses now."""
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        return taken.getsockname()[1]


class Refused(Exception):
    """A program answered a command with `error`."""

    def __init__(self, answer):
        super().__init__(str(answer))
        self.code = answer["code"]


class Program:
    """A program that writes its events as JSON lines."""

    def __init__(self, name, words, log):
        self.name, self.words, self.log = name, [str(word) for word in words], log
        self.start()

    def start(self):
        self.events = []
        #: When each event arrived, in seconds of `time.monotonic()`.
        self.times = []
        self.changed = threading.Condition()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()

    def _read(self, process):
        for line in process.stdout:
            with self.changed:
                if process is self.process:
                    self.events.append(json.loads(line))
                    self.times.append(time.monotonic())
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def event(self, kind, seconds=20, since=0, **keys):
        """Waits for an event with these keys; returns it."""
        end = time.monotonic() + seconds * PATIENCE
        with self.changed:
            while True:
                for event in self.events[since:]:
                    if event["event"] == kind and all(event.get(key) == value for key, value in keys.items()):
                        return event
                since = len(self.events)
                left = end - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    why = "ended" if self.process.poll() is not None else f"did not report {kind} {keys}"
                    raise Late(f"{self.name} {why}; last events: {self.last()}")
                self.changed.wait(min(left, 0.5))

    def last(self):
        """The last events, shortened."""
        return " ".join(json.dumps(event)[:200] for event in self.events[-8:])

    def kill(self):
        """Ends the program at once, as a crash does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the program as a user does, or at once if it does not end."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        with contextlib.suppress(OSError):
            self.process.stdin.close()


class Peer(Program):
    """A `whiteboard-peer run`. The words `inside` run it somewhere else."""

    def __init__(self, program, name, folder, *words, inside=()):
        self._requests = itertools.count(1)
        folder.mkdir(parents=True, exist_ok=True)
        fixed = ["run", "-", "--data-dir", folder, "--json", "--keep-going", "--as", name, "--no-announce", "--config", folder / "no-config"]
        (folder / "no-config").touch()
        super().__init__(name, [*inside, program, *fixed, *words], folder / "log")

    @classmethod
    def host(cls, program, name, folder, *words, web=True):
        """Hosts a board; its ports stay the same if it is started again."""
        more = ["--web", "--web-port", free_port()] if web else []
        peer = cls(program, name, folder, "--host", "demo", "--listen", f"0.0.0.0:{free_port()}", *more, *words)
        peer.ready = peer.event("ready")
        return peer

    @classmethod
    def member(cls, program, name, folder, link, *words):
        """Joins a board by its link."""
        peer = cls(program, name, folder, "--join", link, "--listen", "0.0.0.0:0", *words)
        peer.event("caught-up", 40)
        return peer

    def send(self, verb, **keys):
        """Sends a command without waiting for its answer; returns the request id."""
        request = f"r{next(self._requests)}"
        self.process.stdin.write(json.dumps({"verb": verb, "request": request, **keys}) + "\n")
        self.process.stdin.flush()
        return request

    def answer(self, request, verb, seconds=20):
        """Returns the answer to a request, with the keys of the event that carries its result."""
        def answers():
            return [event for event in self.events if event.get("request") == request]
        def is_answered():
            return any(event["event"] in ("done", "error") for event in answers())
        until(is_answered, lambda: f"{self.name} did not answer {verb}; last events: {self.last()}", seconds)
        result = {}
        for event in answers():
            if event["event"] == "error":
                raise Refused(event)
            result.update(event)
        return result

    def do(self, verb, seconds=20, **keys):
        return self.answer(self.send(verb, **keys), verb, seconds)

    @property
    def digest(self):
        return self.do("digest")["digest"]

    def objects(self):
        """The objects by id."""
        return {shown["id"]: shown for shown in self.do("objects")["objects"]}

    def web_link(self, since=0, **keys):
        """The link for browsers under the LAN name."""
        return lan_link(self.event("invited", since=since, code=None, **keys))

    def invite(self, **keys):
        return lan_link(self.do("invite", web=True, **keys))


def lan_link(invited):
    """The link of an `invited` event, under the LAN name."""
    return next(link for link in invited["links"] if link.startswith(f"https://{LAN_NAME}:"))


class Network:
    """A proxy between one browser and a port. It can stop passing data."""

    def __init__(self, port):
        self.port = port
        self._is_cut = False
        self._is_closed = False
        self._pairs = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.proxy_port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Stops passing data, but keeps connections open, as when a phone leaves the network."""
        self._is_cut = True

    def mend(self):
        """Passes the data of new connections. Old connections end, because some of their data is lost."""
        with self._lock:
            self._is_cut = False
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self._is_closed = True
        self._listener.close()
        self.mend()

    def _accept(self):
        while not self._is_closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        far = socket.socket()
        with near, far:
            pair = (near, far)
            with self._lock:
                self._pairs.add(pair)
            try:
                if not self._is_cut:
                    far.settimeout(5)
                    far.connect(("127.0.0.1", self.port))
                    far.settimeout(None)
                    for end in pair:
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._copy(near, far)
            except OSError:
                pass
            with self._lock:
                self._pairs.discard(pair)

    def _copy(self, near, far):
        while True:
            # While the network is cut, connections stay open, and nothing is read.
            if self._is_cut:
                if near.fileno() < 0 or near not in {end for pair in self._pairs for end in pair}:
                    return
                time.sleep(0.05)
                continue
            readable, _, _ = select.select([near, far], [], [], 0.2)
            for end in readable:
                data = end.recv(65536)
                if not data:
                    return
                if self._is_cut:
                    break
                (far if end is near else near).sendall(data)
