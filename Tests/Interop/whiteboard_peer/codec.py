"""The binary forms of board.md: sets, batches, differences, ink, text runs, erasures."""

import struct

from .cells import (
    DOT,
    MAXIMUM_SEQUENCE,
    MAXIMUM_TIME,
    NONE,
    PAIR,
    POSITION,
    PURGE,
    SIGNED,
    STRING,
    UNSIGNED,
    BoardError,
    Cell,
    Dot,
    DotSet,
    Operation,
    check_right,
    qualifier_class,
)
from .wire import encode_vint

MAXIMUM_BATCH = 1 << 20
MAXIMUM_VALUE = 65_536


def zigzag_number(value):
    return (value << 1 ^ value >> 63) & 0xFFFFFFFFFFFFFFFF


def zigzag(value):
    return encode_vint(zigzag_number(value))


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


class Reader:
    """Decodes canonical forms; raises `BoardError` for all others."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    @property
    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if count > self.left:
            raise BoardError("truncated")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.take(8))[0]

    def varint(self):
        value = 0
        for index in range(10):
            byte = self.u8()
            if index == 9 and byte > 1:
                raise BoardError("varint", "over 64 bits")
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if byte == 0 and index:
                    raise BoardError("varint", "not the shortest form")
                return value
        raise BoardError("varint")

    def zigzag(self):
        return unzigzag(self.varint())

    def incarnation(self):
        value = self.u64()
        if value == 0:
            raise BoardError("reserved", "incarnation 0")
        return value

    def sequence(self):
        return check_sequence(self.varint())

    def count(self, limit=None):
        value = self.varint()
        if limit is not None and value > limit:
            raise BoardError("limit")
        if value > self.left:
            raise BoardError("truncated", "a count beyond the bytes")
        return value

    def end(self):
        if self.left:
            raise BoardError("trailing")


def check_sequence(value):
    if not 1 <= value <= MAXIMUM_SEQUENCE:
        raise BoardError("limit", "a sequence")
    return value


def check_time(value):
    if not 0 <= value <= MAXIMUM_TIME:
        raise BoardError("limit", "a time")
    return value


def join_time(milliseconds, counter):
    """Joins the two parts of a time, which are encoded separately."""
    if counter > 65_535:
        raise BoardError("limit", "a counter")
    if milliseconds < 0:
        raise BoardError("limit", "a time")
    return check_time(milliseconds << 16 | counter)


# Sets

MAXIMUM_INCARNATIONS, MAXIMUM_RANGES = 65_536, 1_048_576


def encode_set(dots):
    out = bytearray(encode_vint(len(dots.ranges)))
    for incarnation in sorted(dots.ranges):
        entries = []  # [gap, length - 1, number of repetitions]
        after = 1
        for low, high in dots.ranges[incarnation]:
            if entries and entries[-1][:2] == [low - after, high - low]:
                entries[-1][2] += 1
            else:
                entries.append([low - after, high - low, 0])
            after = high + 2
        out += struct.pack(">Q", incarnation) + encode_vint(len(entries))
        for gap, further, more in entries:
            out += encode_vint(gap) + encode_vint(further * 2 + (more > 0))
            if more:
                out += encode_vint(more - 1)
    return bytes(out)


def read_set(reader):
    dots = DotSet()
    before = 0
    total = 0
    for _ in range(reader.count(MAXIMUM_INCARNATIONS)):
        incarnation = reader.incarnation()
        if incarnation <= before:
            raise BoardError("canonical", "incarnations not ascending")
        before = incarnation
        count = reader.count(MAXIMUM_RANGES)
        if count == 0:
            raise BoardError("canonical", "no entry")
        ranges = []
        after = 1
        last = None
        for _ in range(count):
            gap, length = reader.varint(), reader.varint()
            further = length >> 1
            times = reader.varint() + 2 if length & 1 else 1
            if last == (gap, further):
                raise BoardError("canonical", "neighbours of equal gap and length")
            last = gap, further
            total += times
            if total > MAXIMUM_RANGES:
                raise BoardError("limit", "ranges")
            check_sequence(after + gap + further + (times - 1) * (gap + further + 2))
            for _ in range(times):
                ranges.append([after + gap, after + gap + further])
                after += gap + further + 2
        dots.ranges[incarnation] = ranges
    return dots


# Values


class _Pairs:
    """The last pair; the next pair is encoded as the difference from the last pair."""

    def __init__(self):
        self.last = (0, 0)

    def encode(self, pair):
        out = b"".join(zigzag(a - b) for a, b in zip(pair, self.last))
        self.last = pair
        return out

    def read(self, reader):
        pair = tuple(b + reader.zigzag() for b in self.last)
        if not all(-(2**31) <= v < 2**31 for v in pair):
            raise BoardError("limit", "a pair beyond 32 bits")
        self.last = pair
        return pair


def _encode_value(shape, value, pairs, encode_dot):
    if shape == NONE:
        return b""
    if shape == UNSIGNED:
        return encode_vint(value)
    if shape == SIGNED:
        return zigzag(value)
    if shape == PAIR:
        return pairs.encode(value)
    if shape == DOT:
        return encode_dot(value)
    return encode_vint(len(value)) + value


def _read_value(reader, shape, pairs, read_dot):
    if shape == NONE:
        return None
    if shape == UNSIGNED:
        return reader.varint()
    if shape == SIGNED:
        return reader.zigzag()
    if shape == PAIR:
        return pairs.read(reader)
    if shape == DOT:
        return read_dot()
    length = reader.varint()
    if length > MAXIMUM_VALUE:
        raise BoardError("limit", "a value")
    value = bytes(reader.take(length))
    if shape == STRING:
        try:
            value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BoardError("text") from error
    return value


def _check_tag(number, shape):
    if number > 1023:
        raise BoardError("limit", "a property number")
    if shape == 7 or qualifier_class(number) == 3:
        raise BoardError("reserved")


# Batches


def table_of(author, operations):
    """The author and every other named incarnation, by first use (SYN-21)."""
    table = {author: None}
    for target, number, qualifier, shape, value in operations:
        for named in (target, qualifier, value if shape == DOT else None):
            if isinstance(named, Dot):
                table[named.incarnation] = None
    return list(table)


def encode_operations(author, first, operations):
    """Encodes the operations of a batch (SYN-22 to SYN-24).

    `operations` are (object or None for own, number, qualifier, shape, value). A qualifier or
    value may be the string "own" for the operation's own dot."""
    table = table_of(author, operations)
    index = {incarnation: at for at, incarnation in enumerate(table)}
    body = bytearray()
    pairs = _Pairs()
    before, kind_before = None, (POSITION, PAIR)
    for offset, (target, number, qualifier, shape, value) in enumerate(operations):
        own = Dot(author, first + offset)
        target = own if target is None else target

        def dot(named):
            if named == "own" or named == own:
                return b"\0"
            return encode_vint(index[named.incarnation] + 1) + encode_vint(named.sequence)

        joined = 0
        if target != own:
            difference = target.sequence - (before.sequence if before else 0)
            joined = 1 + zigzag_number(difference) * len(table) + index[target.incarnation]
        same = target == before
        if (number, shape) == kind_before and not same:
            body += encode_vint(2 * joined)
        else:
            body += encode_vint((number * 8 + shape) * 4 + same * 2 + 1)
            if not same:
                body += encode_vint(joined)
        if qualifier_class(number) == 1:
            body += encode_vint(qualifier)
        elif qualifier_class(number) == 2:
            body += dot(qualifier)
        body += _encode_value(shape, value, pairs, dot)
        before, kind_before = target, (number, shape)
    return bytes(body)


