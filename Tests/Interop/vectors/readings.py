"""Messages and datagrams, and the meaning of a board's cells: groups, settings, profiles."""

from whiteboard_peer import cells, codec, messages, views
from whiteboard_peer.cells import BYTES, DOT, NONE, PAIR, SIGNED, STRING, UNSIGNED, Dot, DotSet
from whiteboard_peer.messages import Presence, Report
from whiteboard_peer.messages import encode_presence, encode_report, encode_request

from . import batches
from .basics import dots_of
from .forms import ANNA, BEN, CARA, MEMBER, create, inc, invalid, state_of, varint


def out_of_range():
    """Values out of range (BRD-35): (name, kind, cells after the create operation, keys of BRD-19 to read)."""
    asset = batches.ASSET
    ink = codec.encode_ink([(0, 0, 0), (160, 0, 0)])
    cases = [
        ("a scale of 0", cells.TEXT, [(cells.SCALE, None, UNSIGNED, 0)], ["scale"]),
        ("a scale of 63", cells.TEXT, [(cells.SCALE, None, UNSIGNED, 63)], ["scale"]),
        ("the least scale", cells.TEXT, [(cells.SCALE, None, UNSIGNED, 64)], ["scale"]),
        ("the greatest scale", cells.TEXT, [(cells.SCALE, None, UNSIGNED, 67_108_864)], ["scale"]),
        ("a greater scale", cells.TEXT, [(cells.SCALE, None, UNSIGNED, 2**64 - 1)], ["scale"]),
        ("a scale of another shape", cells.TEXT, [(cells.SCALE, None, SIGNED, 131_072)], ["scale"]),
        ("an angle of a full turn", cells.TEXT, [(cells.ANGLE, None, UNSIGNED, 4_096)], ["angle"]),
        ("an angle of more", cells.TEXT, [(cells.ANGLE, None, UNSIGNED, 2**64 - 1_024)], ["angle"]),
        ("a lock of 2", cells.TEXT, [(cells.LOCK, None, UNSIGNED, 2)], ["isLocked"]),
        ("a lock of another shape", cells.TEXT, [(cells.LOCK, None, BYTES, b"\1")], ["isLocked"]),
        ("a selection of 31 bytes", cells.TEXT, [(cells.SELECTION, None, BYTES, MEMBER[1:])], ["selectedBy"]),
        ("a negative width", cells.TEXT, [(cells.SIZE, None, PAIR, (-1, 64))], ["size"]),
        ("no size at all", cells.TEXT, [(cells.SIZE, None, PAIR, (0, 0))], ["size"]),
        ("a color of 33 bits", cells.TEXT, [(cells.COLOUR, None, UNSIGNED, 2**32)], ["color"]),
        ("the greatest color", cells.TEXT, [(cells.COLOUR, None, UNSIGNED, 2**32 - 1)], ["color"]),
        ("a z index of 65 bytes", cells.TEXT, [(cells.Z_INDEX, None, BYTES, bytes(range(65)))], ["zIndex"]),
        ("a line width of 0", cells.DRAWING, [(cells.LINE_WIDTH, None, UNSIGNED, 0)], ["lineWidth"]),
        ("a line width of 1025 units", cells.DRAWING, [(cells.LINE_WIDTH, None, UNSIGNED, 65_600)], ["lineWidth"]),
        ("an end of another number", cells.DRAWING, [(cells.INK, 0, BYTES, ink), (cells.END, None, UNSIGNED, 99)], ["isFinished", "points"]),
        ("an end of another shape", cells.DRAWING, [(cells.END, None, STRING, b"2")], ["isFinished"]),
        ("ink with a byte too many", cells.DRAWING, [(cells.INK, 0, BYTES, ink + b"\0")], ["points"]),
        ("ink behind a gap", cells.DRAWING, [(cells.INK, 0, BYTES, ink), (cells.INK, 3, BYTES, ink)], ["points"]),
        ("an erasure that is none", cells.DRAWING, [(cells.INK, 0, BYTES, ink), (cells.ERASURE, "own", BYTES, b"\0")], ["erased"]),
        ("a run that is none", cells.TEXT, [(cells.RUN, "own", BYTES, b"\3abc")], ["text"]),
        ("a deletion of nothing", cells.TEXT, [(cells.RUN, "own", BYTES, codec.encode_run(codec.ROOT, None, "abc")), (cells.DELETION, "own", BYTES, b"")], ["text"]),
        ("an asset of 44 bytes", cells.PHOTO, [(cells.ASSET, None, BYTES, asset[:-1])], ["sha256"]),
        ("an asset of an unknown format", cells.PHOTO, [(cells.ASSET, None, BYTES, asset[:32] + b"\3" + asset[33:])], ["sha256"]),
        ("an asset of no bytes", cells.PHOTO, [(cells.ASSET, None, BYTES, asset[:33] + bytes(4) + asset[37:])], ["sha256"]),
        ("an asset of no pixels", cells.PHOTO, [(cells.ASSET, None, BYTES, asset[:37] + bytes(4) + asset[41:])], ["sha256"]),
        ("a form of an unknown number", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 8)], ["form", "size", "isFinished"]),
        ("a form of another shape", cells.DRAWING, [(cells.FORM, None, SIGNED, 3)], ["form", "isFinished"]),
        ("a fill of 33 bits", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 7), (cells.FILL, None, UNSIGNED, 2**32)], ["fill"]),
        ("an unknown line style", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 3), (cells.LINE_STYLE, None, UNSIGNED, 3)], ["lineStyle"]),
        ("an opacity of 256", cells.TEXT, [(cells.OPACITY, None, UNSIGNED, 256)], ["opacity"]),
        ("an unknown line start", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 2), (cells.LINE_START, None, UNSIGNED, 5)], ["lineStart"]),
        ("an unknown line end", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 2), (cells.LINE_END, None, UNSIGNED, 5)], ["lineEnd"]),
        ("a curve of 2", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 1), (cells.CURVE, None, UNSIGNED, 2)], ["isCurved"]),
        ("a text size of 0", cells.TEXT, [(cells.TEXT_SIZE, None, UNSIGNED, 0)], ["textSize"]),
        ("a text size of 63/64 unit", cells.TEXT, [(cells.TEXT_SIZE, None, UNSIGNED, 63)], ["textSize"]),
        ("the least text size", cells.TEXT, [(cells.TEXT_SIZE, None, UNSIGNED, 64)], ["textSize"]),
        ("the greatest text size", cells.TEXT, [(cells.TEXT_SIZE, None, UNSIGNED, 65_536)], ["textSize"]),
        ("a greater text size", cells.TEXT, [(cells.TEXT_SIZE, None, UNSIGNED, 2**64 - 1)], ["textSize"]),
        ("an unknown typeface", cells.TEXT, [(cells.TYPEFACE, None, UNSIGNED, 3)], ["typeface"]),
        ("an unknown alignment of a text", cells.TEXT, [(cells.ALIGNMENT, None, UNSIGNED, 3)], ["alignment"]),
        ("an unknown alignment of a label", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 3), (cells.ALIGNMENT, None, UNSIGNED, 3)], ["alignment"]),
        ("unknown bits of the emphasis", cells.TEXT, [(cells.EMPHASIS, None, UNSIGNED, 2**64 - 2)], ["isBold", "isItalic"]),
        ("a text color of 33 bits", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 3), (cells.TEXT_COLOUR, None, UNSIGNED, 2**32)], ["textColor"]),
        ("an automatic width of 2", cells.TEXT, [(cells.AUTO_WIDTH, None, UNSIGNED, 2)], ["isAutoWidth"]),
        ("a point of another shape", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 1), (cells.POINT, 2**32, PAIR, (640, 0)), (cells.POINT, 2**33, BYTES, b"7")], ["points"]),
        ("a binding of an unknown form", cells.DRAWING, [(cells.FORM, None, UNSIGNED, 1), (cells.START_BINDING, None, BYTES, b"7")], ["startBinding"]),
        ("a group that is none", cells.TEXT, [(cells.GROUP, None, DOT, Dot(ANNA, 1))], ["groups"]),
    ]
    result = []
    for name, kind, written, keys in cases:
        own = Dot(ANNA, 1)
        operations = [create(kind)] + [(own, *cell) for cell in written]
        data = codec.encode_batch(ANNA, 1, batches.at(0), operations)
        shown = views.describe(state_of([data]), own)
        result.append(
            {"name": name, "hex": data.hex(), "reads": {key: shown.get(key) for key in keys}}
        )
    return result


