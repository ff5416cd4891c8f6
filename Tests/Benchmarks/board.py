"""Measures the hot path of a replica, with pycrdt (Yjs) and loro on the same work. All times are those of one thread."""

import subprocess
import sys

from bench import Missing, OTHERS, ROOT, figures
from results import Row, Work, least, most


def ours(name):
    """A measurement by board-bench."""
    return lambda bench: figures(bench.program("board-bench"), name)


def snapshot(bench):
    """Saves a board, and loads it in another process, whose memory is measured."""
    program, path = bench.program("board-bench"), bench.directory / "snapshot"
    return figures(program, "save", path) | figures(program, "load", path)


def python():
    """Creates a virtual environment with pycrdt and loro at its first use; returns its Python."""
    directory = ROOT / ".build" / "crdts"
    if not (directory / "done").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", directory], check=True, capture_output=True)
            subprocess.run([directory / "bin" / "python", "-m", "pip", "install", "-q", "pycrdt", "loro"], check=True,
                           capture_output=True)
        except subprocess.CalledProcessError as error:
            raise Missing(f"pycrdt and loro cannot be installed: {error.stderr.decode().strip()[-200:]}") from None
        (directory / "done").touch()
    return directory / "bin" / "python"


def others(name, *libraries):
    """The same work by other libraries, which --quick omits."""

    def run(library):
        def measure(bench):
            if bench.is_quick:
                raise Missing("--quick omits the libraries in Python")
            return figures(python(), OTHERS / "crdts.py", library, name)
        return measure

    return {library: run(library) for library in libraries}


WORKS = (
    Work("alone", 2, ours("alone"), (
        Row("rate", "single remote updates per second", least(18, "pycrdt"),
            "About 7,000 instructions per update, without SHA-256: decoding takes 3,300, applying 2,200, and the change log "
            "350 (callgrind, 2026-11-21)."),
        Row("bytes", "bytes per update", most(16))), others("alone", "pycrdt")),
    Work("batched", 2, ours("batched"), (
        Row("rate", "updates in batches of 50 per second", least(50, "pycrdt"),
            "About 2,300 instructions per update: decoding takes 850, writing the cell 940, and the change log 350. Drags "
            "take nearly as many, but their memory accesses are close together (callgrind, 2026-11-21)."),
        Row("bytes", "bytes per update in batches of 50", most(8))), others("batched", "pycrdt", "loro")),
    Work("drags", 2, ours("drags"), (
        Row("rate", "updates of dragged rows of 50 objects per second"),
        Row("bytes", "bytes per update of a dragged row", most(4.5)))),
    Work("shuffled", 3, ours("shuffled"), (
        Row("share", "shuffled updates, as a fraction of the rate in order", least(0.5)),)),
    Work("snapshot", 3, snapshot, (
        Row("bytes", "full snapshot of 10,000 objects, bytes", most(1_000_000)),
        Row("time", "time to load the snapshot, ms", most(20),
            "The board takes 44 %, the kernel 22 % (page faults), and memory and reference counts 20 % (2026-11-30)."), Row("memory", "memory for the snapshot, MB", most(25))),
        others("snapshot", "loro")),
    Work("catch-up", 3, ours("catch-up"), (
        Row("bytes", "catch-up of 20,000 updates, bytes", most(160_000)),
        Row("time", "catch-up of 20,000 updates: time to create, encode, decode and merge it, ms", most(20)))),
    Work("ink", 1, ours("ink"), (
        Row("bytes", "bytes per point of ink: strokes of 1 s without pressure", most(3.6)),
        Row("pressure", "bytes per point of ink: strokes of 1 s with pressure", most(3.6),
            "The points take 3 bytes, and the overhead of the messages 0.8 bytes."),
        Row("long", "bytes per point of ink: strokes of 3 s with pressure", most(3.6),
            "The points take 3 bytes, and the overhead of the messages 0.66 bytes."))),
)
