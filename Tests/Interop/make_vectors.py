#!/usr/bin/python3
"""Writes Protocol/Vectors/session.json from the text of Protocol/session.md alone.

This script does not call the Swift code: the decoded values are written by hand, and the bytes are
computed with the standard library and `cryptography` (Debian's python3-cryptography).

  make_vectors.py           writes the file
  make_vectors.py --check   compares it, and fails on a difference
"""

import base64
import hashlib
import json
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from vector_file import PROTOCOL, write_or_check

TARGET = PROTOCOL / "Vectors" / "session.json"


def vint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def pattern(count):
    """Bytes that show their own offset: byte i is i mod 251."""
    return bytes(i % 251 for i in range(count))


# --- integers and identifiers -------------------------------------------------------------------


def integers():
    values = [0, 1, 127, 128, 300, 16_383, 16_384, 65_536, 16_777_216, 2**32 - 1, 2**32, 2**53 - 1,
              2**63 - 1, 2**63, 2**64 - 1]
    invalid = [
        ("zero in two bytes", "8000", "not-shortest"),
        ("one in two bytes", "8100", "not-shortest"),
        ("127 in three bytes", "ff8000", "not-shortest"),
        ("2^63 - 1 in ten bytes", "ffffffffffffffffff00", "not-shortest"),
        ("65 bits", "ffffffffffffffffff02", "overflow"),
        ("66 bits", "80808080808080808004", "overflow"),
        ("eleven bytes", "8080808080808080808001", "overflow"),
        ("eleven bytes, seen at the tenth", "80808080808080808081", "overflow"),
        ("no byte", "", "truncated"),
        ("one byte that wants another", "80", "truncated"),
        ("nine bytes that want another", "ffffffffffffffffff", "truncated"),
    ]
    return {
        "valid": [{"value": str(v), "hex": vint(v).hex()} for v in values],
        "invalid": [{"name": n, "hex": h, "error": e, "rule": "FRM-2"} for n, h, e in invalid],
    }


def base32_text(data):
    return base64.b32encode(data).decode().lower().rstrip("=")


def base32():
    valid = [b"", b"f", b"fo", b"foo", b"foob", b"fooba", b"foobar", bytes(8), bytes([255] * 8),
             bytes(range(16)), hashlib.sha256(b"").digest()]
    invalid = [
        ("one character", "a", "length"),
        ("three characters", "mzx", "length"),
        ("six characters", "mzxw6y", "length"),
        ("capitals", "MZXW6YTB", "character"),
        ("padding", "my======", "character"),
        ("the digit 1", "mzxw6yt1", "character"),
        ("the digit 0", "0zxw6ytb", "character"),
        ("the digit 8", "mzxw8ytb", "character"),
        ("a space", "mzxw 6yt", "character"),
        ("a letter that is not ASCII", "mzxw6y\u00fc", "character"),
        ("bits left over, 2 characters", "mz", "trailing-bits"),
        ("bits left over, 4 characters", "mzxr", "trailing-bits"),
        ("bits left over, 5 characters", "mzxw7", "trailing-bits"),
        ("bits left over, 7 characters", "mzxw6yr", "trailing-bits"),
    ]
    return {
        "valid": [{"hex": d.hex(), "text": base32_text(d)} for d in valid],
        "invalid": [{"name": n, "text": t, "error": e} for n, t, e in invalid],
    }


# --- frames -------------------------------------------------------------------------------------

TYPES = {
    "HELLO": 0x01, "CLOSE": 0x02, "ACCEPT": 0x03, "CODE-PROOF": 0x04, "SAS-COMMIT": 0x05,
    "SAS-NONCE": 0x06, "SAS-REVEAL": 0x07, "MEMBERS": 0x10, "KICK": 0x11, "ADDRESSES": 0x12,
    "BULK-REQUEST": 0x13, "ATTACH": 0x20, "ATTACHED": 0x21, "RESOURCE-OFFER": 0x22,
    "RESOURCE-ACCEPT": 0x23, "RESOURCE-START": 0x24, "RESOURCE-END": 0x25, "RESOURCE-DONE": 0x26,
    "RESOURCE-CANCEL": 0x27, "STREAM-OPEN": 0x28, "STREAM-RESET": 0x29, "MESSAGE": 0x40,
    "ACK": 0x41, "PING": 0x42, "PONG": 0x43, "DATAGRAM": 0x44, "CHUNK": 0x50, "STREAM-DATA": 0x51,
    "STREAM-FIN": 0x52, "RELAY-GRANT": 0x14, "RELAY-DATAGRAM": 0x45, "WEB-CHALLENGE": 0x08,
    "WEB-PROOF": 0x09, "DECIDING": 0x82,
}


def frame(kind, payload=b""):
    return bytes([TYPES[kind] if isinstance(kind, str) else kind]) + vint(len(payload)) + payload


