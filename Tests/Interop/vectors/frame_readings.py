"""Frames, links, votes, comments, and the parts of photos that are shown (BRD-54 to BRD-58)."""

import struct

from whiteboard_peer import cells, outlines, views
from whiteboard_peer.cells import BYTES, DRAWING, NONE, PHOTO, STRING, TEXT, UNSIGNED, Dot
from whiteboard_peer.wire import base32

from . import batches
from .form_readings import OWN, bound, cell, of_form, one, points, reading, run, units
from .forms import ANNA, BEN, CARA, MEMBER, create, state_of
from .readings import Writer

FRAME = Dot(BEN, 1)


def frames():
    """Object 1 of Ben is the frame, and object 1 of Anna the object that belongs to it."""

    def case(name, *changes, kind=DRAWING, frame=outlines.FRAME, named=FRAME, made=()):
        anna, ben = Writer(ANNA), Writer(BEN)
        framed = [create(DRAWING), (FRAME, cells.FORM, None, UNSIGNED, frame)]
        data = [
            ben.write(batches.at(0), *framed),
            anna.write(batches.at(1), create(kind), *made, (OWN, cells.FRAME, None, cells.DOT, named)),
        ]
        data += [ben.write(batches.at(2 + n), change) for n, change in enumerate(changes)]
        return reading(f"frame: {name}", *data)

    def deleted(value):
        return (FRAME, cells.DELETED, None, UNSIGNED, value)

    yield case("a drawing")
    yield case("a text", kind=TEXT)
    yield case("a photo", kind=PHOTO)
    yield case("a frame does not belong to a frame", made=[cell(cells.FORM, outlines.FRAME)])
    yield case("itself", named=OWN, made=[cell(cells.FORM, outlines.FRAME)])
    yield case("a rectangle is no frame", frame=outlines.RECTANGLE)
    yield case("form 9 is no frame", frame=9)
    yield case("a frame that does not exist", named=Dot(CARA, 1))
    yield case("a deleted frame", deleted(1))
    yield case("a restored frame", deleted(1), deleted(0))
    yield case("a purged frame", deleted(1), (FRAME, cells.PURGE, None, NONE, None))
    yield case("a frame that becomes a rectangle", (FRAME, cells.FORM, None, UNSIGNED, outlines.RECTANGLE))
    yield case("a rectangle that becomes a frame", (FRAME, cells.FORM, None, UNSIGNED, outlines.FRAME), frame=3)
    yield case("released", (OWN, cells.FRAME, None, NONE, None))

    name, size = run("Page 1"), cell(cells.SIZE, units(300, 200))
    turned = [cell(cells.POSITION, units(30, -20)), cell(cells.SCALE, 98_304), cell(cells.ANGLE, 700)]
    yield one("a frame of the usual size", of_form(outlines.FRAME))
    yield one("name of a frame", of_form(outlines.FRAME, size, name))
    yield one("name of a frame with two rows", of_form(outlines.FRAME, size, run("First\nSecond page"), cell(cells.TEXT_SIZE, 1_536)))
    yield one("a long name of a frame", of_form(outlines.FRAME, cell(cells.SIZE, units(20, 10)), run("A long name for a page " * 5)))
    yield one("name of a frame, right and scaled", of_form(outlines.FRAME, size, name, cell(cells.ALIGNMENT, 2), *turned))
    anna, ben = Writer(ANNA), Writer(BEN)
    framed = [create(DRAWING), (FRAME, cells.FORM, None, UNSIGNED, outlines.FRAME), (FRAME, *size[1:]), (FRAME, *name[1:])]
    drawn = of_form(outlines.ARROW, *points((400, 20), (0, 0)), cell(cells.END_BINDING, bound(FRAME)))
    yield reading("bound to a frame", ben.write(batches.at(0), *framed), anna.write(batches.at(1), *drawn))


