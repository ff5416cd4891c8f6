"""The rows of the benchmarks, and the page, the history and the plots that their figures fill."""

import dataclasses
import json
import math
import statistics

HERE = "here"  # the column of our own figures


@dataclasses.dataclass(frozen=True)
class Goal:
    """A limit: `value`, or `value` times the figure of a tool or of another row."""

    value: float
    is_least: bool = False
    of: str = ""

    def limit(self, row, medians):
        """The limit as a number, or None if the figure that it refers to is missing."""
        base = medians.get(f"{row} {self.of}", medians.get(self.of)) if self.of else 1
        return None if base is None else self.value * base

    def is_met(self, row, medians):
        """Whether a row reaches the goal, or None if that is unknown."""
        limit, figure = self.limit(row, medians), medians.get(row)
        if limit is None or figure is None:
            return None
        return figure >= limit if self.is_least else figure <= limit

    def __str__(self):
        return f"{'≥' if self.is_least else '≤'} {self.value:,.10g}" + (f" x {self.of}" if self.of else "")


def most(value, of=""):
    """A goal that a figure must not exceed."""
    return Goal(value, of=of)


def least(value, of=""):
    """A goal that a figure must reach."""
    return Goal(value, True, of)


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure: its key in the measurement, its title with the unit, its goal, and why it misses the goal."""

    key: str
    title: str
    goal: Goal | None = None
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Work:
    """A measurement that fills some rows.

    `measure` takes a `Bench` and returns the figures of the rows by their keys; each tool does too. `seconds` is the time
    of one run with release programs. A measurement with `is_alone` runs in a network namespace of its own."""

    name: str
    seconds: float
    measure: object
    rows: tuple
    tools: dict = dataclasses.field(default_factory=dict)
    is_alone: bool = False

    def id(self, row):
        """The name of a row in the history."""
        return f"{self.name}.{row.key}"


class Findings:
    """The figures of one run of the script, by row and column."""

    def __init__(self):
        self.values, self.loads, self.problems = {}, {}, {}

    def add(self, work, column, figures, load):
        """Adds the figures of one measurement."""
        for row in work.rows:
            if row.key in figures:
                name = work.id(row) if column == HERE else f"{work.id(row)} {column}"
                self.values.setdefault(name, []).append(figures[row.key])
                self.loads[name] = max(load, self.loads.get(name, 0))

    def medians(self):
        """The median of each row and column."""
        return {name: statistics.median(values) for name, values in self.values.items()}


def shown(value):
    """Formats a number with three digits, or all if it has more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rounded(value):
    """A number with four digits, for the history."""
    return float(f"{value:.4g}") if value < 1000 else round(value)


def record(history, about, findings):
    """Returns the history with the medians of this run, which replace those of an earlier call for the same run."""
    entry = about | {"medians": {name: rounded(value) for name, value in sorted(findings.medians().items())}}
    return [one for one in history if one["began"] != about["began"]] + [entry]


def history_text(history):
    """The history as JSON, with one line for each run."""
    return "[\n" + ",\n".join(json.dumps(entry) for entry in history) + "\n]\n"


def earlier(history, about, name):
    """The latest earlier median of a row with its commit, or a dash."""
    for entry in reversed(history):
        if name in entry["medians"] and entry["began"] != about["began"]:
            return f"{shown(entry['medians'][name])} ({entry['commit']})"
    return "-"


def page(sections, findings, history, about, absent):
    """The page of results as Markdown. `sections` maps a title to works; `absent` are the rows that nothing measures."""
    medians = findings.medians()
    lines = ["# Results", "", f"`Tests/Benchmarks/run --all` writes this page; [README.md](README.md) describes the rows. "
             f"{about['began'][:10]}, commit {about['commit']}, {about['cpu']}, {about['cores']} cores, {about['system']}, "
             f"load {about['load']:.1f} before. At most {about['runs']} runs of each row.", "",
             "The column \"load\" has the highest load of the machine before a run of the row. The column \"earlier\" has "
             "the last earlier figure with its commit, perhaps of another machine. Floors and tools are medians of the same "
             "run of the script. ✗ marks a missed goal.", ""]
    lines += [f"![{PLOTS[name][0]}](Plots/{name}.svg)" for name in PLOTS if plot(name, medians)]
    missed, unmeasured = [], [f"- {title}: goal {goal}" for title, goal in absent]
    for title, works in sections.items():
        lines += ["", f"## {title}", "", "| work | median | min .. max | runs | load | goal | floor, tools | earlier |",
                  "|---|---|---|---|---|---|---|---|"]
        for work in works:
            if not any(work.id(row) in medians for row in work.rows) and work.name not in findings.problems:
                unmeasured.append(f"- {work.name}: not in this run")
            for row in work.rows:
                name = work.id(row)
                values = findings.values.get(name)
                before = earlier(history, about, name)
                beside = "; ".join(f"{tool} {shown(medians[f'{name} {tool}'])}" for tool in work.tools
                                   if f"{name} {tool}" in medians) or "-"
                goal = str(row.goal) if row.goal else "-"
                if row.goal and row.goal.is_met(name, medians) is False:
                    goal += " ✗"
                    missed.append(f"- {row.title}: {row.note or 'not profiled yet.'}")
                if values:
                    figures = (shown(medians[name]), f"{shown(min(values))} .. {shown(max(values))}", len(values),
                               f"{findings.loads[name]:.1f}")
                else:
                    figures = ("-", "-", 0, "-")
                lines.append(f"| {row.title} | {' | '.join(map(str, figures))} | {goal} | {beside} | {before} |")
    unmeasured += [f"- {name}: {problem}" for name, problem in findings.problems.items()]
    lines += ["", "## Missed goals", "", *(missed or ["None."]), "", "## Not measured", "", *(unmeasured or ["None."])]
    return "\n".join(lines) + "\n"


