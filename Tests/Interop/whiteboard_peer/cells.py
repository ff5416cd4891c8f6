"""The state of a board: dots, contexts, cells, merging, the digest (board.md)."""

import bisect
import hashlib
import struct
from typing import NamedTuple

MAXIMUM_SEQUENCE = 2**48 - 1
MAXIMUM_TIME = 2**63 - 1
WORD = 2**64 - 1

TEXT, DRAWING, PHOTO, GAME, CHAT, GROUP_KIND, SETTINGS = 1, 2, 3, 4, 5, 6, 7

POSITION, SCALE, ANGLE, DELETED, SELECTION, SIZE, Z_INDEX, KIND, PURGE = range(9)
COLOUR, LINE_WIDTH, ASSET, END = 9, 10, 11, 12
CHAT_AUTHOR, CHAT_NAME, CHAT_TEXT, CHAT_TIME = 13, 14, 15, 16
GROUP, LOCK, GAME_NAME, SETUP, CHAT_ICON, REPLACES = 17, 18, 19, 20, 21, 22
TITLE, BACKGROUND, GRID, LANGUAGE = 23, 24, 25, 26
FORM, FILL, LINE_STYLE, OPACITY, LINE_START, LINE_END, CURVE = 27, 28, 29, 30, 31, 32, 33
TEXT_SIZE, TYPEFACE, ALIGNMENT, EMPHASIS, TEXT_COLOUR, AUTO_WIDTH = 34, 35, 36, 37, 38, 39
START_BINDING, END_BINDING = 40, 41
LINK, FRAME, CROP, FLIP, ABOUT, RESOLVED = 42, 43, 44, 45, 46, 47
INK, POINT, RUN, DELETION, ERASURE, MOVE, VOTE = 64, 65, 128, 129, 130, 131, 132

NONE, UNSIGNED, SIGNED, PAIR, BYTES, STRING, DOT = range(7)

SHAPES = {
    POSITION: (PAIR,),
    SCALE: (UNSIGNED,),
    ANGLE: (UNSIGNED,),
    DELETED: (UNSIGNED,),
    SELECTION: (BYTES, NONE),
    SIZE: (PAIR,),
    Z_INDEX: (BYTES,),
    KIND: (UNSIGNED,),
    PURGE: (NONE,),
    COLOUR: (UNSIGNED,),
    LINE_WIDTH: (UNSIGNED,),
    ASSET: (BYTES,),
    END: (UNSIGNED,),
    CHAT_AUTHOR: (BYTES,),
    CHAT_NAME: (STRING,),
    CHAT_TEXT: (STRING,),
    CHAT_TIME: (UNSIGNED,),
    GROUP: (DOT, NONE),
    LOCK: (UNSIGNED,),
    GAME_NAME: (STRING,),
    SETUP: (BYTES,),
    CHAT_ICON: (STRING,),
    REPLACES: (DOT,),
    TITLE: (STRING,),
    BACKGROUND: (UNSIGNED,),
    GRID: (UNSIGNED,),
    LANGUAGE: (STRING,),
    START_BINDING: (BYTES, NONE),
    END_BINDING: (BYTES, NONE),
    LINK: (STRING, NONE),
    FRAME: (DOT, NONE),
    CROP: (BYTES, NONE),
    FLIP: (UNSIGNED,),
    ABOUT: (DOT,),
    RESOLVED: (UNSIGNED,),
    INK: (BYTES,),
    POINT: (PAIR, NONE),
    RUN: (BYTES,),
    DELETION: (BYTES, NONE),
    ERASURE: (BYTES, NONE),
    MOVE: (BYTES,),
    VOTE: (BYTES, NONE),
}
SHAPES |= {number: (UNSIGNED,) for number in range(FORM, AUTO_WIDTH + 1)}
CREATORS = {ASSET, END, CHAT_AUTHOR, CHAT_NAME, CHAT_TEXT, CHAT_TIME, CHAT_ICON, INK}
CREATORS |= {GAME_NAME, SETUP, REPLACES, ABOUT}
OWN = {RUN, MOVE}
WRITERS = {DELETION, ERASURE, VOTE}


class BoardError(Exception):
    """A malformed value; `word` is the error word of board.md."""

    def __init__(self, word, message=""):
        super().__init__(f"{word}: {message}" if message else word)
        self.word = word


class Dot(NamedTuple):
    incarnation: int
    sequence: int


def qualifier_class(number):
    """The kind of qualifier of a property: 0 none, 1 a number, 2 a dot (BRD-8)."""
    return number >> 6 & 3


class Cell(NamedTuple):
    shape: int
    value: object
    time: int
    dot: Dot

    @property
    def stamp(self):
        """The order of cells: the greatest wins (BRD-5). The value decides only if one dot was used twice."""
        return self.time, *self.dot, self.shape, value_bytes(self.shape, self.value)


