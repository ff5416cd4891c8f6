"""Three relays of a cluster, with members that join through different relays, while relays and NATS servers are killed."""

import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Web"))
from programs import Peer, Program, free_port, until  # noqa: E402
from servers import Machine  # noqa: E402

#: The words before a command that ends if this process is killed.
DIES_WITH_THIS = ("setpriv", "--pdeathsig", "KILL")


class Relay(Program):
    """A `whiteboard-relay serve` of the cluster, or a single one without `servers`. `words` are more options."""

    def __init__(self, program, name, folder, servers=None, machine=Machine(), words=()):
        self.program, self.folder, self.machine = program, folder, machine
        folder.mkdir(exist_ok=True)
        (folder / "no-config").touch()
        if servers:
            certificates = servers.certificates
            words = (*words, "--cluster", servers.environment["WHITEBOARD_CLUSTER_SERVERS"], "--cluster-ca", certificates / "ca.pem",
                     "--cluster-certificate", certificates / "relay.pem", "--cluster-key", certificates / "relay.key")
        # The port stays the same if the relay is started again.
        super().__init__(name, [
            *DIES_WITH_THIS, *machine.inside, program, "serve", "--json", "--data-dir", folder, "--config", folder / "no-config", "--name", name,
            "--listen", f"{machine.address}:{free_port()}", "--http", "none", "--no-announce", *words,
        ], folder / "log")
        self.event("status")

    def operate(self, *words):
        """The lines of an answer to a command of the operator."""
        done = subprocess.run([self.program, *words, "--json", "--data-dir", self.folder], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 0, f"{self.name} {words}: {done.stderr}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    def link(self, board):
        """The link to a board through this relay, as soon as it serves the board."""
        def found():
            return [one["link"] for one in self.operate("boards") if one["board"] == board and one["state"] == "serving"]
        return until(found, f"{self.name} does not serve the board")[0]

    def others(self):
        return sorted(one["name"] for one in self.operate("cluster") if one["state"] == "online")


def write(peer, text):
    peer.do("text", at=[0, 0], text=text)


def until_all_have(peers, count, seconds=20):
    """Waits until the boards have the given number of objects and are equal; returns the seconds that it took."""
    began = time.monotonic()
    until(lambda: all(len(peer.objects()) == count for peer in peers) and len({peer.digest for peer in peers}) == 1,
          lambda: f"{[(peer.name, len(peer.objects())) for peer in peers]} objects instead of {count}", seconds)
    return time.monotonic() - began


def scenario(peer_program, relay_program, folder, servers):
    """Yields a line for each part that passed."""
    running = []
    try:
        relays = [Relay(relay_program, name, folder / name, servers) for name in ("one", "two", "three")]
        running += relays
        one, two, three = relays
        for relay in relays:
            names = sorted(other.name for other in relays if other is not relay)
            until(lambda: relay.others() == names, lambda: f"{relay.name} knows only {relay.others()}")
        yield "each relay finds the others through NATS"

        board = one.operate("boards", "create", "standup")[0]["board"]
        ann = Peer.member(peer_program, "ann", folder / "ann", one.link(board))
        ben = Peer.member(peer_program, "ben", folder / "ben", two.link(board))
        running += [ann, ben]
        write(ann, "from ann")
        write(ben, "from ben")
        until_all_have([ann, ben], 2)
        yield "members that joined through different relays see each other's changes"

        one.kill()
        write(ann, "after the crash")
        took = until_all_have([ann, ben], 3, 10)
        cy = Peer.member(peer_program, "cy", folder / "cy", three.link(board))
        running.append(cy)
        until_all_have([ann, ben, cy], 3)
        yield f"after a crash of the relay that hosts the board, its members continue ({took:.1f} s), and new ones join"

        for node in servers.cluster:
            servers.kill(node)
        write(cy, "without NATS")
        until_all_have([ann, ben, cy], 4)
        yield "without NATS servers, the relays continue to serve the board"

        one.start()
        one.event("status")
        dan = Peer.member(peer_program, "dan", folder / "dan", one.link(board))
        running.append(dan)
        until_all_have([ann, ben, cy, dan], 4)
        yield "the relay returns, and catches up"

        servers.until_replaced()
        other = two.operate("boards", "create", "retro")[0]["board"]
        for relay in (one, three):
            relay.link(other)
        two.operate("boards", "delete", "retro", "--yes")
        for relay in (one, three):
            until(lambda: len(relay.operate("boards")) == 1, f"{relay.name} did not delete the board")
        yield "with the NATS servers back, boards are created and deleted on all relays"
    except BaseException:
        for program in running:
            print(f"--- {program.name}\n{program.log.read_text()[-1500:]}")
        raise
    finally:
        for program in reversed(running):
            program.stop()
