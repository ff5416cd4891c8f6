#!/usr/bin/python3
"""Writes Protocol/Vectors/admission.json from sections 1.1, 4, 5.2 and 5.3 of Protocol/session.md alone.

This script does not call the Swift code: it computes everything with the standard library and
`cryptography` (Debian's python3-cryptography). ECDSA signatures are not repeatable, so --check
verifies the ticket in the file instead of creating a new one.

  make_admission_vectors.py           writes the file
  make_admission_vectors.py --check   compares it, and fails on a difference
"""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from vector_file import PROTOCOL, write_or_check_signed

TARGET = PROTOCOL / "Vectors" / "admission.json"
WORDS = (PROTOCOL / "Words.txt").read_text().split()


def counted(name, count):
    """Bytes that depend only on a name, so that the file is the same each time."""
    out = b""
    number = 0
    while len(out) < count:
        out += hashlib.sha256(f"vector {name} {number}".encode()).digest()
        number += 1
    return out[:count]


def base32(data):
    return base64.b32encode(data).decode().lower().rstrip("=")


def words(data, count):
    bits = int.from_bytes(data, "big")
    length = len(data) * 8
    return [WORDS[bits >> (length - 11 * (i + 1)) & 0x7FF] for i in range(count)]


# --- 1.1 exporter ---------------------------------------------------------------------------------


def expand_label(algorithm, secret, label, context, length):
    full = b"tls13 " + label.encode()
    info = length.to_bytes(2, "big") + bytes([len(full)]) + full + bytes([len(context)]) + context
    return HKDFExpand(algorithm=algorithm, length=length, info=info).derive(secret)


def exporter(name, secret, label, length=32, client_random=None):
    algorithm = {32: hashes.SHA256(), 48: hashes.SHA384()}[len(secret)]
    empty = hashlib.new({32: "sha256", 48: "sha384"}[len(secret)]).digest()
    derived = expand_label(algorithm, secret, label, empty, len(empty))
    return {
        "name": name,
        "keyLogLine": f"EXPORTER_SECRET {(client_random or counted('client random', 32)).hex()} "
                      f"{secret.hex()}",
        "secret": secret.hex(),
        "label": label,
        "length": length,
        "derived": derived.hex(),
        "output": expand_label(algorithm, derived, "exporter", empty, length).hex(),
    }


LABELS = [f"EXPORTER-whiteboard-p2p {use}" for use in ("binding", "attach", "datagram")]


# Two real handshakes of `openssl s_client -keylogfile FILE -keymatexport LABEL`: the client random, the
# exporter secret, and the value that OpenSSL exported for the label of the binding.
OPENSSL = {
    "OpenSSL, TLS_AES_128_GCM_SHA256": (
        "b0249af3fe13e2f8c06fe524157564a4e2911a51adf263d376a67b354061474e",
        "ebf99247fbd2900e0c3ecd2199a057bbf5398a22dc19985b5c883a39989bcf1a",
        "ed2ad4ce3d0c2898ca38171cc1329e13248d8af7848984c56f2b90ce7d5819f4"),
    "OpenSSL, TLS_AES_256_GCM_SHA384": (
        "ca90fc7639ac7021819ae79bcab835f118ab6333d984d1f6051bde0e00008df6",
        "aec05123ec93f93b3adb4f8a79ac6660ad8888babbe77e771d9ddce96dec1702"
        "da6db28b2b217422d5c86f43c287757c",
        "1ba5e627d59f6f89626c8f1b51ee07d5f960ef8e809a66385223bcf3a699f346"),
}


def exporters():
    real = []
    for name, (client_random, secret, output) in OPENSSL.items():
        real.append(exporter(name, bytes.fromhex(secret), LABELS[0],
                             client_random=bytes.fromhex(client_random)))
        assert real[-1]["output"] == output, name
    return real + [
        exporter(f"{'SHA-256' if size == 32 else 'SHA-384'}, {label.split()[-1]}",
                 counted(f"exporter secret {size}", size), label)
        for size in (32, 48)
        for label in LABELS
    ]


# --- identities -----------------------------------------------------------------------------------


def private_key(name):
    # Any number from 1 to the order of the curve minus 1 is a key, so each hash of 31 bytes is a key.
    return ec.derive_private_key(int.from_bytes(counted(name, 31), "big") + 1, ec.SECP256R1())


def spki(key):
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def peer_id(key):
    return hashlib.sha256(spki(key)).digest()


def pkcs8(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()).decode()


DIALLER = private_key("dialler")
LISTENER = private_key("listener")
SESSION = counted("session", 16)
BINDING = bytes.fromhex(exporters()[2]["output"])


def peer(name, key):
    return {
        "name": name, "privateKey": pkcs8(key), "spki": spki(key).hex(),
        "peerID": peer_id(key).hex(), "text": base32(peer_id(key)),
    }


# --- 4.2 code -------------------------------------------------------------------------------------


