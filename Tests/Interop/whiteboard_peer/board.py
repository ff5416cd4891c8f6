"""A peer with a board: batches, catch-up, reports, assets, application data (board.md)."""

import hashlib
import json
import os
import pathlib
import struct
import threading
import time

from . import cells, codec, views
from .cells import BoardError, Dot, State
from .codec import Reader, encode_set
from .session import Peer
from .wire import Violation, encode_vint

BATCH, REQUEST, ANSWER, REPORT = 0x01, 0x02, 0x03, 0x04
ASSET_REQUEST, ASSET_UNAVAILABLE, APPLICATION = 0x05, 0x06, 0x10
PRESENCE, PREVIEW = 0x01, 0x02
MAXIMUM_ANSWER = 268_435_456

OWN = "own"


def context_hash(context):
    """SYN-14."""
    return hashlib.sha256(encode_set(context)).digest()[:8]


def asset_name(identifier, sha256):
    """BRD-20."""
    return json.dumps(
        {
            "id": views.object_text(identifier),
            "type": "imageData",
            "isDeleted": False,
            "sha256": sha256.hex(),
        }
    )


def parse_asset_name(name):
    """The SHA-256 in the name of an asset's resource, or None when it is none."""
    try:
        value = json.loads(name)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("type") != "imageData":
        return None
    try:
        return bytes.fromhex(value.get("sha256", ""))
    except (TypeError, ValueError):
        return None