def encode_head(author, first, time, count, table):
    """Encodes the start of a batch in full form (SYN-20)."""
    head = struct.pack(">Q", author) + encode_vint(first) + encode_vint(time)
    head += encode_vint(count) + encode_vint(len(table))
    return head + b"".join(struct.pack(">Q", entry) for entry in table)


def encode_batch(author, first, time, operations):
    """Encodes a batch in full form; `operations` are as in `encode_operations`."""
    head = encode_head(author, first, time, len(operations), table_of(author, operations)[1:])
    return head + encode_operations(author, first, operations)


def check_batch(first, time, count):
    check_sequence(first)
    check_time(time)
    if not 1 <= count <= 4_096:
        raise BoardError("limit", "operations")
    check_sequence(first + count - 1)
    check_time(time + count - 1)


def check_table(author, table):
    if author in table or len(set(table)) != len(table):
        raise BoardError("canonical", "an incarnation twice in the table")


def decode_batch(data):
    """Decodes a batch in full form (SYN-20 to SYN-24)."""
    if len(data) > MAXIMUM_BATCH:
        raise BoardError("limit", "a batch")
    reader = Reader(data)
    author = reader.incarnation()
    first, time, count = reader.sequence(), reader.varint(), reader.varint()
    check_batch(first, time, count)
    if count > reader.left:
        raise BoardError("truncated")
    table = [reader.incarnation() for _ in range(reader.count())]
    check_table(author, table)
    return read_operations(reader, author, first, time, count, table)


