"""A peer with a board: batches, catch-up, reports, assets, application data (board.md)."""

import collections
import hashlib
import os
import pathlib
import struct
import tempfile
import threading
import time

from . import authors, cells, codec, messages, outlines, retirement, stacking, views
from .authors import Author, LinkReader, LinkWriter
from .cells import BoardError, Dot, State
from .clock import Clock, runs
from .messages import APPLICATION, ASSET_REQUEST, ASSET_UNAVAILABLE, AUTHOR, BATCH, HEAD
from .messages import NOTHING_LACKING, PREVIEW, PROFILE, RECORD, REPORT, REQUEST, RETIREMENT
from .messages import asset_name, context_hash, parse_asset_name
from .session import Peer
from .wire import Violation, base32, encode_vint

OWN = "own"
PATIENCE, TRANSFER_PATIENCE = 5, 60
# The time until a member that skips retirements is asked again (AUT-17).
SKIPPING = 60
MAXIMUM_AHEAD = 4096


def image_header(data):
    """Reads (format, width, height) from the file itself (BRD-17)."""
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


def _steps(point):
    """A pair in multiples of 1/64 unit."""
    return tuple(round(v * 64) for v in point)


def _common(one, other):
    """The number of equal elements at the start of both lists."""
    return next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


class _Replica:
    """The known state of another replica."""

    def __init__(self):
        self.delivery = None
        self.writer = self.reader = None
        self.incarnation = 0
        self.role = None
        self.requests = 0
        self.applied_request = 0
        self.answered_to = 0
        self.their_hash = None
        self.their_applied = 0
        self.head_sent = 0
        self.repair_at = 0
        self.ask_again = 0
        self.ahead = {}


class _Waiting:
    """The one pending request (SYN-11)."""

    def __init__(self, remote, number, buckets, retirements):
        self.remote, self.number, self.buckets = remote, number, buckets
        # The number of retirements that were sent to the member before the request.
        self.retirements = retirements
        self.until = time.monotonic() + PATIENCE


