"""Tests messages of a malicious peer: each ends only its own connection and has no other effect.

The same attacks run against the Python peer of this folder, which shows that the specified answers are possible,
and against the real program.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import tempfile
import threading
import time
import unittest

from attacking import DialCounter, LinkChecks, hello_of, resident
from program import BINARY, Program
from support import InteropCase
from whiteboard_peer import admission, authors, cells, datagram, messages, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.links import parse_link
from whiteboard_peer.messages import AUTHOR, BATCH, HEAD
from whiteboard_peer.session import parse_close, parse_hello
from whiteboard_peer.tls import ATTACH_LABEL, BINDING, DATAGRAM_LABEL, Identity, Link
from whiteboard_peer.wire import base32, encode_frame, encode_vint


class Attacker:
    """Raw links to the target, with valid messages for the tests that need them."""

    def __init__(self, address, session):
        self.address, self.session = address, session
        self.identity = Identity()
        self.incarnation = os.urandom(8)

    def author(self, **options):
        """Returns a new incarnation of the attacker on the board."""
        return authors.Author(self.identity.key, self.session, **options)

    def connect(self, source=None):
        return Link.connect(self.address, self.identity, source=source)

    def hello(self, **changes):
        return hello_of(self.session, self.incarnation, **changes)

    def open(self, **changes):
        """Opens a control link."""
        link = self.connect()
        link.send_frame(wire.HELLO, self.hello(**changes))
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            raise AssertionError(f"refused: {payload}")
        self.theirs = parse_hello(payload, False)
        kind, payload = link.read_frame(5)
        if kind != wire.ACCEPT:
            raise AssertionError(f"not accepted: {kind:#04x} {payload}")
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        return link

    def attach(self, control, **changes):
        link = self.connect()
        proof = attach_proof(control.exporter(ATTACH_LABEL), link.exporter(ATTACH_LABEL))
        attach = {
            "session": base32(self.session),
            "incarnation": base32(self.incarnation),
            "opener": "dialler",
            "proof": wire.base64_text(proof),
            **changes,
        }
        link.send_frame(wire.ATTACH, attach)
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        return link

    def attached(self, control, **changes):
        link = self.attach(control, **changes)
        kind, payload = link.read_frame(5)
        if kind != wire.ATTACHED:
            raise AssertionError(f"not attached: {kind:#04x} {payload}")
        return link


def json_bytes(value):
    return json.dumps(value).encode("utf-8")


class Attacks(LinkChecks):
    """The attacks; a subclass selects the target."""

    def setUp(self):
        self.attacker = Attacker(self.address, self.session)
        self.links = contextlib.ExitStack()

    def tearDown(self):
        self.links.close()
        self.assert_serves()

    def keep(self, link):
        self.links.callback(link.close, "left")
        return link

    def connect(self):
        return self.keep(self.attacker.connect())

    def open(self, **changes):
        return self.keep(self.attacker.open(**changes))

    def assert_serves(self, source=None):
        """Lets an honest peer join, get an answer, and leave."""
        self.assert_running()
        good = Attacker(self.address, self.session)
        link = good.open(name="good")
        self.assert_answers(link)
        self.assert_answers_probe(link)
        link.close("left")

    def assert_answers_probe(self, link):
        secret = link.exporter(DATAGRAM_LABEL)
        sealer, opener = datagram.Sealer(secret, b"d"), datagram.Opener(secret, b"l")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            self.assert_first_answer(sock, sealer, opener)

    def assert_first_answer(self, sock, sealer, opener):
        """Sends a probe, again if the packet was lost. Expects that the answer to the probe arrives first."""
        sock.settimeout(0.5)
        for _ in range(10):
            sock.sendto(sealer.seal(datagram.PROBE, b"12345678"), self.address)
            with contextlib.suppress(TimeoutError):
                return self.assertEqual(self.answer(sock, opener), b"12345678")
        self.fail("no answer to ten probes")

    def assert_first_frame_closes(self, frame, *codes):
        link = self.connect()
        link.send(frame)
        self.assert_closes(link, *codes)

    def assert_frame_closes(self, frame, *codes):
        link = self.open()
        link.send(frame)
        self.assert_closes(link, *codes)

    # Lengths and types

    def test_frm_1_a_length_over_8192_before_admission(self):
        self.assert_first_frame_closes(b"\x01" + encode_vint(8_193), "too-large")

    def test_frm_1_the_longest_hello_fits(self):
        signers = [Identity() for _ in range(6)]
        members = [self.attacker.identity, *signers]
        session = self.attacker.session
        chain = [
            admission.make_ticket(signer, session, member.peer_id)
            for signer, member in zip(signers, members)
        ]
        hello = self.attacker.hello(
            name="\u00eb" * 32,
            port=65_535,
            addresses=[f"2001:db8:85a3:8d3:1319:8a2e:370:{number:x}" for number in range(0x7340, 0x7350)],
            resume={"incarnation": base32(os.urandom(8)), "received": 2**53 - 1, "since": 2**53 - 1},
            ended="e" * 64,
            ticket={**chain[0], "via": chain[1:]},
            invitation={"timeout": 600_000, "context": wire.base64_text(os.urandom(1_024))},
        )
        self.assertGreater(len(json_bytes(hello)), 4_096)
        link = self.connect()
        link.send_frame(wire.HELLO, hello)
        self.next_frame(link, wire.ACCEPT)

    def test_frm_1_a_length_over_65536(self):
        for kind in (wire.MESSAGE, 0xC0):
            for length in (65_537, 2**63, 2**64 - 1):
                self.assert_frame_closes(bytes([kind]) + encode_vint(length), "too-large")

    def test_frm_2_a_length_that_is_no_vint(self):
        for length in (b"\x88\x00", b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\x01"):
            self.assert_first_frame_closes(b"\x01" + length, "protocol-error")

    def test_frm_3_unknown_types(self):
        for kind in (0x00, 0x0A, 0x15, 0x30, 0x3F, 0x60, 0x7F):
            self.assert_frame_closes(bytes([kind, 0]), "unknown-frame")
        link = self.open()
        for kind in (0x80, 0xFF):
            link.send(encode_frame(kind, os.urandom(60_000)))
        self.assert_answers(link)

    def test_lnk_7_another_first_frame(self):
        for kind in sorted(wire.KNOWN_TYPES - {wire.HELLO, wire.ATTACH, wire.CLOSE}):
            self.assert_first_frame_closes(encode_frame(kind, b"{}"), "protocol-error")

    def test_frm_4_frames_that_do_not_belong_on_an_open_control_link(self):
        never = (wire.BULK_LINK_TYPES | {wire.CODE_PROOF, wire.SAS_COMMIT, wire.SAS_NONCE}) - {
            wire.CLOSE
        }
        for kind in sorted(never | {wire.SAS_REVEAL, wire.ACCEPT, wire.WEB_CHALLENGE, wire.WEB_PROOF}):
            self.assert_frame_closes(encode_frame(kind, b"{}"), "protocol-error")
        self.assert_frame_closes(
            encode_frame(wire.HELLO, self.attacker.hello()), "protocol-error"
        )

    def test_frm_4_pings_of_another_length(self):
        for kind in (wire.PING, wire.PONG):
            for length in (0, 7, 9):
                self.assert_frame_closes(encode_frame(kind, bytes(length)), "protocol-error")

    # JSON

    def test_frm_5_hello_that_is_not_the_json_it_should_be(self):
        good = json_bytes(self.attacker.hello())
        deep = b'{"x":' * 16 + b"{}" + b"}" * 16
        payloads = [
            b"",
            b"[]",
            b"null",
            good[:-1],
            good + b"x",
            good[:-1] + b',"name":"again"}',
            good[:-1] + b',"x":1,"\\u0078":2}',
            good[:-1] + b',"x":' + deep + b"}",
            good[:-1] + b',"x":' + b"[" * 1_900 + b"]" * 1_900 + b"}",
            good[:-1] + b',"x":"\xff"}',
            good[:-1] + b',"x":"\\ud800"}',
            good[:-1] + b',"x":NaN}',
        ]
        for payload in payloads:
            with self.subTest(payload=payload[-60:]):
                self.assert_first_frame_closes(
                    encode_frame(wire.HELLO, payload), "protocol-error"
                )

    def test_frm_5_hello_with_values_out_of_range(self):
        for changes in [
            {"protocol": ...},
            {"session": ...},
            {"name": ...},
            {"incarnation": ...},
            {"port": ...},
            {"addresses": ...},
            {"role": ...},
            {"links": ...},
            {"protocol": 1},
            {"protocol": [1]},
            {"protocol": [1, 1, 1]},
            {"protocol": [2, 1]},
            {"protocol": ["1", "1"]},
            {"session": base32(self.session)[:-1]},
            {"session": base32(self.session).upper()},
            {"session": "1" * 26},
            {"name": ""},
            {"name": "x" * 65},
            {"name": "\u00fc" * 33},
            {"name": 7},
            {"name": None},
            {"incarnation": "aaaaaaaaaaaab"},
            {"incarnation": "a" * 14},
            {"port": -1},
            {"port": 65_536},
            {"port": 1.5},
            {"port": True},
            {"port": "80"},
            {"addresses": ["127.0.0.1"] * 17},
            {"addresses": [1]},
            {"addresses": "127.0.0.1"},
            {"role": 1},
            {"links": -1},
            {"links": 2**53},
            {"resume": []},
            {"resume": {}},
            {"resume": {"incarnation": "a" * 13, "received": -1}},
            {"ticket": "x"},
            {"ticket": {"admitter": "a" * 52, "key": "", "signature": ""}},
            {"invitation": {"timeout": 999}},
            {"invitation": {"timeout": 600_001}},
            {"invitation": {"context": "!"}},
            {"invitation": {"pass": 1}},
            {"invitation": {"pass": "a" * 27}},
            {"invitation": {"context": wire.base64_text(bytes(1_025))}},
        ]:
            with self.subTest(changes=changes):
                hello = self.attacker.hello(**changes)
                self.assert_first_frame_closes(encode_frame(wire.HELLO, hello), "protocol-error")

    def test_hel_1_no_common_version(self):
        for versions in ([3, 4], [0, 0], [2**53 - 1, 2**53 - 1]):
            hello = self.attacker.hello(protocol=versions)
            self.assert_first_frame_closes(encode_frame(wire.HELLO, hello), "version-mismatch")

    def test_hel_2_another_session(self):
        hello = self.attacker.hello(session=base32(os.urandom(16)))
        self.assert_first_frame_closes(encode_frame(wire.HELLO, hello), "no-such-session")

    def test_unknown_keys_and_roles_are_no_reason(self):
        self.open(future={"a": [1, None]}, role="gardener", protocol=[1, 99])

    def test_control_payloads_that_do_not_decode(self):
        member = {
            "peer": base32(os.urandom(32)),
            "name": "x",
            "incarnation": "a" * 13,
            "port": 1,
            "addresses": [],
            "role": "member",
        }
        for kind, payload in [
            (wire.MEMBERS, {}),
            (wire.MEMBERS, {"members": {}}),
            (wire.MEMBERS, {"members": [1]}),
            (wire.MEMBERS, {"members": [{**member, "peer": "x"}]}),
            (wire.MEMBERS, {"members": [{**member, "name": "x" * 65}]}),
            (wire.MEMBERS, {"members": [{**member, "port": 65_536}]}),
            (wire.KICK, {"peer": 1, "reason": "x"}),
            (wire.ADDRESSES, {"port": 1}),
            (wire.ADDRESSES, {"port": 1, "addresses": ["127.0.0.1"] * 17}),
            (wire.BULK_REQUEST, {"count": 1.5}),
        ]:
            with self.subTest(kind=kind, payload=payload):
                self.assert_frame_closes(encode_frame(kind, payload), "protocol-error")

    def test_mem_1_members_that_are_not_there(self):
        """Members at dead addresses do not block newcomers; KICK from a guest has no effect."""
        self.isolate()
        link = self.open()
        with DialCounter(holds=False) as dials:
            for _ in range(4):
                pairs = zip(self.strangers(32, 1), self.strangers(32, dials.port))
                link.send_frame(wire.MEMBERS, {"members": [member for pair in pairs for member in pair]})
            link.send_frame(wire.KICK, {"peer": base32(self.target_id), "reason": "no"})
            self.assert_answers(link)
            # The program must serve good peers before and while it dials the invented members (MEM-2).
            for count in (0, 1, 10, 40):
                self.assertTrue(dials.reaches(count, 30), f"fewer than {count} of the invented members were dialed")
                began = time.monotonic()
                self.assert_serves()
                self.assertLess(time.monotonic() - began, 3, "a good peer had to wait")

    def strangers(self, count, port):
        """Returns members that do not exist, at a port of this machine."""
        return [
            {
                "peer": base32(os.urandom(32)),
                "name": "ghost",
                "incarnation": "a" * 13,
                "port": port,
                "addresses": ["127.0.0.1"],
                "role": "member",
            }
            for _ in range(count)
        ]

    def test_mem_6_at_most_four_strangers_are_dialled_at_once(self):
        """A peer that names silent members causes at most four dials at once."""
        self.isolate()
        with DialCounter(holds=True) as dials:
            link = self.open()
            link.send_frame(wire.MEMBERS, {"members": self.strangers(40, dials.port)})
            # The fifth dial follows when one of the first four has failed.
            deadline = time.monotonic() + 60
            while not dials.reaches(5, 1):
                self.assertLess(time.monotonic(), deadline, "the members were not dialed")
                self.assert_answers(link)
        self.assertEqual(dials.most, 4)

    def test_mem_18_one_member_names_few_strangers_and_they_are_soon_forgotten(self):
        """A peer that names 250 members causes 4 dials for each of 32 of them."""
        self.isolate()
        with DialCounter(holds=False) as dials:
            link = self.open()
            link.send_frame(wire.MEMBERS, {"members": self.strangers(250, dials.port)})
            self.assertTrue(dials.reaches(32 * 4, 60), "32 members were not dialed 4 times each")
            # An address that does not identify one machine is not an address of a member.
            nowhere = [{**member, "addresses": ["224.0.0.251", "0.0.0.0"]} for member in self.strangers(8, dials.port)]
            # The first link ended, because this peer answered no PING.
            link = self.open()
            link.send_frame(wire.MEMBERS, {"members": nowhere})
            self.assert_answers(link)
            self.assertFalse(dials.reaches(32 * 4 + 1, 2), "more members were dialed")

    # Messages

    def test_msg_3_a_sequence_gap(self):
        for sequence in (2, 2**63, 2**64 - 1):
            payload = encode_vint(sequence) + bytes([wire.Part.FIRST | wire.Part.LAST]) + b"x"
            self.assert_frame_closes(encode_frame(wire.MESSAGE, payload), "protocol-error")

    def test_msg_4_an_ack_of_what_was_never_sent(self):
        for sequence in (1_000_000, 2**64 - 1):
            self.assert_frame_closes(
                encode_frame(wire.ACK, encode_vint(sequence)), "protocol-error"
            )
        for payload in (b"", b"\x80", b"\x81\x00", b"\x00\x00"):
            self.assert_frame_closes(encode_frame(wire.ACK, payload), "protocol-error")

    def test_msg_1_parts_that_lie(self):
        first, last = wire.Part.FIRST, wire.Part.LAST
        for parts, code in [
            ([b""], "protocol-error"),
            ([b"\x01"], "protocol-error"),
            ([b"\x00\x03x"], "protocol-error"),
            ([b"\x01\x0bx"], "protocol-error"),
            ([bytes([1, first]) + encode_vint(2**24 + 1)], "too-large"),
            ([bytes([1, first]) + encode_vint(2**64 - 1)], "too-large"),
            ([bytes([1, last]) + b"x"], "protocol-error"),
            ([bytes([1, first, 1]) + b"xx"], "protocol-error"),
            ([bytes([1, first, 5]) + b"xx", bytes([2, last]) + b"x"], "protocol-error"),
            ([bytes([1, first, 5]) + b"xx", bytes([2, 0])], "protocol-error"),
            ([bytes([1, first, 5]) + b"xx", bytes([2, first | last]) + b"x"], "protocol-error"),
        ]:
            with self.subTest(parts=parts):
                frames = b"".join(encode_frame(wire.MESSAGE, part) for part in parts)
                self.assert_frame_closes(frames, code)

    def test_rsm_2_a_resume_from_beyond(self):
        """A HELLO that claims more received messages than were sent is refused before ACCEPT."""
        link = self.attacker.open()
        link.abort()
        link = self.connect()
        resume = {"incarnation": base32(self.attacker.theirs["incarnation"]), "received": 10**9}
        link.send_frame(wire.HELLO, self.attacker.hello(resume=resume, links=1))
        kind, payload = link.read_frame(10)
        self.assertEqual(kind, wire.CLOSE)
        self.assertEqual(parse_close(payload)[0], "protocol-error")

    # Time and number

    def trickle(self, send, limit):
        """Sends a byte every 0.25 s until the target ends the connection; returns the time until then."""
        start = time.monotonic()
        while time.monotonic() - start < limit:
            if not send():
                return time.monotonic() - start
            time.sleep(0.25)
        return None

    def test_lnk_6_a_trickled_tls_handshake_is_cut_off(self):
        sock = socket.create_connection(self.address)
        self.links.callback(sock.close)
        sock.setblocking(False)
        hello = iter(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500))

        def send():
            try:
                sock.send(bytes([next(hello)]))
                return sock.recv(100) != b""
            except BlockingIOError:
                return True
            except OSError:
                return False

        took = self.trickle(send, 14)
        self.assertIsNotNone(took, "a handshake went on for 14 s")
        self.assertGreater(took, 8)

    def test_lnk_6_a_silent_connection_and_a_trickled_first_frame_are_cut_off(self):
        silent = socket.create_connection(self.address)
        self.links.callback(silent.close)
        opened = time.monotonic()
        link = self.connect()
        frame = iter(encode_frame(wire.HELLO, self.attacker.hello()))
        codes = []

        def send():
            try:
                link.send(bytes([next(frame)]))
                codes.append(parse_close(link.read_frame(0.01)[1])[0])
                return False
            except LinkBroken as error:
                return isinstance(error, LinkTimeout)

        took = self.trickle(send, 9)
        self.assertIsNotNone(took, "a first frame went on for 9 s")
        self.assertGreater(took, 3.5)
        # The connection may have been reset before CLOSE was read.
        self.assertIn(codes, ([], ["timed-out"]))
        silent.settimeout(max(0.1, opened + 14 - time.monotonic()))
        try:
            self.assertEqual(silent.recv(1), b"")
        except ConnectionError:
            pass

    def test_lnk_6_seventeen_half_open_connections(self):
        """The 17th connection from one address is closed at once; a connection from another address is served."""
        socks = []
        for _ in range(16):
            socks.append(socket.create_connection(self.address, source_address=("127.0.0.9", 0)))
            self.links.callback(socks[-1].close)
        for _ in range(5):
            with socket.create_connection(
                self.address, source_address=("127.0.0.9", 0)
            ) as further:
                further.settimeout(3)
                try:
                    self.assertEqual(further.recv(1), b"")
                except ConnectionError:
                    pass
        for sock in socks:
            sock.setblocking(False)
            with self.assertRaises(BlockingIOError):
                sock.recv(1)
        self.assert_serves()
        for sock in socks:
            sock.close()

    def test_garbage_instead_of_tls(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        for _ in range(50):
            with socket.create_connection(self.address) as sock:
                sock.settimeout(5)
                try:
                    sock.sendall(generator.randbytes(generator.randrange(1, 2_000)))
                    sock.shutdown(socket.SHUT_WR)
                    while sock.recv(4_096):
                        pass
                except ConnectionError:
                    pass

    def test_random_frames_after_admission(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        kinds = sorted(wire.CONTROL_LINK_TYPES - {wire.CLOSE})
        for _ in range(40):
            link = self.attacker.open()
            try:
                for _ in range(20):
                    size = generator.choice([0, 1, 2, 8, 100, 5_000])
                    link.send_frame(generator.choice(kinds), generator.randbytes(size))
            except LinkBroken:
                pass
            link.close("left")

    def test_liv_1_and_2_silence_is_pinged_and_then_the_link_is_broken(self):
        link = self.open()
        began = time.monotonic()
        with self.assertRaises(LinkBroken) as raised:
            while True:
                # Any other frame replaces a PING.
                link.read_frame(2.5)
        self.assertNotIsInstance(raised.exception, LinkTimeout, "the link stays open")
        took = time.monotonic() - began
        self.assertGreater(took, 4.5)
        self.assertLess(took, 9)

    # Datagrams

    def test_dgm_2_garbage_is_not_answered(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        secret = self.open().exporter(DATAGRAM_LABEL)
        sealer = datagram.Sealer(secret, b"d")
        good = sealer.seal(datagram.PROBE, b"abcdefgh")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(2_000):
                size = generator.randrange(0, 1_501)
                packet = generator.choice([b"", b"\x01", good[:10], good[:17]])
                sock.sendto(packet + generator.randbytes(size), self.address)
            for bit in range(len(good) * 8):
                changed = bytearray(good)
                changed[bit // 8] ^= 1 << bit % 8
                sock.sendto(bytes(changed), self.address)
            # Packets of one socket are handled in order, so an answer to one of them would arrive first.
            self.assert_first_answer(sock, sealer, datagram.Opener(secret, b"l"))

    def test_dgm_3_a_replayed_probe_is_not_answered_twice(self):
        control = self.open()
        secret = control.exporter(DATAGRAM_LABEL)
        sealer, opener = datagram.Sealer(secret, b"d"), datagram.Opener(secret, b"l")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(5)
            probe = sealer.seal(datagram.PROBE, b"abcdefgh")
            for _ in range(5):
                sock.sendto(probe, self.address)
            # Packets of one socket are handled in order, so the answer to another probe follows all earlier answers.
            sock.sendto(sealer.seal(datagram.PROBE, b"ABCDEFGH"), self.address)
            self.assertEqual([self.answer(sock, opener) for _ in range(2)], [b"abcdefgh", b"ABCDEFGH"])
            # When the counter is a whole window further, the old packet is still rejected.
            sealer.counter += 5_000
            for packet in (sealer.seal(datagram.PROBE, b"further."), probe, sealer.seal(datagram.PROBE, b"the last")):
                sock.sendto(packet, self.address)
            self.assertEqual([self.answer(sock, opener) for _ in range(2)], [b"further.", b"the last"])

    def answer(self, sock, opener):
        while True:
            opened = opener.open(sock.recv(2_000))
            if opened and opened[0] == datagram.ANSWER:
                return opened[1]

    def test_dgm_7_unfinished_messages_cost_nothing(self):
        control = self.open()
        sealer = datagram.Sealer(control.exporter(DATAGRAM_LABEL), b"d")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for number in range(2_000):
                piece = number.to_bytes(4, "big") + bytes([0, 60]) + bytes(1_100)
                sock.sendto(sealer.seal(datagram.PIECE, piece), self.address)
            for content in (b"", b"123456", bytes(6) + b"x", b"abcd\xff\x02x"):
                sock.sendto(sealer.seal(datagram.PIECE, content), self.address)

    # Bulk links

    def test_blk_1_attaching_without_right(self):
        link = self.connect()
        attach = {
            "session": base32(self.session),
            "incarnation": "a" * 13,
            "opener": "dialler",
            "proof": wire.base64_text(bytes(32)),
        }
        link.send_frame(wire.ATTACH, attach)
        self.assert_closes(link, "not-attached")
        control = self.open()
        for code, changes in (
            ("not-attached", {"proof": wire.base64_text(bytes(32))}),
            ("protocol-error", {"proof": ""}),
            ("protocol-error", {"proof": wire.base64_text(bytes(33))}),
            ("not-attached", {"incarnation": "a" * 13}),
            ("not-attached", {"session": base32(os.urandom(16))}),
        ):
            with self.subTest(changes=changes):
                self.assert_closes(self.keep(self.attacker.attach(control, **changes)), code)
        thief = Attacker(self.address, self.session)
        thief.incarnation = self.attacker.incarnation
        self.assert_closes(self.keep(thief.attach(control)), "not-attached")

    def test_blk_4_more_than_32_bulk_links(self):
        control = self.open()
        for _ in range(32):
            self.keep(self.attacker.attached(control))
        self.assert_closes(self.keep(self.attacker.attach(control)), "busy")
        self.assert_answers(control)

    def test_blk_5_a_bulk_link_that_nobody_waits_for(self):
        control = self.open()
        self.assert_closes(self.keep(self.attacker.attached(control, opener="listener")), "left")
        self.assert_answers(control)

    def test_frm_1_lengths_on_a_bulk_link(self):
        control = self.open()
        # The padding is an unknown key; ATTACH is limited to 8,192 bytes.
        self.assert_closes(self.keep(self.attacker.attach(control, padding="x" * 8_192)), "too-large")
        self.keep(self.attacker.attached(control, padding="x" * 7_000))
        bulk = self.keep(self.attacker.attached(control))
        bulk.send(bytes([wire.CHUNK]) + encode_vint(65_537))
        self.assert_closes(bulk, "too-large")
        bulk = self.keep(self.attacker.attached(control))
        bulk.send_frame(0xC0, bytes(65_536))
        bulk.send_frame(wire.CHUNK, b"x")
        self.assert_closes(bulk, "protocol-error")

    def test_frames_that_do_not_belong_on_an_idle_bulk_link(self):
        control = self.open()
        identifier = base32(os.urandom(16))
        for kind, payload in [
            (wire.CHUNK, b"x"),
            (wire.STREAM_DATA, b"x"),
            (wire.STREAM_FIN, b""),
            (wire.MESSAGE, b"\x01\x03x"),
            (wire.PING, bytes(8)),
            (wire.ATTACH, b"{}"),
            (wire.HELLO, b"{}"),
            (wire.WEB_CHALLENGE, b"{}"),
            (wire.WEB_PROOF, b"{}"),
            (wire.RESOURCE_END, {"id": identifier, "sha256": "0" * 64}),
            (wire.RESOURCE_OFFER, {"id": "x", "name": "x", "size": 1}),
            (wire.RESOURCE_OFFER, {"id": identifier, "name": "x", "size": -1}),
            (wire.RESOURCE_OFFER, {"id": identifier, "name": "x", "size": 2**53}),
            (wire.RESOURCE_OFFER, {"id": identifier, "name": "x" * 16_385, "size": 1}),
            (wire.RESOURCE_OFFER, {"id": identifier, "name": "a\0b", "size": 1}),
            (wire.STREAM_OPEN, {"id": identifier, "name": "x" * 1_025}),
            (wire.STREAM_OPEN, {"id": identifier, "name": "a\0b"}),
            (wire.STREAM_OPEN, {"id": identifier}),
        ]:
            with self.subTest(kind=kind, payload=str(payload)[:80]):
                bulk = self.keep(self.attacker.attached(control))
                bulk.send_frame(kind, payload)
                self.assert_closes(bulk, "protocol-error")
        self.assert_answers(control)

    def transfer(self, control, name, size, chunks, sha256=None):
        """Offers and sends a resource; returns the frame that ends it."""
        bulk = self.keep(self.attacker.attached(control))
        identifier = base32(os.urandom(16))
        bulk.send_frame(wire.RESOURCE_OFFER, {"id": identifier, "name": name, "size": size})
        kind, payload = bulk.read_frame(10)
        self.assertEqual(kind, wire.RESOURCE_ACCEPT, payload)
        self.assertEqual(wire.parse_json(payload)["offset"], 0)
        bulk.send_frame(wire.RESOURCE_START, {"id": identifier, "offset": 0})
        for chunk in chunks:
            bulk.send_frame(wire.CHUNK, chunk)
        sha256 = sha256 or hashlib.sha256(b"".join(chunks)).hexdigest()
        bulk.send_frame(wire.RESOURCE_END, {"id": identifier, "sha256": sha256})
        return bulk.read_frame(10)

    def test_res_3_a_size_or_hash_that_lies(self):
        control = self.open()
        for size, chunks, sha256, code in [
            (10, [b"x" * 11], None, "size-mismatch"),
            (10, [b"x" * 10, b"y" * 65_000], None, "size-mismatch"),
            (10, [b"x" * 9], None, "size-mismatch"),
            (10, [b"x" * 10], "0" * 64, "hash-mismatch"),
        ]:
            with self.subTest(size=size, code=code):
                kind, payload = self.transfer(control, "lie", size, chunks, sha256)
                self.assertEqual(kind, wire.RESOURCE_CANCEL, payload)
                self.assertEqual(wire.parse_json(payload)["code"], code)
        kind, payload = self.transfer(control, "truth", 4, [b"data"])
        self.assertEqual(kind, wire.RESOURCE_DONE, payload)
        self.delivered("truth")
        with self.assertRaises(TimeoutError):
            self.delivered("lie", timeout=0)

    def test_8_2_a_name_is_never_a_path(self):
        control = self.open()
        for name in (
            "../../../../../../tmp/whiteboard-interop-escape",
            "/tmp/whiteboard-interop-escape",
            "..",
            ".",
            "",
            "a\nb\x1b[2J",
            "%2e%2e%2fescape",
            "x" * 16_384,
            "\U0001d54f" * 4_096,
        ):
            with self.subTest(name=name[:40]):
                kind, payload = self.transfer(control, name, 4, [b"data"])
                self.assertEqual(kind, wire.RESOURCE_DONE, payload)
                path = self.delivered(name)
                self.assertEqual(path.read_bytes(), b"data")
                self.assertTrue(path.resolve().is_relative_to(self.storage.resolve()))
        self.assertFalse(pathlib.Path("/tmp/whiteboard-interop-escape").exists())

    def test_chunks_that_do_not_belong(self):
        control = self.open()
        bulk = self.keep(self.attacker.attached(control))
        identifier = base32(os.urandom(16))
        offer = {"id": identifier, "name": "x", "size": 10}
        bulk.send_frame(wire.RESOURCE_OFFER, offer)
        self.assertEqual(bulk.read_frame(10)[0], wire.RESOURCE_ACCEPT)
        bulk.send_frame(wire.RESOURCE_START, {"id": identifier, "offset": 5})
        self.assert_closes(bulk, "protocol-error")
        bulk = self.keep(self.attacker.attached(control))
        bulk.send_frame(wire.RESOURCE_OFFER, {**offer, "id": base32(os.urandom(16))})
        self.assertEqual(bulk.read_frame(10)[0], wire.RESOURCE_ACCEPT)
        bulk.send_frame(wire.CHUNK, b"x")
        self.assert_closes(bulk, "protocol-error")

    def test_res_6_more_than_8_resources(self):
        control = self.open()
        for number in range(9):
            bulk = self.keep(self.attacker.attached(control))
            offer = {"id": base32(os.urandom(16)), "name": f"r{number}", "size": 10}
            bulk.send_frame(wire.RESOURCE_OFFER, offer)
            kind, payload = bulk.read_frame(10)
            if number < 8:
                self.assertEqual(kind, wire.RESOURCE_ACCEPT, payload)
        self.assertEqual(kind, wire.RESOURCE_CANCEL, payload)
        self.assertEqual(wire.parse_json(payload)["code"], "busy")

    def test_str_3_more_than_24_streams(self):
        control = self.open()
        for number in range(24):
            bulk = self.keep(self.attacker.attached(control))
            opening = {"id": base32(os.urandom(16)), "name": f"s{number}"}
            bulk.send_frame(wire.STREAM_OPEN, opening)
        bulk = self.keep(self.attacker.attached(control))
        bulk.send_frame(wire.STREAM_OPEN, {"id": base32(os.urandom(16)), "name": "further"})
        payload = self.next_frame(bulk, wire.STREAM_RESET)
        self.assertEqual(wire.parse_json(payload)["code"], 1)


    # Board

    def messages(self, *messages, start=1):
        """Returns MESSAGE frames with these messages, one part each."""
        flags = bytes([wire.Part.FIRST | wire.Part.LAST])
        return b"".join(
            encode_frame(wire.MESSAGE, encode_vint(start + index) + flags + message)
            for index, message in enumerate(messages)
        )

    def test_messages_that_break_a_rule_of_the_board(self):
        kind = encode_vint((cells.KIND * 8 + cells.UNSIGNED) * 4 + 1)
        good = b"\x01\x00\x01\x02" + kind + b"\x00\x01"
        author = self.attacker.author()
        introduction = bytes([AUTHOR]) + author.introduction()

        def operation(number, shape, rest):
            head = encode_vint((number * 8 + shape) * 4 + 1)
            return b"\x01\x00\x01\x02" + head + rest

        for message in [
            b"",
            b"\x00",
            b"\x0a",
            b"\x7f",
            b"\x01",
            good[:-1],
            good + b"\x00",
            b"\x01\x01" + good[2:],
            b"\x01\x80\x00" + good[2:],
            b"\x01" + b"\xff" * 9 + b"\x02" + good[2:],
            b"\x01\x00" + encode_vint(65_536) + good[3:],
            b"\x01\x00\x01\x00",
            b"\x01\x00\x01" + encode_vint(4_097 * 2) + bytes(5_000),
            b"\x01\x00\x01" + encode_vint(2**64 - 2),
            b"\x01\x00\x01\x03\x00" + kind + b"\x00\x01",
            b"\x01\x00\x01\x03\x01\x07" + kind + b"\x00\x01",
            b"\x01\x00\x01\x03" + encode_vint(2**60) + kind + b"\x00\x01",
            operation(1_024, 1, b"\x07\x01"),
            operation(cells.SCALE, 7, b"\x07\x01"),
            operation(cells.POSITION, cells.PAIR, b"\x07\x00\x00"),
            operation(40, cells.BYTES, b"\x07" + encode_vint(2**40)),
            b"\x02",
            b"\x02\x00\x00\x00\x00",
            b"\x02\x01\x00\x00" + encode_vint(2**40),
            b"\x02\x01\x00\x00\x01" + bytes(7) + b"\x05" + encode_vint(2**40),
            # A set of a few bytes that encodes 2^64 + 1 ranges.
            b"\x02\x01\x00\x00\x01" + bytes(7) + b"\x05\x01\x00\x01" + encode_vint(2**64 - 1),
            b"\x03",
            b"\x03" + encode_vint(2**60),
            b"\x04",
            b"\x04" + bytes(18) + b"\x0f" + bytes(8 * 15),
            b"\x05",
            b"\x05" + bytes(33),
            b"\x06" + bytes(31),
            b"\x07" + bytes(40),
            introduction[:-1],
            introduction + b"\x00",
            introduction[:-1] + bytes([introduction[-1] ^ 1]),
            b"\x08" + author.head()[:-1],
            b"\x08" + author.head() + b"\x00",
            b"\x09" + encode_vint(65) + bytes(65) + b"\x00",
            b"\x09\x01\xff\x00",
        ]:
            with self.subTest(message=message[:40]):
                self.assert_frame_closes(self.messages(introduction, message), "protocol-error")

    def test_aut_5_nothing_of_an_author_comes_before_the_author(self):
        for message in (b"\x01\x00\x01\x02", bytes([HEAD]) + self.attacker.author().head()):
            with self.subTest(message=message[:8]):
                self.assert_frame_closes(self.messages(message), "protocol-error")

    def test_messages_of_later_versions_are_skipped(self):
        link = self.open()
        link.send(self.messages(b"\x80", b"\xff" + os.urandom(1_000)))
        self.assert_answers(link)

    def test_random_messages(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        for _ in range(60):
            link = self.attacker.open()
            try:
                link.send(self.messages(bytes([AUTHOR]) + self.attacker.author().introduction()))
                for number in range(1, 6):
                    kind = generator.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x81])
                    body = generator.randbytes(generator.randrange(60))
                    link.send(self.messages(bytes([kind]) + body, start=number + 1))
            except LinkBroken:
                pass
            link.close("left")

    def test_random_datagrams_inside_good_packets(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        generator = random.Random(seed)
        control = self.open()
        sealer = datagram.Sealer(control.exporter(DATAGRAM_LABEL), b"d")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            for _ in range(2_000):
                size = generator.randrange(100)
                content = bytes([generator.choice([1, 2, 0x10, 0x80])]) + generator.randbytes(size)
                kind = generator.choice([0, 0, 0, 1, 2, 3, 4, 255])
                sock.sendto(sealer.seal(kind, content), self.address)
        # A malformed message may cost its sender the link; other peers must not be affected.
        control.close("left")


class AdmissionAttacks(LinkChecks):
    """Attacks by a dialler before it is admitted; the subclass creates the hosts."""

    def attacker_of(self, target):
        return Attacker(target.address, target.session)

    def connect(self, attacker, source=None, **changes):
        """Returns a link after both HELLOs, and the listener's admission mode."""
        link = attacker.connect(source)
        self.addCleanup(link.close, "left")
        link.send_frame(wire.HELLO, attacker.hello(**changes))
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            return link, parse_close(payload)[0]
        return link, parse_hello(payload, False)["admission"]

    def reveal(self, link):
        """Takes part honestly in the comparison of words, so that the invitation reaches the host's user."""
        nonce = os.urandom(32)
        commit = admission.sas_commitment(link.exporter(BINDING), nonce)
        link.send_frame(wire.SAS_COMMIT, {"commit": wire.base64_text(commit)})
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            return parse_close(payload)[0]
        self.assertEqual(kind, wire.SAS_NONCE)
        link.send_frame(wire.SAS_REVEAL, {"nonce": wire.base64_text(nonce)})
        return None

    def test_adm_6_a_reveal_that_does_not_match(self):
        host = self.host("ask")
        link, mode = self.connect(self.attacker_of(host))
        self.assertEqual(mode, "ask")
        link.send_frame(wire.SAS_COMMIT, {"commit": wire.base64_text(os.urandom(32))})
        self.assertEqual(link.read_frame(5)[0], wire.SAS_NONCE)
        link.send_frame(wire.SAS_REVEAL, {"nonce": wire.base64_text(os.urandom(32))})
        self.assert_closes(link, "protocol-error")

    def test_steps_in_the_wrong_order_or_form(self):
        nonce = {"nonce": wire.base64_text(bytes(32))}
        for mode, kind, payload in [
            ("ask", wire.SAS_REVEAL, nonce),
            ("ask", wire.SAS_NONCE, nonce),
            ("ask", wire.CODE_PROOF, {"proof": wire.base64_text(bytes(32))}),
            ("ask", wire.ACCEPT, {"host": "a" * 52, "maximum": 2, "members": []}),
            ("ask", wire.MESSAGE, b"\x01\x03x"),
            ("ask", wire.SAS_COMMIT, {"commit": wire.base64_text(bytes(31))}),
            ("ask", wire.SAS_COMMIT, {"commit": "%"}),
            ("ask", wire.SAS_COMMIT, {}),
            ("code", wire.SAS_COMMIT, {"commit": wire.base64_text(bytes(32))}),
            ("code", wire.CODE_PROOF, {"proof": "!"}),
            ("code", wire.CODE_PROOF, {"proof": 7}),
            ("code", wire.CODE_PROOF, {}),
            ("code", wire.PING, bytes(8)),
            ("code", wire.HELLO, {}),
        ]:
            with self.subTest(mode=mode, kind=kind, payload=payload):
                attacker = self.attacker_of(self.host(mode))
                link, answered = self.connect(attacker)
                began = time.monotonic()
                # The places of the links that were closed last might not be free yet.
                while answered == "busy" and time.monotonic() - began < 20:
                    link, answered = self.connect(attacker)
                self.assertEqual(answered, mode)
                link.send_frame(kind, payload)
                self.assert_closes(link, "protocol-error")

    def test_3_2_a_step_that_does_not_come(self):
        for mode in ("ask", "code"):
            with self.subTest(mode=mode):
                link, _ = self.connect(self.attacker_of(self.host(mode)))
                began = time.monotonic()
                self.assert_closes(link, "timed-out", timeout=12)
                self.assertGreater(time.monotonic() - began, 3.5)
                self.assertLess(time.monotonic() - began, 8)

    def test_hel_5_one_invitation_of_each_peer(self):
        host = self.host("ask")
        attacker = self.attacker_of(host)
        first, _ = self.connect(attacker)
        self.assertIsNone(self.reveal(first))
        attacker.incarnation = os.urandom(8)
        second, answer = self.connect(attacker)
        if answer != "busy":
            answer = self.reveal(second)
        self.assertEqual(answer, "busy")

    def ask(self, host, source, **invitation):
        """Makes a new peer at `source` ask to join; returns its link, and `ask` or the close code."""
        changes = {"invitation": invitation} if invitation else {}
        link, answer = self.connect(self.attacker_of(host), source, **changes)
        if answer == "ask":
            answer = self.reveal(link) or "ask"
        return link, answer

    def test_hel_5_one_address_does_not_hold_the_queue(self):
        host = self.host("ask")
        answers = []
        for _ in range(16):
            link, answer = self.ask(host, "127.0.0.2")
            answers.append(answer)
            if answer != "ask":
                link.close("left")
        self.assertEqual(answers, ["ask"] * 2 + ["busy"] * 14)
        self.assertEqual(self.ask(host, "127.0.0.3")[1], "ask")

    def test_adm_11_a_refusal_silences_the_address(self):
        host = self.host("ask")
        link, answer = self.ask(host, "127.0.0.2")
        self.assertEqual(answer, "ask")
        self.decline(host)
        self.assert_closes(link, "declined")
        self.assertEqual(self.ask(host, "127.0.0.2")[1], "busy")
        self.assertEqual(self.ask(host, "127.0.0.3")[1], "ask")

    def test_3_2_an_invitation_that_is_not_answered_or_taken_back(self):
        host = self.host("ask")
        link, _ = self.connect(self.attacker_of(host), invitation={"timeout": 1_500})
        self.assertIsNone(self.reveal(link))
        self.assert_closes(link, "timed-out", timeout=5)
        attacker = self.attacker_of(host)
        link, _ = self.connect(attacker)
        self.assertIsNone(self.reveal(link))
        link.close("withdrawn")
        # A withdrawn invitation does not count: the same peer may ask again.
        again, answer = self.connect(attacker)
        self.assertEqual(answer, "ask")
        self.assertIsNone(self.reveal(again))

    def test_adm_2_one_proof_a_connection(self):
        host = self.host("code")
        link, _ = self.connect(self.attacker_of(host))
        proof = encode_frame(wire.CODE_PROOF, {"proof": wire.base64_text(bytes(32))})
        link.send(proof * 20)
        self.assert_closes(link, "wrong-code")
        # One of the twenty proofs counted: two more are checked, and the next is not.
        for expected in ("wrong-code", "wrong-code", "locked-out"):
            link, _ = self.connect(self.attacker_of(host))
            link.send(proof)
            self.assert_closes(link, expected)