def entry(name, data):
    return {"name": name, "hex": data.hex()}


def all_messages():
    context = dots_of({ANNA: [(1, 1)], BEN: [(1, 3)]})
    asset = bytes(range(32, 64))
    hashed = messages.context_hash(context)
    report = encode_report(Report(hashed, 3, ()))
    with_sums = encode_report(Report(hashed, 3, range(16)))
    profile = messages.encode_profile
    valid = [
        ("request", encode_request(1, context)),
        ("request of two buckets", encode_request(300, DotSet(), 0x8001)),
        ("nothing lacking", bytes([messages.NOTHING_LACKING, 7])),
        ("report", report),
        ("report with sums", with_sums),
        ("report that says nothing of an answer", encode_report(Report(hashed, 0, ()))),
        ("asset request", bytes([messages.ASSET_REQUEST]) + asset),
        ("asset unavailable", bytes([messages.ASSET_UNAVAILABLE]) + asset),
        ("profile", profile("Anna", "\U0001f98a")),
        ("application", b"\x10hello"),
    ]
    bad = [
        ("no bytes", b"", "truncated"),
        ("kind 0", b"\0", "reserved"),
        ("an unknown kind that may not be skipped", b"\x0c", "reserved"),
        ("the last kind that may not be skipped", b"\x7f", "reserved"),
        ("request number 0", b"\2\0\0\0\0", "limit"),
        ("request without buckets", b"\2\1\0", "truncated"),
        ("request with a byte too many", encode_request(1, context) + b"\0", "trailing"),
        ("nothing lacking without its number", b"\3", "truncated"),
        ("nothing lacking with a byte too many", b"\3\1\0", "trailing"),
        ("report without a number of a request", report[:9], "truncated"),
        ("report of 15 sums", report[:-1] + b"\x0f" + bytes(8 * 15), "reserved"),
        ("report of 16 sums that is cut", with_sums[:-1], "truncated"),
        ("report of no sums with a byte too many", report + b"\0", "trailing"),
        ("report without a number of sums", report[:-1], "truncated"),
        ("asset request of 31 bytes", b"\5" + asset[1:], "truncated"),
        ("asset request of 33 bytes", b"\5" + asset + b"\0", "trailing"),
    ]
    return {
        "valid": [entry(*one) for one in valid],
        "skipped": [
            entry("an unknown kind that may be skipped", b"\x80\1"),
            entry("the last kind that may be skipped", b"\xff"),
        ],
        "invalid": [invalid(*one) for one in bad],
    }


