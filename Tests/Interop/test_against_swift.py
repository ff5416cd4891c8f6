"""Tests the real `whiteboard-peer` with the Python peer of this folder, over loopback and without discovery."""

import base64
import contextlib
import hashlib
import itertools
import json
import math
import os
import pathlib
import queue
import random
import socket
import threading
import time
import unittest
from unittest import mock

from cutting import CuttingForwarder, Forwarder
from mitm import Interceptor
from pictures import png
from program import BINARY, Program, data_of
from support import InteropCase
from whiteboard_peer import admission, cells, codec, outlines, views, wire
from whiteboard_peer.board import APPLICATION, BoardPeer
from whiteboard_peer.links import make_link, parse_link
from whiteboard_peer.session import NotVerified, Refused, parse_hello
from whiteboard_peer.events import PATIENCE, EventLog
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.tls import BINDING, Identity, Link
from whiteboard_peer.wire import base32, encode_frame, parse_base32

CODE = "zebra-acid-acid-zebra"
EXIT_REFUSED = 77
FORM_KEYS = {"form", "color", "fill", "lineStyle", "lineStart", "lineEnd", "isCurved", "isBold", "isFinished", "erased"}


@unittest.skipUnless(BINARY.exists(), f"{BINARY.name} is not built")
class SwiftCase(InteropCase):
    def program(self, *arguments, admit=None, code=None, name="swift", **options):
        """Starts the program with its own directories, and ends it after the test."""
        directory = self.directory() / "data"
        directory.mkdir(mode=0o700)
        more = list(options.pop("options", ()))
        more += ["--admit", admit] if admit else []
        more += ["--code", code] if code else []
        program = Program(*arguments, directory=directory, name=name, options=more, **options)
        self.addCleanup(program.stop)
        return program

    def swift_host(self, admit="anyone", **options):
        program = self.program("host", "Board", admit=admit, **options)
        program.ready()
        program.session = parse_base32(program.board, 16)
        program.id = parse_base32(program.peer, 32)
        return program

    def guest_of(self, program, name="python", **options):
        options.setdefault("kind", BoardPeer)
        return self.peer(name, program.session, **options)

    def joined_pair(self, **options):
        """Returns (program, guest, the guest's view of the program)."""
        program = self.swift_host()
        guest = self.guest_of(program, **options)
        remote = guest.join(program.address, program.id)
        program.events.wait("joined", peer=guest.identity.text)
        return program, guest, remote

    def host_and_program(self, **options):
        """Returns (Python host, the program that joined it, the host's view of the program)."""
        host = self.peer("host", kind=BoardPeer, **options)
        program = self.program("join", make_link(host.address, host.session, host.id))
        remote = host.events.wait("connected", 30)["remote"]
        program.events.wait("joined", 30, peer=host.identity.text)
        program.id = remote.peer_id
        return host, program, remote

    def both_ways(self):
        """Yields one pair in which the program listened, and one pair in which it dialed."""
        program, guest, remote = self.joined_pair()
        yield "program hosts", program, guest, remote
        host, program, remote = self.host_and_program()
        yield "program joined", program, host, remote


class HoldingHost(BoardPeer):
    """A host that can leave an accepted connection without TLS."""

    def __init__(self, *arguments, **options):
        self.holds = False
        self.held = queue.Queue()
        super().__init__(*arguments, **options)

    def _serve_connection(self, sock, admitted):
        if not self.holds:
            return super()._serve_connection(sock, admitted)
        self.holds = False
        self.held.put(sock)


class Joining(SwiftCase):
    def test_python_joins_by_the_link_with_a_code(self):
        program = self.swift_host("code")
        address, session, peer, code, _ = parse_link(program.link)
        self.assertEqual((session, peer), (program.session, program.id))
        self.assertEqual(code, program.code)
        self.assertEqual(len(code.split("-")), 4)
        guest = self.guest_of(program)
        guest.join_patiently(address, peer, code=code)
        event = program.events.wait("joined", peer=guest.identity.text)
        self.assertEqual(event["name"], "python")
        guest.leave()
        event = program.events.wait("left", peer=guest.identity.text)
        self.assertEqual(event["reason"], "left")

    def test_a_code_as_people_type_it(self):
        program = self.swift_host("code", code=CODE)
        guest = self.guest_of(program)
        guest.join_patiently(program.address, program.id, code="  Zebra ACID-acid - zebra ")

    def test_a_wrong_code_is_refused_and_then_locked_out(self):
        program = self.swift_host("code")
        for expected in ["wrong-code"] * 3 + ["locked-out"]:
            with self.assertRaises(Refused) as raised:
                self.guest_of(program).join(program.address, program.id, code=CODE)
            self.assertEqual(raised.exception.code, expected)
        # Now the right code does not help either (ADM-3).
        with self.assertRaises(Refused) as raised:
            self.guest_of(program).join(program.address, program.id, code=program.code)
        self.assertEqual(raised.exception.code, "locked-out")

    def test_swift_joins_a_python_host_by_link_with_a_code(self):
        host = self.peer("host", admission_mode="code", code=CODE)
        program = self.program("join", make_link(host.address, host.session, host.id, CODE))
        remote = host.events.wait("connected", 30)["remote"]
        self.assertEqual(remote.name, "swift")
        program.events.wait("joined", peer=host.identity.text)
        self.assertEqual(program.stop(), 0)
        self.assertIn(host.events.wait("closed")["code"], ("left", "shutting-down"))

    def test_swift_with_a_wrong_code_is_refused(self):
        host = self.peer("host", admission_mode="code", code=CODE)
        link = make_link(host.address, host.session, host.id, "acid-acid-acid-acid")
        program = self.program("join", link)
        self.assertEqual(program.ended(30), EXIT_REFUSED)
        self.assertEqual(host.events.all("connected"), [])

    def test_swift_does_not_join_another_key_than_its_link_names(self):
        host = self.peer("host")
        link = make_link(host.address, host.session, os.urandom(32))
        program = self.program("join", link)
        self.assertNotEqual(program.ended(60), 0)
        self.assertEqual(host.events.all("connected"), [])

    def test_a_host_that_does_not_know_the_code_is_not_joined(self):
        """HEL-7: a dialler with a code and without a key refuses a listener that asks for nothing."""
        host = self.peer("host", admission_mode="anyone")
        for target in (
            make_link(host.address, host.session, None, CODE),
            f"127.0.0.1:{host.address[1]}",
        ):
            program = self.program("join", target, code=CODE)
            self.assertEqual(program.ended(30), EXIT_REFUSED)
            host.events.wait("closed", code="not-verified")
        self.assertEqual(host.events.all("message"), [])

    def test_python_asks_and_the_program_says_yes_or_no(self):
        program = self.swift_host("ask")
        for verb in ("accept", "decline"):
            guest = self.guest_of(program, name=verb)
            outcome = []

            def join():
                try:
                    guest.join(program.address, program.id)
                    outcome.append("in")
                except Refused as refused:
                    outcome.append(refused.code)

            thread = threading.Thread(target=join)
            thread.start()
            invitation = program.events.wait("invitation", direction="incoming", name=verb)
            words = guest.events.wait("words")["words"]
            shown = invitation["words"]
            self.assertEqual(shown if isinstance(shown, list) else shown.split(), words)
            program.do(verb, target=invitation["id"])
            thread.join(20)
            self.assertEqual(outcome, ["in" if verb == "accept" else "declined"])

    def joining(self, guest, address, **options):
        """Starts to join; returns the thread and its outcome: nothing, or the problem."""
        outcome = []

        def join():
            try:
                guest.join(address, **options)
                outcome.append(None)
            except (Refused, NotVerified, LinkBroken, wire.Violation) as problem:
                outcome.append(problem)

        thread = threading.Thread(target=join)
        thread.start()
        return thread, outcome

    def test_adm_15_users_may_take_their_time_in_either_order(self):
        """One user answers at once, and the other answers later than the 6 s for which an open link may be silent."""
        program = self.swift_host("ask")
        # The host's user answers first, and the user of this guest answers late.
        late = self.guest_of(program, name="late")
        asked = threading.Event()
        late.confirm_host = lambda *_: asked.wait(30)
        # This guest does not know ADM-15, and its host answers late.
        older = self.guest_of(program, name="older")
        older.reports_decision = False
        late_join, older_join = self.joining(late, program.address), self.joining(older, program.address)
        # A program that joins, and answers late; its host answers first and does not know ADM-15.
        host = self.peer("host", kind=BoardPeer, admission_mode="ask")
        host.reports_decision = False
        joiner = self.program("join", f"{host.address[0]}:{host.address[1]}")
        question = joiner.events.wait("invitation", 30, direction="outgoing")
        self.assertTrue(question["mustAnswer"] and question["deadline"])
        self.assertEqual(question["seconds"], 300)

        asking = {
            name: program.events.wait("invitation", 30, direction="incoming", name=name) for name in ("late", "older")
        }
        program.do("accept", target=asking["late"]["id"])
        comparing = program.events.wait("note", code="comparing", invitation=asking["late"]["id"])
        self.assertTrue(comparing["deadline"])
        time.sleep(7)
        self.assertEqual(program.events.all("joined"), [])
        asked.set()
        program.do("accept", target=asking["older"]["id"])
        joiner.do("accept", target=question["id"])
        for guest, (thread, outcome) in ((late, late_join), (older, older_join)):
            thread.join(20)
            self.assertEqual(outcome, [None])
            program.events.wait("joined", peer=guest.identity.text)
        joiner.events.wait("joined", peer=host.identity.text)
        for peer in (program, joiner):
            states = {event.get("state") for event in peer.events.all("peer-state")}
            self.assertLessEqual(states, {"connecting", "connected", "suspect"})

    def test_adm_16_a_deadline_that_passes_is_reported_on_both_sides(self):
        program = self.swift_host("ask")
        guest = self.guest_of(program)
        never = threading.Event()
        self.addCleanup(never.set)
        guest.confirm_host = lambda *_: never.wait(30)
        thread, outcome = self.joining(guest, program.address, timeout=3)
        invitation = program.events.wait("invitation", direction="incoming")
        program.do("accept", target=invitation["id"])
        ended = program.events.wait("note", code="invitation-ended", invitation=invitation["id"])
        self.assertIn("did not confirm the verification words in time", ended["message"])
        thread.join(20)
        self.assertIn("timed-out", str(outcome[0]))
        self.assertEqual(program.events.all("joined"), [])

    def test_known(self):
        program = self.swift_host("known")
        with self.assertRaises(Refused) as raised:
            self.guest_of(program).join(program.address, program.id)
        self.assertEqual(raised.exception.code, "not-known")

    def test_three_in_a_mesh(self):
        """The program admits two Python peers, which meet each other. Another program then joins, and both Python peers
        meet it."""
        program, first, _ = self.joined_pair()
        second = self.guest_of(program, name="second")
        second.join(program.address, program.id)
        for peer, other in ((first, second), (second, first)):
            peer.wait_until(
                lambda: other.id in peer.remotes and peer.remotes[other.id].control, 15
            )
        third = self.program("join", make_link(program.address, program.session, program.id))
        third.ready()
        for peer in (first, second):
            peer.wait_until(lambda: len([r for r in peer.remotes.values() if r.control]) == 3, 20)

    def test_rly_20_a_peer_that_knows_no_star_has_links_with_all_members(self):
        program = self.swift_host(options=["--topology", "star"])
        member = self.program("join", make_link(program.address, program.session, program.id), name="member")
        member.events.wait("joined", peer=program.peer)
        guest = self.guest_of(program)
        guest.join(program.address, program.id)
        member.id = parse_base32(member.ready()["peer"], 32)
        guest.wait_until(lambda: member.id in guest.remotes and guest.remotes[member.id].control, 20)
        for other in (program, member):
            other.events.wait("joined", 20, peer=guest.identity.text)
            guest.remotes[other.id].send(bytes([APPLICATION]) + b"hello", wait=True)
            other.do("send", text="hello", to=guest.identity.text)

    def test_dup_2_a_dial_sends_no_hello_after_another_link_opened(self):
        host = self.peer("host", kind=HoldingHost)
        program = self.program("join", make_link(host.address, host.session, host.id))
        remote = host.events.wait("connected", 30)["remote"]
        broken = remote.control
        host.holds = True
        remote.cut()
        # The program dials immediately, and the host after a second.
        held = host.held.get(timeout=30)
        host.wait_until(lambda: remote.control not in (None, broken), 30)
        control = remote.control
        with self.assertRaises(LinkBroken) as raised:
            Link(held, host.identity, True, 10).read_frame(10)
        self.assertNotIsInstance(raised.exception, LinkTimeout)
        remote.send(bytes([APPLICATION]) + b"hello", wait=True)
        self.assertIs(remote.control, control)
        self.assertNotIn("identity-in-use", [warning["code"] for warning in program.events.all("warning")])

    def test_kicked(self):
        program, guest, _ = self.joined_pair()
        program.do("kick", target=guest.identity.text, reason="enough")
        closed = guest.events.wait("closed")
        self.assertEqual((closed["code"], closed["message"]), ("kicked", "enough"))
        with self.assertRaises(Refused) as raised:
            guest.join(program.address, program.id)
        self.assertEqual(raised.exception.code, "kicked")

    def test_the_program_is_kicked_and_told_why(self):
        host, program, remote = self.host_and_program()
        host.kick(remote, "be nice")
        left = program.events.wait("left", peer=host.identity.text)
        self.assertEqual((left["reason"], left.get("message")), ("kicked", "be nice"))

    def test_a_full_session(self):
        host = self.peer("host", maximum=1)
        program = self.program("join", make_link(host.address, host.session, host.id))
        self.assertEqual(program.ended(30), EXIT_REFUSED)

    def test_hel_5_a_board_is_full_at_max_peers_until_a_member_leaves(self):
        program = self.swift_host(options=["--max-peers", "2"])
        first, second = self.guest_of(program, "first"), self.guest_of(program, "second")
        first.join(program.address, program.id)
        program.events.wait("joined", peer=first.identity.text)
        with self.assertRaises(Refused) as raised:
            second.join(program.address, program.id)
        self.assertEqual(str(raised.exception), "full: It holds at most 2 peers.")
        joiner = self.program("join", make_link(program.address, program.session, program.id))
        self.assertEqual(joiner.ended(30), EXIT_REFUSED)
        self.assertIn(
            "This board is full. It holds at most 2 peers. Its host can admit more peers with --max-peers",
            joiner.log,
        )
        first.leave()
        program.events.wait("left", peer=first.identity.text)
        second.join(program.address, program.id)
        program.events.wait("joined", peer=second.identity.text)


