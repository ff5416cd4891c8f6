"""The real `whiteboard-peer` with the peer of this folder, over loopback and without discovery."""

import base64
import os
import pathlib
import socket
import unittest

from links import make_link, parse_link
from mitm import Interceptor
from program import BINARY, Failed, Program, data_of
from support import InteropCase
from whiteboard_peer import wire
from whiteboard_peer.session import NotVerified, Refused, WrongPeer
from whiteboard_peer.wire import base32, parse_base32

CODE = "zebra-acid-acid-zebra"
EXIT_REFUSED = 77


@unittest.skipUnless(BINARY.exists(), f"{BINARY.name} is not built")
class SwiftCase(InteropCase):
    def program(self, *arguments, admit=None, code=None, name="swift", **options):
        """Starts the program with directories of its own; ends it with the test."""
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
        return self.peer(name, program.session, **options)

    def joined_pair(self):
        """(program, its guest, the guest's view of the program)."""
        program = self.swift_host()
        guest = self.guest_of(program)
        remote = guest.join(program.address, program.id)
        program.events.wait("joined", peer=guest.identity.text)
        return program, guest, remote


class Joining(SwiftCase):
    def test_python_joins_by_the_link_with_a_code(self):
        program = self.swift_host("code")
        address, session, peer, code = parse_link(program.link)
        self.assertEqual((session, peer), (program.session, program.id))
        self.assertEqual(code, program.code)
        self.assertEqual(len(code.split("-")), 4)
        guest = self.guest_of(program)
        guest.join(address, peer, code=code)
        event = program.events.wait("joined", peer=guest.identity.text)
        self.assertEqual(event["name"], "python")
        guest.leave()
        event = program.events.wait("left", peer=guest.identity.text)
        self.assertEqual(event["reason"], "left")

    def test_a_code_as_people_type_it(self):
        program = self.swift_host("code", code=CODE)
        guest = self.guest_of(program)
        guest.join(program.address, program.id, code="  Zebra ACID-acid - zebra ")

    def test_a_wrong_code_is_refused_and_then_locked_out(self):
        program = self.swift_host("code")
        for expected in ["wrong-code"] * 3 + ["locked-out"]:
            with self.assertRaises(Refused) as raised:
                self.guest_of(program).join(program.address, program.id, code=CODE)
            self.assertEqual(raised.exception.code, expected)
        # The right one does not help now either (ADM-3).
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
        self.assertEqual(program.process.wait(30), EXIT_REFUSED)
        self.assertEqual(host.events.all("connected"), [])

    def test_swift_does_not_join_another_key_than_its_link_names(self):
        host = self.peer("host")
        link = make_link(host.address, host.session, os.urandom(32))
        program = self.program("join", link)
        self.assertNotEqual(program.process.wait(60), 0)
        self.assertEqual(host.events.all("connected"), [])

    def test_a_host_that_does_not_know_the_code_is_not_joined(self):
        """HEL-4: the link has a code, the host at that very key asks for none."""
        host = self.peer("host", admission_mode="anyone")
        link = make_link(host.address, host.session, host.id, CODE)
        program = self.program("join", link)
        self.assertNotEqual(program.process.wait(30), 0)

    def test_python_asks_and_the_program_says_yes_or_no(self):
        import threading

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

    def test_known(self):
        program = self.swift_host("known")
        with self.assertRaises(Refused) as raised:
            self.guest_of(program).join(program.address, program.id)
        self.assertEqual(raised.exception.code, "not-known")

    def test_three_in_a_mesh(self):
        """A second Python peer is admitted by the program and meets the first, and the reverse."""
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

    def test_kicked(self):
        program, guest, _ = self.joined_pair()
        program.do("kick", target=guest.identity.text, reason="enough")
        self.assertEqual(guest.events.wait("closed")["code"], "kicked")
        with self.assertRaises(Refused) as raised:
            guest.join(program.address, program.id)
        self.assertEqual(raised.exception.code, "kicked")

    def test_a_full_session(self):
        host = self.peer("host", maximum=1)
        program = self.program("join", make_link(host.address, host.session, host.id))
        self.assertEqual(program.process.wait(30), EXIT_REFUSED)


@unittest.skipUnless(BINARY.exists(), f"{BINARY.name} is not built")
class ManInTheMiddle(SwiftCase):
    """The program on both sides and an active proxy between them, in each admission mode."""

    def between(self, host, strategy="relay"):
        middle = Interceptor(host.address, strategy)
        self.addCleanup(middle.stop)
        return middle

    def assert_kept_out(self, host, middle):
        self.assertEqual(host.events.all("joined"), [])
        self.assertEqual(middle.events.all("accepted"), [])
        opening = {wire.HELLO, wire.CLOSE, wire.CODE_PROOF}
        opening |= {wire.SAS_COMMIT, wire.SAS_NONCE, wire.SAS_REVEAL}
        self.assertLessEqual(set(middle.read("dialler") + middle.read("host")), opening)

    def test_with_a_link_nothing_is_said_to_him_in_any_mode(self):
        for mode in ("ask", "code", "known", "anyone"):
            for strategy in ("relay", "pretend"):
                with self.subTest(mode=mode, strategy=strategy):
                    host = self.swift_host(mode)
                    middle = self.between(host, strategy)
                    link = make_link(middle.address, host.session, host.id, host.code)
                    guest = self.program("join", link, name="guest")
                    self.assertNotEqual(guest.process.wait(60), 0)
                    self.assert_kept_out(host, middle)
                    self.assertEqual(middle.read("dialler"), [])

    def join_bare(self, middle, host, code=None, by_link=False):
        """Joins at the middle's address with no key named."""
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
                self.assertEqual(guest.process.wait(60), EXIT_REFUSED)
                self.assert_kept_out(host, middle)

    def test_a_pretended_host_gets_nothing_from_who_has_a_code(self):
        for strategy in ("pretend", "pretend-ask"):
            with self.subTest(strategy=strategy):
                host = self.swift_host("code")
                middle = self.between(host, strategy)
                guest = self.join_bare(middle, host, host.code)
                self.assertNotEqual(guest.process.wait(60), 0)
                self.assert_kept_out(host, middle)
                self.assertNotIn(wire.CODE_PROOF, middle.read("dialler"))
                self.assertEqual(guest.events.all("joined"), [])

    def test_known_does_not_know_him(self):
        host = self.swift_host("known")
        middle = self.between(host)
        guest = self.join_bare(middle, host)
        self.assertNotEqual(guest.process.wait(60), 0)
        self.assert_kept_out(host, middle)

    def test_ask_passed_on_breaks_the_commitment(self):
        host = self.swift_host("ask")
        middle = self.between(host)
        guest = self.join_bare(middle, host)
        self.assertNotEqual(guest.process.wait(60), 0)
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
        self.assertNotEqual(guest.process.wait(60), 0)
        self.assert_kept_out(host, middle)

    def test_anyone_by_a_bare_address(self):
        """Nobody named a key, nobody proves anything: it is refused rather than let him read."""
        host = self.swift_host("anyone")
        middle = self.between(host)
        guest = self.join_bare(middle, host)
        self.assertNotEqual(guest.process.wait(60), 0)
        self.assert_kept_out(host, middle)


if __name__ == "__main__":
    unittest.main()
