"""Draws the contents of a terminal: letters stay letters; dots, blocks and lines are drawn so that they connect."""

import re
import unicodedata
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 9, 18
INK, PAPER = "#e6e6e6", "#14181d"
SIXTEEN = [
    "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
    "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
]
# For each line character, the edges of a cell to which it draws lines from the center.
LINES = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "udr", "┤": "udl", "┬": "lrd",
    "┴": "lru", "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu",
}
BLOCKS = {"▀": (0, 0, 1, 0.5), "▄": (0, 0.5, 1, 0.5), "█": (0, 0, 1, 1), "▌": (0, 0, 0.5, 1), "▐": (0.5, 0, 0.5, 1)}


class Style:
    """The current style of cells, after the escape sequences so far."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.ink = self.paper = None
        self.bold = self.dim = self.reversed = self.underlined = False

    @property
    def colors(self):
        """The colors of the letter and of its background; None means the terminal's own."""
        if self.reversed:
            return self.paper or PAPER, self.ink or INK
        return self.ink or INK, self.paper

    @property
    def attributes(self):
        return (' font-weight="bold"' if self.bold else "") + (' opacity="0.6"' if self.dim else "") + (
            ' text-decoration="underline"' if self.underlined else "")

    def take(self, numbers):
        """Parses the numbers of one `CSI … m`."""
        numbers = numbers or [0]
        while numbers:
            number, *numbers = numbers
            if number == 0:
                self.reset()
            elif number in (1, 2, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 4: "underlined", 7: "reversed"}[number], True)
            elif number == 22:
                self.bold = self.dim = False
            elif number in (24, 27):
                setattr(self, {24: "underlined", 27: "reversed"}[number], False)
            elif number in (38, 48):
                kind, *numbers = numbers
                used = 3 if kind == 2 else 1
                color = "#%02x%02x%02x" % tuple(numbers[:3]) if kind == 2 else indexed(numbers[0])
                setattr(self, "ink" if number == 38 else "paper", color)
                numbers = numbers[used:]
            elif number in (39, 49):
                setattr(self, "ink" if number == 39 else "paper", None)
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.ink = SIXTEEN[number - 30 if number < 90 else number - 82]
            elif 40 <= number <= 47 or 100 <= number <= 107:
                self.paper = SIXTEEN[number - 40 if number < 100 else number - 92]


