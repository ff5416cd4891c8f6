"""Measures a host and a guest of a large board, which is edited ten times a second.

  large_boards.py WHITEBOARD_PEER OBJECTS [SECONDS]

Prints one line of JSON: the longest time from a command to `done` and to the event on the guest in ms, the bytes written
per edit, the processor time per edit in ms, and the processor time of an idle peer in percent of a core; each for the
host and the guest.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time


class Peer:
    """A real peer, driven by its JSON lines. It notes when answers and objects arrived."""

    def __init__(self, program, folder, name, words):
        self.done, self.seen, self.ready, self.caught_up = {}, {}, None, False
        self.changed = threading.Condition()
        directory = pathlib.Path(folder) / name
        with open(f"{directory}.log", "wb") as log:
            self.process = subprocess.Popen(
                [program, *words, "--json", "--data-dir", directory, "--as", name, "--listen", "127.0.0.1:0",
                 "--no-announce", "--admit", "anyone"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            now = time.monotonic()
            if line.startswith(b'{"v":1,"event":"object-added"'):
                start = line.index(b'"id":"') + 6
                self.seen[line[start:line.index(b'"', start)].decode()] = now
                continue
            if len(line) > 1 << 16 and b'"event":"done"' not in line[:40]:
                continue
            event = json.loads(line)
            with self.changed:
                if event["event"] in ("done", "error"):
                    self.done[event.get("request")] = (now, event)
                self.ready = event if event["event"] == "ready" else self.ready
                self.caught_up |= event["event"] == "caught-up"
                self.changed.notify_all()

    def wait(self, condition):
        with self.changed:
            assert self.changed.wait_for(condition, 600) and self.process.poll() is None

    def send(self, request, verb, **fields):
        self.process.stdin.write(json.dumps({"verb": verb, "request": request, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    @property
    def seconds(self):
        return time.clock_gettime((~self.process.pid << 3) | 2)

    @property
    def written(self):
        fields = dict(line.split(": ") for line in open(f"/proc/{self.process.pid}/io"))
        return int(fields["write_bytes"])

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.process.kill()


def board(count):
    """A board file with this many objects: half texts, half strokes of 24 points."""
    numbers = random.Random(5)
    objects = []
    for index in range(count):
        known = {"id": f"{index + 1}-aaaaaaaaaaaaa", "scale": 1, "angle": 0, "color": "#445566ff",
                 "centerPosition": [numbers.randrange(-30000, 30000), numbers.randrange(-30000, 30000)]}
        if index % 2:
            objects.append({**known, "type": "text", "size": [200, 50], "text": f"words number {index}"})
        else:
            points = [[numbers.randrange(-50, 50), numbers.randrange(-50, 50)] for _ in range(24)]
            objects.append({**known, "type": "drawing", "size": [100, 100], "points": points, "lineWidth": 3,
                            "isFinished": True})
    return {"format": "whiteboard-board", "version": 1, "board": {"name": "S"}, "chat": [], "assets": {},
            "objects": objects}


def measure(program, count, seconds, folder, peers):
    file = pathlib.Path(folder) / "board.json"
    file.write_text(json.dumps(board(count)))
    host = Peer(program, folder, "host", ["host", "bench"])
    peers.append(host)
    host.wait(lambda: host.ready)
    if count:
        host.send("import", "import", file=str(file))
        host.wait(lambda: "import" in host.done)
    guest = Peer(program, folder, "guest", ["join", host.ready["link"]])
    peers.append(guest)
    guest.wait(lambda: guest.caught_up)
    # The guest stores the board that it received; after 30 s, also as a keyframe.
    time.sleep(40)
    def used():
        return [(peer.seconds, peer.written) for peer in peers]
    before, start = used(), time.monotonic()
    time.sleep(15)
    idle = [(after[0] - first[0]) / (time.monotonic() - start) * 100 for first, after in zip(before, used())]
    before, start, sent = used(), time.monotonic(), {}
    while time.monotonic() < start + seconds:
        sent[f"r{len(sent)}"] = time.monotonic()
        host.send(f"r{len(sent) - 1}", "text", at=[1, 1], text="x")
        time.sleep(max(0, start + len(sent) / 10 - time.monotonic()))
    host.wait(lambda: len(host.done) >= len(sent) + (count > 0))
    time.sleep(2)
    after = used()
    done = [host.done[request] for request in sent]
    return {
        "done": max(at - sent[request] for request, (at, _) in zip(sent, done)) * 1e3,
        "event": max(guest.seen[event["id"]] - sent[request] for request, (_, event) in zip(sent, done)) * 1e3,
        "written": [(last[1] - first[1]) / len(sent) for first, last in zip(before, after)],
        "cpu": [(last[0] - first[0]) / len(sent) * 1e3 for first, last in zip(before, after)],
        "idle": idle,
    }


if __name__ == "__main__":
    started = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        try:
            print(json.dumps(measure(os.path.abspath(sys.argv[1]), int(sys.argv[2]), float((sys.argv + ["60"])[3]),
                                     directory, started)))
        finally:
            for peer in reversed(started):
                peer.stop()
