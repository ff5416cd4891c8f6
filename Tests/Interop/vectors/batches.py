"""Batches in full form, and the board after them: digest, bucket sums, chain."""

import hashlib
import struct

from whiteboard_peer import authors, cells, codec, views
from whiteboard_peer.cells import BYTES, DOT, NONE, PAIR, SIGNED, STRING, UNSIGNED, Dot, State
from whiteboard_peer.messages import bucket_sums, context_hash

from .forms import (
    ANNA,
    BEN,
    CARA,
    MEMBER,
    batch_json,
    create,
    in_order,
    inc,
    invalid,
    qualifier_json,
    state_of,
    text_of,
    varint,
)

START = 1_700_000_000_000 << 16
ASSET = bytes(range(32, 64)) + b"\2" + struct.pack(">III", 1_000, 30, 20)
TEXT, STROKE, PHOTO, LINE = Dot(ANNA, 1), Dot(BEN, 1), Dot(BEN, 7), Dot(ANNA, 5)
SELF = "own"


def at(milliseconds):
    return START + (milliseconds << 16)


def stroke_points():
    return (
        codec.encode_ink([(0, 0, 0), (16, 8, 0), (40, -3, 0)]),
        codec.encode_ink([(41, -3, 128), (42, -3, 130)]),
    )


def valid():
    """The valid batches, each (name, author, first, time, operations)."""
    first, second = stroke_points()
    run = codec.encode_run
    return [
        (
            "create a text", ANNA, 1, at(0),
            [
                create(cells.TEXT),
                (TEXT, cells.POSITION, None, PAIR, (640, -1_280)),
                (TEXT, cells.Z_INDEX, None, BYTES, bytes.fromhex("8000000089")),
                (TEXT, cells.RUN, SELF, BYTES, run(codec.ROOT, None, "h\u00e9llo")),
            ],
        ),
        (
            "draw a stroke, the second piece with pressure", BEN, 1, at(500),
            [
                create(cells.DRAWING),
                (STROKE, cells.Z_INDEX, None, BYTES, bytes.fromhex("8000000101")),
                (STROKE, cells.LINE_WIDTH, None, UNSIGNED, 320),
                (STROKE, cells.INK, 0, BYTES, first),
                (STROKE, cells.INK, 3, BYTES, second),
                (STROKE, cells.END, None, UNSIGNED, 5),
            ],
        ),
        (
            "add a photo", BEN, 7, at(900) + 3,
            [
                create(cells.PHOTO),
                (PHOTO, cells.POSITION, None, PAIR, (-(2**31), 2**31 - 1)),
                (PHOTO, cells.SIZE, None, PAIR, (12_800, 8_533)),
                (PHOTO, cells.ASSET, None, BYTES, ASSET),
            ],
        ),
        (
            "edit another's text: runs, deletion, selection, pairs as differences", BEN, 11, at(1_000),
            [
                (TEXT, cells.RUN, SELF, BYTES, run(codec.LEFT, (Dot(ANNA, 4), 1), "y ")),
                (TEXT, cells.DELETION, SELF, BYTES, codec.encode_deletion(Dot(ANNA, 4), 3, 2)),
                (TEXT, cells.SELECTION, None, BYTES, MEMBER),
                (TEXT, cells.POSITION, None, PAIR, (641, -1_281)),
                (STROKE, cells.ANGLE, None, UNSIGNED, 512),
                (TEXT, cells.SCALE, None, UNSIGNED, 131_072),
            ],
        ),
        (
            "say something", ANNA, 5, at(1_500),
            [
                create(cells.CHAT),
                (LINE, cells.CHAT_AUTHOR, None, BYTES, MEMBER),
                (LINE, cells.CHAT_NAME, None, STRING, b"Anna"),
                (LINE, cells.CHAT_TEXT, None, STRING, "hi \U0001f642".encode()),
                (LINE, cells.CHAT_TIME, None, UNSIGNED, 1_700_000_001_500),
            ],
        ),
        (
            "delete two objects of another", CARA, 1, at(2_000),
            [
                (PHOTO, cells.DELETED, None, UNSIGNED, 1),
                (STROKE, cells.DELETED, None, UNSIGNED, 1),
            ],
        ),
        ("purge", ANNA, 10, at(2_500), [(PHOTO, cells.PURGE, None, NONE, None)]),
        (
            "undelete; write to what was purged", BEN, 17, at(2_600),
            [
                (STROKE, cells.DELETED, None, UNSIGNED, 0),
                (PHOTO, cells.POSITION, None, PAIR, (1, 1)),
            ],
        ),
        (
            "group, lock, erase", ANNA, 11, at(3_000) + 7,
            [
                create(cells.GROUP_KIND),
                (TEXT, cells.GROUP, None, DOT, Dot(ANNA, 11)),
                (STROKE, cells.GROUP, None, DOT, Dot(ANNA, 11)),
                (STROKE, cells.LOCK, None, UNSIGNED, 1),
                (STROKE, cells.ERASURE, SELF, BYTES, codec.encode_erasure([(8, 16), (32, 48)])),
            ],
        ),
        (
            "take a deletion back", BEN, 19, at(3_500) + 65_535,
            [(TEXT, cells.DELETION, Dot(BEN, 12), NONE, None)],
        ),
        (
            "the greatest numbers, unknown kinds and properties, dots as values",
            CARA, 3, 2**63 - 5,
            [
                create(2**64 - 1),
                (Dot(CARA, 3), 831, None, SIGNED, -(2**63)),
                (TEXT, 40, None, DOT, TEXT),
                (Dot(CARA, 3), 41, None, DOT, SELF),
                (Dot(BEN, 2**48 - 1), 320, 2**64 - 1, SIGNED, 7),
            ],
        ),
        (
            "move three and two: the short form of an operation", CARA, 8, at(4_000),
            [
                (TEXT, cells.POSITION, None, PAIR, (64, 128)),
                (STROKE, cells.POSITION, None, PAIR, (96, 128)),
                (Dot(CARA, 3), cells.POSITION, None, PAIR, (96, 160)),
                (Dot(CARA, 3), cells.ANGLE, None, UNSIGNED, 4_095),
                (TEXT, cells.ANGLE, None, UNSIGNED, 0),
            ],
        ),
        ("create three", CARA, 13, at(4_500), [create(cells.TEXT)] * 3),
        (
            "twice the same property of one object", CARA, 16, at(4_600),
            [(TEXT, cells.SCALE, None, UNSIGNED, 1), (TEXT, cells.SCALE, None, UNSIGNED, 2)],
        ),
        (
            "the own dot as qualifier and as value", CARA, 18, at(4_700),
            [(TEXT, 191, SELF, DOT, SELF), (TEXT, 191, TEXT, DOT, Dot(CARA, 18))],
        ),
        (
            "the greatest sequence", CARA, 2**48 - 1, at(0),
            [(TEXT, cells.SCALE, None, UNSIGNED, 1)],
        ),
    ]