def indexed(number):
    """Returns a color of the palette of 256."""
    if number < 16:
        return SIXTEEN[number]
    if number >= 232:
        return "#" + "%02x" % (8 + (number - 232) * 10) * 3
    steps = [0, 95, 135, 175, 215, 255]
    return "#%02x%02x%02x" % tuple(steps[(number - 16) // share % 6] for share in (36, 6, 1))


def columns(character):
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def parse(screen):
    """Rows of (column, columns, text, ink, paper, attributes), one for each character with its combining
    characters."""
    rows = []
    style = Style()
    for line in screen.rstrip("\n").split("\n"):
        row, x, at = [], 0, 0
        while at < len(line):
            if line.startswith("\x1b[", at):
                end = at + 2
                while not line[end].isalpha():
                    end += 1
                if line[end] == "m":
                    style.take([int(word or 0) for word in line[at + 2 : end].replace(":", ";").split(";")])
                at = end + 1
            elif line[at] in "\x0e\x0f":
                at += 1
            else:
                width = columns(line[at])
                if width or not row:
                    row.append((x, width, line[at], *style.colors, style.attributes))
                    x += width
                else:
                    row[-1] = (*row[-1][:2], row[-1][2] + line[at], *row[-1][3:])
                at += 1
        rows.append(row)
    return rows


def joined(cells, key):
    """Runs of adjacent cells with the same key, as (first column, column after the last, cells)."""
    runs = []
    for cell in cells:
        if runs and runs[-1][1] == cell[0] and key(runs[-1][2][-1]) == key(cell):
            runs[-1] = (runs[-1][0], cell[0] + cell[1], runs[-1][2] + [cell])
        else:
            runs.append((cell[0], cell[0] + cell[1], [cell]))
    return runs


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def rectangle(x, y, width, height, color):
    sides = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {sides} fill="{color}"/>'


def drawn(cells, y):
    """Draws everything but letters: a path per color for braille dots and lines, a rectangle for each run of
    blocks."""
    elements, paths = [], {}
    blocks = [cell for cell in cells if cell[2] in BLOCKS]
    for first, end, run in joined(blocks, lambda cell: (cell[2], cell[3], cell[5])):
        left, top, across, down = BLOCKS[run[0][2]]
        for start, stop in [(first, end)] if across == 1 else [(cell[0], cell[0] + 1) for cell in run]:
            elements.append(
                rectangle(
                    (start + left) * WIDTH, (y + top) * HEIGHT, (stop - start) * across * WIDTH, down * HEIGHT, run[0][3]
                )
            )
    for x, _, text, ink, _, attributes in cells:
        middle, center = (x + 0.5) * WIDTH, (y + 0.5) * HEIGHT
        if text in LINES:
            ends = {"l": f"H{number(x * WIDTH)}", "r": f"H{number((x + 1) * WIDTH)}",
                    "u": f"V{y * HEIGHT}", "d": f"V{(y + 1) * HEIGHT}"}
            path = "".join(f"M{number(middle)} {number(center)}{ends[way]}" for way in LINES[text])
            paths.setdefault((ink, attributes, 1), []).append(path)
        elif "\u2800" <= text <= "\u28ff":
            for bit in range(8):
                if ord(text) & 1 << bit:
                    column, row = (bit // 3, bit % 3) if bit < 6 else (bit - 6, 3)
                    dot = f"M{number((x + 0.25 + column * 0.5) * WIDTH)} {number((y + (row + 0.5) / 4) * HEIGHT)}h0"
                    paths.setdefault((ink, attributes, 4), []).append(dot)
    for (ink, attributes, breadth), parts in paths.items():
        cap = ' stroke-linecap="round"' if breadth > 1 else ""
        elements.append(f'<path d="{"".join(parts)}" stroke="{ink}" stroke-width="{breadth}"{cap}{attributes}/>')
    return elements


def is_letter(cell):
    return not (cell[2].isspace() or cell[2] in LINES or cell[2] in BLOCKS or "\u2800" <= cell[2] <= "\u28ff")


def words(cells):
    """Splits letters of one style at double spaces, because SVG shows several spaces as one."""
    runs = joined([cell for cell in cells if is_letter(cell) or cell[2] == " "], lambda cell: cell[3:])
    return [
        run[found.start() : found.end()]
        for _, _, run in runs
        for found in re.finditer(r"\S+( \S+)*", "".join(cell[2][0] for cell in run))
    ]


def svg(screen, across, down, title):
    """Draws the output of `tmux capture-pane -e -p`."""
    width, height = across * WIDTH, down * HEIGHT
    elements = [rectangle(-8, -8, width + 16, height + 16, PAPER).replace("/>", ' rx="6"/>')]
    for y, cells in enumerate(parse(screen)[:down]):
        for first, end, run in joined([cell for cell in cells if cell[4]], lambda cell: cell[4]):
            elements.append(rectangle(first * WIDTH, y * HEIGHT, (end - first) * WIDTH, HEIGHT, run[0][4]))
        elements += drawn(cells, y)
        for run in words(cells):
            text = escape("".join(cell[2] for cell in run))
            length = (run[-1][0] + run[-1][1] - run[0][0]) * WIDTH
            place = f'x="{run[0][0] * WIDTH}" y="{y * HEIGHT + 13}" textLength="{length}"'
            elements.append(f'<text {place} fill="{run[0][3]}"{run[0][5]}>{text}</text>')
    body = "\n".join(elements)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 {width + 16} {height + 16}" width="{width + 16}">
<title>{escape(title)}</title>
<style>text {{ font: 15px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }}</style>
<g fill="none">
{body}
</g>
</svg>
"""
