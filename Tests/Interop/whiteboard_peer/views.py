"""The meaning of cells for users: objects as JSON, text, points, forms, chat (BRD-13 to BRD-21, BRD-48 to BRD-58)."""

import datetime
import math
import re
import struct

from . import cells, codec, layout, outlines
from .clock import LAST_FLOOR
from .wire import Violation, base32, parse_base32

TEXT_CHARACTERS, TEXT_BYTES = 65_536, 2_097_152
ERASURES, ERASURE_BYTES = 4_096, 262_144
MAXIMUM_GROUPS = 64
SETTING_LIMITS = {
    cells.TITLE: 256,
    cells.BACKGROUND: 0xFFFFFFFF,
    cells.GRID: 65_536 * 64,
    cells.LANGUAGE: 16,
}
NOT_DRAWN = {cells.CHAT, cells.GROUP_KIND, cells.SETTINGS}
# The points of a line or arrow that are read (BRD-50).
POINTS = 4_096
VOTES = 4_096
ROUND_TURN = 4_096
ANCHOR_STEPS, GREATEST_ANCHOR, SPACE = 4_096, 65_536, 4
# The tenths of an ellipse's and a diamond's box that a label can use; the other forms leave a padding free (BRD-53).
INSIDE, PADDING = {outlines.ELLIPSE: 7, outlines.DIAMOND: 5}, 16
FORMS = ["line", "arrow", "rectangle", "rounded", "ellipse", "diamond", "note", "frame"]
# The words for the values of a property; the first is the default (BRD-49).
WORDS = {
    cells.LINE_STYLE: ["solid", "dashed", "dotted"],
    cells.LINE_START: ["none", "arrow", "triangle", "bar", "dot"],
    cells.LINE_END: ["none", "arrow", "triangle", "bar", "dot"],
    cells.TYPEFACE: ["plain", "hand", "code"],
    cells.ALIGNMENT: ["left", "center", "right"],
}
KINDS = {cells.TEXT: "text", cells.DRAWING: "drawing", cells.PHOTO: "photo", cells.GAME: "game"}


def object_text(identifier):
    return f"{identifier.sequence}-{base32(struct.pack('>Q', identifier.incarnation))}"


def parse_object(text):
    sequence, incarnation = text.split("-")
    number = int(sequence)
    if str(number) != sequence or not 1 <= number <= cells.MAXIMUM_SEQUENCE:
        raise ValueError("not the sequence of an object id")
    named = int.from_bytes(parse_base32(incarnation, 8), "big")
    if named == 0:
        raise ValueError("incarnation 0")
    return cells.Dot(named, number)


def _decoded(state, identifier, number, decode):
    """(qualifier, decoded value) of every cell of `number` that decodes."""
    for (found, qualifier), cell in state.objects[identifier].items():
        if found == number and cell.shape in cells.SHAPES[number]:
            try:
                yield qualifier, decode(cell.value)
            except codec.BoardError:
                continue


def _first_cells(
    state, identifier, number, decode, maximum=TEXT_CHARACTERS, maximum_bytes=TEXT_BYTES
):
    """As `_decoded`, of the first cells by dot, within the limits of BRD-24 or BRD-29."""
    held = state.objects[identifier]
    allowed = set()
    size = 0
    for qualifier in sorted(q for found, q in held if found == number)[:maximum]:
        cell = held[number, qualifier]
        size += len(cell.value) if isinstance(cell.value, bytes) else 0
        if size > maximum_bytes:
            break
        allowed.add(qualifier)
    for qualifier, value in _decoded(state, identifier, number, decode):
        if qualifier in allowed:
            yield qualifier, value


