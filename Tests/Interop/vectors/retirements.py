"""Retirements: the message, and boards before and after a retirement."""

import signing
from whiteboard_peer import admission, authors, cells, codec, owned, retirement
from whiteboard_peer.cells import NONE, PAIR, UNSIGNED, Dot, DotSet, State
from whiteboard_peer.messages import bucket_sums, context_hash

from . import batches
from .forms import ANNA, BEN, BOARD, CARA, author, create, invalid, set_json, state_of, text_of, varint
from .owned import PLACE, SALT, point

HOST = point("anna")
NAMED = admission.named_session(authors.member_of(HOST), bytes([1, 2, 3, 4]))
BENS = admission.named_session(authors.member_of(point("ben")), bytes([1, 2, 3, 4]))
SOME = [BEN, CARA]


def signed(body, by="anna", domain=retirement.DOMAIN):
    return body + signing.sign(signing.key_named(by), domain + body)


def made(incarnations, board=NAMED, host=HOST, salt=b"", by="anna"):
    return signed(retirement.retirement_body(board, incarnations, host, salt), by)


def valid():
    return [
        ("two incarnations", NAMED, made(SOME)),
        ("the least and the greatest incarnation", NAMED, made([1, 2**64 - 1])),
        ("on an owned board", PLACE, made(SOME, PLACE, salt=SALT)),
    ]


def refused():
    whole = made(SOME)
    count = 1 + 16
    # The last byte of y differs, so this is not a point of the curve.
    no_key = HOST[:-1] + bytes([HOST[-1] ^ 1])
    return [
        ("no bytes", NAMED, b"", "truncated"),
        ("cut in an incarnation", NAMED, whole[: count + 1 + 12], "truncated"),
        ("cut in the signature", NAMED, whole[:-1], "truncated"),
        ("a byte too many", NAMED, whole + b"\0", "trailing"),
        ("version 2", NAMED, signed(b"\2" + whole[1:-64]), "reserved"),
        ("no incarnations", NAMED, made([]), "limit"),
        ("4097 incarnations", NAMED, whole[:count] + varint(4097) + whole[count + 1 :], "limit"),
        ("more incarnations than bytes", NAMED, whole[:count] + varint(4096) + whole[count + 1 :], "truncated"),
        ("a number of incarnations that is not the shortest", NAMED, signed(whole[:count] + b"\x82\0" + whole[count + 1 : -64]), "varint"),
        ("incarnation 0", NAMED, made([0, BEN]), "reserved"),
        ("incarnations that do not ascend", NAMED, made([CARA, BEN]), "canonical"),
        ("an incarnation twice", NAMED, made([BEN, BEN]), "canonical"),
        ("a salt on an open board", NAMED, made(SOME, salt=SALT), "reserved"),
        ("no salt on an owned board", PLACE, made(SOME, PLACE), "reserved"),
        ("a salt of 7 bytes", PLACE, made(SOME, PLACE, salt=SALT[:7]), "reserved"),
        ("a salt of 9 bytes", PLACE, made(SOME, PLACE, salt=SALT + b"\0"), "reserved"),
        ("of another board", NAMED, made(SOME, BENS, point("ben"), by="ben"), "wrong-board"),
        ("a key that is not on the curve", NAMED, made(SOME, host=no_key), "key"),
        ("by a member that is not the host", NAMED, made(SOME, host=point("ben"), by="ben"), "owner"),
        ("on a board whose id names no host", BOARD, made(SOME, BOARD), "owner"),
        ("by a member that is not the owner", PLACE, made(SOME, PLACE, point("ben"), SALT, "ben"), "owner"),
        ("another salt than the owner's", PLACE, made(SOME, PLACE, salt=bytes(8)), "owner"),
        ("signed by another", NAMED, made(SOME, by="ben"), "signature"),
        ("signed as a revocation", NAMED, signed(whole[:-64], domain=b"whiteboard-revocation-1\n"), "signature"),
        ("a changed incarnation", NAMED, whole[: count + 8] + bytes([whole[count + 8] ^ 1]) + whole[count + 9 :], "signature"),
        ("a changed signature", NAMED, whole[:-1] + bytes([whole[-1] ^ 1]), "signature"),
    ]


def value(one):
    return {
        "incarnations": [text_of(incarnation) for incarnation in one.incarnations],
        "host": one.host.hex(),
        "salt": one.salt.hex(),
        "signed": (retirement.DOMAIN + one.body).hex(),
    }


def entries():
    return {
        "valid": [
            {"name": name, "board": board.hex(), "hex": data.hex(), **value(authors.decode_retirement(data, board))}
            for name, board, data in valid()
        ],
        "large": large(),
        "invalid": [
            invalid(name, data, error, board=board.hex()) for name, board, data, error in refused()
        ],
    }


def large():
    """As many incarnations as a retirement may have, which are consecutive numbers."""
    incarnations = range(1000, 1000 + retirement.MAXIMUM_INCARNATIONS)
    data = made(incarnations)
    authors.decode_retirement(data, NAMED)
    head, tail = data[: 1 + 16 + 2], data[-(65 + 1 + 64) :]
    return [
        {
            "name": "4096 incarnations",
            "board": NAMED.hex(),
            "before": head.hex(),
            "first": text_of(incarnations[0]),
            "count": len(incarnations),
            "after": tail.hex(),
        }
    ]


