"""Tests two Python peers of this folder with each other, over loopback."""

import os
import threading
import unittest

from support import InteropCase
from test_first_join import SILENT, SlowHost
from whiteboard_peer import admission, datagram, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import StreamReset, TransferEnded
from whiteboard_peer.link_base import LinkBroken
from whiteboard_peer.session import ANY_SESSION, NotVerified, Refused, WrongPeer
from whiteboard_peer.tls import Identity, Link
from whiteboard_peer.wire import Violation


class Links(InteropCase):
    def refused(self, **options):
        """Expects that a connection with these TLS options fails."""
        host = self.peer("host")
        with self.assertRaises((LinkBroken, Violation)):
            link = Link.connect(host.address, options.pop("identity", Identity()), **options)
            link.read_frame(5)

    def test_another_alpn(self):
        self.refused(alpn=(b"http/1.1",))

    def test_no_alpn(self):
        self.refused(alpn=())

    def test_no_certificate(self):
        self.refused(present=False)

    def test_tls_1_2(self):
        self.refused(version=0x0303)

    def test_another_curve(self):
        from cryptography.hazmat.primitives.asymmetric import ec

        self.refused(identity=Identity(ec.SECP384R1()))

    def test_a_chain(self):
        self.refused(identity=Identity(extra_certificates=[Identity().certificate]))

    def test_both_exporters_agree(self):
        host, guest = self.peer("host"), self.peer("guest", ANY_SESSION)
        remote = guest.join(host.address)
        self.assertEqual(guest.session, host.session)
        other = host.events.wait("connected")["remote"]
        label = b"EXPORTER-whiteboard-p2p binding"
        self.assertEqual(
            remote.control.link.exporter(label), other.control.link.exporter(label)
        )


class Admission(InteropCase):
    def test_code(self):
        host = self.peer("host", admission_mode="code", code="ab-cd-ef-gh")
        guest = self.peer("guest", host.session)
        guest.join(host.address, host.id, code=" AB cd--ef GH ")
        with self.assertRaises(Refused) as raised:
            self.peer("thief", host.session).join(host.address, host.id, code="ab-cd-ef-gi")
        self.assertEqual(raised.exception.code, "wrong-code")

    def test_three_wrong_codes_lock_out(self):
        host = self.peer("host", admission_mode="code", code="ab-cd-ef-gh")
        for expected in ["wrong-code"] * 3 + ["locked-out"]:
            with self.assertRaises(Refused) as raised:
                self.peer("thief", host.session).join(host.address, code="a-b-c-d")
            self.assertEqual(raised.exception.code, expected)
        with self.assertRaises(Refused) as raised:
            self.peer("guest", host.session).join(host.address, code="ab-cd-ef-gh")
        self.assertEqual(raised.exception.code, "locked-out")

    def test_cls_4_a_busy_or_broken_listener_is_dialed_again(self):
        host = self.peer("host", kind=SlowHost, answers=["busy", "no-such-code", "locked-out", SILENT])
        self.peer("guest", host.session, kind=BoardPeer).join_patiently(host.address, host.id)
        self.assertEqual(len(host.hellos), 5)
        for code in ("full", "not-known", "declined", "no-such-session"):
            with self.subTest(code):
                host = self.peer("host", kind=SlowHost, answers=[code] * 9)
                with self.assertRaises(Refused) as raised:
                    self.peer("guest", host.session, kind=BoardPeer).join_patiently(host.address, host.id)
                self.assertEqual((raised.exception.code, len(host.hellos)), (code, 1))

    def test_a_host_that_asks_for_nothing_is_not_verified(self):
        host = self.peer("host", admission_mode="anyone")
        with self.assertRaises(NotVerified):
            self.peer("guest", host.session).join(host.address, code="ab-cd-ef-gh")
        # HEL-7: if a link names the key, the key is a sufficient proof.
        self.peer("guest", host.session).join(host.address, host.id, code="ab-cd-ef-gh")

    def test_known(self):
        identity = Identity()
        host = self.peer("host", admission_mode="known", known=[identity.peer_id])
        self.peer("friend", host.session, identity=identity).join(host.address)
        with self.assertRaises(Refused) as raised:
            self.peer("stranger", host.session).join(host.address)
        self.assertEqual(raised.exception.code, "not-known")

    def test_somebody_else_at_the_address(self):
        host = self.peer("host")
        with self.assertRaises(WrongPeer):
            self.peer("guest", host.session).join(host.address, Identity().peer_id)

    def test_another_session_self_and_full(self):
        host = self.peer("host", maximum=2)
        for guest, code in [
            (self.peer("lost", os.urandom(16)), "no-such-session"),
            (self.peer("self", host.session, identity=host.identity), "self"),
        ]:
            with self.assertRaises(Refused) as raised:
                guest.join(host.address)
            self.assertEqual(raised.exception.code, code)
        self.peer("one", host.session).join(host.address)
        with self.assertRaises(Refused) as raised:
            self.peer("two", host.session).join(host.address)
        self.assertEqual(raised.exception.code, "full")

    @unittest.skipUnless((admission.PROTOCOL / "Words.txt").exists(), "no word list yet")
    def test_ask_shows_the_same_words_on_both_sides(self):
        host = self.peer("host", admission_mode="ask")
        guest = self.peer("guest", host.session)
        guest.join(host.address)
        theirs = guest.events.wait("words")["words"]
        self.assertEqual(host.events.wait("invitation")["words"], theirs)
        self.assertEqual(len(theirs), 3)

    def test_adm_16_nobody_is_admitted_before_both_users_have_decided(self):
        for reports in (True, False):
            host = self.peer("host", admission_mode="ask")
            guest = self.peer("guest", host.session)
            guest.reports_decision = reports
            accepted, confirmed = threading.Event(), threading.Event()
            host.answer_invitation = lambda *_, accepted=accepted: accepted.set() or True
            # Without reports, ACCEPT arrives before the guest's own user has decided.
            guest.confirm_host = lambda *_, confirmed=confirmed: confirmed.wait(30)
            thread = threading.Thread(target=guest.join, args=(host.address,))
            thread.start()
            self.assertTrue(accepted.wait(10))
            if reports:
                self.assertEqual(host.events.all("connected"), [])
            else:
                host.events.wait("connected")
            self.assertEqual(guest.events.all("connected"), [])
            confirmed.set()
            thread.join(20)
            guest.events.wait("connected")
            if reports:
                host.events.wait("connected")

    @unittest.skipUnless((admission.PROTOCOL / "Words.txt").exists(), "no word list yet")
    def test_ask_declined(self):
        host = self.peer("host", admission_mode="ask")
        host.answer_invitation = lambda *_: False
        with self.assertRaises(Refused) as raised:
            self.peer("guest", host.session).join(host.address, host.id)
        self.assertEqual(raised.exception.code, "declined")

    def test_tickets(self):
        session, host, member = os.urandom(16), Identity(), Identity()
        ticket = admission.make_ticket(host, session, member.peer_id)
        self.assertEqual(admission.verify_ticket(ticket, session, member.peer_id), host.peer_id)
        for wrong in [(os.urandom(16), member.peer_id), (session, host.peer_id)]:
            with self.assertRaises(Violation):
                admission.verify_ticket(ticket, *wrong)