def read_operations(reader, author, first, time, count, others):
    """Decodes the operations, which are the rest of the bytes."""
    table = [author, *others]
    used = 0
    pairs = _Pairs()
    operations = []
    before, kind_before = None, (POSITION, PAIR)
    for offset in range(count):
        own = Dot(author, first + offset)

        def incarnation_of(index):
            nonlocal used
            if index >= len(table):
                raise BoardError("limit", "an index beyond the table")
            if index > used + 1:
                raise BoardError("canonical", "a table not in order of first use")
            used = max(used, index)
            return table[index]

        def not_own(dot):
            if dot == own:
                raise BoardError("canonical", "the own dot by name")
            return dot

        def read_dot():
            index = reader.varint()
            if index == 0:
                return own
            incarnation = incarnation_of(index - 1)
            return not_own(Dot(incarnation, reader.sequence()))

        def object_of(joined):
            if joined == 0:
                return own
            difference, index = divmod(joined - 1, len(table))
            sequence = (before.sequence if before else 0) + unzigzag(difference)
            return not_own(Dot(incarnation_of(index), check_sequence(sequence)))

        head = reader.varint()
        if head & 1 == 0:
            number, shape = kind_before
            target = object_of(head >> 1)
            if target == before:
                raise BoardError("canonical", "the same object named again")
        else:
            number, shape, same = head >> 5, head >> 2 & 7, head >> 1 & 1
            _check_tag(number, shape)
            if same and before is None:
                raise BoardError("canonical", "the same object as none")
            target = before if same else object_of(reader.varint())
            if not same and (target == before or (number, shape) == kind_before):
                raise BoardError("canonical", "another form is shorter")
        qualifier = None
        if qualifier_class(number) == 1:
            qualifier = reader.varint()
        elif qualifier_class(number) == 2:
            qualifier = read_dot()
        value = _read_value(reader, shape, pairs, read_dot)
        check_right(own, target, number, qualifier, shape)
        operations.append(
            Operation(own, time + offset, target, number, qualifier, shape, value)
        )
        before, kind_before = target, (number, shape)
    if used != len(table) - 1:
        raise BoardError("canonical", "an incarnation that is not used")
    reader.end()
    return operations


# Differences


def _cell_order(key):
    return key[0], key[1] or 0