class AdmissionAgainstPython(AdmissionAttacks, InteropCase):
    closes_with_sentences = False

    def host(self, mode):
        host = self.peer("host", admission_mode=mode, code="a-b-c-d")
        answer = threading.Event()
        host.answer_invitation = lambda *_: answer.wait(30) and not host.declines
        host.declines = False
        host.answer = answer
        self.addCleanup(answer.set)
        return host

    def decline(self, host):
        host.declines = True
        host.answer.set()


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built")
class AdmissionAgainstSwift(AdmissionAttacks, InteropCase):
    def host(self, mode):
        directory = self.directory() / "data"
        directory.mkdir(mode=0o700)
        program = Program("host", "target", directory=directory, options=("--admit", mode))
        self.addCleanup(program.stop)
        program.ready()
        program.session = wire.parse_base32(program.board, 16)
        return program

    def decline(self, host):
        invitation = host.events.wait("invitation", direction="incoming")
        host.do("decline", target=invitation["id"])

    def test_hel_5_a_newcomer_takes_a_place_of_an_address_with_more(self):
        host = self.host("ask")
        links = []
        for number in range(12):
            link, answer = self.ask(host, f"127.0.0.{2 + number // 2}")
            self.assertEqual(answer, "ask")
            links.append(link)
        self.assertEqual(self.ask(host, "127.0.0.20")[1], "ask")
        self.assert_closes(links[-1], "busy")
        host.events.wait("note", code="invitation-ended")

    def test_hel_9_places_are_left_for_holders_of_the_join_link(self):
        host = self.host("ask")
        link = parse_link(host.link)
        for number in range(12):
            self.assertEqual(self.ask(host, f"127.0.0.{2 + number}")[1], "ask")
        self.assertEqual(self.ask(host, "127.0.0.20")[1], "busy")
        self.assertEqual(self.ask(host, "127.0.0.20", **{"pass": base32(os.urandom(16))})[1], "busy")
        for number in range(4):
            self.assertEqual(self.ask(host, f"127.0.0.{20 + number}", **{"pass": base32(link.link_pass)})[1], "ask")
        self.assertEqual(self.ask(host, "127.0.0.24", **{"pass": base32(link.link_pass)})[1], "busy")

    def test_lnk_6_five_addresses_do_not_keep_out_a_newcomer(self):
        host = self.host("ask")
        for number in range(80):
            source = (f"127.0.0.{2 + number // 16}", 0)
            sock = socket.create_connection(host.address, source_address=source)
            self.addCleanup(sock.close)
        self.assertEqual(self.ask(host, "127.0.0.1")[1], "ask")


