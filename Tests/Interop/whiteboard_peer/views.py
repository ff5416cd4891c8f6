"""The meaning of cells for users: objects as JSON, text, points, chat (BRD-13 to BRD-21)."""

import datetime
import math
import struct

from . import cells, codec
from .clock import LAST_FLOOR
from .wire import base32, parse_base32

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
    """Whether an object's deletion counts; one that was reverted does not."""
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
    """Whether a value sets its setting. An empty or too long one leaves it unset, and does not restore an earlier
    one."""
    size = len(value) if isinstance(value, bytes) else value
    return size <= SETTING_LIMITS[number] and value != b""


def selected_by(state, identifier, member_of):
    """The member that a selection names, if that member wrote it and the cell is not frozen (BRD-22, BRD-36)."""
    selection = state.read(identifier, cells.SELECTION)
    if selection is None or len(selection) != 32:
        return None
    cell = state.objects[identifier][cells.SELECTION, None]
    return selection if member_of(cell.dot.incarnation) == selection and cell.time < 2**63 - 4097 else None


def describe(
    state, identifier, has_asset=lambda sha256: False, member_of=lambda incarnation: None
):
    """The object as JSON (BRD-19)."""

    def read(number, default):
        value = state.read(identifier, number)
        return default if value is None else value

    kind = state.read(identifier, cells.KIND)
    result = {"id": object_text(identifier), "type": KINDS.get(kind, "unknown")}
    points = points_of(state, identifier) if kind == cells.DRAWING else []
    low = [min((p[i] for p in points), default=0) / 16 for i in (0, 1)]
    high = [max((p[i] for p in points), default=0) / 16 for i in (0, 1)]
    middle = [(a + b) / 2 for a, b in zip(low, high)]
    position = state.read(identifier, cells.POSITION)
    centre = [v / 64 for v in position] if position else middle
    # Values out of range read as BRD-35 specifies.
    line_width = min((read(cells.LINE_WIDTH, 0) or 320) / 64, 1024)
    size = state.read(identifier, cells.SIZE)
    size = size if size and min(size) >= 0 else None
    colour = state.read(identifier, cells.COLOUR)
    defaults = {cells.TEXT: (200, 50), cells.PHOTO: (200, 200), cells.GAME: (120, 50)}
    if kind == cells.DRAWING:
        extent = [b - a + line_width for a, b in zip(low, high)]
    else:
        extent = [v / 64 for v in size] if size else list(defaults.get(kind, (0, 0)))
    scale = min(max(read(cells.SCALE, 65_536) / 65_536, 1 / 1024), 1024)
    selection = selected_by(state, identifier, member_of)
    latest = max(
        cell.time for key, cell in state.objects[identifier].items() if key[0] != cells.SELECTION
    )
    result.update(
        centerPosition=centre,
        size=extent,
        scale=scale,
        angle=read(cells.ANGLE, 0) % 4_096 / 4_096 * 2 * math.pi,
        selectedBy=base32(selection) if selection else None,
        updatedAt=datetime.datetime.fromtimestamp(
            (latest >> 16) / 1000, datetime.timezone.utc
        ).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        zIndex=read(cells.Z_INDEX, b"").hex(),
        groups=[object_text(group) for group in groups_of(state, identifier)],
        isLocked=bool(read(cells.LOCK, 0)),
    )
    if colour is not None and colour <= 0xFFFFFFFF:
        result["color"] = f"#{colour:08x}"
    if kind == cells.TEXT:
        result["text"] = text_of(state, identifier)
    if kind == cells.DRAWING:
        result["points"] = [[p[0] / 16 - middle[0], p[1] / 16 - middle[1]] for p in points]
        result["lineWidth"] = line_width
        result["erased"] = [[start / 16, end / 16] for start, end in erased(state, identifier)]
        result["isFinished"] = state.read(identifier, cells.END) is not None
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
    # No line can follow one with the last possible time.
    return latest if latest is not None and latest < LAST_FLOOR else None


def chat_lines(state, records):
    """(author, text) of every line in order (BRD-21); `records` are the known records, by incarnation."""
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
    return [line[2:] for line in sorted(lines)]
