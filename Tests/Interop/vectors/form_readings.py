"""Forms, their styles, points and labels (BRD-48 to BRD-51), and bound ends (BRD-52)."""

import struct

from whiteboard_peer import cells, codec, layout, outlines, views
from whiteboard_peer.cells import BYTES, DRAWING, NONE, PAIR, SIGNED, TEXT, UNSIGNED, Dot
from whiteboard_peer.codec import zigzag

from . import batches
from .forms import ANNA, BEN, create, state_of, varint
from .readings import Writer

OWN = Dot(ANNA, 1)
KEY = 1 << 32
NAMES = dict(enumerate(views.FORMS, 1))


def number(value, digits=9):
    """Rounds numbers at any depth, so that the file does not depend on the last digits."""
    if isinstance(value, float):
        return round(value, digits) + 0.0
    if isinstance(value, dict):
        return {key: number(each) for key, each in value.items()}
    return [number(each) for each in value] if isinstance(value, (list, tuple)) else value


def path(outline):
    if outline is None:
        return None
    pieces = [[v for point in piece for v in point] for piece in outline.pieces]
    return number({"start": outline.start, "pieces": pieces, "isClosed": outline.is_closed})


def described(state, identifier):
    found = views.label_of(state, identifier)
    label = {}
    if found:
        label["label"] = number({"columns": layout.columns_in(found[0]), "center": found[1]})
    return {
        "reads": number(views.describe(state, identifier)),
        **label,
        "outline": path(views.outline_of(state, identifier)),
        "endMarks": [path(mark) for mark in views.end_marks_of(state, identifier)],
    }


def reading(name, *data):
    """A vector with the readings of all objects after these batches, in any order."""
    state = state_of(data)
    if state_of(data[:1] + data[:0:-1]).digest() != state.digest():
        raise AssertionError(name)
    objects = {views.object_text(i): described(state, i) for i in views.drawn_objects(state)}
    return {"name": name, "batches": [batch.hex() for batch in data], "objects": objects}


def cell(property_number, value):
    """A cell whose value has the shape of its property."""
    shape = UNSIGNED if isinstance(value, int) else PAIR if isinstance(value, tuple) else BYTES
    return (OWN, property_number, None, shape, value)


def units(*values):
    return tuple(round(v * 64) for v in values)


def of_form(form, *more):
    """The operations that create a form with line width 2."""
    return [create(DRAWING), cell(cells.FORM, form), cell(cells.LINE_WIDTH, 128), *more]


def points(*places, first=1):
    return [(OWN, cells.POINT, (first + k) * KEY, PAIR, units(*place)) for k, place in enumerate(places)]


def point(key, *place):
    """Operation that writes a point; without a place, it removes the point."""
    return (OWN, cells.POINT, key, PAIR, units(*place)) if place else (OWN, cells.POINT, key, NONE, None)


def one(name, operations, *later):
    """A vector of one object: the first batch has `operations`, and each later batch is (author, operations)."""
    writers = {"anna": Writer(ANNA), "ben": Writer(BEN)}
    data = [writers["anna"].write(batches.at(0), *operations)]
    for time, (who, changes) in enumerate(later, 1):
        data.append(writers[who].write(batches.at(time), *changes))
    return reading(name, *data)


def run(words, anchor=codec.ROOT, character=None):
    return (OWN, cells.RUN, "own", BYTES, codec.encode_run(anchor, character, words))


