"""Scenarios of a relay and its machine while people draw: restarts, a full disk, a copy, an end.

No acknowledged command may be lost, and all peers must end with one board.
"""

import json
import signal
import sys
import time

import lan
import relays
from crowd import Crowd
from peers import expect
from runner import scenario

WORDS = ("crane", "slate", "audio", "house")
DRAINED_WITHIN = 10.0  # seconds from SIGTERM to the end of a relay


class Writers:
    """Peers on a relay's board that write at a steady pace during every wait."""

    def __init__(self, scene, relay, count, a_second, hosts=None):
        self.scene, self.a_second, self.relay = scene, a_second, relay.id
        self.link = relay.create("attic", "--admit", "anyone")["link"]
        hosts = hosts or scene.rig.hosts[1:]
        self.team = [
            scene.start(hosts[n % len(hosts)], "join", self.link, name=f"peer {n}") for n in range(count)
        ]
        scene.joined(*self.team, within=60)
        self.crowd = Crowd(scene.random)
        self.editors = [self.crowd.add(peer, f"peer {n}") for n, peer in enumerate(self.team)]
        self.crowd.furnish(self.team[0], [], WORDS)
        scene.agree(*self.team, within=30)
        self.began = time.monotonic()

    def until(self, condition, within, what):
        """Writes until a condition holds; raises `Late` if it does not hold in time."""
        deadline = time.monotonic() + within * lan.PATIENCE
        while not condition():
            elapsed = time.monotonic() - self.began
            for editor in self.editors:
                for _ in range(min(int(elapsed * self.a_second) - editor.begun, 20)):
                    if len(editor.pending) < 200:
                        editor.act()
                editor.peer.must_run(f"writing until {what}")
            if time.monotonic() > deadline:
                raise lan.Late(f"not within {within:g} s: {what}")
            with lan.news:
                lan.news.wait(0.02)

    def write(self, count, within=30):
        """Writes until that many more commands are acknowledged."""
        before = self.done
        self.until(lambda: self.done >= before + count, within, f"{count} verbs to be done")

    @property
    def done(self):
        """The number of acknowledged commands."""
        for editor in self.editors:
            editor.settle()
        return sum(self.crowd.done.values())

    def wait(self, marks, kind, within, what, **fields):
        """Writes until every peer has sent an event of a kind since its mark."""
        self.until(
            lambda: all(peer.seen(kind, mark, **fields) for peer, mark in zip(self.team, marks)), within, what
        )

    @property
    def marks(self):
        return [peer.mark for peer in self.team]

    def agree(self, *others, within=30):
        """Stops writing, and waits for one board that has everything acknowledged."""
        lan.until(self.crowd.settled, within, "every verb to be answered")
        board = self.scene.agree(*self.team, *others, within=within)
        self.crowd.check(board)
        return board

    def expect_nobody_left(self):
        """Expects that no writer was notified that another writer left. A changed route (`rerouted`) ends nothing."""
        ids = {peer.id for peer in self.team}
        left = [
            f"{peer}: {one}" for peer in self.team for one in peer.seen("left")
            if one["peer"] in ids and (one["reason"] != "rerouted" or one["undelivered"])
        ]
        expect(not left, f"nobody left: {left}")

    def leave_to(self, relay, host, board):
        """Makes all peers leave, kills and restarts the relay, and expects that a new peer finds the same board."""
        for peer in self.team:
            peer.do("wait", 30, synced=True)
        for peer in self.team:
            peer.leave()
        relay.kill()
        again = relays.start(self.scene, relay.host, data=relay.data_dir.name)
        late = self.scene.join(host, again.link, within=30)
        lan.until(lambda: late.board() == board, 30, "the late peer to have the whole board")
        late.leave()
        again.leave()


@scenario(4, limit=150)
def a_relay_that_is_restarted_while_six_draw_costs_nobody_anything(scene):
    relay = relays.start(scene, scene.h1)
    writers = Writers(scene, relay, 6, a_second=8)
    for number in (signal.SIGTERM, signal.SIGKILL):
        writers.write(100)
        marks = writers.marks
        relay.send_signal(number)
        writers.until(lambda: not relay.is_running, DRAINED_WITHIN, "the relay to end")
        expect(number == signal.SIGKILL or relay.wait_end(1) == 0, f"{relay} ended in good order")
        writers.write(30)
        began = time.monotonic()
        relay = relays.start(scene, scene.h1, wait=False)
        writers.wait(marks, "joined", 30, "the relay to be there again", peer=writers.relay)
        print(f"everybody has the relay again {time.monotonic() - began:.1f} s after its start")
        writers.write(30)
    board = writers.agree()
    writers.expect_nobody_left()
    print(f"{writers.done} verbs acknowledged, {len(board)} objects")
    writers.leave_to(relay, scene.h2, board)


def ask_health(relay, path):
    """The status and the text of one of the relay's health pages."""
    host, port = relay.http.split(":")
    script = (
        "import http.client, json; c = http.client.HTTPConnection({!r}, {}, timeout=5); c.request('GET', {!r}); "
        "r = c.getresponse(); print(json.dumps([r.status, r.read().decode()]))"
    )
    return json.loads(relay.host.run(sys.executable, "-c", script.format(host, port, path)).stdout)