class Payloads(InteropCase):
    def setUp(self):
        self.host = self.peer("host")
        self.guest = self.peer("guest", self.host.session)
        self.to_host = self.guest.join(self.host.address, self.host.id)
        self.to_guest = self.host.events.wait("connected")["remote"]
        self.both = [(self.to_host, self.host), (self.to_guest, self.guest)]

    def test_messages_of_every_size(self):
        for remote, receiver in self.both:
            for size in (0, 1, 65_000, 65_001, 200_000, wire.MAXIMUM_MESSAGE):
                message = os.urandom(size)
                remote.send(message, wait=True)
                self.assertEqual(receiver.events.wait("message")["message"], message)

    def test_datagrams(self):
        for remote, receiver in self.both:
            remote.peer.wait_until(lambda: remote.udp_works, 5)
            for size in (0, 1_165, 1_166, 65_536):
                message = os.urandom(size)
                self.assertEqual(remote.send_datagram(message), "udp")
                self.assertEqual(receiver.events.wait("datagram", path="udp")["message"], message)
            with remote.peer.condition:
                remote.sealer.next_epoch()
            remote.send_datagram(b"next")
            self.assertEqual(receiver.events.wait("datagram")["message"], b"next")

    def test_dgm_10_only_answers_to_own_probes_count(self):
        remote, _ = self.both[0]
        remote.peer.wait_until(lambda: remote.udp_works, 5)
        with remote.peer.condition:
            remote.udp_works = False
            remote.peer._take_packet(remote, remote.udp_address, datagram.ANSWER, os.urandom(8), False)
            self.assertFalse(remote.udp_works)

    def test_resources(self):
        for remote, receiver in self.both:
            for size in (0, 1, 1_000_000):
                path = self.file(size)
                remote.send_resource('{"type":"photo"}', path).wait()
                event = receiver.events.wait("resource")
                self.assertEqual(event["name"], '{"type":"photo"}')
                self.assertEqual(event["path"].read_bytes(), path.read_bytes())

    def test_a_refused_resource(self):
        for remote, receiver in self.both:
            receiver.accept_resource = lambda *_: False
            with self.assertRaises(TransferEnded) as raised:
                remote.send_resource("x", self.file(10)).wait()
            self.assertEqual(raised.exception.code, "refused")
            receiver.accept_resource = lambda *_: True
            remote.send_resource("y", self.file(10)).wait()
            self.assertEqual(len(remote.bulk_links), 1 if remote is self.to_host else 2)

    def test_a_resource_that_the_sender_cancels(self):
        for remote, receiver in self.both:
            path = self.file(30_000_000)
            cancel = lambda transfer: transfer.offset > 1_000_000 and transfer.cancel()
            with self.assertRaises(TransferEnded) as raised:
                remote.send_resource("x", path, progress=cancel).wait()
            self.assertEqual(raised.exception.code, "cancelled")
            self.assertEqual(receiver.events.wait("resource-ended")["code"], "cancelled")
            remote.send_resource("y", self.file(10)).wait()

    def test_a_resource_goes_on_after_its_link_broke(self):
        path = self.file(40_000_000)
        cuts = []

        def cut(transfer):
            if transfer.offset > 20_000_000 and not cuts:
                cuts.append(transfer.offset)
                self.to_host.bulk_links[0].link.abort()

        transfer = self.to_host.send_resource("big", path, progress=cut)
        transfer.wait()
        self.assertGreater(transfer.started_at, 0)
        received = self.host.events.wait("resource")["path"]
        self.assertEqual(received.read_bytes(), path.read_bytes())

    def test_streams_in_both_directions(self):
        for remote, receiver in self.both:
            before = len(remote.bulk_links)
            stream = remote.open_stream("sketch")
            other = receiver.events.wait("stream", name="sketch")["stream"]
            data = os.urandom(5_000_000)
            writer = threading.Thread(target=lambda: (stream.write(data), stream.finish()))
            writer.start()
            self.assertEqual(other.read_all(), data)
            writer.join()
            other.write(b"thanks")
            other.finish()
            self.assertEqual(stream.read_all(), b"thanks")
            again = remote.open_stream("again")
            again.finish()
            receiver.events.wait("stream", name="again")["stream"].finish()
            self.assertEqual(again.read_all(), b"")
            self.assertEqual(len(remote.bulk_links), before + 1)

    def test_a_reset_stream(self):
        stream = self.to_host.open_stream("x")
        other = self.host.events.wait("stream")["stream"]
        stream.reset(7, "why")
        with self.assertRaises(StreamReset) as raised:
            other.read()
        self.assertEqual(raised.exception.code, 7)

    def test_nothing_is_lost_or_doubled_when_links_are_cut(self):
        count = 300
        for number in range(count):
            self.to_host.send(b"h%d" % number)
            self.to_guest.send(b"g%d" % number)
            if number % 60 == 30:
                self.to_host.cut()
        for receiver, prefix in ((self.host, "h"), (self.guest, "g")):
            for number in range(count):
                event = receiver.events.wait("message", timeout=30)
                self.assertEqual(event["message"].decode(), f"{prefix}{number}")
        self.assertTrue(self.guest.events.wait("connected", resumed=True))

    def test_leaving_is_told(self):
        self.guest.leave()
        self.assertEqual(self.host.events.wait("closed")["code"], "left")

    def test_kicked(self):
        self.host.kick(self.to_guest, "enough")
        self.assertEqual(self.guest.events.wait("closed")["code"], "kicked")
        with self.assertRaises(Refused) as raised:
            self.guest.join(self.host.address)
        self.assertEqual(raised.exception.code, "kicked")