def code_proof(code, session, binding, dialler, listener):
    salt = session + listener
    key = hashlib.scrypt(
        code.encode(), salt=salt, n=32768, r=8, p=1, maxmem=64 * 1024 * 1024, dklen=32)
    vector = {
        "code": code, "session": session.hex(), "dialler": dialler.hex(),
        "listener": listener.hex(), "binding": binding.hex(), "salt": salt.hex(), "K": key.hex(),
    }
    for who in ("joiner", "host"):
        data = (f"whiteboard-p2p code 1 {who}".encode() + b"\0" + binding + session + dialler
                + listener)
        vector[who] = {
            "input": data.hex(), "proof": hmac.new(key, data, hashlib.sha256).hexdigest(),
        }
    return vector


def code_proofs():
    dialler, listener = peer_id(DIALLER), peer_id(LISTENER)
    return [
        code_proof("-".join(words(counted("code", 6), 4)), SESSION, BINDING, dialler, listener),
        code_proof("abandon-ability-zone-zoo", bytes(16), bytes(32), bytes(32), b"\xff" * 32),
    ]


def typed_codes():
    wanted = "abandon-ability-zone-zoo"
    return {
        "valid": [
            {"typed": typed, "code": wanted}
            for typed in (
                wanted, "abandon ability zone zoo", "  Abandon--ABILITY - zone\tzoo\n",
                "abandon\u2013ability\u2014zone\u00a0zoo",
                "abandon\u2011ability\u2212zone\u00adzoo", "abandon\uff0dability\u301czone\u3000zoo",
                "-abandon\u2010ability\u205fzone\r\nzoo-", "Abandon \u2015 Ability \u2e3a Zone \u0085 Zoo",
                "abandon_ability_zone_zoo", "abandon, ability, zone, zoo.", "abandon/ability:zone;zoo",
                "\"abandon ability zone zoo\"", "\u201cabandon-ability-zone-zoo\u201d", "\u00ab abandon ability zone zoo \u00bb",
                "\u2039abandon\u3001ability\uff0czone\u3002zoo\u203a", "\ufeffabandon\u200bability zone zoo\u2060",
            )
        ],
        "invalid": [
            {"typed": "abandon-ability-zone", "error": "wrong-count"},
            {"typed": "", "error": "wrong-count"},
            {"typed": "abandon" + " " * 300 + "ability zone zoo", "error": "too-long"},
            {"typed": "abandon+ability+zone+zoo", "error": "unknown-word", "word": "abandon?ability?zone?zoo"},
            {"typed": "abandon\u00b7ability zone zoo", "error": "unknown-word", "word": "abandon?ability"},
            {"typed": "abandon\U00010d6eability zone zoo", "error": "unknown-word", "word": "abandon?ability"},
            {"typed": "\u212aitchen ability zone zoo", "error": "unknown-word", "word": "\u212aitchen"},
            {"typed": "abandon-ability-zone-zoo-zoo", "error": "wrong-count"},
            {"typed": "abandon-ability-zonne-zoo", "error": "unknown-word", "word": "zonne",
             "nearest": "zone"},
            {"typed": "abandon-abilty-zone-zoo", "error": "unknown-word", "word": "abilty",
             "nearest": "ability"},
        ],
    }


# --- 4.3 short words ------------------------------------------------------------------------------


def short_words(name, binding, nonce_d, nonce_l, session, dialler, listener):
    commit = hashlib.sha256(
        b"whiteboard-p2p sas commit 1" + b"\0" + binding + nonce_d).digest()
    data = b"whiteboard-p2p sas 1" + b"\0" + nonce_d + nonce_l + session + dialler + listener
    secret = hmac.new(binding, data, hashlib.sha256).digest()
    return {
        "name": name, "binding": binding.hex(), "nonceD": nonce_d.hex(), "nonceL": nonce_l.hex(),
        "session": session.hex(), "dialler": dialler.hex(), "listener": listener.hex(),
        "commit": commit.hex(), "input": data.hex(), "S": secret.hex(), "words": words(secret, 3),
    }


def all_short_words():
    ids = (SESSION, peer_id(DIALLER), peer_id(LISTENER))
    return [
        short_words("plain", BINDING, counted("nonce d", 32), counted("nonce l", 32), *ids),
        short_words("another connection, all else equal", counted("other binding", 32),
                    counted("nonce d", 32), counted("nonce l", 32), *ids),
    ]


# --- 5.2 ticket -----------------------------------------------------------------------------------


def ticket_input(session, admitter, member):
    return b"whiteboard-p2p ticket 1" + b"\0" + session + admitter + member