def image_header(data):
    """(format, width, height) read from the file itself (BRD-17)."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        return 2, *struct.unpack(">II", data[16:24])
    if data[:2] == b"\xff\xd8":
        at = 2
        while at + 9 < len(data) and data[at] == 0xFF:
            marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                height, width = struct.unpack(">HH", data[at + 5 : at + 9])
                return 1, width, height
            at += 2 + length
    raise ValueError("neither PNG nor JPEG")


def decode_message(data):
    """(kind, content) of a reliable message; None for one that is skipped."""
    reader = Reader(data)
    kind = reader.u8()
    if kind == BATCH:
        return kind, codec.decode_batch(data[1:])
    if kind == REQUEST:
        number = reader.varint()
        if number == 0:
            raise BoardError("limit", "request 0")
        content = number, reader.incarnation(), codec.read_set(reader)
    elif kind == ANSWER:
        number, index, size = reader.varint(), reader.varint(), reader.varint()
        digest = bytes(reader.take(32))
        if number == 0 or not 1 <= size <= MAXIMUM_ANSWER or index * codec.PART >= size:
            raise BoardError("limit", "a part of an answer")
        expected = min(codec.PART, size - index * codec.PART)
        content = number, index, size, digest, bytes(reader.take(expected))
    elif kind == REPORT:
        hashed, applied, incarnation = bytes(reader.take(8)), reader.varint(), reader.u64()
        held = codec.read_set(reader)
        if any(named != incarnation for named in held.ranges):
            raise BoardError("inconsistent", "a report about another incarnation")
        content = hashed, applied, incarnation, held
    elif kind in (ASSET_REQUEST, ASSET_UNAVAILABLE):
        content = bytes(reader.take(32))
    elif kind == APPLICATION:
        return kind, data[1:]
    elif kind < 0x80:
        raise BoardError("reserved", f"message kind {kind:#04x}")
    else:
        return None
    reader.end()
    return kind, content


def decode_datagram(data):
    """(kind, content) of a datagram; None for one that is skipped."""
    reader = Reader(data)
    kind = reader.u8()
    if kind == PRESENCE:
        counter, form = reader.varint(), reader.u8()
        if form > 1:
            raise BoardError("reserved", "a form of presence")
        return kind, (counter, (reader.zigzag(), reader.zigzag()) if form else None)
    if kind == PREVIEW:
        stroke = Dot(reader.incarnation(), reader.sequence())
        first = reader.varint()
        return kind, (stroke, first, codec.decode_ink(bytes(reader.take(reader.left)), 16))
    if kind == APPLICATION:
        return kind, data[1:]
    if kind < 0x80:
        raise BoardError("reserved", f"datagram kind {kind:#04x}")
    return None


class _Replica:
    """What we know of another replica."""

    def __init__(self):
        self.incarnation = 0
        self.requests = 0
        self.applied_request = 0
        self.answered_to = 0
        self.their_hash = None
        self.their_applied = 0
        self.parts = None


class BoardPeer(Peer):
    """A session peer that keeps a replica of its session's board."""

    def __init__(self, *arguments, **options):
        self.board_incarnation = int.from_bytes(os.urandom(8), "big") or 1
        self.state = State()
        self.sequence = 0
        self._former_incarnations = {}
        self.clock = 0
        self.assets = {}
        self._wanted_assets = {}
        self._replicas = {}
        self.log = []
        super().__init__(*arguments, **options)
        self.accept_resource = self._accept_asset
        threading.Thread(target=self._run_board, daemon=True).start()

    def _replica(self, remote):
        return self._replicas.setdefault((remote.peer_id, remote.incarnation), _Replica())

    def _run_board(self):
        """SYN-15: every 5 s compare with what the others reported, and ask for what is missing."""
        while True:
            with self.condition:
                if self.condition.wait_for(lambda: self._closed, 5):
                    return
                mine = context_hash(self.state.context)
                for remote in list(self.remotes.values()):
                    if remote.control and self._replica(remote).their_hash not in (None, mine):
                        self._request(remote)

    # Making operations

    def _now(self):
        return max(time.time_ns() // 1_000_000 << 16, self.clock + 1)

    def _leave_claimed_incarnation(self):
        """BRD-25: where others claim what we never wrote, the next operation is another's."""
        written = [[1, self.sequence]] if self.sequence else []
        if self.state.context.ranges.get(self.board_incarnation, []) == written:
            return
        self._former_incarnations[self.board_incarnation] = self.sequence
        self.board_incarnation = int.from_bytes(os.urandom(8), "big") or 1
        self.sequence = 0
        for remote in list(self.remotes.values()):
            if remote.delivery:
                self._request(remote)

    def commit(self, operations):
        """One batch of own operations to everybody; the dot of the first (SYN-10)."""
        with self.condition:
            self._leave_claimed_incarnation()
            first = self.sequence + 1
            at = self._now()
            for index, (target, number, qualifier, _, _) in enumerate(operations):
                own = Dot(self.board_incarnation, first + index)
                key = number, own if qualifier == OWN else qualifier
                held = self.state.objects.get(own if target is None else target, {})
                if key in held:
                    # BRD-6: later than what it overwrites.
                    at = max(at, held[key].time + 1)
            data = codec.encode_batch(self.board_incarnation, first, at, operations)
            decoded = codec.decode_batch(data)
            self.sequence += len(operations)
            self.clock = at + len(operations) - 1
            self.state.apply(decoded)
            for remote in self.remotes.values():
                if remote.delivery:
                    remote.send(bytes([BATCH]) + data)
            self._report()
            self.condition.notify_all()
            return Dot(self.board_incarnation, first)

    def write(self, target, number, shape, value):
        """Writes one cell."""
        self.commit([(target, number, None, shape, value)])

    def _create(self, kind, cell_list):
        """An object of `kind` with cells (number, qualifier, shape, value)."""
        with self.condition:
            self._leave_claimed_incarnation()
            identifier = Dot(self.board_incarnation, self.sequence + 1)
            operations = [(None, cells.KIND, None, cells.UNSIGNED, kind)]
            operations += [(identifier, *cell) for cell in cell_list]
            return self.commit(operations)

    def add_text(self, x, y, words):
        run = codec.encode_run(codec.ROOT, None, words)
        return self._create(
            cells.TEXT,
            [
                (cells.POSITION, None, cells.PAIR, (round(x * 64), round(y * 64))),
                (cells.RUN, OWN, cells.BYTES, run),
            ],
        )

    def insert_text(self, identifier, index, words):
        """Types `words` before the visible character `index` (BRD-14)."""
        with self.condition:
            tree = views.text_characters(self.state, identifier)
            shown = [at for at, entry in enumerate(tree) if entry[3]]
            if index == 0:
                anchor = (codec.LEFT, tree[0][:2]) if tree else (codec.ROOT, None)
            else:
                at = shown[index - 1]
                left = tree[at][:2]
                following = tree[at + 1][:2] if at + 1 < len(tree) else None
                if self._has_right_child(identifier, left):
                    anchor = codec.LEFT, following
                else:
                    anchor = codec.RIGHT, left
            run = codec.encode_run(*anchor, words)
            self.commit([(identifier, cells.RUN, OWN, cells.BYTES, run)])

    def _has_right_child(self, identifier, character):
        run, offset = character
        runs = dict(views._decoded(self.state, identifier, cells.RUN, codec.decode_run))
        if offset + 1 < len(runs[run][2]):
            return True
        return any(r[0] == codec.RIGHT and r[1] == character for r in runs.values())

    def delete_text(self, identifier, index, count):
        """Deletes visible characters."""
        with self.condition:
            tree = views.text_characters(self.state, identifier)
            shown = [entry for entry in tree if entry[3]][index : index + count]
            operations = [
                (
                    identifier,
                    cells.DELETION,
                    OWN,
                    cells.BYTES,
                    codec.encode_deletion(run, offset, 1),
                )
                for run, offset, _, _ in shown
            ]
            self.commit(operations)

    def add_stroke(self, points, width=4, colour=0x112233FF):
        """A whole stroke; `points` are (x, y) in board units."""
        fine = [(round(x * 16), round(y * 16), 0) for x, y in points]
        pieces = [
            (cells.INK, start, cells.BYTES, codec.encode_ink(fine[start : start + 128]))
            for start in range(0, len(fine), 128)
        ]
        return self._create(
            cells.DRAWING,
            [
                (cells.COLOUR, None, cells.UNSIGNED, colour),
                (cells.LINE_WIDTH, None, cells.UNSIGNED, round(width * 64)),
                *pieces,
                (cells.END, None, cells.UNSIGNED, len(fine)),
            ],
        )

    def add_photo(self, x, y, path):
        data = pathlib.Path(path).read_bytes()
        kind, width, height = image_header(data)
        sha256 = hashlib.sha256(data).digest()
        self.assets[sha256] = pathlib.Path(path)
        asset = sha256 + bytes([kind]) + struct.pack(">III", len(data), width, height)
        return self._create(
            cells.PHOTO,
            [
                (cells.POSITION, None, cells.PAIR, (round(x * 64), round(y * 64))),
                (cells.SIZE, None, cells.PAIR, (width * 64, height * 64)),
                (cells.ASSET, None, cells.BYTES, asset),
            ],
        )

    def say(self, words):
        return self._create(
            cells.CHAT,
            [
                (cells.CHAT_AUTHOR, None, cells.BYTES, self.id),
                (cells.CHAT_NAME, None, cells.STRING, self.name.encode("utf-8")),
                (cells.CHAT_TEXT, None, cells.STRING, words.encode("utf-8")),
                (cells.CHAT_TIME, None, cells.UNSIGNED, time.time_ns() // 1_000_000),
            ],
        )

    # Application data

    def send_data(self, remote, data, reliable=True):
        if reliable:
            remote.send(bytes([APPLICATION]) + data)
            return "message"
        return remote.send_datagram(bytes([APPLICATION]) + data)

    # Reading the board

    def digest(self):
        with self.condition:
            return self.state.digest()

    def objects(self):
        with self.condition:
            return [
                views.describe(self.state, i, self.assets.__contains__)
                for i in views.drawn_objects(self.state)
            ]

    def is_synced(self, remote):
        """SYN-16."""
        member = self._replica(remote)
        return (
            member.requests > 0
            and member.applied_request == member.requests
            and member.answered_to > 0
            and member.their_applied == member.answered_to
            and member.their_hash == context_hash(self.state.context)
        )

    def wait_synced(self, remote, timeout=20):
        self.wait_until(lambda: self.is_synced(remote), timeout)

    def replica_incarnation(self, remote):
        """The incarnation that the other side's replica writes under."""
        return self._replica(remote).incarnation

    # Messages

    def on_open(self, remote):
        member = self._replica(remote)
        if member.requests == 0:
            self._request(remote)

    def _request(self, remote):
        member = self._replica(remote)
        member.requests += 1
        member.parts = None
        head = bytes([REQUEST]) + encode_vint(member.requests)
        head += struct.pack(">Q", self.board_incarnation)
        remote.send(head + encode_set(self.state.context))

    def _report(self, to=None):
        for remote in list(self.remotes.values()):
            if not remote.delivery or (to is not None and remote is not to):
                continue
            member = self._replica(remote)
            message = bytes([REPORT]) + context_hash(self.state.context)
            message += encode_vint(member.applied_request)
            message += struct.pack(">Q", member.incarnation)
            message += encode_set(self.state.context.only(member.incarnation))
            remote.send(message)

    def on_message(self, remote, message):
        try:
            self._take_message(remote, message)
        except BoardError as error:
            self.events.add("board-error", remote=remote, word=error.word, message=message)
            raise Violation("protocol-error", str(error)) from error

    def _take_message(self, remote, message):
        decoded = decode_message(message)
        if decoded is None:
            return
        kind, content = decoded
        member = self._replica(remote)
        self.log.append((remote.peer_id, message))
        if kind == BATCH:
            self._take_batch(remote, content)
        elif kind == REQUEST:
            number, member.incarnation, context = content
            self._answer(remote, number, context)
        elif kind == ANSWER:
            self._take_answer(remote, member, *content)
        elif kind == REPORT:
            member.their_hash, member.their_applied = content[:2]
        elif kind == ASSET_REQUEST:
            self._send_asset(remote, content)
        elif kind == ASSET_UNAVAILABLE:
            self.events.add("asset-unavailable", remote=remote, sha256=content)
        elif kind == APPLICATION:
            self.events.add("data", remote=remote, data=content, reliable=True)
        self.condition.notify_all()

    def _take_batch(self, remote, operations):
        written = {**self._former_incarnations, self.board_incarnation: self.sequence}
        author, last = operations[-1].dot
        if author in written and last > written[author]:
            raise BoardError("forged-batch")
        self.state.apply(operations)
        self._advance_clock(operations[-1].time)
        self._want_assets(remote)
        self._report()
        self.events.add("batch", remote=remote, operations=operations)

    def _advance_clock(self, received):
        """BRD-7."""
        wall = time.time_ns() // 1_000_000
        self.clock = max(self.clock, min(received, wall + 60_000 << 16))

    def _answer(self, remote, number, context):
        member = self._replica(remote)
        member.answered_to = number
        whole = codec.encode_answer(*self.state.answer_to(context))
        digest = hashlib.sha256(whole).digest()
        for index, start in enumerate(range(0, len(whole), codec.PART)):
            head = bytes([ANSWER]) + encode_vint(number) + encode_vint(index)
            head += encode_vint(len(whole)) + digest
            remote.send(head + whole[start : start + codec.PART])

    def _take_answer(self, remote, member, number, index, size, digest, part):
        if number > member.requests:
            raise BoardError("unrequested-answer")
        if number < member.requests:
            return
        if member.parts is None:
            member.parts = [size, digest, []]
        if member.parts[:2] != [size, digest] or index != len(member.parts[2]):
            raise BoardError("inconsistent", "another answer's part")
        member.parts[2].append(part)
        if sum(map(len, member.parts[2])) < size:
            return
        whole = b"".join(member.parts[2])
        member.parts = None
        if hashlib.sha256(whole).digest() != digest:
            raise BoardError("checksum")
        self.state.merge_answer(*codec.decode_answer(whole))
        member.applied_request = number
        self._want_assets(remote)
        self._report()
        self.events.add("answer", remote=remote, number=number, size=size)

    # Datagrams

    def on_datagram(self, remote, message, path):
        try:
            self._take_datagram(remote, message, path)
        except BoardError as error:
            self.events.add("dropped", remote=remote, word=error.word)

    def _take_datagram(self, remote, message, path):
        decoded = decode_datagram(message)
        if decoded is None:
            return
        kind, content = decoded
        if kind == APPLICATION:
            self.events.add("data", remote=remote, data=content, reliable=False, path=path)
        elif kind == PREVIEW:
            stroke, first, points = content
            self.events.add("preview", remote=remote, stroke=stroke, first=first, points=points)
        else:
            self.events.add("presence", remote=remote)

    # Assets

    def _want_assets(self, remote):
        for identifier in views.drawn_objects(self.state):
            asset = views.asset_of(self.state, identifier)
            if asset and asset[0] not in self.assets and asset[0] not in self._wanted_assets:
                self._wanted_assets[asset[0]] = (remote.peer_id, asset)
                remote.send(bytes([ASSET_REQUEST]) + asset[0])

    def _send_asset(self, remote, sha256):
        """SYN-36."""
        if sha256 not in self.assets:
            remote.send(bytes([ASSET_UNAVAILABLE]) + sha256)
            return
        shows = next(
            i
            for i in views.drawn_objects(self.state)
            if (views.asset_of(self.state, i) or [None])[0] == sha256
        )
        remote.send_resource(asset_name(shows, sha256), self.assets[sha256])

    def _accept_asset(self, remote, offer):
        """SYN-37: an asset only from whom it was asked; anything else is the application's."""
        sha256 = parse_asset_name(offer["name"])
        return sha256 is None or self._wanted_assets.get(sha256, (None,))[0] == remote.peer_id

    def wait_asset(self, sha256, timeout=30):
        """The file of an asset, once it came and was found to be what its object says."""
        self.events.wait(
            "resource",
            timeout,
            where=lambda e: parse_asset_name(e["name"]) == sha256 and self._note(e),
        )
        return self.assets[sha256]

    def _note(self, event):
        """BRD-17 for one received resource."""
        sha256 = parse_asset_name(event["name"])
        data = pathlib.Path(event["path"]).read_bytes()
        asset = self._wanted_assets[sha256][1]
        header = image_header(data)
        if (hashlib.sha256(data).digest(), header[0], len(data), *header[1:]) != asset:
            return False
        self.assets[sha256] = event["path"]
        return True
