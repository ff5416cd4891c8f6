"""Positions in the stack of objects: z indexes (BRD-13, BRD-34)."""

LONGEST = 32
MOST_EQUAL = 8
FIRST = b"\x80\0\0\0"


def jitter(identifier):
    """Returns the last byte, which separates positions that two replicas chose in the same gap; never 0."""
    return bytes([max(1, (identifier.incarnation ^ identifier.sequence) & 0xFF)])


def _leading(place, byte):
    return len(place) - len(place.lstrip(bytes([byte])))


def is_followed(place):
    """Whether a position counts as the top of the stack: at most 64 bytes, of which at most the first 8 are FF."""
    return len(place) <= 64 and _leading(place, 0xFF) <= MOST_EQUAL


def _counted(place, byte, step):
    """Returns `place` plus or minus 1, counted after its leading bytes `byte`."""
    equal = _leading(place, byte)
    number = int.from_bytes(place[equal : equal + 4].ljust(4, b"\0"), "big") + step
    return place[:equal] + number.to_bytes(4, "big")


def front(top, jitter):
    """Returns a position in front of `top`, which is None for an empty stack."""
    return (FIRST if top is None else _counted(top, 0xFF, 1)) + jitter


def back(bottom, jitter):
    """Returns a position behind `bottom` (None for an empty stack), or None if no short position is left."""
    if bottom is None:
        return FIRST + jitter
    if not bottom.strip(b"\0") or _leading(bottom, 0) > MOST_EQUAL:
        return None
    return _counted(bottom, 0, -1) + jitter


def between(lower, upper, jitter):
    """Returns a position between two others, or None if none of at most `LONGEST` bytes is left."""
    if upper is not None and upper <= lower:
        return None
    result = b""
    while len(result) < LONGEST - 1:
        at = len(result)
        low = lower[at] if at < len(lower) else 0
        high = 256
        if upper is not None:
            if at == len(upper):
                return None
            high = upper[at]
        if high - low > 1:
            return result + bytes([low + (high - low) // 2]) + jitter
        result += bytes([low])
        if high > low:
            upper = None
    return None


def spread(count, lower, upper, jitter):
    """Returns `count` ascending positions between two others, or None. A missing neighbor is None."""
    if count == 0:
        return []
    if lower is None and upper is None:
        return [(0x8000_0000 + at).to_bytes(4, "big") + jitter for at in range(count)]
    if lower is None or upper is None:
        step = front if upper is None else back
        places = [lower if upper is None else upper]
        for _ in range(count):
            places.append(step(places[-1], jitter))
            if places[-1] is None:
                return None
        return places[1:] if upper is None else places[:0:-1]
    before = (count - 1) // 2
    middle = between(lower, upper, jitter)
    if middle is None:
        return None
    behind = spread(before, lower, middle, jitter)
    ahead = spread(count - 1 - before, middle, upper, jitter)
    return None if behind is None or ahead is None else [*behind, middle, *ahead]