def profiles():
    encode = messages.encode_profile
    valid = [
        ("a name and an icon", "Anna", "\U0001f98a", True, b""),
        ("neither", "", "", True, b""),
        ("the longest", "n" * 64, "i" * 16, True, b""),
        ("what follows is skipped", "Ben", "", True, b"later"),
        ("no previews", "Ben", "", False, b""),
        ("no previews, and what follows is skipped", "Ben", "", False, b"later"),
        ("flags that are all clear", "Ben", "", True, b"\0"),
        ("only flags that are not known", "Ben", "", True, b"\xfe"),
    ]
    bad = [
        ("nothing", b"\x09", "truncated"),
        ("without an icon", b"\x09\x01a", "truncated"),
        ("a name of 65 bytes", b"\x09" + varint(65) + b"n" * 65 + b"\0", "limit"),
        ("an icon of 17 bytes", b"\x09\0" + varint(17) + b"i" * 17, "limit"),
        ("a name that is not UTF-8", b"\x09\x01\xff\0", "text"),
    ]
    return {
        "valid": [
            {
                "name": what, "hex": (encode(name, icon, shows) + rest).hex(), "profile": [name, icon],
                "showsPreviews": shows,
            }
            for what, name, icon, shows, rest in valid
        ],
        "invalid": [invalid(*one) for one in bad],
    }


