"""Recipes: the batches that create a text, a stroke, a photo and a chat line."""

import hashlib
import struct
import zlib

from whiteboard_peer import cells, codec, messages, stacking
from whiteboard_peer.authors import LinkWriter
from whiteboard_peer.board import image_header
from whiteboard_peer.cells import BYTES, PAIR, STRING, UNSIGNED, Dot

from . import batches, walkthrough
from .forms import author, batch_json, state_of

WORDS = "Hi, é"
STROKE = [(0, 0, 0), (160, 80, 0), (320, 0, 0)]
SAID = "Who is next?"


def png(width, height):
    """A black picture with 1 bit per pixel, without compression, so that it has the same bytes everywhere."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytes((1 + (width + 7) // 8) * height)
    stored = b"\1" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows
    packed = b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(rows))
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def asset(data):
    """Returns the value of the asset property for an image file (BRD-16)."""
    kind, width, height = image_header(data)
    return hashlib.sha256(data).digest() + bytes([kind]) + struct.pack(">III", len(data), width, height)


def all_recipes():
    """All recipes, each (name, description, operations)."""
    ben = author("ben")
    own = Dot(ben.incarnation, 1)
    front = stacking.front(None, stacking.jitter(own))
    photo = png(16, 8)

    def cell(number, shape, value, qualifier=None):
        return (own, number, qualifier, shape, value)

    return [
        (
            "text", f"The text \"{WORDS}\" with its center at (100, -50).",
            [
                batches.create(cells.TEXT),
                cell(cells.POSITION, PAIR, (6_400, -3_200)),
                cell(cells.Z_INDEX, BYTES, front),
                cell(cells.RUN, BYTES, codec.encode_run(codec.ROOT, None, WORDS), "own"),
            ],
        ),
        (
            "stroke", "A finished stroke of three points, (0, 0), (10, 5) and (20, 0), in blue, 5 units wide.",
            [
                batches.create(cells.DRAWING),
                cell(cells.Z_INDEX, BYTES, front),
                cell(cells.LINE_WIDTH, UNSIGNED, 320),
                cell(cells.COLOUR, UNSIGNED, 0x1E66F5FF),
                cell(cells.INK, BYTES, codec.encode_ink(STROKE), 0),
                cell(cells.END, UNSIGNED, len(STROKE)),
            ],
        ),
        (
            "photo", "A photo of 16 by 8 pixels with its center at (0, 0), shown 200 units wide.",
            [
                batches.create(cells.PHOTO),
                cell(cells.POSITION, PAIR, (0, 0)),
                cell(cells.SIZE, PAIR, (12_800, 6_400)),
                cell(cells.Z_INDEX, BYTES, front),
                cell(cells.ASSET, BYTES, asset(photo)),
            ],
        ),
        (
            "chat line", f"The line \"{SAID}\".",
            [
                batches.create(cells.CHAT),
                cell(cells.CHAT_AUTHOR, BYTES, ben.record.member),
                cell(cells.CHAT_NAME, STRING, b"Ben"),
                cell(cells.CHAT_TEXT, STRING, SAID.encode()),
                cell(cells.CHAT_TIME, UNSIGNED, batches.at(0) >> 16),
            ],
        ),
    ]


def recipes():
    result = []
    for name, makes, operations in all_recipes():
        ben = author("ben")
        time = batches.at(0)
        full = ben.write(time, operations)
        message = bytes([messages.BATCH]) + LinkWriter().encode(ben.incarnation, 1, time, operations)
        result.append(
            {
                "name": name,
                "makes": makes,
                "hex": full.hex(),
                "message": message.hex(),
                "value": batch_json(codec.decode_batch(full)),
                "digest": state_of([full]).digest(),
                "parts": walkthrough.walk_message(
                    message, lambda _: "Ben", ben.incarnation, 1, []
                ),
                **({"file": png(16, 8).hex()} if name == "photo" else {}),
            }
        )
    return result
