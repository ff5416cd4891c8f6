"""A whole session of two peers, frame by frame, with fixed keys and nonces.

`script()` creates the frames; the `parts` of each frame describe its bytes. This module does not call the Swift
code. The values of TLS are fixed too: the certificates, and the exporters of each connection.
"""

import datetime
import hashlib
import json

import signing
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import utils
from cryptography.x509.oid import NameOID
from whiteboard_peer import admission, authors, cells, codec, messages, wire
from whiteboard_peer.authors import LinkWriter
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.cells import BYTES, PAIR, UNSIGNED, Dot, DotSet, State
from whiteboard_peer.codec import Reader, unzigzag
from whiteboard_peer.wire import Part, base32, base64_text, encode_vint

from . import batches
from .forms import BOARD, SHAPES, author, inc, text_of

NAMES = {"anna": "Anna", "ben": "Ben"}
ADDRESSES = {"anna": "192.0.2.1", "ben": "192.0.2.2"}
PORT = 26_273
ROLES = {1: "editor", 2: "viewer", 3: "relay"}
PROPERTIES = {
    cells.POSITION: "position",
    cells.SIZE: "size",
    cells.Z_INDEX: "z index",
    cells.KIND: "kind",
    cells.COLOUR: "color",
    cells.LINE_WIDTH: "line width",
    cells.ASSET: "asset",
    cells.END: "end",
    cells.CHAT_AUTHOR: "chat author",
    cells.CHAT_NAME: "chat name",
    cells.CHAT_TEXT: "chat text",
    cells.CHAT_TIME: "chat time",
    cells.INK: "ink",
    cells.RUN: "run",
}


def fixed(name, count=32):
    """Returns bytes derived from a name."""
    return hashlib.sha256(f"walkthrough {name}".encode()).digest()[:count]


# Identities


def der(tag, *contents):
    body = b"".join(contents)
    if len(body) < 128:
        return bytes([tag, len(body)]) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def der_signature(key, data):
    """Returns a deterministic signature in DER, the form of tickets and certificates."""
    raw = signing.sign(key, data)
    return utils.encode_dss_signature(*(int.from_bytes(h, "big") for h in (raw[:32], raw[32:])))