# The number of batches that the digest covers.
DIGESTED = 10


def head(number, shape, same=0):
    """The first varint of an operation that is not in the short form (SYN-22)."""
    return varint((number * 8 + shape) * 4 + same * 2 + 1)


def batch(body, author=inc(ANNA), first=b"\1", time=b"\1", count=1, table=()):
    start = author + first + time + varint(count, len(table))
    return start + b"".join(map(inc, table)) + body


CREATE = head(cells.KIND, UNSIGNED) + varint(0, 1)
# The author's object with sequence 3, in a batch that names no other incarnation.
THIRD = varint(7)


def invalid_batches():
    run = head(cells.RUN, BYTES)
    unknown = head(40, DOT)
    scale = head(cells.SCALE, UNSIGNED)
    good = codec.encode_batch(*valid()[3][1:])
    bad = [
        ("no bytes", b"", "truncated"),
        ("cut in the author", inc(ANNA)[:5], "truncated"),
        ("cut before the last byte", good[:-1], "truncated"),
        ("a byte too many", batch(CREATE) + b"\0", "trailing"),
        ("author 0", batch(CREATE, author=bytes(8)), "reserved"),
        ("sequence 0", batch(CREATE, first=b"\0"), "limit"),
        ("sequence 2^48", batch(CREATE, first=varint(2**48)), "limit"),
        ("the last operation's sequence is 2^48", batch(CREATE * 2, first=varint(2**48 - 1), count=2), "limit"),
        ("time 2^63", batch(CREATE, time=varint(2**63)), "limit"),
        ("the last operation's time is 2^63", batch(CREATE + b"\0\0", time=varint(2**63 - 1), count=2), "limit"),
        ("a varint with a superfluous zero byte", batch(CREATE, first=b"\x81\0"), "varint"),
        ("a varint of 65 bits", batch(CREATE, time=b"\xff" * 9 + b"\2"), "varint"),
        ("a varint of 11 bytes", batch(CREATE, time=b"\x80" * 10 + b"\1"), "varint"),
        ("no operations", batch(CREATE, count=0), "limit"),
        ("4097 operations", batch(CREATE, count=4_097), "limit"),
        ("more operations than bytes", batch(CREATE, count=100), "truncated"),
        ("the table names the author", batch(CREATE, table=[ANNA]), "canonical"),
        ("the table names one twice", batch(CREATE, table=[BEN, BEN]), "canonical"),
        ("the table has an entry that is not used", batch(CREATE, table=[BEN]), "canonical"),
        ("the table is cut", inc(ANNA) + varint(1, 1, 1, 1) + bytes(3), "truncated"),
        ("the table names incarnation 0", batch(CREATE, table=[0]), "reserved"),
        (
            "the table is not in order of first use",
            # Indices 2 and 1, each one more than the index before.
            batch(scale + varint(1 + 2 * 3 + 2, 5) + varint(2 * (1 + 0 + 1), 5), count=2, table=[BEN, CARA]),
            "canonical",
        ),
        ("an index beyond the table", batch(unknown + THIRD + varint(2, 5)), "limit"),
        ("same object before there is one", batch(head(cells.KIND, UNSIGNED, 1) + varint(1)), "canonical"),
        ("the same object named again", batch(CREATE + scale + varint(1, 5), count=2), "canonical"),
        ("the same object by the short form", batch(scale + varint(7, 5) + varint(2 * 1, 6), count=2), "canonical"),
        ("the long form where the short one says it", batch(scale + varint(7, 5) + scale + varint(3, 5), count=2), "canonical"),
        ("the long form of a position first", batch(head(cells.POSITION, PAIR) + varint(7, 0, 0)), "canonical"),
        ("its own dot named otherwise than by 0", batch(head(cells.KIND, UNSIGNED) + varint(3, 1)), "canonical"),
        ("its own dot named otherwise in the short form", batch(varint(2 * 3, 0, 0)), "canonical"),
        ("its own dot named otherwise as a value", batch(unknown + THIRD + varint(1, 1)), "canonical"),
        ("an object's sequence of 0", batch(scale + varint(1, 5)), "limit"),
        ("an object's sequence below 0", batch(scale + varint(2, 5)), "limit"),
        ("an object's sequence of 2^48", batch(scale + varint(1 + 2 * 2**48, 5)), "limit"),
        ("a property above 1023", batch(head(1_024, UNSIGNED) + varint(7, 1)), "limit"),
        ("a property of the reserved class", batch(head(192, UNSIGNED) + varint(7, 1)), "reserved"),
        ("shape 7", batch(head(cells.SCALE, 7) + varint(7, 5)), "reserved"),
        ("kind written by another operation", batch(head(cells.KIND, UNSIGNED) + varint(7, 1)), "author"),
        ("another property written by the create operation", batch(scale + varint(0, 1)), "author"),
        ("a position written by the create operation", batch(varint(0, 0, 0)), "author"),
        ("kind that is not unsigned", batch(head(cells.KIND, SIGNED) + varint(0, 2)), "canonical"),
        ("a purge with a value", batch(head(cells.PURGE, UNSIGNED) + varint(7, 1)), "canonical"),
        ("a purge of its own dot", batch(head(cells.PURGE, NONE) + varint(0)), "author"),
        (
            "ink in another's stroke",
            batch(head(cells.INK, BYTES) + varint(1 + 2 * 2 + 1, 0, 3) + varint(2, 0, 0), table=[BEN]),
            "author",
        ),
        (
            "what another's object stands for",
            batch(head(cells.REPLACES, DOT) + varint(1 + 2 * 2 + 1, 1, 9), table=[BEN]),
            "author",
        ),
        ("a run under another's dot", batch(run + varint(7, 1, 9, 2) + b"\0x"), "author"),
        ("a move under another's dot", batch(head(cells.MOVE, BYTES) + varint(7, 1, 9, 1) + b"x"), "author"),
        ("a deletion under a later dot", batch(head(cells.DELETION, NONE) + varint(7, 1, 9)), "author"),
        (
            "an erasure under another's dot",
            batch(head(cells.ERASURE, NONE) + varint(1 + 4 * 2, 2, 1), table=[BEN]),
            "author",
        ),
        ("a pair beyond 32 bits", batch(varint(2 * 7) + varint(2**32, 0)), "limit"),
        ("text that is not UTF-8", batch(head(40, STRING) + varint(7, 2) + b"\xc3("), "text"),
        ("text that encodes a surrogate", batch(head(40, STRING) + varint(7, 3) + b"\xed\xa0\x80"), "text"),
        ("a value of 65,537 bytes", batch(head(40, BYTES) + varint(7, 65_537)), "limit"),
        ("a value longer than the rest", batch(head(40, BYTES) + varint(7, 127) + b"\0"), "truncated"),
    ]
    return [invalid(*entry) for entry in bad]