def datagrams():
    points = [(i, 0, 0) for i in range(16)]
    stroke = inc(BEN) + varint(1)
    valid = [
        ("presence", b"\1\5\0"),
        ("presence with a cursor", b"\1\6\1\xbf\2\x42"),
        ("presence with more", b"\1\5\0\xf8later"),
        ("presence at the edge", b"\1\7\1" + varint(2**32 - 1, 2**32 - 2)),
        ("preview", b"\2" + stroke + varint(5) + codec.encode_ink([(48, 0, 0), (47, -2, 0)])),
        ("preview of 16 points", b"\2" + stroke + varint(0) + codec.encode_ink(points)),
        ("application", b"\x10\xff"),
    ]
    more = codec.encode_ink([*points, (16, 0, 0)])
    bad = [
        ("no bytes", b"", "truncated"),
        ("an unknown kind", b"\3", "reserved"),
        ("presence of another form", b"\1\5\2", "reserved"),
        ("presence beyond 32 bits", b"\1\7\1" + varint(2**32, 0), "limit"),
        ("presence whose cursor breaks off", b"\1\7\1\0", "truncated"),
        ("preview of 17 points", b"\2" + stroke + varint(0) + more, "limit"),
        ("preview of incarnation 0", b"\2" + bytes(8) + varint(1, 0, 2, 0, 0), "reserved"),
    ]
    return {
        "valid": [entry(*one) for one in valid],
        "invalid": [invalid(*one) for one in bad],
    }


def presence():
    small, great = (1, 1), (67_108_864, 67_108_864)
    edge = 2**31 - 1, -(2**31)
    valid = [
        ("nothing but that one is here", Presence(1), b""),
        ("a cursor", Presence(300, (-160, 33)), b""),
        ("a laser", Presence(2, (16, 0), True), b""),
        ("a view", Presence(3, None, False, (-1600, 800, 1280, 720)), b""),
        ("a cursor and a view", Presence(4, (5, 6), False, (0, 0, 80, 24)), b""),
        ("a laser and a view", Presence(5, (5, 6), True, (0, 0, 80, 24)), b""),
        ("the least view", Presence(6, None, False, (0, 0, *small)), b""),
        ("the greatest view, at the edge", Presence(7, edge, False, (*edge, *great)), b""),
        ("what follows a view is skipped", Presence(8, None, False, (1, 2, 3, 4)), b"later"),
        ("what follows the flags is skipped", Presence(9, (1, 2), True), b"later"),
        ("a wall clock", Presence(10, None, False, None, 1_700_000_000_000), b""),
        ("a view and a wall clock", Presence(11, None, False, (1, 2, 3, 4), 5), b"later"),
        ("the latest wall clock", Presence(12, (5, 6), True, None, 2**47 - 1), b""),
    ]
    odd = [
        ("flags that are all clear", b"\1\1\0\0", Presence(1)),
        ("flags of later versions alone", b"\1\1\0\xf8later", Presence(1)),
        ("all flags", b"\1\1\1\0\0\xff\0\0\1\1\2more", Presence(1, (0, 0), True, (0, 0, 1, 1), 2)),
        ("a laser without a cursor", b"\1\1\0\1", Presence(1)),
    ]
    view = b"\1\1\0\2"
    bad = [
        ("no form", b"\1\1", "truncated"),
        ("a view that is not there", view, "truncated"),
        ("a view without a height", view + varint(0, 0, 80), "truncated"),
        ("a view without a width", view + varint(0, 0, 0, 24), "limit"),
        ("a view of height 0", view + varint(0, 0, 80, 0), "limit"),
        ("a view too wide", view + varint(0, 0, 67_108_865, 24), "limit"),
        ("a view too high", view + varint(0, 0, 80, 67_108_865), "limit"),
        ("a view beyond 32 bits", view + varint(0, 2**32, 80, 24), "limit"),
        ("a wall clock that is not there", b"\1\1\0\4", "truncated"),
        ("a wall clock beyond the last time", b"\1\1\0\4" + varint(2**47), "limit"),
    ]

    def told(name, data, one, is_odd):
        cursor, shown = one.cursor and list(one.cursor), one.view and list(one.view)
        content = {"counter": str(one.counter), "cursor": cursor, "laser": one.laser, "view": shown}
        content["clock"] = None if one.clock is None else str(one.clock)
        return {**entry(name, data), **content, "isCanonical": not is_odd}

    return {
        "valid": [
            *(told(what, encode_presence(one) + rest, one, False) for what, one, rest in valid),
            *(told(what, data, one, True) for what, data, one in odd),
        ],
        "invalid": [invalid(*one) for one in bad],
    }