def frames():
    def head(name, kind, length, limit):
        return {"name": name, "limit": limit, "hex": (bytes([kind]) + vint(length)).hex(),
                "type": next((n for n, t in TYPES.items() if t == kind), None), "length": length}

    heads = [head(f"a {name} of 5 bytes", kind, 5, 8_192) for name, kind in TYPES.items()]
    heads += [
        head("the greatest frame before admission", 0x01, 8_192, 8_192),
        head("the greatest frame", 0x40, 65_536, 65_536),
        head("an empty frame", 0x52, 0, 65_536),
        head("the first type that is skipped", 0x80, 9, 65_536),
        head("the last type that is skipped", 0xFF, 65_536, 65_536),
    ]
    bad = [
        ("one byte over before admission", bytes([0x01]) + vint(8_193), 8_192, "too-large", "too-large", "FRM-1"),
        ("one byte over", bytes([0x40]) + vint(65_537), 65_536, "too-large", "too-large", "FRM-1"),
        ("2^64 - 1 bytes", bytes([0x50]) + vint(2**64 - 1), 65_536, "too-large", "too-large", "FRM-1"),
        ("too large although skipped", bytes([0x80]) + vint(65_537), 65_536, "too-large", "too-large", "FRM-1"),
        ("a length in two bytes for one", bytes([0x42, 0x88, 0x00]), 65_536, "malformed-length", "protocol-error", "FRM-2"),
        ("a length over 64 bits", bytes([0x42]) + b"\xff" * 9 + b"\x02", 65_536, "malformed-length", "protocol-error", "FRM-2"),
        ("type 0", bytes([0x00, 0x00]), 65_536, "unknown-type", "unknown-frame", "FRM-3"),
        ("a type of the gap after 0x09", bytes([0x0A]), 65_536, "unknown-type", "unknown-frame", "FRM-3"),
        ("a reserved control type", bytes([0x30, 0x00]), 65_536, "unknown-type", "unknown-frame", "FRM-3"),
        ("a reserved data type", bytes([0x60]), 65_536, "unknown-type", "unknown-frame", "FRM-3"),
        ("the last type that is not skipped", bytes([0x7F, 0x00]), 65_536, "unknown-type", "unknown-frame", "FRM-3"),
    ]
    ping = frame("PING", bytes(range(8)))
    streams = [
        {"name": "three frames in a row", "limit": 65_536,
         "hex": (ping + frame("STREAM-FIN") + frame("MESSAGE", bytes([1, 3]) + b"hello")).hex(),
         "frames": [{"type": "PING", "payload": bytes(range(8)).hex()},
                    {"type": "STREAM-FIN", "payload": ""},
                    {"type": "MESSAGE", "payload": (bytes([1, 3]) + b"hello").hex()}]},
        {"name": "unknown types of 0x80 and above are skipped", "limit": 65_536,
         "hex": (frame(0x80, b"later") + ping + frame(0xFF)).hex(),
         "frames": [{"type": None, "payload": b"later".hex()},
                    {"type": "PING", "payload": bytes(range(8)).hex()},
                    {"type": None, "payload": ""}]},
        {"name": "a length of two bytes", "limit": 8_192,
         "hex": frame("CHUNK", pattern(200)).hex(),
         "frames": [{"type": "CHUNK", "payload": pattern(200).hex()}]},
        {"name": "what came before a fault counts", "limit": 65_536,
         "hex": (ping + bytes([0x7E])).hex(),
         "frames": [{"type": "PING", "payload": bytes(range(8)).hex()}],
         "error": "unknown-type", "close": "unknown-frame", "rule": "FRM-3"},
        {"name": "bytes are missing", "limit": 65_536, "hex": (ping + ping[:-1]).hex(),
         "frames": [{"type": "PING", "payload": bytes(range(8)).hex()}], "incomplete": True},
    ]
    return {
        "types": [{"type": n, "number": t} for n, t in TYPES.items()],
        "heads": {
            "valid": heads,
            "invalid": [{"name": n, "hex": h.hex(), "limit": limit, "error": e, "close": c, "rule": r}
                        for n, h, limit, e, c, r in bad],
        },
        "streams": streams,
    }


# --- messages -----------------------------------------------------------------------------------


def part(sequence, flags, data=b"", total=None):
    return vint(sequence) + bytes([flags]) + (b"" if total is None else vint(total)) + data


def message_parts():
    def good(name, sequence, flags, data=b"", total=None):
        entry = {"name": name, "hex": part(sequence, flags, data, total).hex(),
                 "sequence": str(sequence), "first": bool(flags & 1), "last": bool(flags & 2),
                 "acknowledge": bool(flags & 4), "relays": bool(flags & 8), "bytes": data.hex()}
        if total is not None:
            entry["total"] = total
        return entry

    valid = [
        good("a whole message", 1, 3, b"hello"),
        good("a whole message, acknowledge at once", 2, 7, b"hello"),
        good("an empty message", 3, 3),
        good("the first of several parts", 300, 1, b"he", 5),
        good("the first of several parts of the greatest message", 4, 1, b"he", 16_777_216),
        good("a first part without bytes", 5, 1, b"", 5),
        good("a part between", 6, 0, b"ll"),
        good("the last part", 7, 2, b"o"),
        good("a last part without bytes", 8, 6),
        good("the greatest number", 2**53 - 1, 3, b"x"),
        good("a whole message between a member and a relay", 9, 11, b"hello"),
        good("the first of several parts of the greatest message by a relay", 10, 9, b"he", 16_777_280),
    ]
    bad = [
        ("no byte", b"", "malformed", "protocol-error", "FRM-4"),
        ("a number alone", b"\x01", "malformed", "protocol-error", "FRM-4"),
        ("a number that is not shortest", b"\x81\x00\x03", "malformed", "protocol-error", "FRM-2"),
        ("a number over 64 bits", b"\xff" * 9 + b"\x02\x03", "malformed", "protocol-error", "FRM-2"),
        ("number 0", b"\x00\x03hello", "zero-sequence", "protocol-error", "MSG-2"),
        ("flag 8 in a part that is not the first", b"\x02\x0a", "unknown-flags", "protocol-error", "MSG-1"),
        ("flag 16", b"\x01\x13", "unknown-flags", "protocol-error", "MSG-1"),
        ("flag 128", b"\x01\x83", "unknown-flags", "protocol-error", "MSG-1"),
        ("a first part without its total", b"\x01\x01", "malformed", "protocol-error", "FRM-4"),
        ("a total that ends within", b"\x01\x01\x80", "malformed", "protocol-error", "FRM-4"),
        ("a total that is not shortest", b"\x01\x01\x85\x00he", "malformed", "protocol-error", "FRM-2"),
        ("a total over the limit", part(1, 1, b"", 16_777_217), "too-large", "too-large", "MSG-1"),
        ("a total over the limit by a relay", part(1, 9, b"", 16_777_281), "too-large", "too-large", "RLY-5"),
        ("a total of 2^64 - 1", part(1, 1, b"", 2**64 - 1), "too-large", "too-large", "MSG-1"),
        ("an empty part between", part(2, 0), "empty", "protocol-error", "MSG-1"),
    ]
    return {"valid": valid,
            "invalid": [{"name": n, "hex": h.hex(), "error": e, "close": c, "rule": r}
                        for n, h, e, c, r in bad]}