class FalseHost(BoardPeer):
    """A member that claims to be the host (MEM-15)."""

    def _notice(self, *peer_ids):
        pass

    def claim(self):
        with self.condition:
            self.host = self.id


class FalseHosts(SwiftCase):
    def claimed(self, admit="code"):
        """Returns Anna's program, Ben, and Mal, who claims to be the host; both joined Anna."""
        anna = self.swift_host(admit, name="anna")
        self.assertTrue(admission.is_named(anna.session, anna.id))
        ben, mal = self.guest_of(anna, "ben"), self.guest_of(anna, "mal", kind=FalseHost)
        for peer in (ben, mal):
            peer.join_patiently(anna.address, anna.id, code=anna.code)
            anna.events.wait("joined", peer=peer.identity.text)
        mal.claim()
        return anna, ben, mal

    def kicks(self, mal, remote, *victims):
        for victim in victims:
            self.kick(mal, remote, admission.make_kick(mal.identity, mal.session, victim))
        # The receiver may have closed the link already.
        with contextlib.suppress(LinkBroken):
            mal.send_data(remote, b"behind")

    @staticmethod
    def kick(mal, remote, payload):
        """Sends KICK, unless the receiver has closed the link already because of an earlier KICK."""
        with mal.condition, contextlib.suppress(LinkBroken):
            if remote.control:
                remote.control.send(wire.KICK, payload)

    def test_mem_15_a_false_host_cannot_make_a_newcomer_remove_the_host(self):
        anna, ben, mal = self.claimed()
        nora = self.program("join", make_link(mal.address, mal.session, mal.id), name="nora")
        remote = mal.events.wait("connected", 30, where=lambda e: e["remote"].name == "nora")["remote"]
        self.kicks(mal, remote, anna.id, ben.id)
        self.kick(mal, remote, {"peer": anna.peer, "reason": ""})
        nora.events.wait("warning", code="false-host")
        for peer in (anna.peer, ben.identity.text):
            nora.events.wait("joined", 30, peer=peer)
        # The false host loses its link, because it signed a KICK without being the host. The KICK of the real host
        # counts.
        nora.events.wait("left", 30, peer=mal.identity.text)
        anna.do("kick", target=ben.identity.text, reason="spam")
        nora.events.wait("left", 30, peer=ben.identity.text)
        nora.do("digest")
        self.assertEqual([e for e in nora.events.all("left") if e["peer"] == anna.peer], [])
        self.assertIsNone(nora.process.poll())

    def test_mem_15_a_false_host_cannot_end_the_session_of_a_newcomer(self):
        anna, ben, mal = self.claimed()
        nora = self.program("join", make_link(mal.address, mal.session, mal.id), name="nora")
        remote = mal.events.wait("connected", 30, where=lambda e: e["remote"].name == "nora")["remote"]
        nora.events.wait("joined", 30, peer=anna.peer)
        with mal.condition:
            remote.control.close("kicked", "out")
        nora.events.wait("left", 30, peer=mal.identity.text)
        nora.do("digest")
        self.assertEqual(nora.events.all("removed"), [])

    def test_mem_16_old_ids_prove_nothing_and_contradictions_are_reported(self):
        host = self.peer("host", os.urandom(14) + b"xx", kind=BoardPeer)
        mal = self.peer("mal", host.session, kind=FalseHost)
        mal.join(host.address, host.id)
        mal.claim()
        nora = self.program("join", make_link(mal.address, mal.session, mal.id), name="nora")
        nora.events.wait("joined", 30, peer=host.identity.text)
        nora.events.wait("warning", 30, code="host-disputed")
        remote = next(r for r in mal.remotes.values() if r.name == "nora")
        self.kicks(mal, remote, host.id)
        nora.events.wait("data")
        self.assertEqual(nora.events.all("left"), [])


