"""The state of a board: dots, contexts, cells, merging, the digest (board.md)."""

import bisect
import hashlib
import struct
from typing import NamedTuple

MAXIMUM_SEQUENCE = 2**48 - 1
MAXIMUM_TIME = 2**63 - 1

TEXT, DRAWING, PHOTO, GAME, CHAT = 1, 2, 3, 4, 5

POSITION, SCALE, ANGLE, DELETED, SELECTION, SIZE, Z_INDEX, KIND, PURGE = range(9)
COLOUR, LINE_WIDTH, ASSET, END = 9, 10, 11, 12
CHAT_AUTHOR, CHAT_NAME, CHAT_TEXT, CHAT_TIME = 13, 14, 15, 16
INK, RUN, DELETION = 64, 128, 129

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
    INK: (BYTES,),
    RUN: (BYTES,),
    DELETION: (BYTES,),
}
CREATORS = {ASSET, END, CHAT_AUTHOR, CHAT_NAME, CHAT_TEXT, CHAT_TIME, INK}
OWN = {RUN, DELETION}


class BoardError(Exception):
    """A form that is refused; `word` is the error word of board.md."""

    def __init__(self, word, message=""):
        super().__init__(f"{word}: {message}" if message else word)
        self.word = word


class Dot(NamedTuple):
    incarnation: int
    sequence: int


def qualifier_class(number):
    """0 none, 1 a number, 2 a dot (BRD-8)."""
    return number >> 6 & 3


class Cell(NamedTuple):
    shape: int
    value: object
    time: int
    dot: Dot

    @property
    def stamp(self):
        """Greatest wins (BRD-5)."""
        return self.time, self.dot.incarnation, self.dot.sequence


class Operation(NamedTuple):
    dot: Dot
    time: int
    object: Dot
    number: int
    qualifier: object
    shape: int
    value: object


def check_right(operation_dot, object_id, number, qualifier, shape):
    """Who may write what (BRD-2, BRD-10)."""
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


def _value_bytes(shape, value):
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


class State:
    """Cells and context of one replica."""

    def __init__(self):
        self.objects = {}
        self.context = DotSet()

    def is_created(self, identifier):
        return (KIND, None) in self.objects.get(identifier, {})

    def read(self, identifier, number, qualifier=None):
        """The value, or None where the cell is missing or has another shape (BRD-9)."""
        cell = self.objects.get(identifier, {}).get((number, qualifier))
        if cell is None or cell.shape not in SHAPES.get(number, (cell.shape,)):
            return None
        return cell.value

    def is_deleted(self, identifier):
        return bool(self.read(identifier, DELETED))

    def visible(self):
        """The ids of objects that are created and not deleted, chat lines too."""
        return sorted(i for i in self.objects if self.is_created(i) and not self.is_deleted(i))

    # Merging

    def _merge_cell(self, identifier, key, cell):
        if identifier not in self.objects and identifier in self.context:
            return  # It was purged.
        cells = self.objects.setdefault(identifier, {})
        if key not in cells or cells[key].stamp < cell.stamp:
            cells[key] = cell

    def apply(self, operations):
        """SYN-3 and SYN-8; the operations are one decoded batch."""
        for operation in operations:
            if operation.dot in self.context:
                continue
            if operation.number == PURGE:
                self.objects.pop(operation.object, None)
                self.context.add(operation.object)
            else:
                key = operation.number, operation.qualifier
                cell = Cell(operation.shape, operation.value, operation.time, operation.dot)
                self._merge_cell(operation.object, key, cell)
            self.context.add(operation.dot)
        self._drop_dead_orphans()

    def _drop_dead_orphans(self):
        """SYN-4: what was purged elsewhere is no orphan any more."""
        for identifier in list(self.objects):
            if identifier in self.context and not self.is_created(identifier):
                del self.objects[identifier]

    def answer_to(self, context):
        """(context, living, cells by object) for SYN-5."""
        living = DotSet()
        cells = {}
        for identifier, held in self.objects.items():
            if self.is_created(identifier):
                living.add(identifier)
            lacking = {key: cell for key, cell in held.items() if cell.dot not in context}
            if lacking:
                cells[identifier] = lacking
        return self.context.copy(), living, cells

    def merge_answer(self, context, living, cells):
        """SYN-6."""
        for identifier in list(self.objects):
            if identifier in context and identifier not in living:
                del self.objects[identifier]
        for identifier, incoming in cells.items():
            for key, cell in incoming.items():
                if cell.dot not in self.context:
                    self._merge_cell(identifier, key, cell)
        self.context.union(context)
        self._drop_dead_orphans()

    # Digest

    def digest(self):
        """SYN-40, in lower-case hexadecimal."""
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
                value = _value_bytes(cell.shape, cell.value)
                digest.update(struct.pack(">QQ", *cell.dot))
                digest.update(struct.pack(">QBI", cell.time, cell.shape, len(value)))
                digest.update(value)
        return digest.hexdigest()
