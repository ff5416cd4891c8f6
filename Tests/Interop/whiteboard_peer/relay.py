"""The messages between a member and a relay (session.md 11.2)."""

from . import wire

REACH, UNREACH, FREE, SEND, CONFIRM, CONFIRMED = 1, 2, 3, 4, 5, 6
ROUTE, UNROUTE, FROM, CONFIRMING, CONFIRMATION = 16, 17, 18, 19, 20


class _Reader:
    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        if len(self.data) - self.offset < count:
            raise wire.malformed("a relay message ends early")
        self.offset += count
        return self.data[self.offset - count : self.offset]

    def integer(self, maximum):
        read = wire.decode_vint(self.data, self.offset)
        if read is None or read[0] > maximum:
            raise wire.malformed("a number of a relay message")
        value, self.offset = read
        return value

    def routes(self):
        count = self.take(1)[0]
        if not 1 <= count <= 32:
            raise wire.malformed("a bitmap has 1 to 32 bytes")
        data = self.take(count)
        if data[-1] == 0:
            raise wire.malformed("a bitmap ends in a byte that is not zero")
        return [i for i in range(8 * count) if data[i // 8] >> i % 8 & 1]

    def rest(self):
        return self.take(len(self.data) - self.offset)


def decode(message):
    """Decodes (kind, its fields, payload)."""
    reader = _Reader(message)
    kind = reader.take(1)[0]
    if kind == REACH:
        fields = {"peer": reader.take(32), "incarnation": reader.take(8)}
    elif kind == UNREACH:
        fields = {"peer": reader.take(32), "end": reader.take(1)[0]}
    elif kind in (FREE, ROUTE, FROM):
        fields = {"route": reader.integer(255)}
    elif kind == SEND:
        fields = {"routes": reader.routes()}
    elif kind == CONFIRM:
        fields = {"routes": reader.routes(), "token": reader.integer(wire.MAXIMUM_INTEGER)}
    elif kind == UNROUTE:
        fields = {"route": reader.integer(255), "end": reader.take(1)[0]}
    elif kind in (CONFIRMED, CONFIRMING, CONFIRMATION):
        fields = {"route": reader.integer(255), "token": reader.integer(wire.MAXIMUM_INTEGER)}
    else:
        raise wire.malformed(f"a relay message of kind {kind}")
    payload = reader.rest()
    if payload and kind not in (SEND, ROUTE, FROM):
        raise wire.malformed("bytes behind a relay message")
    return kind, fields, payload


def encode(kind, fields, payload=b""):
    """Encodes a message that `decode` reads."""
    out = bytes([kind]) + fields.get("peer", b"") + fields.get("incarnation", b"")
    if "routes" in fields:
        data = bytearray(max(fields["routes"]) // 8 + 1)
        for route in fields["routes"]:
            data[route // 8] |= 1 << route % 8
        out += bytes([len(data)]) + bytes(data)
    for name in ("route", "token"):
        if name in fields:
            out += wire.encode_vint(fields[name])
    if "end" in fields:
        out += bytes([fields["end"]])
    return out + payload
