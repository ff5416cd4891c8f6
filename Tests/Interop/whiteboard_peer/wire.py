"""Bytes and frames: `vint`, base32, bounded JSON, frame types (session.md 2)."""

import base64
import json

MAXIMUM_PAYLOAD = 65_536
MAXIMUM_EARLY_PAYLOAD = 8_192
MAXIMUM_DEPTH = 16
MAXIMUM_INTEGER = 2**53 - 1
MAXIMUM_MESSAGE = 16_777_216
MAXIMUM_RELAY_MESSAGE = MAXIMUM_MESSAGE + 64

HELLO, CLOSE, ACCEPT, CODE_PROOF = 0x01, 0x02, 0x03, 0x04
SAS_COMMIT, SAS_NONCE, SAS_REVEAL = 0x05, 0x06, 0x07
MEMBERS, KICK, ADDRESSES, BULK_REQUEST, RELAY_GRANT = 0x10, 0x11, 0x12, 0x13, 0x14
ATTACH, ATTACHED = 0x20, 0x21
RESOURCE_OFFER, RESOURCE_ACCEPT, RESOURCE_START = 0x22, 0x23, 0x24
RESOURCE_END, RESOURCE_DONE, RESOURCE_CANCEL = 0x25, 0x26, 0x27
STREAM_OPEN, STREAM_RESET = 0x28, 0x29
# Only links of browsers use these two (web.md).
WEB_CHALLENGE, WEB_PROOF = 0x08, 0x09
MESSAGE, ACK, PING, PONG, DATAGRAM, RELAY_DATAGRAM = 0x40, 0x41, 0x42, 0x43, 0x44, 0x45
CHUNK, STREAM_DATA, STREAM_FIN = 0x50, 0x51, 0x52
# A peer that does not know this type skips it (ADM-15).
DECIDING = 0x82

CONTROL_LINK_TYPES = frozenset(
    [HELLO, CLOSE, ACCEPT, CODE_PROOF, SAS_COMMIT, SAS_NONCE, SAS_REVEAL, MEMBERS, KICK]
    + [ADDRESSES, BULK_REQUEST, RELAY_GRANT, MESSAGE, ACK, PING, PONG, DATAGRAM, RELAY_DATAGRAM, DECIDING]
)
BULK_LINK_TYPES = frozenset(
    [CLOSE, ATTACH, ATTACHED, RESOURCE_OFFER, RESOURCE_ACCEPT, RESOURCE_START, RESOURCE_END]
    + [RESOURCE_DONE, RESOURCE_CANCEL, STREAM_OPEN, STREAM_RESET, CHUNK, STREAM_DATA, STREAM_FIN]
)
KNOWN_TYPES = CONTROL_LINK_TYPES | BULK_LINK_TYPES | {WEB_CHALLENGE, WEB_PROOF}


# The receiver's redial policy for each close code (3.6).
_REDIAL = {
    "never": "kicked declined self",
    "after-restart": "left shutting-down disconnected version-mismatch not-carried not-attached"
    " protocol-error unknown-frame too-large",
    "with-proof": "withdrawn wrong-code not-known not-verified",
    "later": "timed-out full busy no-such-session locked-out unknown-admitter too-slow too-fast"
    " internal-error",
    "not-applicable": "duplicate-link replaced",
}
REDIAL = {code: redial for redial, codes in _REDIAL.items() for code in codes.split()}


def redial_after(code):
    """The policy of a code; an unknown code counts as `internal-error`."""
    return REDIAL.get(code, REDIAL["internal-error"])


