"""ECDSA on P-256 with deterministic signatures (RFC 6979), for vectors that are the same each time.

It is slow and does not run in constant time, so use it only for keys that are public."""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric import ec

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def _add(one, two):
    if one is None or two is None:
        return one or two
    (x1, y1), (x2, y2) = one, two
    if x1 == x2:
        if (y1 + y2) % P == 0:
            return None
        slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) % P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, P) % P
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def _times(number):
    result, power = None, G
    while number:
        if number & 1:
            result = _add(result, power)
        power = _add(power, power)
        number >>= 1
    return result


def key_named(name):
    """Returns the private key derived from a name."""
    hashed = int.from_bytes(hashlib.sha256(f"vector key {name}".encode()).digest(), "big")
    return ec.derive_private_key(hashed % (N - 1) + 1, ec.SECP256R1())


def _nonces(secret, hashed):
    """Returns the nonce of RFC 6979, section 3.2."""
    seed = secret.to_bytes(32, "big") + (hashed % N).to_bytes(32, "big")
    key, value = bytes(32), b"\1" * 32
    for mark in (b"\0", b"\1"):
        key = hmac.digest(key, value + mark + seed, "sha256")
        value = hmac.digest(key, value, "sha256")
    while True:
        value = hmac.digest(key, value, "sha256")
        nonce = int.from_bytes(value, "big")
        if 0 < nonce < N:
            yield nonce
        key = hmac.digest(key, value + b"\0", "sha256")
        value = hmac.digest(key, value, "sha256")


def sign(key, text):
    """Returns the 64 bytes of a signature (AUT-1)."""
    secret = key.private_numbers().private_value
    hashed = int.from_bytes(hashlib.sha256(text).digest(), "big")
    for nonce in _nonces(secret, hashed):
        r = _times(nonce)[0] % N
        s = pow(nonce, -1, N) * (hashed + r * secret) % N
        if r and s:
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