def _input(state):
    """The final input of the hash, computed without `State.digest` (SYN-40)."""
    out = b"whiteboard-digest-1\n"
    for identifier in state.visible():
        for (number, qualifier), cell in in_order(state.objects[identifier]):
            if number == cells.SELECTION:
                continue
            named = qualifier if isinstance(qualifier, Dot) else (qualifier or 0, 0)
            value = cells.value_bytes(cell.shape, cell.value)
            out += struct.pack(">QQHQQ", *identifier, number, *named)
            out += struct.pack(">QQQBI", *cell.dot, cell.time, cell.shape, len(value)) + value
    return out


def digest(named):
    state, steps = State(), []
    for name, data in named[:DIGESTED]:
        state.apply(codec.decode_batch(data))
        steps.append(
            {
                "apply": name,
                "digest": state.digest(),
                "contextHash": context_hash(state.context).hex(),
                "sums": [str(value) for value in bucket_sums(state)],
            }
        )
    given = _input(state)
    return {
        "batches": [name for name, _ in named[:DIGESTED]],
        "steps": steps,
        "text": views.text_of(state, TEXT),
        "input": given.hex(),
        "digest": hashlib.sha256(given).hexdigest(),
        "empty": State().digest(),
    }


def buckets(named):
    """The parts of a sum, and boards with contents that the digest does not cover (SYN-41)."""
    by_name = dict(named)
    whole = state_of(data for _, data in named[:DIGESTED])
    context = codec.encode_set(whole.context)
    start = cells.sums_start(context)
    hashed = [
        {
            "object": views.object_text(identifier),
            "bucket": cells.bucket(identifier),
            "property": number,
            **qualifier_json(number, qualifier),
            "hash": str(cells.cell_hash(identifier, number, qualifier, cell, start)),
        }
        for identifier in sorted(whole.objects)
        for (number, qualifier), cell in in_order(whole.objects[identifier])
        if number != cells.SELECTION
    ]
    boards = [
        ("nothing", []),
        ("all of digest.batches", [name for name, _ in named[:DIGESTED]]),
        ("a deleted object", [named[1][0], named[5][0]]),
        ("an orphan alone", [named[3][0]]),
        ("the greatest numbers", [named[10][0]]),
    ]
    return {
        "mix": [
            {"in": str(value), "out": str(cells.mix(value))} for value in (0, 1, ANNA, 2**64 - 1)
        ],
        "context": context.hex(),
        "start": str(start),
        "cells": hashed,
        "boards": [
            {
                "name": name,
                "batches": names,
                "sums": [str(v) for v in bucket_sums(state_of(by_name[n] for n in names))],
            }
            for name, names in boards
        ],
    }