class Violation(Exception):
    """The other side broke a rule; `code` is the close code for it."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def malformed(message):
    return Violation("protocol-error", message)


# vint


def encode_vint(value):
    """Encodes unsigned LEB128 in its shortest form."""
    if not 0 <= value < 2**64:
        raise ValueError("a vint has 64 bits")
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_vint(data, offset=0):
    """Returns (value, next offset), or None if the bytes end within the integer (FRM-2)."""
    value = 0
    for index in range(10):
        if offset + index >= len(data):
            return None
        byte = data[offset + index]
        if index == 9 and byte > 1:
            raise malformed("a vint over 64 bits")
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if byte == 0 and index > 0:
                raise malformed("a vint not in its shortest form")
            return value, offset + index + 1
    raise malformed("a vint over 64 bits")


# base32 and base64


def base32(data):
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


def parse_base32(text, count):
    """Decodes `count` bytes from lower-case base32 without padding, in its only canonical form."""
    if not isinstance(text, str) or len(text) != (count * 8 + 4) // 5:
        raise malformed("base32 of the wrong length")
    if any(c not in "abcdefghijklmnopqrstuvwxyz234567" for c in text):
        raise malformed("not base32")
    data = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    if base32(data) != text:
        raise malformed("base32 with stray bits")
    return data


def base64_text(data):
    return base64.b64encode(data).decode("ascii")


def parse_base64(text, maximum=65_536, exactly=None):
    if not isinstance(text, str) or len(text) > (maximum + 2) // 3 * 4:
        raise malformed("base64 of the wrong length")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError as error:
        raise malformed("not base64") from error
    if base64_text(data) != text:
        raise malformed("base64 with stray bits")
    if len(data) > maximum or exactly is not None and len(data) != exactly:
        raise malformed("base64 of the wrong length")
    return data


# JSON


def _depth(text):
    deepest = depth = 0
    in_string = escaped = False
    for c in text:
        if in_string:
            if escaped:
                escaped = False
            elif c == "\\":
                escaped = True
            elif c == '"':
                in_string = False
        elif c == '"':
            in_string = True
        elif c in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in "]}":
            depth -= 1
    return deepest


def _pairs(pairs):
    result = {}
    for key, value in pairs:
        if key in result:
            raise malformed("a duplicate key")
        result[key] = value
    return result


def _refuse_constant(name):
    raise malformed(f"{name} is not JSON")


def _has_lone_surrogate(value):
    if isinstance(value, str):
        return any(0xD800 <= ord(c) < 0xE000 for c in value)
    if isinstance(value, list):
        return any(_has_lone_surrogate(v) for v in value)
    if isinstance(value, dict):
        return any(_has_lone_surrogate(k) or _has_lone_surrogate(v) for k, v in value.items())
    return False


def parse_json(payload):
    """Decodes one JSON object within the limits of FRM-5."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise malformed("not UTF-8") from error
    if _depth(text) > MAXIMUM_DEPTH:
        raise malformed("JSON too deep")
    try:
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise malformed("not JSON") from error
    if not isinstance(value, dict):
        raise malformed("not a JSON object")
    if _has_lone_surrogate(value):
        raise malformed("half a surrogate pair")
    return value


_required = object()


def integer(obj, key, low=0, high=MAXIMUM_INTEGER, default=_required):
    value = _take(obj, key, default)
    if obj.get(key) is None and default is not _required:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise malformed(f"`{key}` is not an integer from {low} to {high}")
    return value


def text(obj, key, low=0, high=MAXIMUM_PAYLOAD, default=_required):
    value = _take(obj, key, default)
    if obj.get(key) is None and default is not _required:
        return default
    if not isinstance(value, str) or not low <= len(value.encode("utf-8")) <= high:
        raise malformed(f"`{key}` is not a text of {low} to {high} bytes")
    return value


def array(obj, key, high):
    value = _take(obj, key, _required)
    if not isinstance(value, list) or len(value) > high:
        raise malformed(f"`{key}` is not an array of at most {high}")
    return value


def mapping(obj, key):
    """An optional object; null counts as absent (FRM-5)."""
    value = obj.get(key)
    if value is not None and not isinstance(value, dict):
        raise malformed(f"`{key}` is not an object")
    return value


def _take(obj, key, default):
    if key in obj:
        return obj[key]
    if default is _required:
        raise malformed(f"`{key}` is missing")
    return default


# Frames


def encode_frame(kind, payload=b""):
    if isinstance(payload, dict):
        payload = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return bytes([kind]) + encode_vint(len(payload)) + payload