class Admitting(SwiftCase):
    """Members that admit newcomers as the host does (MEM-17, TCK-6)."""

    def accepted(self, host, name, options=()):
        """Returns a program that joined an `ask` board after its user was accepted."""
        program = self.program("join", host.link, name=name, options=options)
        invitation = host.events.wait("invitation", 30, direction="incoming", name=name)
        host.do("accept", target=invitation["id"])
        program.opened = program.ready()
        return program

    def accept_peer(self, program, peer, *, address=None):
        """Lets a Python peer join a program whose user is asked."""
        joining = threading.Thread(target=peer.join, args=(address or program.address, parse_base32(program.peer, 32)))
        joining.start()
        invitation = program.events.wait("invitation", 30, direction="incoming", name=peer.name)
        program.do("accept", target=invitation["id"])
        joining.join(20)
        program.events.wait("joined", peer=peer.identity.text)

    def test_tck_6_a_member_admits_newcomers_after_the_host_has_left(self):
        anna = self.swift_host("ask", name="anna")
        ben, carl = self.accepted(anna, "ben"), self.accepted(anna, "carl")
        for member in (ben, carl):
            self.assertTrue(member.link)
        ben.events.wait("joined", 30, peer=carl.peer)
        self.assertEqual(anna.stop(), 0)
        for member in (ben, carl):
            member.events.wait("left", 30, peer=anna.peer)
        dora = self.guest_of(anna, "dora")
        self.accept_peer(ben, dora)
        self.assertTrue(admission.has_right(dora.ticket["via"][0], dora.session, anna.id, parse_base32(ben.peer, 32)))
        # The other member accepts the ticket without asking its user.
        carl.events.wait("joined", 30, peer=dora.identity.text)
        self.assertEqual([e for e in carl.events.all("invitation") if e["direction"] == "incoming"], [])
        # A program that a member admitted has no right to admit peers, and names the members that have this right.
        eve = self.accepted(ben, "eve")
        self.assertEqual(eve.link, "")
        opened = eve.opened
        if len(opened["admitters"]) < 2:
            opened = eve.events.wait("admission", 30, where=lambda e: len(e.get("admitters", [])) == 2)
        self.assertEqual({m["peer"] for m in opened["admitters"]}, {ben.peer, carl.peer})

    def test_tck_6_only_the_host_admits_if_its_user_chose_so(self):
        anna = self.swift_host("ask", name="anna", options=["--no-members-admit"])
        ben = self.accepted(anna, "ben")
        self.assertEqual(ben.link, "")
        anna.stop()
        ben.events.wait("left", 30, peer=anna.peer)
        self.assertEqual(ben.events.wait("admission", 30, link="")["admitters"], [])
        dora = self.guest_of(anna, "dora")
        with self.assertRaises(Refused) as raised:
            dora.join(ben.address, parse_base32(ben.peer, 32))
        self.assertEqual(raised.exception.code, "not-known")

    def test_tck_6_a_program_with_the_right_of_a_python_host_admits_newcomers(self):
        host = self.peer("host", kind=BoardPeer, admission_mode="ask")
        ben = self.program("join", make_link(host.address, host.session, host.id), name="ben")
        ben.ready()
        self.assertTrue(ben.link)
        dora = self.peer("dora", host.session, kind=BoardPeer)
        self.accept_peer(ben, dora)
        dora.wait_until(lambda: host.id in dora.remotes and dora.remotes[host.id].control, 20)
        # The host admitted the newcomer because of Ben's ticket, and did not ask its own user again.
        self.assertEqual(len(host.events.all("invitation")), 1)

    def test_mem_17_a_returning_member_does_not_use_a_code_that_the_host_did_not_give(self):
        anna = self.swift_host("code", name="anna")
        link = make_link(anna.address, anna.session, anna.id)
        ben = self.program("join", f"{link}#{anna.code}", name="ben")
        self.assertEqual(ben.ready()["code"], anna.code)
        ben.do("digest")
        ben.stop()
        anna.events.wait("left", 30, peer=ben.peer)
        directory = ben.directory
        again = Program("join", link, directory=directory, name="ben", options=["--code", "acid-acid-acid-zebra"])
        self.addCleanup(again.stop)
        self.assertNotIn("code", again.ready())
        again.events.wait("warning", 30, code="code-differs")
        self.assertEqual(again.events.wait("admission", 30)["code"], anna.code)
        carl = self.guest_of(anna, "carl")
        # A program that has just received a code is `busy` until it has stretched the code.
        with self.assertRaises(Refused) as raised:
            carl.join_patiently(again.address, parse_base32(again.peer, 32), code="acid-acid-acid-zebra")
        self.assertEqual(raised.exception.code, "wrong-code")
        # A new code reaches the member, which then refuses the old code (MEM-12).
        bad = self.guest_of(anna, "bad")
        bad.join_patiently(anna.address, anna.id, code=anna.code)
        anna.events.wait("joined", 30, peer=bad.identity.text)
        anna.do("kick", target=bad.identity.text)
        new = anna.events.wait("invited")["code"]
        self.assertEqual(again.events.wait("admission", 30, code=new)["admit"], "code")
        with self.assertRaises(Refused) as raised:
            carl.join_patiently(again.address, parse_base32(again.peer, 32), code=anna.code)
        self.assertEqual(raised.exception.code, "wrong-code")
        carl.join_patiently(again.address, parse_base32(again.peer, 32), code=new)

    def test_mem_17_a_python_host_sends_its_code(self):
        host = self.peer("host", kind=BoardPeer, admission_mode="code", code=CODE)
        ben = self.program("join", make_link(host.address, host.session, host.id, CODE), name="ben")
        self.assertEqual(ben.ready()["code"], CODE)
        host.replace_code("acid-zebra-acid-acid")
        self.assertEqual(ben.events.wait("admission", 30)["code"], "acid-zebra-acid-acid")