LINKS = {
    "an address": "https://example.org/a?b=c#d", "a host": "https://example.org", "a host and a port": "https://example.org:8443/",
    "the shortest host": "https://x", "a query after the host": "https://example.org?q", "a fragment after the host": "https://example.org#top",
    "an address of version 6": "https://[2001:db8::1]/", "no host": "https://", "an empty host": "https:///path", "a host that begins with a query": "https://?q",
    "a user": "https://anna@example.org/", "a user and a password": "https://anna:x@example.org", "an at sign in the path": "https://example.org/@anna",
    "an at sign in the query": "https://example.org?mail=anna@example.org", "another scheme": "http://example.org", "a script": "javascript:alert(1)",
    "upper case": "HTTPS://example.org", "no scheme": "//example.org", "a space": "https://example.org/a b", "a space first": " https://example.org",
    "a line feed at the end": "https://example.org\n", "a quotation mark": 'https://example.org/"', "a backslash": "https://example.org\\@x",
    "a letter beyond ASCII": "https://exämple.org", "a control character": "https://example.org/\x7f", "the last printable characters": "https://example.org/!~",
    "an object": f"#{views.object_text(OWN)}", "an object that does not exist": f"#{views.object_text(Dot(CARA, 7))}",
    "no object": "#", "a name": "#top", "an object and more": f"#{views.object_text(OWN)}/", "sequence 0": f"#0-{views.object_text(OWN)[2:]}", "nothing": "",
    "2048 bytes": "https://example.org/".ljust(2_048, "x"), "2049 bytes": "https://example.org/".ljust(2_049, "x"),
}


def links():
    for name, link in LINKS.items():
        yield one(f"link: {name}", of_form(outlines.RECTANGLE, (OWN, cells.LINK, None, STRING, link.encode())))
    yield one("link: bytes", of_form(outlines.RECTANGLE, (OWN, cells.LINK, None, BYTES, b"https://example.org")))
    yield one("link: removed", [create(PHOTO), (OWN, cells.LINK, None, STRING, b"https://example.org")],
              ("ben", [(OWN, cells.LINK, None, NONE, None)]))


def parts_of_photos():
    def photo(name, *more):
        return one(f"photo: {name}", [create(PHOTO), *more])

    def crop(*sides):
        return cell(cells.CROP, struct.pack(f">{len(sides)}H", *sides))

    yield photo("cropped", crop(6_553, 13_107, 32_768, 65_535))
    yield photo("all of it", crop(0, 0, 65_535, 65_535))
    yield photo("the least part", crop(0, 65_534, 1, 65_535))
    yield photo("no width", crop(9, 0, 9, 65_535))
    yield photo("the right before the left", crop(10, 0, 9, 65_535))
    yield photo("no height", crop(0, 7, 65_535, 7))
    yield photo("three sides", crop(0, 0, 9))
    yield photo("five sides", crop(0, 0, 9, 9, 9))
    yield photo("a crop that was removed", crop(1, 2, 3, 4), (OWN, cells.CROP, None, NONE, None))
    for flip in (0, 1, 2, 3, 4, 7, 2**64 - 1):
        yield photo(f"flip {flip}", cell(cells.FLIP, flip))
    yield one("a form ignores crop and flip", of_form(outlines.RECTANGLE, crop(1, 2, 3, 4), cell(cells.FLIP, 3)))


def vote(reaction, given=1):
    return bytes([given]) + reaction


