"""The messages and datagrams of a board, and the names of its resources (board.md)."""

import hashlib
import json
import struct
from typing import NamedTuple

from . import codec, views
from .cells import BoardError, Dot
from .codec import Reader, encode_set
from .wire import base32, encode_vint

BATCH, REQUEST, NOTHING_LACKING, REPORT = 0x01, 0x02, 0x03, 0x04
ASSET_REQUEST, ASSET_UNAVAILABLE = 0x05, 0x06
AUTHOR, HEAD, PROFILE, APPLICATION = 0x07, 0x08, 0x09, 0x10
RECORD, RETIREMENT = 0x81, 0x82
PRESENCE, PREVIEW = 0x01, 0x02
MAXIMUM_ANSWER = 268_435_456
MAXIMUM_NAME, MAXIMUM_ICON = 64, 16
BUCKETS = 16
LASER, VIEW, CLOCK = 1, 2, 4
LATEST_WALL = 2**47 - 1
MAXIMUM_EXTENT = 67_108_864


class Report(NamedTuple):
    hash: bytes
    applied: int
    sums: list


class Presence(NamedTuple):
    counter: int
    cursor: tuple | None = None  # x, y in 1/16 unit
    laser: bool = False
    view: tuple | None = None  # x, y of the center in 1/16 unit, width, height
    clock: int | None = None  # the sender's wall clock, milliseconds since 1970


def context_hash(context):
    """Returns the hash of a context in reports (SYN-14)."""
    return hashlib.sha256(encode_set(context)).digest()[:8]


def bucket_sums(state):
    """Returns the bucket sums of a state (SYN-41)."""
    return state.bucket_sums(encode_set(state.context))


def asset_name(identifier, sha256):
    """Returns the resource name of an asset (BRD-20)."""
    return json.dumps(
        {
            "id": views.object_text(identifier),
            "type": "imageData",
            "isDeleted": False,
            "sha256": sha256.hex(),
        }
    )


def parse_asset_name(name):
    """Returns the SHA-256 in the name of an asset's resource, or None for any other name."""
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


def answer_name(board, number, size):
    """Returns the resource name of an answer (SYN-13)."""
    return json.dumps(
        {
            "id": base32(board),
            "type": "whiteboard",
            "isDeleted": False,
            "request": number,
            "byteCount": size,
        }
    )


def parse_answer_name(name):
    """Returns (board, number of the request, byte count) in the name of an answer's resource, or None."""
    try:
        value = json.loads(name)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("type") != "whiteboard":
        return None
    return value.get("id"), value.get("request"), value.get("byteCount")


def encode_request(number, context, buckets=0):
    head = bytes([REQUEST]) + encode_vint(number) + struct.pack(">H", buckets)
    return head + encode_set(context)


def encode_report(report):
    message = bytes([REPORT]) + report.hash + encode_vint(report.applied)
    message += bytes([len(report.sums)])
    return message + struct.pack(f">{len(report.sums)}Q", *report.sums)


def encode_profile(name, icon="", shows_previews=True):
    """Encodes a profile (SYN-49)."""
    texts = name.encode("utf-8"), icon.encode("utf-8")
    data = bytes([PROFILE]) + b"".join(encode_vint(len(text)) + text for text in texts)
    return data if shows_previews else data + b"\1"


def encode_presence(presence):
    """Encodes presence (SYN-34)."""
    data = bytes([PRESENCE]) + encode_vint(presence.counter)
    data += bytes([presence.cursor is not None])
    data += b"".join(map(codec.zigzag, presence.cursor or ()))
    flags = LASER * presence.laser | VIEW * (presence.view is not None)
    flags |= CLOCK * (presence.clock is not None)
    if flags:
        data += bytes([flags])
    if presence.view:
        data += b"".join(map(codec.zigzag, presence.view[:2]))
        data += b"".join(map(encode_vint, presence.view[2:]))
    if presence.clock is not None:
        data += encode_vint(presence.clock)
    return data


def _read_place(reader):
    place = reader.zigzag(), reader.zigzag()
    if not all(-(2**31) <= v < 2**31 for v in place):
        raise BoardError("limit", "a place")
    return place


def _read_presence(reader):
    counter, form = reader.varint(), reader.u8()
    if form > 1:
        raise BoardError("reserved", "a form of presence")
    cursor = _read_place(reader) if form else None
    flags = reader.u8() if reader.left else 0
    view = None
    if flags & VIEW:
        view = *_read_place(reader), reader.varint(), reader.varint()
        if not all(1 <= extent <= MAXIMUM_EXTENT for extent in view[2:]):
            raise BoardError("limit", "the extent of a view")
    clock = reader.varint() if flags & CLOCK else None
    if clock is not None and clock > LATEST_WALL:
        raise BoardError("limit", "a wall clock")
    return Presence(counter, cursor, bool(flags & LASER) and cursor is not None, view, clock)


def _read_text(reader, maximum):
    length = reader.varint()
    if length > maximum:
        raise BoardError("limit", "a text")
    try:
        return bytes(reader.take(length)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BoardError("text") from error


def decode_message(data):
    """Decodes (kind, content) of a reliable message; None if it must be skipped.

    The meaning of a batch, an author message or a head depends on its link. Their content is the bytes after the kind,
    for a `LinkReader`. A record and a retirement are decoded with the board."""
    reader = Reader(data)
    kind = reader.u8()
    if kind in (BATCH, AUTHOR, HEAD, APPLICATION, RECORD, RETIREMENT):
        return kind, data[1:]
    if kind == REQUEST:
        number = reader.varint()
        if number == 0:
            raise BoardError("limit", "request 0")
        content = number, int.from_bytes(reader.take(2), "big"), codec.read_set(reader)
    elif kind == NOTHING_LACKING:
        content = reader.varint()
    elif kind == REPORT:
        hashed, applied = bytes(reader.take(8)), reader.varint()
        count = reader.u8()
        if count not in (0, BUCKETS):
            raise BoardError("reserved", "a number of sums")
        sums = [reader.u64() for _ in range(count)]
        content = Report(hashed, applied, sums)
    elif kind in (ASSET_REQUEST, ASSET_UNAVAILABLE):
        content = bytes(reader.take(32))
    elif kind == PROFILE:
        texts = _read_text(reader, MAXIMUM_NAME), _read_text(reader, MAXIMUM_ICON)
        flags = reader.u8() if reader.left else 0
        return kind, (*texts, not flags & 1)
    elif kind < 0x80:
        raise BoardError("reserved", f"message kind {kind:#04x}")
    else:
        return None
    reader.end()
    return kind, content


def decode_datagram(data):
    """Decodes (kind, content) of a datagram; None if it must be skipped."""
    reader = Reader(data)
    kind = reader.u8()
    if kind == PRESENCE:
        return kind, _read_presence(reader)
    if kind == PREVIEW:
        stroke = Dot(reader.incarnation(), reader.sequence())
        first = reader.varint()
        return kind, (stroke, first, codec.decode_ink(bytes(reader.take(reader.left)), 16))
    if kind == APPLICATION:
        return kind, data[1:]
    if kind < 0x80:
        raise BoardError("reserved", f"datagram kind {kind:#04x}")
    return None
