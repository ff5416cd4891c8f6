"""Runs the real `whiteboard-peer` and speaks its `--json` lines."""

import base64
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import threading

from whiteboard_peer.events import PATIENCE, EventLog

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(
    os.environ.get("WHITEBOARD_PEER", REPOSITORY / ".build" / "debug" / "whiteboard-peer")
)


_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """Makes the kernel end this program if the test run is killed."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Failed(Exception):
    """A command was answered with `error`."""

    def __init__(self, event):
        super().__init__(str(event))
        self.code = event.get("code")


class Program:
    """One process of the program, with its events."""

    # Lines with these prefixes are read and dropped.
    ignored = ()

    def __init__(
        self, *arguments, directory, name="swift", listen="127.0.0.1:0", options=(), under=(), environment=None,
        accepts_files=True,
    ):
        """Starts the program.

        `accepts_files`: accept files of members without `accept`. `name`: None for the stored name. `under`: a command that runs the program.
        `environment`: variables in addition to those of this process.
        """
        command = [*under, str(BINARY), *arguments, "--json", "--data-dir", str(directory), *(["--as", name] if name else [])]
        command += ["--listen", listen, "--no-announce", *(["--accept-files"] if accepts_files else []), *options]
        self.directory = pathlib.Path(directory)
        self.events = EventLog()
        self.lines = []
        self._requests = 0
        self._log = open(self.directory.parent / f"{self.directory.name}.log", "wb")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **(environment or {})},
            preexec_fn=end_with_parent,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith(self.ignored):
                continue
            try:
                event = json.loads(line)
                kind = event.pop("event")
            except (ValueError, KeyError):
                event, kind = {"line": line}, "not-json"
            self.lines.append(line)
            self.events.add(kind, **event)
        self.events.add("output-ended")

    @property
    def log(self):
        self._log.flush()
        return pathlib.Path(self._log.name).read_text("utf-8", "replace")

    def ready(self, timeout=30):
        event = self.events.wait("ready", timeout)
        host, port = event["addresses"][0].rsplit(":", 1)
        self.address = ("127.0.0.1", int(event.get("port", port)))
        self.peer = event["peer"]
        self.board = event.get("board")
        self.code = event.get("code")
        self.link = event.get("link")
        return event

    def begin(self, verb, **arguments):
        """Sends a command; returns its request id, for waiting."""
        self._requests += 1
        mark = f"r{self._requests}"
        line = json.dumps({"verb": verb, "request": mark, **arguments})
        self.process.stdin.write(line.encode("utf-8") + b"\n")
        self.process.stdin.flush()
        return mark

    def finish(self, mark, timeout=30):
        done = self.events.wait_any(("done", "error"), timeout, request=mark)
        if done["event"] == "error":
            raise Failed(done)
        return done

    def do(self, verb, timeout=30, **arguments):
        return self.finish(self.begin(verb, **arguments), timeout)

    def digest(self):
        mark = self.begin("digest")
        event = self.events.wait("digest", 30, request=mark)
        self.finish(mark)
        return event["digest"]

    def objects(self):
        mark = self.begin("objects")
        event = self.events.wait("objects", 30, request=mark)
        self.finish(mark)
        return event["objects"]

    def is_running(self):
        return self.process.poll() is None

    def ended(self, timeout):
        """Waits until the program has ended by itself; returns its exit status."""
        return self.process.wait(timeout * PATIENCE)

    def stop(self, timeout=10):
        """Asks the program to end; returns its exit status."""
        if self.is_running():
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.ended(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        self._log.close()
        return status


def data_of(event):
    return base64.b64decode(event["base64"])
