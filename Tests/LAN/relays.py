"""`whiteboard-relay` on a host of the rig, and its operator."""

import contextlib
import json
import sqlite3

import lan
import peers
from peers import expect


class Relay(lan.Process):
    """A running `whiteboard-relay serve`."""

    data_dir = http = None

    @property
    def status(self):
        """The relay's report of itself, after it was reachable."""
        lan.until(lambda: self.output or self._must_run(), 20, f"{self} to be ready")
        return json.loads(self.output[0][1])

    def _must_run(self):
        if not self.is_running:
            raise peers.Wrong(f"{self} ended with status {self.popen.returncode}")

    @property
    def id(self):
        """The relay's PeerID."""
        return self.status["peer"]

    @property
    def port(self):
        """The address at which it listens."""
        return int(self.status["addresses"][0].rpartition(":")[2])

    def operate(self, *words, check=True):
        """Runs a command as the relay's operator; returns the printed events."""
        done = self.host.run(program(), *words, "--json", "--data-dir", self.data_dir, check=check)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def create(self, name, *words):
        """Creates a board on the relay; returns the report, with its link."""
        boards = self.operate("boards", "create", name, *words)
        expect(len(boards) == 1 and boards[0]["state"] == "serving", f"{boards}")
        return boards[0]

    @property
    def link(self):
        """The join link of the relay's only board."""
        board, = self.operate("boards")
        return board["link"]

    def leave(self, within=10):
        """Sends SIGTERM, after which the relay must end in good order."""
        status = self.stop(within=within)
        expect(status == 0, f"{self} ended with status {status} after SIGTERM")


def program():
    """The `whiteboard-relay` beside the `whiteboard-peer` under test."""
    return peers.program().with_name("whiteboard-relay")


def start(scene, host, *words, data="relay", http="none", wait=True):
    """Starts a relay on a host, and waits until it is reachable; `data` names a data directory to use again."""
    directory = host.home / data
    relay = host.start(
        program(), "serve", "--json", "--data-dir", directory, "--name", "attic", "--http", http,
        "--log-level", "info", *words, name=f"relay ({host.name})", kind=Relay,
    )
    relay.data_dir, relay.http = directory, http
    if wait:
        relay.status
    return relay


def stored_photos(relay):
    """The number of photos that the boards of a relay have."""
    count = 0
    for path in (relay.data_dir / "boards").glob("*.whiteboard"):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as board:
            count += board.execute("SELECT count(*) FROM asset").fetchone()[0]
    return count