def votes():
    """Anna and Ben have the incarnations ANNA and BEN; CARA is a second incarnation of Ben. The last incarnation has no record."""
    members = {ANNA: MEMBER, BEN: MEMBER[::-1], CARA: MEMBER[::-1]}
    stranger = 7

    def case(name, *given, kind=TEXT):
        """Each of `given` is (incarnation, time, value), or (incarnation, time, value, offset of the qualifier)."""
        writers = {who: Writer(who) for who in (*members, stranger)}
        data = [writers[ANNA].write(batches.at(0), create(kind))]
        for who, time, *values in given:
            operations = []
            for number, value in enumerate(values, 1):
                dot = Dot(who, writers[who].sequence + number)
                # A value of None undoes the first vote of the same incarnation.
                first = Dot(who, 2 if who == ANNA else 1)
                shape = NONE if value is None else BYTES
                operations.append((OWN, cells.VOTE, first if value is None else dot, shape, value))
            data.append(writers[who].write(batches.at(time), *operations))
        state = state_of(data)
        if state_of(data[:1] + data[:0:-1]).digest() != state.digest():
            raise AssertionError(name)
        found = views.votes_of(state, OWN, members.get)
        return {
            "name": name,
            "batches": [batch.hex() for batch in data],
            "votes": [{"reaction": key, "members": [base32(one) for one in found[key]]} for key in found],
        }

    up, down = "👍".encode(), b"-"
    many = [vote(b"x")] * 2_048
    return {
        "members": {base32(struct.pack(">Q", who)): member.hex() for who, member in members.items()},
        "valid": [
            case("none"),
            case("one", (ANNA, 1, vote(up))),
            case("two members", (ANNA, 1, vote(up)), (BEN, 2, vote(up))),
            case("two reactions", (ANNA, 1, vote(up)), (ANNA, 2, vote(down))),
            case("the same vote twice", (ANNA, 1, vote(up)), (ANNA, 2, vote(up))),
            case("two forms of one letter", (ANNA, 1, vote("é".encode())), (BEN, 2, vote("e\u0301".encode()))),
            case("the same vote from two incarnations", (BEN, 1, vote(up)), (CARA, 2, vote(up))),
            case("withdrawn", (ANNA, 1, vote(up)), (ANNA, 2, vote(up, 0))),
            case("withdrawn by another incarnation", (BEN, 1, vote(up)), (CARA, 2, vote(up, 0))),
            case("withdrawn before it was given", (BEN, 2, vote(up)), (CARA, 1, vote(up, 0))),
            case("withdrawn and given again", (ANNA, 1, vote(up)), (ANNA, 2, vote(up, 0)), (ANNA, 3, vote(up))),
            case("another reaction is withdrawn", (ANNA, 1, vote(up)), (ANNA, 2, vote(down, 0))),
            case("a vote that is undone", (ANNA, 1, vote(up)), (ANNA, 2, None)),
            case("a withdrawal that is undone", (BEN, 1, vote(up, 0)), (CARA, 0, vote(up)), (BEN, 2, None)),
            case("equal times: the greater incarnation", (BEN, 1, vote(up)), (CARA, 1, vote(up, 0))),
            case("without a record", (stranger, 1, vote(up))),
            case("given 2", (ANNA, 1, vote(up, 2))),
            case("no reaction", (ANNA, 1, vote(b""))),
            case("nothing", (ANNA, 1, b"")),
            case("16 bytes", (ANNA, 1, vote(b"x" * 16))),
            case("17 bytes", (ANNA, 1, vote(b"x" * 17))),
            case("not UTF-8", (ANNA, 1, vote(b"\xff"))),
            case("the vote with number 4096 counts, and the next one does not", (ANNA, 1, *many[1:]), (BEN, 1, *many),
                 (CARA, 1, vote(up), vote(down))),
            case("of a stroke", (ANNA, 1, vote(up)), kind=DRAWING),
        ],
    }


def comments():
    """Lines of Anna, and objects of Ben."""
    line, target = Dot(ANNA, 1), Dot(BEN, 1)

    def case(name, *more, later=()):
        anna, ben = Writer(ANNA), Writer(BEN)
        said = [
            create(cells.CHAT), (line, cells.CHAT_AUTHOR, None, BYTES, MEMBER),
            (line, cells.CHAT_TEXT, None, STRING, b"Why?"), (line, cells.CHAT_TIME, None, UNSIGNED, 1_700_000_000_000),
        ]
        data = [ben.write(batches.at(0), create(TEXT)), anna.write(batches.at(1), *said, *more)]
        data += [ben.write(batches.at(2 + n), *changes) for n, changes in enumerate(later)]
        found = views.comment_of(state_of(data), line)
        return {"name": name, "batches": [batch.hex() for batch in data], "line": views.object_text(line), **found}

    about = (line, cells.ABOUT, None, cells.DOT, target)

    def settled(value):
        return (line, cells.RESOLVED, None, UNSIGNED, value)

    return [
        case("a line"),
        case("about an object", about),
        case("about an object that does not exist", (line, cells.ABOUT, None, cells.DOT, Dot(CARA, 7))),
        case("about an object that was deleted", about, later=[[(target, cells.DELETED, None, UNSIGNED, 1)]]),
        case("settled", about, later=[[settled(1)]]),
        case("settled with another value", about, later=[[settled(2**64 - 1)]]),
        case("open again", about, later=[[settled(1)], [settled(0)]]),
        case("a settled line about nothing", later=[[settled(1)]]),
    ]


def groups():
    found = [frames, links, parts_of_photos]
    return {
        "votes": votes(),
        "comments": comments(),
        "forms": [vector for part in found for vector in part()],
    }
