"""Measures the programs end to end, on loopback in a network namespace of its own.

Processor times are those of the whole process; other load changes them by a third at most. Times on the clock need a
machine that does nothing else.
"""

import fcntl
import json
import os
import pathlib
import pty
import random
import resource
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

from bench import Missing, ROOT, quantile
from results import Row, Work, most

sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from pictures import png  # noqa: E402

PATIENCE = 300  # seconds for one step


class Peer:
    """A whiteboard-peer with JSON lines."""

    def __init__(self, bench, name, *words):
        directory = bench.directory / name
        self.start(directory, [
            bench.program("whiteboard-peer"), *words, "--json", "--data-dir", directory, "--as", name, "--listen",
            "127.0.0.1:0", "--no-announce", "--admit", "anyone", "--max-peers", "64"])

    def start(self, directory, words):
        """Starts the process, and reads its output on another thread."""
        directory.mkdir(exist_ok=True)
        self.began = time.monotonic()
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(directory)})
        self.changed = threading.Condition()
        self.added, self.joined, self.done, self.events = {}, set(), {}, {}
        self.requests = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            now = time.monotonic()
            with self.changed:
                if line.startswith(b'{"v":1,"event":"object-added"'):
                    start = line.index(b'"id":"') + 6
                    self.added[line[start:line.index(b'"', start)].decode()] = now
                elif not line.startswith(b'{"v":1,"event":"object'):
                    event = json.loads(line)
                    event["at"] = now
                    if event["event"] in ("done", "error"):
                        self.done[event.get("request")] = event
                    elif event["event"] == "joined":
                        self.joined.add(event["peer"])
                    self.events[event["event"]] = event
                elif line.startswith(b'{"v":1,"event":"objects"'):
                    self.events["objects"] = {"at": now}
                self.changed.notify_all()
        with self.changed:
            self.events["end"] = {}
            self.changed.notify_all()

    def wait(self, condition):
        with self.changed:
            if not self.changed.wait_for(lambda: condition() or "end" in self.events, PATIENCE) or not condition():
                raise RuntimeError(f"a step failed; the last events: {list(self.events.values())[-3:]}")
            return condition()

    def begin(self, verb, **fields):
        self.requests += 1
        request = f"r{self.requests}"
        self.process.stdin.write(json.dumps({"verb": verb, "request": request, **fields}, separators=(",", ":")).encode() + b"\n")
        self.process.stdin.flush()
        return request

    def run(self, verb, **fields):
        request = self.begin(verb, **fields)
        return self.wait(lambda: self.done.get(request))

    def event(self, name):
        return self.wait(lambda: self.events.get(name))

    def cpu(self):
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def field(self, name):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(name + ":"):
                return int(line.split()[1])

    def switches(self):
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            for line in open(task / "status"):
                if line.startswith(("voluntary", "nonvoluntary")):
                    total += int(line.split()[1])
        return total

    def written(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/io").read_text().split("write_bytes: ")[1].split()[0])

    def end(self):
        try:
            self.process.stdin.write(b'{"verb":"quit","anyway":true}\n')
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Floor(Peer):
    """The least work of a peer, in C: `Others/floor.c`."""

    def __init__(self, program, directory, *words):
        self.start(directory, [program, *words, directory / "log.db"])


class Peers(list):
    """Peers that end with the block. The last peer ends first."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for peer in reversed(self):
            peer.end()

    def form(self, bench, count, *words, topology="mesh"):
        """Starts a host and guests. Returns the seconds until all have joined each other."""
        began = time.monotonic()
        self.append(Peer(bench, "P1", "host", "board", "--topology", topology, *words))
        link = self[0].event("ready")["link"]
        for number in range(2, count + 1):
            self.append(Peer(bench, f"P{number}", "join", link, *words))
        for peer in self:
            peer.wait(lambda: len(peer.joined) == count - 1 and "ready" in peer.events)
        return time.monotonic() - began


def packets():
    """The packets that loopback has received."""
    for line in open("/proc/net/dev"):
        if line.strip().startswith("lo:"):
            return int(line.split()[2])


def at_rest(peers, seconds):
    """The processor time in % of a core, the wake-ups and the packets per second, of each peer."""
    before = [(peer.cpu(), peer.switches()) for peer in peers]
    sent, began = packets(), time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - began
    cpu = statistics.mean(peer.cpu() - old[0] for peer, old in zip(peers, before)) / passed
    switches = statistics.mean(peer.switches() - old[1] for peer, old in zip(peers, before)) / passed
    return {"idle": cpu * 100, "wakeups": switches, "packets": (packets() - sent) / passed / len(peers)}


def paced(peers, count, rate):
    """Adds texts; returns for each the time until `done`, and until the last peer had it."""
    author, others = peers[0], peers[1:]
    began, sent = time.monotonic(), {}
    for number in range(count):
        sent[author.begin("text", at=[number % 40 * 20, number // 40 * 20], text=f"words {number}")] = time.monotonic()
        time.sleep(max(0, began + (number + 1) / rate - time.monotonic()))
    author.wait(lambda: all(request in author.done for request in sent))
    ids = {author.done[request]["id"]: at for request, at in sent.items()}
    for peer in others:
        peer.wait(lambda: all(id in peer.added for id in ids))
    done = [author.done[request]["at"] - at for request, at in sent.items()]
    last = [max(peer.added[id] for peer in others) - at for id, at in ids.items()] if others else []
    return done, last


def costs(bench, peers, work, count):
    """The CPU in ms, and the context switches, of the author and of a receiver for each piece of work."""
    resting, seconds = [peer.cpu() for peer in peers], bench.seconds(3)
    time.sleep(seconds)
    resting = [(peer.cpu() - old) / seconds for peer, old in zip(peers, resting)]
    before, began = [(peer.cpu(), peer.switches()) for peer in peers], time.monotonic()
    work()
    time.sleep(0.5)
    passed = time.monotonic() - began
    cpu = [(peer.cpu() - old[0] - rest * passed) / count * 1e3 for peer, old, rest in zip(peers, before, resting)]
    switches = [(peer.switches() - old[1]) / count for peer, old in zip(peers, before)]
    return {"author": cpu[0], "receiver": statistics.mean(cpu[1:]), "author_switches": switches[0],
            "receiver_switches": statistics.mean(switches[1:])}


def start(bench):
    """The time of `--version`, and of the start of a host."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run([bench.program("whiteboard-peer"), "--version"], stdout=subprocess.DEVNULL, check=True)
    version = spent() - before
    with Peers() as peers:
        peers.append(Peer(bench, "P1", "host", "board"))
        ready = peers[0].event("ready")["at"] - peers[0].began
        return {"version": version * 1e3, "host": peers[0].cpu() * 1e3, "ready": ready * 1e3}


def mesh(count, steps=2):
    """Forms a mesh. With one step, also measures the idle mesh; with two steps, also adds 50 texts a second."""

    def measure(bench):
        with Peers() as peers:
            found = {"formed": peers.form(bench, bench.few(count))}
            found["link"] = statistics.mean(peer.cpu() for peer in peers) / (len(peers) - 1) * 1e3
            if steps > 0:
                time.sleep(bench.seconds(12))  # presence is sent less often after 10 s
                found |= at_rest(peers, bench.seconds(10))
            if steps > 1:
                found |= edits(bench, peers, bench.of(400, 50), 50)
            return found

    return measure


def crowd(topology):
    """Connects 30 peers, and lets one that is not the host add 20 texts a second."""

    def measure(bench):
        with Peers() as peers:
            found = {"formed": peers.form(bench, bench.few(30), topology=topology)}
            host = peers.pop(0)
            peers.append(host)
            time.sleep(bench.seconds(12))  # presence is sent less often after 10 s, and a star closes its other links
            found |= at_rest(peers, bench.seconds(10))
            number, before = bench.of(200, 20), host.cpu()
            found |= edits(bench, peers, number, 20)
            return found | {"host": (host.cpu() - before) / number * 1e3}

    return measure


def edits(bench, peers, number, rate):
    """The costs of texts, and the times from a command to `done` and to the event on the last peer, in ms."""
    times = []
    found = costs(bench, peers, lambda: times.extend(paced(peers, number, rate)), number)
    done, last = times
    return found | {"p50": quantile(last, 0.5) * 1e3, "p99": quantile(last, 0.99) * 1e3, "done": max(done) * 1e3,
                    "event": max(last) * 1e3}


def floor(count, number, rate, unit=1):
    """The costs of the same texts for the floor."""

    def measure(bench):
        program = bench.compiled("floor", "ssl", "crypto", "sqlite3")
        with Peers() as peers:
            peers.append(Floor(program, bench.directory / "P1", "author", str(bench.few(count) - 1)))
            port = peers[0].event("listening")["port"]
            for index in range(2, bench.few(count) + 1):
                peers.append(Floor(program, bench.directory / f"P{index}", "receiver", str(port)))
            for peer in peers:
                peer.event("ready")
            found = edits(bench, peers, bench.of(number, 50), rate)
        return {key: found[key] * unit for key in ("author", "receiver", "author_switches", "receiver_switches")}

    return measure


def flat_out(bench):
    """Adds texts without pauses. The costs are in us."""
    with Peers() as peers:
        peers.form(bench, 2)
        found = edits(bench, peers, bench.of(5_000), float("inf"))
        return {key: found[key] * 1e3 for key in ("author", "receiver")}


def stroke(count):
    """Draws strokes of some points, each in a second."""
    points = [[2 * number, number * 7 % 50] for number in range(count)]

    def measure(bench):
        with Peers() as peers:
            peers.form(bench, 2)
            number = bench.of(5, 2)
            return costs(bench, peers, lambda: [peers[0].run("stroke", points=points, over=1.0) for _ in range(number)], number)

    return measure


def delays(peers, number):
    """The quantiles of the ms until `done` and until the event on the last peer, for texts at 50 a second."""
    done, last = paced(peers, number, 50)
    return {"p50": quantile(last, 0.5) * 1e3, "p99": quantile(last, 0.99) * 1e3, "done": quantile(done, 0.99) * 1e3}


def beside_file(name):
    """Adds texts in a mesh of 16 while the author sends a file of 27 MB to all, or another peer adds a photo."""

    def measure(bench):
        with Peers() as peers:
            peers.form(bench, bench.few(16), "--accept-files")
            file = bench.directory / name
            file.write_bytes(png(3_000, bench.of(3_000)) if name == "photo" else os.urandom(bench.of(27_000_000)))
            # The sender's own commands wait until its photo is stored, because commands run in order.
            sender, verb, words = (peers[-1], "photo", {"at": [0, 0]}) if name == "photo" else (peers[0], "resource", {"name": "file"})
            request = sender.begin(verb, file=str(file), **words)
            found = delays(peers, bench.of(200, 20))
            if sender.wait(lambda: sender.done.get(request))["event"] != "done":
                raise RuntimeError(f"the file was not sent: {sender.done[request]}")
            return found

    return measure


def calls(bench):
    """The system calls of each side for a text at 50 a second."""
    if not shutil.which("strace"):
        raise Missing("strace is not installed")
    with Peers() as peers:
        peers.form(bench, 2)
        counts = [bench.directory / f"calls-{number}" for number in range(2)]
        tracers = [subprocess.Popen(["strace", "-f", "-c", "-o", path, "-p", str(peer.process.pid)], stderr=subprocess.PIPE)
                   for path, peer in zip(counts, peers)]
        for tracer in tracers:
            tracer.stderr.readline()  # it is attached
        number = bench.of(200, 20)
        paced(peers, number, 50)
        for tracer in tracers:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()
        totals = [next(line.split() for line in path.read_text().splitlines() if line.endswith(" total")) for path in counts]
        return dict(zip(("author", "receiver"), (int(total[3]) / number for total in totals)))


class Terminal:
    """A terminal client of 120 by 40 cells."""

    def __init__(self, bench, name, link):
        directory = bench.directory / name
        directory.mkdir()
        self.terminal, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            [bench.program("whiteboard-peer"), "join", link, "--as", name, "--data-dir", directory, "--listen", "127.0.0.1:0",
             "--no-announce"],
            stdin=far, stdout=far, stderr=far, start_new_session=True,
            env={**os.environ, "HOME": str(directory), "TERM": "xterm-256color", "COLORTERM": "truecolor"})
        os.close(far)

    def shows(self, text, within=PATIENCE):
        """Reads the output until it contains a text; returns whether it did within some seconds."""
        end, seen = time.monotonic() + within, b""
        while (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                seen = seen[-len(text):] + os.read(self.terminal, 1 << 16)
                if text in seen:
                    return True
        return False

    def type(self, keys):
        os.write(self.terminal, keys)

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


def keys(count):
    """Types letters in a terminal that shows many strokes, while another member draws."""

    def measure(bench):
        with Peers() as peers:
            peers.form(bench, 1)
            file = bench.directory / "board.json"
            drawing(file, bench.of(count), 400, True)
            peers[0].run("import", file=str(file))
            terminal = Terminal(bench, "T", peers[0].event("ready")["link"])
            try:
                if not terminal.shows(b"people"):
                    raise RuntimeError("the terminal does not show the board")
                points = [[number * 3 - 180, number * 7 % 50] for number in range(120)]
                request, delays = None, []
                terminal.type(b":")
                for number in range(bench.of(300, 20)):
                    if request is None or request in peers[0].done:
                        request = peers[0].begin("stroke", points=points, over=1.0)
                    letter = chr(0x430 + number % 32).encode()
                    began = time.monotonic()
                    terminal.type(letter)
                    if not terminal.shows(letter):
                        raise RuntimeError(f"the terminal does not show the letter {number}")
                    delays.append(time.monotonic() - began)
                    # The keys come at other times than the points, and the output is read.
                    terminal.shows(b"never", 0.02 + number % 7 * 0.003)
                    terminal.type(b"\x7f")
                    terminal.shows(b"never", 0.02)
            finally:
                terminal.end()
            return {"p50": quantile(delays, 0.5) * 1e3, "p99": quantile(delays, 0.99) * 1e3}

    return measure


def beside_joins(count):
    """Adds texts on a large board while three guests join, one a second."""

    def measure(bench):
        with Peers() as peers:
            peers.form(bench, 2)
            fill(bench, peers[0], bench.of(count))
            peers[1].wait(lambda: len(peers[1].added) >= bench.of(count))
            link, members, seconds = peers[0].event("ready")["link"], peers[:], bench.seconds(8)

            def join():
                for number in range(3):
                    time.sleep(seconds / 8)
                    peers.append(Peer(bench, f"P{number + 3}", "join", link))

            joining = threading.Thread(target=join)
            joining.start()
            found = delays(members, seconds * 50)
            joining.join()
            for peer in peers[2:]:
                peer.event("caught-up")
            return found

    return measure


def fill(bench, host, count):
    """Lets a host import a board of some objects."""
    file = bench.directory / "board.json"
    drawing(file, count)
    if host.run("import", file=str(file))["event"] != "done":
        raise RuntimeError("the drawing was not imported")


def drawing(path, count, reach=30_000, is_ink=False):
    """Writes a board with half strokes of 24 points and half texts, or with strokes only."""
    place = random.Random(5)
    objects = []
    for number in range(count):
        thing = {"id": f"{number + 1}-aaaaaaaaaaaaa", "scale": 1, "angle": 0, "color": "#112233ff",
                 "centerPosition": [place.randrange(-reach, reach), place.randrange(-reach, reach)]}
        if number % 2 and not is_ink:
            thing |= {"type": "text", "size": [200, 50], "text": f"words {number}"}
        else:
            points = [[place.randrange(-50, 50), place.randrange(-50, 50)] for _ in range(24)]
            thing |= {"type": "drawing", "size": [100, 100], "points": points, "lineWidth": 3, "isFinished": True}
        objects.append(thing)
    board = {"format": "whiteboard-board", "version": 1, "board": {"name": "board"}, "chat": [], "assets": {}}
    path.write_text(json.dumps(board | {"objects": objects}))


def large(count):
    """Hosts a board of some objects, which a guest joins. Then ten texts are added a second, at first while the whole
    board is stored."""

    def measure(bench):
        number, found = bench.of(count, min(count, 1)), {}
        with Peers() as peers:
            host = Peer(bench, "P1", "host", "board")
            peers.append(host)
            link = host.event("ready")["link"]
            if number:
                fill(bench, host, number)
            began = time.monotonic()
            host.run("objects")
            found["listed"] = time.monotonic() - began
            began = time.monotonic()
            guest = Peer(bench, "P2", "join", link)
            peers.append(guest)
            found["caught_up"] = guest.event("caught-up")["at"] - began
            guest.wait(lambda: len(guest.added) >= number)
            if number:
                found["everything"] = max(guest.added.values()) - began
            found["host_memory"], found["guest_memory"] = (peer.field("VmRSS") / 1024 for peer in peers)
            # The host stores the whole board at most 30 s after the import, and then not again during these edits.
            before, texts = host.cpu(), bench.of(320, 10)
            beside = edits(bench, peers, texts, 10) if number else None
            total = host.cpu() - before
            written, later = host.written(), bench.of(200, 10)
            spent = edits(bench, peers, later, 10)
            found |= {"host": spent["author"], "guest": spent["receiver"]}
            found["written"] = (host.written() - written) / later
            found |= {key: max(some[key] for some in (beside, spent) if some) for key in ("done", "event")}
            if beside:
                found["stored"] = total * 1e3 - spent["author"] * texts
            time.sleep(bench.seconds(5))
            found["idle"] = at_rest([host], bench.seconds(10))["idle"]
        with Peers() as peers:
            peers.append(Peer(bench, "P1", "host", "board"))
            found["opened"] = peers[0].event("ready")["at"] - peers[0].began
        return found

    return measure


AUTHOR = ("Waking threads takes 17 %, scheduling, epoll and timers 11 %, SQLite and the document 10 %, the replica and the board "
          "10 %, TLS, NIO and sockets 9.5 %, reading JSON 9 %, and memory and reference counts 8 % (2026-11-28).")
RECEIVER = ("Waking threads takes 18 %, scheduling, epoll and timers 13 %, TLS, NIO and sockets 13 %, SQLite and the document "
            "11 %, the replica and the board 9 %, memory and reference counts 8 %, and writing JSON 7 % (2026-11-28).")
SWITCHES = "An edit passes several executors and queues, and each hop to another thread is a switch (2026-11-28)."
CALLS = "About ten are SQLite's locks, writes and checks of the file; most others wake threads (2026-11-30)."
READY = ("The Swift runtime takes 31 % (half of it looks for conformances to protocols), dynamic linking 18 %, the kernel 26 %, and "
         "SQLite 9 % (2026-11-30).")
TRANSFERS = {
    "file": "16 peers on two cores encrypt, decrypt and hash 405 MB, on threads with a lower priority than those of links and boards "
            "(2026-11-30).",
    "photo": "16 peers on two cores encrypt, decrypt and hash 405 MB. SQLite stores the photo in one transaction of 60 to 90 ms, for "
             "which the entries of edits wait (2026-11-30)."}
JOINS = ("The guests encode and merge 90,000 objects on the same two cores, each answer in one piece. No work of the two members takes "
         "more than 10 ms at a time (2026-11-30).")
LISTED = "Reading the objects takes 34 %, memory and reference counts 23 %, writing JSON 17 %, and the runtime 14 % (2026-11-30)."
GUEST = ("The replica and the board take 35 %, memory and reference counts 22 %, the runtime 10 %, writing JSON 7 %, and page faults "
         "5 % (2026-11-30).")
OPENED = ("The board takes 34 % (reading and merging cells), memory and reference counts 24 %, the kernel 18 % (mostly page faults), "
          "and SHA-256 6 %. Nothing is shown before all objects are read (2026-11-30).")
MEMORY = "An object takes about 2.9 kB in a host and 1.4 kB in a guest; the program takes the rest (2026-11-30)."
TICKS = ("Each second, a link carries a PING, a PONG and an acknowledgement of TCP, and in each 5 s two probes with their answers and "
         "a presence from each side, in datagrams. No part of this takes more than 15 % of the time (2026-11-30).")
LINKS = ("The start of each program counts too (90 ms CPU). In a mesh that grows from 4 to 20 peers, a link takes 9 ms: system calls take "
         "15 %, TLS 13 %, the replica and the board 11 %, datagrams 6 %, the file of known peers 5 %, and the stored membership 4 % "
         "(2026-11-30).")


def mesh_rows(count):
    """The rows of a mesh that is measured with edits."""
    goals = {8: (0.1, None, None), 16: (0.2, 10, 15)}.get(count, (None, None, None))
    goal = lambda value: value and most(value)
    at = f"{count} peers"
    return (
        *idle_rows(count, None, None, *goals),
        Row("author", f"50 edits a second, {at}: ms CPU per edit, author", most(2, "floor"), AUTHOR),
        Row("receiver", f"50 edits a second, {at}: ms CPU per edit, receiver", most(2, "floor"), RECEIVER),
        Row("author_switches", f"50 edits a second, {at}: context switches per edit, author", most(4), SWITCHES),
        Row("receiver_switches", f"50 edits a second, {at}: context switches per edit, receiver", most(4), SWITCHES),
        Row("p50", f"command to event on the last of {at}, p50, ms"),
        Row("p99", f"command to event on the last of {at}, p99, ms", goal(10),
            "Sixteen processes share two cores: each edit costs them 14 ms of processor time together (2026-11-30)."))


def idle_rows(count, formed, link, idle, wakeups=None, packets_goal=None):
    """The rows of a mesh that forms and rests."""
    goal = lambda value: value and most(value)
    at = f"{count} peers"
    return (
        Row("formed", f"mesh of {at}, seconds until formed", goal(formed), LINKS),
        Row("link", f"mesh of {at}, ms CPU per link and side", goal(link), LINKS),
        Row("idle", f"idle, {at}: % of a core each", goal(idle), TICKS),
        Row("wakeups", f"idle, {at}: wake-ups per second each", goal(wakeups), TICKS),
        Row("packets", f"idle, {at}: packets per second each", goal(packets_goal), TICKS))


def crowd_rows(topology):
    at = f"{topology} of 30"
    return (Row("formed", f"{at}: seconds until all have joined"), Row("idle", f"{at}, idle: % of a core each"),
            Row("packets", f"{at}, idle: packets per second each"),
            Row("author", f"{at}, 20 edits a second: ms CPU per edit, author"),
            Row("receiver", f"{at}, 20 edits a second: ms CPU per edit, receiver"),
            Row("host", f"{at}, 20 edits a second: ms CPU per edit, host, with its idle time"),
            Row("p50", f"{at}: command to event on the last, p50, ms"), Row("p99", f"{at}: command to event on the last, p99, ms"))


def large_rows(count):
    """The rows of a large board. The goals of its costs are those of an empty board."""
    goals = {0: {}, 20_000: {"caught_up": 0.15, "everything": 0.3, "opened": 0.1, "listed": 0.1, "host_memory": 70,
                             "guest_memory": 65},
             90_000: {"caught_up": 0.3, "everything": 1.2, "opened": 0.1}}[count]
    name = f"{count:,} objects" if count else "empty board"
    titles = {"listed": "`objects`, s", "caught_up": "first screen of a guest, s", "everything": "all events of a guest, s",
              "opened": "opened again, s", "host_memory": "memory of the host, MB", "guest_memory": "memory of a guest, MB",
              "host": "ms CPU per edit at 10 a second, host", "guest": "ms CPU per edit at 10 a second, guest",
              "stored": "ms CPU of the host to store the whole board", "idle": "idle, % of a core, host",
              "written": "bytes written per edit, host",
              "done": "longest time from a command to `done`, ms", "event": "longest time to the event on the guest, ms"}
    notes = {"listed": LISTED, "caught_up": GUEST, "everything": GUEST, "opened": OPENED, "host_memory": MEMORY, "guest_memory": MEMORY}
    as_empty = lambda key: most(1.2, f"large-0.{key}") if count else None
    return tuple(Row(key, f"{name}: {title}", most(goals[key]) if key in goals else most(20) if key in ("done", "event")
                     else as_empty(key) if key in ("host", "guest", "idle", "written") else None, notes.get(key, ""))
                 for key, title in titles.items() if count or key not in ("everything", "stored"))


STROKES = ("A stroke is five batches in a second. Each causes about 7 packets and, on each side, 30 switches between threads. The "
           "event loop of the network takes 30 % of the time, and the queue of the document 20 % (2026-11-29).")


def stroke_rows(count, author=None, receiver=None):
    return (Row("author", f"stroke of {count} points in a second: ms CPU, author", author, STROKES),
            Row("receiver", f"stroke of {count} points in a second: ms CPU, receiver", receiver, STROKES))


def delay_rows(where, work, note):
    """The rows of texts beside other work."""
    return (Row("p50", f"command to event {where} {work}, p50, ms"), Row("p99", f"command to event {where} {work}, p99, ms", most(20), note),
            Row("done", f"command to `done` {work}, p99, ms", most(20), note))


WORKS = (
    Work("start", 1, start, (
        Row("version", "`--version`, ms CPU", most(8),
            "45 % is dynamic linking, and 16 % the parser of the arguments (2026-11-28)."),
        Row("host", "host of a new board until ready, ms CPU"), Row("ready", "host of a new board until ready, ms", most(20), READY)),
        is_alone=True),
    Work("flat", 6, flat_out, (
        Row("author", "edits without pauses, 2 peers: us CPU per edit, author", most(5, "floor"), AUTHOR),
        Row("receiver", "edits without pauses, 2 peers: us CPU per edit, receiver", most(5, "floor"), RECEIVER)),
        {"floor": floor(2, 5_000, float("inf"), 1e3)}, True),
    *(Work(f"stroke-{count}", 10, stroke(count), stroke_rows(count, *goals), is_alone=True)
      for count, goals in ((30, ()), (120, (most(3), most(2))), (480, ()))),
    *(Work(f"mesh-{count}", 35 + count / 2, mesh(count), mesh_rows(count), {"floor": floor(count, 400, 50)}, True)
      for count in (2, 8, 16)),
    Work("mesh-24", 8, mesh(24, 0), idle_rows(24, 2, 6, None)[:2], is_alone=True),
    Work("mesh-48", 45, mesh(48, 1), idle_rows(48, 5, 6, 0.2), is_alone=True),
    *(Work(f"{topology}-30", 60, crowd(topology), crowd_rows(topology), is_alone=True) for topology in ("mesh", "star")),
    *(Work(f"{name}-16", 12, beside_file(name), delay_rows("on the last of 16 peers", f"while a {name} of 27 MB arrives", TRANSFERS[name]),
           is_alone=True) for name in ("file", "photo")),
    Work("calls", 10, calls, tuple(
        Row(side, f"50 edits a second, 2 peers: system calls per edit, {side}", most(12), CALLS) for side in ("author", "receiver")),
        is_alone=True),
    *(Work(f"keys-{count}", 25, keys(count), (
        Row("p50", f"{count:,} strokes, and a peer draws: from a key to its output on a terminal, p50, ms"),
        Row("p99", f"{count:,} strokes, and a peer draws: from a key to its output on a terminal, p99, ms", most(8))),
        is_alone=True) for count in (500, 5_000)),
    *(Work(f"joins-{count}", 20 + count / 4000, beside_joins(count),
           delay_rows("on the other peer", f"while three guests join {count:,} objects", JOINS), is_alone=True)
      for count in (20_000, 90_000)),
    *(Work(f"large-{count}", (90 if count else 45) + count / 3000, large(count), large_rows(count), is_alone=True)
      for count in (0, 20_000, 90_000)),
)