def text_characters(state, identifier):
    """Every character of the tree in order: (run, offset, character, is visible)."""
    runs = dict(_first_cells(state, identifier, cells.RUN, codec.decode_run))
    gone = set()
    for _, deletion in _first_cells(state, identifier, cells.DELETION, _deletion_of):
        run, first, count = deletion or (None, 0, 0)
        if run in runs:
            last = min(first + count, len(runs[run][2]))
            gone.update((run, offset) for offset in range(first, last))
    children = {}
    for run in sorted(runs):
        anchor, character, _ = runs[run]
        children.setdefault((anchor, character), []).append(run)
    result = []
    # A stack instead of recursion, because the tree of a long text is deep.
    stack = [("runs", children.get((codec.ROOT, None), []))]
    while stack and len(result) < TEXT_CHARACTERS:
        what, argument = stack.pop()
        if what == "runs":
            stack.extend(("character", (run, 0)) for run in reversed(argument))
        elif what == "show":
            run, offset = argument
            result.append((run, offset, runs[run][2][offset], argument not in gone))
        else:
            run, offset = argument
            right = list(children.get((codec.RIGHT, argument), []))
            following = []
            if offset + 1 < len(runs[run][2]):
                following = [(run, offset + 1)]
            # Right children: the rest of the run and other runs, by dot of their run.
            right_side = sorted(
                [(other, 0) for other in right] + following, key=lambda child: child[0]
            )
            stack.extend(("character", child) for child in reversed(right_side))
            stack.append(("show", argument))
            left = children.get((codec.LEFT, argument), [])
            stack.extend(("character", (other, 0)) for other in reversed(left))
    return result


def text_of(state, identifier):
    return "".join(c for _, _, c, visible in text_characters(state, identifier) if visible)


def points_of(state, identifier):
    """The contiguous committed points from index 0 on, as (x, y, pressure) in 1/16 unit."""
    pieces = dict(
        _decoded(state, identifier, cells.INK, lambda value: codec.decode_ink(value, 128))
    )
    points = []
    while len(points) in pieces and pieces[len(points)]:
        points += pieces[len(points)]
    return points


def asset_of(state, identifier):
    """(sha256, format, byte count, width, height) or None (BRD-16)."""
    value = state.read(identifier, cells.ASSET)
    if value is None or len(value) != 45:
        return None
    count, width, height = struct.unpack(">III", value[33:])
    # Values out of range read as in BRD-35.
    if value[32] not in (1, 2) or not 1 <= count <= 32 << 20 or not 1 <= width * height <= 64_000_000:
        return None
    return value[:32], value[32], count, width, height


def erased(state, identifier):
    """The erased spans (start, end) in 1/16 of the distance between two points (BRD-29)."""
    read = _first_cells(
        state, identifier, cells.ERASURE, _erasure_of, ERASURES, ERASURE_BYTES
    )
    result = []
    for start, end in sorted(span for _, spans in read for span in spans):
        if result and start <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((start, end))
    return result


def _erasure_of(value):
    return [] if value is None else codec.decode_erasure(value)


def _deletion_of(value):
    """Whether an object's deletion counts; a deletion that was reverted does not count."""
    return None if value is None else codec.decode_deletion(value)


def _group_named(state, identifier):
    """The group that an object's cell names, if it is a group (BRD-26)."""
    group = state.read(identifier, cells.GROUP)
    if group is None or state.read(group, cells.KIND) != cells.GROUP_KIND:
        return None
    return None if state.is_deleted(group) else group


def groups_of(state, identifier):
    """The groups an object belongs to, innermost first; a ring is cut (BRD-26)."""
    path = [identifier]
    while len(path) <= MAXIMUM_GROUPS + 1 and (group := _group_named(state, path[-1])) is not None:
        if group in path:
            ring = path[path.index(group) :]
            latest = max(ring, key=lambda one: state.objects[one][cells.GROUP, None].stamp)
            return path[1 : path.index(latest) + 1]
        path.append(group)
    return path[1 : MAXIMUM_GROUPS + 1]


def settings_of(state):
    """The settings of the board by property number (BRD-28)."""
    result = {}
    stamps = {}
    for identifier in state.visible():
        if state.read(identifier, cells.KIND) != cells.SETTINGS:
            continue
        for number in (cells.TITLE, cells.BACKGROUND, cells.GRID, cells.LANGUAGE):
            value = state.read(identifier, number)
            if value is None:
                continue
            stamp = state.objects[identifier][number, None].stamp
            if number not in stamps or stamps[number] < stamp:
                stamps[number], result[number] = stamp, value
    return {number: value for number, value in result.items() if _is_setting(number, value)}


def _is_setting(number, value):
    """Whether a value sets its setting. An empty or too long value leaves the setting unset, and does not restore an
    earlier value."""
    size = len(value) if isinstance(value, bytes) else value
    return size <= SETTING_LIMITS[number] and value != b""


def selected_by(state, identifier, member_of):
    """The member that a selection names, if that member wrote it and the cell is not frozen (BRD-22, BRD-36)."""
    selection = state.read(identifier, cells.SELECTION)
    if selection is None or len(selection) != 32:
        return None
    cell = state.objects[identifier][cells.SELECTION, None]
    return selection if member_of(cell.dot.incarnation) == selection and cell.time < 2**63 - 4097 else None


