"""Rights on an owned board: certificates, grants, revocations (board.md, Owned boards)."""

import hashlib
import struct
from typing import NamedTuple

from .cells import MAXIMUM_SEQUENCE, BoardError
from .wire import encode_vint

OWNED = b"\x6f\x77"
MAY_GRANT = 16
MAXIMUM_SERIAL = 2**63 - 1
MAXIMUM_COUNTED = 4096


def board_of(salt, key):
    """Returns the id of an owned board (AUT-9)."""
    return OWNED + hashlib.sha256(b"whiteboard-owner-1\n" + salt + key).digest()[:14]


def is_owned(board):
    return board[:2] == OWNED


class Certificate(NamedTuple):
    """A certificate of rights (AUT-10)."""

    holder: bytes
    rights: int
    serial: int
    signature: bytes

    @property
    def may_grant(self):
        return bool(self.rights & MAY_GRANT)

    @property
    def data(self):
        return struct.pack(">BQ", self.rights, self.serial) + self.signature


def certificate_text(board, holder, rights, serial):
    return b"whiteboard-certificate-1\n" + board + holder + struct.pack(">BQ", rights, serial)


class Grant(NamedTuple):
    """A grant of a role (AUT-11)."""

    salt: bytes
    owner: bytes
    certificates: tuple

    @property
    def data(self):
        chain = b""
        for index, one in enumerate(self.certificates):
            last = index == len(self.certificates) - 1
            chain += (b"" if last else one.holder) + one.data
        return self.salt + self.owner + bytes([len(self.certificates)]) + chain

    def check(self, board, verify, key_of):
        for key in (self.owner, *(one.holder for one in self.certificates)):
            key_of(key)
        if board_of(self.salt, self.owner) != board:
            raise BoardError("owner")
        issuer, may_grant = self.owner, True
        for index, one in enumerate(self.certificates):
            if not may_grant or (index == 1 and one.rights != 1):
                raise BoardError("role", "a certificate whose issuer may not grant")
            verify(issuer, one.signature, certificate_text(board, one.holder, one.rights, one.serial))
            issuer, may_grant = one.holder, one.may_grant

    def allows(self, key, role):
        """Whether the holder of `key` may take the role: 1 editor, 3 relay."""
        if not self.certificates:
            return key == self.owner
        last = self.certificates[-1]
        return last.holder == key and role in (1, last.rights & ~MAY_GRANT)


def read_grant(reader, holder, most=2):
    salt, owner = bytes(reader.take(8)), bytes(reader.take(65))
    count = reader.u8()
    if count > most:
        raise BoardError("reserved", "too many certificates")
    chain = []
    for index in range(count):
        key = holder if index == count - 1 else bytes(reader.take(65))
        rights = reader.u8()
        if rights & ~MAY_GRANT not in (1, 3):
            raise BoardError("reserved", "rights")
        serial = struct.unpack(">Q", reader.take(8))[0]
        if serial > MAXIMUM_SERIAL:
            raise BoardError("limit", "a serial")
        chain.append(Certificate(key, rights, serial, bytes(reader.take(64))))
    return Grant(salt, owner, tuple(chain))


class Revocation(NamedTuple):
    """A revocation of a member's rights (AUT-13)."""

    board: bytes
    member: bytes
    serial: int
    counted: dict
    issuer: bytes
    grant: Grant
    body: bytes

    def takes_back(self, certificate, member_of):
        return (
            member_of(certificate.holder) == self.member
            and certificate.serial <= self.serial
            and (not self.grant.certificates or not certificate.may_grant)
        )


def revocation_body(board, member, serial, counted, issuer, grant):
    body = b"\1" + board + member + struct.pack(">Q", serial) + encode_vint(len(counted))
    for incarnation in sorted(counted):
        body += struct.pack(">QQ", incarnation, counted[incarnation])
    return body + issuer + grant.data


def read_revocation(reader, data, board, verify, key_of, member_of):
    if reader.u8() != 1:
        raise BoardError("reserved", "the version of a revocation")
    named, member = bytes(reader.take(16)), bytes(reader.take(32))
    if named != board:
        raise BoardError("wrong-board")
    serial = struct.unpack(">Q", reader.take(8))[0]
    if serial > MAXIMUM_SERIAL:
        raise BoardError("limit", "a serial")
    count = reader.varint()
    if count > MAXIMUM_COUNTED:
        raise BoardError("limit", "incarnations of a revocation")
    counted, last = {}, 0
    for _ in range(count):
        incarnation, sequence = struct.unpack(">QQ", reader.take(16))
        if incarnation == 0:
            raise BoardError("reserved", "incarnation 0")
        if incarnation <= last:
            raise BoardError("canonical", "incarnations that do not ascend")
        if not 1 <= sequence <= MAXIMUM_SEQUENCE:
            raise BoardError("limit", "a sequence")
        counted[incarnation] = sequence
        last = incarnation
    issuer = bytes(reader.take(65))
    key_of(issuer)
    grant = read_grant(reader, issuer, 1)
    body = bytes(data[: reader.at])
    signature = bytes(reader.take(64))
    reader.end()
    grant.check(board, verify, key_of)
    may_grant = grant.certificates[-1].may_grant if grant.certificates else issuer == grant.owner
    if not may_grant or member == member_of(grant.owner):
        raise BoardError("role", "the issuer may not revoke this member")
    verify(issuer, signature, b"whiteboard-revocation-1\n" + body)
    return Revocation(board, member, serial, counted, issuer, grant, body)


def limit_of(incarnation, certificates, revocations, member_of):
    """Returns the last sequence that counts, or None if all do (AUT-14)."""
    by_owner = [one for one in revocations if not one.grant.certificates]
    counting = [
        one
        for one in revocations
        if not any(owner.takes_back(c, member_of) for owner in by_owner for c in one.grant.certificates)
    ]
    limits = [
        one.counted.get(incarnation, 0)
        for one in counting
        if any(one.takes_back(c, member_of) for c in certificates)
    ]
    return min(limits, default=None)
