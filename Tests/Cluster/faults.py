"""Faults of a cluster while its guests draw: three relays, three NATS servers, and a guest of each relay.

The boards have the topology `star`, so that guests are linked only with relays."""

import itertools
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback

import lan
from programs import PATIENCE, Peer, until
from relays import DIES_WITH_THIS, Relay
from servers import Machine, Servers

#: The seconds between two texts of a guest.
PAUSE = 0.2


class Drawing:
    """Guests that write texts all the time, each text once, and the times at which the guests show them."""

    _numbers = itertools.count(1)

    def __init__(self, guests):
        self.guests = guests
        #: The author and the time of each text.
        self.sent = {}
        #: The time at which a guest first showed a text, by guest and text.
        self.shown = {guest: {} for guest in guests}
        #: The end of the texts from now on.
        self.padding = ""
        self._read = {guest: len(guest.times) for guest in guests}
        self._has_ended = threading.Event()
        self._writers = [threading.Thread(target=self._write, args=(guest,), daemon=True) for guest in guests]

    def __enter__(self):
        for writer in self._writers:
            writer.start()
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self._has_ended.set()
        for writer in self._writers:
            writer.join()

    def _write(self, guest):
        while not self._has_ended.wait(PAUSE):
            text = f"{guest.name} {next(self._numbers)}{self.padding}"
            self.sent[text] = (guest, time.monotonic())
            guest.send("text", at=[0, 0], text=text)

    def _update(self):
        for guest, shown in self.shown.items():
            start, end = self._read[guest], len(guest.times)
            for event, when in zip(guest.events[start:end], guest.times[start:end]):
                if event["event"] == "object-added":
                    shown.setdefault(event["object"].get("text"), when)
            self._read[guest] = end

    def _missing(self, texts):
        self._update()
        return {guest.name: missing for guest, shown in self.shown.items()
                if (missing := [text for text in texts if text not in shown])}

    def until_flowing(self, seconds=60):
        """Waits until each guest shows a text that each guest sends from now on. Returns the seconds that it took."""
        began = time.monotonic()

        def flows():
            self._update()
            recent = [(text, author) for text, (author, when) in list(self.sent.items()) if when >= began]
            return {author for text, author in recent if all(text in shown for shown in self.shown.values())} == set(self.guests)

        until(flows, "the guests do not show each other's new texts", seconds)
        return time.monotonic() - began

    def until_shown(self):
        """Waits until each guest shows each text."""
        texts = list(self.sent)
        until(lambda: not self._missing(texts), lambda: f"not shown: {self._missing(texts)}", 60)

    def longest(self):
        """The longest seconds from the command until its author, and until the last guest showed a text."""
        own = max(self.shown[author][text] - when for text, (author, when) in self.sent.items())
        last = max(shown[text] - when for shown in self.shown.values() for text, (_, when) in self.sent.items())
        return own, last


class Probe:
    """A board that is deleted to find out when the relays receive a shared value through NATS."""

    _numbers = itertools.count(1)

    def __init__(self, world, relay):
        self.relay, self.others = relay, [other for other in world.relays if other is not relay]
        self.board = relay.operate("boards", "create", f"probe {next(self._numbers)}")[0]["board"]
        for other in self.others:
            other.link(self.board)

    def delete(self):
        self.began = time.monotonic()
        self.relay.operate("boards", "delete", self.board, "--yes")
        return self

    def until_known(self, relays=None, seconds=60):
        """Waits until other relays have deleted the board. Returns the seconds since it was deleted."""
        for relay in relays or self.others:
            until(lambda: not self.is_on(relay), lambda: f"{relay.name} did not delete the board", seconds)
        return time.monotonic() - self.began

    def is_on(self, relay):
        return any(one["board"] == self.board for one in relay.operate("boards"))


