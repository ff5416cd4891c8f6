"""The layout of texts and labels, and the boxes in which they are shown (BRD-53)."""

from whiteboard_peer import cells, codec, layout, outlines
from whiteboard_peer.cells import BYTES, DRAWING, TEXT, Dot

from . import batches
from .form_readings import NAMES, OWN, bound, cell, of_form, one, points, reading, run, units
from .forms import ANNA, BEN, create
from .readings import Writer

AUTO = cell(cells.AUTO_WIDTH, 1)
FAMILY = "👨\u200d👩\u200d👧"
WORDS = "Anyone can move a box, and the arrow follows."


def of_text(words, *more):
    return [create(TEXT), *([run(words)] if words else []), *more]


def width(columns, size=16):
    """A size with the width of these columns."""
    return cell(cells.SIZE, units(columns * size / 2, 50))


def columns():
    """The columns of all characters from U+0300 on that do not have one column, as (first, last, columns)."""
    found = []
    for value in range(0x300, 0x110000):
        count = 1 if 0xD800 <= value < 0xE000 else layout.columns_of(chr(value))[0]
        if found and found[-1][1:] == [value - 1, count]:
            found[-1][1] = value
        elif count != 1:
            found.append([value, value, count])
    return found


CHARACTERS = {
    "letters": "Hi there", "accents": "äé", "combining marks": "e\u0301a\u0302\u0323", "a mark alone": "\u0301",
    "ideographs": "日本語", "kana and a combining voice mark": "か\u3099き", "Hangul": "한국", "Hangul of parts": "\u1112\u1161\u11ab\u1100\u1173",
    "final consonants alone": "\u11a8\u11a9", "full and half width": "Ａａ｡ｱ", "emoji": "🎉x🎉", "a family": FAMILY + "!",
    "a joiner before a letter": "a\u200db", "a joiner before an ideograph": "a\u200d日", "two joiners": "👨\u200d\u200d👩",
    "skin tones": "👍🏽👋🏿", "a skin tone alone": "🏽", "flags": "🇩🇪🇫🇷", "half a flag": "🇩x", "three halves": "🇩🇪🇫", "half flags with a mark between": "🇩\u0301🇪",
    "flag of a region": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "a heart as emoji": "❤️", "a heart as text": "❤︎", "keys": "1️⃣#️⃣",
    "a letter as emoji": "é\ufe0f", "a wide character as emoji": "🎉\ufe0f", "a mark as emoji": "e\u0301\ufe0f", "a selector alone": "\ufe0f",
    "a soft hyphen": "a\u00adb", "a soft hyphen as emoji": "a\u00ad\ufe0fb", "controls": "a\tb\rc\u0001d\u007fe", "Arabic and Hebrew": "مَرحبًا שלום",
    "Devanagari": "नमस्ते", "Thai": "กำลัง", "no width": "a\u200bb\u2060c\ufeffd", "directions": "\u202eabc\u202c\u2067x\u2069", "private use": "\ue000\U000f0000",
    "unassigned": "\u0378", "unassigned between wide ones": "\U0001fa75", "unassigned ideographs": "\U0002fffd\U0003fffd", "not characters": "\ufffe\U0010ffff",
}

BREAKS = [
    ("one row", 8, "one two"), ("at a space", 8, "one two three"), ("a space that does not fit", 4, "abcd efgh"),
    ("two spaces", 4, "abcd  efgh"), ("spaces at the end", 4, "abcd   "), ("spaces only", 4, "       "), ("a space first", 4, " abcdef"),
    ("a long word", 4, "abcdefghij"), ("a long word after a short one", 4, "a bcdefghij"), ("at the last space", 6, "a b cdefg"),
    ("no other space", 4, "ab\u00a0cd\tef\u3000gh"), ("a wide character", 5, "日本語"), ("a word that needs another break", 5, "a bcde語"),
    ("a word that just fits", 6, "a bcde語"), ("a wide character in half a place", 4, "abc日"), ("marks at a break", 4, "abce\u0301fg"),
    ("a mark after a space that does not fit", 4, "abcd \u0301efgh"), ("a mark after a space", 5, "ab \u0301cdefg"), ("marks first", 4, "\u0301\u0302abcde"),
    ("a family at a break", 5, "abcd" + FAMILY + "e"), ("joined words", 4, "👨\u200d👩\u200d👧👨\u200d👩\u200d👧👨"), ("a flag at a break", 5, "abcd🇩🇪🇫🇷"),
    ("half a flag at a break", 4, "abc🇩🇪🇫"), ("a space as emoji", 6, "ab \ufe0fcdef"), ("a space as emoji that does not fit", 4, "abc \ufe0fdef"),
    ("soft hyphens", 4, "ab\u00adcd\u00adef"), ("empty paragraphs", 8, "a\n\nb"), ("line feeds only", 8, "\n\n"), ("a line feed at the end", 8, "a\n"),
    ("a space before a line feed", 4, "abcd \nef"), ("a line feed at a break", 4, "abcd\nefgh"), ("half a flag on each side", 8, "🇩\n🇪"),
    ("a joiner before a line feed", 8, "👨\u200d\n👩"), ("a letter before a line feed and a selector", 8, "a\n\ufe0fb"), ("paragraphs", 12, WORDS + "\n\n" + WORDS),
]


