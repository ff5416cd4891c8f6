#!/usr/bin/python3
"""Writes Protocol/Vectors/broadcast.json from Protocol/broadcast.md alone; this script does not call the Swift code.

  make_broadcast_vectors.py           writes the file
  make_broadcast_vectors.py --check   compares it, and fails on a difference
"""

import json

from vector_file import PROTOCOL, write_or_check

TARGET = PROTOCOL / "Vectors" / "broadcast.json"
START, WHOLE, CHANGES, PAUSE, RESUME, FINISH, ERROR, SEEN, WANT_WHOLE = 1, 2, 3, 4, 5, 6, 7, 0x40, 0x41
TIME = 1_780_000_000_123


def vint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def u(number, size):
    return number.to_bytes(size, "big")


def record(kind, payload=b""):
    return bytes([kind]) + vint(len(payload)) + payload


def text(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def whole(number, data, time=TIME):
    return record(WHOLE, u(number, 8) + u(time, 8) + data)


def changes(number, base, parts, time=TIME):
    body = b"".join(b"".join(u(side, 2) for side in area) + u(len(data), 4) + data for area, data in parts)
    return record(CHANGES, u(number, 8) + u(time, 8) + u(base, 8) + u(len(parts), 2) + body)


def start(width, height, rate=15, codec="raw", **more):
    return record(START, text({"width": width, "height": height, "rate": rate, "codec": codec, **more}))


def requests():
    def entry(name, width, height, rate, codecs, accepts):
        canonical = text({
            "type": "broadcast", "width": width, "height": height, "rate": rate, "codecs": codecs, "changes": accepts,
        }).decode()
        return {
            "name": name, "width": width, "height": height, "rate": rate, "codecs": codecs, "changes": accepts,
            "canonical": canonical,
        }

    example = '{"type":"broadcast","width":1920,"height":1080,"rate":15,"codecs":["jpeg","raw"],"changes":true}'
    valid = [
        entry(example, 1920, 1080, 15, ["jpeg", "raw"], True),
        entry('{"type":"broadcast","codecs":["raw"]}', 4096, 4096, 60, ["raw"], True),
        entry('{"codecs":["avif","png"],"type":"broadcast","changes":false,"id":"x"}', 4096, 4096, 60, ["png"], False),
        entry('{"type":"broadcast","codecs":[],"rate":1000,"width":100000}', 4096, 4096, 60, [], True),
    ]
    invalid = [
        "", "broadcast", "[]", '{"type":"photo","codecs":["raw"]}', '{"type":"broadcast"}',
        '{"type":"broadcast","codecs":"raw"}', '{"type":"broadcast","codecs":["raw"],"rate":0}',
        '{"type":"broadcast","codecs":["raw"],"rate":1.5}', '{"type":"broadcast","codecs":["raw"],"width":-1}',
        '{"type":"broadcast","codecs":["raw"],"changes":1}',
        '{"type":"broadcast","codecs":["raw"],"x":"' + "a" * 1000 + '"}',
    ]
    return {"valid": valid, "invalid": [{"name": name, "rule": "CST-1"} for name in invalid]}


def records():
    valid = [
        {"type": "START", "width": 2, "height": 1, "rate": 15, "codec": "raw", "hex": start(2, 1)},
        {
            "type": "START", "width": 1920, "height": 1080, "rate": 60, "codec": "jpeg", "region": [-100, -50, 100, 62.5],
            "hex": start(1920, 1080, 60, "jpeg", region=[-100, -50, 100, 62.5]),
        },
        {"type": "WHOLE", "number": 1, "time": str(TIME), "bytes": "ffffff000000", "hex": whole(1, b"\xff" * 3 + b"\0" * 3)},
        {
            "type": "CHANGES", "number": 300, "time": str(TIME), "base": 2,
            "parts": [[16, 0, 1, 1, "010203"], [0, 4095, 4096, 1, "ff"]],
            "hex": changes(300, 2, [((16, 0, 1, 1), b"\1\2\3"), ((0, 4095, 4096, 1), b"\xff")]),
        },
        {"type": "PAUSE", "time": str(TIME), "hex": record(PAUSE, u(TIME, 8))},
        {"type": "RESUME", "time": str(2**64 - 1), "hex": record(RESUME, u(2**64 - 1, 8))},
        {"type": "FINISH", "code": "finished", "hex": record(FINISH, text({"code": "finished"}))},
        {
            "type": "ERROR", "code": "source-failed", "message": "out of paper",
            "hex": record(ERROR, text({"code": "source-failed", "message": "out of paper"})),
        },
        {"type": "SEEN", "number": 300, "hex": record(SEEN, u(300, 8))},
        {"type": "WANT-WHOLE", "hex": record(WANT_WHOLE)},
    ]
    invalid = [
        ("CST-2", record(WHOLE)[:1] + bytes([0x80, 0x00])),
        ("CST-2", bytes([WHOLE]) + vint(33_554_433)),
        ("CST-2", bytes([START]) + vint(4_097)),
        ("CST-2", bytes([FINISH]) + vint(4_097)),
        ("CST-2", bytes([ERROR]) + vint(4_097)),
        ("CST-2", record(START, text({"width": 2, "height": 1, "rate": 15, "codec": "raw", "x": "a" * 4096}))),
        ("CST-4", start(0, 1)),
        ("CST-4", start(4097, 1)),
        ("CST-4", start(4096, 2049)),
        ("CST-4", start(2, 1, rate=0)),
        ("CST-4", start(2, 1, rate=61)),
        ("CST-4", start(2, 1, codec="gif")),
        ("CST-4", start(2, 1, region=[0, 0, 10])),
        ("CST-4", start(2, 1, region=[0, 0, 0, 10])),
        ("CST-4", record(START, b"[]")),
        ("CST-2", record(WHOLE, u(1, 8) + u(TIME, 8))),
        ("CST-2", record(WHOLE, u(1, 8) + u(TIME, 7))),
        ("CST-5", changes(2, 2, [((0, 0, 1, 1), b"abc")])),
        ("CST-5", changes(3, 2, [])),
        ("CST-5", changes(3, 2, [((0, 0, 0, 1), b"abc")])),
        ("CST-5", changes(3, 2, [((0, 0, 1, 1), b"")])),
        ("CST-5", changes(3, 2, [((0, 0, 1, 1), b"a")] * 257)),
        ("CST-2", record(CHANGES, changes(3, 2, [((0, 0, 1, 1), b"abc")])[2:-1])),
        ("CST-2", record(CHANGES, changes(3, 2, [((0, 0, 1, 1), b"abc")])[2:] + b"\0")),
        ("CST-2", record(PAUSE, u(TIME, 7))),
        ("CST-2", record(PAUSE, u(TIME, 9))),
        ("CST-10", record(FINISH, text({"message": "bye"}))),
        ("CST-10", record(FINISH, text({"code": ""}))),
        ("CST-10", record(ERROR, text({"code": "source-failed", "message": "m" * 513}))),
        ("CST-2", record(SEEN, u(1, 7))),
        ("CST-2", record(WANT_WHOLE, b"\0")),
        ("CST-12", record(0x00)),
        ("CST-12", record(0x08)),
        ("CST-12", record(0x7F)),
    ]
    for entry in valid:
        entry["hex"] = entry["hex"].hex()
    return {"valid": valid, "invalid": [{"hex": data.hex(), "rule": rule} for rule, data in invalid]}


def streams():
    first = start(2, 1) + whole(1, b"\xff" * 6) + record(0x80, b"later") + record(PAUSE, u(TIME, 8))
    second = changes(2, 1, [((0, 0, 1, 1), b"\0\0\0")]) + record(FINISH, text({"code": "finished"}))
    return [
        {"hex": first.hex(), "types": ["START", "WHOLE", "PAUSE"]},
        {"hex": (first + second).hex(), "types": ["START", "WHOLE", "PAUSE", "CHANGES", "FINISH"]},
        {"hex": (record(SEEN, u(1, 8)) + record(WANT_WHOLE)).hex(), "types": ["SEEN", "WANT-WHOLE"]},
    ]


def watching():
    white, black, red = b"\xff\xff\xff", b"\0\0\0", b"\xff\0\0"
    case = []

    def request(**more):
        return text({"type": "broadcast", "codecs": ["raw"], **more}).decode()

    def step(data, pixels=None, rule=None):
        entry = {"hex": data.hex()}
        if pixels is not None:
            entry["pixels"] = pixels.hex()
        if rule:
            entry |= {"error": True, "rule": rule}
        return entry

    good = [
        step(start(2, 2)),
        step(whole(5, white * 4), white * 4),
        step(changes(7, 5, [((1, 0, 1, 2), black + red)]), white + black + white + red),
        # The parts are drawn in order.
        step(changes(8, 7, [((0, 0, 2, 1), red * 2), ((0, 0, 1, 1), black)]), black + red + white + red),
        step(record(PAUSE, u(TIME, 8)), black + red + white + red),
        step(record(RESUME, u(TIME, 8)), black + red + white + red),
        step(whole(8, white * 4), white * 4),
        step(start(1, 1)),
        step(whole(9, red), red),
        step(record(FINISH, text({"code": "finished"})), red),
    ]
    case.append({"title": "a broadcast that changes its size", "request": request(), "records": good})
    begun = [step(start(2, 2)), step(whole(5, white * 4), white * 4)]
    for title, first, bad, rule in [
        ("a picture before START", [], whole(1, white * 4), "CST-4"),
        ("changes after START", [step(start(2, 2))], changes(2, 1, [((0, 0, 1, 1), black)]), "CST-4"),
        ("changes after another START", [*begun, step(start(2, 2))], changes(6, 5, [((0, 0, 1, 1), black)]), "CST-4"),
        ("changes since another picture", begun, changes(7, 6, [((0, 0, 1, 1), black)]), "CST-5"),
        ("a number that decreases", begun, whole(4, white * 4), "CST-5"),
        ("a part outside the picture", begun, changes(6, 5, [((1, 1, 2, 1), black * 2)]), "CST-5"),
        (
            "parts with more pixels than the picture", begun,
            changes(6, 5, [((0, 0, 2, 2), white * 4), ((0, 0, 1, 1), black)]), "CST-5",
        ),
        ("a picture of another size", begun, whole(6, white * 3), "CST-3"),
        ("a part of another size", begun, changes(6, 5, [((0, 0, 2, 1), black)]), "CST-3"),
        ("a record that only viewers send", begun, record(SEEN, u(5, 8)), "CST-12"),
    ]:
        case.append({"title": title, "request": request(), "records": [*first, step(bad, rule=rule)]})
    for title, wish, first, bad, rule in [
        ("an encoding that the viewer does not accept", {}, [], start(2, 2, codec="jpeg"), "CST-4"),
        ("pictures that are too wide for the viewer", {"width": 1}, [], start(2, 2), "CST-4"),
        ("pictures that are too high for the viewer", {"height": 1}, [], start(2, 2), "CST-4"),
        (
            "changes for a viewer that accepts only whole pictures", {"changes": False}, begun,
            changes(6, 5, [((0, 0, 1, 1), black)]), "CST-5",
        ),
    ]:
        case.append({"title": title, "request": request(**wish), "records": [*first, step(bad, rule=rule)]})
    return case


def main():
    content = {
        "specification": "Protocol/broadcast.md",
        "requests": requests(),
        "records": records(),
        "skipped": [record(0x80).hex(), record(0xFF, b"abc").hex()],
        "streams": streams(),
        "watching": watching(),
    }
    write_or_check({TARGET: json.dumps(content, indent=1) + "\n"})


if __name__ == "__main__":
    main()