def tickets(previous):
    admitter, member = peer_id(LISTENER), peer_id(DIALLER)
    data = ticket_input(SESSION, admitter, member)
    signature = None
    for vector in (previous or {}).get("tickets", []):
        if vector["name"] == "good" and vector["input"] == data.hex():
            signature = base64.b64decode(vector["ticket"]["signature"])
    if signature is None:
        signature = LISTENER.sign(data, ec.ECDSA(hashes.SHA256()))
    LISTENER.public_key().verify(signature, data, ec.ECDSA(hashes.SHA256()))

    def vector(name, expected, ticket=None, session=SESSION, dialler=member, known=True):
        ticket = ticket or good
        named = base64.b32decode(ticket["admitter"].upper() + "====")
        return {
            "name": name, "expected": expected, "session": session.hex(),
            "dialler": dialler.hex(), "admitterIsKnown": known,
            "input": ticket_input(session, named, dialler).hex(), "ticket": ticket,
        }

    good = {
        "admitter": base32(admitter), "key": base64.b64encode(spki(LISTENER)).decode(),
        "signature": base64.b64encode(signature).decode(),
    }
    # The dialler admitted a third peer, and the dialler's own ticket leads to the listener (TCK-3).
    third = counted("third peer", 32)
    onward = ticket_input(SESSION, member, third)
    further = None
    for old in (previous or {}).get("tickets", []):
        if old["input"] == onward.hex() and old["expected"] == "valid":
            further = base64.b64decode(old["ticket"]["signature"])
    if further is None:
        further = DIALLER.sign(onward, ec.ECDSA(hashes.SHA256()))
    DIALLER.public_key().verify(further, onward, ec.ECDSA(hashes.SHA256()))
    chained = {
        "admitter": base32(member), "key": base64.b64encode(spki(DIALLER)).decode(),
        "signature": base64.b64encode(further).decode(), "via": [good],
    }

    def chain(name, expected, ticket, known):
        return {
            "name": name, "expected": expected, "session": SESSION.hex(), "dialler": third.hex(),
            "knownAdmitters": [base32(peer) for peer in known], "admitterIsKnown": member in known,
            "input": onward.hex(), "ticket": ticket,
        }

    broken = bytearray(signature)
    broken[-1] ^= 1
    return [
        vector("good", "valid"),
        vector("from a member that is not known", "unknown-admitter", known=False),
        vector("for another session", "protocol-error", session=counted("other session", 16)),
        vector("brought by another peer", "protocol-error", dialler=counted("other peer", 32)),
        vector("a signature with one bit changed", "protocol-error",
               good | {"signature": base64.b64encode(broken).decode()}),
        vector("the key of another peer", "protocol-error",
               good | {"key": base64.b64encode(spki(DIALLER)).decode()}),
        vector("another admitter than the key's", "protocol-error",
               good | {"admitter": base32(member)}),
        chain("by way of a member that is not known, to one that is", "valid", chained, [admitter]),
        chain("by way of members of whom none is known", "unknown-admitter", chained, []),
        chain("a chain with a broken signature behind a member that is known", "valid",
              chained | {"via": [good | {"signature": base64.b64encode(broken).decode()}]}, [member]),
        chain("a chain with a broken signature before a member that is known", "protocol-error",
              chained | {"via": [good | {"signature": base64.b64encode(broken).decode()}]}, [admitter]),
        chain("a chain whose parts do not fit together", "protocol-error",
              chained | {"via": [good | {"admitter": base32(member)}]}, [admitter]),
    ]


def named_session(host, salt):
    return salt + hashlib.sha256(b"whiteboard-p2p host 1\0" + salt + host).digest()[:10] + b"ho"


def named_sessions():
    host, other = peer_id(LISTENER), peer_id(DIALLER)
    named = named_session(host, counted("salt", 4))
    changed = bytearray(named)
    changed[9] ^= 1
    cases = [
        ("the host", named, host, True),
        ("another peer", named, other, False),
        ("a changed id", bytes(changed), host, False),
        ("the id of an owned board", b"ow" + named[2:], host, False),
        ("an id that is computed, but begins like that of an owned board", named_session(host, b"ow\0\0"), host, False),
        ("an id of an earlier program", SESSION, host, False),
    ]
    return [
        {"name": name, "session": session.hex(), "peer": peer.hex(), "isNamed": is_named}
        for name, session, peer, is_named in cases
    ]


def build(previous):
    return {
        "specification": "Protocol/session.md 1.1, 4.1 to 4.3, 5.2, 5.3",
        "notation": "hex, but for base64 and base32 inside tickets as they are on the wire",
        "peers": [peer("dialler", DIALLER), peer("listener", LISTENER)],
        "exporter": exporters(),
        "words": [
            {"bytes": data.hex(), "words": words(data, count)}
            for data, count in (
                (bytes(6), 4), (b"\xff" * 6, 4), (counted("words", 32), 3),
                (bytes([0, 0x20, 4, 0, 0x80, 16]), 4),
            )
        ],
        "typedCodes": typed_codes(),
        "codeProof": code_proofs(),
        "shortWords": all_short_words(),
        "tickets": tickets(previous),
        "namedSessions": named_sessions(),
    }


if __name__ == "__main__":
    write_or_check_signed(TARGET, build)
