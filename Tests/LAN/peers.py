"""Building blocks of scenarios: `whiteboard-peer` on a host of the rig, driven by its `--json` lines.

A `Peer` stores every event of the program, sends commands, and waits for their effects, always with a condition and a
deadline. A `Scene` is the rig and the peers of one scenario, with checks for all peers.
"""

import base64
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import random
import struct
import time
import zlib

import lan
from lan import Late, until

ROOT = lan.HERE.parent.parent
# Keys of an object that differ between peers: a local file, a local view, a game as one member sees it.
NEVER_SHOWN = ("path", "selectedBy", "game")


class Wrong(Exception):
    """The programs did not behave as the scenario says."""


class Refused(Wrong):
    """A command was answered with `error`."""

    def __init__(self, peer, answer):
        super().__init__(f"{peer}: {answer}")
        self.code = answer.get("code")


def expect_within(limit, seconds, complaint):
    """Expects that something took no longer than a limit, both in seconds. On a busy machine, it may be late."""
    if seconds > limit * lan.PATIENCE:
        raise lan.Late(f"{complaint} {seconds:.2f} s")


def expect(condition, complaint):
    """Raises `Wrong` with the message unless the condition holds."""
    if not condition:
        raise Wrong(complaint)


def program():
    """The `whiteboard-peer` under test: $WHITEBOARD_PEER, else the release build, else the debug build."""
    named = os.environ.get("WHITEBOARD_PEER")
    choices = [pathlib.Path(named)] if named else [
        ROOT / ".build" / flavour / "whiteboard-peer" for flavour in ("release", "debug")
    ]
    return next((choice.resolve() for choice in choices if choice.exists()), None)


class Request:
    """A pending command; `result()` waits for its `done` or `error`."""

    def __init__(self, peer, mark, verb):
        self.peer, self.mark, self.verb = peer, mark, verb

    @property
    def answer(self):
        """The answer, or None if there is none yet."""
        return self.peer.answers.get(self.mark)

    def result(self, within=10):
        """Returns the `done` event; raises `Refused` with the `error` event."""

        def answered():
            if self.answer is None:
                self.peer.must_run(f"answering {self.verb}")
            return self.answer

        answer = until(answered, within, f"{self.peer} to answer {self.verb}")
        if answer["event"] == "error":
            raise Refused(self.peer, answer)
        return answer


class Peer(lan.Process):
    """One running `whiteboard-peer … --json`."""

    def __init__(self, host, name, arguments, environment):
        self.events, self.answers, self.not_events = [], {}, []
        self.data_dir = None
        self._marks = itertools.count(1)
        super().__init__(host, name, arguments, environment)

    def heard(self, line, when):
        try:
            event = json.loads(line)
            kind, version = event["event"], event["v"]
        except (ValueError, TypeError, KeyError):
            self.not_events.append(line)
            return
        if version != 1:
            self.not_events.append(line)
        event["when"] = when
        self.events.append(event)
        mark = event.get("request")
        if kind in ("done", "error") and mark is not None:
            if mark in self.answers:
                self.not_events.append(f"a second answer: {line}")
            self.answers[mark] = event

    # Events

    @property
    def mark(self):
        """The number of events so far, as the start for later searches."""
        return len(self.events)

    def must_run(self, while_doing):
        """Raises if the program has ended, because waiting is useless then."""
        if not self.is_running and all(self._ended.values()):
            raise Wrong(f"{self} ended with status {self.popen.returncode} while {while_doing}")

    def seen(self, kind, since=0, where=None, **fields):
        """The events of a kind whose fields have these values, oldest first."""
        return [
            event for event in self.events[since:]
            if event["event"] == kind
            and all(event.get(key.rstrip("_")) == value for key, value in fields.items())
            and (where is None or where(event))
        ]

    def wait(self, kind, within=10, since=0, where=None, count=1, **fields):
        """Waits for the `count`-th such event and returns it."""

        def come():
            found = self.seen(kind, since, where, **fields)
            if len(found) < count:
                self.must_run(f"waiting for {kind}")
                return None
            return found[count - 1]

        what = f"{self} to say {kind} {fields or ''}" + (f" {count} times" if count > 1 else "")
        return until(come, within, what)

    def wait_state(self, peer, state, within, since=0):
        """Waits until the program reports a state of its link with another peer."""
        return self.wait("peer-state", within, since, peer=peer.id, state=state)

    @property
    def ready(self):
        return self.wait("ready", 15)

    @property
    def id(self):
        """The program's PeerID, from its first event."""
        return self.ready["peer"]

    @property
    def code(self):
        return self.ready["code"]

    @property
    def link(self):
        return self.ready["link"]

    # Commands

    def begin(self, verb, **keys):
        """Sends a command without waiting; `as_` and `id_` stand for keys that are keywords or built-ins in Python."""
        mark = f"r{next(self._marks)}"
        line = {"verb": verb, "request": mark, **{key.rstrip("_"): value for key, value in keys.items()}}
        self.write(json.dumps(line))
        return Request(self, mark, verb)

    def do(self, verb, within=10, **keys):
        """Sends a command and returns its `done`; raises `Refused` if it is answered with `error`."""
        return self.begin(verb, **keys).result(within)

    def ask(self, verb, within=10, of=None):
        """Sends a command that answers with an event (`objects`, `digest`) and returns that event. `of` is the event's
        name if it differs from the command's."""
        request = self.begin(verb)
        request.result(within)
        found = self.seen(of or verb, request=request.mark)
        expect(len(found) == 1, f"{self}: {verb} gave {len(found)} events of its own")
        return found[0]

    def objects(self):
        """The objects on this board by id, as the program reports them."""
        return {one["id"]: one for one in self.ask("objects")["objects"]}

    def board(self):
        """The objects without the keys that may differ between replicas."""
        return {
            id: {key: value for key, value in one.items() if key not in NEVER_SHOWN}
            for id, one in self.objects().items()
        }

    def digest(self):
        return self.ask("digest")["digest"]

    def leave(self, within=8):
        """Sends SIGTERM, which the program answers with a goodbye and status 0."""
        status = self.stop(within=within)
        expect(status == 0, f"{self} ended with status {status} after SIGTERM")