def certificate(key):
    """Returns a self-signed certificate for a key, the same each time (LNK-1)."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "whiteboard")])
    start = datetime.datetime(2020, 1, 1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=20_000))
        .sign(key, hashes.SHA256())
    )
    body = made.tbs_certificate_bytes
    algorithm = bytes.fromhex("300a06082a8648ce3d040302")
    return der(0x30, body, algorithm, der(0x03, b"\0", der_signature(key, body)))


class Person:
    """One of the two peers: key, certificate, PeerID, incarnation of the session, author of the board."""

    def __init__(self, name):
        self.name, self.shown = name, NAMES[name]
        self.key = signing.key_named(name)
        self.info = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.peer_id = hashlib.sha256(self.info).digest()
        self.certificate = certificate(self.key)
        self.incarnation = fixed(f"incarnation of {name}", 8)
        self.author = author(name)
        self.writer = LinkWriter()
        self.sent = 0

    def json(self):
        secret = self.key.private_numbers().private_value
        return {
            "name": self.name,
            "privateKey": secret.to_bytes(32, "big").hex(),
            "keyInfo": self.info.hex(),
            "certificate": self.certificate.hex(),
            "peerID": self.peer_id.hex(),
            "peerIDText": base32(self.peer_id),
            "sessionIncarnation": base32(self.incarnation),
            "boardNonce": self.author.record.data[17:33].hex(),
            "boardIncarnation": text_of(self.author.incarnation),
        }


# The meaning of each byte


class Walk(Reader):
    """Reads a form and records the meaning of its bytes."""

    def __init__(self, data):
        super().__init__(data)
        self.parts = []

    def note(self, name, read, shown=str):
        start = self.at
        value = read()
        self.parts.append((bytes(self.data[start : self.at]), name, shown(value)))
        return value

    def number(self, name, shown=str):
        return self.note(name, self.varint, shown)

    def difference(self, name, shown=str):
        return self.note(name, self.zigzag, shown)

    def fixed(self, name, count, shown=lambda value: ""):
        return self.note(name, lambda: bytes(self.take(count)), shown)

    def byte(self, name, shown=str):
        return self.note(name, self.u8, shown)

    def incarnation_of(self, name, people):
        return self.note(name, self.incarnation, people)

    def set(self, name, people):
        """Reads a set of dots (SYN-25)."""
        for _ in range(self.number(f"{name}: incarnations")):
            self.incarnation_of(f"{name}: incarnation", people)
            last = 0
            for _ in range(self.number(f"{name}: entries")):
                gap = self.number(f"{name}: gap")
                length = (self.number(f"{name}: (length - 1) x 2", lambda v: f"length {v // 2 + 1}") >> 1) + 1
                first = last + gap + (2 if last else 1)
                last = first + length - 1

    def rest(self, name, shown=""):
        return self.note(name, lambda: bytes(self.take(self.left)), lambda value: shown)


def object_name(dot, people):
    return f"{dot.sequence} of {people(dot.incarnation)}"


def walk_value(walk, shape, pairs):
    """Reads a value (SYN-24); returns the last pair."""
    if shape == cells.UNSIGNED:
        walk.number("value, unsigned")
    elif shape == cells.PAIR:
        return tuple(
            before + walk.difference(f"value, {axis}: difference from {before}")
            for axis, before in zip("xy", pairs)
        )
    elif shape in (cells.BYTES, cells.STRING):
        length = walk.number("value: length")
        what = "value, text" if shape == cells.STRING else "value, bytes"
        walk.fixed(what, length, lambda value: value.decode() if shape == cells.STRING else "")
    return pairs


def walk_operations(walk, own, first, count, table, people):
    """Reads the operations of a batch (SYN-22 to SYN-24)."""
    before, kind, pairs = None, (cells.POSITION, cells.PAIR), (0, 0)
    for offset in range(count):
        dot = Dot(own, first + offset)
        title = f"operation {first + offset}"

        def object_of(joined, dot=dot, before=before):
            if joined == 0:
                return dot
            difference, index = divmod(joined - 1, len(table))
            return Dot(table[index], (before.sequence if before else 0) + unzigzag(difference))

        def named(joined):
            return "object: this operation's own dot" if joined == 0 else f"object {object_name(object_of(joined), people)}"

        def head_text(head):
            if head & 1 == 0:
                return f"same property and shape; {named(head >> 1)}"
            number, shape, same = head >> 5, head >> 2 & 7, head >> 1 & 1
            text = f"property {number} ({PROPERTIES[number]}), shape {shape} ({SHAPES[shape]})"
            return text + (", same object" if same else "")

        head = walk.number(f"{title}: head", head_text)
        if head & 1 == 0:
            target = object_of(head >> 1)
        else:
            kind = head >> 5, head >> 2 & 7
            target = before if head >> 1 & 1 else object_of(walk.number("object", named))
        number, shape = kind
        if cells.qualifier_class(number) == 1:
            walk.number("qualifier, a number")
        elif cells.qualifier_class(number) == 2:
            index = walk.number("qualifier", lambda i: "this operation's own dot" if i == 0 else people(table[i - 1]))
            if index:
                walk.number("qualifier: sequence")
        pairs = walk_value(walk, shape, pairs)
        before = target


def walk_batch(walk, own, first, named, people):
    """Reads a batch in channel form (SYN-28); `named` are the objects that the channel has named before."""
    walk.difference("milliseconds: difference from the previous batch")
    walk.number("counter")
    count, has_table = divmod(walk.number("operations x 2 + table", lambda v: f"{v // 2} operations, {'a' if v & 1 else 'no'} table"), 2)
    table = [own]
    for _ in range(walk.number("table: entries") if has_table else 0):
        alias = walk.number("table: entry", lambda v: "a new name follows" if v == 0 else f"the {v}. name of this channel")
        if alias:
            table.append(named[alias - 1])
        else:
            named.append(walk.incarnation_of("table: incarnation", people))
            table.append(named[-1])
    walk_operations(walk, own, first, count, table, people)


def walk_record(walk):
    walk.byte("record: version")
    walk.fixed("record: board", 16)
    walk.fixed("record: nonce", 16)
    walk.fixed("record: key", 65)
    walk.byte("record: role", lambda v: ROLES[v])
    walk.byte("record: granted", lambda v: "no")
    walk.fixed("record: signature", 64)


def walk_difference(walk, people):
    """Reads a difference (SYN-26)."""
    walk.byte("difference: version")
    walk.set("context", people)
    walk.set("living", people)
    table = [walk.incarnation_of("table: incarnation", people) for _ in range(walk.number("table: entries"))]
    sequence, last, pairs = 0, {}, (0, 0)
    for _ in range(walk.number("objects")):
        incarnation = table[walk.number("object: index of its incarnation", lambda i: people(table[i]))]
        sequence += walk.difference("object: sequence, difference from the last object's")
        for _ in range(walk.number(f"cells of object {object_name(Dot(incarnation, sequence), people)}")):
            tag = walk.number("cell: tag", lambda t: f"property {t >> 3} ({PROPERTIES[t >> 3]}), shape {t & 7} ({SHAPES[t & 7]})")
            if cells.qualifier_class(tag >> 3) == 1:
                walk.number("qualifier, a number")
            elif cells.qualifier_class(tag >> 3) == 2:
                walk.number("qualifier: index of its incarnation", lambda i: people(table[i]))
                walk.number("qualifier: sequence")
            writer = table[walk.number("author: index", lambda i: people(table[i]))]
            before = last.get(writer, (0, 0))
            at = walk.difference(f"author: sequence, difference from {before[0]}"), walk.difference(f"milliseconds, difference from {before[1]}")
            last[writer] = before[0] + at[0], before[1] + at[1]
            walk.number("counter")
            pairs = walk_value(walk, tag & 7, pairs)


def walk_answer(data, people):
    """Reads an answer (SYN-29)."""
    walk = Walk(data)
    for _ in range(walk.number("records")):
        walk.number("record: length")
        walk_record(walk)
    walk_difference(walk, people)
    walk.byte("end marker", lambda v: "")
    walk.incarnation_of("incarnation of the answering member", people)
    walk.fixed("signature", 64)
    return walk.parts


def walk_message(data, people, own=None, first=None, named=None):
    """Returns the parts of a board message, by its kind."""
    walk = Walk(data)
    kinds = {
        messages.BATCH: "batch", messages.REQUEST: "request", messages.NOTHING_LACKING: "nothing lacking",
        messages.REPORT: "report", messages.AUTHOR: "author", messages.HEAD: "head",
        messages.PROFILE: "profile",
    }
    kind = walk.byte("kind", lambda v: kinds[v])
    if kind == messages.BATCH:
        walk_batch(walk, own, first, named, people)
    elif kind == messages.REQUEST:
        walk.number("number of the request")
        walk.fixed("buckets", 2, lambda v: str(int.from_bytes(v, "big")))
        walk.set("context", people)
    elif kind == messages.NOTHING_LACKING:
        walk.number("number of the request")
    elif kind == messages.REPORT:
        walk.fixed("context hash", 8)
        walk.number("latest request whose answer was applied")
        walk.byte("number of sums")
    elif kind == messages.AUTHOR:
        walk.number("length of the record")
        walk_record(walk)
    elif kind == messages.PROFILE:
        walk.fixed("name", walk.number("length of the name"), bytes.decode)
        walk.fixed("icon", walk.number("length of the icon"), bytes.decode)
    if kind in (messages.AUTHOR, messages.HEAD):
        walk.number("sequence of the last operation")
        walk.fixed("chain hash after it", 32)
        walk.fixed("signature", 64)
    if walk.left:
        raise AssertionError("a part is missing")
    return walk.parts


# The transcript


class Script:
    """The frames in order, and the meaning of each."""

    def __init__(self):
        self.anna, self.ben = Person("anna"), Person("ben")
        self.people = {self.anna.author.incarnation: "Anna", self.ben.author.incarnation: "Ben"}
        self.steps = []
        self.named = {"anna": [], "ben": []}

    def person_of(self, incarnation):
        return self.people[incarnation]

    def frame(self, sender, title, kind, payload, why, parts=None, link="control", **more):
        """Adds a frame. `payload` is bytes, or the object of a control frame, whose keys are sorted."""
        value = None
        if isinstance(payload, dict):
            value = payload
            payload = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        data = wire.encode_frame(kind, payload)
        joined = b"".join(part for part, _, _ in parts or [])
        if parts is not None and joined != payload:
            raise AssertionError(f"{title}: the parts are not the payload")
        self.steps.append(
            {
                "title": title,
                "from": sender.name,
                "link": link,
                "frame": FRAMES[kind],
                "why": why,
                "hex": data.hex(),
                "value": value,
                "parts": parts,
                **more,
            }
        )

    def message(self, sender, title, data, why, first=None):
        """Adds a board message in its own MESSAGE frame."""
        sender.sent += 1
        (payload,) = wire.encode_message_parts(data, sender.sent)
        head = [
            (encode_vint(sender.sent), "sequence of the part", str(sender.sent)),
            (bytes([Part.FIRST | Part.LAST]), "flags", "first and last part"),
        ]
        body = walk_message(data, self.person_of, sender.author.incarnation, first, self.named[sender.name])
        self.frame(sender, title, wire.MESSAGE, payload, why, head + body, message=data.hex())

    def acknowledge(self, sender, other):
        data = encode_vint(other.sent)
        why = f"{sender.shown} holds all parts up to {other.sent} (MSG-4)."
        self.frame(sender, "ACK", wire.ACK, data, why, [(data, "sequence of the last part", str(other.sent))])


FRAMES = {
    number: name.replace("_", "-")
    for name, number in vars(wire).items()
    if isinstance(number, int) and name.isupper() and number in wire.KNOWN_TYPES
}
CODE = "-".join(admission.words(fixed("code", 6), 4))
BINDING = fixed("exporter binding")
CONTROL_ATTACH, BULK_ATTACH = fixed("exporter attach, control link"), fixed("exporter attach, bulk link")
PING = fixed("ping", 8)


def hello(person, **more):
    return {
        "protocol": [1, 1],
        "session": base32(BOARD),
        "name": person.shown,
        "incarnation": base32(person.incarnation),
        "port": PORT,
        "addresses": [ADDRESSES[person.name]],
        "role": "member",
        "links": 0,
        **more,
    }


def opening(script):
    anna, ben = script.anna, script.ben
    stretched = admission.stretch_code(CODE, BOARD, anna.peer_id)
    sides = BINDING, BOARD, ben.peer_id, anna.peer_id
    proofs = {who: admission.code_proof(stretched, who, *sides) for who in ("joiner", "host")}
    script.frame(
        ben, "HELLO of the dialler", wire.HELLO, hello(ben, invitation={"timeout": 60_000}),
        "Ben joins: he sends `invitation` (MEM-7). No control link with Anna has opened before, so `links` is 0.",
    )
    script.frame(
        anna, "HELLO of the listener", wire.HELLO, hello(anna, admission="code"),
        "Anna's session requires a code. This link gets the number 1: 1 more than the greater `links`.",
    )
    script.frame(
        ben, "CODE-PROOF", wire.CODE_PROOF, {"proof": base64_text(proofs["joiner"])},
        "Ben proves that he knows the code (4.2).", key="joiner",
    )
    signed = b"whiteboard-p2p ticket 1\0" + BOARD + anna.peer_id + ben.peer_id
    ticket = {
        "admitter": base32(anna.peer_id),
        "key": base64_text(anna.info),
        "signature": base64_text(der_signature(anna.key, signed)),
    }
    accept = {
        "host": base32(anna.peer_id), "maximum": 16, "members": [], "proof": base64_text(proofs["host"]),
        "ticket": ticket,
    }
    script.frame(
        anna, "ACCEPT", wire.ACCEPT, accept,
        "Anna created the session, and there is no other member. Ben checks `proof`, and stores the ticket. "
        "The link is open. Both sides may now send frames of up to 65,536 bytes.",
    )
    return stretched, proofs, signed


def introduction(script):
    for person in (script.anna, script.ben):
        script.message(
            person, "author", bytes([messages.AUTHOR]) + person.author.introduction(),
            f"{person.shown} sends the record of this run, and the current head of its chain (AUT-5).",
        )
        script.message(
            person, "profile", messages.encode_profile(person.shown, ""),
            f"This is {person.shown}'s display name. The icon is empty.",
        )


def walkthrough():
    """Returns the transcript as JSON values."""
    script = Script()
    anna, ben = script.anna, script.ben
    text = Dot(anna.author.incarnation, 1)
    at = batches.at
    first = anna.author.write(
        at(0),
        [
            batches.create(cells.TEXT),
            (text, cells.POSITION, None, PAIR, (6_400, -3_200)),
            (text, cells.Z_INDEX, None, BYTES, bytes.fromhex("8000000031")),
            (text, cells.RUN, "own", BYTES, codec.encode_run(codec.ROOT, None, "hello")),
        ],
    )
    boards = {"anna": State(), "ben": State()}
    boards["anna"].apply(codec.decode_batch(first))
    start = boards["anna"].digest()

    stretched, proofs, signed = opening(script)
    introduction(script)
    script.message(
        ben, "request", messages.encode_request(1, boards["ben"].context),
        "Anna's author message has arrived, so Ben requests the operations that he lacks (SYN-11). His context is empty: he "
        "has no operations.",
    )
    script.message(
        anna, "request", messages.encode_request(1, boards["anna"].context),
        "Anna also sends a request. Her context consists of the four dots of her own operations.",
    )
    script.acknowledge(anna, ben)
    script.message(
        ben, "nothing lacking", bytes([messages.NOTHING_LACKING]) + encode_vint(1),
        "Anna lacks nothing, because Ben has no operations (SYN-12).",
    )
    script.acknowledge(ben, anna)
    answer = carry_answer(script, boards)
    records, difference = authors.decode_answer(answer, BOARD, anna.peer_id, {})
    boards["ben"].merge_answer(*difference, is_repair=False)
    for person, why in (
        (ben, "Ben has applied the answer to his request 1."),
        (anna, "Ben's *nothing lacking* counts as the answer to Anna's request 1 (SYN-14)."),
    ):
        report = messages.Report(messages.context_hash(boards[person.name].context), 1, [])
        script.message(
            person, "report", messages.encode_report(report),
            f"{why} Both context hashes are equal: neither peer lacks an operation of the other (SYN-16).",
        )
    full = write_text(script, boards, text)
    report = messages.Report(messages.context_hash(boards["anna"].context), 0, [])
    script.message(
        anna, "report", messages.encode_report(report),
        "Anna has applied the batch, and reports her new context within 100 ms. This report does not follow "
        "an answer, so *applied* is 0 (SYN-14).",
    )
    script.message(
        ben, "head", bytes([messages.HEAD]) + ben.author.head(),
        "Ben signs the end of his chain at most once a second, and once more before he leaves (AUT-7). Anna compares "
        "the end with the batches that she received.",
    )
    for sender, kind, title in ((ben, wire.PING, "PING"), (anna, wire.PONG, "PONG")):
        why = "Ben has sent nothing for 1 s (LIV-1)."
        if title == "PONG":
            why = "Anna answers immediately with the same 8 bytes."
        script.frame(sender, title, kind, PING, why, [(PING, "8 bytes of Ben's choice", "")])
    script.acknowledge(anna, ben)
    script.acknowledge(ben, anna)
    script.frame(
        ben, "CLOSE", wire.CLOSE, {"code": "left", "message": ""},
        "Ben leaves. He flushes this frame and closes the connection. Anna does not answer (3.6).",
    )
    if boards["anna"].digest() != boards["ben"].digest():
        raise AssertionError("the boards differ")
    return {
        "specification": "Protocol/Walkthrough.md",
        "people": [anna.json(), ben.json()],
        "session": BOARD.hex(),
        "sessionText": base32(BOARD),
        "code": CODE,
        "stretchedCode": stretched.hex(),
        "exporters": {
            "binding": BINDING.hex(),
            "attachControl": CONTROL_ATTACH.hex(),
            "attachBulk": BULK_ATTACH.hex(),
        },
        "proofs": {who: proof.hex() for who, proof in proofs.items()},
        "ticketInput": signed.hex(),
        "steps": script.steps,
        "answer": answer.hex(),
        "batches": [
            {"author": "anna", "hex": first.hex(), "chain": anna.author.chain.hex(), "digest": start},
            {"author": "ben", "hex": full.hex(), "chain": ben.author.chain.hex(), "digest": boards["ben"].digest()},
        ],
        "contextHash": messages.context_hash(boards["ben"].context).hex(),
    }


def carry_answer(script, boards):
    """Adds the answer to Ben's request, on its own bulk link (8.1, 8.2, SYN-13)."""
    anna, ben = script.anna, script.ben
    difference = codec.encode_difference(*boards["anna"].answer_to(DotSet()))
    answer = anna.author.answer([anna.author.record.data], difference)
    identifier = base32(fixed("transfer", 16))
    name = {"id": base32(BOARD), "type": "whiteboard", "isDeleted": False, "request": 1, "byteCount": len(answer)}
    offer = {"id": identifier, "name": json.dumps(name, separators=(",", ":")), "size": len(answer)}

    def bulk(sender, title, kind, payload, why, parts=None):
        script.frame(sender, title, kind, payload, why, parts, link="bulk")

    script.frame(
        anna, "BULK-REQUEST", wire.BULK_REQUEST, {"count": 1},
        "The answer is a resource, and needs a bulk link. Ben dialed the control link, so Ben dials the bulk "
        "links too, and Anna requests one from him (8.1).",
    )
    attach = {
        "session": base32(BOARD),
        "incarnation": base32(ben.incarnation),
        "opener": "listener",
        "proof": base64_text(attach_proof(CONTROL_ATTACH, BULK_ATTACH)),
    }
    bulk(
        ben, "ATTACH", wire.ATTACH, attach,
        "Ben has opened a second TLS connection to the same port; this is its first frame. Anna requested the "
        "link, so `opener` is `listener`.",
    )
    bulk(
        anna, "ATTACHED", wire.ATTACHED, {},
        "The proof is valid. From now on frames of up to 65,536 bytes are allowed.",
    )
    bulk(
        anna, "RESOURCE-OFFER", wire.RESOURCE_OFFER, offer,
        "`name` is a string that contains JSON (SYN-13). The `id` in it is the board id, which is the session id.",
    )
    bulk(ben, "RESOURCE-ACCEPT", wire.RESOURCE_ACCEPT, {"id": identifier, "offset": 0}, "Ben requests the complete resource.")
    bulk(anna, "RESOURCE-START", wire.RESOURCE_START, {"id": identifier, "offset": 0}, "")
    bulk(
        anna, "CHUNK", wire.CHUNK, answer,
        "This frame contains the complete answer. It includes Anna's record, which Ben needs to check the answer.",
        walk_answer(answer, script.person_of),
    )
    bulk(
        anna, "RESOURCE-END", wire.RESOURCE_END,
        {"id": identifier, "sha256": hashlib.sha256(answer).hexdigest()}, "",
    )
    bulk(
        ben, "RESOURCE-DONE", wire.RESOURCE_DONE, {"id": identifier},
        "Ben has checked the hash, the records and the signature, and applied the answer. The bulk link is idle.",
    )
    return answer




def write_text(script, boards, text):
    """Adds Ben's batch that writes a text and moves Anna's text; returns its full form."""
    ben = script.ben
    own = Dot(ben.author.incarnation, 1)
    operations = [
        batches.create(cells.TEXT),
        (own, cells.POSITION, None, PAIR, (0, 640)),
        (own, cells.Z_INDEX, None, BYTES, bytes.fromhex("80000001e2")),
        (own, cells.RUN, "own", BYTES, codec.encode_run(codec.ROOT, None, "hi")),
        (text, cells.POSITION, None, PAIR, (6_400, -1_600)),
    ]
    time = batches.at(2_000)
    full = ben.author.write(time, operations)
    data = bytes([messages.BATCH]) + ben.writer.encode(own.incarnation, 1, time, operations)
    script.message(
        ben, "batch", data,
        "Ben writes the text \"hi\" and moves Anna's text, in one batch of five operations. This is the "
        "channel form (SYN-28): Anna knows the author and the first sequence. Anna's incarnation is named for the first "
        "time on this channel, so it is in the table.",
        first=1,
    )
    for board in boards.values():
        board.apply(codec.decode_batch(full))
    return full