def form_of(state, identifier):
    """The form of a drawing as a number of BRD-48, or None."""
    form = state.read(identifier, cells.FORM)
    if state.read(identifier, cells.KIND) != cells.DRAWING or not form:
        return None
    return form if form <= outlines.FRAME else outlines.RECTANGLE


def has_points(state, identifier):
    """Whether the object is a line or an arrow."""
    return form_of(state, identifier) in outlines.HAS_POINTS


def word_of(state, identifier, number):
    """(the value as a number of BRD-49, the value of an absent cell)."""
    form = form_of(state, identifier)
    usual = {cells.ALIGNMENT: 1 if form else 0, cells.LINE_END: 1 if form == outlines.ARROW else 0}.get(number, 0)
    value = state.read(identifier, number)
    return (usual if value is None or value >= len(WORDS[number]) else value), usual


def colour_of(state, identifier, number, usual=None):
    value = state.read(identifier, number)
    return usual if value is None or value > 0xFFFFFFFF else value


def line_width_of(state, identifier):
    return min((state.read(identifier, cells.LINE_WIDTH) or 320) / 64, 1024)


class Placement:
    """Where an object's own coordinates are shown: at `place` + `scale` x rotate(`steps`, point)."""

    def __init__(self, place, scale, steps):
        self.place, self.scale, self.steps = place, scale, steps

    def shown(self, point):
        return outlines.add(self.place, self._rotated(point, 1), self.scale)

    def own(self, place):
        x, y = self._rotated(outlines.add(place, self.place, -1), -1)
        return x / self.scale, y / self.scale

    def _rotated(self, point, direction):
        angle = self.steps / ROUND_TURN * 2 * math.pi * direction
        x, y = point
        return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


def placement_of(state, identifier):
    """The placement of the object's own coordinates; their origin is the center of every object but a line or arrow."""
    position = state.read(identifier, cells.POSITION)
    if position:
        place = tuple(v / 64 for v in position)
    elif state.read(identifier, cells.KIND) == cells.DRAWING and not form_of(state, identifier):
        place = _middle(*_ink_box(state, identifier))
    else:
        place = 0, 0
    scale = state.read(identifier, cells.SCALE)
    scale = min(max((65_536 if scale is None else scale) / 65_536, 1 / 1024), 1024)
    return Placement(place, scale, (state.read(identifier, cells.ANGLE) or 0) % ROUND_TURN)


def _middle(low, high):
    return tuple((a + b) / 2 for a, b in zip(low, high))


def _ink_box(state, identifier):
    points = points_of(state, identifier) or [(0, 0, 0)]
    return tuple(tuple(pick(p[i] for p in points) / 16 for i in (0, 1)) for pick in (min, max))


def point_cells(state, identifier):
    """(key, point or None) of the points of a line or arrow, in order, including removed ones (BRD-50)."""
    held = state.objects[identifier]
    keys = sorted(q for number, q in held if number == cells.POINT)[:POINTS]
    values = [(key, state.read(identifier, cells.POINT, key)) for key in keys]
    return [(key, value and (value[0] / 64, value[1] / 64)) for key, value in values]


def line_points(state, identifier):
    """The points of a line or arrow in its own coordinates; bound ends are where they are shown (BRD-52)."""
    points = [point for _, point in point_cells(state, identifier) if point]
    if len(points) < 2:
        return points
    placement = placement_of(state, identifier)
    width = line_width_of(state, identifier) * placement.scale
    ends = [binding_of(state, identifier, number) for number in (cells.START_BINDING, cells.END_BINDING)]
    targets = [binding and _Target.of(state, binding, width) for binding in ends]
    shown = [placement.shown(point) for point in points]
    found = list(points)
    for target, other, at, neighbor in ((*targets, 0, 1), (*targets[::-1], -1, -2)):
        if target:
            source = other.anchor if other and len(points) == 2 else shown[neighbor]
            found[at] = placement.own(target.end(source))
    return found