class Kicking(SwiftCase):
    def refused(self, peer, address):
        with self.assertRaises(Refused) as raised:
            peer.join(address)
        return raised.exception.code

    def test_mem_3_a_ticket_that_a_kicked_member_signed_admits_nobody(self):
        program = self.swift_host("code")
        bad, fresh = self.guest_of(program, "bad"), self.guest_of(program, "fresh")
        bad.join_patiently(program.address, program.id, code=program.code)
        program.events.wait("joined", peer=bad.identity.text)
        program.do("kick", target=bad.identity.text)
        program.events.wait("left", peer=bad.identity.text)
        fresh.ticket = admission.make_ticket(bad.identity, program.session, fresh.id)
        # The ticket has no effect (TCK-2), so the code is requested.
        with self.assertRaises(NotVerified):
            fresh.join_patiently(program.address, program.id)
        self.assertEqual(self.refused(bad, program.address), "kicked")

    def test_mem_3_a_member_that_is_removed_while_it_proves_itself_again_is_not_admitted(self):
        program = self.swift_host("code")
        bad = self.guest_of(program, "bad")
        bad.join_patiently(program.address, program.id, code=program.code)
        program.events.wait("joined", peer=bad.identity.text)
        # A second process with the same key stops before the proof.
        link = Link.connect(program.address, bad.identity)
        self.addCleanup(link.abort)
        hello = bad._hello(None, {"invitation": {"timeout": 60_000}})
        hello["incarnation"] = base32(os.urandom(8))
        link.send_frame(wire.HELLO, hello)
        self.assertEqual(parse_hello(bad._expect(link, wire.HELLO), False)["admission"], "code")
        program.do("kick", target=bad.identity.text)
        stretched = admission.stretch_code(program.code, program.session, link.peer_id)
        proof = admission.code_proof(
            stretched, "joiner", link.exporter(BINDING), program.session, bad.id, link.peer_id
        )
        link.send_frame(wire.CODE_PROOF, {"proof": wire.base64_text(proof)})
        kind, payload = link.read_frame(10 * PATIENCE)
        self.assertEqual(kind, wire.CLOSE)
        self.assertEqual(json.loads(bytes(payload))["code"], "kicked")

    def test_tck_3_a_ticket_that_leads_to_the_host_admits_whoever_signed_it(self):
        program = self.swift_host("code")
        friend, stranger, fresh = (self.guest_of(program, name) for name in ("friend", "stranger", "fresh"))
        friend.join_patiently(program.address, program.id, code=program.code)
        to_stranger = friend._make_ticket(stranger.id)
        self.assertEqual(len(to_stranger.get("via", [])), 1)
        chain = [{k: to_stranger[k] for k in ("admitter", "key", "signature")}, *to_stranger["via"]]
        alone = admission.make_ticket(stranger.identity, program.session, fresh.id)
        fresh.ticket = alone
        with self.assertRaises(NotVerified):
            fresh.join_patiently(program.address, program.id)
        fresh.ticket = alone | {"via": chain}
        fresh.join_patiently(program.address, program.id)
        program.events.wait("joined", peer=fresh.identity.text)
        # TCK-4: the peer got a shorter ticket.
        self.assertNotIn("via", fresh.ticket)

    def test_mem_3_a_kick_holds_for_who_was_not_heard_of(self):
        host, program, remote = self.host_and_program()
        program.ready()
        bad = self.peer("bad", host.session, kind=BoardPeer, host=host.id)
        bad.ticket = admission.make_ticket(host.identity, host.session, bad.id)
        kick = {"peer": bad.identity.text, "reason": "x"}
        with host.condition:
            remote.control.send(wire.KICK, kick)
        # A message sent after the KICK on the same link shows that the KICK was handled.
        host.send_data(remote, b"behind")
        program.events.wait("data")
        self.assertEqual(self.refused(bad, program.address), "kicked")

    def test_tck_1_a_key_that_a_member_invented_admits_nobody(self):
        program = self.swift_host("code")
        bad, fresh = self.guest_of(program, "bad"), self.guest_of(program, "fresh")
        remote = bad.join_patiently(program.address, program.id, code=program.code)
        program.events.wait("joined", peer=bad.identity.text)
        invented = Identity()
        member = {
            "peer": invented.text,
            "name": "puppet",
            "incarnation": base32(os.urandom(8)),
            "port": 1,
            "addresses": ["127.0.0.1"],
            "role": "member",
        }
        with bad.condition:
            remote.control.send(wire.MEMBERS, {"members": [member]})
        bad.send_data(remote, b"behind")
        program.events.wait("data")
        fresh.ticket = admission.make_ticket(invented, program.session, fresh.id)
        with self.assertRaises(NotVerified):
            fresh.join_patiently(program.address, program.id)

    def test_tck_5_a_member_of_an_ask_session_admits_nobody_without_its_person(self):
        program = self.swift_host("ask")
        bad = self.guest_of(program, "bad")
        thread = threading.Thread(target=bad.join, args=(program.address, program.id))
        thread.start()
        invitation = program.events.wait("invitation", direction="incoming", name="bad")
        program.do("accept", target=invitation["id"])
        thread.join(20)
        program.events.wait("joined", peer=bad.identity.text)
        for number in range(14):
            puppet = self.guest_of(program, f"puppet{number}")
            ticket = bad._make_ticket(puppet.id)
            self.assertEqual(len(ticket["via"]), 1)
            link = Link.connect(program.address, puppet.identity)
            self.addCleanup(link.abort)
            link.send_frame(wire.HELLO, puppet._hello(None, {"ticket": ticket}))
            kind, payload = link.read_frame(PATIENCE)
            self.assertEqual(kind, wire.CLOSE)
            self.assertEqual(json.loads(bytes(payload))["code"], "unknown-admitter")
        self.assertEqual(program.events.all("joined"), [])

    def test_mem_11_a_removal_by_the_host_is_passed_on_by_members(self):
        host, program, remote = self.host_and_program()
        program.ready()
        friend = self.peer("friend", host.session, kind=BoardPeer, host=host.id)
        friend.ticket = admission.make_ticket(host.identity, host.session, friend.id)
        bad = self.peer("bad", host.session, kind=BoardPeer, host=host.id)
        bad.ticket = admission.make_ticket(host.identity, host.session, bad.id)
        # The friend was connected when the host removed a peer; the program was not.
        friend.signed_kicks[bad.id] = admission.make_kick(host.identity, host.session, bad.id, "x")
        to_program = friend.join(program.address, program.id)
        friend.send_data(to_program, b"behind")
        program.events.wait("data")
        self.assertEqual(self.refused(bad, program.address), "kicked")
        # The program has forwarded the removal to the host's other link, and the host recognizes its own signature.
        host.wait_until(lambda: bad.id in host.signed_kicks, 15)

    def test_mem_11_a_kick_by_the_program_is_signed(self):
        program = self.swift_host()
        friend, bad = self.guest_of(program, "friend"), self.guest_of(program, "bad")
        for guest in (friend, bad):
            guest.join(program.address, program.id)
            program.events.wait("joined", peer=guest.identity.text)
        program.do("kick", target=bad.identity.text, reason="spam")
        friend.wait_until(lambda: bad.id in friend.signed_kicks, 15)
        self.assertEqual(friend.kicked[bad.id], "spam")
        self.assertTrue(admission.verify_kick(friend.signed_kicks[bad.id], program.session, program.id))

    def test_mem_11_a_forged_signature_closes_the_link(self):
        for change in ("peer", "reason", "key", "signature"):
            with self.subTest(change):
                host, program, _ = self.host_and_program()
                program.ready()
                friend = self.peer("friend", host.session, kind=BoardPeer, host=host.id)
                friend.ticket = admission.make_ticket(host.identity, host.session, friend.id)
                to_program = friend.join(program.address, program.id)
                kick = admission.make_kick(host.identity, host.session, Identity().peer_id, "x")
                other = admission.make_kick(friend.identity, host.session, friend.id, "y")
                with friend.condition:
                    to_program.control.send(wire.KICK, {**kick, change: other[change]})
                self.assertEqual(friend.events.wait("closed")["code"], "protocol-error")

    def test_mem_12_the_old_code_is_wrong_after_a_kick(self):
        program = self.swift_host("code")
        bad = self.guest_of(program, "bad")
        bad.join_patiently(program.address, program.id, code=program.code)
        program.events.wait("joined", peer=bad.identity.text)
        program.do("kick", target=bad.identity.text)
        code = program.events.wait("invited")["code"]
        self.assertNotEqual(code, program.code)
        newcomer = self.guest_of(program, "newcomer")
        with self.assertRaises(Refused) as raised:
            newcomer.join_patiently(program.address, program.id, code=program.code)
        self.assertEqual(raised.exception.code, "wrong-code")
        newcomer.join_patiently(program.address, program.id, code=code)

    def test_blk_4_links_asked_for_without_end_are_not_dialled_without_end(self):
        host, program, remote = self.host_and_program()
        files = pathlib.Path(f"/proc/{program.process.pid}/fd")
        before = len(list(files.iterdir()))
        is_over, dialed = threading.Event(), EventLog()
        self.addCleanup(is_over.set)

        def hold(*_):
            dialed.add("dialed")
            is_over.wait(30)

        with mock.patch("whiteboard_peer.session.serve_bulk", hold):
            with host.condition:
                for _ in range(1_000):
                    remote.control.send(wire.BULK_REQUEST, {"count": 8})
            host.send_data(remote, b"behind")
            program.events.wait("data")
            # The Python peer has room for 16 links that are not yet attached (LNK-6).
            for _ in range(16):
                dialed.wait("dialed")
        self.assertLessEqual(len(list(files.iterdir())), before + 40)