class BoardPeer(Peer):
    """A session peer with a replica of its session's board."""

    def __init__(self, identity, name, session=None, *, role=authors.EDITOR, icon="", shows_previews=True, **options):
        session = os.urandom(16) if session is None else session
        self.state = State()
        self.role, self.icon, self.shows_previews = role, icon, shows_previews
        self.author = Author(identity.key, session, role)
        self.records = {self.author.incarnation: self.author.record}
        self.retirements = []
        self.clock = Clock()
        self.assets = {}
        self._wanted_assets = {}
        self._replicas = {}
        self._waiting = None
        self._to_ask = collections.OrderedDict()
        self._answers = tempfile.TemporaryDirectory(prefix="whiteboard-answers-")
        self.log = []
        self._presences = 0
        super().__init__(identity, name, session, **options)
        self.accept_resource = self._accept_resource
        self.is_requested = self._is_requested
        threading.Thread(target=self._run_board, daemon=True).start()

    @property
    def board_incarnation(self):
        return self.author.incarnation

    @property
    def sequence(self):
        return self.author.sequence

    def _replica(self, remote):
        return self._replicas.setdefault((remote.peer_id, remote.incarnation), _Replica())

    def _linked(self):
        """The members to which this replica has introduced itself."""
        return [
            (remote, self._replica(remote))
            for remote in list(self.remotes.values())
            if remote.delivery and self._replica(remote).delivery is remote.delivery
        ]

    def _run_board(self):
        """Sends heads every second, and reports with sums and the requests of SYN-15 every 5 s."""
        seconds = 0
        while True:
            with self.condition:
                if self.condition.wait_for(lambda: self._closed, 1):
                    return
                seconds += 1
                self._send_heads()
                if self._waiting and self._is_given_up(self._waiting):
                    given_up, self._waiting = self._waiting, None
                    # The request is repeated after the requests to other members; members that left are skipped.
                    self._request(given_up.remote, given_up.buckets)
                if seconds % 5 == 0:
                    self._report(sums=messages.bucket_sums(self.state))
                    mine = context_hash(self.state.context)
                    for remote, member in self._linked():
                        may_ask = remote.control and time.monotonic() >= member.ask_again
                        if may_ask and member.their_hash not in (None, mine):
                            self._request(remote)

    def _is_given_up(self, waiting):
        """Whether no answer arrived in time, or an answer can no longer arrive (SYN-11)."""
        is_gone = self._replica(waiting.remote).delivery is not waiting.remote.delivery
        is_gone = is_gone or waiting.remote.state in ("left", "lost", "violation")
        return is_gone or waiting.until < time.monotonic()

    def leave(self, code="left"):
        with self.condition:
            if not self._closed:
                self._send_heads()
        super().leave(code)

    # Authorship

    def _introduce(self, remote, member):
        member.writer.begin()
        member.head_sent = self.author.sequence
        remote.send(bytes([AUTHOR]) + self.author.introduction())

    def _send_heads(self):
        """Sends heads to the members that lack them (AUT-7)."""
        head = None
        for remote, member in self._linked():
            if member.head_sent < self.author.sequence and remote.control:
                head = head or self.author.head()
                member.head_sent = self.author.sequence
                remote.send(bytes([HEAD]) + head)

    def _leave_claimed_incarnation(self):
        """Begins a new incarnation if others claim sequences that this incarnation never wrote (BRD-25)."""
        written = [[1, self.sequence]] if self.sequence else []
        if self.state.context.ranges.get(self.board_incarnation, []) == written:
            return
        self._send_heads()
        self._begin_incarnation()

    def _begin_incarnation(self):
        self.author = Author(self.identity.key, self.session, self.role)
        self.records[self.author.incarnation] = self.author.record
        for remote, member in self._linked():
            self._introduce(remote, member)

    # Retirement

    def retire(self, incarnations):
        """Retires incarnations, as the host of an open board (AUT-17)."""
        with self.condition:
            point = authors.point_of(self.identity.key.public_key())
            data = retirement.make_retirement(self.identity.key, point, self.session, incarnations, authors.sign)
            self._take_retirement(None, data)

    def _take_retirement(self, remote, data):
        """Checks, applies, stores and forwards a retirement (AUT-17)."""
        one = authors.decode_retirement(data, self.session)
        if one.data in self.retirements or len(self.retirements) == retirement.MAXIMUM_RETIREMENTS:
            return
        self.retirements.append(one.data)
        for other, _ in self._linked():
            if other is not remote:
                other.send(bytes([RETIREMENT]) + one.data)
        self.state.retire(one.incarnations)
        for incarnation in one.incarnations:
            self.records.pop(incarnation, None)
        if self.board_incarnation in one.incarnations:
            self._begin_incarnation()
        self._report()
        self.events.add("retirement", remote=remote, incarnations=one.incarnations)

    # Making operations

    def commit(self, operations, after=None):
        """Applies local operations and sends them to all members (SYN-10); returns the dot of the first operation.

        The operations are one batch, unless some follow a time far ahead (BRD-32). The first operation is later than
        `after`.
        """
        with self.condition:
            self._leave_claimed_incarnation()
            first = self.sequence + 1
            floors = []
            for index, (target, number, qualifier, _, _) in enumerate(operations):
                own = Dot(self.board_incarnation, first + index)
                key = number, own if qualifier == OWN else qualifier
                held = self.state.objects.get(own if target is None else target, {})
                # BRD-6: later than the cell it overwrites.
                floors.append(held[key].time if key in held else None)
            if after is not None:
                floors[0] = max(floors[0] or 0, after)
            times = self.clock.times(floors)
            for start, count in runs(times):
                self._send_batch(times[start], operations[start : start + count])
            self._report()
            self.condition.notify_all()
            return Dot(self.board_incarnation, first)

    def _send_batch(self, at, operations):
        first = self.sequence + 1
        self._send_records(operations)
        self.state.apply(codec.decode_batch(self.author.write(at, operations)))
        for remote, member in self._linked():
            batch = member.writer.encode(self.board_incarnation, first, at, operations)
            remote.send(bytes([BATCH]) + batch)

    def _send_records(self, operations):
        """Returns the records of the authors whose objects are purged (SYN-48)."""
        purged = {target.incarnation for target, number, *_ in operations if number == cells.PURGE}
        for incarnation in sorted(purged & self.records.keys() - {self.board_incarnation}):
            for remote, _ in self._linked():
                remote.send(bytes([RECORD]) + self.records[incarnation].data)

    def write(self, target, number, shape, value):
        """Writes one cell."""
        self.commit([(target, number, None, shape, value)])

    def _create(self, kind, cell_list, after=None):
        """Creates an object of `kind` with cells (number, qualifier, shape, value), later than a time."""
        with self.condition:
            self._leave_claimed_incarnation()
            identifier = Dot(self.board_incarnation, self.sequence + 1)
            operations = [(None, cells.KIND, None, cells.UNSIGNED, kind)]
            if kind != cells.CHAT:
                front = stacking.front(self._top(), stacking.jitter(identifier))
                operations.append((identifier, cells.Z_INDEX, None, cells.BYTES, front))
            operations += [(identifier, *cell) for cell in cell_list]
            return self.commit(operations, after)

    def _top(self):
        """Returns the greatest z index that counts as the top (BRD-34)."""
        held = [found.get((cells.Z_INDEX, None)) for found in self.state.objects.values()]
        places = [cell.value for cell in held if cell and cell.shape == cells.BYTES]
        return max(filter(stacking.is_followed, places), default=None)

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
        """Draws a whole stroke; `points` are (x, y) in board units."""
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

    def add_form(self, form, x, y, size=None, points=(), label="", width=2, colour=0x112233FF, style=None):
        """Creates a form around (x, y). `size` is its width and height, `points` are positions of a line on the board,
        and `style` maps property numbers to values (BRD-48, BRD-50)."""
        middle = x, y
        if points:
            low, high = outlines.through(points, bool((style or {}).get(cells.CURVE))).box()
            middle = tuple((a + b) / 2 for a, b in zip(low, high))
        own = [outlines.add(point, middle, -1) for point in points]
        return self._create(
            cells.DRAWING,
            [
                (cells.FORM, None, cells.UNSIGNED, form),
                (cells.POSITION, None, cells.PAIR, _steps(middle)),
                (cells.COLOUR, None, cells.UNSIGNED, colour),
                (cells.LINE_WIDTH, None, cells.UNSIGNED, round(width * 64)),
                *([(cells.SIZE, None, cells.PAIR, _steps(size))] if size else []),
                *((cells.POINT, k << 32, cells.PAIR, _steps(point)) for k, point in enumerate(own, 1)),
                *((number, None, cells.UNSIGNED, value) for number, value in (style or {}).items()),
                *([(cells.RUN, OWN, cells.BYTES, codec.encode_run(codec.ROOT, None, label))] if label else []),
            ],
        )

    def restyle(self, identifier, style):
        """Writes styles: property numbers with values (BRD-49)."""
        self.commit([(identifier, number, None, cells.UNSIGNED, value) for number, value in style.items()])

    def set_points(self, identifier, points):
        """Gives a line or arrow these points, which are positions on the board.

        Points that are equal at the start and at the end keep their cells; of the others, as many as possible are moved
        (BRD-50).
        """
        with self.condition:
            placement = views.placement_of(self.state, identifier)
            new = [_steps(placement.own(point)) for point in points]
            held = [(key, _steps(p)) for key, p in views.point_cells(self.state, identifier) if p]
            old = [point for _, point in held]
            front = _common(old, new)
            back = _common(old[front:][::-1], new[front:][::-1])
            middle, changed = held[front : len(held) - back], new[front : len(new) - back]
            operations = [(key, point) for (key, was), point in zip(middle, changed) if was != point]
            operations += [(key, None) for key, _ in middle[len(changed) :]]
            added = changed[len(middle) :]
            keys = [0, *(key for key, _ in held)]
            low, high = keys[len(held) - back], keys[len(keys) - back] if back else None
            operations += zip(self._keys(low, high, len(added)), added)
            self.commit(
                [
                    (identifier, cells.POINT, key, cells.PAIR if point else cells.NONE, point)
                    for key, point in operations
                ]
            )

    def _keys(self, low, high, count):
        """Returns keys of `count` new points between two others (BRD-50)."""
        gap = ((low + (count + 1 << 32) if high is None else high) - low) // (count + 1)
        if count and gap < 2:
            raise ValueError("there is no room for another point")
        # New points of other members, at the same place, have other keys.
        shift = self.board_incarnation % max(1, (gap + 1) // 2)
        return [low + i * gap + shift for i in range(1, count + 1)]

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

    def say(self, words, author=None):
        """Writes a chat line. `author` is the claimed author; a liar names another member."""
        with self.condition:
            return self._create(
                cells.CHAT,
                [
                    (cells.CHAT_AUTHOR, None, cells.BYTES, author or self.id),
                    (cells.CHAT_NAME, None, cells.STRING, self.name.encode("utf-8")),
                    (cells.CHAT_TEXT, None, cells.STRING, words.encode("utf-8")),
                    (cells.CHAT_TIME, None, cells.UNSIGNED, self.clock.wall()),
                ],
                # The new line follows all lines that this replica has seen (BRD-31).
                views.latest_line(self.state),
            )

    # Application data

    def send_data(self, remote, data, reliable=True):
        if reliable:
            remote.send(bytes([APPLICATION]) + data)
            return "message"
        return remote.send_datagram(bytes([APPLICATION]) + data)

    # Presence

    def show(self, remote, cursor=None, laser=False, view=None):
        """Sends presence once, not every second (SYN-30)."""
        self._presences += 1
        shown = messages.Presence(self._presences, cursor, laser, view, self.clock.wall())
        remote.send_datagram(messages.encode_presence(shown))

    # Reading the board

    def digest(self):
        with self.condition:
            return self.state.digest()

    def member_of(self, incarnation):
        """Returns the member that writes as `incarnation`, if its record is known (AUT-3)."""
        record = self.records.get(incarnation)
        return record.member if record else None

    def objects(self):
        with self.condition:
            return [
                views.describe(self.state, i, self.assets.__contains__, self.member_of)
                for i in views.drawn_objects(self.state)
            ]

    def is_synced(self, remote):
        """Whether this replica and the other side have the same board (SYN-16)."""
        member = self._replica(remote)
        return (
            member.requests > 0
            and member.applied_request == member.requests
            and member.answered_to > 0
            and member.their_applied == member.answered_to
            and member.their_hash == context_hash(self.state.context)
        )

    def wait_synced(self, remote, timeout=20):
        try:
            self.wait_until(lambda: self.is_synced(remote), timeout)
        except TimeoutError:
            known = vars(self._replica(remote))
            ours = context_hash(self.state.context)
            raise TimeoutError(f"not synced: {known}, our context is {ours}") from None

    def replica_incarnation(self, remote):
        """Returns the incarnation of the other side's replica."""
        return self._replica(remote).incarnation

    # Messages

    def on_session(self):
        """Signs the record again, because the record names the board (AUT-2)."""
        self.author = Author(self.identity.key, self.session, self.role)
        self.records = {self.author.incarnation: self.author.record}

    def on_open(self, remote):
        """Introduces this replica first (AUT-5), and again when the delivery of messages starts again."""
        member = self._replica(remote)
        if member.delivery is remote.delivery:
            return
        member.delivery = remote.delivery
        member.writer = LinkWriter()
        member.reader = LinkReader(self.session, remote.peer_id)
        self._introduce(remote, member)
        for data in self.retirements:
            remote.send(bytes([RETIREMENT]) + data)
        remote.send(messages.encode_profile(self.name, self.icon, self.shows_previews))

    def _request(self, remote, buckets=0):
        """Requests what is missing (SYN-11), at once or after the pending answer."""
        if self._replica(remote).role != authors.VIEWER:
            self._to_ask[remote] = self._to_ask.get(remote, 0) | buckets
            self._ask_next()

    def _ask_next(self):
        while self._waiting is None and self._to_ask:
            remote, buckets = self._to_ask.popitem(last=False)
            member = self._replica(remote)
            if remote.delivery is None or member.delivery is not remote.delivery:
                continue
            member.requests += 1
            self._waiting = _Waiting(remote, member.requests, buckets, len(self.retirements))
            remote.send(messages.encode_request(member.requests, self.state.context, buckets))

    def _answered(self, remote, number):
        """Ends the pending request after its answer was applied."""
        self._waiting = None
        self._replica(remote).applied_request = number
        self._report()
        self._ask_next()
        self.condition.notify_all()

    def _report(self, sums=()):
        hashed = context_hash(self.state.context)
        for remote, member in self._linked():
            report = messages.Report(hashed, member.applied_request, sums)
            remote.send(messages.encode_report(report))

    def on_message(self, remote, message):
        try:
            self._take_message(remote, message)
        except BoardError as error:
            self.events.add("board-error", remote=remote, word=error.word, message=message)
            raise Violation("protocol-error", str(error)) from error

    def _take_message(self, remote, message):
        decoded = messages.decode_message(message)
        if decoded is None:
            return
        kind, content = decoded
        member = self._replica(remote)
        self.log.append((remote.peer_id, message))
        if kind == BATCH:
            self._take_batch(remote, member, *member.reader.take_batch(content))
        elif kind == AUTHOR:
            self._take_author(remote, member, member.reader.take_author(content))
        elif kind == RECORD:
            self._take_record(member, authors.decode_record(content, self.session))
        elif kind == RETIREMENT:
            self._take_retirement(remote, content)
        elif kind == HEAD:
            self.events.add("head", remote=remote, sequence=member.reader.take_head(content))
        elif kind == REQUEST:
            self._answer(remote, member, *content)
        elif kind == NOTHING_LACKING:
            self._take_nothing_lacking(remote, member, content)
        elif kind == REPORT:
            self._take_report(remote, member, content)
        elif kind == PROFILE:
            name, icon, shows_previews = content
            self.events.add("profile", remote=remote, name=name, icon=icon, shows_previews=shows_previews)
        elif kind == ASSET_REQUEST:
            self._send_asset(remote, content)
        elif kind == ASSET_UNAVAILABLE:
            self.events.add("asset-unavailable", remote=remote, sha256=content)
        elif kind == APPLICATION:
            self.events.add("data", remote=remote, data=content, reliable=True)
        self.condition.notify_all()

    def _take_author(self, remote, member, record):
        is_first = member.role is None
        member.incarnation, member.role = record.incarnation, record.role
        if record.incarnation not in self.state.retired:
            self.records[record.incarnation] = record
        if is_first:
            self._request(remote)

    def _take_record(self, member, record):
        """Stores a record that was sent before a purge (SYN-48)."""
        if record.incarnation in self.records or record.incarnation in self.state.retired:
            return
        member.ahead[record.incarnation] = record
        if len(member.ahead) > MAXIMUM_AHEAD:
            raise BoardError("limit", "records ahead of purges")

    def _take_batch(self, remote, member, operations, full):
        for operation in operations:
            author = operation.object.incarnation
            if operation.number != cells.PURGE or author in self.records or author in self.state.retired:
                continue
            if author not in member.ahead:
                raise BoardError("no-author", "a purge of an object whose author is not known")
            self.records[author] = member.ahead.pop(author)
        self.state.apply(operations)
        self.clock.observe(operations[-1].time)
        self._want_assets(remote)
        self._report()
        self.events.add("batch", remote=remote, operations=operations)

    def _take_report(self, remote, member, report):
        member.their_hash = report.hash
        # 0 means that the report does not contain this number.
        member.their_applied = report.applied or member.their_applied
        if not report.sums or report.hash != context_hash(self.state.context):
            return
        pairs = enumerate(zip(report.sums, messages.bucket_sums(self.state)))
        differing = sum((theirs != ours) << at for at, (theirs, ours) in pairs)
        if differing and time.monotonic() >= member.repair_at:
            # Request a repair of the buckets that differ (SYN-42).
            member.repair_at = time.monotonic() + 5
            self.events.add("diverged", remote=remote, buckets=differing)
            self._request(remote, differing)

    def _answer(self, remote, member, number, buckets, context):
        """Answers a request (SYN-12 and SYN-13)."""
        if self.role == authors.VIEWER:
            return
        member.answered_to = number
        if not buckets and context.has_all_of(self.state.context):
            remote.send(bytes([NOTHING_LACKING]) + encode_vint(number))
            return
        answer = self.make_answer(buckets, context)
        path = pathlib.Path(self._answers.name) / base32(os.urandom(16))
        path.write_bytes(answer)
        remote.send_resource(messages.answer_name(self.session, number, len(answer)), path)

    def make_answer(self, buckets, context):
        """Returns the bytes of an answer (SYN-29)."""
        mine = self.state.context
        records = [
            self.records[incarnation].data
            for incarnation in sorted(self.records)
            if buckets
            or not context.has_all_of(mine.only(incarnation))
            or (incarnation == self.board_incarnation and incarnation not in context.ranges)
        ]
        difference = codec.encode_difference(*self.state.answer_to(context, buckets))
        return self.author.answer(records, difference)

    def _is_waited_for(self, remote, number):
        waiting = self._waiting
        return waiting and waiting.remote is remote and waiting.number == number

    def _take_nothing_lacking(self, remote, member, number):
        if not 1 <= number <= member.requests:
            raise BoardError("unrequested-answer")
        if self._is_waited_for(remote, number):
            self._answered(remote, number)
            self.events.add("answer", remote=remote, number=number, size=0)

    def on_resource(self, remote, offer, path):
        named = messages.parse_answer_name(offer["name"])
        if named is None:
            super().on_resource(remote, offer, path)
            return
        with self.condition:
            data = path.read_bytes()
            path.unlink()
            try:
                self._take_answer(remote, named[1], data)
            except BoardError as error:
                self.events.add("board-error", remote=remote, word=error.word, message=data)
                self._refuse(remote, str(error))
                self._waiting = None
                self._ask_next()

    def _take_answer(self, remote, number, data):
        if not self._is_waited_for(remote, number):
            return
        records, difference = authors.decode_answer(
            data, self.session, remote.peer_id, self.records
        )
        retired = self.state.retired
        found = {record.incarnation: record for record in records if record.incarnation not in retired}
        known = self.state.context.ranges.keys() | self.records.keys() | found.keys() | retired
        if authors.unrecorded(difference, known):
            # BRD-37: the answer is refused, and the link stays.
            self.events.add("answer-refused", remote=remote, number=number)
            self._waiting = None
            return
        self.records.update(found)
        if retired & difference[0].ranges.keys() and self._waiting.retirements == len(self.retirements):
            self._replica(remote).ask_again = time.monotonic() + SKIPPING
        self.state.merge_answer(*difference, is_repair=self._waiting.buckets != 0)
        self._want_assets(remote)
        self._answered(remote, number)
        self.events.add("answer", remote=remote, number=number, size=len(data))

    def _refuse(self, remote, message):
        """Ends the control link after a violation of a board rule outside of a message."""
        control, remote.control = remote.control, None
        if control:
            self._gone(remote, "violation", "protocol-error")
            control.close("protocol-error", message)

    # Datagrams

    def on_datagram(self, remote, message, path):
        try:
            self._take_datagram(remote, message, path)
        except BoardError as error:
            # A malformed datagram ends the link (SYN-45).
            self.events.add("board-error", remote=remote, word=error.word, message=message)
            self._refuse(remote, str(error))

    def _take_datagram(self, remote, message, path):
        decoded = messages.decode_datagram(message)
        if decoded is None:
            return
        kind, content = decoded
        if kind == APPLICATION:
            self.events.add("data", remote=remote, data=content, reliable=False, path=path)
        elif kind == PREVIEW:
            stroke, first, points = content
            self.events.add("preview", remote=remote, stroke=stroke, first=first, points=points)
        else:
            self.events.add("presence", remote=remote, **content._asdict())

    # Assets

    def _want_assets(self, remote):
        for identifier in views.drawn_objects(self.state):
            asset = views.asset_of(self.state, identifier)
            if asset and asset[0] not in self.assets and asset[0] not in self._wanted_assets:
                self._wanted_assets[asset[0]] = (remote.peer_id, asset)
                remote.send(bytes([ASSET_REQUEST]) + asset[0])

    def _send_asset(self, remote, sha256):
        """Sends an asset, or the message that it is unavailable (SYN-36)."""
        if sha256 not in self.assets:
            remote.send(bytes([ASSET_UNAVAILABLE]) + sha256)
            return
        shows = next(
            i
            for i in views.drawn_objects(self.state)
            if (views.asset_of(self.state, i) or [None])[0] == sha256
        )
        remote.send_resource(asset_name(shows, sha256), self.assets[sha256])

    def _is_requested(self, remote, offer):
        """Whether the offer is an answer or an asset that this peer accepts (RES-6)."""
        is_ours = parse_asset_name(offer["name"]) is not None or messages.parse_answer_name(offer["name"]) is not None
        return is_ours and self._accept_resource(remote, offer)

    def _accept_resource(self, remote, offer):
        """Accepts an answer or an asset only from the peer that was asked (SYN-13, SYN-37). Other resources are for the
        application."""
        sha256 = parse_asset_name(offer["name"])
        if sha256 is not None:
            return self._wanted_assets.get(sha256, (None,))[0] == remote.peer_id
        named = messages.parse_answer_name(offer["name"])
        if named is None:
            return True
        with self.condition:
            board, number, size = named
            is_ours = board == base32(self.session) and size == offer["size"]
            if not is_ours or size > messages.MAXIMUM_ANSWER:
                return False
            if not self._is_waited_for(remote, number):
                return False
            self._waiting.until = time.monotonic() + TRANSFER_PATIENCE
            return True

    def wait_asset(self, sha256, timeout=30):
        """Returns the file of an asset, after the file arrived and agreed with its object."""
        self.events.wait(
            "resource",
            timeout,
            where=lambda e: parse_asset_name(e["name"]) == sha256 and self._note(e),
        )
        return self.assets[sha256]

    def _note(self, event):
        """Checks a received asset (BRD-17)."""
        sha256 = parse_asset_name(event["name"])
        data = pathlib.Path(event["path"]).read_bytes()
        asset = self._wanted_assets[sha256][1]
        header = image_header(data)
        if (hashlib.sha256(data).digest(), header[0], len(data), *header[1:]) != asset:
            return False
        self.assets[sha256] = event["path"]
        return True
