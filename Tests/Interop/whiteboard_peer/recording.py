"""Reads a recording as specified in `recording.md`: SQLite, checksums, the log, and the board at every step."""

import hashlib
import sqlite3
import struct

from .cells import State
from .codec import Reader, decode_batch, read_difference, zigzag
from .retirement import decode_retirement
from .wire import encode_vint

APPLICATION = 0x77627264


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def crc32c(data):
    state = 0xFFFFFFFF
    for byte in data:
        state = state >> 8 ^ _TABLE[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF


def checksum(letter, numbers, blobs):
    """Returns the checksum of a row (REC-3)."""
    data = letter.encode()
    for number in numbers:
        data += zigzag(number)
    for blob in blobs:
        data += encode_vint(len(blob))
    return crc32c(data + b"".join(blobs))


class Damaged(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Damaged(what)


class Recording:
    """The steps of an intact recording, each (milliseconds, kind, bytes)."""

    def __init__(self, path):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            self._read(database)
        finally:
            database.close()

    def _read(self, database):
        def rows(sql):
            return database.execute(sql).fetchall()

        need(rows("PRAGMA application_id")[0][0] == APPLICATION, "no recording")
        need(rows("PRAGMA user_version")[0][0] in (1, 2, 3), "another version")
        self.meta = {}
        for key, value, crc in rows("SELECT key, value, crc FROM meta"):
            need(crc == checksum("m", [], [key.encode(), value.encode()]), f"setting {key}")
            self.meta[key] = value
        self.board, self.name = bytes.fromhex(self.meta["board"]), self.meta["name"]
        self.records = {}
        sql = "SELECT incarnation, record, sequence, head, crc FROM author"
        for incarnation, record, sequence, head, crc in rows(sql):
            own = checksum("a", [incarnation, sequence], [record, head])
            need(crc == own, f"record {incarnation}")
            self.records[incarnation & 0xFFFF_FFFF_FFFF_FFFF] = record
        entries_of, chain = {}, 0
        sql = "SELECT id, time, entries, body, sum FROM log ORDER BY id"
        for number, (identifier, time, entries, body, total) in enumerate(rows(sql), 1):
            own = checksum("l", [identifier, time, entries], [body])
            chain = crc32c(struct.pack(">II", chain, own))
            need(identifier == number, f"rows before {identifier}")
            need(total & 0xFFFF_FFFF_FFFF_FFFF == own << 32 | chain, f"row {identifier}")
            entries_of[identifier] = unpacked(body, time, entries)
        if "closed" in self.meta:
            need(self.meta["closed"] == f"{len(entries_of)} {chain}", "the end of the log")
        beside = self._read_marks(rows)
        sql = "SELECT id, log, chain, entries, time, name, digest, body, crc FROM keyframe ORDER BY log, id"
        for *numbers, name, digest, body, crc in rows(sql):
            blobs = [(name or "").encode(), digest, body]
            own = checksum("k", numbers + [int(name is not None)], blobs)
            need(crc == own, f"keyframe {numbers[0]}")
            need(numbers[1] <= len(entries_of), "the rows before a keyframe")
            beside.append((numbers[1], numbers[4], 1, numbers[0], (name, digest.hex(), body)))
        self._order(entries_of, sorted(beside))
        self._read_session(rows)
        for sha256, body in rows("SELECT sha256, body FROM asset"):
            need(hashlib.sha256(body).digest() == sha256, "an asset")

    def _read_marks(self, rows):
        """Reads the gaps, by position, and the markers and the end."""
        self.marks, self.end, gaps = [], None, []
        for *numbers, name, crc in rows("SELECT id, kind, time, until, log, name, crc FROM mark ORDER BY log, id"):
            need(crc == checksum("t", numbers, [name.encode()]), f"mark {numbers[0]}")
            identifier, kind, time, until, log = numbers
            if kind == 2:
                self.end = time
            elif kind < 2:
                self.marks.append((kind, time, until, name))
                gaps += [(log, until, 0, identifier, None)] if kind == 1 else []
        return gaps

    def _order(self, entries_of, beside):
        """Orders the steps, with the keyframes that are merged, and the positions at which keyframes are compared
        (REC-6)."""
        self.steps, self.keyframes = [], []
        # Whether the board started with a keyframe.
        lacks = any(log == 0 and keyframe for log, *_, keyframe in beside)
        for row in range(len(entries_of) + 1):
            self.steps += entries_of.get(row, [])
            for log, time, _, _, keyframe in beside:
                if log != row:
                    continue
                if keyframe is None:
                    lacks = True
                    continue
                if lacks:
                    self.steps.append((time, "keyframe", keyframe[2]))
                    lacks = False
                self.keyframes.append((len(self.steps), *keyframe))

    def _read_session(self, rows):
        """Reads the names and the traffic of the session (REC-12, REC-13)."""
        self.names = {key[5:]: name for key, name in self.meta.items() if key.startswith("peer ")}
        self.traffic, chain = [], 0
        if not rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'traffic'"):
            return
        for identifier, time, entries, body, total in rows(
            "SELECT id, time, entries, body, sum FROM traffic ORDER BY id"
        ):
            own = checksum("w", [identifier, time, entries], [body])
            chain = crc32c(struct.pack(">II", chain, own))
            need(total & 0xFFFF_FFFF_FFFF_FFFF == own << 32 | chain, f"row {identifier} of the traffic")
            reader, peers = Reader(body), []
            for _ in range(entries):
                step = reader.varint()
                time += step >> 1 ^ -(step & 1)
                entry = read_traffic(reader, peers)
                if entry:
                    self.traffic.append({"time": time, **entry})
            reader.end()

    def play(self):
        """Yields the board after each step."""
        state = State()
        for _, kind, data in self.steps:
            if kind == "batch":
                state.apply(decode_batch(data))
            elif kind == "keyframe":
                merge_keyframe(state, data)
            elif data[0] == 5:
                state.retire(decode_retirement(data[1:]).incarnations)
            elif data[0] <= 2:
                start = 1 if data[0] < 2 else 3
                merge_answer(state, data[start:], data[0] > 0)
            yield state


def unpacked(body, time, entries):
    """Returns the entries of a row (REC-5, REC-11)."""
    reader, found = Reader(body), []
    packed = Packed(reader) if body[:1] == b"\x02" else None
    for _ in range(entries):
        head = reader.varint()
        step = head >> 1
        time += step >> 1 ^ -(step & 1)
        data = packed.batch(time) if packed and not head & 1 else reader.take(reader.varint())
        found.append((time, "answer" if head & 1 else "batch", data))
    reader.end()
    return found


# The fields after the peers, for each kind of entry (REC-13).
TRAFFIC = dict.fromkeys(range(4), ["text"]) | dict.fromkeys(range(4, 8), ["bytes"])
TRAFFIC |= {8: ["number", "size", "text"], 9: ["number", "size", "text"]}
TRAFFIC |= dict.fromkeys([10, 11, 12, 17], ["number", "text"])
TRAFFIC |= dict.fromkeys([13, 14], ["number", "bytes"]) | dict.fromkeys([15, 16, 18], ["number"])


def read_traffic(reader, peers):
    """Decodes one entry of the traffic, without its time; None for an unknown kind (REC-13)."""
    kind = reader.take(1)[0]
    content = Reader(reader.take(reader.varint()))
    entry = {"kind": kind, "peers": []}
    for _ in range(content.varint()):
        number = content.varint()
        if number == 0:
            peers.append(content.take(32))
            number = len(peers)
        entry["peers"].append(peers[number - 1].hex())
    for field in TRAFFIC.get(kind, []):
        if field == "text":
            entry[field] = content.take(content.varint()).decode()
        elif field == "bytes":
            entry[field] = content.take(content.left).hex()
        else:
            entry[field] = content.varint()
    return entry if kind in TRAFFIC else None


class Packed:
    """Decodes the batches of a packed body (REC-11)."""

    def __init__(self, reader):
        self.reader, self.authors = reader, []
        need(reader.take(1) == b"\x02", "the mark of a packed body")

    def incarnation(self, number):
        if number == 0:
            self.authors.append({"inc": self.reader.take(8), "next": 1, "lead": 0, "end": 0})
            return self.authors[-1]
        need(number <= len(self.authors), "an unknown incarnation number")
        return self.authors[number - 1]

    def batch(self, time):
        reader = self.reader
        said = reader.varint()
        author = self.incarnation(said >> 3)
        first = reader.varint() if said & 1 else author["next"]
        if said & 2:
            change = reader.varint()
            author["lead"] += change >> 1 ^ -(change & 1)
            stamp = time + author["lead"] << 16 | reader.varint()
        else:
            stamp = time + author["lead"] << 16
            stamp = author["end"] if author["end"] >> 16 == stamp >> 16 else stamp
        count = reader.varint() if said & 4 else 1
        table = [self.incarnation(reader.varint())["inc"] for _ in range(reader.varint())] if said & 4 else []
        author["next"], author["end"] = first + count, stamp + count
        full = author["inc"] + encode_vint(first) + encode_vint(stamp) + encode_vint(count)
        return full + encode_vint(len(table)) + b"".join(table) + reader.take(reader.varint())


def merge_answer(state, data, is_repair):
    reader = Reader(data)
    for _ in range(reader.varint()):
        reader.take(reader.varint())
    state.merge_answer(*read_difference(reader), is_repair)


def merge_keyframe(state, data):
    """Merges a keyframe, after its retirements (REC-6)."""
    reader = Reader(data)
    for _ in range(reader.varint()):
        reader.take(reader.varint())
    difference = read_difference(reader)
    if reader.left:
        reader.take(reader.varint())
        for _ in range(reader.varint()):
            reader.take(reader.varint())
    for _ in range(reader.varint() if reader.left else 0):
        state.retire(decode_retirement(reader.take(reader.varint())).incarnations)
    state.merge_answer(*difference, False)


def state_of_keyframe(data):
    """Returns the board of a keyframe (REC-6)."""
    state = State()
    merge_keyframe(state, data)
    return state
