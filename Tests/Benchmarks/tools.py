"""Measures the terminal, recordings, documents and the relay with the programs that print lines of figures."""

import re

from bench import output
from results import Row, Work, least, most

NUMBER = r"(-?[\d.,]+)"


def number(text):
    return float(text.replace(",", ""))


def named(text, pattern, *keys):
    """The numbers of the first match of a pattern, by keys."""
    found = re.search(pattern, text, re.M)
    if not found:
        raise ValueError(f"no {pattern} in {text}")
    return dict(zip(keys, map(number, found.groups())))


def terminal(bench):
    """The median milliseconds and bytes of each change, by its name and the number of objects."""
    text = output(bench.program("render-bench"), bench.of(100, 2))
    found = {}
    for what, count, time, size in re.findall(rf"^(.*?), (\d+) .*: p50 {NUMBER} ms, .* {NUMBER} bytes$", text, re.M):
        found[f"{what} {count}"], found[f"{what} {count} bytes"] = number(time), number(size)
    return found


def recording(bench):
    """Reads, plays and verifies a recording of an hour."""
    text = output(bench.program("replay-bench"), bench.directory, bench.of(1_000_000, 20_000))
    line = lambda what: rf"^\| {re.escape(what)} \| "
    found = {}
    for what, keys in (("bytes an operation in the file", ("bytes",)), ("read and check the file, ms", ("read",)),
                       ("replay into one replica, operations a second", ("replay",)),
                       ("verify with 8 replicas, operations a second", ("verify",)),
                       ("go through it once, keeping states, ms", ("index",)),
                       ("seek anywhere, ms: half / 99 of 100 / worst", ("seek", "seek99")),
                       ("memory at most, MB", ("memory",))):
        found |= named(text, line(what) + " / ".join([NUMBER] * len(keys)), *keys)
    return found


def document(bench):
    """Writes and opens a document on the file system of the directory."""
    text = output(bench.program("document-bench"), bench.directory)
    found = {}
    for key, what in (("share", "of a core for 2,000 operations a second, one a batch, 20 callers"),
                      ("bytes", "bytes an operation of 16 at that pace"),
                      ("transactions", "transactions a second, one caller that waits"),
                      ("operations", "operations a second, 1,000 at once"), ("keyframe", "a keyframe of 1 MB"),
                      ("open", "open that board for writing, median of 11")):
        found |= named(text, f"^{re.escape(what)}: {NUMBER}", key)
    return found


def relay(members):
    """Lets members of one board of a relay draw."""

    def measure(bench):
        text = output(bench.program("relay-bench"), "--relay", bench.program("whiteboard-relay"), "--members",
                      bench.few(members), "--seconds", bench.seconds(15))
        if " 0 lost, boards equal" not in text:
            raise ValueError(text.strip())
        return named(text, rf"p50 {NUMBER} ms, p99 {NUMBER} ms", "p50", "p99") | named(
            text, rf"relay {NUMBER}, members {NUMBER} of a core; relay's memory {NUMBER} MB", "relay", "members", "memory")

    return measure


def frame(key, title, goals, note=""):
    """The rows of a frame of the terminal, for 500 and 5,000 strokes."""
    return tuple(Row(f"{key} {count}", f"{title}, {count:,} strokes, ms", goal and most(goal), note)
                 for count, goal in zip((500, 5000), goals))


TERMINAL = (Work("terminal", 8, terminal, (
    *frame("full repaint", "full repaint", (2, 10),
           "Drawing takes 53 %, memory and reference counts 22 %, and the runtime 11 % (2026-11-30)."),
    *frame("a stroke grew", "one stroke grew", (2, 2)),
    *frame("an object moved", "one object moved", (2, 2)),
    *frame("a cursor moved, whole client", "a cursor moved, whole client", (0.2, 0.2)),
    *frame("a member's live stroke grew, whole client", "a member's live stroke grew, whole client", (1, 1)),
    Row("full repaint 5000 bytes", "bytes of a full repaint of 5,000 strokes"),
    Row("a cursor moved, whole client 5000 bytes", "bytes after a cursor moved over 5,000 strokes", most(100),
        "Each cell of this drawing has its own color, which takes 20 bytes. With the colors of the pens, a cursor takes at "
        "most 100 bytes; a test verifies this."),
    Row("full repaint 10000", "full repaint near 10,000 shapes with labels and 5,000 connectors, ms"),
    Row("an object with 501 connectors moved 10000", "an object with 501 connectors moved, ms"))),)
FILES = (
    Work("recording", 20, recording, (
        Row("bytes", "recording of one hour, 1,000,000 operations: bytes per operation", most(20)),
        Row("read", "recording: read and check the file, ms"),
        Row("replay", "recording: replay into one replica, operations per second", least(1_000_000)),
        Row("verify", "recording: verify with 8 replicas in other orders, operations per second", least(100_000)),
        Row("index", "recording: play it once and save states for seeking, ms"),
        Row("seek", "recording: seek to a random position, p50, ms", most(50)),
        Row("seek99", "recording: seek to a random position, p99, ms", most(50)),
        Row("memory", "recording: peak memory, MB"))),
    Work("document", 30, document, (
        Row("share", "document: 2,000 operations per second, one per batch, 20 callers, % of a core", most(5),
            "The share of callers that only wait (11 to 15 %) is subtracted, and varies."),
        Row("bytes", "document: bytes per operation of 16 bytes at that rate"),
        Row("transactions", "document: transactions per second, one caller that waits for each"),
        Row("operations", "document: operations per second, 1,000 at a time"), Row("keyframe", "document: a keyframe of 1 MB, ms"),
        Row("open", "document: opening a board of 10,000 texts for writing, ms", most(100)))),
)
RELAY = tuple(Work(f"relay-{members}", 18 + members / 16, relay(members), (
    Row("p50", f"relay, {members} members: operation to the last member, p50, ms"),
    Row("p99", f"relay, {members} members: operation to the last member, p99, ms"),
    Row("relay", f"relay, {members} members: cores of the relay"),
    Row("members", f"relay, {members} members: cores of the members"),
    Row("memory", f"relay, {members} members: memory of the relay, MB")))
    for members in (32, 64))