class AgainstPython(Attacks, InteropCase):
    closes_with_sentences = False

    def setUp(self):
        self.storage = self.directory()
        self.host = self.peer("host", kind=BoardPeer, resource_directory=self.storage)
        self.address, self.session = self.host.address, self.host.session
        self.target_id = self.host.id
        super().setUp()

    def isolate(self):
        """Each test has its own host."""

    def assert_running(self):
        pass

    def delivered(self, name, timeout=10):
        return self.host.events.wait("resource", timeout, name=name)["path"]


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built")
class AgainstSwift(Attacks, InteropCase):
    """One process for all attacks, so that each attack meets the effects of the earlier attacks."""

    @classmethod
    def setUpClass(cls):
        cls.start(cls, cls.addClassCleanup)

    def start(self, clean_up):
        """Starts a program and makes it the target of `self`, a test or the class."""
        parent = pathlib.Path(tempfile.mkdtemp(prefix="whiteboard-interop-"))
        clean_up(shutil.rmtree, parent, ignore_errors=True)
        self.storage = parent / "data"
        self.storage.mkdir(mode=0o700)
        self.program = Program(
            "host", "target", directory=self.storage, options=("--admit", "anyone")
        )
        clean_up(self.program.stop)
        self.program.ready()
        self.address = self.program.address
        self.session = wire.parse_base32(self.program.board, 16)
        self.target_id = wire.parse_base32(self.program.peer, 32)

    def isolate(self):
        """Gives this test its own target."""
        self.start(self.addCleanup)
        self.attacker = Attacker(self.address, self.session)

    def assert_running(self):
        self.assertTrue(self.program.is_running(), self.program.log[-3_000:])

    def test_liv_1_pings_whose_answers_nobody_reads(self):
        """Unsent data is limited: 3 MB of PINGs use no more memory than the queues allow."""
        self.isolate()
        link = self.attacker.open()
        self.links.callback(link.abort)
        link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        before = resident(self.program)
        pings = encode_frame(wire.PING, b"12345678") * 1_600
        for _ in range(200):
            link.send(pings)
        self.assertLess(resident(self.program) - before, 60_000_000)

    def test_syn_12_one_who_asks_and_reads_nothing_stops_no_board(self):
        """The queue for a stalled peer may exceed the limit at which local commands wait; local commands continue."""
        self.isolate()
        filler = self.open(name="filler")
        threading.Thread(target=self.read_on, args=(filler,), daemon=True).start()
        author, writer = self.attacker.author(), authors.LinkWriter()
        sending = [bytes([AUTHOR]) + author.introduction()]
        for number in range(20):
            operations = [
                (cells.Dot(7777, 1 << 40), 320 + number, place, cells.BYTES, os.urandom(60_000))
                for place in range(16)
            ]
            batch = writer.encode(author.incarnation, 1 + author.sequence, 1 << 40, operations)
            author.write(1 << 40, operations)
            sending.append(bytes([BATCH]) + batch)
        sequence = 1
        for message in sending:
            for part in wire.encode_message_parts(message, sequence):
                filler.send_frame(wire.MESSAGE, part)
                sequence += 1
        deaf = Attacker(self.address, self.session)
        link = deaf.open(name="deaf")
        self.links.callback(link.abort)
        link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.send(self.messages(bytes([AUTHOR]) + deaf.author().introduction()))
        end = time.monotonic() + 20
        for number in range(1, 4):
            request = messages.encode_request(number, cells.DotSet())
            link.send(self.messages(request, start=number + 1))
            link.send_frame(wire.PING, b"12345678")
            time.sleep(1)  # the rate of the attack, because the target answers only once a second
        for number in range(4):
            self.program.do("text", at=[number, 0], text="still here", timeout=max(1, end - time.monotonic()))
            link.send_frame(wire.PING, b"12345678")

    def read_on(self, link):
        with contextlib.suppress(LinkBroken, OSError):
            while True:
                with contextlib.suppress(LinkTimeout):
                    link.read_frame(1)

    def delivered(self, name, timeout=10):
        event = self.program.events.wait(
            "resource-finished", timeout, name=name, outcome="delivered"
        )
        return pathlib.Path(event["path"])


if __name__ == "__main__":
    unittest.main()