class Operation(NamedTuple):
    dot: Dot
    time: int
    object: Dot
    number: int
    qualifier: object
    shape: int
    value: object


def check_right(operation_dot, object_id, number, qualifier, shape):
    """Whether an incarnation may write a property (BRD-2, BRD-10)."""
    if (number == KIND) != (object_id == operation_dot):
        raise BoardError("author", "a create operation that is none")
    if number == KIND and shape != UNSIGNED:
        raise BoardError("canonical", "a kind that is not unsigned")
    if number == PURGE and shape != NONE:
        raise BoardError("canonical", "a purge with a value")
    if number in CREATORS and object_id.incarnation != operation_dot.incarnation:
        raise BoardError("author", "only the creator writes this")
    if number in OWN and qualifier != operation_dot:
        raise BoardError("author", "the qualifier is another operation")
    if number in WRITERS and (
        qualifier.incarnation != operation_dot.incarnation
        or qualifier.sequence > operation_dot.sequence
    ):
        raise BoardError("author", "the qualifier is not an earlier one of the same incarnation")


class DotSet:
    """A set of dots as sorted ranges per incarnation."""

    def __init__(self):
        self.ranges = {}

    def add(self, dot):
        self.add_range(dot.incarnation, dot.sequence, dot.sequence)

    def add_range(self, incarnation, low, high):
        ranges = self.ranges.setdefault(incarnation, [])
        start = bisect.bisect_left(ranges, [low])
        if start > 0 and ranges[start - 1][1] >= low - 1:
            start -= 1
        end = start
        while end < len(ranges) and ranges[end][0] <= high + 1:
            low, high = min(low, ranges[end][0]), max(high, ranges[end][1])
            end += 1
        ranges[start:end] = [[low, high]]

    def union(self, other):
        for incarnation, ranges in other.ranges.items():
            for low, high in ranges:
                self.add_range(incarnation, low, high)

    def only(self, incarnation):
        part = DotSet()
        if incarnation in self.ranges:
            part.ranges[incarnation] = [list(r) for r in self.ranges[incarnation]]
        return part

    def covers(self, incarnation, low, high):
        return any(a <= low and high <= b for a, b in self.ranges.get(incarnation, []))

    def has_all_of(self, other):
        return all(
            self.covers(incarnation, low, high)
            for incarnation, ranges in other.ranges.items()
            for low, high in ranges
        )

    def copy(self):
        part = DotSet()
        part.union(self)
        return part

    def __contains__(self, dot):
        ranges = self.ranges.get(dot.incarnation, [])
        index = bisect.bisect_right(ranges, [dot.sequence, MAXIMUM_SEQUENCE + 1]) - 1
        return index >= 0 and ranges[index][0] <= dot.sequence <= ranges[index][1]

    def __eq__(self, other):
        return self.ranges == other.ranges

    def __iter__(self):
        for incarnation in sorted(self.ranges):
            for low, high in self.ranges[incarnation]:
                for sequence in range(low, high + 1):
                    yield Dot(incarnation, sequence)


def value_bytes(shape, value):
    if shape == NONE:
        return b""
    if shape == UNSIGNED:
        return struct.pack(">Q", value)
    if shape == SIGNED:
        return struct.pack(">q", value)
    if shape == PAIR:
        return struct.pack(">ii", *value)
    if shape == DOT:
        return struct.pack(">QQ", *value)
    return value


def mix(x):
    """The mixing function of SYN-41."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


def bucket(identifier):
    """The number of an object's bucket, of 16 (SYN-41)."""
    return mix(identifier.incarnation ^ mix(identifier.sequence)) % 16


def sums_start(context):
    """The start value of the hash of every cell, from the binary form of the context (SYN-41)."""
    result = 0
    for word in struct.unpack(">4Q", hashlib.sha256(context).digest()):
        result = mix(result ^ word)
    return result


def cell_hash(identifier, number, qualifier, cell, start):
    """The hash of one cell (SYN-41)."""
    value = value_bytes(cell.shape, cell.value)
    named = qualifier if isinstance(qualifier, Dot) else (qualifier or 0, 0)
    words = [*identifier, number, *named, *cell.dot, cell.time, cell.shape, len(value)]
    filled = value + bytes(-len(value) % 8)
    words += struct.unpack(f">{len(filled) // 8}Q", filled)
    result = start
    for word in words:
        result = mix(result ^ word)
    return result