def sizes():
    ink = codec.encode_ink([(0, 0, 0), (160, 80, 0)])
    ignored = [
        (OWN, cells.INK, 0, BYTES, ink), cell(cells.END, 2),
        (OWN, cells.ERASURE, "own", BYTES, codec.encode_erasure([(8, 16)])),
    ]
    wide = cell(cells.SIZE, units(300, 40.5))
    yield from (one(f"{name}, no size and no points", of_form(form)) for form, name in NAMES.items())
    yield from (one(f"{name} of a size", of_form(form, wide)) for form, name in NAMES.items() if form > 2)
    yield one("no line width", [create(DRAWING), cell(cells.FORM, outlines.ARROW), *points((0, 0), (100, 0))])
    yield one("the greatest corners", of_form(outlines.ROUNDED, cell(cells.SIZE, units(400, 128))))
    yield one("no width", of_form(outlines.ROUNDED, cell(cells.SIZE, (0, 6_400))))
    yield one("no width and no height", of_form(outlines.ELLIPSE, cell(cells.SIZE, (0, 0))))
    yield one("a negative size is the usual one", of_form(outlines.NOTE, cell(cells.SIZE, (640, -1))))
    yield one("a line ignores its size", of_form(outlines.LINE, wide, *points((-10, 0), (10, 30))))
    yield one("a position", of_form(outlines.DIAMOND, cell(cells.POSITION, units(-5.5, 1_000.25))))
    turned = [cell(cells.POSITION, units(10, 20)), cell(cells.SCALE, 131_072), cell(cells.ANGLE, 512)]
    yield one("a rectangle, scaled and rotated", of_form(outlines.RECTANGLE, wide, *turned))
    yield one("form 9 is a rectangle", of_form(9, wide))
    yield one("form 2^64 - 1 is a rectangle", of_form(2**64 - 1))
    yield one("form 0 is ink", of_form(0, wide, *ignored))
    yield one("ink without points", of_form(0))
    yield one("ink without points, of a size", of_form(0, wide))
    yield one("a form of another shape is ink", [create(DRAWING), (OWN, cells.FORM, None, SIGNED, 3), *ignored])
    yield one("a form ignores ink, end and erasures", of_form(outlines.RECTANGLE, *ignored))
    yield one("a text has no form", [create(TEXT), cell(cells.FORM, 5), wide, run("text")])
    yield one("a form that becomes another", of_form(outlines.RECTANGLE, wide), ("ben", [cell(cells.FORM, 5)]))
    yield one("a form that two members change", of_form(outlines.RECTANGLE, wide),
              ("anna", [cell(cells.FORM, 7)]), ("ben", [cell(cells.FORM, 6), cell(cells.SIZE, units(8, 6))]))
    yield one("ink that becomes a form", [create(DRAWING), *ignored], ("ben", [cell(cells.FORM, 4)]))
    yield one("a line that becomes a rectangle", of_form(outlines.LINE, *points((0, 0), (9, 9))), ("ben", [cell(cells.FORM, 3)]))
    yield one("a rectangle that becomes an arrow", of_form(outlines.RECTANGLE, wide), ("ben", [cell(cells.FORM, 2)]))


STYLES = [
    ("fill", cells.FILL, outlines.RECTANGLE, [0, 0xFF00007F, 0xFFFFFFFF, 2**32]),
    ("fill of a note", cells.FILL, outlines.NOTE, [0, 0x112233FF, 2**32]),
    ("line style", cells.LINE_STYLE, outlines.ELLIPSE, [0, 1, 2, 3]),
    ("opacity", cells.OPACITY, outlines.DIAMOND, [0, 128, 254, 255, 256, 2**64 - 1]),
    ("line start", cells.LINE_START, outlines.LINE, [0, 1, 2, 3, 4, 5]),
    ("line end", cells.LINE_END, outlines.LINE, [0, 1, 2, 3, 4, 5]),
    ("line start of an arrow", cells.LINE_START, outlines.ARROW, [0, 1, 5]),
    ("line end of an arrow", cells.LINE_END, outlines.ARROW, [0, 1, 2, 5, 2**64 - 1]),
    ("curve", cells.CURVE, outlines.LINE, [0, 1, 2, 2**64 - 1]),
    ("text size", cells.TEXT_SIZE, outlines.RECTANGLE, [0, 1, 63, 64, 1_024, 1_600, 65_536, 65_537, 2**64 - 1]),
    ("typeface", cells.TYPEFACE, outlines.RECTANGLE, [0, 1, 2, 3]),
    ("alignment", cells.ALIGNMENT, outlines.RECTANGLE, [0, 1, 2, 3]),
    ("emphasis", cells.EMPHASIS, outlines.RECTANGLE, [0, 1, 2, 3, 4, 7, 2**64 - 1]),
    ("text color", cells.TEXT_COLOUR, outlines.NOTE, [0, 0x112233FF, 2**32]),
    ("auto width", cells.AUTO_WIDTH, outlines.RECTANGLE, [0, 1, 2]),
]


