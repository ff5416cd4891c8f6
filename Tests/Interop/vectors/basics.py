"""Names, sets of dots, ink and erasures."""

from whiteboard_peer import codec, views
from whiteboard_peer.cells import Dot, DotSet
from whiteboard_peer.messages import context_hash

from .forms import ANNA, BEN, CARA, inc, invalid, set_json, text_of, varint


def names():
    texts = [
        "0-cerdgrcvmz3yq",
        "01-cerdgrcvmz3yq",
        "281474976710656-cerdgrcvmz3yq",
        "1-CERDGRCVMZ3YQ",
        "1-aaaaaaaaaaaab",
        "1",
    ]
    dots = [Dot(ANNA, 12), Dot(1, 2**48 - 1)]
    return {
        "incarnations": [{"number": str(i), "text": text_of(i)} for i in (1, ANNA, 2**64 - 1)],
        "objectIds": {
            "valid": [
                {
                    "text": views.object_text(dot),
                    "incarnation": str(dot.incarnation),
                    "sequence": dot.sequence,
                }
                for dot in dots
            ],
            "invalid": texts,
        },
    }


def dots_of(ranges):
    held = DotSet()
    held.ranges = {i: [list(r) for r in rs] for i, rs in ranges.items()}
    return held


def sets():
    every_other = [(n, n) for n in range(1, 40, 2)]
    valid = [
        ("empty", {}),
        ("a version vector", {ANNA: [(1, 1)], BEN: [(1, 300)]}),
        (
            "a version vector and a cloud",
            {ANNA: [(1, 5), (7, 7), (9, 12)], CARA: [(3, 2**48 - 1)]},
        ),
        ("the same range twice", {ANNA: [(1, 1), (3, 3)]}),
        ("the same range three times", {ANNA: [(1, 1), (3, 3), (5, 5)]}),
        ("every other one, and then a gap", {ANNA: [*every_other, (100, 101)], BEN: [(2, 2)]}),
        ("two repeats", {ANNA: [(2, 3), (6, 7), (10, 11), (13, 13), (15, 15)]}),
        ("equal but not neighbours", {ANNA: [(1, 1), (4, 4), (6, 6)]}),
    ]
    one = varint(1) + inc(ANNA)
    bad = [
        ("no bytes", b"", "truncated"),
        ("incarnations not ascending", varint(2) + inc(BEN) + varint(1, 0, 0) + inc(ANNA) + varint(1, 0, 0), "canonical"),
        ("an incarnation twice", varint(2) + (inc(ANNA) + varint(1, 0, 0)) * 2, "canonical"),
        ("incarnation 0", varint(1) + bytes(8) + varint(1, 0, 0), "reserved"),
        ("no ranges", one + varint(0), "canonical"),
        ("beyond 2^48 - 1", one + varint(1, 1, (2**48 - 2) * 2), "limit"),
        ("more incarnations than bytes", varint(60_000) + inc(ANNA), "truncated"),
        ("65,537 incarnations", varint(65_537), "limit"),
        ("a byte too many", b"\0\0", "trailing"),
        ("more entries than bytes", one + varint(9, 0, 0), "truncated"),
        ("neighbours of equal gap and length", one + varint(2, 0, 0, 0, 0), "canonical"),
        ("a repeat, and the same once more", one + varint(2, 0, 1, 0, 0, 0), "canonical"),
        ("a repeat that should be longer", one + varint(2, 0, 0, 0, 1, 0), "canonical"),
        ("a repeat without its number", one + varint(1, 0, 1), "truncated"),
        ("1,048,577 ranges in a few bytes", one + varint(1, 0, 1, 1_048_575), "limit"),
        ("2^64 + 1 ranges", one + varint(1, 0, 1, 2**64 - 1), "limit"),
        (
            "1,048,577 ranges of two incarnations",
            varint(2) + inc(ANNA) + varint(1, 0, 1, 1_048_574) + inc(BEN) + varint(1, 0, 0),
            "limit",
        ),
        ("a repeat beyond 2^48 - 1", one + varint(1, 2**47, 1, 0), "limit"),
    ]
    entries = []
    for name, ranges in valid:
        held = dots_of(ranges)
        entries.append(
            {
                "name": name,
                "hex": codec.encode_set(held).hex(),
                "value": set_json(held),
                "hash": context_hash(held).hex(),
            }
        )
    many = dots_of({ANNA: [(n, n) for n in range(1, 2 * 1_048_576, 2)]})
    last = dots_of({ANNA: [(2**47 - 1, 2**47 - 1), (2**48 - 1, 2**48 - 1)]})
    return {
        "sets": {
            "valid": entries,
            "large": [
                {
                    "name": "1,048,576 ranges",
                    "hex": codec.encode_set(many).hex(),
                    "ranges": 1_048_576,
                    "last": many.ranges[ANNA][-1],
                    "hash": context_hash(many).hex(),
                },
                {
                    "name": "a repeat that ends at 2^48 - 1",
                    "hex": codec.encode_set(last).hex(),
                    "ranges": 2,
                    "last": [2**48 - 1, 2**48 - 1],
                    "hash": context_hash(last).hex(),
                },
            ],
            "invalid": [invalid(*entry) for entry in bad],
        }
    }


def ink():
    valid = [
        ("one point", [(0, 0, 0)]),
        ("without pressure", [(0, 0, 0), (16, 8, 0), (40, -3, 0)]),
        ("with pressure", [(41, -3, 128), (42, -3, 0)]),
        ("corners", [(-(2**29), 2**29 - 1, 0), (2**29 - 1, -(2**29), 255)]),
        ("128 points", [(i, -i, 0) for i in range(128)]),
    ]
    bad = [
        ("no points", b"\0", "limit"),
        ("129 points", varint(129 * 2) + bytes(258), "limit"),
        ("cut", varint(4, 0, 0), "truncated"),
        ("trailing", varint(2, 0, 0, 0), "trailing"),
        ("a pressure flag without pressure", varint(3, 0, 0, 0), "canonical"),
        ("beyond the board", varint(2, 2**30, 0), "limit"),
        ("a pressure of 256", varint(3, 0, 0, 512), "limit"),
    ]
    return {
        "ink": {
            "valid": [
                {"name": name, "hex": codec.encode_ink(points).hex(), "points": points}
                for name, points in valid
            ],
            "invalid": [invalid(*entry) for entry in bad],
        }
    }


def erasures():
    valid = [
        ("the least", [(0, 1)]),
        ("from the first point to the second", [(0, 16)]),
        ("two spans with the least between them", [(8, 16), (17, 18)]),
        ("several spans", [(3, 40), (64, 65), (1_000, 2_000)]),
        ("to the end", [(1_048_575, 1_048_576)]),
    ]
    bad = [
        ("no spans", b"", "truncated"),
        ("half a span", varint(3), "truncated"),
        ("beyond the end", varint(1_048_575, 1), "limit"),
        ("begins at the end", varint(1_048_576, 0), "limit"),
        ("a gap of 2^64 - 1", varint(2**64 - 1, 0), "limit"),
        ("4,097 spans", varint(0, 0) * 4_097, "limit"),
        ("a varint that is not the shortest", b"\x80\x00\x00", "varint"),
    ]
    return {
        "erasures": {
            "valid": [
                {"name": name, "hex": codec.encode_erasure(spans).hex(), "spans": spans}
                for name, spans in valid
            ],
            "invalid": [invalid(*entry) for entry in bad],
        }
    }


def groups():
    return {**names(), **sets(), **ink(), **erasures()}