def binding_of(state, identifier, number):
    """(object, (x, y) of the anchor, is exact) of a bound end; None if it is free (BRD-52)."""
    value = state.read(identifier, number)
    if value is None or not has_points(state, identifier):
        return None
    reader = codec.Reader(value)
    try:
        target = cells.Dot(reader.incarnation(), reader.sequence())
        anchor = reader.zigzag(), reader.zigzag()
        exact = reader.u8()
        reader.end()
    except codec.BoardError:
        return None
    if exact > 1 or max(map(abs, anchor)) > GREATEST_ANCHOR:
        return None
    return target, tuple(v / ANCHOR_STEPS for v in anchor), exact == 1


class _Target:
    """The object to which an end of a line is bound."""

    @staticmethod
    def of(state, binding, line_width):
        """None if the object is not visible, or is a line or arrow."""
        target = binding[0]
        is_visible = state.is_created(target) and not state.is_deleted(target)
        if not is_visible or state.read(target, cells.KIND) not in KINDS or has_points(state, target):
            return None
        return _Target(state, binding, line_width)

    def __init__(self, state, binding, line_width):
        target, anchor, self.is_exact = binding
        self.form = form_of(state, target)
        centre, size = shown_box_of(state, target)
        around = placement_of(state, target)
        self.placement = Placement(centre, around.scale, around.steps)
        self.aim = anchor[0] * size[0], anchor[1] * size[1]
        self.anchor = self.placement.shown(self.aim)
        has_line = self.form not in (None, outlines.NOTE)
        border = line_width_of(state, target) * around.scale / 2 if has_line else 0
        gap = (SPACE + line_width / 2 + border) / around.scale
        self.half = size[0] / 2 + gap, size[1] / 2 + gap

    def end(self, source):
        """Where a line from `source` ends: at the anchor, or where it meets the outline first."""
        if self.is_exact:
            return self.anchor
        source = self.placement.own(source)
        share = self._share(*(tuple(v / h for v, h in zip(p, self.half)) for p in (source, self.aim)))
        if share is None:
            return self.anchor
        return self.placement.shown(outlines.add(source, outlines.add(self.aim, source, -1), share))

    def _share(self, start, end):
        """The part of the way from `start` to `end` up to the outline, in units of half the width and height; None if
        `start` is not outside or `end` is not inside."""
        if self.form == outlines.ELLIPSE:
            way = outlines.add(end, start, -1)
            square, half = (sum(a * b for a, b in zip(way, other)) for other in (way, start))
            rest = math.hypot(*start) ** 2 - 1
            if rest <= 0 or math.hypot(*end) >= 1:
                return None
            return (-half - math.sqrt(half * half - square * rest)) / square
        sides = [(1, 0), (-1, 0), (0, 1), (0, -1)]
        if self.form == outlines.DIAMOND:
            sides = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
        shares = []
        for side in sides:
            outside, inside = (sum(a * b for a, b in zip(side, point)) - 1 for point in (start, end))
            if inside >= 0:
                return None
            if outside > 0:
                shares.append(outside / (outside - inside))
        return max(shares, default=None)


def _line_of(state, identifier):
    """The outline of a line or arrow in its own coordinates; None if it has no points."""
    return outlines.through(line_points(state, identifier), bool(state.read(identifier, cells.CURVE)))


def frame_of(state, identifier):
    """(center, size before scaling) of an object."""
    kind, form = state.read(identifier, cells.KIND), form_of(state, identifier)
    placement, width = placement_of(state, identifier), line_width_of(state, identifier)
    if has_points(state, identifier):
        line = _line_of(state, identifier)
        low, high = line.box() if line else ((0, 0), (0, 0))
        return placement.shown(_middle(low, high)), tuple(b - a + width for a, b in zip(low, high))
    if kind == cells.DRAWING and not form and points_of(state, identifier):
        low, high = _ink_box(state, identifier)
        return placement.place, tuple(b - a + width for a, b in zip(low, high))
    if is_auto_width(state, identifier):
        size = layout.size_of(label_rows(state, identifier), text_size_of(state, identifier))
        side = (1, 0, -1)[word_of(state, identifier, cells.ALIGNMENT)[0]]
        return placement.shown((side * size[0] / 2, size[1] / 2)), size
    return placement.place, _size_of(state, identifier)


def _size_of(state, identifier):
    """The size of an object that has neither ink nor points. Values out of range read as BRD-35 specifies."""
    kind, form = state.read(identifier, cells.KIND), form_of(state, identifier)
    size = state.read(identifier, cells.SIZE)
    if size and min(size) >= 0:
        return tuple(v / 64 for v in size)
    if form:
        return {outlines.NOTE: (200, 200), outlines.FRAME: (800, 600)}.get(form, (200, 100))
    return {cells.TEXT: (200, 50), cells.PHOTO: (200, 200), cells.GAME: (120, 50)}.get(kind, (0, 0))