def message_sequences():
    """Sequences of MESSAGE payloads, with the outcome of each."""

    def step(payload, **outcome):
        return {"hex": payload.hex(), **outcome}

    def wrong(payload, error, rule):
        return step(payload, outcome="error", error=error, close="protocol-error", rule=rule)

    first = part(1, 1, b"he", 5)
    return [
        {"name": "one part each", "steps": [
            step(part(1, 3, b"hello"), outcome="deliver", message=b"hello".hex()),
            step(part(2, 3), outcome="deliver", message=""),
            step(part(3, 7, b"x"), outcome="deliver", message=b"x".hex())]},
        {"name": "three parts", "steps": [
            step(first, outcome="keep"), step(part(2, 0, b"ll"), outcome="keep"),
            step(part(3, 2, b"o"), outcome="deliver", message=b"hello".hex())]},
        {"name": "an empty last part", "steps": [
            step(part(1, 1, b"hello", 5), outcome="keep"),
            step(part(2, 2), outcome="deliver", message=b"hello".hex())]},
        {"name": "numbers received before are dropped, whatever they hold", "steps": [
            step(first, outcome="keep"), step(first, outcome="drop"),
            step(part(2, 2, b"llo"), outcome="deliver", message=b"hello".hex()),
            step(part(2, 2, b"llo"), outcome="drop"), step(part(1, 3, b"other"), outcome="drop"),
            step(part(3, 3, b"next"), outcome="deliver", message=b"next".hex())]},
        {"name": "the first number is not 1", "steps": [wrong(part(2, 3, b"x"), "skipped", "MSG-3")]},
        {"name": "a number is skipped", "steps": [
            step(part(1, 3, b"x"), outcome="deliver", message=b"x".hex()),
            wrong(part(3, 3, b"y"), "skipped", "MSG-3")]},
        {"name": "a message within a message", "steps": [
            step(first, outcome="keep"), wrong(part(2, 3, b"x"), "unexpected-first", "MSG-1")]},
        {"name": "a beginning within a message", "steps": [
            step(first, outcome="keep"), wrong(part(2, 1, b"x", 9), "unexpected-first", "MSG-1")]},
        {"name": "an end without a beginning", "steps": [wrong(part(1, 2, b"x"), "missing-first", "MSG-1")]},
        {"name": "a middle without a beginning", "steps": [wrong(part(1, 0, b"x"), "missing-first", "MSG-1")]},
        {"name": "more bytes than the total, in the first part", "steps": [
            wrong(part(1, 1, b"hello!", 5), "too-many-bytes", "MSG-1")]},
        {"name": "more bytes than the total, between", "steps": [
            step(first, outcome="keep"), wrong(part(2, 0, b"llo!"), "too-many-bytes", "MSG-1")]},
        {"name": "more bytes than the total, at the end", "steps": [
            step(first, outcome="keep"), wrong(part(2, 2, b"llo!"), "too-many-bytes", "MSG-1")]},
        {"name": "fewer bytes than the total", "steps": [
            step(first, outcome="keep"), wrong(part(2, 2, b"ll"), "too-few-bytes", "MSG-1")]},
    ]


def acknowledgements():
    return {
        "valid": [{"hex": vint(n).hex(), "sequence": str(n)} for n in (1, 127, 128, 2**32, 2**53 - 1)],
        "invalid": [
            {"name": "no byte", "hex": "", "error": "malformed", "close": "protocol-error", "rule": "FRM-4"},
            {"name": "ends within", "hex": "80", "error": "malformed", "close": "protocol-error", "rule": "FRM-4"},
            {"name": "not shortest", "hex": "8100", "error": "malformed", "close": "protocol-error", "rule": "FRM-2"},
            {"name": "a byte follows", "hex": "0100", "error": "malformed", "close": "protocol-error", "rule": "FRM-4"},
        ],
    }


# --- datagrams ----------------------------------------------------------------------------------


def hkdf_label(label, context, length):
    full = b"tls13 " + label
    return struct.pack(">H", length) + bytes([len(full)]) + full + bytes([len(context)]) + context


def expand_label(secret, label, context, length):
    info = hkdf_label(label, context, length)
    return HKDFExpand(algorithm=hashes.SHA256(), length=length, info=info).derive(secret)


def keys(secret, direction, epoch):
    name = b"wb " + direction.encode()
    context = bytes([epoch])
    return {"id": expand_label(secret, name + b" id", b"\x00", 8),
            "key": expand_label(secret, name + b" key", context, 16),
            "iv": expand_label(secret, name + b" iv", context, 12)}


SECRET = bytes(range(32))