def chain(named):
    """The three batches of one incarnation (AUT-6)."""
    held = authors.chain_start(BEN)
    steps = []
    for name, data in named:
        if data.startswith(inc(BEN)):
            held = authors.chain_after(held, data)
            steps.append({"batch": name, "hash": held.hex()})
    return {
        "incarnation": text_of(BEN),
        "start": authors.chain_start(BEN).hex(),
        "steps": steps,
    }


def ties():
    """One dot with two values, and the value on both replicas after a repair (BRD-5)."""

    def tie(name, one, two):
        data = [codec.encode_batch(CARA, 1, at(0), [(TEXT, *cell)]) for cell in (one, two)]
        given = codec.encode_batch(ANNA, 1, at(0), [create(cells.TEXT)])
        boards = [state_of([given, batch]) for batch in data]
        for mine, theirs in (boards, boards[::-1]):
            mine.merge_answer(*theirs.answer_to(mine.context, 0xFFFF), is_repair=True)
        if boards[0].digest() != boards[1].digest():
            raise AssertionError(name)
        return {
            "name": name,
            "first": given.hex(),
            "batches": [batch.hex() for batch in data],
            "digest": boards[0].digest(),
        }

    return [
        tie("the greater shape", (40, None, UNSIGNED, 9), (40, None, PAIR, (0, 0))),
        tie("the greater byte", (40, None, BYTES, b"ab"), (40, None, BYTES, b"b")),
        tie("a prefix is less", (40, None, BYTES, b"ab"), (40, None, BYTES, b"a")),
        tie("-1 before 1, as bytes", (40, None, SIGNED, -1), (40, None, SIGNED, 1)),
        tie("two cells of one dot stay both", (40, None, SIGNED, 1), (41, None, SIGNED, 1)),
    ]


def groups():
    named = []
    entries = []
    for name, *arguments in valid():
        data = codec.encode_batch(*arguments)
        named.append((name, data))
        entries.append(
            {"name": name, "hex": data.hex(), "value": batch_json(codec.decode_batch(data))}
        )
    return {
        "batches": {"valid": entries, "invalid": invalid_batches()},
        "digest": digest(named),
        "buckets": buckets(named),
        "chain": chain(named),
        "ties": ties(),
    }
