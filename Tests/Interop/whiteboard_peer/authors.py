"""Authorship: records, chains, heads, batches on a link, signed answers (board.md, Authors)."""

import hashlib
import os
import struct
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

from . import codec, owned, retirement
from .cells import MAXIMUM_SEQUENCE, BoardError
from .codec import Reader, read_difference
from .wire import encode_vint

EDITOR, VIEWER, RELAY = 1, 2, 3
MAXIMUM_RECORD, MAXIMUM_RECORDS = 512, 65_537
MAXIMUM_NAMED = 65_536
END_OF_ANSWER = 0xFF


def point_of(public_key):
    """Returns the 65 bytes of a key in a record."""
    return public_key.public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def key_of(point):
    if len(point) != 65 or point[0] != 4:
        raise BoardError("key")
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError as error:
        raise BoardError("key") from error


def member_of(point):
    """Returns the member of a public key (AUT-3)."""
    info = key_of(point).public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(info).digest()


def sign(key, text):
    r, s = utils.decode_dss_signature(key.sign(text, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def verify(point, signature, text):
    pair = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        key_of(point).verify(
            utils.encode_dss_signature(*pair), text, ec.ECDSA(hashes.SHA256())
        )
    except InvalidSignature as error:
        raise BoardError("signature") from error


# Records


class Record(NamedTuple):
    data: bytes
    board: bytes
    key: bytes
    role: int
    granter: object
    incarnation: int
    grant: object = None

    @property
    def member(self):
        return member_of(self.key)


def incarnation_of(body):
    """Returns the incarnation of a record (AUT-2); `body` is everything from version to granter."""
    hashed = hashlib.sha256(b"whiteboard-incarnation-1\n" + body[1:]).digest()
    return int.from_bytes(hashed[:8], "big")


def make_record(key, board, nonce, role=EDITOR, granter=None, sign=sign, grant=None):
    """Creates a record. `key` and `granter` are private keys; `sign` replaces the signing function for deterministic
    signatures."""
    point = point_of(key.public_key())
    if owned.is_owned(board):
        body = b"\2" + board + nonce + point + bytes([role]) + (grant.data if grant else b"")
        return body + sign(key, b"whiteboard-record-1\n" + body)
    body = b"\1" + board + nonce + point + bytes([role])
    if granter is None:
        body += b"\0"
        return body + sign(key, b"whiteboard-record-1\n" + body)
    body += b"\1" + point_of(granter.public_key())
    grant = sign(granter, b"whiteboard-grant-1\n" + board + nonce + point + bytes([role]))
    return body + sign(key, b"whiteboard-record-1\n" + body) + grant


def decode_record(data, board):
    """Decodes and verifies a record (AUT-1 to AUT-3, AUT-12)."""
    if len(data) > MAXIMUM_RECORD:
        raise BoardError("limit", "a record")
    reader = Reader(data)
    if owned.is_owned(board):
        return decode_owned_record(reader, data, board)
    if reader.u8() != 1:
        raise BoardError("reserved", "the version of a record")
    named, nonce, key = (bytes(reader.take(count)) for count in (16, 16, 65))
    role, granted = reader.u8(), reader.u8()
    if named != board:
        raise BoardError("wrong-board")
    key_of(key)
    if not EDITOR <= role <= RELAY or granted > 1:
        raise BoardError("reserved", "a role, or whether it was granted")
    granter = bytes(reader.take(65)) if granted else None
    if granter:
        key_of(granter)
    body = data[: reader.at]
    signature = reader.take(64)
    grant = reader.take(64) if granted else None
    reader.end()
    verify(key, signature, b"whiteboard-record-1\n" + body)
    if granter:
        verify(granter, grant, b"whiteboard-grant-1\n" + board + nonce + key + bytes([role]))
    incarnation = incarnation_of(body)
    if incarnation == 0:
        raise BoardError("reserved", "incarnation 0")
    return Record(bytes(data), board, key, role, granter, incarnation)


def decode_owned_record(reader, data, board):
    """Decodes and verifies a record of an owned board (AUT-12)."""
    if reader.u8() != 2:
        raise BoardError("reserved", "the version of a record")
    named, _, key = (bytes(reader.take(count)) for count in (16, 16, 65))
    role = reader.u8()
    if named != board:
        raise BoardError("wrong-board")
    key_of(key)
    if not EDITOR <= role <= RELAY:
        raise BoardError("reserved", "a role")
    grant = owned.read_grant(reader, key) if role != VIEWER else None
    body = bytes(data[: reader.at])
    signature = reader.take(64)
    reader.end()
    if grant:
        grant.check(board, verify, key_of)
        if not grant.allows(key, role):
            raise BoardError("role", "the grant does not allow the role")
    verify(key, signature, b"whiteboard-record-1\n" + body)
    incarnation = incarnation_of(body)
    if incarnation == 0:
        raise BoardError("reserved", "incarnation 0")
    return Record(bytes(data), board, key, role, None, incarnation, grant)


def decode_grant(data, board, holder):
    """Decodes and verifies a grant (AUT-11) for the owner of the key `holder`."""
    reader = Reader(data)
    grant = owned.read_grant(reader, holder)
    reader.end()
    grant.check(board, verify, key_of)
    return grant


def decode_revocation(data, board):
    """Decodes and verifies a revocation (AUT-13)."""
    return owned.read_revocation(Reader(data), data, board, verify, key_of, member_of)


def decode_retirement(data, board):
    """Decodes and verifies a retirement (AUT-17)."""
    return retirement.read_retirement(data, board, verify, key_of, member_of)


# Chains and heads


def chain_start(incarnation):
    """Returns the start of an incarnation's chain (AUT-6)."""
    return hashlib.sha256(b"whiteboard-chain-1\n" + struct.pack(">Q", incarnation)).digest()


def chain_after(chain, batch):
    return hashlib.sha256(chain + batch).digest()


def head_text(board, incarnation, sequence, chain):
    return b"whiteboard-head-1\n" + board + struct.pack(">QQ", incarnation, sequence) + chain


def decode_head(data):
    """Decodes (sequence, chain hash, signature) of a head, which is all of `data`."""
    reader = Reader(data)
    sequence = reader.varint()
    if sequence > MAXIMUM_SEQUENCE:
        raise BoardError("limit", "a sequence")
    head = sequence, bytes(reader.take(32)), bytes(reader.take(64))
    reader.end()
    return head


class Author:
    """A local incarnation: its record, and the chain of its batches."""

    def __init__(self, key, board, role=EDITOR, nonce=None, granter=None, sign=sign):
        self.key, self.board, self._sign = key, board, sign
        data = make_record(key, board, nonce or os.urandom(16), role, granter, sign)
        self.record = decode_record(data, board)
        self.incarnation = self.record.incarnation
        self.sequence = 0
        self.chain = chain_start(self.incarnation)

    def write(self, time, operations):
        """Appends a batch to the chain and returns its full form."""
        batch = codec.encode_batch(self.incarnation, self.sequence + 1, time, operations)
        self.sequence += len(operations)
        self.chain = chain_after(self.chain, batch)
        return batch

    def head(self):
        """Returns the body of a head message, which also ends an author message."""
        text = head_text(self.board, self.incarnation, self.sequence, self.chain)
        return encode_vint(self.sequence) + self.chain + self._sign(self.key, text)

    def introduction(self):
        """Returns the body of an author message (AUT-5)."""
        return encode_vint(len(self.record.data)) + self.record.data + self.head()

    def answer(self, records, difference):
        """Returns the bytes of an answer (SYN-29); `records` are the bytes of each record, by ascending
        incarnation."""
        body = encode_vint(len(records))
        body += b"".join(encode_vint(len(r)) + r for r in records) + difference
        text = answer_text(self.board, self.incarnation, body)
        end = bytes([END_OF_ANSWER]) + struct.pack(">Q", self.incarnation)
        return body + end + self._sign(self.key, text)


# Batches on a link


class LinkWriter:
    """The objects that one link has named, so that batches in link form are short (SYN-28)."""

    def __init__(self):
        self.begin()

    def begin(self):
        """Notes that an author message was sent."""
        self._named, self._milliseconds = {}, 0

    def encode(self, author, first, time, operations):
        table = codec.table_of(author, operations)[1:]
        milliseconds, counter = divmod(time, 65_536)
        out = codec.zigzag(milliseconds - self._milliseconds) + encode_vint(counter)
        self._milliseconds = milliseconds
        out += encode_vint(len(operations) * 2 + bool(table))
        if table:
            out += encode_vint(len(table))
        for incarnation in table:
            if incarnation in self._named:
                out += encode_vint(self._named[incarnation])
            else:
                self._named[incarnation] = len(self._named) + 1
                out += b"\0" + struct.pack(">Q", incarnation)
        return out + codec.encode_operations(author, first, operations)


class LinkReader:
    """Reads the authors, batches and heads that arrive from `member` on one link."""

    def __init__(self, board, member):
        self.board, self.member = board, member
        self.record = None
        self.sequence = 0
        self.chain = None
        self._named = []
        self._milliseconds = 0
        self._introduced = {}

    def take_author(self, data):
        """Reads an author message and returns its record (AUT-5)."""
        reader = Reader(data)
        length = reader.varint()
        if length > MAXIMUM_RECORD:
            raise BoardError("limit", "a record")
        record = decode_record(bytes(reader.take(length)), self.board)
        sequence, chain, signature = decode_head(reader.take(reader.left))
        if record.member != self.member:
            raise BoardError("forged-author")
        verify(
            record.key, signature, head_text(self.board, record.incarnation, sequence, chain)
        )
        if sequence == 0 and chain != chain_start(record.incarnation):
            raise BoardError("chain", "a beginning that is none")
        if self.record:
            self._introduced[self.record.incarnation] = self.sequence, self.chain
        if self._introduced.get(record.incarnation, (sequence, chain)) != (sequence, chain):
            raise BoardError("chain", "it ended elsewhere")
        self._introduced[record.incarnation] = sequence, chain
        if len(self._introduced) > MAXIMUM_NAMED:
            raise BoardError("limit", "incarnations introduced")
        self.record, self.sequence, self.chain = record, sequence, chain
        self._named, self._milliseconds = [], 0
        return record

    def take_batch(self, data):
        """Returns (operations, full form) of the next batch in link form."""
        if self.record is None:
            raise BoardError("no-author")
        if self.record.role == VIEWER:
            raise BoardError("viewer")
        author, first = self.record.incarnation, self.sequence + 1
        reader = Reader(data)
        milliseconds = self._milliseconds + reader.zigzag()
        time = codec.join_time(milliseconds, reader.varint())
        count, has_table = divmod(reader.varint(), 2)
        codec.check_batch(first, time, count)
        if count > reader.left:
            raise BoardError("truncated")
        named = list(self._named)
        table = self._read_table(reader, named) if has_table else []
        codec.check_table(author, table)
        full = codec.encode_head(author, first, time, count, table) + data[reader.at :]
        if len(full) > codec.MAXIMUM_BATCH:
            raise BoardError("limit", "a batch")
        operations = codec.read_operations(reader, author, first, time, count, table)
        self._named, self._milliseconds = named, milliseconds
        self.sequence += count
        self.chain = chain_after(self.chain, full)
        return operations, bytes(full)

    def _read_table(self, reader, named):
        count = reader.count()
        if count == 0:
            raise BoardError("canonical", "a table without entries")
        known = set(named)
        table = []
        for _ in range(count):
            alias = reader.varint()
            if alias > len(named):
                raise BoardError("limit", "an alias beyond those named")
            if alias:
                table.append(named[alias - 1])
                continue
            incarnation = reader.incarnation()
            if incarnation in known:
                raise BoardError("canonical", "an incarnation named anew")
            if len(named) == MAXIMUM_NAMED:
                raise BoardError("limit", "incarnations named")
            named.append(incarnation)
            known.add(incarnation)
            table.append(incarnation)
        return table

    def take_head(self, data):
        """Verifies a head and returns its sequence (AUT-7)."""
        if self.record is None:
            raise BoardError("no-author")
        sequence, chain, signature = decode_head(data)
        text = head_text(self.board, self.record.incarnation, sequence, chain)
        verify(self.record.key, signature, text)
        if (sequence, chain) != (self.sequence, self.chain):
            raise BoardError("chain")
        return sequence


# Answers


def answer_text(board, incarnation, body):
    text = b"whiteboard-answer-1\n" + board + struct.pack(">Q", incarnation)
    return text + hashlib.sha256(body).digest()


def decode_answer(data, board, member, known):
    """Verifies an answer by `member` and returns (records, difference) (SYN-29); `known` are records by
    incarnation."""
    reader = Reader(data)
    records = []
    for _ in range(reader.count(MAXIMUM_RECORDS)):
        length = reader.varint()
        if length > MAXIMUM_RECORD:
            raise BoardError("limit", "a record")
        record = decode_record(bytes(reader.take(length)), board)
        if records and record.incarnation <= records[-1].incarnation:
            raise BoardError("canonical", "records not ascending")
        records.append(record)
    difference = read_difference(reader)
    body = data[: reader.at]
    if reader.u8() != END_OF_ANSWER:
        raise BoardError("reserved", "no end marker")
    incarnation, signature = reader.incarnation(), reader.take(64)
    reader.end()
    known = {**known, **{record.incarnation: record for record in records}}
    signer = known.get(incarnation)
    if signer is None:
        raise BoardError("no-author", "the signer is not known")
    if signer.role == VIEWER:
        raise BoardError("viewer")
    if signer.member != member:
        raise BoardError("forged-author")
    verify(signer.key, signature, answer_text(board, incarnation, body))
    return records, difference


def unrecorded(difference, known):
    """The incarnations that a difference names and `known` does not contain (BRD-37)."""
    return difference[0].ranges.keys() - known
