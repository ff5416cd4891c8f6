"""Proofs of authorship: keys, records, author messages, batches and heads on a link."""

import signing
from whiteboard_peer import authors, cells
from whiteboard_peer.authors import LinkReader, LinkWriter
from whiteboard_peer.cells import PAIR, Dot
from whiteboard_peer.messages import AUTHOR, BATCH, HEAD, RECORD

from . import batches
from .forms import BOARD, OTHER_BOARD, author, inc, invalid, nonce, text_of, varint

PEOPLE = ("anna", "ben", "vera")


def keys():
    """The private keys of all authors, for signing; do not use them for anything else."""
    return [
        {
            "name": name,
            "private": signing.key_named(name).private_numbers().private_value.to_bytes(32, "big").hex(),
            "public": authors.point_of(signing.key_named(name).public_key()).hex(),
            "member": authors.member_of(
                authors.point_of(signing.key_named(name).public_key())
            ).hex(),
        }
        for name in PEOPLE
    ]


def forged(name="anna", version=1, board=BOARD, key=None, role=1, granted=0, granter=b"", grant=b"", signer=None):
    """Returns a record with any parts, signed by the author."""
    private = signing.key_named(name)
    key = authors.point_of(private.public_key()) if key is None else key
    body = bytes([version]) + board + nonce(name) + key + bytes([role, granted]) + granter
    text = b"whiteboard-record-1\n" + body
    return body + signing.sign(signing.key_named(signer or name), text) + grant


def records():
    anna = author("anna").record.data
    granted = author("vera", authors.VIEWER, granter="anna").record.data
    granter = authors.point_of(signing.key_named("anna").public_key())
    off_curve = b"\4" + bytes(63) + b"\1"
    good = signing.key_named("anna").public_key()
    numbers = good.public_numbers()
    compressed = bytes([2 + numbers.y % 2]) + numbers.x.to_bytes(32, "big")
    wrong_grant = signing.sign(signing.key_named("anna"), b"whiteboard-grant-1\n" + BOARD)
    role_grant = signing.sign(
        signing.key_named("anna"),
        b"whiteboard-grant-1\n" + BOARD + nonce("vera")
        + authors.point_of(signing.key_named("vera").public_key()) + b"\1",
    )
    bad = [
        ("no bytes", b"", "truncated"),
        ("cut in the nonce", anna[:20], "truncated"),
        ("cut in the signature", anna[:-1], "truncated"),
        ("cut in the grant", granted[:-1], "truncated"),
        ("a byte too many", anna + b"\0", "trailing"),
        ("version 0", forged(version=0), "reserved"),
        ("version 2", forged(version=2), "reserved"),
        ("another board", author("anna", board=OTHER_BOARD).record.data, "wrong-board"),
        ("a key that is not on the curve", forged(key=off_curve), "key"),
        ("a compressed key", forged(key=compressed + bytes(32)), "key"),
        ("a key of another form", forged(key=b"\6" + authors.point_of(good)[1:]), "key"),
        ("role 0", forged(role=0), "reserved"),
        ("role 4", forged(role=4), "reserved"),
        ("granted 2", forged(granted=2, granter=granter, grant=bytes(64)), "reserved"),
        ("a granter that is not on the curve", forged(granted=1, granter=off_curve, grant=bytes(64)), "key"),
        ("another's signature", forged(signer="ben"), "signature"),
        ("a signature of 0", anna[:-64] + bytes(64), "signature"),
        ("a changed role", anna[:98] + b"\3" + anna[99:], "signature"),
        ("a changed nonce", anna[:20] + bytes([anna[20] ^ 1]) + anna[21:], "signature"),
        ("a grant of something else", granted[:-64] + wrong_grant, "signature"),
        ("a grant of another role", granted[:-64] + role_grant, "signature"),
        ("a grant by another", author("vera", authors.VIEWER, granter="ben").record.data[:-64] + granted[-64:], "signature"),
        ("513 bytes", anna + bytes(513 - len(anna)), "limit"),
    ]
    valid = [
        ("an editor", author("anna")),
        ("a viewer, by Anna's grant", author("vera", authors.VIEWER, granter="anna")),
        ("a relay", author("ben", authors.RELAY)),
        ("another run of an editor", author("anna", run=" again")),
    ]
    return {
        "board": BOARD.hex(),
        "valid": [
            {
                "name": name,
                "hex": one.record.data.hex(),
                "incarnation": text_of(one.incarnation),
                "member": one.record.member.hex(),
                "role": one.record.role,
                **({"granter": one.record.granter.hex()} if one.record.granter else {}),
            }
            for name, one in valid
        ],
        "invalid": [invalid(*entry) for entry in bad],
    }