class Writer:
    """The consecutive batches of one incarnation."""

    def __init__(self, incarnation):
        self.incarnation, self.sequence = incarnation, 0

    def write(self, time, *operations):
        data = codec.encode_batch(self.incarnation, self.sequence + 1, time, operations)
        self.sequence += len(operations)
        return data


def group_readings():
    """Objects 1 and 2 are texts, 3 to 6 are groups, all by Anna."""
    one, two, a, b, c, d = (Dot(ANNA, n) for n in range(1, 7))
    kinds = [cells.TEXT] * 2 + [cells.GROUP_KIND] * 4

    def reading(name, *writes):
        anna, ben = Writer(ANNA), Writer(BEN)
        data = [anna.write(batches.at(0), *map(create, kinds))]
        for number, (who, time, *operation) in enumerate(writes):
            writer = {"anna": anna, "ben": ben}[who]
            data.append(writer.write(batches.at(time), tuple(operation)))
        state = state_of(data)
        for backwards in (data[:1] + data[:0:-1],):
            if state_of(backwards).digest() != state.digest():
                raise AssertionError(name)
        return {
            "name": name,
            "batches": [batch.hex() for batch in data],
            "groups": {
                views.object_text(i): [
                    views.object_text(group) for group in views.groups_of(state, i)
                ]
                for i in (one, two, a, b, c, d)
            },
        }

    def put(who, time, target, group):
        return (who, time, target, cells.GROUP, None, DOT, group)

    def gone(who, time, target, number=cells.DELETED):
        if number == cells.PURGE:
            return (who, time, target, number, None, NONE, None)
        return (who, time, target, number, None, UNSIGNED, 1)

    nest = [put("anna", 1, one, a), put("anna", 2, a, b), put("anna", 3, b, c)]
    return [
        reading("none"),
        reading("three levels", *nest),
        reading("taken out", *nest, ("ben", 9, a, cells.GROUP, None, NONE, None)),
        reading("a deleted group is none", *nest, gone("ben", 9, b)),
        reading("a purged group is none", *nest, gone("ben", 9, b), gone("ben", 10, b, cells.PURGE)),
        reading("what is no group is none", put("anna", 1, one, two)),
        reading("an object that is not here is none", put("anna", 1, one, Dot(CARA, 9))),
        reading("another shape is none", ("anna", 1, one, cells.GROUP, None, UNSIGNED, 3)),
        reading("its own group", put("anna", 1, a, a), put("anna", 2, one, a)),
        reading("a ring of two, cut at the later", put("anna", 1, one, a), put("anna", 2, a, b), put("ben", 3, b, a)),
        reading("a ring of two, cut at the later, the other way", put("anna", 1, one, a), put("anna", 5, a, b), put("ben", 3, b, a)),
        reading("a ring of equal times, cut at the greater incarnation", put("anna", 1, one, a), put("anna", 4, a, b), put("ben", 4, b, a)),
        reading(
            "a ring of three, and one that hangs on it", *nest, put("ben", 2, c, a), put("anna", 9, d, a),
            put("anna", 9, two, d),
        ),
        reading("a ring through a deleted group is none", *nest, put("ben", 9, c, a), gone("ben", 10, b)),
    ]