def texts():
    for name, words in CHARACTERS.items():
        yield one(f"the columns of {name}", of_text(words, AUTO))
    for name, most, words in BREAKS:
        yield one(f"rows: {name}", of_text(words, width(most)))
        # The least number of columns of a text is 4, and of a label 1.
        yield one(f"rows of a label: {name}", of_form(outlines.RECTANGLE, run(words), cell(cells.SIZE, units(17 + 8 * (most - 3), 30))))
    yield one("rows: the most", of_text("x\n" * 1_999 + "y", width(4)))
    yield one("rows: one too many", of_text("x\n" * 1_998 + "longer\ny", AUTO))
    yield one("rows: far too many", of_text("long\n" * 1_999 + "word\nlonger still", AUTO))
    yield one("the most columns", of_text("x" * 4_097, AUTO))
    yield one("a text wider than the most columns", of_text("x" * 4_097, cell(cells.SIZE, units(100_000, 50))))
    for name, size in (("less than 4 columns", 31.5), ("almost 6 columns", 48 - 1 / 64), ("6 columns", 48)):
        yield one(f"a text of {name}", of_text("abcdefghi", cell(cells.SIZE, units(size, 10))))
    for size in (64, 448, 1_600, 65_536, 0, 2**40):
        yield one(f"a text of size {size}", of_text(WORDS, cell(cells.TEXT_SIZE, size)))


def boxes():
    turned = [cell(cells.POSITION, units(30, -20)), cell(cells.SCALE, 98_304), cell(cells.ANGLE, 700)]
    yield one("the box of an empty text", of_text(""))
    yield one("the box of a text", of_text(WORDS, width(20)))
    yield one("the box of a text, scaled and rotated", of_text(WORDS, *turned))
    yield one("the box of an empty text with an automatic width", of_text("", AUTO, cell(cells.TEXT_SIZE, 2_048)))
    for alignment, name in enumerate(("left", "center", "right", "unknown")):
        aligned = [AUTO, cell(cells.ALIGNMENT, alignment), width(5)]
        yield one(f"an automatic width, {name}", of_text("ab\ncdefg", *aligned))
        yield one(f"an automatic width, {name}, scaled and rotated", of_text("ab\ncdefg", *aligned, *turned, cell(cells.TEXT_SIZE, 1_500)))
    yield one("an automatic width without a position", of_text("abc", AUTO))
    yield one("an automatic width that is reverted", of_text(WORDS, AUTO, width(10)), ("ben", [cell(cells.AUTO_WIDTH, 0)]))
    first = Dot(ANNA, 2)
    yield one("an automatic width with words of two members", of_text("ab", AUTO),
              ("anna", [run("one\n", codec.LEFT, (first, 0))]), ("ben", [run(" more words", codec.RIGHT, (first, 1))]))

    size = cell(cells.SIZE, units(90, 40))
    for form, name in NAMES.items():
        if form in outlines.HAS_POINTS:
            continue
        yield one(f"label of {name}", of_form(form, run("Hi")))
        yield one(f"label that makes {name} higher", of_form(form, size, run(WORDS)))
        yield one(f"label of {name}, scaled and rotated", of_form(form, size, run(WORDS), *turned, cell(cells.TEXT_SIZE, 1_472)))
        yield one(f"label of {name} with an automatic width", of_form(form, size, run(WORDS), AUTO))
        yield one(f"label of {name} without room", of_form(form, cell(cells.SIZE, units(3, 0)), run("Hi 日本")))
        # The width of the letters makes 7/10 and 5/10 of the width a whole number of columns.
        yield one(f"label of {name} with whole columns", of_form(form, size, run(WORDS), cell(cells.TEXT_SIZE, 18 * 64)))