def is_auto_width(state, identifier):
    is_text = state.read(identifier, cells.KIND) == cells.TEXT
    return is_text and bool(state.read(identifier, cells.AUTO_WIDTH))


def text_size_of(state, identifier):
    size = state.read(identifier, cells.TEXT_SIZE)
    return min(max(size, 64), 65_536) / 64 if size else 16


def label_rows(state, identifier):
    """The rows of a text or label (BRD-53)."""
    form, least = form_of(state, identifier), 1
    width = _size_of(state, identifier)[0]
    if is_auto_width(state, identifier) or form in (*outlines.HAS_POINTS, outlines.FRAME):
        width = math.inf
    elif form is None:
        least = 4
    elif form in INSIDE:
        width = width * INSIDE[form] / 10
    else:
        width -= PADDING
    most = width / (text_size_of(state, identifier) / 2)
    most = math.floor(min(max(most, least), layout.MOST_COLUMNS))
    return layout.rows_of(text_of(state, identifier), most)


def shown_box_of(state, identifier):
    """(center, size before scaling) of the box in which an object is shown (BRD-53)."""
    centre, size = frame_of(state, identifier)
    kind, form = state.read(identifier, cells.KIND), form_of(state, identifier)
    has_letters = kind == cells.TEXT or form not in (None, *outlines.HAS_POINTS, outlines.FRAME)
    if not has_letters or not text_of(state, identifier):
        return centre, size
    letters = layout.size_of(label_rows(state, identifier), text_size_of(state, identifier))
    if kind == cells.TEXT:
        return centre, letters
    height = letters[1] * 10 / INSIDE[form] if form in INSIDE else letters[1] + PADDING
    return centre, (size[0], max(size[1], height))


def label_of(state, identifier):
    """(rows, center of their box) of a text or label, in the coordinates of the outline; None if there are no words."""
    form = form_of(state, identifier)
    if state.read(identifier, cells.KIND) != cells.TEXT and not form or not text_of(state, identifier):
        return None
    rows, centre = label_rows(state, identifier), (0.0, 0.0)
    outline = outline_of(state, identifier)
    if form in outlines.HAS_POINTS and outline:
        ends = [word_of(state, identifier, number)[0] for number in (cells.LINE_START, cells.LINE_END)]
        size = layout.size_of(rows, text_size_of(state, identifier))
        centre = outline.label_center(size, ends, line_width_of(state, identifier))
    elif form == outlines.FRAME:
        left, top = outline.start
        width, height = layout.size_of(rows, text_size_of(state, identifier))
        centre = left + width / 2, top - SPACE - height / 2
    return rows, centre


def outline_of(state, identifier):
    """The outline of a form, relative to its center, neither scaled nor rotated; None if there is none (BRD-51)."""
    form = form_of(state, identifier)
    if form is None:
        return None
    if form not in outlines.HAS_POINTS:
        return outlines.of_box(form, *shown_box_of(state, identifier)[1])
    line = _line_of(state, identifier)
    return line and line.moved(tuple(-v for v in _middle(*line.box())))


def end_marks_of(state, identifier):
    """The marks at the ends of a line or arrow, in the coordinates of its outline (BRD-51)."""
    if not has_points(state, identifier):
        return []
    start, end = (word_of(state, identifier, number)[0] for number in (cells.LINE_START, cells.LINE_END))
    return outlines.end_marks(outline_of(state, identifier), start, end, line_width_of(state, identifier))