def styles():
    line = points((0, 0), (40, 30), (100, 30))
    for name, property_number, form, values in STYLES:
        for value in values:
            content = line if form in outlines.HAS_POINTS else []
            yield one(f"{name} {value}", of_form(form, *content, cell(property_number, value)))
        wrong = (OWN, property_number, None, SIGNED, 1)
        yield one(f"{name} of another shape", of_form(form, *(line if form in outlines.HAS_POINTS else []), wrong))
    every = [(cells.FILL, 0xFFFF0080), (cells.OPACITY, 51), (cells.TEXT_SIZE, 2_048), (cells.TYPEFACE, 2)]
    every += [(cells.ALIGNMENT, 1), (cells.EMPHASIS, 3), (cells.AUTO_WIDTH, 1), (cells.TEXT_COLOUR, 0xFF)]
    yield one("styles of a text", [create(TEXT), run("words"), *(cell(*style) for style in every)])
    yield one("the usual alignment of a text", [create(TEXT), cell(cells.ALIGNMENT, 0)])
    stroke = (OWN, cells.INK, 0, BYTES, codec.encode_ink([(0, 0, 0), (160, 80, 0)]))
    yield one("styles of ink", [create(DRAWING), stroke, *(cell(*style) for style in every), cell(cells.LINE_END, 1)])
    yield one("styles of two members", of_form(outlines.NOTE, cell(cells.FILL, 0xFF)),
              ("anna", [cell(cells.FILL, 0x112233FF), cell(cells.EMPHASIS, 1)]),
              ("ben", [cell(cells.FILL, 0x445566FF), cell(cells.OPACITY, 102)]))


def lines():
    def line(name, *places, form=outlines.LINE, more=()):
        return one(name, of_form(form, *points(*places), *more))

    curve = cell(cells.CURVE, 1)
    corner = (0, 0), (100, 0), (100, 60)
    ring = (*corner, (0, 0))
    yield line("one point", (5, -5))
    yield line("one point with marks", (5, -5), form=outlines.ARROW)
    yield line("two points", (-50, -20), (50, 20))
    yield line("two equal points", (3, 3), (3, 3), form=outlines.ARROW)
    yield line("a closed line", *ring)
    yield line("a closed line of three points", (0, 0), (30, 10), (0, 0))
    yield line("a curve of two points is straight", (0, 0), (30, 10), more=[curve])
    yield line("a curve", *corner, more=[curve])
    yield line("a curve of five points", (0, 0), (20, 40), (60, 40), (80, -40), (140, 0), more=[curve])
    yield line("a closed curve", *ring, more=[curve])
    yield line("a curve with a point twice", (0, 0), (0, 0), (100, 50), (100, 50), form=outlines.ARROW,
               more=[curve, cell(cells.LINE_START, 1)])
    yield line("points far away", (-2**25, 0), (2**25 - 1 / 64, 2**25 - 1 / 64))
    yield line("steps of 1/64", (0, 1 / 64), (-1 / 64, 2.5))
    for name, bend in (("straight", []), ("curved", [curve])):
        for mark in range(1, 5):
            both = [cell(cells.LINE_START, mark), cell(cells.LINE_END, mark)]
            yield line(f"mark {mark}, {name}", (0, 0), (30, 40), (100, 40), more=[*both, *bend])
    yield line("marks of a wide line", (0, 0), (400, 0), form=outlines.ARROW, more=[cell(cells.LINE_WIDTH, 1_280)])
    yield line("marks of a short line", (0, 0), (3, 4), form=outlines.ARROW, more=[cell(cells.LINE_START, 2)])
    yield line("marks of a closed line", *ring, form=outlines.ARROW)
    yield line("marks of a closed curve", *ring, form=outlines.ARROW, more=[curve, cell(cells.LINE_START, 3)])
    yield line("a mark behind a point twice", (0, 0), (50, 0), (50, 0), form=outlines.ARROW)
    turned = [cell(cells.POSITION, units(10, 20)), cell(cells.SCALE, 131_072)]
    yield line("a line beside its position, scaled", *corner, more=turned)
    yield line("a line beside its position, a quarter turn", *corner, more=[*turned, cell(cells.ANGLE, 1_024)])
    yield line("a curve beside its position, an eighth turn", *corner, more=[*turned, cell(cells.ANGLE, 512), curve])