def packet(direction, epoch, counter, plaintext, secret=SECRET):
    use = keys(secret, direction, epoch)
    head = bytes([1, epoch]) + use["id"] + struct.pack(">Q", counter)
    nonce = bytes(a ^ b for a, b in zip(use["iv"], bytes(4) + struct.pack(">Q", counter)))
    return head, nonce, head + AESGCM(use["key"]).encrypt(nonce, plaintext, head)


def datagrams():
    derived = []
    for secret in (SECRET, hashlib.sha256(b"another exporter secret").digest()):
        for direction in "dl":
            for epoch in (0, 1, 255):
                use = keys(secret, direction, epoch)
                name = b"wb " + direction.encode()
                derived.append({
                    "secret": secret.hex(), "direction": direction, "epoch": epoch,
                    "idInfo": hkdf_label(name + b" id", b"\x00", 8).hex(),
                    "keyInfo": hkdf_label(name + b" key", bytes([epoch]), 16).hex(),
                    "ivInfo": hkdf_label(name + b" iv", bytes([epoch]), 12).hex(),
                    "id": use["id"].hex(), "key": use["key"].hex(), "iv": use["iv"].hex()})

    valid = []
    for name, direction, epoch, counter, plaintext in [
        ("an empty message", "d", 0, 0, b"\x00"),
        ("a short message", "d", 0, 1, b"\x00hello"),
        ("a short message from the listener", "l", 0, 1, b"\x00hello"),
        ("the next epoch", "d", 1, 0, b"\x00hello"),
        ("the last epoch", "l", 255, 7, b"\x00hello"),
        ("the last counter of an epoch", "d", 0, 2**32 - 1, b"\x00hello"),
        ("a counter over 32 bits shows how the nonce is made", "d", 0, 0x0102030405060708, b"\x00hello"),
        ("a probe", "l", 0, 2, b"\x02" + bytes(range(8))),
        ("the answer to a probe", "d", 0, 2, b"\x03" + bytes(range(8))),
        ("the longest message in one packet", "d", 0, 3, b"\x00" + pattern(1_165)),
        ("a piece", "d", 0, 4, b"\x01" + struct.pack(">IBB", 7, 1, 2) + b"the end"),
    ]:
        head, nonce, sealed = packet(direction, epoch, counter, plaintext)
        valid.append({"name": name, "secret": SECRET.hex(), "direction": direction, "epoch": epoch,
                      "counter": str(counter), "plaintext": plaintext.hex(),
                      "associatedData": head.hex(), "nonce": nonce.hex(), "packet": sealed.hex()})

    good = packet("d", 0, 5, b"\x00hello")[2]
    other = packet("d", 0, 5, b"\x00hello", hashlib.sha256(b"another exporter secret").digest())[2]

    def flip(data, index):
        out = bytearray(data)
        out[index] ^= 1
        return bytes(out)

    invalid = [
        ("no byte", b"", "length", "DGM-2"),
        ("34 bytes", good[:34], "length", "DGM-2"),
        ("1,501 bytes", packet("d", 0, 5, b"\x00" + pattern(1_466))[2], "length", "DGM-2"),
        ("version 0", b"\x00" + good[1:], "version", "DGM-2"),
        ("version 2", b"\x02" + good[1:], "version", "DGM-2"),
        ("the keys of another link", other, "key-id", "DGM-2"),
        ("sent back to its sender", packet("l", 0, 5, b"\x00hello")[2], "key-id", "DGM-2"),
        ("an epoch that is not the next", packet("d", 2, 0, b"\x00hello")[2], "epoch", "DGM-1"),
        ("another epoch in the head", flip(good, 1), "open", "DGM-2"),
        ("another counter in the head", flip(good, 17), "open", "DGM-2"),
        ("a changed byte", flip(good, 19), "open", "DGM-2"),
        ("a changed tag", flip(good, len(good) - 1), "open", "DGM-2"),
        ("a byte too few", good[:-1], "open", "DGM-2"),
        ("nothing inside", packet("d", 0, 5, b"")[2], "length", "DGM-2"),
    ]
    return {
        "keys": derived,
        "packets": {
            "valid": valid,
            "receiver": "each is given to a new receiver that expects what the dialler sends, at epoch 0",
            "invalid": [{"name": n, "secret": SECRET.hex(), "packet": p.hex(), "error": e, "rule": r}
                        for n, p, e, r in invalid],
        },
        "contents": contents(),
        "cuts": cuts(),
        "assembly": assembly(),
        "replay": replay(),
    }


def piece(ident, index, count, data, kind=1):
    return bytes([kind]) + struct.pack(">IBB", ident, index, count) + data