def _style(state, identifier):
    """The form, and what differs from an object without style cells (BRD-19)."""
    result = {}
    form = form_of(state, identifier)
    if form:
        result["form"] = FORMS[form - 1]
    fill = colour_of(state, identifier, cells.FILL, 0xFFEC99FF if form == outlines.NOTE else None)
    for key, colour in (("fill", fill), ("textColor", colour_of(state, identifier, cells.TEXT_COLOUR))):
        if colour is not None:
            result[key] = f"#{colour:08x}"
    for key, number in (
        ("lineStyle", cells.LINE_STYLE),
        ("lineStart", cells.LINE_START),
        ("lineEnd", cells.LINE_END),
        ("typeface", cells.TYPEFACE),
        ("alignment", cells.ALIGNMENT),
    ):
        value, usual = word_of(state, identifier, number)
        if value != usual:
            result[key] = WORDS[number][value]
    opacity = state.read(identifier, cells.OPACITY)
    if opacity is not None and opacity < 255:
        result["opacity"] = opacity / 255
    size = text_size_of(state, identifier)
    if size != 16:
        result["textSize"] = size
    emphasis = state.read(identifier, cells.EMPHASIS) or 0
    for key, is_so in (
        ("isCurved", state.read(identifier, cells.CURVE)),
        ("isBold", emphasis & 1),
        ("isItalic", emphasis & 2),
        ("isAutoWidth", state.read(identifier, cells.AUTO_WIDTH)),
    ):
        if is_so:
            result[key] = True
    for key, number in (("startBinding", cells.START_BINDING), ("endBinding", cells.END_BINDING)):
        binding = binding_of(state, identifier, number)
        if binding:
            target, anchor, is_exact = binding
            result[key] = {"id": object_text(target), "anchor": list(anchor)}
            if is_exact:
                result[key]["isExact"] = True
    return result


def frame_named(state, identifier):
    """The frame to which an object belongs, or None (BRD-54)."""
    frame = state.read(identifier, cells.FRAME)
    is_shown = frame is not None and state.is_created(frame) and not state.is_deleted(frame)
    if not is_shown or form_of(state, frame) != outlines.FRAME or form_of(state, identifier) == outlines.FRAME:
        return None
    return frame


def link_of(state, identifier):
    """The link of an object as text, or None (BRD-55)."""
    link = state.read(identifier, cells.LINK)
    if link is None or len(link) > 2_048 or any(not 0x20 < byte < 0x7F or byte in b'"\\' for byte in link):
        return None
    text = link.decode("ascii")
    if text.startswith("https://"):
        host = re.split("[/?#]", text.removeprefix("https://"), maxsplit=1)[0]
        return text if host and "@" not in host else None
    try:
        return text if text[:1] == "#" and parse_object(text[1:]) else None
    except (ValueError, Violation):
        return None


def votes_of(state, identifier, member_of):
    """{reaction: the members that give it} (BRD-56)."""
    latest = {}
    held = state.objects[identifier]
    for qualifier in sorted(q for number, q in held if number == cells.VOTE)[:VOTES]:
        cell, member = held[cells.VOTE, qualifier], member_of(qualifier.incarnation)
        if member is None or cell.shape != cells.BYTES or not 2 <= len(cell.value) <= 17 or cell.value[0] > 1:
            continue
        try:
            cell.value[1:].decode("utf-8")
        except UnicodeDecodeError:
            continue
        key = cell.value[1:], member
        if key not in latest or latest[key].stamp < cell.stamp:
            latest[key] = cell
    found = {}
    for (reaction, member), cell in sorted(latest.items()):
        if cell.value[0] == 1:
            found.setdefault(reaction.decode("utf-8"), []).append(member)
    return found


def crop_of(state, identifier):
    """(left, top, right, bottom) of the part of a photo that is shown, or None for the whole picture (BRD-57)."""
    value = state.read(identifier, cells.CROP)
    if state.read(identifier, cells.KIND) != cells.PHOTO or value is None or len(value) != 8:
        return None
    left, top, right, bottom = struct.unpack(">4H", value)
    return [v / 65_535 for v in (left, top, right, bottom)] if left < right and top < bottom else None