class FrameDecoder:
    """Decodes bytes to (type, payload), and checks each length as soon as it is complete (FRM-1)."""

    def __init__(self):
        self._buffer = bytearray()
        self.maximum = MAXIMUM_EARLY_PAYLOAD

    def feed(self, data):
        self._buffer += data

    @property
    def pending(self):
        return len(self._buffer)

    def next(self):
        """Returns the next known frame, or None if more bytes are needed."""
        while self._buffer:
            kind = self._buffer[0]
            if kind not in KNOWN_TYPES and kind < 0x80:
                raise Violation("unknown-frame", f"type {kind:#04x}")
            read = decode_vint(self._buffer, 1)
            if read is None:
                return None
            length, start = read
            if length > self.maximum:
                raise Violation("too-large", f"a payload of {length} bytes")
            if len(self._buffer) < start + length:
                return None
            payload = bytes(self._buffer[start : start + length])
            del self._buffer[: start + length]
            if kind in KNOWN_TYPES:
                return kind, payload
        return None


class Part:
    """The flags of a MESSAGE."""

    FIRST, LAST, AT_ONCE, RELAYS = 1, 2, 4, 8


def encode_message_parts(message, first_sequence, at_once=False, part_size=65_000):
    """Returns the payloads of the MESSAGE frames for `message` (MSG-1, MSG-2)."""
    if len(message) > MAXIMUM_MESSAGE:
        raise ValueError("the message is too long")
    pieces = [message[i : i + part_size] for i in range(0, len(message), part_size)] or [b""]
    payloads = []
    for index, piece in enumerate(pieces):
        flags = (Part.FIRST if index == 0 else 0) | (Part.LAST if index == len(pieces) - 1 else 0)
        header = encode_vint(first_sequence + index)
        header += bytes([flags | (Part.AT_ONCE if at_once and flags & Part.LAST else 0)])
        if flags & Part.FIRST and not flags & Part.LAST:
            header += encode_vint(len(message))
        payloads.append(header + piece)
    return payloads


def decode_message_part(payload):
    """Decodes (sequence, flags, total or None, bytes)."""
    read = decode_vint(payload)
    if read is None or read[1] >= len(payload):
        raise malformed("a MESSAGE without sequence or flags")
    sequence, offset = read
    flags = payload[offset]
    offset += 1
    if sequence == 0 or flags & ~15 or flags & 9 == 8:
        raise malformed("a MESSAGE with sequence 0 or unknown flags")
    total = None
    if flags & Part.FIRST and not flags & Part.LAST:
        read = decode_vint(payload, offset)
        if read is None:
            raise malformed("a MESSAGE without its total")
        total, offset = read
        if total > (MAXIMUM_RELAY_MESSAGE if flags & Part.RELAYS else MAXIMUM_MESSAGE):
            raise Violation("too-large", f"a message of {total} bytes")
    body = payload[offset:]
    if not body and not flags & (Part.FIRST | Part.LAST):
        raise malformed("an empty part in the middle")
    return sequence, flags, total, body


class MessageAssembler:
    """Assembles parts to messages (MSG-1)."""

    def __init__(self):
        self._parts = None
        self._total = 0
        self._have = 0

    def take(self, flags, total, body):
        """Returns the whole message if this part completed it, or None."""
        if bool(flags & Part.FIRST) != (self._parts is None):
            raise malformed("a first part within a message, or a later one without a first")
        if flags & Part.FIRST and flags & Part.LAST:
            return body
        if flags & Part.FIRST:
            self._parts, self._total, self._have = [], total, 0
        self._parts.append(body)
        self._have += len(body)
        if self._have > self._total or (flags & Part.LAST and self._have != self._total):
            raise malformed("the parts do not add up to the total")
        if not flags & Part.LAST:
            return None
        message = b"".join(self._parts)
        self._parts = None
        return message


def decode_ack(payload):
    read = decode_vint(payload)
    if read is None or read[1] != len(payload):
        raise malformed("an ACK that is not one vint")
    return read[0]
