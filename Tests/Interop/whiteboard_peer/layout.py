"""The rows and columns of texts (BRD-53)."""

import functools
import unicodedata

MOST_ROWS, MOST_COLUMNS = 2_000, 4_096
SHOWN_AS_EMOJI, JOINER = "\ufe0f", "\u200d"
# Unassigned characters that are wide in UAX #11. Python takes all unassigned characters for wide.
WIDE_IF_UNASSIGNED = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD)]


def _is_in(character, low, high):
    return low <= ord(character) <= high


def _has_width(character):
    """Whether a width is known for the character."""
    return unicodedata.category(character) != "Cn" or any(_is_in(character, *bounds) for bounds in WIDE_IF_UNASSIGNED)


@functools.cache
def _wide():
    """All wide characters, including unassigned ones between two of them."""
    found, gap, is_after_wide = set(), [], False
    # The unassigned characters after these planes are not between two wide characters.
    for character in map(chr, range(0x40000)):
        if not _has_width(character):
            gap.append(character)
            continue
        is_wide = unicodedata.east_asian_width(character) in "WF"
        if is_wide:
            found.update(character, gap if is_after_wide else ())
        gap, is_after_wide = [], is_wide
    return found


def columns_of(paragraph):
    """The columns of each character of a paragraph."""
    found = []
    for i, character in enumerate(paragraph):
        before, after = paragraph[i - 1 : i] if i else "", paragraph[i + 1 : i + 2]
        if _is_in(character, 0x1F1E6, 0x1F1FF):
            is_second = before and _is_in(before, 0x1F1E6, 0x1F1FF) and found[-1] == 2
            found.append(0 if is_second else 2)
        elif character == "\u00ad":
            found.append(0)
        elif character < "\u0300":
            found.append(2 if after == SHOWN_AS_EMOJI else 1)
        elif character >= "\u2000" and before == JOINER:
            found.append(0)
        elif _is_in(character, 0x1160, 0x11FF) or _is_in(character, 0x1F3FB, 0x1F3FF):
            found.append(0)
        elif unicodedata.category(character) in ("Mn", "Me", "Cf"):
            found.append(0)
        else:
            found.append(2 if character in _wide() or after == SHOWN_AS_EMOJI else 1)
    return found


def rows_of(text, most):
    """The rows of a text with at most `most` columns, as pairs of words and columns."""
    rows = [row for paragraph in text.split("\n") for row in _rows_of(paragraph, most)]
    if len(rows) > MOST_ROWS:
        words, columns = rows[MOST_ROWS - 1]
        rows[MOST_ROWS - 1 :] = [(words + "…", columns + 1)]
    return rows


def _rows_of(paragraph, most):
    columns = columns_of(paragraph)
    start = used = 0
    space = None
    for i, character in enumerate(paragraph):
        while columns[i] > 0 and start < i and used + columns[i] > most:
            end, following = (i, i) if character == " " or space is None else (space, space + 1)
            yield paragraph[start:end], sum(columns[start:end])
            start, space = following + (character == " "), None
            used = sum(columns[start:i])
        if start <= i:
            used += columns[i]
            space = i if character == " " else space
    yield paragraph[start:], used


def columns_in(rows):
    """The number of columns of these rows."""
    return max(1, *(columns for _, columns in rows))


def size_of(rows, text_size):
    """The width and the height of rows."""
    return columns_in(rows) * text_size / 2, len(rows) * text_size