class Mesh(InteropCase):
    def test_a_newcomer_meets_every_member(self):
        host = self.peer("host", admission_mode="code", code="a-b-c-d")
        first = self.peer("first", host.session, admission_mode="code", code="e-f-g-h")
        second = self.peer("second", host.session)
        first.join(host.address, host.id, code="a-b-c-d")
        second.join(host.address, host.id, code="a-b-c-d")
        for peer in (host, first, second):
            peer.wait_until(
                lambda: len([r for r in peer.remotes.values() if r.control]) == 2, 15
            )
        second.remotes[first.id].send(b"hello")
        self.assertEqual(first.events.wait("message")["message"], b"hello")
        second.leave()
        for peer in (host, first):
            self.assertEqual(peer.events.wait("closed")["code"], "left")

    def test_two_that_dial_each_other_keep_one_link(self):
        for _ in range(10):
            one = self.peer("one")
            two = self.peer("two", one.session)
            dials = [
                threading.Thread(target=self.dial, args=pair) for pair in ((one, two), (two, one))
            ]
            for dial in dials:
                dial.start()
            for dial in dials:
                dial.join()
            remotes = one.remotes[two.id], two.remotes[one.id]
            for remote, other in ((remotes[0], two), (remotes[1], one)):
                for number in range(3):
                    remote.send(b"%d" % number, wait=True)
                    event = other.events.wait("message")
                    self.assertEqual(event["message"], b"%d" % number)

    def test_dup_2_a_dial_does_not_replace_a_link_that_opened_meanwhile(self):
        one = self.peer("one")
        two = self.peer("two", one.session)
        remote = two.join(one.address, one.id)
        control = remote.control
        self.assertIs(two.join(one.address, one.id, returning=True), remote)
        remote.send(b"hello", wait=True)
        self.assertIs(remote.control, control)

    def dial(self, one, two):
        try:
            one.join(two.address, two.id)
        except (Refused, LinkBroken):
            pass


if __name__ == "__main__":
    unittest.main()