def edited_points():
    """Points that two members insert, move and remove. Two batches of one member have keys in this order."""
    start = of_form(outlines.LINE, *points((0, 0), (100, 0), (200, 50)))

    def edited(name, *later, first=start):
        return one(name, first, *later)

    yield edited("a point between two others", ("ben", [point(KEY + KEY // 2 + 5, 50, 30)]))
    yield edited("two members add a point at the same place",
                 ("anna", [point(KEY + KEY // 2 + 11, 50, 30)]), ("ben", [point(KEY + KEY // 2 + 7, 50, -30)]))
    yield edited("two members move a point", ("anna", [point(2 * KEY, 100, 10)]), ("ben", [point(2 * KEY, 100, 20)]))
    yield edited("a point that was removed", ("ben", [point(2 * KEY)]))
    yield edited("moved and removed", ("anna", [point(2 * KEY)]), ("ben", [point(2 * KEY, 1, 2)]))
    yield edited("removed and moved", ("anna", [point(2 * KEY, 1, 2)]), ("ben", [point(2 * KEY)]))
    yield edited("an end that was removed", ("ben", [point(3 * KEY)]))
    yield edited("a point before the first", ("ben", [point(1, -40, -40)]))
    yield edited("a point with key 0", ("ben", [point(0, -40, -40)]))
    yield edited("a point with the greatest key", ("ben", [point(2**64 - 1, 300, 0)]))
    yield edited("all points were removed", ("ben", [point(k * KEY) for k in (1, 2, 3)]))
    wrong = (OWN, cells.POINT, 2 * KEY, UNSIGNED, 7)
    yield edited("a point of another shape", ("ben", [wrong]))
    many = [point(k) for k in range(10, 10 + 4_094)]
    yield one("the point with number 4096", of_form(outlines.LINE, point(1, 8, 8)), ("anna", many), ("ben", [point(2**20, 16, 8)]))
    yield one("the point with number 4097", of_form(outlines.LINE, point(1, 8, 8)), ("anna", [point(9), *many]), ("ben", [point(2**20, 16, 8)]))


def labels():
    box = of_form(outlines.RECTANGLE)
    yield one("a label", [*box, run("Login server")])
    yield one("labels of two members", box, ("anna", [run("Anna ")]), ("ben", [run("Ben")]))
    first = Dot(ANNA, 4)
    typed = [*box, run("ab")]
    yield one("two members type in a label", typed, ("anna", [run("X", codec.RIGHT, (first, 1))]), ("ben", [run("Y", codec.RIGHT, (first, 1))]))
    gone = (OWN, cells.DELETION, "own", BYTES, codec.encode_deletion(first, 0, 2))
    yield one("a label that was deleted", typed, ("ben", [gone]))
    yield one("a label of a line", of_form(outlines.ARROW, *points((0, 0), (100, 0)), run("sends")))
    stroke = (OWN, cells.INK, 0, BYTES, codec.encode_ink([(0, 0, 0), (160, 80, 0)]))
    yield one("ink has no label", [create(DRAWING), stroke, run("words")])
    yield one("a malformed run", [*box, (OWN, cells.RUN, "own", BYTES, b"\3abc")])


def bound(target, anchor=(0, 0), exact=0):
    """The value of a binding, with an anchor in steps of 1/4096."""
    return struct.pack(">Q", target.incarnation) + varint(target.sequence) + b"".join(map(zigzag, anchor)) + bytes([exact])


def bindings():
    """Object 1 is the line, with points at (0, 0) and (400, 100); Ben's objects are the targets."""
    left, right = Dot(BEN, 1), Dot(BEN, 9)

    def target(writer, kind, *written):
        own = Dot(writer.incarnation, writer.sequence + 1)
        return [create(kind), *((own, n, None, UNSIGNED if isinstance(v, int) else PAIR, v) for n, v in written)]

    def case(name, form, *written, kind=DRAWING, more=(), anchor=(0, 0), exact=0, places=((0, 0), (400, 100)), line=()):
        anna, ben = Writer(ANNA), Writer(BEN)
        content = [(cells.FORM, form)] if form else []
        content += [(cells.POSITION, units(400, 100)), (cells.SIZE, units(120, 60)), *written]
        made = ben.write(batches.at(0), *target(ben, kind, *content))
        end = (OWN, cells.END_BINDING, None, BYTES, bound(left, anchor, exact))
        drawn = anna.write(batches.at(1), *of_form(outlines.ARROW, *points(*places), end, *line))
        later = [ben.write(batches.at(2 + n), *changes) for n, changes in enumerate(more)]
        return reading(name, made, drawn, *later)

    def change(property_number, value, shape=UNSIGNED):
        return [(left, property_number, None, shape, value)]

    for form in range(outlines.RECTANGLE, outlines.NOTE + 1):
        yield case(f"bound to {NAMES[form]}", form)
    yield case("bound to a text", None, kind=TEXT)
    yield case("bound to a scaled and rotated diamond", outlines.DIAMOND, (cells.SCALE, 131_072), (cells.ANGLE, 300))
    yield case("bound to a wide outline", outlines.ELLIPSE, (cells.LINE_WIDTH, 1_280))
    yield case("an anchor", outlines.RECTANGLE, anchor=(-1_024, 2_000))
    yield case("an anchor outside", outlines.RECTANGLE, anchor=(0, 4_096))
    yield case("an exact anchor", outlines.ELLIPSE, anchor=(-2_048, 0), exact=1)
    yield case("the greatest anchor", outlines.RECTANGLE, anchor=(65_536, -65_536))
    yield case("an anchor beyond it", outlines.RECTANGLE, anchor=(65_537, 0))
    yield case("from inside", outlines.RECTANGLE, places=((390, 100), (500, 100)))
    yield case("a neighbor between", outlines.RECTANGLE, places=((0, 0), (400, -200), (1, 1)))
    yield case("a curve", outlines.RECTANGLE, places=((0, 0), (300, -200), (1, 1)), line=[cell(cells.CURVE, 1)])
    turned = [cell(cells.SCALE, 32_768), cell(cells.ANGLE, 700), cell(cells.POSITION, units(30, -20))]
    yield case("a line that is scaled and rotated", outlines.RECTANGLE, line=turned)
    yield case("one point is not bound", outlines.RECTANGLE, places=((5, 5),))
    yield case("moved", outlines.RECTANGLE, more=[change(cells.POSITION, units(0, 300), PAIR)])
    yield case("resized", outlines.RECTANGLE, more=[change(cells.SIZE, units(300, 20), PAIR)])
    yield case("deleted", outlines.RECTANGLE, more=[change(cells.DELETED, 1)])
    yield case("restored", outlines.RECTANGLE, more=[change(cells.DELETED, 1), change(cells.DELETED, 0)])
    yield case("purged", outlines.RECTANGLE, more=[change(cells.DELETED, 1), change(cells.PURGE, None, NONE)])
    yield case("a target that becomes a line", outlines.RECTANGLE, more=[change(cells.FORM, outlines.LINE)])
    released = [(OWN, cells.END_BINDING, None, NONE, None)]
    yield case("released", outlines.RECTANGLE, more=[released])

    anna, ben = Writer(ANNA), Writer(BEN)
    data = [
        ben.write(batches.at(0), *target(ben, DRAWING, (cells.FORM, 5), (cells.POSITION, units(0, 0)),
                                         (cells.SIZE, units(100, 80)), (cells.LINE_WIDTH, 128))),
        ben.write(batches.at(0), *[create(cells.GROUP_KIND)] * 3),
        ben.write(batches.at(1), *target(ben, DRAWING, (cells.FORM, 6), (cells.POSITION, units(300, 200)))),
        anna.write(batches.at(1), *of_form(outlines.LINE, *points((0, 0), (1, 1)))),
        anna.write(batches.at(2), (OWN, cells.START_BINDING, None, BYTES, bound(left, (1_000, 0)))),
        ben.write(batches.at(2), (OWN, cells.END_BINDING, None, BYTES, bound(right))),
    ]
    yield reading("both ends, bound by two members", *data)
    both = [(left, units(-100, 40)), (right, units(250, -150))]
    moves = [w.write(batches.at(3), (o, cells.POSITION, None, PAIR, to)) for w, (o, to) in zip((anna, ben), both)]
    yield reading("both ends, moved by two members at once", *data, *moves)
    for name, value in (
        ("to itself", bound(OWN)), ("to an object that does not exist", bound(Dot(BEN, 77))),
        ("with flags 2", bound(left, exact=2)), ("with a byte too many", bound(left) + b"\0"), ("cut", bound(left)[:-1]),
        ("to incarnation 0", bytes(8) + bound(left)[8:]),
    ):
        yield one(f"bound {name}", of_form(outlines.LINE, *points((0, 0), (9, 9))),
                  ("ben", [(OWN, cells.START_BINDING, None, BYTES, value)]))


def groups():
    found = [sizes, styles, lines, edited_points, labels, bindings]
    return {"forms": [vector for part in found for vector in part()]}