def labels_of_lines():
    def line(name, *places, more=(), words="sends\nto"):
        return one(f"label of a line, {name}", of_form(outlines.ARROW, *points(*places), run(words), *more))

    curve = cell(cells.CURVE, 1)
    yield line("no points")
    yield line("one point", (5, -5))
    yield line("two points", (0, 0), (100, 40))
    yield line("two equal points", (3, 3), (3, 3))
    yield line("three points", (0, 0), (100, 0), (100, 40))
    yield line("the middle at a point", (0, 0), (50, 0), (50, 50))
    yield line("points twice", (0, 0), (0, 0), (50, 0), (50, 0), (60, 30))
    yield line("a long label", (0, 0), (10, 0), words=WORDS * 3)
    yield line("a curve", (0, 0), (100, 0), (100, 60), more=[curve])
    yield line("a curve of five points", (0, 0), (20, 40), (60, 40), (80, -40), (140, 0), more=[curve])
    yield line("a closed curve", (0, 0), (100, 0), (100, 60), (0, 0), more=[curve])
    yield line("scaled and rotated", (0, 0), (100, 0), (100, 60), more=[cell(cells.SCALE, 131_072), cell(cells.ANGLE, 512)])
    yield line("an automatic width", (0, 0), (100, 0), more=[AUTO, cell(cells.ALIGNMENT, 2)])
    # The label is 40 by 32 units, and the mark needs 28 units.
    yield line("just long enough", (0, 0), (96, 0))
    yield line("too short", (0, 0), (95, 0))
    yield line("just high enough", (0, 0), (0, 88))
    yield line("too low", (0, 0), (0, 87))
    yield line("short, to the left", (0, 0), (-60, 20))
    yield line("short, as wide as high", (0, 0), (30, -30))
    yield line("short, three points", (0, 0), (40, 0), (40, 20))
    yield line("a short curve", (0, 0), (40, 0), (40, 20), more=[curve])
    yield line("short, scaled and rotated", (0, 0), (40, 10), more=[cell(cells.SCALE, 131_072), cell(cells.ANGLE, 512)])
    thin = cell(cells.LINE_WIDTH, 64)
    for name, start, end in (("no", 0, 0), ("two", 2, 1), ("one", 4, 0)):
        marks = [thin, cell(cells.LINE_START, start), cell(cells.LINE_END, end)]
        yield line(f"{name} marks, a thin line of 46 units", (0, 0), (46, 0), more=marks)
        yield line(f"{name} marks, a thin line of 60 units", (0, 0), (60, 0), more=marks)
        yield line(f"{name} marks, a thin line of 70 units", (0, 0), (70, 0), more=marks)
    yield line("ends that meet", (0, 0), (200, 0), (200, 60), (0, 60), (0, 0))


def bound_to_boxes():
    """Object 1 of Anna is an arrow, and its end is bound to object 1 of Ben."""

    def case(name, kind, words, *written, places=((0, 0), (400, 100)), anchor=(0, 0), exact=0, later=()):
        anna, ben = Writer(ANNA), Writer(BEN)
        own = Dot(BEN, 1)
        content = [create(kind), *((own, *each[1:]) for each in [cell(cells.POSITION, units(400, 100)), *written])]
        if words:
            content.append((own, *run(words)[1:]))
        made = ben.write(batches.at(0), *content)
        end = (OWN, cells.END_BINDING, None, BYTES, bound(own, anchor, exact))
        drawn = anna.write(batches.at(1), *of_form(outlines.ARROW, *points(*places), end))
        more = [anna.write(batches.at(2), *((own, *each[1:]) for each in later))] if later else []
        return reading(f"bound to {name}", made, drawn, *more)

    def form(number):
        return cell(cells.FORM, number)

    size = cell(cells.SIZE, units(60, 30))
    yield case("a text of two letters", TEXT, "Hi")
    yield case("a text, beside its letters", TEXT, "Hi", places=((300, 100), (400, 100)))
    yield case("a wrapped text", TEXT, WORDS, width(10))
    yield case("an empty text", TEXT, "")
    for alignment in range(3):
        yield case(f"a text with an automatic width and alignment {alignment}", TEXT, "Hello\nthere", AUTO, cell(cells.ALIGNMENT, alignment))
    yield case("a text with an automatic width, scaled and rotated", TEXT, "Hello", AUTO, cell(cells.SCALE, 131_072), cell(cells.ANGLE, 300))
    yield case("an anchor at a text", TEXT, "Hello\nthere", AUTO, anchor=(2_048, -2_048), exact=1)
    for number in range(outlines.RECTANGLE, outlines.NOTE + 1):
        yield case(f"{NAMES[number]} with a long label", DRAWING, WORDS, form(number), size)
        yield case(f"the upper side of {NAMES[number]} with a long label", DRAWING, WORDS, form(number), size,
                   places=((390, -400), (0, 0)), anchor=(100, -1_900))
    yield case("a form whose label is deleted", DRAWING, WORDS, form(outlines.ELLIPSE), size,
               later=[(OWN, cells.DELETION, "own", BYTES, codec.encode_deletion(Dot(BEN, 5), 0, len(WORDS)))])
    yield case("a text that grows", TEXT, "Hi", AUTO, later=[run(" and a lot more", codec.RIGHT, (Dot(BEN, 4), 1))])
    yield case("a text that becomes larger", TEXT, "Hi", AUTO, later=[cell(cells.TEXT_SIZE, 4_096)])


def groups():
    found = [texts, boxes, labels_of_lines, bound_to_boxes]
    return {"columns": columns(), "forms": [vector for part in found for vector in part()]}