def contents():
    full = pattern(1_100)
    bad = [
        ("no byte", b"", "unknown-kind"),
        ("kind 6", b"\x06hello", "unknown-kind"),
        ("kind 255", b"\xff", "unknown-kind"),
        ("a piece that ends in its head", b"\x01\x00\x00\x00\x07\x00", "length"),
        ("a piece without bytes", piece(7, 1, 2, b""), "malformed-piece"),
        ("a piece of none", piece(7, 0, 0, b"x"), "malformed-piece"),
        ("the only piece of a message", piece(7, 0, 1, b"x"), "malformed-piece"),
        ("an index that is the count", piece(7, 2, 2, b"x"), "malformed-piece"),
        ("61 pieces", piece(7, 0, 61, full), "malformed-piece"),
        ("a short piece that is not the last", piece(7, 0, 2, full[:-1]), "malformed-piece"),
        ("a long piece that is not the last", piece(7, 0, 2, full + b"x"), "malformed-piece"),
        ("a long last piece", piece(7, 1, 2, full + b"x"), "malformed-piece"),
        ("a last piece beyond 65,536 bytes", piece(7, 59, 60, pattern(637)), "malformed-piece"),
        ("a last relay piece beyond 65,570 bytes", piece(7, 59, 60, pattern(671), 5), "malformed-piece"),
        ("a short probe", b"\x02" + bytes(7), "length"),
        ("a long probe", b"\x02" + bytes(9), "length"),
        ("a short answer", b"\x03", "length"),
    ]
    return {
        "valid": [
            {"name": "a message", "hex": b"\x00hello".hex(), "kind": "message", "bytes": b"hello".hex()},
            {"name": "an empty message", "hex": "00", "kind": "message", "bytes": ""},
            {"name": "a first piece", "hex": piece(0xDEADBEEF, 0, 2, full).hex(), "kind": "piece",
             "id": 0xDEADBEEF, "index": 0, "count": 2, "bytes": full.hex()},
            {"name": "a last piece of one byte", "hex": piece(1, 1, 2, b"x").hex(), "kind": "piece",
             "id": 1, "index": 1, "count": 2, "bytes": b"x".hex()},
            {"name": "the last piece of the longest message", "hex": piece(1, 59, 60, pattern(636)).hex(),
             "kind": "piece", "id": 1, "index": 59, "count": 60, "bytes": pattern(636).hex()},
            {"name": "a relay datagram", "hex": (b"\x04\x04" + bitmap([0]) + b"hi").hex(), "kind": "relay-message",
             "bytes": (b"\x04" + bitmap([0]) + b"hi").hex()},
            {"name": "the last piece of the longest relay datagram",
             "hex": piece(1, 59, 60, pattern(670), 5).hex(), "kind": "relay-piece",
             "id": 1, "index": 59, "count": 60, "bytes": pattern(670).hex()},
            {"name": "a probe", "hex": "020001020304050607", "kind": "probe", "bytes": "0001020304050607"},
            {"name": "an answer", "hex": "030001020304050607", "kind": "answer", "bytes": "0001020304050607"},
        ],
        "invalid": [{"name": n, "hex": h.hex(), "error": e, "rule": "DGM-6" if e == "malformed-piece" else "DGM-2"}
                    for n, h, e in bad],
    }