def encode_difference(context, living, cells):
    incarnations = set()
    for identifier, held in cells.items():
        incarnations.add(identifier.incarnation)
        for (_, qualifier), cell in held.items():
            incarnations.add(cell.dot.incarnation)
            for value in (qualifier, cell.value):
                if isinstance(value, Dot):
                    incarnations.add(value.incarnation)
    table = sorted(incarnations)
    index = {incarnation: i for i, incarnation in enumerate(table)}
    out = bytearray(b"\2" + encode_set(context) + encode_set(living))
    out += encode_vint(len(table)) + b"".join(struct.pack(">Q", i) for i in table)
    out += encode_vint(len(cells))

    def dot(named):
        return encode_vint(index[named.incarnation]) + encode_vint(named.sequence)

    pairs = _Pairs()
    last_object = 0
    last_of = {}
    for identifier in sorted(cells):
        held = cells[identifier]
        out += encode_vint(index[identifier.incarnation])
        out += zigzag(identifier.sequence - last_object) + encode_vint(len(held))
        last_object = identifier.sequence
        for number, qualifier in sorted(held, key=_cell_order):
            cell = held[number, qualifier]
            out += encode_vint(number * 8 + cell.shape)
            if qualifier_class(number) == 1:
                out += encode_vint(qualifier)
            elif qualifier_class(number) == 2:
                out += dot(qualifier)
            out += encode_vint(index[cell.dot.incarnation])
            milliseconds, counter = divmod(cell.time, 65_536)
            last = last_of.get(cell.dot.incarnation, (0, 0))
            out += zigzag(cell.dot.sequence - last[0]) + zigzag(milliseconds - last[1])
            out += encode_vint(counter)
            last_of[cell.dot.incarnation] = cell.dot.sequence, milliseconds
            out += _encode_value(cell.shape, cell.value, pairs, dot)
    return bytes(out)


def read_difference(reader):
    """Decodes (context, living, cells by object) of SYN-26, with the checks of SYN-27."""
    if reader.u8() != 2:
        raise BoardError("reserved", "the version of the difference")
    context, living = read_set(reader), read_set(reader)
    if not context.has_all_of(living):
        raise BoardError("inconsistent", "living beyond the context")
    table = []
    for _ in range(reader.count()):
        incarnation = reader.incarnation()
        if table and incarnation <= table[-1]:
            raise BoardError("canonical", "the table is not ascending")
        table.append(incarnation)
    used = set()

    def incarnation_of(index):
        if index >= len(table):
            raise BoardError("limit", "an index beyond the table")
        used.add(index)
        return table[index]

    def read_dot():
        incarnation = incarnation_of(reader.varint())
        return Dot(incarnation, reader.sequence())

    pairs = _Pairs()
    cells = {}
    last_object = 0
    last_of = {}
    before = None
    for _ in range(reader.count()):
        incarnation = incarnation_of(reader.varint())
        identifier = Dot(incarnation, check_sequence(last_object + reader.zigzag()))
        last_object = identifier.sequence
        if before is not None and identifier <= before:
            raise BoardError("canonical", "objects not ascending")
        before = identifier
        if identifier in context and identifier not in living:
            raise BoardError("inconsistent", "cells of an object that is not living")
        count = reader.count()
        if count == 0:
            raise BoardError("canonical", "an object without cells")
        held = cells[identifier] = {}
        last_key = None
        for _ in range(count):
            tag = reader.varint()
            number, shape = tag >> 3, tag & 7
            _check_tag(number, shape)
            if number == PURGE:
                raise BoardError("reserved", "a purge in an answer")
            qualifier = None
            if qualifier_class(number) == 1:
                qualifier = reader.varint()
            elif qualifier_class(number) == 2:
                qualifier = read_dot()
            key = number, qualifier
            if last_key is not None and _cell_order(key) <= _cell_order(last_key):
                raise BoardError("canonical", "cells not ascending")
            last_key = key
            author = incarnation_of(reader.varint())
            last = last_of.get(author, (0, 0))
            dot = Dot(author, check_sequence(last[0] + reader.zigzag()))
            milliseconds = last[1] + reader.zigzag()
            time = join_time(milliseconds, reader.varint())
            last_of[author] = dot.sequence, milliseconds
            value = _read_value(reader, shape, pairs, read_dot)
            check_right(dot, identifier, number, qualifier, shape)
            if dot not in context:
                raise BoardError("inconsistent", "a cell beyond the context")
            held[key] = Cell(shape, value, time, dot)
    if len(used) != len(table):
        raise BoardError("canonical", "an incarnation that is not used")
    return context, living, cells


