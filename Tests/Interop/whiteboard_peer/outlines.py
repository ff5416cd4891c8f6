"""The outlines of forms and the marks at the ends of lines, in the coordinates of the form (BRD-51)."""

import math
from typing import NamedTuple

LINE, ARROW, RECTANGLE, ROUNDED, ELLIPSE, DIAMOND, NOTE, FRAME = range(1, 9)
HAS_POINTS = {LINE, ARROW}
MARK_NONE, MARK_ARROW, MARK_TRIANGLE, MARK_BAR, MARK_DOT = range(5)

QUARTER = 0.5522847498307936
LARGEST_RADIUS = 32
LABEL_SPACE = 4


class Outline(NamedTuple):
    """A path. Each piece has one point, the end of a line, or three: two control points and the end of a curve."""

    start: tuple
    pieces: list
    is_closed: bool

    def points(self):
        """The start and the end of each piece."""
        return [self.start, *(piece[-1] for piece in self.pieces)]

    def box(self):
        """The least and the greatest corner of the box around all points and control points."""
        every = [self.start, *(point for piece in self.pieces for point in piece)]
        return tuple(tuple(pick(axis) for axis in zip(*every)) for pick in (min, max))

    def middle(self):
        """The middle of the length; a curve counts as 16 straight lines (BRD-53)."""
        places = [self.start]
        for piece in self.pieces:
            start, steps = places[-1], range(1, 17) if len(piece) == 3 else []
            places += [_on_curve(start, *piece, step / 16) for step in steps] or piece
        ways = [math.dist(*ends) for ends in zip(places, places[1:])]
        rest = sum(ways) / 2
        for way, start, end in zip(ways, places, places[1:]):
            if rest <= way and way > 0:
                return add(start, add(end, start, -1), rest / way)
            rest -= way
        return places[-1]

    def label_center(self, size, ends, line_width):
        """The center of a label of this size (BRD-53); `ends` are the marks at the first and the last point."""
        middle = self.middle()
        rooms = [line_width if mark == MARK_NONE else 8 + 4 * line_width for mark in ends]
        places = self.points()
        if not any(
            all(abs(place[axis] - middle[axis]) < size[axis] / 2 + room for axis in (0, 1))
            for place, room in zip((places[0], places[-1]), rooms)
        ):
            return middle
        (left, top), (right, bottom) = self.box()
        distance = LABEL_SPACE + max(rooms) / 2
        if right - left > bottom - top:
            return middle[0], top - distance - size[1] / 2
        return right + distance + size[0] / 2, middle[1]

    def moved(self, offset):
        pieces = [[add(point, offset) for point in piece] for piece in self.pieces]
        return Outline(add(self.start, offset), pieces, self.is_closed)


def add(a, b, factor=1):
    """a + factor x b."""
    return a[0] + factor * b[0], a[1] + factor * b[1]


def _on_curve(start, first, second, end, share):
    """The point of a cubic Bézier curve at the parameter `share`."""
    rest = 1 - share
    factors = rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3
    return tuple(sum(f * p[axis] for f, p in zip(factors, (start, first, second, end))) for axis in (0, 1))


def polygon(corners):
    return Outline(corners[0], [[corner] for corner in [*corners[1:], corners[0]]], True)


def rounded_box(x, y, across, down):
    """A box with half the width `x` and half the height `y`, whose corners are quarters of an ellipse."""
    u, v = x - across, y - down
    a, b = u + across * QUARTER, v + down * QUARTER
    # The end of each side, and then the control points and the end of the quarter that follows.
    parts = [
        ((u, -y), (a, -y), (x, -b), (x, -v)),
        ((x, v), (x, b), (a, y), (u, y)),
        ((-u, y), (-a, y), (-x, b), (-x, v)),
        ((-x, -v), (-x, -b), (-a, -y), (-u, -y)),
    ]
    start = at = (-u, -y)
    pieces = []
    for side, *quarter in parts:
        if side != at:
            pieces.append([side])
        pieces.append(quarter)
        at = quarter[-1]
    return Outline(start, pieces, True)


def of_box(form, width, height):
    """The outline of a form that has a width and a height."""
    x, y = width / 2, height / 2
    if form == ELLIPSE:
        return rounded_box(x, y, x, y)
    if form == ROUNDED:
        radius = min(LARGEST_RADIUS, width / 4, height / 4)
        return rounded_box(x, y, radius, radius)
    if form == DIAMOND:
        return polygon([(0, -y), (x, 0), (0, y), (-x, 0)])
    return polygon([(-x, -y), (x, -y), (x, y), (-x, y)])


def through(points, is_curved):
    """The outline of a line or arrow; None if it has no points."""
    if not points:
        return None
    is_closed = len(points) > 2 and points[0] == points[-1]
    if not is_curved or len(points) < 3:
        return Outline(points[0], [[point] for point in points[1:]], is_closed)
    # The neighbors of the first and the last piece.
    around = [points[-2], *points, points[1]] if is_closed else [points[0], *points, points[-1]]
    pieces = []
    for p0, p1, p2, p3 in zip(around, around[1:], around[2:], around[3:]):
        pieces.append([add(p1, add(p2, p0, -1), 1 / 6), add(p2, add(p3, p1, -1), -1 / 6), p2])
    return Outline(points[0], pieces, is_closed)


def end_marks(outline, start, end, line_width):
    """The marks at the first and at the last point, each as an outline; closed ones are filled."""
    if outline is None or not outline.pieces:
        return []
    points = outline.points()
    first, last = outline.pieces[0], outline.pieces[-1]
    found = [
        _mark(start, points[0], points[1], first[0], line_width),
        _mark(end, points[-1], points[-2], last[-2] if len(last) == 3 else points[-2], line_width),
    ]
    return [mark for mark in found if mark]


def _mark(kind, tip, neighbor, control, line_width):
    """The mark at `tip`, which points away from `control`, or from `neighbor` if `control` is at the tip."""
    source = neighbor if control == tip else control
    distance = math.dist(tip, source)
    if kind == MARK_NONE or distance == 0:
        return None
    length = min(8 + 4 * line_width, math.dist(tip, neighbor) / 2)
    u = (tip[0] - source[0]) / distance, (tip[1] - source[1]) / distance
    back = add(tip, u, -length)
    side = -u[1] * length / 2, u[0] * length / 2
    if kind == MARK_ARROW:
        return Outline(add(back, side), [[tip], [add(back, side, -1)]], False)
    if kind == MARK_TRIANGLE:
        return polygon([tip, add(back, side), add(back, side, -1)])
    if kind == MARK_BAR:
        return Outline(add(tip, side), [[add(tip, side, -1)]], False)
    return rounded_box(length / 4, length / 4, length / 4, length / 4).moved(tip)