def cuts():
    out = []
    for count in (0, 1, 1_165, 1_166, 2_200, 2_201, 65_535, 65_536):
        message = pattern(count)
        if count <= 1_165:
            pieces = [b"\x00" + message]
        else:
            total = -(-count // 1_100)
            pieces = [piece(7, i, total, message[1_100 * i:1_100 * (i + 1)]) for i in range(total)]
        out.append({"length": count, "id": 7, "sha256": hashlib.sha256(message).hexdigest(),
                    "packets": [{"head": p[:1 if p[0] == 0 else 7].hex(), "plaintextLength": len(p),
                                 "sha256": hashlib.sha256(p).hexdigest()} for p in pieces]})
    return {"message": "byte i of a message is i mod 251", "valid": out,
            "invalid": [{"length": 65_537, "error": "too-long", "rule": "DGM-6"}]}


def assembly():
    """Sequences of plaintexts of kind 1, with their arrival times and outcomes."""
    two = pattern(1_200)
    a, b = piece(1, 0, 2, two[:1_100]), piece(1, 1, 2, two[1_100:])

    def step(data, now, outcome, message=None):
        entry = {"hex": data.hex(), "milliseconds": now, "outcome": outcome}
        if message is not None:
            entry["sha256"] = hashlib.sha256(message).hexdigest()
        return entry

    crowd = [step(piece(i, 1, 2, b"x"), 0, "incomplete") for i in range(2, 34)]
    return [
        {"name": "in order", "steps": [step(a, 0, "incomplete"), step(b, 1, "complete", two)]},
        {"name": "out of order", "steps": [step(b, 0, "incomplete"), step(a, 1, "complete", two)]},
        {"name": "a piece twice", "steps": [
            step(b, 0, "incomplete"), step(b, 1, "duplicate"), step(a, 2, "complete", two)]},
        {"name": "1,999 ms are not too long", "steps": [
            step(a, 5, "incomplete"), step(b, 2_004, "complete", two)]},
        {"name": "2,000 ms are", "steps": [step(a, 5, "incomplete"), step(b, 2_005, "incomplete")]},
        {"name": "another count gives the message up", "steps": [
            step(a, 0, "incomplete"), step(piece(1, 1, 3, two[:1_100]), 1, "contradiction"),
            step(b, 2, "incomplete"), step(a, 3, "complete", two)]},
        {"name": "the 33rd gives the oldest up", "steps": [
            step(a, 0, "incomplete"), *crowd, step(b, 0, "incomplete")]},
        {"name": "the 32nd does not", "steps": [
            step(a, 0, "incomplete"), *crowd[:-1], step(b, 0, "complete", two)]},
    ]


def replay():
    def run(name, *steps):
        return {"name": name, "steps": [{"counter": str(c), "taken": t} for c, t in steps]}

    top = 2**64 - 1
    return [
        run("each once", (0, True), (0, False), (1, True), (1, False), (0, False)),
        run("out of order", (5, True), (3, True), (4, True), (3, False), (0, True), (5, False)),
        run("the window's edge", (2_047, True), (0, True), (2_048, True), (0, False), (1, True), (1, False)),
        run("below the window", (5_000, True), (2_952, False), (2_953, True), (2_953, False)),
        run("a jump far ahead forgets nothing wrongly", (1, True), (1_000_000, True), (1, False),
            (997_952, False), (997_953, True), (999_999, True), (1_000_000, False)),
        run("a jump of the ring's length", (64, True), (64 + 4_096, True), (64 + 4_096 - 1, True),
            (64 + 2_049, True), (64 + 2_048, False)),
        run("the greatest counter", (top, True), (top, False), (top - 2_047, True), (top - 2_048, False)),
        run("2^32 - 1 is the last of an epoch", (2**32 - 1, True), (2**32 - 2, True), (2**32 - 1, False)),
    ]


# --- relays -------------------------------------------------------------------------------------


def bitmap(routes):
    """A set of routes in the form of SEND (11.2)."""
    data = bytearray(max(routes) // 8 + 1)
    for route in routes:
        data[route // 8] |= 1 << route % 8
    return bytes([len(data)]) + bytes(data)


def relay_messages():
    peer, incarnation = bytes(range(32)), bytes(range(100, 108))
    everyone = list(range(256))
    # The payload of ROUTE is a member (5.1).
    member = {
        "peer": base32_text(peer), "name": "Ben",
        "incarnation": base32_text(incarnation), "port": 26273, "addresses": ["192.168.1.7"], "role": "member",
    }

    def good(name, kind, head, payload=b"", **fields):
        return {"name": name, "hex": (bytes([kind]) + head + payload).hex(), "kind": kind,
                "payload": payload.hex(), **fields}

    valid = [
        good("REACH", 1, peer + incarnation, peer=peer.hex(), incarnation=incarnation.hex()),
        good("UNREACH, rerouted", 2, peer + b"\x00", peer=peer.hex(), end=0),
        good("UNREACH, too slow", 2, peer + b"\x09", peer=peer.hex(), end=9),
        good("FREE", 3, vint(0), route=0),
        good("FREE of the greatest number", 3, vint(255), route=255),
        good("SEND to one", 4, bitmap([0]), b"hello", routes=[0]),
        good("SEND to several", 4, bitmap([1, 8, 200]), b"hello", routes=[1, 8, 200]),
        good("SEND of nothing to all numbers", 4, bitmap(everyone), b"", routes=everyone),
        good("CONFIRM", 5, bitmap([3, 4]) + vint(300), routes=[3, 4], token="300"),
        good("CONFIRMED", 6, vint(128) + vint(2**53 - 1), route=128, token=str(2**53 - 1)),
        good("ROUTE", 16, vint(7), json.dumps(member, separators=(",", ":")).encode(), route=7),
        good("UNROUTE, lost", 17, vint(7) + b"\x06", route=7, end=6),
        good("FROM", 18, vint(200), b"hello", route=200),
        good("FROM with nothing", 18, vint(0), route=0),
        good("CONFIRMING", 19, vint(1) + vint(0), route=1, token="0"),
        good("CONFIRMATION", 20, vint(1) + vint(127), route=1, token="127"),
    ]
    bad = [
        ("no byte", b"", "unknown-kind"),
        ("kind 0", b"\x00", "unknown-kind"),
        ("kind 7", b"\x07", "unknown-kind"),
        ("kind 21", b"\x15", "unknown-kind"),
        ("half a peer", b"\x01" + peer[:31], "malformed"),
        ("half an incarnation", b"\x01" + peer + incarnation[:7], "malformed"),
        ("a byte behind REACH", b"\x01" + peer + incarnation + b"\x00", "malformed"),
        ("UNREACH without a reason", b"\x02" + peer, "malformed"),
        ("FREE without a number", b"\x03", "malformed"),
        ("number 256", b"\x03" + vint(256), "malformed"),
        ("a number that is not shortest", b"\x03\x81\x00", "malformed"),
        ("SEND without a bitmap", b"\x04", "malformed"),
        ("a bitmap of no bytes", b"\x04\x00hello", "malformed"),
        ("a bitmap of 33 bytes", b"\x04\x21" + b"\x01" * 33, "malformed"),
        ("a bitmap whose last byte is zero", b"\x04\x02\x01\x00hello", "malformed"),
        ("a bitmap that ends within", b"\x04\x03\x01\x01", "malformed"),
        ("CONFIRM without a token", b"\x05" + bitmap([0]), "malformed"),
        ("a token of 2^53", b"\x05" + bitmap([0]) + vint(2**53), "malformed"),
        ("UNROUTE without a reason", b"\x11" + vint(7), "malformed"),
        ("FROM without a number", b"\x12", "malformed"),
        ("a byte behind CONFIRMATION", b"\x14" + vint(1) + vint(1) + b"\x00", "malformed"),
    ]
    return {"valid": valid,
            "invalid": [{"name": n, "hex": h.hex(), "error": e, "close": "protocol-error", "rule": "RLY-5"}
                        for n, h, e in bad]}


# --- control payloads ---------------------------------------------------------------------------


def control():
    deep = 16
    valid = [
        ("an empty object", b"{}"),
        ("white space everywhere", b" \t\r\n{ \"a\" : [ ] , \"b\" : { } } \n"),
        ("every kind of value", b'{"a":null,"b":true,"c":false,"d":0,"e":-1.5e+10,"f":"x","g":[1,2],"h":{}}'),
        ("every escape", br'{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\udd8d"}'),
        ("text of two, three and four bytes", '{"\u00e9":"\u6f22\U0001f58d"}'.encode()),
        ("the greatest and the least of each UTF-8 length",
         '{"a":"\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"}'.encode()),
        ("16 levels", b'{"a":' + b"[" * (deep - 1) + b"]" * (deep - 1) + b"}"),
        ("16 levels twice", b'{"a":' + b"[" * 15 + b"]" * 15 + b',"b":' + b"[" * 15 + b"]" * 15 + b"}"),
        ("one key in two objects", b'{"a":{"a":1},"b":{"a":1}}'),
        ("keys that differ in case", b'{"a":1,"A":2}'),
        ("keys that are only canonically equivalent", '{"\u00e9":1,"e\u0301":2}'.encode()),
        ("2^53 - 1", b'{"a":9007199254740991}'),
        ("an unknown key", b'{"zzz":[{}]}'),
    ]
    invalid = [
        ("no byte", b"", "truncated"),
        ("white space alone", b" ", "truncated"),
        ("a byte order mark", b"\xef\xbb\xbf{}", "not-an-object"),
        ("an array", b"[]", "not-an-object"),
        ("a string", b'"a"', "not-an-object"),
        ("null", b"null", "not-an-object"),
        ("two objects", b"{}{}", "trailing-bytes"),
        ("a NUL behind", b"{}\x00", "trailing-bytes"),
        ("17 levels", b'{"a":' + b"[" * 16 + b"]" * 16 + b"}", "too-deep"),
        ("17 levels that never end", b'{"a":' * 17, "too-deep"),
        ("a key twice", b'{"a":1,"a":1}', "duplicate-key"),
        ("a key twice, once escaped", br'{"a":1,"\u0061":1}', "duplicate-key"),
        ("a key twice, once as a surrogate pair", '{"\U0001f58d":1,"'.encode() + br'\ud83d\udd8d":1}', "duplicate-key"),
        ("an empty key twice", b'{"":1,"":1}', "duplicate-key"),
        ("a key twice, deeper", b'{"a":[{"b":1,"c":2,"b":3}]}', "duplicate-key"),
        ("a key twice with an object between", b'{"a":{"b":1},"b":1,"a":2}', "duplicate-key"),
        ("a lone continuation byte", b'{"a":"\x80"}', "invalid-utf8"),
        ("an overlong slash", b'{"a":"\xc0\xaf"}', "invalid-utf8"),
        ("an overlong form of three bytes", b'{"a":"\xe0\x80\xaf"}', "invalid-utf8"),
        ("a surrogate in UTF-8", b'{"a":"\xed\xa0\x80"}', "invalid-utf8"),
        ("over U+10FFFF", b'{"a":"\xf4\x90\x80\x80"}', "invalid-utf8"),
        ("a sequence cut short", b'{"a":"\xe6\xbc"}', "invalid-utf8"),
        ("bad UTF-8 in a key", b'{"\xff":1}', "invalid-utf8"),
        ("ends within a sequence", b'{"a":"\xe6\xbc', "truncated"),
        ("ends within a key", b'{"a', "truncated"),
        ("ends within an escape", b'{"a":"\\u00', "truncated"),
        ("ends within a number", b'{"a":-', "truncated"),
        ("ends within a literal", b'{"a":tru', "truncated"),
        ("ends before the brace", b'{"a":1', "truncated"),
        ("a bare newline in a string", b'{"a":"\n"}', "malformed-string"),
        ("a bare NUL in a string", b'{"a":"\x00"}', "malformed-string"),
        ("an unknown escape", br'{"a":"\x41"}', "malformed-string"),
        ("a bad hexadecimal digit", br'{"a":"\u00g0"}', "malformed-string"),
        ("a lone high surrogate", br'{"a":"\ud83d"}', "malformed-string"),
        ("a lone low surrogate", br'{"a":"\udd8d"}', "malformed-string"),
        ("a high surrogate and a letter", br'{"a":"\ud83d\u0041"}', "malformed-string"),
        ("a comma at the end", b'{"a":1,}', "malformed"),
        ("a comma at the end of an array", b'{"a":[1,]}', "malformed"),
        ("a comma at the start", b'{,"a":1}', "malformed"),
        ("no comma", b'{"a":1 "b":2}', "malformed"),
        ("no colon", b'{"a" 1}', "malformed"),
        ("no value", b'{"a":}', "malformed"),
        ("a bare key", b"{a:1}", "malformed"),
        ("single quotes", b"{'a':1}", "malformed"),
        ("a comment", b'{/**/"a":1}', "malformed"),
        ("the wrong bracket", b'{"a":[1}', "malformed"),
        ("a leading zero", b'{"a":01}', "malformed"),
        ("a leading plus", b'{"a":+1}', "malformed"),
        ("no digit before the point", b'{"a":.5}', "malformed"),
        ("no digit behind the point", b'{"a":1.}', "malformed"),
        ("no digit in the exponent", b'{"a":1e}', "malformed"),
        ("NaN", b'{"a":NaN}', "malformed"),
        ("Infinity", b'{"a":-Infinity}', "malformed"),
        ("a literal in capitals", b'{"a":True}', "malformed"),
        ("a literal with more", b'{"a":nulls}', "malformed"),
    ]
    return {
        "valid": [{"name": n, "hex": d.hex()} for n, d in valid],
        "invalid": [{"name": n, "hex": d.hex(), "error": e, "close": "protocol-error", "rule": "FRM-5"}
                    for n, d, e in invalid],
    }


def closes():
    codes = {
        "never": "kicked declined self",
        "after-restart": "left shutting-down disconnected version-mismatch not-carried not-attached protocol-error "
                         "unknown-frame too-large",
        "with-proof": "withdrawn wrong-code not-known not-verified",
        "later": "timed-out busy locked-out unknown-admitter too-slow too-fast internal-error full no-such-session",
        "not-applicable": "duplicate-link replaced",
    }
    return ([{"code": code, "redial": redial} for redial, names in codes.items() for code in names.split()]
            + [{"code": c, "redial": "later", "treatedAs": "internal-error"} for c in ("", "LEFT", "no-such-code")])


# --- resumption ---------------------------------------------------------------------------------


def resumption():
    """The delivery state in HELLO and ACCEPT, and the listener's answer to it (3.4)."""
    dialler, other, listener = "aaaaaaaaaaaac", "aaaaaaaaaaaae", "aaaaaaaaaaaag"
    hello = {
        "protocol": [1, 1], "session": "aaaqeayeaudaocajbifqydiob4", "name": "Ben",
        "incarnation": dialler, "port": 0, "addresses": [], "role": "member", "links": 4,
    }
    accept = {"host": "a" * 52, "maximum": 16, "members": []}

    def resume(received=7, since=2, **more):
        value = {"incarnation": listener, "received": received}
        return {"resume": {**value, **({} if since is None else {"since": since}), **more}}

    def text(base, more):
        return json.dumps({**base, **more}, separators=(",", ":"))

    hellos = [
        ("neither", {}),
        ("resume", resume()),
        ("resume without since", resume(since=None)),
        ("since is null", {"resume": {**resume(since=None)["resume"], "since": None}}),
        ("ended is null", resume() | {"ended": None}),
        ("resume is null", {"resume": None}),
        ("nothing received yet", resume(received=0, since=1)),
        ("the greatest numbers", resume(received=2**53 - 1, since=2**53 - 1)),
        ("ended", {"ended": "lost"}),
        ("an empty ended", {"ended": ""}),
        ("ended of 64 bytes", {"ended": "\u00e9" * 32}),
        ("both", resume() | {"ended": "too-slow"}),
    ]
    bad_hellos = [
        ("since is 0", resume(since=0)),
        ("since is negative", resume(since=-1)),
        ("since is 2^53", resume(since=2**53)),
        ("since is a text", resume(since="2")),
        ("since has a fraction", resume(since=2.5)),
        ("received is missing", {"resume": {"incarnation": listener, "since": 2}}),
        ("received is negative", resume(received=-1)),
        ("incarnation is missing", {"resume": {"received": 7, "since": 2}}),
        ("incarnation of 12 characters", resume(incarnation="aaaaaaaaaaaa")),
        ("resume is an array", {"resume": []}),
        ("ended of 65 bytes", {"ended": "x" * 65}),
        ("ended is a number", {"ended": 1}),
    ]
    accepts = [
        ("begins anew", {}),
        ("resumes", {"resume": {"received": 9}}),
        ("begins anew, and says why", {"ended": "lost"}),
    ]
    bad_accepts = [
        ("received is missing", {"resume": {}}),
        ("received is 2^53", {"resume": {"received": 2**53}}),
        ("ended of 65 bytes", {"ended": "x" * 65}),
    ]
    held = {"incarnation": dialler, "since": 2, "sent": 7}
    cases = [
        ("it holds the same state", held, resume(), "resumes", "RSM-2"),
        ("without since any state is meant", held, resume(since=None), "resumes", "RSM-5"),
        ("the dialler took less than was sent", held, resume(received=0), "resumes", "RSM-2"),
        ("the dialler does not ask for it", held, {}, "begins", "RSM-3"),
        ("it holds no state", None, resume(), "begins", "RSM-3"),
        ("its state began with a later link", held | {"since": 3}, resume(), "begins", "RSM-5"),
        ("its state began with an earlier link", held | {"since": 1}, resume(), "begins", "RSM-5"),
        ("its state is with another incarnation of the dialler", held | {"incarnation": other}, resume(), "begins", "RSM-2"),
        ("another incarnation of the listener is meant", held, resume(incarnation=other), "begins", "RSM-2"),
        ("ended beside a resume that is answered means nothing", held, resume() | {"ended": "lost"}, "resumes", "RSM-6"),
        ("the dialler took more than was sent", held, resume(received=8), "protocol-error", "RSM-2"),
        ("the dialler took more than was sent of older state", held | {"since": 3}, resume(received=8), "begins", "RSM-5"),
    ]

    def shown(more):
        resumed = more.get("resume")
        return {
            "resume": None if resumed is None else {"since": None, **resumed},
            "ended": more.get("ended"),
        }

    return {
        "listener": listener,
        "hellos": {
            "valid": [{"name": n, "text": text(hello, m), **shown(m)} for n, m in hellos],
            "invalid": [{"name": n, "text": text(hello, m), "error": "out-of-range", "close": "protocol-error", "rule": "FRM-5"}
                        for n, m in bad_hellos],
        },
        "accepts": {
            "valid": [{"name": n, "text": text(accept, m), "received": (m.get("resume") or {}).get("received"),
                       "ended": m.get("ended")} for n, m in accepts],
            "invalid": [{"name": n, "text": text(accept, m), "error": "out-of-range", "close": "protocol-error", "rule": "FRM-5"}
                        for n, m in bad_accepts],
        },
        "cases": [{"name": n, "held": h, "hello": text(hello, m), "answer": a, "rule": r} for n, h, m, a, r in cases],
    }


def main():
    document = {
        "specification": "Protocol/session.md, version 1",
        "notation": "hex is lower case; integers that may exceed 2^53 - 1 are decimal text",
        "vint": integers(),
        "base32": base32(),
        "frames": frames(),
        "control": control(),
        "closeCodes": closes(),
        "messageParts": message_parts(),
        "messageSequences": message_sequences(),
        "acknowledgements": acknowledgements(),
        "datagrams": datagrams(),
        "relayMessages": relay_messages(),
        "resumption": resumption(),
    }
    write_or_check({TARGET: json.dumps(document, indent=1) + "\n"})


if __name__ == "__main__":
    main()