class World:
    """A running cluster with its guests, in an empty folder. With the `hosts` of a rig, each program has a host."""

    def __init__(self, peer_program, relay_program, folder, rig=None):
        self.peer_program, self.relay_program, self.folder, self.rig = peer_program, relay_program, folder, rig
        self.texts, self.relays, self.guests = [], [], []
        self.machines = [Machine(host.name, host.address, ("nsenter", "-t", str(host.first), "-n", "-u", "--"))
                         for host in rig.hosts] if rig else [Machine()] * 9
        self.servers = Servers(self.machines[3:6], folder / "nats")
        self.clock = folder / "clock"
        if rig:
            self.set_clock(0)
            for number in (1, 6):
                self.machines[number] = self._with_clock(self.machines[number])

    def _with_clock(self, machine):
        library = self.folder / "clock.so"
        source = pathlib.Path(__file__).resolve().parents[1] / "Chaos" / "clock.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        more = ("env", f"LD_PRELOAD={library}", f"WHITEBOARD_CHAOS_CLOCK={self.clock}")
        return machine._replace(inside=(*machine.inside, *more))

    def set_clock(self, seconds):
        """Sets by how much the clocks of the second relay and the first guest are wrong, which are on the rig."""
        # The programs have mapped the file.
        with self.clock.open("r+b" if self.clock.exists() else "wb") as file:
            file.write(struct.pack("=q", seconds))

    def __enter__(self):
        try:
            self.servers.folder.mkdir(exist_ok=True)
            self.servers.__enter__()
            for name, machine in zip(("one", "two", "three"), self.machines):
                self.relays.append(Relay(self.relay_program, name, self.folder / name, self.servers, machine,
                                         ("--topology", "star")))
            self.until_complete()
            self.board = self.relays[0].operate("boards", "create", "standup")[0]["board"]
            for name, relay, machine in zip(("ann", "ben", "cy"), self.relays, self.machines[6:]):
                self.guests.append(Guest(self, name, relay, machine))
            self.until_linked()
            return self
        except BaseException:
            print(self.log())
            self.__exit__()
            raise

    def __exit__(self, *_):
        for program in [*self.guests, *self.relays]:
            program.stop()
        self.servers.__exit__()

    def host(self, program):
        """The host of a program on the rig."""
        return next(host for host in self.rig.hosts if host.name == program.machine.name)

    def hosts(self, programs):
        return [self.host(program) for program in programs]

    def log(self):
        return "\n".join(f"--- {log.parent.name}\n{log.read_text()[-1500:]}" for log in sorted(self.folder.glob("*/log")))

    def until_complete(self):
        """Waits until each relay has heard the others through NATS."""
        for relay in self.relays:
            names = sorted(other.name for other in self.relays if other is not relay)
            until(lambda: relay.others() == names, lambda: f"{relay.name} knows only {relay.others()}", 30)

    def until_linked(self, relays=None):
        """Waits until each guest has a link with each relay, and reaches the other guests only through relays."""
        for guest, relay in itertools.product(self.guests, relays or self.relays):
            until(lambda: guest.state_of(relay) == "connected", lambda: f"{guest.name} has no link with {relay.name}", 60)
        for guest, other in itertools.permutations(self.guests, 2):
            until(lambda: guest.route_to(other), lambda: f"{guest.name} does not reach {other.name} through a relay", 60)

    def carrier(self):
        """The relay that forwards the data of the most pairs of guests."""
        routes = [guest.route_to(other) for guest, other in itertools.permutations(self.guests, 2)]
        return max(self.relays, key=lambda relay: routes.count(relay.name))

    def until_unlinked(self, guests, relays):
        """Waits until guests have noticed that relays do not answer."""
        for guest, relay in itertools.product(guests, relays):
            until(lambda: guest.state_of(relay) != "connected", f"{guest.name} has a link with {relay.name}", 60)

    def check(self, drawing):
        """Checks that each text is on each board once, and that the boards of guests and relays are equal."""
        self.texts += drawing.sent
        drawing.until_shown()

        def digests():
            return {name: digest for name, digest in itertools.chain(
                ((guest.name, guest.digest) for guest in self.guests),
                ((relay.name, self.stored(relay)[0]) for relay in self.relays))}

        until(lambda: len(set(digests().values())) == 1, lambda: f"the boards differ: {digests()}", 30)
        for name, objects in ((self.guests[0].name, self.guests[0].objects().values()),
                              (self.relays[-1].name, self.stored(self.relays[-1])[1])):
            shown = sorted(shown["text"] for shown in objects)
            assert shown == sorted(self.texts), (
                f"{name}: lost {set(self.texts) - set(shown)}, additional {len(shown) - len(set(shown))}")

    def stored(self, relay):
        """The digest and the objects of the board in the file of a relay."""
        copy = self.folder / f"{relay.name}.whiteboard"
        copy.unlink(missing_ok=True)
        relay.operate("boards", "export", self.board, "--output", copy)
        done = subprocess.run([self.peer_program, "boards", "show", copy, "--json"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        events = {event["event"]: event for event in map(json.loads, done.stdout.splitlines())}
        return events["digest"]["digest"], events["objects"]["objects"]

    def leader(self):
        """The server that leads the stream of the shared values."""
        def name():
            for node in self.servers.cluster:
                page = node.monitored("jsz?streams=true") or {}
                for account in page.get("account_details", []):
                    for stream in account.get("stream_detail") or []:
                        if leader := stream.get("cluster", {}).get("leader"):
                            return leader
            return None
        leader = until(name, "the stream has no leader")
        return next(node for node in self.servers.cluster if node.name == leader)

    def stored_values(self, node):
        """The number of shared values on a server."""
        page = node.monitored("jsz?streams=true") or {}
        return [stream["state"]["messages"] for account in page.get("account_details", [])
                for stream in account.get("stream_detail") or [] if stream["name"] == "KV_whiteboard"]

    def until_healthy(self):
        until(lambda: all(node.is_healthy() for node in self.servers.cluster), "the NATS servers are not healthy", 60)


class Guest(Peer):
    """A peer that joined through a relay."""

    def __init__(self, world, name, relay, machine):
        self.machine = machine
        super().__init__(world.peer_program, name, world.folder / name, "--join", relay.link(world.board), "--listen",
                         f"{machine.address}:0", inside=(*DIES_WITH_THIS, *machine.inside))
        self.event("caught-up", 40)

    def state_of(self, relay):
        """The last state of the link with a relay."""
        return self._last(relay, "peer-state", "left").get("state", "left")

    def route_to(self, other):
        """The name of the relay that forwards the data of another guest, or None if there is a link or no route."""
        return self._last(other, "joined", "left").get("throughName")

    def _last(self, other, *kinds):
        return next((event for event in reversed(self.events) if event["event"] in kinds and event["name"] == other.name), {})


# Each fault returns what it measured besides the times of the texts.


def no_fault(world, drawing):
    return ""


def the_host_is_killed(world, drawing):
    return kill(world, drawing, world.relays[0])


def the_carrier_is_killed(world, drawing):
    return kill(world, drawing, world.carrier())


def the_carrier_of_guests_in_different_networks_is_killed(world, drawing):
    pairs = list(itertools.combinations(world.hosts(world.guests), 2))
    for one, other in pairs:
        world.rig.cut([one], [other])
    note = kill(world, drawing, world.carrier())
    world.until_linked()
    for one, other in pairs:
        world.rig.uncut([one], [other])
    return note


def kill(world, drawing, relay):
    relay.kill()
    world.until_unlinked(world.guests, [relay])
    took = drawing.until_flowing()
    start(relay)
    return f"{took:.1f} s until each guest showed new edits of each other"


def relays_restart_one_after_another(world, drawing):
    began = time.monotonic()
    for relay in world.relays:
        relay.process.terminate()
        status = relay.process.wait(20 * PATIENCE)
        assert status == 0, f"{relay.name} ended with status {status} after SIGTERM"
        world.until_unlinked(world.guests, [relay])
        start(relay)
        world.until_complete()
        world.until_linked([relay])
    return f"all three in {time.monotonic() - began:.1f} s"


def a_relay_returns_from_a_backup(world, drawing):
    relay = world.relays[2]
    backup = world.folder / "backup"
    shutil.rmtree(backup, ignore_errors=True)
    relay.operate("backup", "--output", backup)
    drawing.until_flowing()
    relay.kill()
    shutil.rmtree(relay.folder)
    drawing.until_flowing()
    relay.folder.mkdir()
    relay.operate("restore", backup)
    (relay.folder / "no-config").touch()
    began = time.monotonic()
    start(relay)
    world.until_linked([relay])
    drawing.until_flowing()
    return f"{time.monotonic() - began:.1f} s from its start until it served all guests"


def the_leader_of_the_stream_is_killed(world, drawing):
    probe = Probe(world, world.relays[1])
    leader = world.leader()
    leader.stop()
    took = probe.delete().until_known()
    drawing.until_flowing()
    leader.start()
    world.until_healthy()
    return f"{took:.1f} s until a deletion was on all relays"


def two_servers_are_killed(world, drawing):
    probe = Probe(world, world.relays[1])
    killed = [world.leader()]
    killed.append(next(node for node in world.servers.cluster if node not in killed))
    for node in killed:
        node.stop()
    probe.delete()
    drawing.until_flowing()
    assert all(probe.is_on(other) for other in probe.others), "a deletion arrived without a majority of the servers"
    began = time.monotonic()
    for node in killed:
        node.start()
    probe.until_known()
    took = time.monotonic() - began
    world.until_healthy()
    return f"a deletion was on all relays {took:.1f} s after the servers started again"


def a_server_returns_empty(world, drawing):
    node = world.leader()
    node.stop()
    shutil.rmtree(world.servers.folder / node.name, ignore_errors=True)
    drawing.until_flowing()
    return until_restored(world, node)


def a_server_returns_with_an_older_copy(world, drawing):
    node = world.leader()
    store, copy = world.servers.folder / node.name, world.folder / "older"
    node.stop(signal.SIGTERM)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(store, copy)
    node.start()
    world.until_healthy()
    Probe(world, world.relays[1]).delete().until_known()
    node.stop()
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(copy, store, dirs_exist_ok=True)
    drawing.until_flowing()
    return until_restored(world, node)


def until_restored(world, node):
    """Starts a server, and waits until it has all shared values and serves as one of three again."""
    probe = Probe(world, world.relays[1])
    other = next(one for one in world.servers.cluster if one is not node)
    began = time.monotonic()
    node.start()
    until(lambda: node.is_healthy() and world.stored_values(node) == world.stored_values(other) != [],
          lambda: f"{node.name} has {world.stored_values(node)}, {other.name} has {world.stored_values(other)}", 60)
    took = time.monotonic() - began
    # With one server less, the values are still there only if the restored server counts.
    other.stop()
    probe.delete().until_known()
    other.start()
    world.until_healthy()
    return f"{took:.1f} s from its start until it had all values"


def the_disk_of_a_relay_is_full(world, drawing):
    relay = world.relays[1]
    # The file has some room of its own.
    drawing.padding = "." * 2_000
    with FullDisk(relay.folder):
        until(lambda: relay.operate("status")[0]["unsaved"] == 1, "the relay does not report that its disk is full", 120)
        drawing.until_flowing()
    began = time.monotonic()
    until(lambda: relay.operate("status")[0]["unsaved"] == 0, "the relay does not save the board again", 60)
    return f"saved again {time.monotonic() - began:.1f} s after there was room"


def the_disk_of_a_server_is_full(world, drawing):
    probes = [Probe(world, world.relays[1]) for _ in range(2)]
    leader = world.leader()
    with FullDisk(world.servers.folder / leader.name):
        took = probes[0].delete().until_known()
        drawing.until_flowing()
    if leader.is_healthy():
        how = "and it went on"
    else:
        leader.stop(signal.SIGTERM)
        leader.start()
        how = "it had to be started again"
    world.until_healthy()
    probes[1].delete().until_known()
    return f"{took:.1f} s until a deletion was on all relays; {how}"


class FullDisk:
    """Fills the file system of a folder."""

    def __init__(self, folder):
        self.ballast = folder / "ballast"

    def __enter__(self):
        try:
            with self.ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
        except OSError:
            pass

    def __exit__(self, *_):
        self.ballast.unlink()


def guests_cannot_reach_the_carrier(world, drawing):
    relay = world.carrier()
    return cut(world, drawing, world.guests, [relay], lambda: world.until_unlinked(world.guests, [relay]))


def a_guest_reaches_one_relay(world, drawing):
    ann = world.guests[0]
    relays = [relay for relay in world.relays if relay.name in map(ann.route_to, world.guests[1:])]
    relays = (relays + [relay for relay in world.relays if relay not in relays])[:2]
    return cut(world, drawing, [ann], relays, lambda: world.until_unlinked([ann], relays))


def relays_cannot_reach_each_other(world, drawing):
    one, *others = world.relays
    return cut(world, drawing, [one], others, lambda: until(
        lambda: any(board["missing"] for board in one.operate("cluster", "boards")), "the relays do not notice", 60))


def cut(world, drawing, some, others, until_noticed):
    some, others = world.hosts(some), world.hosts(others)
    world.rig.cut(some, others)
    until_noticed()
    drawing.until_flowing()
    world.rig.uncut(some, others)
    world.until_linked()
    return ""


def a_relay_cannot_reach_nats(world, drawing):
    one, two, three = world.relays
    probe = Probe(world, two)
    ends = world.hosts([one]), world.hosts(world.servers.cluster)
    world.rig.cut(*ends)
    until(lambda: one.name not in two.others(), "the others do not notice", 60)
    probe.delete().until_known([three])
    drawing.until_flowing()
    assert probe.is_on(one), "a deletion arrived without NATS"
    world.rig.uncut(*ends)
    began = time.monotonic()
    probe.until_known()
    took = time.monotonic() - began
    world.until_complete()
    return f"a deletion was on it {took:.1f} s after the partition"


def a_server_cannot_reach_the_others(world, drawing):
    leader = world.leader()
    others = [node for node in world.servers.cluster if node is not leader]
    attached = {one["ip"] for one in leader.monitored("connz")["connections"]}
    behind = [relay for relay in world.relays if relay.machine.address in attached]
    ahead = [relay for relay in world.relays if relay not in behind]
    assert ahead, "each relay is connected to the leader"
    probe = Probe(world, ahead[0])
    ends = world.hosts([leader]), world.hosts(others)
    world.rig.cut(*ends)
    probe.delete()
    took = probe.until_known(ahead[1:]) if ahead[1:] else 0
    drawing.until_flowing()
    late = sum(probe.is_on(relay) for relay in behind)
    world.rig.uncut(*ends)
    began = time.monotonic()
    probe.until_known()
    after = time.monotonic() - began
    world.until_healthy()
    world.until_complete()
    return (f"{took:.1f} s until a deletion was on the relays of the other servers; "
            f"{late} of {len(behind)} relays of the cut server had it {after:.1f} s after the partition")


def a_clock_is_wrong(world, drawing):
    for offset in (3600, -3600, 0):
        world.set_clock(offset)
        drawing.until_flowing()
    return "one hour fast, then one hour slow"


def start(program):
    program.start()
    program.event("status", 40)


#: The faults that need no other machines, and so belong to the everyday tests; each with the longest seconds in which an
#: edit of a guest may be missing on the board of another.
EVERYDAY = {
    "SIGTERM and restart of all relays, one after the other": (relays_restart_one_after_another, 5),
    "SIGKILL of the relay that forwards the guests' data": (the_carrier_is_killed, 5),
}

FAULTS = {
    "none": (no_fault, 2),
    **EVERYDAY,
    "SIGKILL of the relay that hosts the board": (the_host_is_killed, 5),
    "SIGKILL of the relay between guests in different networks": (the_carrier_of_guests_in_different_networks_is_killed, 10),
    "a relay loses its folder, and returns from a backup": (a_relay_returns_from_a_backup, 5),
    "full disk on a relay": (the_disk_of_a_relay_is_full, 2),
    "no packets between the guests and the relay that forwards their data": (guests_cannot_reach_the_carrier, 15),
    "no packets between a guest and two relays": (a_guest_reaches_one_relay, 40),
    "no packets between a relay and the other relays": (relays_cannot_reach_each_other, 2),
    "no packets between a relay and the NATS servers": (a_relay_cannot_reach_nats, 2),
    "no packets between the NATS server that leads the stream and the others": (a_server_cannot_reach_the_others, 2),
    "SIGKILL of the NATS server that leads the stream": (the_leader_of_the_stream_is_killed, 2),
    "SIGKILL of two of three NATS servers": (two_servers_are_killed, 2),
    "a NATS server returns with an empty folder": (a_server_returns_empty, 2),
    "a NATS server returns with an older copy of its folder": (a_server_returns_with_an_older_copy, 2),
    "full disk on the NATS server that leads the stream": (the_disk_of_a_server_is_full, 2),
    "wrong clocks of a relay and a guest": (a_clock_is_wrong, 2),
}


def run(faults, open_world):
    """Runs faults, prints the table of their figures, and returns how many passed and failed. After a failure, the next
    fault has a new world."""
    rows, failed, world = [], 0, None
    try:
        for name, (fault, limit) in faults.items():
            began = time.monotonic()
            try:
                world = world or open_world().__enter__()
                world.until_linked()
                with Drawing(world.guests) as drawing:
                    drawing.until_flowing()
                    note = fault(world, drawing)
                    drawing.until_flowing()
                world.check(drawing)
                own, last = drawing.longest()
                assert own < 2 * PATIENCE, f"an author did not see an edit for {own:.1f} s"
                assert last < limit * PATIENCE, f"a guest did not see an edit for {last:.1f} s"
                rows.append(f"| {name} | {len(drawing.sent)} | {own:.2f} s | {last:.2f} s | {note} |")
                print(f"ok    {time.monotonic() - began:.1f} s  {name}", flush=True)
            except Exception:  # noqa: BLE001
                failed += 1
                if world:
                    print(world.log())
                    world.__exit__()
                    world = None
                traceback.print_exc(file=sys.stdout)
                print(f"FAIL  {time.monotonic() - began:.1f} s  {name}", flush=True)
    finally:
        if world:
            world.__exit__()
    print("| fault | edits | longest until the author showed an edit | until all guests showed it | also |", "|---|---|---|---|---|", *rows,
          sep="\n")
    return len(rows), failed


def on_loopback(peer_program, relay_program, folder):
    """Runs the faults of the everyday tests."""
    numbers = itertools.count()

    def open_world():
        one = folder / f"world{next(numbers)}"
        one.mkdir()
        return World(peer_program, relay_program, one)

    return run(EVERYDAY, open_world)


def on_rig(peer_program, relay_program, names):
    """Runs the faults with these names on a rig of nine hosts, inside private namespaces."""
    with lan.Rig(9, avahi=False, ipv6=False) as rig:
        hosts = lan.STATE / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in rig.hosts))
        lan.command("mount", "--bind", hosts, "/etc/hosts")
        numbers = itertools.count()

        def open_world():
            folder = lan.STATE / f"world{next(numbers)}"
            for one in (folder / "two", *(folder / "nats" / f"n{number}" for number in range(3))):
                one.mkdir(parents=True)
                lan.command("mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", one)
            return World(peer_program, relay_program, folder, rig)

        return run({name: FAULTS[name] for name in names}, open_world)