class Scene:
    """One scenario: its rig, its peers and its scratch files."""

    def __init__(self, rig, seed):
        self.rig, self.peers, self.seed = rig, [], seed
        self.random = random.Random(seed)
        self.files = rig.directory / "files"
        self.files.mkdir()
        for host in rig.hosts:
            setattr(self, host.name, host)

    def start(self, host, *words, name=None, data=None, **environment):
        """Starts `whiteboard-peer WORDS… --json` on a host; `data` names a data directory to use again."""
        directory = host.home / (data or f"data{len(self.peers)}")
        more = ["--json", "--data-dir", directory]
        if words[0] in ("host", "join", "run"):
            more += ["--as", name or host.name, "--accept-files"]
        peer = host.start(
            program(), *words, *more, name=f"{words[0]} ({name or host.name})", kind=Peer, **environment
        )
        peer.data_dir = directory
        self.peers.append(peer)
        return peer

    def host(self, host, board="Team", *words, admit="anyone", **more):
        """Starts a board and waits until it can be joined."""
        peer = self.start(host, "host", board, "--admit", admit, *words, **more)
        peer.wait("ready", 15)
        return peer

    def join(self, host, target="Team", *words, to=None, within=15, **more):
        """Joins a board and waits until both sides report it; `to` is the peer that admits (or all of several)."""
        peer = self.start(host, "join", target, *words, **more)
        for other in to if isinstance(to, (list, tuple)) else [to] if to else []:
            self.joined(peer, other, within=within)
        if not to:
            peer.wait("joined", within)
        return peer

    def joined(self, *peers, within=15):
        """Waits until each of these peers has reported that each of the others joined."""
        for one, other in itertools.permutations(peers, 2):
            one.wait("joined", within, peer=other.id)

    def team(self, count=3, *words, **more):
        """Starts a board on h1 and members on h2, h3, … that are all connected and have the board."""
        hosts = self.rig.hosts[:count]
        first = self.host(hosts[0], "Team", *words, **more)
        team = [first] + [self.start(host, "join", "Team", *words, **more) for host in hosts[1:]]
        self.joined(*team, within=25)
        # A joiner runs no command before it has the board, and a scene may cut the network right after this.
        for peer in team[1:]:
            peer.digest()
        return team

    def agree(self, *peers, within=10):
        """Waits until all digests are equal, then compares the objects themselves; returns them by id."""
        peers = peers or self.peers
        deadline = time.monotonic() + within * lan.PATIENCE
        while True:
            digests = [peer.digest() for peer in peers]
            if len(set(digests)) == 1:
                boards = [peer.board() for peer in peers]
                if all(board == boards[0] for board in boards):
                    return boards[0]
                complaint = self._difference(peers, boards)
            else:
                complaint = f"digests differ: {dict(zip(map(str, peers), digests))}"
            if time.monotonic() > deadline:
                raise Wrong(f"not within {within:g} s: the boards to be one board: {complaint}")
            with lan.news:
                lan.news.wait(0.1)

    @staticmethod
    def _difference(peers, boards):
        for peer, board in zip(peers[1:], boards[1:]):
            for id in sorted(boards[0].keys() | board.keys()):
                if boards[0].get(id) != board.get(id):
                    return f"{id} is {boards[0].get(id)} at {peers[0]}, {board.get(id)} at {peer}"
        return "nothing (they agree now)"

    def file(self, name, size):
        """A file of seeded random bytes."""
        path = self.files / name
        with path.open("wb") as out:
            for start in range(0, size, 1 << 20):
                out.write(self.random.randbytes(min(1 << 20, size - start)))
        return path

    def photo(self, name, width=240, height=180):
        """A valid PNG of seeded noise, which does not compress well."""
        rows = b"".join(b"\0" + self.random.randbytes(width * 3) for _ in range(height))

        def chunk(kind, body):
            return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

        path = self.files / name
        path.write_bytes(
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
        )
        return path

    def finish(self):
        """Expects that every running peer leaves in order, and that no output line is invalid."""
        for peer in self.peers:
            if peer.is_running:
                peer.leave()
        self.check_output()

    def check_output(self):
        """Expects that no peer wrote an invalid line, answered a command twice, or crashed."""
        for peer in self.peers:
            expect(not peer.not_events, f"{peer} wrote lines that are not events: {peer.not_events[:3]}")
            crash = [line for _, line in peer.errors if "Fatal error" in line or "Crash:" in line]
            expect(not crash, f"{peer} crashed: {crash[:3]}")


def sha256(path):
    """The SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def for_seconds(seconds, *peers):
    """Lets time pass, in scenarios about time; all the peers must keep running."""
    with contextlib.suppress(Late):
        until(lambda: [peer.must_run("time passed") for peer in peers] and None, seconds, "")


def text_of(event):
    """The bytes of a `data` event as text."""
    return base64.b64decode(event["base64"]).decode()
