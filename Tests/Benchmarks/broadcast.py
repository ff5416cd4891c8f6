"""Measures a broadcast of 1920x1080 pixels at 15 pictures per second, end to end, on loopback in a network namespace of
its own.

A host draws; viewers run `whiteboard-peer watch --output -`, so that each receives whole JPEG files, as OBS or ffmpeg get
them. One measurement has a viewer on a terminal instead, which receives only changes.
"""

import os
import pathlib
import pty
import random
import signal
import subprocess
import threading
import time

from bench import quantile
from results import Row, Work, most
from together import PATIENCE, Peer, Peers, delays

VIEW = {"size": "1920x1080", "fps": 15, "region": [-960, -540, 1920, 1080]}
#: The end of a JPEG file, and the end of each picture on a terminal.
END, SHOWN = b"\xff\xd9", b"\x1b[?2026l"


class Viewer:
    """A `whiteboard-peer watch`, and the number of pictures that it has written."""

    def __init__(self, bench, link, number, is_terminal=False):
        directory = bench.directory / f"V{number}"
        words = [bench.program("whiteboard-peer"), "watch", link, "--data-dir", directory]
        environment = {**os.environ, "HOME": str(bench.directory), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        directory.mkdir()
        if is_terminal:
            self.output, side = pty.openpty()
            self.process = subprocess.Popen(words, stdin=side, stdout=side, stderr=subprocess.DEVNULL, env=environment)
            os.close(side)
        else:
            self.output, side = os.pipe()
            self.process = subprocess.Popen([*words, "--output", "-"], stdin=subprocess.DEVNULL, stdout=side,
                                            stderr=subprocess.DEVNULL, env=environment)
            os.close(side)
        self.end = SHOWN if is_terminal else END
        self.changed, self.pictures, self.at = threading.Condition(), 0, 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while True:
            try:
                data = os.read(self.output, 1 << 20)
            except OSError:  # the other side of a terminal is closed
                return
            if not data:
                return
            count = (rest + data).count(self.end)
            rest = (rest + data)[-len(self.end) + 1:]
            if count:
                with self.changed:
                    self.pictures, self.at = self.pictures + count, time.monotonic()
                    self.changed.notify_all()

    def wait(self, count):
        """Waits for a number of pictures; returns the time of the last one."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.pictures >= count, PATIENCE):
                raise RuntimeError("a viewer got no picture")
            return self.at

    def stop(self):
        self.process.kill()
        self.process.wait()


class Broadcast:
    """A host that broadcasts an empty board, and its viewers."""

    def __init__(self, bench, count, is_terminal=False):
        self.bench, self.peers = bench, Peers()
        self.peers.append(Peer(bench, "P1", "host", "board"))
        self.host, self.link = self.peers[0], self.peers[0].event("ready")["link"]
        self.host.run("broadcast", action="start", **VIEW)
        self.viewers = [Viewer(bench, self.link, number, is_terminal) for number in range(count)]

    def __enter__(self):
        for viewer in self.viewers:
            viewer.wait(1)
        self.settle()
        return self

    def __exit__(self, *_):
        for viewer in self.viewers:
            viewer.stop()
        self.peers.__exit__()

    def settle(self):
        """Waits until no viewer has received a picture for a second, and returns the number of pictures of each."""
        while True:
            before = [viewer.pictures for viewer in self.viewers]
            time.sleep(1)
            if [viewer.pictures for viewer in self.viewers] == before:
                return before

    def sample(self, seconds):
        """The processor time of the host in % of a core, the bytes per second and the pictures per second."""
        cpu, sent, began = self.host.cpu(), received(), time.monotonic()
        pictures = [viewer.pictures for viewer in self.viewers]
        time.sleep(seconds)
        passed = time.monotonic() - began
        shown = sum(viewer.pictures - old for viewer, old in zip(self.viewers, pictures)) / len(self.viewers)
        return {"cpu": (self.host.cpu() - cpu) / passed * 100, "bytes": (received() - sent) / passed, "pictures": shown / passed}

    def draw(self, seconds):
        """Draws a stroke with 60 points a second, and takes a sample meanwhile."""
        points = [[random.randint(-900, 900) if number % 30 == 0 else number % 1_800 - 900, number * 13 % 1_000 - 500]
                  for number in range(int(seconds * 60))]
        request = self.host.begin("stroke", points=points, over=seconds, width=4)
        sample = self.sample(seconds)
        self.host.wait(lambda: self.host.done.get(request))
        return sample


def received():
    """The bytes that loopback has received."""
    for line in pathlib.Path("/proc/net/dev").read_text().splitlines():
        if line.strip().startswith("lo:"):
            return int(line.split()[1])


def viewers(count):
    """The costs at rest and of one person who draws, and the time from a stroke to the picture of the last viewer."""

    def measure(bench):
        with Broadcast(bench, bench.few(count)) as broadcast:
            number = len(broadcast.viewers)
            rest = broadcast.sample(bench.seconds(10))
            drawing = broadcast.draw(bench.seconds(10))
            times = []
            for step in range(bench.of(200, 5)):
                before = broadcast.settle() if step == 0 else [viewer.pictures for viewer in broadcast.viewers]
                began = time.monotonic()
                broadcast.host.begin("stroke", points=[[step * 9 - 900, -500], [step * 9 - 890, 500]])
                times.append(max(viewer.wait(old + 1) for viewer, old in zip(broadcast.viewers, before)) - began)
                # Longer than the time between two pictures, and never the same.
                time.sleep(random.uniform(0.08, 0.2))
            return {"rest": rest["cpu"], "idle_pictures": rest["pictures"], "cpu": drawing["cpu"],
                    "bytes": drawing["bytes"] / number / 1e3, "pictures": drawing["pictures"],
                    "p50": quantile(times, 0.5) * 1e3, "p99": quantile(times, 0.99) * 1e3}

    return measure


def terminal(bench):
    """The bytes that a viewer receives that accepts changes."""
    with Broadcast(bench, 1, is_terminal=True) as broadcast:
        return {"bytes": broadcast.draw(bench.seconds(10))["bytes"] / 1e3}


def stopped(bench):
    """The times from a text to the event on another peer, without and with a viewer that is stopped."""
    with Broadcast(bench, bench.few(5)) as broadcast:
        broadcast.peers.append(Peer(bench, "P2", "join", broadcast.link))
        other = broadcast.peers[1]
        other.wait(lambda: "ready" in other.events and other.joined)
        time.sleep(bench.seconds(3))
        number = bench.of(500, 20)  # at 50 a second, 10 s
        found = {f"{name}_running": value for name, value in delays(broadcast.peers, number).items()}
        broadcast.settle()
        broadcast.viewers[0].process.send_signal(signal.SIGSTOP)
        before = broadcast.viewers[1].pictures
        found |= {f"{name}_stopped": value for name, value in delays(broadcast.peers, number).items()}
        found["others"] = broadcast.viewers[1].pictures - before
        broadcast.viewers[0].process.send_signal(signal.SIGCONT)
        return found


def viewer_rows(count):
    plural = f"{count} viewer{'s' if count > 1 else ''}"
    return (Row("rest", f"{plural}, nothing changes: % of a core, host"),
            Row("idle_pictures", f"{plural}, nothing changes: pictures per second", most(0)),
            Row("cpu", f"{plural}, one person draws: % of a core, host"),
            Row("pictures", f"{plural}, one person draws: pictures per second"),
            Row("bytes", f"{plural}, one person draws: kB per second on the network, each"),
            Row("p50", f"{plural}: from a stroke to the picture at the last viewer, p50, ms"),
            Row("p99", f"{plural}: from a stroke to the picture at the last viewer, p99, ms"))


WORKS = (
    *(Work(f"broadcast-{count}", 65 + count, viewers(count), viewer_rows(count), is_alone=True) for count in (1, 5, 20)),
    Work("broadcast-changes", 15, terminal, (
        Row("bytes", "a viewer that accepts changes, one person draws: kB per second on the network"),), is_alone=True),
    Work("broadcast-stopped", 35, stopped, (
        Row("p50_running", "5 viewers and a peer, 50 texts a second: to the event on the peer, p50, ms"),
        Row("p99_running", "5 viewers and a peer, 50 texts a second: to the event on the peer, p99, ms"),
        Row("p50_stopped", "the same while a viewer is stopped for 10 s: p50, ms"),
        Row("p99_stopped", "the same while a viewer is stopped for 10 s: p99, ms", most(1.5, "broadcast-stopped.p99_running")),
        Row("others", "the same while a viewer is stopped for 10 s: pictures at another viewer")), is_alone=True),
)