class Script:
    """The messages of one link, and the meaning of each."""

    def __init__(self, one):
        self.author, self.writer, self.entries = one, LinkWriter(), []

    def introduce(self, one=None):
        self.author = one or self.author
        self.writer.begin()
        self.entries.append(
            {"hex": (bytes([AUTHOR]) + self.author.introduction()).hex(),
             "author": text_of(self.author.incarnation)}
        )
        return self

    def write(self, time, *operations):
        first = self.author.sequence + 1
        full = self.author.write(time, operations)
        data = self.writer.encode(self.author.incarnation, first, time, operations)
        self.entries.append(
            {"hex": (bytes([BATCH]) + data).hex(), "full": full.hex(),
             "chain": self.author.chain.hex()}
        )
        return self

    def head(self):
        self.entries.append(
            {"hex": (bytes([HEAD]) + self.author.head()).hex(),
             "head": self.author.sequence}
        )
        return self

    def vouch(self, other):
        """Returns a message with the record of another author (SYN-48)."""
        self.entries.append(
            {"hex": (bytes([RECORD]) + other.record.data).hex(), "record": text_of(other.incarnation)}
        )
        return self

    @property
    def messages(self):
        return [entry["hex"] for entry in self.entries]

    def valid(self, name):
        return {"name": name, "member": self.author.record.member.hex(), "messages": self.entries}


def moved(*targets):
    return [(target, cells.POSITION, None, PAIR, (64 * i, 0)) for i, target in enumerate(targets)]


def with_head(one, sequence, chain=None, signer=None):
    """Returns an author message with the given head."""
    chain = chain or bytes(range(32))
    text = authors.head_text(one.board, one.incarnation, sequence, chain)
    signature = signing.sign(signing.key_named(signer) if signer else one.key, text)
    record = one.record.data
    return bytes([AUTHOR]) + varint(len(record)) + record + varint(sequence) + chain + signature


def link_batch(body, milliseconds=0, counter=1, count=1, table=None):
    counted = varint(milliseconds, counter, count * 2 + (table is not None))
    return bytes([BATCH]) + counted + (b"" if table is None else table) + body