class Payloads(SwiftCase):
    def test_application_messages(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                program.do("send", text="hello")
                event = peer.events.wait("data", reliable=True)
                self.assertEqual(event["data"], b"hello")
                program.do("send", base64=base64.b64encode(bytes(range(256))).decode())
                self.assertEqual(peer.events.wait("data")["data"], bytes(range(256)))
                for size in (0, 1, 65_000, 200_000, wire.MAXIMUM_MESSAGE - 1):
                    data = os.urandom(size)
                    peer.send_data(remote, data)
                    event = program.events.wait("data", 60)
                    self.assertEqual(data_of(event), data)
                    self.assertTrue(event["reliable"])
                    self.assertEqual(event["from"], peer.identity.text)

    def test_datagrams_over_udp(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                peer.wait_until(lambda: remote.udp_works, 10)
                for size in (0, 1, 1_164, 1_165, 20_000, 65_535):
                    data = os.urandom(size)
                    self.assertEqual(peer.send_data(remote, data, reliable=False), "udp")
                    event = program.events.wait("data", reliable=False)
                    self.assertEqual(data_of(event), data)
                with peer.condition:
                    remote.sealer.next_epoch()
                peer.send_data(remote, b"next epoch", reliable=False)
                self.assertEqual(data_of(program.events.wait("data")), b"next epoch")
                # The program sends on the link until its own probe is answered.
                paths, deadline = set(), time.monotonic() + 15
                while "udp" not in paths and time.monotonic() < deadline:
                    program.do("send", text="quick", unreliable=True)
                    event = peer.events.wait("data", reliable=False)
                    self.assertEqual(event["data"], b"quick")
                    paths.add(event["path"])
                self.assertIn("udp", paths)

    def test_dgm_3_doubled_and_disordered_packets_are_taken_once(self):
        program, guest, remote = self.joined_pair()
        guest.wait_until(lambda: remote.udp_works, 10)
        packets, send = [], guest.send_packet
        guest.send_packet = lambda to, packet: packets.append(packet)
        wanted = {b"datagram %d" % number for number in range(50)}
        for data in wanted:
            guest.send_data(remote, data, reliable=False)
        guest.send_packet = send
        for packet in packets[::-1] + packets * 2:
            guest.send_packet(remote, packet)
        got = [data_of(program.events.wait("data", reliable=False)) for _ in wanted]
        self.assertEqual(set(got), wanted)
        for packet in packets:
            guest.send_packet(remote, packet)
        guest.send_data(remote, b"after", reliable=False)
        self.assertEqual(data_of(program.events.wait("data")), b"after")
        self.assertEqual(program.events.all("data"), [])

    def test_dgm_9_datagrams_without_udp(self):
        """A peer that answers no probe receives DATAGRAM frames."""
        program = self.swift_host()
        guest = self.guest_of(program)
        guest.send_packet = lambda *_: None
        remote = guest.join(program.address, program.id)
        program.events.wait("joined")
        program.do("send", text="slow", unreliable=True)
        event = guest.events.wait("data", reliable=False)
        self.assertEqual((event["data"], event["path"]), (b"slow", "link"))
        self.assertEqual(guest.send_data(remote, b"back", reliable=False), "link")
        self.assertEqual(data_of(program.events.wait("data", reliable=False)), b"back")

    def test_syn_34_who_points_with_a_laser_and_what_is_looked_at(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                for say, told in [
                    (("point", {"at": [3, -4.5]}), ((48, -72), False, None)),
                    (
                        ("view", {"at": [0.5, 20], "width": 80.4, "height": 24}),
                        ((48, -72), False, (8, 320, 80, 24)),
                    ),
                    (("point", {"at": [3, 4], "laser": True}), ((48, 64), True, (8, 320, 80, 24))),
                    (("point", {}), (None, False, (8, 320, 80, 24))),
                    (("view", {}), (None, False, None)),
                ]:
                    program.do(say[0], **say[1])
                    cursor, laser, view = told
                    peer.events.wait("presence", cursor=cursor, laser=laser, view=view)
                # Datagrams, even with unknown flags, must not end a link.
                peer.show(remote, (48, 64), True, (0, 0, 80, 24))
                peer.show(remote)
                remote.send_datagram(bytes.fromhex("01640100000101") + bytes(9))
                remote.send_datagram(bytes.fromhex("016500fc") + b"later")
                peer.send_data(remote, b"still here", reliable=False)
                program.events.wait("data", reliable=False)

    def test_resources_with_a_dto_as_name(self):
        name = '{"id":"7-aaaaaaaaaaaac","type":"drawing","isDeleted":false,"note":"\u00e9"}'
        for what, program, peer, remote in self.both_ways():
            for size in (0, 1, 5_000_000):
                with self.subTest(what, size=size):
                    path = self.file(size)
                    program.do("resource", file=str(path), name=name, timeout=60)
                    event = peer.events.wait("resource")
                    self.assertEqual(event["name"], name)
                    self.assertEqual(event["path"].read_bytes(), path.read_bytes())
                    peer_path = self.file(size)
                    remote.send_resource(name, peer_path).wait()
                    event = program.events.wait(
                        "resource-finished", direction="incoming", outcome="delivered"
                    )
                    self.assertEqual((event["name"], event["size"]), (name, size))
                    data = peer_path.read_bytes()
                    self.assertEqual(event["sha256"], hashlib.sha256(data).hexdigest())
                    self.assertEqual(pathlib.Path(event["path"]).read_bytes(), data)

    def test_res_1_a_resource_goes_on_where_its_link_broke(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                path = self.file(30_000_000)
                cuts = []

                def cut(transfer):
                    if transfer.offset > 15_000_000 and not cuts:
                        cuts.append(transfer.offset)
                        for bulk in remote.bulk_links:
                            bulk.link.abort()

                transfer = remote.send_resource("big", path, progress=cut)
                transfer.wait()
                self.assertGreater(transfer.started_at, 0)
                event = program.events.wait("resource-finished", name="big", outcome="delivered")
                received = pathlib.Path(event["path"]).read_bytes()
                self.assertEqual(received, path.read_bytes())

    def ignoring_one_link(self):
        """Returns (program, guest, remote, an event that is set when the guest ignored a BULK-REQUEST)."""
        program, guest, remote = self.joined_pair()
        guest.wait_synced(remote)
        # The links that were opened for catching up could be reused.
        with guest.condition:
            remote.end_bulk()
        dial, ignored = remote.dial_bulk_for_other, threading.Event()

        def ignore():
            remote.dial_bulk_for_other = dial
            ignored.set()

        remote.dial_bulk_for_other = ignore
        return program, guest, remote, ignored

    def test_blk_5_a_link_is_asked_for_again_where_the_request_was_lost_with_its_link(self):
        program, guest, remote, ignored = self.ignoring_one_link()
        mark = program.begin("stream", name="sketch", file=str(self.file(1_000)))
        self.assertTrue(ignored.wait(10))
        remote.cut()
        stream = guest.events.wait("stream", 8, name="sketch")["stream"]
        stream.read_all()
        stream.finish()
        program.finish(mark)

    def test_blk_5_a_link_that_comes_goes_to_who_still_waits(self):
        """The first request is ignored, and its requester has given up when a link arrives."""
        program, guest, remote, ignored = self.ignoring_one_link()
        path = self.file(1_000)
        mark = program.begin("resource", file=str(path), name="x")
        self.assertTrue(ignored.wait(10))
        self.assertEqual(guest.events.wait("resource", 20, name="x")["path"].read_bytes(), path.read_bytes())
        program.finish(mark, 20)

    def test_a_resource_that_is_refused(self):
        program, guest, _ = self.joined_pair()
        guest.accept_resource = lambda *_: False
        mark = program.begin("resource", file=str(self.file(1_000)), name="x")
        ended = program.events.wait("resource-finished", direction="outgoing")
        self.assertNotEqual(ended["outcome"], "delivered")
        program.events.wait_any(("done", "error"), request=mark)

    def test_streams(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                path = self.file(3_000_000)
                mark = program.begin("stream", name="sketch", file=str(path))
                stream = peer.events.wait("stream", name="sketch")["stream"]
                self.assertEqual(stream.read_all(), path.read_bytes())
                stream.finish()
                program.finish(mark)
                ours = remote.open_stream("ours")
                program.events.wait("stream-opened", direction="incoming", name="ours")
                data = os.urandom(1_000_000)
                ours.write(data)
                ours.finish()
                program.events.wait("stream-closed", name="ours", direction="incoming")
                parts = [e for e in program.events.all("stream-data")]
                self.assertEqual(b"".join(map(data_of, parts)), data)
                self.assertLessEqual(max(len(data_of(e)) for e in parts), 48 * 1024)

    def test_a_stream_that_is_reset(self):
        program, guest, remote = self.joined_pair()
        ours = remote.open_stream("reset")
        program.events.wait("stream-opened", name="reset")
        ours.reset(9, "why")
        program.events.wait("stream-closed", name="reset")
        mark = program.begin("stream", name="theirs", file=str(self.file(50_000_000)))
        theirs = guest.events.wait("stream", name="theirs")["stream"]
        theirs.reset(9, "why")
        self.assertEqual(
            program.events.wait_any(("done", "error"), request=mark)["event"], "error"
        )

    def test_chat(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                program.do("say", text="hello \u00e9")
                peer.wait_until(lambda: views.chat_lines(peer.state, peer.records), 10)
                line = views.chat_lines(peer.state, peer.records)[-1]
                self.assertEqual(line, (remote.peer_id, "hello \u00e9"))
                # BRD-21: a line in another member's name is not shown.
                peer.say("not mine", author=remote.peer_id)
                peer.say("hi")
                event = program.events.wait("chat", where=lambda e: e["text"] != "hello \u00e9")
                self.assertEqual(event["text"], "hi")
                self.assertEqual(event["peer"], peer.identity.text)


class Board(SwiftCase):
    def assert_same_board(self, program, peer, remote):
        """Waits until both have the same digest; recent changes may still be on their way."""
        peer.wait_synced(remote, 30)
        ends = time.monotonic() + 15
        while program.digest() != peer.digest():
            self.assertLess(time.monotonic(), ends, "the digests differ")
            with peer.condition:
                peer.condition.wait(0.1)
        theirs = {o["id"]: o for o in program.objects()}
        ours = {o["id"]: o for o in peer.objects()}
        self.assertEqual(sorted(theirs), sorted(ours))
        for identifier, mine in ours.items():
            their = theirs[identifier]
            self.assertEqual(their["type"], mine["type"])
            for key in ("centerPosition", "size"):
                for a, b in zip(their[key], mine[key]):
                    self.assertAlmostEqual(a, b, places=2, msg=f"{key} of {their}")
            for key in ("scale", "angle"):
                self.assertAlmostEqual(their[key], mine[key], places=3, msg=key)
            self.assertEqual(their.get("selectedBy"), mine["selectedBy"])
            self.assertEqual(their["updatedAt"], mine["updatedAt"])
            # The program lists the empty label of a form, and not yet the points of a line.
            is_form = "form" in mine
            for key in ("text", "lineWidth", "zIndex"):
                if mine.get(key) or their.get(key) or (not is_form and (key in their or key in mine)):
                    self.assertEqual(their[key], mine[key])
            if "points" in mine and ("points" in their or not is_form):
                self.assertEqual(len(their["points"]), len(mine["points"]))

    def test_what_the_program_makes(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                text = program.do("text", at=[10, 20], text="hello")["id"]
                stroke = program.do("stroke", points=[[0, 0], [10, 5], [30, 40]])["id"]
                photo_file = self.directory() / "picture.png"
                photo_file.write_bytes(png(64, 48))
                photo = program.do("photo", at=[100, 100], file=str(photo_file))["id"]
                sha256 = hashlib.sha256(photo_file.read_bytes()).digest()
                self.assertEqual(peer.wait_asset(sha256).read_bytes(), photo_file.read_bytes())
                program.do("move", id=text, to=[-5.5, 7.25])
                program.do("scale", id=photo, factor=2.5)
                program.do("rotate", id=photo, degrees=90)
                program.do("edit", id=text, text="hello, world")
                self.assert_same_board(program, peer, remote)
                drawn = {o["id"]: o for o in peer.objects()}
                self.assertEqual(drawn[text]["text"], "hello, world")
                self.assertEqual(drawn[text]["centerPosition"], [-5.5, 7.25])
                self.assertAlmostEqual(drawn[photo]["angle"], math.pi / 2)
                self.assertEqual(len(drawn[stroke]["points"]), 3)
                program.do("select", id=photo)
                program.do("delete", id=stroke)
                self.assert_same_board(program, peer, remote)
                self.assertNotIn(stroke, {o["id"] for o in peer.objects()})

    def test_what_python_makes(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                text = peer.add_text(10, 20, "hello")
                stroke = peer.add_stroke([(x, x * x / 10) for x in range(300)])
                path = self.directory() / "picture.png"
                path.write_bytes(png(64, 48))
                photo = peer.add_photo(50, 50, path)
                program.events.wait("object-added", id=views.object_text(text))
                program.events.wait("object-added", id=views.object_text(photo))
                peer.insert_text(text, 5, " w\u00f6rld")
                peer.delete_text(text, 0, 1)
                peer.write(text, cells.ANGLE, cells.UNSIGNED, 2_048)
                peer.write(photo, cells.SCALE, cells.UNSIGNED, 3 * 65_536)
                peer.write(photo, cells.Z_INDEX, cells.BYTES, b"\x80")
                peer.write(photo, 300, cells.SIGNED, -7)
                self.assert_same_board(program, peer, remote)
                self.assertEqual(views.text_of(peer.state, text), "ello w\u00f6rld")
                self.wait_for_asset(program, photo, path)
                peer.write(stroke, cells.DELETED, cells.UNSIGNED, 1)
                self.assert_same_board(program, peer, remote)

    def test_brd_48_forms_of_python(self):
        """A rectangle and an arrow that the Python peer made, and the program moves and restyles."""
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                box = peer.add_form(outlines.ROUNDED, 100, 50, (240, 90.5), label="Login")
                arrow = peer.add_form(outlines.ARROW, 0, 0, points=[(0, 0), (60, 80), (200, 80)])
                names = [views.object_text(one) for one in (box, arrow)]
                for name in names:
                    program.events.wait("object-added", id=name)
                program.do("move", id=names[0], to=[-10.5, 20])
                program.do("move", id=names[1], to=[300, 200])
                program.do("rotate", id=names[1], degrees=90)
                program.do("scale", id=names[0], factor=2)
                program.do("color", ids=names, color="#aa3300")
                program.do("width", ids=names, width=3.5)
                peer.insert_text(box, 5, " server")
                peer.restyle(box, {cells.FILL: 0xFFEE00FF, cells.LINE_STYLE: 1, cells.EMPHASIS: 1})
                peer.restyle(arrow, {cells.CURVE: 1, cells.LINE_START: 4})
                self.assert_same_board(program, peer, remote)
                # Add a point between two others and move the end, then remove a point.
                peer.set_points(arrow, [(0, 0), (100, 20), (60, 80), (220, 90)])
                peer.set_points(arrow, [(0, 0), (100, 20), (220, 90)])
                self.assert_same_board(program, peer, remote)
                self.assertEqual([o.get("text") for o in peer.objects()], ["Login server", None])
                self.assertEqual(len(peer.objects()[1]["points"]), 3)
                theirs = {o["id"]: o for o in program.objects()}
                for mine in peer.objects():
                    their = theirs[mine["id"]]
                    # Keys that the program does not list yet are not compared.
                    for key in FORM_KEYS & their.keys():
                        self.assertEqual(their[key], mine.get(key), key)
                    for a, b in zip(their.get("points", []), mine.get("points", [])):
                        for one, other in zip(a, b):
                            self.assertAlmostEqual(one, other, places=2)

    def wait_for_asset(self, program, photo, path):
        identifier = views.object_text(photo)
        event = program.events.wait_any(
            ("object-changed", "object-added"),
            30,
            where=lambda e: e["id"] == identifier and e["object"].get("path"),
        )
        stored = pathlib.Path(event["object"]["path"])
        self.assertEqual(stored.read_bytes(), path.read_bytes())

    def test_catch_up_of_a_late_joiner(self):
        program = self.swift_host()
        for number in range(50):
            program.do("text", at=[number, 0], text=f"text {number}")
        program.do("stroke", points=[[x, x % 7] for x in range(400)])
        guest = self.guest_of(program)
        remote = guest.join(program.address, program.id)
        self.assert_same_board(program, guest, remote)
        self.assertEqual(len(guest.objects()), 51)

    def test_catch_up_of_the_program(self):
        host = self.peer("host", kind=BoardPeer)
        for number in range(50):
            host.add_text(number, 0, f"text {number}")
        gone = host.add_text(0, 0, "gone")
        host.write(gone, cells.DELETED, cells.UNSIGNED, 1)
        host.commit([(gone, cells.PURGE, None, cells.NONE, None)])
        program = self.program("join", make_link(host.address, host.session, host.id))
        remote = host.events.wait("connected", 30)["remote"]
        self.assert_same_board(program, host, remote)
        self.assertEqual(len(program.objects()), 50)

    def test_catch_up_by_a_large_resource(self):
        """Transfers an answer of more than 2^20 bytes to the program and from it (SYN-13)."""
        host = self.peer("host", kind=BoardPeer)
        for _ in range(12):
            host.add_stroke([(x % 97 * 31, x % 89 * 17) for x in range(40_000)])
        program = self.program("join", make_link(host.address, host.session, host.id))
        remote = host.events.wait("connected", 30)["remote"]
        host.wait_synced(remote, 60)
        self.assertEqual(program.digest(), host.digest())
        program, first, remote = self.joined_pair()
        for _ in range(12):
            first.add_stroke([(x % 97 * 31, x % 89 * 17) for x in range(40_000)])
        first.wait_synced(remote, 60)
        first.leave()
        second = self.guest_of(program)
        remote = second.join(program.address, program.id)
        answer = second.events.wait("answer", 60, remote=remote)
        self.assertGreater(answer["size"], 1 << 20)
        self.assertEqual(second.digest(), first.digest())

    def test_profiles_and_heads(self):
        program, guest, remote = self.joined_pair()
        profile = guest.events.wait("profile", remote=remote)
        self.assertEqual(profile["name"], remote.name)
        self.assertFalse(profile["shows_previews"], "a program without a screen shows no previews")
        program.do("text", at=[0, 0], text="signed")
        head = guest.events.wait("head", 10, remote=remote)
        self.assertGreater(head["sequence"], 0)

    def test_groups_locks_and_erasures_of_python(self):
        program, guest, remote = self.joined_pair()
        guest.wait_synced(remote)
        group = guest._create(cells.GROUP_KIND, [])
        stroke = guest.add_stroke([(x, 0) for x in range(20)])
        erasure = codec.encode_erasure([(8, 40), (64, 65)])
        guest.commit([(stroke, cells.ERASURE, "own", cells.BYTES, erasure)])
        guest.write(stroke, cells.GROUP, cells.DOT, group)
        guest.write(stroke, cells.LOCK, cells.UNSIGNED, 1)
        self.assert_same_board(program, guest, remote)
        (their,) = [o for o in program.objects() if o["id"] == views.object_text(stroke)]
        (mine,) = guest.objects()
        for key in ("groups", "isLocked", "erased"):
            self.assertEqual(their[key], mine[key], key)

    def test_brd_25_a_new_incarnation_in_the_midst(self):
        program, guest, remote = self.joined_pair()
        guest.wait_synced(remote)
        before = guest.board_incarnation
        guest.add_text(0, 0, "before")
        # Simulate a purge by another peer that claims an unwritten sequence.
        with guest.condition:
            guest.state.context.add(cells.Dot(before, 1_000))
        guest.add_text(1, 0, "behind")
        self.assertNotEqual(guest.board_incarnation, before)
        self.assert_same_board(program, guest, remote)
        self.assertEqual(len(program.objects()), 2)

    def test_both_edit_at_once(self):
        program, guest, remote = self.joined_pair()
        guest.wait_synced(remote)
        shared = guest.add_text(0, 0, "ab")
        identifier = views.object_text(shared)
        program.events.wait("object-added", id=identifier)
        marks = []
        for number in range(40):
            marks.append(program.begin("move", id=identifier, to=[number, number]))
            guest.write(shared, cells.POSITION, cells.PAIR, (-64 * number, 0))
            guest.insert_text(shared, 1, str(number % 10))
            if number % 10 == 0:
                marks.append(program.begin("edit", id=identifier, text=f"a{number}b"))
        for mark in marks:
            program.finish(mark)
        self.assert_same_board(program, guest, remote)

    def test_a_stroke_is_seen_while_it_is_drawn(self):
        program, guest, remote = self.joined_pair()
        guest.wait_until(lambda: remote.udp_works, 10)
        points = [[x, 10 * math.sin(x / 10)] for x in range(200)]
        mark = program.begin("stroke", points=points, over=1.5)
        previews = [guest.events.wait("preview") for _ in range(5)]
        self.assertLessEqual(max(len(p["points"]) for p in previews), 16)
        done = program.finish(mark)
        self.assertEqual(views.object_text(previews[0]["stroke"]), done["id"])
        self.assert_same_board(program, guest, remote)

    def test_syn_49_previews_only_for_members_that_show_them(self):
        program, guest, remote = self.joined_pair()
        other = self.guest_of(program, "other", shows_previews=False)
        silent = other.join(program.address, program.id)
        program.events.wait("joined", peer=other.identity.text)
        guest.wait_until(lambda: remote.udp_works, 10)
        other.wait_until(lambda: silent.udp_works, 10)
        guest.wait_synced(remote)
        other.wait_synced(silent)
        mark = program.begin("stroke", points=[[x, 0] for x in range(200)], over=1.5)
        for _ in range(5):
            guest.events.wait("preview")
        program.finish(mark)
        self.assert_same_board(program, other, silent)
        self.assertEqual(other.events.all("preview"), [])

    def test_syn_37_an_asset_that_nobody_asked_for(self):
        program, guest, remote = self.joined_pair()
        path = self.directory() / "picture.png"
        path.write_bytes(png(8, 8))
        sha256 = hashlib.sha256(path.read_bytes()).digest()
        name = '{"id":"1-aaaaaaaaaaaac","type":"imageData","isDeleted":false,"sha256":"%s"}'
        transfer = remote.send_resource(name % sha256.hex(), path)
        with self.assertRaises(Exception) as raised:
            transfer.wait()
        self.assertEqual(getattr(raised.exception, "code", None), "refused")


class Resumption(SwiftCase):
    def test_messages_survive_cuts_of_the_link(self):
        for what, program, peer, remote in self.both_ways():
            with self.subTest(what):
                count = 200
                for number in range(count):
                    program.begin("send", text=f"p{number}")
                    peer.send_data(remote, b"q%d" % number)
                    if number % 40 == 20:
                        remote.cut()
                        peer.wait_until(lambda: remote.control is not None, 15)
                got = [peer.events.wait("data", 30)["data"].decode() for _ in range(count)]
                self.assertEqual(got, [f"p{n}" for n in range(count)])
                got = [data_of(program.events.wait("data", 30)).decode() for _ in range(count)]
                self.assertEqual(got, [f"q{n}" for n in range(count)])
                self.assertTrue(peer.events.wait("connected", resumed=True))
                self.assertEqual(program.events.all("left"), [])

    def test_rsm_6_a_peer_that_gave_up_first_says_so_as_the_dialler(self):
        # The program cannot dial: two dials at the same time could reset the state twice.
        for why, reported in ("lost", "reset"), ("rerouted", "rerouted"):
            with self.subTest(why):
                self.gives_up_as_the_dialler(why, reported)

    def gives_up_as_the_dialler(self, why, reported):
        program, guest, remote = self.joined_pair(hidden=True)
        program.do("send", text="first")
        remote.give_up(why)
        marks = [program.begin("send", text=f"never {number}") for number in range(3)]
        guest.join(program.address, program.id)
        left = program.events.wait("left")
        self.assertEqual((left["reason"], left["undelivered"]), (reported, 3))
        for mark in marks:
            failure = program.events.wait("error", request=mark)
            self.assertEqual(failure["code"], "undelivered")
            self.assertEqual(failure["delivered"], [])
            named = [(one["peer"], one["reason"]) for one in failure["undelivered"]]
            self.assertEqual(named, [(guest.identity.text, reported)])
        program.do("send", text="again")
        got = [guest.events.wait("data")["data"] for _ in range(2)]
        self.assertEqual(got, [b"first", b"again"])

    def test_rsm_6_a_peer_that_gave_up_first_says_so_as_the_listener(self):
        host, program, remote = self.host_and_program()
        program.do("send", text="first")
        remote.give_up()
        # The program dials again with `resume`, and ACCEPT reports that the peer gave up.
        left = program.events.wait("left", 30)
        self.assertEqual(left["reason"], "reset")
        host.events.wait("connected", 30, resumed=False)
        program.do("send", text="again")
        got = [host.events.wait("data")["data"] for _ in range(2)]
        self.assertEqual(got, [b"first", b"again"])

    def test_rsm_5_a_resumption_of_older_state_is_not_taken_for_the_present_one(self):
        # Only the guest dials, and only by itself: two dials at the same time could reset the state twice.
        program, guest, remote = self.joined_pair(hidden=True)
        program.do("send", text="first")
        # This simulates the loss of the ACCEPT that ended the guest's state.
        with guest.condition:
            remote.delivery.since += 1
            remote.cut()
        left = program.events.wait("left")
        self.assertEqual(left["reason"], "reset")
        guest.events.wait("reset")
        program.do("send", text="again")
        got = [guest.events.wait("data")["data"] for _ in range(2)]
        self.assertEqual(got, [b"first", b"again"])

    def test_the_board_survives_cuts_of_the_link(self):
        program, guest, remote = self.joined_pair()
        for number in range(40):
            program.begin("text", at=[number, 0], text=str(number))
            guest.add_text(number, 100, str(number))
            if number % 10 == 5:
                remote.cut()
                guest.wait_until(lambda: remote.control is not None, 15)
        guest.wait_until(lambda: len(guest.objects()) == 80, 20)
        guest.wait_synced(remote)
        self.assertEqual(program.digest(), guest.digest())

    def test_exactly_once_when_tcp_is_cut_at_any_byte(self):
        program = self.swift_host()
        guest = self.guest_of(program, hidden=True)
        forwarder = self.forwarder(program.address, 40)
        remote = self.join_through(guest, forwarder, program)
        self.exchange_while_cut(program, guest, remote, forwarder)

    def test_exactly_once_when_the_program_dials(self):
        host = self.peer("host", kind=BoardPeer, hidden=True)
        forwarder = self.forwarder(host.address, 0)
        link = make_link(forwarder.address, host.session, host.id)
        program = self.program("join", link)
        remote = host.events.wait("connected", 30)["remote"]
        program.events.wait("joined", 30)
        forwarder.cuts = 40
        remote.cut()
        self.exchange_while_cut(program, host, remote, forwarder)

    def test_messages_right_behind_accept(self):
        """Frames that arrive in the same read as ACCEPT belong to the link that ACCEPT opens."""
        identity, session, count = Identity(), os.urandom(16), 40_000
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        address = listener.getsockname()
        program = self.program("join", make_link(address, session, identity.peer_id))
        hello = {
            "protocol": [1, 1],
            "session": base32(session),
            "name": "host",
            "incarnation": "a" * 12 + "c",
            "port": address[1],
            "addresses": ["127.0.0.1"],
            "role": "member",
            "admission": "none",
        }
        received = 0
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        links = []
        self.addCleanup(lambda: [link.abort() for link in links])
        listener.settimeout(20)
        for turn in itertools.count():
            link = None
            while link is None:
                # On a busy machine, the program can give up an attempt before TLS is ready, and dials again.
                with contextlib.suppress(LinkBroken):
                    link = Link(listener.accept()[0], identity, True)
            links.append(link)
            kind, payload = link.read_frame(10)
            theirs = parse_hello(payload, True)
            accept = {"host": identity.text, "maximum": 16, "members": []}
            start = 0
            if turn:
                start = theirs["resume"]["received"]
                accept["resume"] = {"received": received}
            frames = [encode_frame(wire.HELLO, {**hello, "links": turn})]
            frames.append(encode_frame(wire.ACCEPT, accept))
            for number in range(start + 1, count + 1):
                data = bytes([APPLICATION]) + b"n%d" % number + bytes(200)
                payload = wire.encode_message_parts(data, number)[0]
                frames.append(encode_frame(wire.MESSAGE, payload))
            # Send all frames together; or send HELLO, or HELLO and ACCEPT, first, and the other frames a moment
            # later. The code that hands over the link must lose no frame. The delay is part of the test.
            first = turn % 3
            if first:
                link.send_records(frames[:first])
                time.sleep(generator.uniform(0, 0.005))
            writer = threading.Thread(target=self.send_all, args=(link, frames[first:]))
            writer.start()
            link.decoder.maximum = wire.MAXIMUM_PAYLOAD
            # Cut the link midway, when the peer has not received all messages yet.
            acknowledged, enough = start, min(count, start + generator.randrange(1, 1_000))
            while acknowledged < enough:
                kind, payload = link.read_frame(10)
                if kind == wire.CLOSE:
                    self.fail(f"turn {turn}: closed with {payload}")
                if kind == wire.ACK:
                    acknowledged = wire.decode_ack(payload)
                elif kind == wire.MESSAGE:
                    received = max(received, wire.decode_message_part(payload)[0])
            link.abort()
            writer.join()
            if acknowledged == count:
                break
        got = []
        while len(got) < acknowledged:
            got.append(data_of(program.events.wait("data")))
        print(f"{turn} cuts", flush=True)
        self.assertEqual(got, [b"n%d" % (n + 1) + bytes(200) for n in range(acknowledged)])

    def send_all(self, link, frames):
        try:
            for start in range(0, len(frames), 50):
                link.send_records(frames[start : start + 50])
        except LinkBroken:
            pass

    def forwarder(self, target, cuts):
        self.seed = random.randrange(2**32)
        print(f"seed {self.seed}", flush=True)
        forwarder = CuttingForwarder(target, random.Random(self.seed), cuts)
        self.addCleanup(forwarder.stop)
        return forwarder

    def exchange_while_cut(self, program, peer, remote, forwarder):
        """Sends messages both ways until the link was cut often enough, and checks that each arrives once, in order."""
        filling = "." * 200
        for first in range(0, 40_000, 4_000):
            numbers = range(first, first + 4_000)
            for number in numbers:
                program.begin("send", text=f"p{number}{filling}")
                peer.send_data(remote, f"q{number}{filling}".encode())
                if number % 20 == 0:
                    peer.wait_until(lambda: remote.control is not None, 40)
            try:
                ours = [peer.events.wait("data", 20)["data"].decode() for _ in numbers]
                theirs = [data_of(program.events.wait("data", 20)).decode() for _ in numbers]
            except TimeoutError:
                left = [event.get("message") for event in program.events.all("left")]
                self.fail(f"messages are missing; seed {self.seed}; the program says {left}")
            self.assertEqual(ours, [f"p{n}{filling}" for n in numbers], f"seed {self.seed}")
            self.assertEqual(theirs, [f"q{n}{filling}" for n in numbers], f"seed {self.seed}")
            if forwarder.made > 3:
                break
        self.assertEqual((program.events.all("left"), peer.events.all("gone")), ([], []))
        print(f"{forwarder.made} cuts", flush=True)
        self.assertGreater(forwarder.made, 3)

    def join_through(self, guest, forwarder, program):
        """Joins through the forwarder, which may cut the first attempts."""
        for _ in range(60):
            try:
                return guest.join(forwarder.address, program.id)
            except (LinkBroken, OSError):
                continue
        self.fail("sixty attempts were cut")

    def test_a_message_in_many_parts_survives_cuts(self):
        program, guest, remote = self.joined_pair()
        data = os.urandom(wire.MAXIMUM_MESSAGE - 1)
        guest.send_data(remote, data)
        for _ in range(3):
            already = remote.delivery.acknowledged
            guest.wait_until(
                lambda: remote.delivery.acknowledged > already + 20 or not remote.delivery.size, 20
            )
            remote.cut()
            guest.wait_until(lambda: remote.control is not None, 15)
        self.assertEqual(data_of(program.events.wait("data", 60)), data)
        self.assertEqual(program.events.all("data"), [])

    def test_liv_2_a_silent_peer_is_suspect_then_reconnecting_then_back(self):
        program, guest, remote = self.joined_pair()
        control = remote.control
        control.send = lambda *_: None
        name = guest.identity.text
        program.events.wait("peer-state", 5, peer=name, state="suspect")
        program.events.wait("peer-state", 8, peer=name, state="reconnecting")
        guest.events.wait("connected", 15, remote=remote, resumed=True)
        program.events.wait("peer-state", 5, peer=name, state="connected")
        remote.send(bytes([APPLICATION]) + b"back", wait=True)
        self.assertEqual(data_of(program.events.wait("data")), b"back")

    def test_a_restarted_peer_is_a_new_incarnation(self):
        program, guest, remote = self.joined_pair()
        guest.add_text(0, 0, "before")
        guest.wait_synced(remote)
        for each in guest.remotes.values():
            each.control.link.abort()
        guest._closed = True
        again = self.guest_of(program, identity=guest.identity)
        back = again.join(program.address, program.id)
        again.wait_synced(back)
        self.assertEqual(program.digest(), again.digest())
        self.assertEqual(len(again.objects()), 1)

    def test_a_killed_program_is_noticed_and_comes_back_as_another(self):
        host, program, remote = self.host_and_program()
        program.process.kill()
        host.wait_until(lambda: remote.state == "reconnecting", 10)


class ManInTheMiddle(SwiftCase):
    """Runs the program on both sides with an active proxy between them, in each admission mode."""

    def between(self, host, strategy="relay"):
        middle = Interceptor(host.address, strategy)
        self.addCleanup(middle.stop)
        return middle

    def assert_kept_out(self, host, middle):
        self.assertEqual(host.events.all("joined"), [])
        self.assertEqual(middle.events.all("accepted"), [])
        opening = {wire.HELLO, wire.CLOSE, wire.CODE_PROOF}
        opening |= {wire.SAS_COMMIT, wire.SAS_NONCE, wire.SAS_REVEAL, wire.DECIDING}
        self.assertLessEqual(set(middle.read("dialler") + middle.read("host")), opening)

    def test_with_a_link_nothing_is_said_to_him_in_any_mode(self):
        for mode in ("ask", "code", "known", "anyone"):
            for strategy in ("relay", "pretend"):
                with self.subTest(mode=mode, strategy=strategy):
                    host = self.swift_host(mode)
                    middle = self.between(host, strategy)
                    link = make_link(middle.address, host.session, host.id, host.code)
                    guest = self.program("join", link, name="guest")
                    self.assertNotEqual(guest.ended(60), 0)
                    self.assert_kept_out(host, middle)
                    self.assertEqual(middle.read("dialler"), [])

    def test_lnk_3_nothing_is_said_to_him_at_a_reconnection(self):
        for strategy in ("relay", "pretend"):
            with self.subTest(strategy=strategy):
                host = self.peer("python", kind=BoardPeer)
                real = host.address
                path = Forwarder(real)
                self.addCleanup(path.stop)
                # The host announces the address that the man in the middle will take over.
                host.address = path.address
                link = make_link(path.address, host.session, host.id)
                program = self.program("join", link, name="guest")
                host.events.wait("connected", 15)
                program.events.wait("joined", 15)
                middle = Interceptor(real, strategy)
                self.addCleanup(middle.stop)
                connections = len(host.events.all("connected"))
                path.lead_to(middle.address)
                for _ in range(2):
                    # The key of the man in the middle is refused during the TLS handshake.
                    middle.events.wait("ended", 30)
                self.assertEqual(middle.read("dialler"), [])
                self.assertEqual(middle.events.all("accepted"), [])
                self.assertEqual(len(host.events.all("connected")), connections)
                path.lead_to(real)
                host.events.wait("connected", 30, resumed=True)
                host.add_text(0, 0, "still here")
                program.events.wait("object-added", 15)

    def join_bare(self, middle, host, code=None, by_link=False):
        """Joins at the middle's address without a named key."""
        if by_link:
            target = make_link(middle.address, host.session, None, code)
            return self.program("join", target, name="guest")
        target = f"{middle.address[0]}:{middle.address[1]}"
        return self.program("join", target, name="guest", code=code)

    def test_code_passed_on_is_wrong(self):
        for by_link in (False, True):
            with self.subTest(by_link=by_link):
                host = self.swift_host("code")
                middle = self.between(host)
                guest = self.join_bare(middle, host, host.code, by_link)
                self.assertEqual(guest.ended(60), EXIT_REFUSED)
                self.assert_kept_out(host, middle)

    def test_hel_7_a_pretended_host_gets_nothing_from_who_has_a_code(self):
        for strategy in ("pretend", "pretend-ask"):
            with self.subTest(strategy=strategy):
                host = self.swift_host("code")
                middle = self.between(host, strategy)
                guest = self.join_bare(middle, host, host.code)
                ended = guest.events.wait_any(("invitation", "output-ended"), 60)
                self.assertEqual(ended["event"], "output-ended", "the guest fell back to another proof")
                self.assertEqual(guest.ended(30), EXIT_REFUSED)
                self.assert_kept_out(host, middle)
                self.assertLessEqual(set(middle.read("dialler")), {wire.HELLO, wire.CLOSE})

    def test_known_does_not_know_him(self):
        host = self.swift_host("known")
        middle = self.between(host)
        guest = self.join_bare(middle, host)
        self.assertNotEqual(guest.ended(60), 0)
        self.assert_kept_out(host, middle)

    def test_ask_passed_on_breaks_the_commitment(self):
        host = self.swift_host("ask")
        middle = self.between(host)
        guest = self.join_bare(middle, host)
        self.assertNotEqual(guest.ended(60), 0)
        self.assertEqual(host.events.all("invitation"), [])
        self.assert_kept_out(host, middle)

    def test_ask_played_on_both_sides_shows_different_words(self):
        host = self.swift_host("ask")
        middle = self.between(host, "words")
        guest = self.join_bare(middle, host)
        at_guest = guest.events.wait("invitation", 30)
        at_host = host.events.wait("invitation", 30)
        self.assertNotEqual(at_guest["words"], at_host["words"])
        guest.do("decline", target=at_guest["id"])
        self.assertNotEqual(guest.ended(60), 0)
        self.assert_kept_out(host, middle)

    def test_hel_4_anyone_is_not_joined_where_no_key_is_named(self):
        """The host admits the man in the middle, as it admits anyone, but the program does not join through him."""
        for by_link in (False, True):
            with self.subTest(by_link=by_link):
                host = self.swift_host("anyone")
                middle = self.between(host)
                guest = self.join_bare(middle, host, by_link=by_link)
                self.assertEqual(guest.ended(60), EXIT_REFUSED)
                self.assertEqual(guest.events.all("joined"), [])
                self.assertLessEqual(set(middle.read("dialler")), {wire.HELLO, wire.CLOSE})
                for event in host.events.all("joined"):
                    self.assertEqual(event["peer"], middle.identity.text)


if __name__ == "__main__":
    unittest.main()
