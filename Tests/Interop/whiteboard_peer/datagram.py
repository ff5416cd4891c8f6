"""Sealed datagrams: keys, replay window, pieces (session.md 7)."""

import struct
import time

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

WHOLE, PIECE, PROBE, ANSWER = 0, 1, 2, 3
HEADER = 18
MINIMUM, MAXIMUM = 35, 1_500
PACKET = 1_200
PIECE_SIZE = 1_100
MAXIMUM_DATAGRAM = 65_536
WINDOW = 2_048


def expand_label(secret, label, context, length, algorithm=hashes.SHA256):
    """HKDF-Expand-Label of RFC 8446, 7.1."""
    full = b"tls13 " + label
    info = struct.pack(">H", length) + bytes([len(full)]) + full + bytes([len(context)]) + context
    return HKDFExpand(algorithm(), length, info).derive(secret)


class DirectionKeys:
    """The sealing key of one direction; `direction` is b"d" or b"l"."""

    def __init__(self, secret, direction):
        self._secret = secret
        self._direction = direction
        self.key_id = expand_label(secret, b"wb " + direction + b" id", b"\0", 8)

    def epoch(self, epoch):
        context = bytes([epoch])
        key = expand_label(self._secret, b"wb " + self._direction + b" key", context, 16)
        iv = expand_label(self._secret, b"wb " + self._direction + b" iv", context, 12)
        return key, iv


def nonce(iv, counter):
    return bytes(a ^ b for a, b in zip(iv, bytes(4) + struct.pack(">Q", counter)))


class Sealer:
    def __init__(self, secret, direction):
        self.keys = DirectionKeys(secret, direction)
        self.epoch = 0
        self.counter = 0

    def next_epoch(self):
        self.epoch += 1
        self.counter = 0

    def seal(self, kind, content):
        header = bytes([1, self.epoch]) + self.keys.key_id + struct.pack(">Q", self.counter)
        key, iv = self.keys.epoch(self.epoch)
        sealed = AESGCM(key).encrypt(nonce(iv, self.counter), bytes([kind]) + content, header)
        self.counter += 1
        return header + sealed


class ReplayWindow:
    def __init__(self):
        self.greatest = -1
        self._seen = set()

    def take(self, counter):
        """Returns False for a counter that was seen or is below the window (DGM-3)."""
        if counter in self._seen or counter <= self.greatest - WINDOW:
            return False
        self._seen.add(counter)
        if counter > self.greatest:
            self.greatest = counter
            if len(self._seen) > 2 * WINDOW:
                self._seen = {c for c in self._seen if c > counter - WINDOW}
        return True


class Opener:
    def __init__(self, secret, direction, clock=time.monotonic):
        self.keys = DirectionKeys(secret, direction)
        self.epoch = 0
        self._clock = clock
        self._previous_until = None
        self._windows = {0: ReplayWindow()}

    def open(self, packet):
        """Returns (kind, content, is_newest), or None for a packet that must be dropped (DGM-1 to DGM-3)."""
        if not MINIMUM <= len(packet) <= MAXIMUM or packet[0] != 1:
            return None
        if packet[2:10] != self.keys.key_id:
            return None
        epoch = packet[1]
        if epoch == self.epoch - 1:
            if self._previous_until is None or self._clock() > self._previous_until:
                return None
        elif epoch not in (self.epoch, self.epoch + 1):
            return None
        (counter,) = struct.unpack(">Q", packet[10:18])
        key, iv = self.keys.epoch(epoch)
        try:
            plain = AESGCM(key).decrypt(nonce(iv, counter), packet[18:], packet[:18])
        except InvalidTag:
            return None
        if not plain:
            return None
        if epoch == self.epoch + 1:
            self.epoch = epoch
            self._windows = {epoch - 1: self._windows[epoch - 1], epoch: ReplayWindow()}
            self._previous_until = self._clock() + 10
        window = self._windows[epoch]
        newest = epoch == self.epoch and counter > window.greatest
        if not window.take(counter):
            return None
        return plain[0], plain[1:], newest


def pieces(identifier, message):
    """Returns (kind, content) of every packet for `message` (DGM-6)."""
    if len(message) > MAXIMUM_DATAGRAM:
        raise ValueError("the datagram is too long")
    if HEADER + 1 + len(message) + 16 <= PACKET:
        return [(WHOLE, message)]
    parts = [message[i : i + PIECE_SIZE] for i in range(0, len(message), PIECE_SIZE)]
    return [
        (PIECE, struct.pack(">IBB", identifier, index, len(parts)) + part)
        for index, part in enumerate(parts)
    ]


class Reassembler:
    """Assembles pieces; late, contradicting and excess pieces are dropped (DGM-7)."""

    def __init__(self, clock=time.monotonic):
        self._clock = clock
        self._open = {}

    def take(self, content):
        if len(content) < 7:
            return None
        identifier, index, count = struct.unpack(">IBB", content[:6])
        body = content[6:]
        if index >= count or not 2 <= count <= 60:
            return None
        if len(body) > PIECE_SIZE or (index < count - 1 and len(body) != PIECE_SIZE):
            return None
        if index * PIECE_SIZE + len(body) > MAXIMUM_DATAGRAM:
            return None
        now = self._clock()
        self._open = {i: e for i, e in self._open.items() if now - e[0] < 2}
        entry = self._open.get(identifier)
        if entry is None:
            while len(self._open) >= 32:
                del self._open[min(self._open, key=lambda i: self._open[i][0])]
            entry = self._open[identifier] = (now, count, {})
        if entry[1] != count:
            del self._open[identifier]
            return None
        entry[2].setdefault(index, body)
        if len(entry[2]) < count:
            return None
        del self._open[identifier]
        return b"".join(entry[2][i] for i in range(count))
