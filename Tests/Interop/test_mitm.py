"""Tests a man in the middle between two Python peers, in each admission mode.

This shows the properties of the specification itself; `test_against_swift.py` does the same with the real
program on both sides.
"""

import threading
import unittest

from mitm import Interceptor
from support import InteropCase
from whiteboard_peer import wire
from whiteboard_peer.session import NotVerified, Refused, WrongPeer

MODES = ("ask", "code", "known", "anyone")
CODE = "ab-cd-ef-gh"


class ManInTheMiddle(InteropCase):
    def setUp(self):
        self.mode = None

    def host_in(self, mode):
        return self.peer("host", admission_mode=mode, code=CODE)

    def between(self, host, strategy="relay"):
        middle = Interceptor(host.address, strategy)
        self.addCleanup(middle.stop)
        return middle

    def assert_kept_out(self, host, guest, middle):
        """Expects that no peer was admitted, and that the middle read only frames of the handshake."""
        self.assertEqual(host.events.all("connected"), [])
        self.assertEqual(guest.events.all("connected"), [])
        self.assertEqual(middle.events.all("accepted"), [])
        opening = {wire.HELLO, wire.CLOSE, wire.CODE_PROOF}
        opening |= {wire.SAS_COMMIT, wire.SAS_NONCE, wire.SAS_REVEAL, wire.DECIDING}
        self.assertLessEqual(set(middle.read("dialler") + middle.read("host")), opening)

    def test_adm_4_with_a_link_nothing_is_said_to_him_in_any_mode(self):
        for mode in MODES:
            for strategy in ("relay", "words", "pretend"):
                with self.subTest(mode=mode, strategy=strategy):
                    host = self.host_in(mode)
                    guest = self.peer("guest", host.session)
                    middle = self.between(host, strategy)
                    with self.assertRaises(WrongPeer):
                        guest.join(middle.address, host.id, code=CODE if mode == "code" else None)
                    self.assert_kept_out(host, guest, middle)
                    self.assertEqual(middle.read("dialler"), [])

    def test_ask_passed_on_breaks_the_commitment(self):
        host = self.host_in("ask")
        guest = self.peer("guest", host.session)
        middle = self.between(host)
        with self.assertRaises(Refused) as raised:
            guest.join(middle.address)
        self.assertEqual(raised.exception.code, "protocol-error")
        self.assertEqual(host.events.all("invitation"), [])
        self.assert_kept_out(host, guest, middle)

    def test_ask_played_on_both_sides_shows_different_words(self):
        host = self.host_in("ask")
        guest = self.peer("guest", host.session)
        middle = self.between(host, "words")
        shown = {}
        host_has_seen = threading.Event()

        def ask_host(name, words, context):
            shown["host"] = words
            host_has_seen.set()
            return False

        def ask_guest(name, words):
            shown["guest"] = words
            # The host's user has seen the other words before both users answer.
            host_has_seen.wait(30)
            return False

        host.answer_invitation, guest.confirm_host = ask_host, ask_guest
        with self.assertRaises((NotVerified, Refused)):
            guest.join(middle.address)
        self.assertNotEqual(shown["host"], shown["guest"])
        self.assertEqual(shown["host"], middle.words["host"])
        self.assertEqual(shown["guest"], middle.words["dialler"])
        self.assert_kept_out(host, guest, middle)

    def test_code_passed_on_is_wrong(self):
        host = self.host_in("code")
        guest = self.peer("guest", host.session)
        middle = self.between(host)
        with self.assertRaises(Refused) as raised:
            guest.join(middle.address, code=CODE)
        self.assertEqual(raised.exception.code, "wrong-code")
        self.assert_kept_out(host, guest, middle)

    def test_hel_4_a_pretended_host_gets_nothing_from_who_has_a_code(self):
        host = self.host_in("code")
        for strategy in ("pretend", "pretend-ask"):
            with self.subTest(strategy=strategy):
                guest = self.peer("guest", host.session)
                middle = self.between(host, strategy)
                with self.assertRaises(NotVerified):
                    guest.join(middle.address, code=CODE)
                self.assert_kept_out(host, guest, middle)
                self.assertNotIn(wire.CODE_PROOF, middle.read("dialler"))

    def test_known_does_not_know_him(self):
        host = self.host_in("known")
        guest = self.peer("guest", host.session)
        host.known.add(guest.id)
        middle = self.between(host)
        with self.assertRaises(Refused) as raised:
            guest.join(middle.address)
        self.assertEqual(raised.exception.code, "not-known")
        self.assert_kept_out(host, guest, middle)

    def test_anyone_by_a_bare_address_is_not_protected(self):
        """Without a named key and without a proof, the middle can read everything, as the specification says."""
        host = self.host_in("anyone")
        guest = self.peer("guest", host.session)
        middle = self.between(host)
        remote = guest.join(middle.address)
        self.assertEqual(remote.peer_id, middle.identity.peer_id)
        remote.send(b"a secret")
        self.assertEqual(host.events.wait("message")["message"], b"a secret")
        self.assertTrue(middle.saw(b"a secret"))
        careful = self.peer("careful", host.session)
        with self.assertRaises(NotVerified):
            careful.join(middle.address, insist=True)

    def test_resumption_and_tickets_do_not_help_him(self):
        host = self.host_in("code")
        guest = self.peer("guest", host.session)
        guest.join(host.address, host.id, code=CODE)
        middle = self.between(host)
        for link in [r.control.link for r in guest.remotes.values() if r.control]:
            link.abort()
        with self.assertRaises((Refused, WrongPeer)):
            guest.join(middle.address, host.id)
        remote = guest.remotes[host.id]
        guest.wait_until(lambda: remote.control is not None, 10)
        ticket = guest.ticket
        self.assertEqual(middle.read("dialler"), [])
        thief = self.peer("thief", host.session)
        thief.ticket = ticket
        with self.assertRaises(Refused) as raised:
            thief.join(host.address, host.id)
        self.assertEqual(raised.exception.code, "protocol-error")


if __name__ == "__main__":
    unittest.main()