def decode_difference(data):
    reader = Reader(data)
    difference = read_difference(reader)
    reader.end()
    return difference


# Ink and text


def encode_ink(points):
    """Encodes `points`, each (x, y, pressure) in 1/16 unit (BRD-15)."""
    has_pressure = any(point[2] for point in points)
    out = bytearray(encode_vint(len(points) << 1 | has_pressure))
    last = (0, 0, 0)
    for point in points:
        out += zigzag(point[0] - last[0]) + zigzag(point[1] - last[1])
        if has_pressure:
            out += zigzag(point[2] - last[2])
        last = point
    return bytes(out)


def decode_ink(data, maximum):
    reader = Reader(data)
    head = reader.varint()
    count, has_pressure = head >> 1, head & 1
    if not 1 <= count <= maximum:
        raise BoardError("limit", "points")
    if count * (2 + has_pressure) > reader.left:
        raise BoardError("truncated")
    last = (0, 0, 0)
    points = []
    for _ in range(count):
        pressure = 0
        x, y = last[0] + reader.zigzag(), last[1] + reader.zigzag()
        if has_pressure:
            pressure = last[2] + reader.zigzag()
            if not 0 <= pressure <= 255:
                raise BoardError("limit", "a pressure")
        last = (x, y, pressure)
        if not all(-(2**29) <= v < 2**29 for v in (x, y)):
            raise BoardError("limit", "a coordinate")
        points.append(last)
    if has_pressure and not any(p[2] for p in points):
        raise BoardError("canonical", "pressure that is none")
    reader.end()
    return points


ROOT, LEFT, RIGHT = 0, 1, 2


def encode_run(anchor, character, text):
    """Encodes a text run. `character` is (dot of its run, offset), or None at the root."""
    out = bytes([anchor])
    if character is not None:
        (incarnation, sequence), offset = character
        out += struct.pack(">Q", incarnation) + encode_vint(sequence) + encode_vint(offset)
    return out + text.encode("utf-8")


def decode_run(data):
    reader = Reader(data)
    anchor = reader.u8()
    if anchor > RIGHT:
        raise BoardError("reserved", "an anchor")
    character = None
    if anchor != ROOT:
        dot = Dot(reader.incarnation(), reader.sequence())
        character = dot, reader.varint()
    try:
        text = bytes(reader.take(reader.left)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BoardError("text") from error
    if not text:
        raise BoardError("truncated", "no character")
    return anchor, character, text


def encode_deletion(run, first, count):
    head = struct.pack(">Q", run.incarnation) + encode_vint(run.sequence)
    return head + encode_vint(first) + encode_vint(count - 1)


def decode_deletion(data):
    """Encodes a reference to a run: (dot of the run, first offset, number of characters)."""
    reader = Reader(data)
    run = Dot(reader.incarnation(), reader.sequence())
    first, further = reader.varint(), reader.varint()
    reader.end()
    return run, first, further + 1


# Erasures

MAXIMUM_SPANS, MAXIMUM_SPAN_END = 4_096, 1_048_576


def encode_erasure(spans):
    """Encodes `spans`, each (start, end) in 1/16 of the distance between two points (BRD-29)."""
    out = bytearray()
    after = 0
    for start, end in spans:
        out += encode_vint(start - after) + encode_vint(end - start - 1)
        after = end + 1
    return bytes(out)


def decode_erasure(data):
    reader = Reader(data)
    spans = []
    after = 0
    while reader.left or not spans:
        start = after + reader.varint()
        end = start + reader.varint() + 1
        spans.append((start, end))
        if end > MAXIMUM_SPAN_END or len(spans) > MAXIMUM_SPANS:
            raise BoardError("limit", "an erasure")
        after = end + 1
    return spans