def settings():
    """Settings objects: number 1 of Anna and number 1 of Ben."""
    mine, theirs = Dot(ANNA, 1), Dot(BEN, 1)
    names = {
        cells.TITLE: "title",
        cells.BACKGROUND: "background",
        cells.GRID: "grid",
        cells.LANGUAGE: "language",
    }

    def reading(name, *writes):
        anna, ben = Writer(ANNA), Writer(BEN)
        data = [writer.write(batches.at(0), create(cells.SETTINGS)) for writer in (anna, ben)]
        for who, time, target, number, shape, value in writes:
            writer = {"anna": anna, "ben": ben}[who]
            data.append(writer.write(batches.at(time), (target, number, None, shape, value)))
        found = views.settings_of(state_of(data))
        return {
            "name": name,
            "batches": [batch.hex() for batch in data],
            "settings": {
                names[number]: value.decode() if isinstance(value, bytes) else str(value)
                for number, value in sorted(found.items())
            },
        }

    title = ("anna", 1, mine, cells.TITLE, STRING, b"Plan")
    other = ("ben", 2, theirs, cells.TITLE, STRING, b"Sketch")
    return [
        reading("none"),
        reading(
            "all of one object", title, ("anna", 1, mine, cells.BACKGROUND, UNSIGNED, 0xFFFFFFFF),
            ("anna", 1, mine, cells.GRID, UNSIGNED, 640),
            ("anna", 1, mine, cells.LANGUAGE, STRING, b"en"),
        ),
        reading("the later of two objects", title, other),
        reading("each by itself", title, other, ("anna", 9, mine, cells.GRID, UNSIGNED, 320)),
        reading("equal times: the greater incarnation", ("ben", 1, theirs, cells.TITLE, STRING, b"Sketch"), title),
        reading("a deleted object does not count", title, other, ("anna", 3, theirs, cells.DELETED, UNSIGNED, 1)),
        reading("another shape does not count", title, ("ben", 2, theirs, cells.TITLE, BYTES, b"Sketch")),
        reading("the longest title", title, ("ben", 2, theirs, cells.TITLE, STRING, b"t" * 256)),
        reading("one too long leaves it unset", title, ("ben", 2, theirs, cells.TITLE, STRING, b"t" * 257)),
        reading("an empty one leaves it unset", title, ("ben", 2, theirs, cells.TITLE, STRING, b"")),
        reading(
            "an object of another kind does not count", title,
            ("ben", 2, Dot(CARA, 1), cells.TITLE, STRING, b"Sketch"),
        ),
    ]


def chat():
    """Lines of Anna and Ben. The lines after a purged line keep their order."""
    year, at = 31_557_600_000, batches.at

    def reading(name, *lines, wall=0, purged=()):
        writers = {"anna": Writer(ANNA), "ben": Writer(BEN)}
        data, ids = [], {}
        for who, time, words in lines:
            writer = writers[who]
            line = ids[words] = Dot(writer.incarnation, writer.sequence + 1)
            data.append(
                writer.write(
                    time,
                    create(cells.CHAT),
                    (line, cells.CHAT_AUTHOR, None, BYTES, MEMBER),
                    (line, cells.CHAT_TEXT, None, STRING, words.encode()),
                    (line, cells.CHAT_TIME, None, UNSIGNED, time >> 16),
                )
            )
        for words in purged:
            data.append(writers["ben"].write(at(0), (ids[words], cells.PURGE, None, NONE, None)))
        state = state_of(data)
        latest = views.latest_line(state)
        return {
            "name": name,
            "batches": [batch.hex() for batch in data],
            "lines": [text for _, text in views.chat_lines(state, {})],
            "wall": str(1_700_000_000_000 + wall),
            "after": None if latest is None else str(latest),
        }

    far = ("ben", at(20 * year), "far ahead")
    return [
        reading("none"),
        reading("in the order of their times", ("anna", at(2), "b"), ("ben", at(1), "a"), ("anna", at(3), "c")),
        reading("equal times: the lesser id first", ("ben", at(1), "b"), ("anna", at(1), "a")),
        reading("the next line of a clock that was set back", ("anna", at(2), "a"), wall=-year),
        reading("the next line after one of a clock years ahead", ("anna", at(2), "a"), far, wall=5),
        reading("one that was purged is not here", ("anna", at(2), "a"), far, purged=["far ahead"]),
        reading("nothing follows the end of all times", ("anna", 2**63 - 4097, "z"), wall=1),
    ]


def groups():
    return {
        "messages": all_messages(),
        "profiles": profiles(),
        "datagrams": datagrams(),
        "presence": presence(),
        "groups": group_readings(),
        "settings": settings(),
        "chat": chat(),
        "outOfRange": out_of_range(),
    }
