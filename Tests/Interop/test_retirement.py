"""Tests retirements (AUT-17) between the real `whiteboard-peer` and the Python peer."""

import time

from test_against_swift import SwiftCase
from whiteboard_peer import admission, cells, messages
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.cells import Dot
from whiteboard_peer.events import PATIENCE
from whiteboard_peer.links import make_link
from whiteboard_peer.tls import Identity

INCARNATIONS = 20


class Spendthrift(BoardPeer):
    """A peer that uses up space: under each of many incarnations, it creates an object and purges it."""

    def spend(self, count=INCARNATIONS):
        """Returns the incarnations."""
        used = []
        with self.condition:
            for _ in range(count):
                used.append(self.board_incarnation)
                text = self.add_text(0, 0, "gone")
                self.commit([(text, cells.PURGE, None, cells.NONE, None)])
                self._begin_incarnation()
        return used


class OlderPeer(BoardPeer):
    """A peer of a version that skips retirements."""

    requested = 0

    def _take_retirement(self, remote, data):
        pass

    def _take_message(self, remote, message):
        if message[:1] == bytes([messages.REQUEST]):
            self.requested += 1
        super()._take_message(remote, message)


class Retiring(SwiftCase):
    def until(self, condition, seconds=30):
        ends = time.monotonic() + seconds * PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), ends, "the condition did not become true")
            time.sleep(0.05)

    def assert_same(self, program, peer, remote):
        """Waits until both have the same context and the same digest."""
        self.until(lambda: peer._replica(remote).their_hash == messages.context_hash(peer.state.context))
        self.until(lambda: program.digest() == peer.digest())

    def test_aut_17_a_host_takes_back_the_room_of_a_member_that_it_removed(self):
        program = self.swift_host()
        guest, older = self.guest_of(program), self.guest_of(program, "older", kind=OlderPeer)
        remote = guest.join(program.address, program.id)
        old = older.join(program.address, program.id)
        waster = self.guest_of(program, "waster", kind=Spendthrift)
        waster.join(program.address, program.id)
        kept = guest.add_text(1, 2, "stays")
        wasted = waster.spend()
        with waster.condition:
            left = waster.add_text(3, 4, "seen")
        for peer in (guest, older):
            peer.wait_until(lambda: set(wasted) <= peer.state.context.ranges.keys() and left in peer.state.objects, 30)
        before = guest.digest()
        program.do("kick", target=waster.identity.text)
        retired = guest.events.wait("retirement", 30, remote=remote)
        # The visible objects remain, and so do the incarnations of their authors.
        self.assertEqual(retired["incarnations"], tuple(sorted(wasted)))
        self.assertFalse(set(wasted) & guest.state.context.ranges.keys())
        self.assertIn(left.incarnation, guest.state.context.ranges)
        self.assertEqual(guest.digest(), before)
        self.assert_same(program, guest, remote)
        # A newcomer receives the retirement from the program. A newcomer of an older version keeps its links, and the
        # changes of others.
        newcomer = self.guest_of(program, "newcomer")
        to_newcomer = newcomer.join(program.address, program.id)
        newcomer.events.wait("retirement", 30, remote=to_newcomer)
        self.assert_same(program, newcomer, to_newcomer)
        self.assertTrue(set(wasted) <= older.state.context.ranges.keys())
        program.do("text", at=[5, 6], text="to all")
        from_older = older.add_text(7, 8, "from an older peer")
        guest.wait_until(lambda: from_older in guest.state.objects and len(guest.objects()) == 4, 30)
        older.wait_until(lambda: len(older.objects()) == 4, 30)
        self.assertIn(kept, older.state.objects)
        self.assertEqual(older.digest(), guest.digest())
        self.assertIsNotNone(old.control)
        self.assert_same(program, guest, remote)
        # The program and the Python peers send the older peer a request at most once a minute, instead of every 5 s.
        before = older.requested
        time.sleep(12)
        self.assertLessEqual(older.requested - before, 3)
        self.assertIsNotNone(old.control)

    def test_aut_17_the_program_takes_the_retirement_of_a_python_host(self):
        identity = Identity()
        session = admission.named_session(identity.peer_id)
        host = self.peer("host", session, kind=BoardPeer, identity=identity)
        program = self.program("join", make_link(host.address, session, host.id))
        remote = host.events.wait("connected", 30)["remote"]
        waster = self.peer("waster", session, kind=Spendthrift)
        waster.join(host.address, host.id)
        wasted = waster.spend(3)
        host.wait_until(lambda: set(wasted) <= host.state.context.ranges.keys(), 30)
        self.assert_same(program, host, remote)
        host.retire(wasted)
        self.assertFalse(set(wasted) & host.state.context.ranges.keys())
        self.assert_same(program, host, remote)
        # The member whose incarnation is retired continues under a new incarnation.
        own = waster.board_incarnation
        host.retire([own])
        waster.wait_until(lambda: waster.board_incarnation != own, 30)
        text = waster.add_text(0, 0, "again")
        host.wait_until(lambda: Dot(*text) in host.state.objects, 30)
        self.assert_same(program, host, remote)