def links():
    at = batches.at
    anna = author("anna").incarnation
    ben_1 = Dot(author("ben").incarnation, 1)
    vera_1 = Dot(author("vera", authors.VIEWER).incarnation, 1)
    own = Dot(anna, 1)
    several = (
        Script(author("anna")).introduce()
        .write(at(0), batches.create(cells.TEXT), *moved(own))
        .write(at(16) + 3, *moved(own, ben_1))
        .write(at(16) + 5, *moved(vera_1, ben_1))
        .write(at(8) + 65_535, *moved(vera_1))
        .head()
    )
    late = author("anna")
    late.write(at(0), moved(ben_1))
    later = Script(late).introduce().write(at(1), *moved(ben_1)).head()
    again = Script(author("anna")).introduce().write(at(5), *moved(ben_1))
    again.introduce(author("anna", run=" again")).write(at(6), *moved(ben_1, own)).head()
    anew = Script(author("anna")).introduce().write(at(5), *moved(ben_1), *moved(vera_1))
    anew.introduce().write(at(6), *moved(vera_1)).write(at(6), *moved(vera_1), *moved(ben_1)).head()
    back = Script(author("anna")).introduce().write(at(5), *moved(ben_1))
    first_run = back.author
    elsewhere = Script(author("anna")).introduce().write(at(5), *moved(ben_1))
    elsewhere = elsewhere.introduce(author("anna", run=" again")).messages
    back.introduce(author("anna", run=" again")).introduce(first_run)
    back.write(at(7), *moved(ben_1)).head()
    last = author("anna")
    last.sequence, last.chain = 2**48 - 2, bytes(range(32))
    greatest = Script(last).introduce().write(2**63 - 1, *moved(ben_1))
    relay = Script(author("ben", authors.RELAY)).introduce().write(at(0), *moved(own))
    watcher = Script(author("vera", authors.VIEWER)).introduce().head()
    purging = Script(author("anna")).introduce().vouch(author("ben"))
    purging.write(at(0), (ben_1, cells.PURGE, None, cells.NONE, None)).head()
    valid = [
        several.valid("several batches, and names by their number"),
        later.valid("after a batch that did not come by this link"),
        again.valid("a new incarnation: times and names begin anew"),
        anew.valid("the same author message again: times and names begin anew"),
        back.valid("an incarnation once more, from where its batches ended"),
        greatest.valid("the greatest sequence and time"),
        relay.valid("a relay writes"),
        watcher.valid("a viewer writes nothing"),
        purging.valid("the record of an author, and a purge of his object"),
    ]

    start = Script(author("anna")).introduce().messages
    named = Script(author("anna")).introduce().write(at(0), *moved(ben_1)).messages
    renewed = Script(author("anna")).introduce().write(at(0), *moved(ben_1)).introduce().messages
    member = author("anna").record.member
    create = batches.CREATE
    # The object with sequence 1 of the only entry in the table.
    moved_first = varint(2 * (1 + 2 * 2 + 1), 0, 0)
    wrong_start = with_head(author("anna"), 0)
    forged_record = author("ben").record.data[:-1] + b"\0"
    scripts = [
        ("a record of a member that does not hold", start, bytes([RECORD]) + forged_record, "signature", member),
        ("a record of a member on another board", start, bytes([RECORD]) + author("ben", board=OTHER_BOARD).record.data, "wrong-board", member),
        ("a batch without an author message", [], link_batch(create), "no-author", member),
        ("a head without an author message", [], bytes([HEAD]) + author("anna").head(), "no-author", member),
        ("another's record", [], bytes.fromhex(Script(author("ben")).introduce().messages[0]), "forged-author", member),
        ("a record of another board", [], bytes([AUTHOR]) + author("anna", board=OTHER_BOARD).introduction(), "wrong-board", member),
        ("a record of 513 bytes", [], bytes([AUTHOR]) + varint(513), "limit", member),
        ("an author message that is cut", [], bytes.fromhex(start[0])[:-1], "truncated", member),
        ("an author message with a byte too many", [], bytes.fromhex(start[0]) + b"\0", "trailing", member),
        ("the head of an author message by another", [], with_head(author("anna"), 5, signer="ben"), "signature", member),
        ("the head of an author message of sequence 2^48", [], with_head(author("anna"), 2**48), "limit", member),
        ("a beginning with another chain hash", [], wrong_start, "chain", member),
        (
            "an incarnation once more, from elsewhere", elsewhere,
            bytes([AUTHOR]) + author("anna").introduction(), "chain", member,
        ),
        (
            "the same author message behind a batch", named,
            bytes([AUTHOR]) + author("anna").introduction(), "chain", member,
        ),
        (
            "a viewer's batch",
            Script(author("vera", authors.VIEWER)).introduce().messages,
            link_batch(create), "viewer", author("vera", authors.VIEWER).record.member,
        ),
        ("a batch that is cut", start, link_batch(create)[:-1], "truncated", member),
        ("a batch with a byte too many", start, link_batch(create + b"\0"), "trailing", member),
        ("no operations", start, link_batch(b"", count=0), "limit", member),
        ("4097 operations", start, link_batch(create, count=4_097), "limit", member),
        ("more operations than bytes", start, link_batch(create, count=100), "truncated", member),
        ("a counter of 65,536", start, link_batch(create, counter=65_536), "limit", member),
        ("a time below 0", start, link_batch(create, milliseconds=1), "limit", member),
        ("a time of 2^63", start, link_batch(create, milliseconds=2**48), "limit", member),
        ("a sequence of 2^48", greatest.messages, link_batch(create), "limit", member),
        ("a table of none", start, link_batch(create, table=varint(0)), "canonical", member),
        ("a table of more than the bytes", start, link_batch(create, table=varint(99)), "truncated", member),
        ("a name beyond those named", start, link_batch(moved_first, table=varint(1, 1)), "limit", member),
        ("a name beyond those named, after one", named, link_batch(moved_first, table=varint(1, 2)), "limit", member),
        ("a name from before an author message", renewed, link_batch(moved_first, table=varint(1, 1)), "limit", member),
        ("one named anew", named, link_batch(moved_first, table=varint(1, 0) + inc(ben_1.incarnation)), "canonical", member),
        (
            "one named twice in one batch", start,
            link_batch(moved_first, table=varint(2) + (b"\0" + inc(ben_1.incarnation)) * 2), "canonical", member,
        ),
        (
            "one by its number twice in one batch", named,
            link_batch(moved_first, table=varint(2, 1, 1)), "canonical", member,
        ),
        ("the author in the table", start, link_batch(moved_first, table=varint(1, 0) + inc(anna)), "canonical", member),
        ("incarnation 0", start, link_batch(moved_first, table=varint(1, 0) + bytes(8)), "reserved", member),
        ("an entry that is not used", start, link_batch(create, table=varint(1, 0) + inc(ben_1.incarnation)), "canonical", member),
    ]
    bad = []
    for name, before, message, error, of in scripts:
        bad.append(
            {"name": name, "member": of.hex(), "before": before, "hex": message.hex(), "error": error}
        )
    return {"board": BOARD.hex(), "valid": valid, "invalid": bad}


