"""Measures the relays of a cluster: boards with guests, a board with many readers, and boards that rest.

`relay-bench` runs all guests in one process. They cannot dial each other, so everything goes through a relay. A cluster of
more than one relay has three NATS servers. All of them share the processors of this machine. They run in a network
namespace with loopback only, because a relay on loopback would otherwise name addresses at which it does not listen.
"""

import concurrent.futures
import contextlib
import os
import resource
import shutil
import sys
import time

from bench import Missing, ROOT, output
from guests import processor_seconds
from results import Row, Work, most
from tools import NUMBER, named

sys.path.insert(0, str(ROOT / "Tests" / "Cluster"))
from relays import Relay, until  # noqa: E402
from servers import SERVER, Servers  # noqa: E402

#: The guests of a board, and the operations per second of a guest that draws.
GUESTS, RATE = 10, 5


@contextlib.contextmanager
def cluster(bench, count):
    """The relays of a cluster that know each other."""
    if count > 1 and not shutil.which(SERVER):
        raise Missing(f"{SERVER} is not installed")
    with contextlib.ExitStack() as stack:
        servers = stack.enter_context(Servers()) if count > 1 else None
        relays = []
        for number in range(count):
            name = f"relay{number}"
            relays.append(Relay(bench.program("whiteboard-relay"), name, bench.directory / name, servers,
                                words=("--max-boards", 400, "--max-people", 256)))
            stack.callback(relays[-1].stop)
        for relay in relays if servers else ():
            until(lambda: len(relay.others()) == count - 1, f"{relay.name} does not find the others")
        yield relays


def create(relays, count):
    """Creates boards, on each relay in turn; returns the links to each board through each relay."""
    def board(number):
        words = "boards", "create", f"board {number}", "--admit", "anyone"
        return relays[number % len(relays)].operate(*words)[0]["board"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # the relays store several boards at once
        boards = list(pool.map(board, range(count)))

    def links(relay):
        found = {one["board"]: one["link"] for one in relay.operate("boards") if one["state"] == "serving"}
        return found if len(found) == count else None

    through = [until(lambda: links(relay), f"{relay.name} does not serve all boards", 60) for relay in relays]
    return [[found[board] for found in through] for board in boards]


def load(count, boards, guests, *words):
    """Lets guests draw on boards of a cluster."""

    def measure(bench):
        number = boards if boards == 1 else bench.of(boards, 2)
        people = bench.few(guests // boards) * number
        # Each guest has several sockets.
        resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)[1:] * 2)
        with cluster(bench, count) as relays:
            file = bench.directory / "links"
            file.write_text("".join(f"{' '.join(links)}\n" for links in create(relays, number)))
            text = output(bench.program("relay-bench"), "--links", file, "--pids",
                          ",".join(str(relay.process.pid) for relay in relays), "--members", people, "--rate", RATE,
                          "--seconds", bench.seconds(15), *words)
        if " 0 lost, boards equal" not in text:
            raise ValueError(text.strip())
        found = named(text, rf"p50 {NUMBER} ms, p99 {NUMBER} ms", "p50", "p99") | named(
            text, rf"relay {NUMBER}, members {NUMBER} of a core", "relay", "members") | named(
            text, rf"^{NUMBER} operations per second; the members use {NUMBER} kB", "rate", "memory")
        return found | {"guest": found["relay"] / people * 100, "board": found["relay"] / number * 100,
                        "guest_memory": found["memory"] / people, "board_memory": found["memory"] / number}

    return measure


def memory(relays):
    """The memory of all relays without files, in kB."""
    fields = [open(f"/proc/{relay.process.pid}/statm").read().split() for relay in relays]
    return sum(int(resident) - int(shared) for _, resident, shared, *_ in fields) * os.sysconf("SC_PAGE_SIZE") / 1e3


def share(relays, seconds):
    """The processor time of all relays at rest, in % of a core."""
    time.sleep(seconds)  # the relays finish the work that they have
    before = sum(processor_seconds(relay.process.pid) for relay in relays)
    time.sleep(seconds)
    return (sum(processor_seconds(relay.process.pid) for relay in relays) - before) / seconds * 100


def idle(count, boards):
    """Lets boards without guests rest."""

    def measure(bench):
        number = bench.of(boards, 2)
        with cluster(bench, count) as relays:
            empty, alone = memory(relays), share(relays, bench.seconds(10))
            create(relays, number)
            found = {"alone": alone, "cpu": share(relays, bench.seconds(10))}
            return found | {"memory": (memory(relays) - empty) / number / count}

    return measure


def rows(title, latency=None):
    return (Row("rate", f"{title}: operations per second"),
            Row("p50", f"{title}: operation to the last member of the board, p50, ms"),
            Row("p99", f"{title}: operation to the last member of the board, p99, ms", latency),
            Row("relay", f"{title}: cores of all relays"), Row("members", f"{title}: cores of the guests"),
            Row("guest", f"{title}: % of a core of the relays per guest"),
            Row("board", f"{title}: % of a core of the relays per board"),
            Row("guest_memory", f"{title}: memory of all relays per guest, kB", most(50),
                "The goal is without TLS; the figure contains the TLS of each link, and the memory that the relay needs once."),
            Row("board_memory", f"{title}: memory of all relays per board with its guests, kB"))


def named_relays(count):
    return f"{count} relay{'s' if count > 1 else ''}"


def idle_rows(count):
    title = f"{named_relays(count)}, 300 boards without guests"
    return (Row("alone", f"{named_relays(count)} without boards: % of a core"), Row("cpu", f"{title}: % of a core", most(1)),
            Row("memory", f"{title}: memory per board and relay, kB", most(200)))


WORKS = (
    *(Work(f"cluster-{count}-{guests}", 30 + guests / 20, load(count, guests // GUESTS, guests),
           rows(f"{named_relays(count)}, {guests} guests on {guests // GUESTS} boards, each {RATE} operations per second",
                most(150) if (count, guests) == (1, 200) else None), is_alone=True)
      for guests in (200, 400, 800) for count in (1, 2, 3)),
    *(Work(f"cluster-readers-{count}", 60, load(count, 1, 200, "--writers", 4),
           rows(f"{named_relays(count)}, a board with 200 guests, 4 of them with {RATE} operations per second"), is_alone=True)
      for count in (1, 3)),
    *(Work(f"cluster-idle-{count}", 75, idle(count, 300), idle_rows(count), is_alone=True) for count in (1, 3)),
)