# The board: texts of Anna and Cara, a drawing of Ben.

ANNAS, BENS_OWN, CARAS = Dot(ANNA, 1), Dot(BEN, 1), Dot(CARA, 1)


def operations():
    """The batches, each (name, author, first, operations), in the order of their times."""

    def move(target, x):
        return (target, cells.POSITION, None, PAIR, (x * 64, 0))

    return [
        ("Anna creates a text", ANNA, 1, [create(cells.TEXT), move(ANNAS, 1)]),
        ("Ben creates a drawing", BEN, 1, [create(cells.DRAWING), move(BENS_OWN, 2)]),
        ("Cara creates a text", CARA, 1, [create(cells.TEXT)]),
        ("Ben moves Anna's text", BEN, 3, [move(ANNAS, 3)]),
        ("Anna moves Ben's drawing", ANNA, 3, [move(BENS_OWN, 4)]),
        ("Ben purges Cara's text", BEN, 4, [(CARAS, cells.PURGE, None, NONE, None)]),
    ]


def later():
    return [
        ("Ben creates another drawing", BEN, 5, [create(cells.DRAWING)]),
        ("Anna turns Ben's drawing", ANNA, 4, [(BENS_OWN, cells.ANGLE, None, UNSIGNED, 9)]),
        ("Cara purges Ben's drawing", CARA, 2, [(BENS_OWN, cells.PURGE, None, NONE, None)]),
    ]


def encoded(listed, start):
    return [
        (name, codec.encode_batch(who, first, batches.at(start + index), written))
        for index, (name, who, first, written) in enumerate(listed)
    ]


class Run:
    """The steps of one replica."""

    def __init__(self, name):
        self.name, self.state, self.steps = name, State(), []

    def note(self, name, **step):
        self.steps.append(
            {
                "name": name,
                **step,
                "context": set_json(self.state.context),
                "contextHash": context_hash(self.state.context).hex(),
                "digest": self.state.digest(),
                "sums": [str(total) for total in bucket_sums(self.state)],
            }
        )

    def batches(self, listed):
        for name, data in listed:
            self.state.apply(codec.decode_batch(data))
            self.note(name, batch=data.hex())

    def retire(self, data):
        self.state.retire(authors.decode_retirement(data, NAMED).incarnations)
        self.note("the host retires Ben's incarnation", retirement=data.hex())

    def merge(self, name, difference, buckets=0):
        data = codec.encode_difference(*difference)
        self.state.merge_answer(*codec.decode_difference(data), is_repair=buckets != 0)
        self.note(name, difference=data.hex(), buckets=buckets)

    @property
    def json(self):
        return {"name": self.name, "steps": self.steps}


def effects():
    first, last = encoded(operations(), 0), encoded(later(), 100)
    data = made([BEN])
    unaware = state_of(batch for _, batch in first + last)
    everything = unaware.answer_to(DotSet())
    late, early = Run("the retirement arrives after the changes"), Run("the retirement arrives first")
    late.batches(first)
    late.retire(data)
    late.batches(last)
    late.merge("the answer of a replica that skipped the retirement", everything)
    early.retire(data)
    early.batches(first + last)
    newcomer = Run("a newcomer")
    newcomer.retire(data)
    newcomer.merge("the answer of a replica that skipped the retirement", everything)
    # Equal contexts, but not equal boards: Ben overwrote the place of Anna's text, and purged Cara's.
    if late.state.context != early.state.context or late.state.digest() == early.state.digest():
        raise AssertionError("the boards do not differ as intended")
    runs = [late, early, newcomer]
    for _ in range(2):
        for one in runs:
            for other in runs:
                if one is not other:
                    answer = other.state.answer_to(one.state.context, 0xFFFF)
                    one.merge(f"repair: the answer of \"{other.name}\"", answer, 0xFFFF)
    if len({one.state.digest() for one in runs}) != 1 or not late.state.objects:
        raise AssertionError("the boards differ after the repair")
    return [one.json for one in runs]


def unrecorded():
    """An answer that names an incarnation without a record, which is refused unless that incarnation is retired."""
    ben = author("ben", board=NAMED)
    ben.write(batches.at(0), [create(cells.TEXT)])
    named = DotSet()
    named.add(Dot(ben.incarnation, 1))
    named.add(Dot(CARA, 7))
    living = DotSet()
    data = ben.answer([ben.record.data], codec.encode_difference(named, living, {}))
    after = DotSet()
    after.add(Dot(ben.incarnation, 1))
    return {
        "member": authors.member_of(point("ben")).hex(),
        "hex": data.hex(),
        "retirement": made([CARA]).hex(),
        "context": set_json(after),
    }


def groups():
    return {
        "retirements": {
            "board": NAMED.hex(),
            **entries(),
            "effects": effects(),
            "unrecorded": unrecorded(),
        }
    }