def heads():
    at = batches.at
    script = Script(author("anna")).introduce()
    script.write(at(0), batches.create(cells.TEXT)).write(at(1), batches.create(cells.TEXT), batches.create(cells.TEXT))
    one = script.author

    def head(sequence, chain, signer=None, board=BOARD, incarnation=None):
        text = authors.head_text(board, incarnation or one.incarnation, sequence, chain)
        signature = signing.sign(signing.key_named(signer) if signer else one.key, text)
        return bytes([HEAD]) + varint(sequence) + chain + signature

    end, first = one.chain, bytes.fromhex(script.entries[1]["chain"])
    good = head(3, end)
    bad = [
        ("no sequence", bytes([HEAD]), "truncated"),
        ("cut", good[:-1], "truncated"),
        ("a byte too many", good + b"\0", "trailing"),
        ("a sequence of 2^48", head(2**48, end), "limit"),
        ("by another", head(3, end, "ben"), "signature"),
        ("of another board", head(3, end, board=OTHER_BOARD), "signature"),
        ("of another run", head(3, end, incarnation=author("anna", run=" again").incarnation), "signature"),
        ("another hash", head(3, bytes(32)), "chain"),
        ("the hash of the batch before", head(3, first), "chain"),
        ("of the batch before the last", head(1, first), "chain"),
        ("within a batch", head(2, end), "chain"),
        ("of a batch that has not come", head(4, end), "chain"),
    ]
    return {
        "board": BOARD.hex(),
        "member": one.record.member.hex(),
        "before": script.messages,
        "valid": [
            {"name": name, "hex": data.hex(), "sequence": sequence, "hash": chain.hex()}
            for name, data, sequence, chain in (
                ("of the last batch", good, 3, end),
            )
        ],
        "invalid": [invalid(*entry) for entry in bad],
    }


def check(document):
    """Reads every link as a receiver does, so that no wrong vector is written."""
    for vector in document["valid"]:
        reader = LinkReader(BOARD, bytes.fromhex(vector["member"]))
        for entry in vector["messages"]:
            data = bytes.fromhex(entry["hex"])
            if data[0] == BATCH:
                if reader.take_batch(data[1:])[1].hex() != entry["full"]:
                    raise AssertionError(vector["name"])
            elif data[0] == AUTHOR:
                reader.take_author(data[1:])
            elif data[0] == RECORD:
                authors.decode_record(data[1:], BOARD)
            else:
                reader.take_head(data[1:])


def groups():
    document = links()
    check(document)
    return {"keys": keys(), "records": records(), "links": document, "heads": heads()}