def _more(state, identifier, member_of):
    """The frame, the link, the votes, and the visible part of a photo (BRD-54 to BRD-57)."""
    frame, flip = frame_named(state, identifier), 0
    if state.read(identifier, cells.KIND) == cells.PHOTO:
        flip = state.read(identifier, cells.FLIP) or 0
    votes = [
        {"reaction": reaction, "members": [base32(member) for member in members]}
        for reaction, members in votes_of(state, identifier, member_of).items()
    ]
    found = {
        "frame": frame and object_text(frame),
        "link": link_of(state, identifier),
        "votes": votes or None,
        "crop": crop_of(state, identifier),
        "isFlippedHorizontally": flip & 1 != 0 or None,
        "isFlippedVertically": flip & 2 != 0 or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def describe(
    state, identifier, has_asset=lambda sha256: False, member_of=lambda incarnation: None
):
    """The object as JSON (BRD-19)."""

    def read(number, default):
        value = state.read(identifier, number)
        return default if value is None else value

    kind, form = state.read(identifier, cells.KIND), form_of(state, identifier)
    centre, size = frame_of(state, identifier)
    placement = placement_of(state, identifier)
    colour = colour_of(state, identifier, cells.COLOUR)
    selection = selected_by(state, identifier, member_of)
    latest = max(
        cell.time for key, cell in state.objects[identifier].items() if key[0] != cells.SELECTION
    )
    result = dict(
        id=object_text(identifier),
        type=KINDS.get(kind, "unknown"),
        centerPosition=list(centre),
        size=list(size),
        scale=placement.scale,
        angle=placement.steps / ROUND_TURN * 2 * math.pi,
        selectedBy=base32(selection) if selection else None,
        updatedAt=datetime.datetime.fromtimestamp(
            (latest >> 16) / 1000, datetime.timezone.utc
        ).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        zIndex=read(cells.Z_INDEX, b"").hex(),
        groups=[object_text(group) for group in groups_of(state, identifier)],
        isLocked=bool(read(cells.LOCK, 0)),
        **_style(state, identifier),
        **_more(state, identifier, member_of),
    )
    if colour is not None:
        result["color"] = f"#{colour:08x}"
    text = text_of(state, identifier) if kind == cells.TEXT or form else ""
    if text or kind == cells.TEXT:
        result["text"] = text
    shown = shown_box_of(state, identifier)[1]
    if shown != size:
        result["shownSize"] = list(shown)
    if text:
        result["rows"] = [words for words, _ in label_rows(state, identifier)]
    if kind == cells.DRAWING:
        result["lineWidth"] = line_width_of(state, identifier)
        result["isFinished"] = form is not None or state.read(identifier, cells.END) is not None
    if kind == cells.DRAWING and form is None:
        middle = _middle(*_ink_box(state, identifier))
        result["points"] = [[p[0] / 16 - middle[0], p[1] / 16 - middle[1]] for p in points_of(state, identifier)]
        result["erased"] = [[start / 16, end / 16] for start, end in erased(state, identifier)]
    if form in outlines.HAS_POINTS:
        outline = outline_of(state, identifier)
        result["points"] = [list(point) for point in outline.points()] if outline else []
    if kind == cells.PHOTO:
        asset = asset_of(state, identifier)
        if asset:
            result["sha256"] = asset[0].hex()
            result["byteCount"] = asset[2]
            result["pixelSize"] = list(asset[3:])
            result["isAssetAvailable"] = has_asset(asset[0])
    return result


def drawn_objects(state):
    """The ids of the visible objects that users see as objects, from back to front (BRD-13)."""

    def depth(identifier):
        z = state.read(identifier, cells.Z_INDEX)
        return (z is not None, z or b"", identifier)

    shown = [i for i in state.visible() if state.read(i, cells.KIND) not in NOT_DRAWN]
    return sorted(shown, key=depth)


def latest_line(state):
    """The time that a new line must follow, if any (BRD-31)."""
    lines = (i for i in state.objects if state.read(i, cells.KIND) == cells.CHAT)
    times = [state.objects[i][cells.KIND, None].time for i in lines]
    latest = max(times, default=None)
    # No line can follow a line with the last possible time.
    return latest if latest is not None and latest < LAST_FLOOR else None


def comment_of(state, line):
    """What a chat line says about an object, as JSON (BRD-58)."""
    about = state.read(line, cells.ABOUT)
    if about is None:
        return {"about": None, "isResolved": False}
    return {"about": object_text(about), "isResolved": bool(state.read(line, cells.RESOLVED))}


def chat_lines(state, records):
    """(author, text) of every line in order (BRD-21); `records` are the known records, by incarnation."""
    return [line[2:] for line in chat_entries(state, records)]


def chat_entries(state, records):
    """(time, id, author, text) of every line, as in `chat_lines`."""
    lines = []
    for identifier in state.visible():
        if state.read(identifier, cells.KIND) != cells.CHAT:
            continue
        author = state.read(identifier, cells.CHAT_AUTHOR)
        text = state.read(identifier, cells.CHAT_TEXT)
        record = records.get(identifier.incarnation)
        if author is not None and text is not None and (not record or record.member == author):
            time = state.objects[identifier][cells.KIND, None].time
            lines.append((time, identifier, author, text.decode("utf-8")))
    return sorted(lines)
