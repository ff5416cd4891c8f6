"""The host's statement that nothing of some incarnations counts (board.md, Retirement)."""

import struct
from typing import NamedTuple

from . import admission, owned
from .cells import BoardError
from .codec import Reader
from .wire import encode_vint

MAXIMUM_INCARNATIONS, MAXIMUM_RETIREMENTS = 4096, 256
DOMAIN = b"whiteboard-retirement-1\n"
SALT = 8


class Retirement(NamedTuple):
    """A retirement (AUT-17)."""

    board: bytes
    incarnations: tuple
    host: bytes
    salt: bytes
    body: bytes
    signature: bytes

    @property
    def data(self):
        return self.body + self.signature


def retirement_body(board, incarnations, host, salt=b""):
    body = b"\1" + board + encode_vint(len(incarnations))
    body += b"".join(struct.pack(">Q", one) for one in incarnations)
    return body + host + encode_vint(len(salt)) + salt


def make_retirement(key, host, board, incarnations, sign, salt=b""):
    """Creates a retirement. `key` is the private key of the host, and `host` its public key."""
    body = retirement_body(board, sorted(incarnations), host, salt)
    return body + sign(key, DOMAIN + body)


def decode_retirement(data):
    """Decodes a retirement without verifying it."""
    reader = Reader(data)
    if reader.u8() != 1:
        raise BoardError("reserved", "the version of a retirement")
    named = bytes(reader.take(16))
    count = reader.count(MAXIMUM_INCARNATIONS)
    if count == 0:
        raise BoardError("limit", "a retirement of nothing")
    incarnations = []
    for _ in range(count):
        incarnation = reader.incarnation()
        if incarnations and incarnation <= incarnations[-1]:
            raise BoardError("canonical", "incarnations that do not ascend")
        incarnations.append(incarnation)
    host = bytes(reader.take(65))
    is_owned = owned.is_owned(named)
    if reader.varint() != (SALT if is_owned else 0):
        raise BoardError("reserved", "the size of a salt")
    salt = bytes(reader.take(SALT if is_owned else 0))
    body = bytes(data[: reader.at])
    signature = bytes(reader.take(64))
    reader.end()
    return Retirement(named, tuple(incarnations), host, salt, body, signature)


def read_retirement(data, board, verify, key_of, member_of):
    """Decodes and verifies a retirement for `board`."""
    one = decode_retirement(data)
    if one.board != board:
        raise BoardError("wrong-board")
    key_of(one.host)
    if owned.is_owned(board):
        is_host = owned.board_of(one.salt, one.host) == board
    else:
        is_host = admission.is_named(board, member_of(one.host))
    if not is_host:
        raise BoardError("owner", "a retirement by another member than the host")
    verify(one.host, one.signature, DOMAIN + one.body)
    return one
