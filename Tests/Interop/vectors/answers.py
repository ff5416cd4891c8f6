"""Differences, and the signed answers that contain them."""

from whiteboard_peer import authors, cells, codec
from whiteboard_peer.cells import BYTES, PAIR, UNSIGNED, Dot, DotSet

from . import batches
from .forms import (
    ANNA,
    BEN,
    BOARD,
    OTHER_BOARD,
    author,
    difference_json,
    inc,
    invalid,
    state_of,
    text_of,
    varint,
)

CONTEXT = varint(1) + inc(ANNA) + varint(1, 0, 8 * 2)
LIVING = varint(1) + inc(ANNA) + varint(1, 0, 0)
ONE = varint(0, 2)


def tag(number, shape):
    return varint(number * 8 + shape)


# Author 0; its sequence 1 and millisecond 0 as differences; counter 0; kind 1.
KIND = tag(cells.KIND, UNSIGNED) + varint(0, 2, 0, 0, 1)


def difference(cells_of, objects=1, table=(ANNA,), context=CONTEXT, living=LIVING, version=2):
    start = bytes([version]) + context + living + varint(len(table)) + b"".join(map(inc, table))
    return start + varint(objects) + cells_of


def invalid_differences():
    one = ONE + varint(1) + KIND
    position = tag(cells.POSITION, PAIR)
    good = difference(one)
    codec.decode_difference(good)
    bad = [
        ("no bytes", b"", "truncated"),
        ("version 1", difference(one, version=1), "reserved"),
        ("version 3", difference(one, version=3), "reserved"),
        ("a byte too many", good + b"\0", "trailing"),
        ("cut", good[:-1], "truncated"),
        ("living beyond the context", difference(one, living=varint(1) + inc(ANNA) + varint(1, 0, 9 * 2)), "inconsistent"),
        ("a cell beyond the context", difference(ONE + varint(1) + tag(cells.SCALE, UNSIGNED) + varint(0, 20, 0, 0, 1)), "inconsistent"),
        ("cells of an object that was purged", difference(one, living=varint(0)), "inconsistent"),
        ("an object without cells", difference(ONE + varint(0)), "canonical"),
        ("objects not ascending", difference(varint(0, 4, 1) + tag(cells.SCALE, UNSIGNED) + varint(0, 6, 0, 0, 1) + varint(0, 1, 1) + tag(cells.KIND, UNSIGNED) + varint(0, 3, 0, 0, 1), 2, living=CONTEXT), "canonical"),
        ("an object twice", difference(one + varint(0, 0, 1) + tag(cells.SCALE, UNSIGNED) + varint(0, 2, 0, 0, 1), 2), "canonical"),
        ("cells not ascending", difference(ONE + varint(2) + KIND + tag(cells.SCALE, UNSIGNED) + varint(0, 2, 0, 0, 1)), "canonical"),
        ("a cell twice", difference(ONE + varint(2) + KIND + tag(cells.KIND, UNSIGNED) + varint(0, 0, 0, 0, 1)), "canonical"),
        ("a purge as a cell", difference(ONE + varint(1) + tag(cells.PURGE, cells.NONE) + varint(0, 4, 0, 0)), "reserved"),
        ("kind of another operation", difference(ONE + varint(1) + tag(cells.KIND, UNSIGNED) + varint(0, 4, 0, 0, 1)), "author"),
        ("a deletion under a later dot", difference(ONE + varint(1) + tag(cells.DELETION, cells.NONE) + varint(0, 5, 0, 8, 0, 0)), "author"),
        ("a time below 0", difference(ONE + varint(1) + tag(cells.KIND, UNSIGNED) + varint(0, 2, 1, 0, 1)), "limit"),
        ("a time of 2^63", difference(ONE + varint(1) + tag(cells.KIND, UNSIGNED) + varint(0, 2, 2**48, 0, 1)), "limit"),
        ("a counter of 65,536", difference(ONE + varint(1) + tag(cells.KIND, UNSIGNED) + varint(0, 2, 0, 65_536, 1)), "limit"),
        ("a sequence of 0", difference(ONE + varint(1) + tag(cells.SCALE, UNSIGNED) + varint(0, 0, 0, 0, 1)), "limit"),
        ("a pair beyond 32 bits", difference(ONE + varint(1) + position + varint(0, 4, 0, 0, 2**32, 0)), "limit"),
        ("the table has an entry that is not used", difference(one, table=[ANNA, BEN]), "canonical"),
        ("the table does not ascend", difference(varint(1, 2, 1) + tag(cells.KIND, UNSIGNED) + varint(1, 2, 0, 0, 1), table=[BEN, ANNA]), "canonical"),
        ("an index beyond the table", difference(varint(1, 2, 1) + KIND), "limit"),
        ("more objects than bytes", difference(one, 100), "truncated"),
        ("65,537 incarnations in the context", b"\2" + varint(65_537), "limit"),
    ]
    return [invalid(*entry) for entry in bad]


