#!/usr/bin/python3
"""Writes Protocol/Vectors/web.json from Protocol/web.md alone.

This script does not call the Swift code or the page's scripts: it computes everything with the standard library and
`cryptography` (Debian's python3-cryptography). ECDSA signatures are not repeatable, so --check verifies the signature
in the file instead of creating a new one.

  make_web_vectors.py           writes the file
  make_web_vectors.py --check   compares it, and fails on a difference
"""

import hashlib
import hmac

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from make_admission_vectors import base32, counted, peer, peer_id, private_key, spki
from vector_file import PROTOCOL, write_or_check_signed

TARGET = PROTOCOL / "Vectors" / "web.json"
ORIGIN = "https://192.168.1.5:26443"
GUEST, GATEWAY = private_key("web guest"), private_key("web gateway")
BOARD, SECRET = counted("web board", 16), counted("web secret", 16)
NONCES = counted("web gateway nonce", 32), counted("web guest nonce", 32)


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def code_key(secret, board):
    return sha256(b"whiteboard-p2p web key 1\0" + secret + board)


def links():
    def valid(secret, board):
        return {
            "fragment": f"#{base32(board)}.{base32(secret)}", "board": board.hex(), "secret": secret.hex(),
            "K": code_key(secret, board).hex(),
        }

    good = valid(SECRET, BOARD)["fragment"]
    return {
        "valid": [valid(SECRET, BOARD), valid(bytes(16), b"\xff" * 16)],
        "invalid": [
            {"name": "empty", "fragment": ""},
            {"name": "a sign alone", "fragment": "#"},
            {"name": "without a secret", "fragment": good.split(".")[0]},
            {"name": "a secret that is too short", "fragment": good[:-1]},
            {"name": "a secret that is too long", "fragment": good + "a"},
            {"name": "capitals", "fragment": good.upper()},
            {"name": "a space", "fragment": good + " "},
            {"name": "bits left over in the secret", "fragment": good[:-1] + "b"},
            {"name": "bits left over in the board", "fragment": good[:26] + "b" + good[27:]},
            {"name": "a dash instead of the dot", "fragment": good.replace(".", "-")},
        ],
    }


def exporter_secret(nonces, gateway, guest):
    return sha256(b"whiteboard-p2p web exporter 1\0" + b"".join(nonces) + gateway + guest)


def exporter(secret, label):
    return {"label": label, "output": hmac256(secret, label.encode()).hex()}


def is_valid(signature, data):
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        GUEST.public_key().verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def proof(previous):
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    data = b"whiteboard-p2p web proof 1\0" + b"".join(NONCES) + gateway + guest + ORIGIN.encode()
    signature = bytes.fromhex((previous or {}).get("proof", {}).get("signature", "00" * 64))
    if not is_valid(signature, data):
        r, s = utils.decode_dss_signature(GUEST.sign(data, ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert is_valid(signature, data)
    secret = exporter_secret(NONCES, gateway, guest)
    return {
        "origin": ORIGIN, "gatewayNonce": NONCES[0].hex(), "guestNonce": NONCES[1].hex(), "gateway": gateway.hex(),
        "guest": guest.hex(), "key": spki(GUEST).hex(), "input": data.hex(), "signature": signature.hex(),
        "E": secret.hex(),
        "exporter": [exporter(secret, f"EXPORTER-whiteboard-p2p {use}") for use in ("binding", "attach")],
    }


def code_proof():
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    secret = exporter_secret(NONCES, gateway, guest)
    binding = bytes.fromhex(exporter(secret, "EXPORTER-whiteboard-p2p binding")["output"])
    key = code_key(SECRET, BOARD)
    vector = {
        "K": key.hex(), "session": BOARD.hex(), "guest": guest.hex(), "gateway": gateway.hex(),
        "binding": binding.hex(),
    }
    for who in ("joiner", "host"):
        data = f"whiteboard-p2p code 1 {who}".encode() + b"\0" + binding + BOARD + guest + gateway
        vector[who] = {"input": data.hex(), "proof": hmac256(key, data).hex()}
    return vector


def attach_proof():
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    label = "EXPORTER-whiteboard-p2p attach"
    control = bytes.fromhex(exporter(exporter_secret(NONCES, gateway, guest), label)["output"])
    nonces = counted("web bulk gateway nonce", 32), counted("web bulk guest nonce", 32)
    bulk = bytes.fromhex(exporter(exporter_secret(nonces, gateway, guest), label)["output"])
    data = b"whiteboard-p2p attach 1\0" + bulk
    return {
        "gatewayNonce": nonces[0].hex(), "guestNonce": nonces[1].hex(), "control": control.hex(), "bulk": bulk.hex(),
        "proof": hmac256(control, data).hex(),
    }


def build(previous):
    return {
        "specification": "Protocol/web.md",
        "notation": "hex; base32 in fragments",
        "peers": [peer("guest", GUEST), peer("gateway", GATEWAY)],
        "links": links(),
        "proof": proof(previous),
        "codeProof": code_proof(),
        "attachProof": attach_proof(),
    }


if __name__ == "__main__":
    write_or_check_signed(TARGET, build)