# --- Plots -----------------------------------------------------------------------------------

RELAYS = ("1 relay", "2 relays", "3 relays")
#: The title of each plot, the title of its horizontal axis, and its panels: a title, and the rows by label. `{n}` in the
#: name of a row stands for the values on the horizontal axis.
PLOTS = {
    "objects": ("Cost against the number of objects", "objects", (0, 20_000, 90_000), (
        ("ms CPU per edit", {"host": "large-{n}.host", "guest": "large-{n}.guest"}),
        ("seconds", {"first screen": "large-{n}.caught_up", "all events": "large-{n}.everything",
                     "opened": "large-{n}.opened", "`objects`": "large-{n}.listed"}),
        ("memory, MB", {"host": "large-{n}.host_memory", "guest": "large-{n}.guest_memory"}))),
    "peers": ("Cost against the number of peers", "peers", (2, 8, 16, 24, 48), (
        ("ms CPU per edit", {"author": "mesh-{n}.author", "receiver": "mesh-{n}.receiver"}),
        ("command to event, ms", {"p50": "mesh-{n}.p50", "p99": "mesh-{n}.p99"}),
        ("idle, % of a core each", {"CPU": "mesh-{n}.idle"}))),
    "guests": ("Cost against the number of browser guests", "guests", (8, 32), (
        ("stroke's end to arrival, ms", {"p50": "guests-{n}.p50", "p99": "guests-{n}.p99"}),
        ("cores of the host", {"CPU": "guests-{n}.host"}),
        ("MB of the host per guest", {"memory": "guests-{n}.drawn"}))),
    "cluster": ("Relays of a cluster that share two cores with the guests", "guests", (200, 400, 800), (
        ("operation to last member, p99, ms", {relays: f"cluster-{relays[0]}-{{n}}.p99" for relays in RELAYS}),
        ("operations per second", {relays: f"cluster-{relays[0]}-{{n}}.rate" for relays in RELAYS}),
        ("cores of all relays", {relays: f"cluster-{relays[0]}-{{n}}.relay" for relays in RELAYS}))),
    "points": ("Cost against the number of points of a stroke", "points", (30, 120, 480), (
        ("ms CPU per stroke", {"author": "stroke-{n}.author", "receiver": "stroke-{n}.receiver"}),)),
}
STYLE = """text { font: 12px sans-serif; fill: #24292f } .axis { stroke: #8c959f; fill: none }
.s0 { stroke: #0969da; fill: #0969da } .s1 { stroke: #bc4c00; fill: #bc4c00 }
.s2 { stroke: #1a7f37; fill: #1a7f37 } .s3 { stroke: #8250df; fill: #8250df } text[class] { stroke: none }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .s0 { stroke: #58a6ff; fill: #58a6ff }
.s1 { stroke: #f0883e; fill: #f0883e } .s2 { stroke: #3fb950; fill: #3fb950 } .s3 { stroke: #bc8cff; fill: #bc8cff } }"""
WIDTH, HEIGHT, LEFT, TOP = 190, 130, 48, 44


def ceiling(value):
    """The least number of the form 1, 2 or 5 times a power of ten that is not below a value."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def panel(title, axis, series, left):
    """One panel of a plot as SVG. `series` maps a label to points."""
    points = [point for line in series.values() for point in line]
    right = max(x for x, _ in points) or 1
    top = ceiling(max(y for _, y in points))
    place = lambda x, y: (left + WIDTH * x / right, TOP + HEIGHT * (1 - y / top))
    parts = [f'<text x="{left}" y="{TOP - 12}">{title}</text>',
             f'<path class="axis" d="M{left} {TOP}v{HEIGHT}h{WIDTH}"/>',
             f'<text x="{left - 4}" y="{TOP + 8}" text-anchor="end">{top:,g}</text>',
             f'<text x="{left - 4}" y="{TOP + HEIGHT}" text-anchor="end">0</text>',
             f'<text x="{left + WIDTH}" y="{TOP + HEIGHT + 16}" text-anchor="end">{right:,} {axis}</text>']
    for number, (label, line) in enumerate(series.items()):
        places = [place(*point) for point in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="s{number}" style="fill: none; stroke-width: 2" points="{path}"/>')
        parts += [f'<circle class="s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
        x, y = left + number % 2 * WIDTH / 2, TOP + HEIGHT + 36 + number // 2 * 16
        parts.append(f'<text class="s{number}" x="{x:g}" y="{y}">● {label.strip("`")}</text>')
    return parts


def plot(name, medians):
    """A plot as SVG, or None if no row of it was measured. Its colors fit light and dark pages."""
    title, axis, counts, panels = PLOTS[name]
    parts = []
    left = LEFT
    for heading, rows in panels:
        series = {label: [(n, medians[row.format(n=n)]) for n in counts if row.format(n=n) in medians]
                  for label, row in rows.items()}
        series = {label: points for label, points in series.items() if points}
        if series:
            parts += panel(heading, axis, series, left)
            left += WIDTH + LEFT + 16
    if not parts:
        return None
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="240" viewBox="0 0 {left} 240">',
                      f"<title>{title}</title>", f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"