def differences():
    named = [(name, codec.encode_batch(*rest)) for name, *rest in batches.valid()]
    whole = state_of(data for _, data in named[: batches.DIGESTED])
    four = state_of(data for _, data in named[:4])
    entries = []
    for name, since, mask in (
        ("everything, to a newcomer", DotSet(), 0),
        ("what a replica lacks that has the first four batches", four.context, 0),
        ("nothing but a context", whole.context, 0),
        ("all of the bucket of the text", whole.context, 1 << cells.bucket(batches.TEXT)),
        ("all of all buckets", whole.context, 0xFFFF),
    ):
        answer = whole.answer_to(since, mask)
        entries.append(
            {
                "name": name,
                "since": codec.encode_set(since).hex(),
                "buckets": mask,
                "hex": codec.encode_difference(*answer).hex(),
                "value": difference_json(*answer),
            }
        )
    alone = state_of([named[3][1]])
    answer = alone.answer_to(DotSet())
    return {
        "valid": entries,
        "orphans": {
            "batch": named[3][0],
            "hex": codec.encode_difference(*answer).hex(),
            "digest": alone.digest(),
        },
        "invalid": invalid_differences(),
    }


def answers():
    anna, ben = author("anna"), author("ben", authors.RELAY, granter="anna")
    watcher, stranger = author("vera", authors.VIEWER), author("ben", board=OTHER_BOARD)
    held = state_of(
        [
            anna.write(batches.at(0), [batches.create(cells.TEXT)]),
            ben.write(
                batches.at(1), [(Dot(anna.incarnation, 1), cells.ANGLE, None, UNSIGNED, 7)]
            ),
        ]
    )
    content = codec.encode_difference(*held.answer_to(DotSet()))
    seen = DotSet()
    seen.add(Dot(ben.incarnation, 1))
    little = codec.encode_difference(seen, DotSet(), {})
    both = sorted((anna, ben), key=lambda one: one.incarnation)
    records = [one.record.data for one in both]
    good = ben.answer(records, content)

    def entry(name, data, **more):
        return {"name": name, "hex": data.hex(), **more}

    def signed_by(one, marker=b"\xff", board=BOARD, body=None, incarnation=None):
        body = varint(1, len(ben.record.data)) + ben.record.data + little if body is None else body
        named = one.incarnation if incarnation is None else incarnation
        text = authors.answer_text(board, named, body)
        return body + marker + inc(named) + one._sign(one.key, text)

    gus = author("gus")
    game = Dot(gus.incarnation, 1)
    played = [
        gus.write(batches.at(0), [batches.create(cells.GAME)]),
        gus.write(batches.at(1), [(game, cells.MOVE, Dot(gus.incarnation, 2), BYTES, bytes(8))]),
    ]
    moved = codec.encode_difference(*state_of(played).answer_to(DotSet()))

    foreign = sorted((ben, stranger), key=lambda one: one.incarnation)

    def records_of(*data):
        return varint(len(data)) + b"".join(varint(len(r)) + r for r in data) + little

    wrong = bytearray(good)
    wrong[-1] ^= 1
    ben_id, vera_id = ben.record.member, watcher.record.member
    bad = [
        ("no bytes", b"", "truncated", ben_id),
        ("cut before the marker", good[:-73], "truncated", ben_id),
        ("cut in the signature", good[:-1], "truncated", ben_id),
        ("a byte too many", good + b"\0", "trailing", ben_id),
        ("another marker", signed_by(ben, b"\xfe"), "reserved", ben_id),
        ("a flipped bit of the signature", bytes(wrong), "signature", ben_id),
        ("signed for another board", signed_by(ben, board=OTHER_BOARD), "signature", ben_id),
        ("signed by another key", signed_by(anna, incarnation=ben.incarnation), "signature", ben_id),
        ("another member's on this link", signed_by(anna, body=records_of(anna.record.data)), "forged-author", ben_id),
        ("signed by a viewer", signed_by(watcher, body=records_of(watcher.record.data)), "viewer", vera_id),
        ("signed by who has no record", signed_by(ben, body=records_of()), "no-author", ben_id),
        ("signed by incarnation 0", signed_by(ben, incarnation=0), "reserved", ben_id),
        ("a record of another board", signed_by(ben, body=records_of(*(one.record.data for one in foreign))), "wrong-board", ben_id),
        ("records not ascending", signed_by(ben, body=records_of(*records[::-1])), "canonical", ben_id),
        ("a record twice", signed_by(ben, body=records_of(ben.record.data, ben.record.data)), "canonical", ben_id),
        ("a record that does not hold", signed_by(ben, body=records_of(ben.record.data[:-1] + b"\0")), "signature", ben_id),
        ("a record of 513 bytes", signed_by(ben, body=varint(1, 513) + little), "limit", ben_id),
        ("65,538 records", signed_by(ben, body=varint(65_538) + little), "limit", ben_id),
        ("more records than bytes", varint(65_000), "truncated", ben_id),
        ("a difference of version 1", signed_by(ben, body=varint(0) + b"\1" + little[1:]), "reserved", ben_id),
    ]
    refused = [
        ("a context of one incarnation with a record and one without", content),
        ("a move of an author without a record", moved),
    ]
    return {
        "board": BOARD.hex(),
        "note": "nothing is known before; `member` is that of the link",
        "valid": [
            entry(
                name,
                data,
                member=ben_id.hex(),
                signer=text_of(ben.incarnation),
                records=[text_of(i.incarnation) for i in carried],
                difference=inside.hex(),
            )
            for name, data, carried, inside in (
                ("two records and a board", good, both, content),
                ("his own record and nothing else", signed_by(ben), [ben], little),
            )
        ],
        "unrecorded": [
            entry(
                name,
                signed_by(ben, body=records_of(ben.record.data)[: -len(little)] + inside),
                member=ben_id.hex(),
            )
            for name, inside in refused
        ],
        "invalid": [
            invalid(name, data, error, member=member.hex()) for name, data, error, member in bad
        ],
    }


def groups():
    return {"differences": differences(), "answers": answers()}