class State:
    """The cells and the context of one replica."""

    def __init__(self):
        self.objects = {}
        self.context = DotSet()
        self.retired = set()

    def is_created(self, identifier):
        return (KIND, None) in self.objects.get(identifier, {})

    def read(self, identifier, number, qualifier=None):
        """The value, or None if the cell is missing or has another shape (BRD-9)."""
        cell = self.objects.get(identifier, {}).get((number, qualifier))
        if cell is None or cell.shape not in SHAPES.get(number, (cell.shape,)):
            return None
        return cell.value

    def is_deleted(self, identifier):
        return bool(self.read(identifier, DELETED))

    def visible(self):
        """The ids of objects that are created and not deleted, including chat lines."""
        return sorted(i for i in self.objects if self.is_created(i) and not self.is_deleted(i))

    # Merging

    def _merge_cell(self, identifier, key, cell):
        if identifier not in self.objects and identifier in self.context:
            return  # The object was purged.
        if identifier.incarnation in self.retired:
            return
        cells = self.objects.setdefault(identifier, {})
        if key not in cells or cells[key].stamp < cell.stamp:
            cells[key] = cell

    def apply(self, operations):
        """Applies the operations of one decoded batch (SYN-3 and SYN-8)."""
        for operation in operations:
            if operation.dot in self.context or operation.dot.incarnation in self.retired:
                continue
            if operation.number == PURGE:
                self.objects.pop(operation.object, None)
                if operation.object.incarnation not in self.retired:
                    self.context.add(operation.object)
            else:
                key = operation.number, operation.qualifier
                cell = Cell(operation.shape, operation.value, operation.time, operation.dot)
                self._merge_cell(operation.object, key, cell)
            self.context.add(operation.dot)
        self._drop_dead_orphans()

    def _drop_dead_orphans(self):
        """Removes cells of objects that were purged elsewhere, which are no longer orphans (SYN-4)."""
        for identifier in list(self.objects):
            if identifier in self.context and not self.is_created(identifier):
                del self.objects[identifier]

    def answer_to(self, context, buckets=0):
        """Returns (context, living, cells by object) for SYN-5, with all cells of the named buckets (SYN-42)."""
        living = DotSet()
        cells = {}
        for identifier, held in self.objects.items():
            if self.is_created(identifier):
                living.add(identifier)
            whole = buckets >> bucket(identifier) & 1
            lacking = {k: cell for k, cell in held.items() if whole or cell.dot not in context}
            if lacking:
                cells[identifier] = lacking
        return self.context.copy(), living, cells

    def merge_answer(self, context, living, cells, is_repair=False):
        """Merges an answer (SYN-6). For a repair, every cell is compared, even if it was seen (SYN-42)."""
        for identifier in list(self.objects):
            if identifier in context and identifier not in living:
                del self.objects[identifier]
        for identifier, incoming in cells.items():
            for key, cell in incoming.items():
                is_new = is_repair or cell.dot not in self.context
                if is_new and cell.dot.incarnation not in self.retired:
                    self._merge_cell(identifier, key, cell)
        self.context.union(context)
        self._forget(self.retired)
        self._drop_dead_orphans()

    # Retirement

    def retire(self, incarnations):
        """Removes what these incarnations wrote, and the objects that they created (AUT-17)."""
        new = set(incarnations) - self.retired
        self.retired |= new
        for identifier, held in list(self.objects.items()):
            if identifier.incarnation not in new:
                held = {key: cell for key, cell in held.items() if cell.dot.incarnation not in new}
                self.objects[identifier] = held
            if identifier.incarnation in new or not held:
                del self.objects[identifier]
        self._forget(new)

    def _forget(self, incarnations):
        for incarnation in incarnations & self.context.ranges.keys():
            del self.context.ranges[incarnation]

    # Digest

    def bucket_sums(self, context):
        """The sums of the 16 buckets (SYN-41); `context` is the binary form of the state's own context."""
        sums = [0] * 16
        start = sums_start(context)
        for identifier, held in self.objects.items():
            at = bucket(identifier)
            for (number, qualifier), cell in held.items():
                if number != SELECTION:
                    hashed = cell_hash(identifier, number, qualifier, cell, start)
                    sums[at] = (sums[at] + hashed) & WORD
        return sums

    def digest(self):
        """The digest in lower-case hexadecimal (SYN-40)."""
        digest = hashlib.sha256(b"whiteboard-digest-1\n")
        for identifier in self.visible():
            cells = self.objects[identifier]
            for (number, qualifier), cell in sorted(
                cells.items(), key=lambda item: (item[0][0], item[0][1] or 0)
            ):
                if number == SELECTION:
                    continue
                digest.update(struct.pack(">QQH", *identifier, number))
                if isinstance(qualifier, Dot):
                    digest.update(struct.pack(">QQ", *qualifier))
                else:
                    digest.update(struct.pack(">QQ", qualifier or 0, 0))
                value = value_bytes(cell.shape, cell.value)
                digest.update(struct.pack(">QQ", *cell.dot))
                digest.update(struct.pack(">QBI", cell.time, cell.shape, len(value)))
                digest.update(value)
        return digest.hexdigest()