@scenario(4, limit=150)
def a_relay_whose_disk_is_full_says_so_goes_on_and_saves_all_when_there_is_room(scene):
    directory = scene.h1.home / "relay"
    scene.h1.run("mkdir", "-p", directory)
    # A mount in the host's own namespace disappears with the host.
    scene.h1.run("mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", directory)
    relay = relays.start(scene, scene.h1, http="127.0.0.1:26274")
    writers = Writers(scene, relay, 4, a_second=8)
    writers.write(60)
    expect(ask_health(relay, "/readyz")[0] == 200, "the relay is ready")
    scene.h1.run("dd", "if=/dev/zero", f"of={directory}/ballast", "bs=4k", check=False)
    line = len(relay.errors)
    writers.until(lambda: logged(relay, "not-saved", line), 40, "the relay to say that it cannot save")
    writers.until(lambda: ask_health(relay, "/readyz")[0] == 503, 10, "the relay not to be ready")
    expect("whiteboard_boards_unsaved 1" in ask_health(relay, "/metrics")[1], "the metrics report the unsaved board")
    status, = relay.operate("status")
    board, = relay.operate("boards")
    expect(status["unsaved"] == 1 and "disk is full" in board["problem"], f"the operator sees the unsaved board: {status} {board}")
    photo = scene.photo("late.png")
    shown = writers.team[0].do("photo", at=[900, 900], file=str(photo))["id"]
    writers.write(60)
    late = scene.join(scene.h4, writers.link, name="late", within=30)
    writers.agree(late)
    expect(board["state"] == "serving" and relay.is_running, "the relay served the board all the time")
    late.leave()
    scene.h1.run("rm", f"{directory}/ballast")
    line = len(relay.errors)
    writers.until(lambda: logged(relay, "saved-again", line), 40, "the relay to save again")
    writers.until(lambda: ask_health(relay, "/readyz")[0] == 200, 10, "the relay to be ready again")
    board = writers.agree()
    writers.expect_nobody_left()
    print(f"{writers.done} verbs acknowledged, {len(board)} objects")
    path = scene.h1.run("sh", "-c", f"ls {directory}/boards/*.whiteboard").stdout.split()[0]
    count = f"import sqlite3; print(sqlite3.connect('file:{path}?mode=ro', uri=True).execute('SELECT count(*) FROM asset').fetchone()[0])"
    lan.until(
        lambda: scene.h1.run("/usr/bin/python3", "-c", count, check=False).stdout.strip() == "1",
        60,
        "the relay to have the photo after all",
    )
    writers.leave_to(relay, scene.h2, board)
    expect(shown in board, "the photo is on the board")


def logged(relay, word, since):
    """Whether the relay has logged a message since a line of its log."""
    return any(word in line for _, line in relay.errors[since:])


@scenario(4, limit=150)
def a_copy_of_a_relay_made_while_people_draw_is_a_relay_elsewhere(scene):
    relay = relays.start(scene, scene.h1)
    writers = Writers(scene, relay, 4, a_second=8, hosts=[scene.h2, scene.h3])
    writers.write(60)
    anchors = {writers.team[0].do("text", at=[n, -900], text=f"before {n}")["id"] for n in range(5)}
    writers.team[0].do("wait", 30, synced=True)
    copy = scene.files / "copy"
    backup = scene.h1.start(relays.program(), "backup", "-o", copy, "--data-dir", relay.data_dir, name="backup")
    writers.until(lambda: not backup.is_running, 20, "the copy to be made")
    expect(backup.wait_end(1) == 0, f"the copy was made: {backup.log()}")
    writers.write(40)
    # The relay's machine is gone without a goodbye. Another relay starts from the copy, at first without any peer to
    # ask.
    scene.h1.unplug()
    relay.kill()
    scene.h4.unplug()
    again = scene.h4.home / "relay"
    scene.h4.run(relays.program(), "restore", copy, "--data-dir", again)
    relay = relays.start(scene, scene.h4)
    expect(relay.id == writers.relay, "the relay has the same identity")
    alone = scene.join(scene.h4, relay.link, name="alone", within=30)
    lan.until(lambda: anchors <= alone.board().keys(), 20, "the objects from before the copy to be on the board")
    kept = alone.board()
    seen = {one["object"]["id"] for peer in writers.team for one in peer.seen("object-added")}
    expect(kept.keys() <= seen, f"nothing else is on the board: {kept.keys() - seen}")
    marks = writers.marks
    scene.h4.plug()
    writers.wait(marks, "joined", 60, "the relay to be found at its new address", peer=relay.id)
    writers.wait(marks, "joined", 30, "the peer that was alone to join", peer=alone.id)
    writers.write(30)
    board = writers.agree(alone)
    expect(anchors <= board.keys(), "the objects from before the copy are on the board")
    print(f"{len(kept)} objects were in the copy, {len(board)} are there; {writers.done} verbs acknowledged")
    alone.leave()
    writers.leave_to(relay, scene.h2, board)


@scenario(5, limit=240, alone=True)
def twenty_peers_draw_on_when_their_relay_is_told_to_end(scene):
    relay = relays.start(scene, scene.h1)
    writers = Writers(scene, relay, 20, a_second=1)
    writers.write(60)
    marks = writers.marks
    began = time.monotonic()
    relay.send_signal(signal.SIGTERM)
    writers.until(lambda: not relay.is_running, DRAINED_WITHIN, "the relay to end")
    print(f"drained in {time.monotonic() - began:.1f} s")
    expect(relay.wait_end(1) == 0, f"{relay} ended in good order")
    writers.wait(marks, "left", 10, "every peer to learn that the relay shuts down", peer=writers.relay, reason="shutting-down")
    writers.write(60)
    writers.agree(within=90)
    print(f"one board without the relay {time.monotonic() - began:.1f} s after")
    marks = writers.marks
    relay = relays.start(scene, scene.h1, wait=False)
    writers.wait(marks, "joined", 60, "the relay to be there again", peer=writers.relay)
    writers.write(40)
    board = writers.agree(within=60)
    print(f"{writers.done} verbs acknowledged, {len(board)} objects")
    writers.leave_to(relay, scene.h2, board)
