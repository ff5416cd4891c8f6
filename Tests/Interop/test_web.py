"""Tests guests (web.md): an independent client of web links joins the real program, and attacks it.

An attack must end only its own connection, and the program must still serve guests and peers.
"""

import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import re
import socket
import struct
import threading
import time
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from pictures import png
from program import Program
from test_against_swift import SwiftCase
from whiteboard_peer import admission, relay, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.session import Refused, parse_accept, parse_close, parse_hello
from whiteboard_peer.tls import ATTACH_LABEL, BINDING, Identity, Link
from whiteboard_peer.web import (
    BINARY as BINARY_MESSAGE,
    CLOSING,
    CONTINUATION,
    MAXIMUM_MESSAGE,
    MAXIMUM_POST,
    PING,
    PONG,
    SUBPROTOCOL,
    TEXT,
    Connection,
    Guest,
    PageLink,
    Posts,
    Refusal,
    WebLink,
    WebSocket,
    request,
)
from whiteboard_peer.wire import base32, encode_frame, encode_vint

CARRIERS = (WebSocket, Posts)


class Attacker:
    """Raw web links to a gateway, with valid messages for the tests that need them."""

    def __init__(self, page, identity=None, source=None):
        self.page, self.source = page, source
        self.address = ("127.0.0.1", page.address[1])
        self.identity = identity or Identity()
        self.incarnation = os.urandom(8)

    def http(self, **options):
        return Connection(self.address, self.source, **options)

    def carrier(self, kind=WebSocket, origin=None, **options):
        return kind(self.address, origin or self.page.origin, source=self.source, **options)

    def open(self, kind=WebSocket, origin=None, **options):
        """Returns a link on which the gateway has sent its challenge."""
        link = WebLink(self.carrier(kind, origin, **options), self.identity, origin or self.page.origin)
        link.read_challenge()
        return link

    def proved(self, kind=WebSocket, **options):
        """Returns a link on which the key is proved."""
        link = self.open(kind, **options)
        link.send_frame(wire.WEB_PROOF, link.proof())
        return link

    def hello(self, **changes):
        hello = {
            "protocol": [1, 1],
            "session": base32(self.page.session),
            "name": "mallory",
            "incarnation": base32(self.incarnation),
            "port": 0,
            "addresses": [],
            "role": "member",
            "links": 0,
            "invitation": {},
            **changes,
        }
        return {key: value for key, value in hello.items() if value is not ...}

    def ask(self, link, key=None, **changes):
        """Sends HELLO and the proof of K; returns ACCEPT, or raises `Refused`."""
        link.send_frame(wire.HELLO, self.hello(**changes))
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            raise Refused(*parse_close(payload))
        self.theirs = parse_hello(payload, False)
        if self.theirs["admission"] == "code":
            sides = (link.exporter(BINDING), self.page.session, self.identity.peer_id, link.peer_id)
            proof = admission.code_proof(key or self.page.key, "joiner", *sides)
            link.send_frame(wire.CODE_PROOF, {"proof": wire.base64_text(proof)})
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            raise Refused(*parse_close(payload))
        if kind != wire.ACCEPT:
            raise AssertionError(f"not accepted: {kind:#04x} {payload}")
        accept = parse_accept(payload)
        if self.theirs["admission"] == "code":
            expected = admission.code_proof(key or self.page.key, "host", *sides)
            if accept["proof"] != expected:
                raise AssertionError("the gateway does not know K")
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        return accept

    def admitted(self, kind=WebSocket, **changes):
        link = self.proved(kind)
        self.ask(link, **changes)
        return link


class WebCase(SwiftCase):
    """Each test, or each class, has a host that serves browsers."""

    def gateway(self, *more, **options):
        """Starts a host; returns it with the link of its page."""
        options.setdefault("admit", "code")
        options["options"] = ("--web", *more)
        program = self.program("host", "Board", **options)
        program.ready()
        program.session = wire.parse_base32(program.board, 16)
        program.id = wire.parse_base32(program.peer, 32)
        program.page = self.page_of(program)
        return program

    def page_of(self, program, timeout=30):
        event = program.events.wait("invited", timeout, where=lambda event: event["link"].startswith("https:"))
        return PageLink(event["link"])

    def guest(self, program, carrier=WebSocket, page=None, **options):
        return self.peer("guest", kind=Guest, page=page or program.page, carrier=carrier, **options)

    def attacker(self, program, **options):
        return Attacker(program.page, **options)

    def keep(self, link):
        self.addCleanup(link.abort if hasattr(link, "abort") else link.close)
        return link

    def frame(self, link, wanted, timeout=10):
        deadline = time.monotonic() + timeout
        while True:
            kind, payload = link.read_frame(max(0.01, deadline - time.monotonic()))
            if kind == wanted:
                return payload
            if kind == wire.CLOSE:
                self.fail(f"closed with {payload}")

    def assert_closes(self, link, *codes, timeout=10):
        deadline = time.monotonic() + timeout
        while True:
            kind, payload = link.read_frame(max(0.01, deadline - time.monotonic()))
            if kind == wire.CLOSE:
                break
        code, message = parse_close(payload)
        self.assertIn(code, codes)
        self.assertRegex(message, r"^([A-Z]((?!\w\().)*\.)?$")
        link.abort()

    def assert_refused(self, code, attempt):
        with self.assertRaises(Refused) as raised:
            attempt()
        self.assertEqual(raised.exception.code, code)

    def assert_serves(self, program, source=None, within=10):
        """Lets an honest guest join, get an answer, and leave."""
        self.assertTrue(program.is_running(), program.log[-3_000:])
        began = time.monotonic()
        link = Attacker(program.page, source=source).admitted(name="good")
        link.send_frame(wire.PING, b"12345678")
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")
        link.close("left")
        program.do("say", text="still here", timeout=within)
        self.assertLess(time.monotonic() - began, within)

    def resident(self, program):
        status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


class SharedGateway(WebCase):
    """One process for all attacks, so that each attack meets the effects of those before."""

    @classmethod
    def setUpClass(cls):
        host = cls()
        cls.addClassCleanup(host.doCleanups)
        # Members whose links broke keep their places for a while.
        cls.host = host.gateway("--max-peers", "200")

    def tearDown(self):
        self.assert_serves(self.host)


class Guests(WebCase):
    def eventually_same(self, *boards, timeout=30):
        deadline = time.monotonic() + timeout
        while len({board.digest() for board in boards}) > 1:
            self.assertLess(time.monotonic(), deadline, "the boards differ")
            time.sleep(0.1)

    def native(self, program):
        native = self.program("join", program.link, name="native")
        native.events.wait("joined", 30, peer=program.peer)
        return native

    def test_web_2_web_6_a_guest_exchanges_the_board_with_the_host_and_a_peer_behind_it(self):
        program = self.gateway()
        native = self.native(program)
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                program.do("text", at=[0, 0], text="from the host")
                native.do("text", at=[0, 50], text="from a peer")
                guest = self.guest(program, carrier)
                remote = guest.enter()
                self.assertEqual(remote.peer_id, program.id)
                self.assertIsNone(guest.ticket, "WEB-6: a guest gets no ticket")
                program.events.wait("joined", peer=guest.identity.text)
                guest.wait_synced(remote)
                guest.add_text(100, 100, "from a guest")
                guest.say("hello")
                for other in (program, native):
                    other.events.wait("chat", 15, where=lambda event: event.get("text") == "hello")
                self.eventually_same(program, native, guest)
                guest.leave()
                program.events.wait("left", peer=guest.identity.text)

    def test_web_2_photos_go_both_ways_on_further_web_links(self):
        program = self.gateway()
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                guest = self.guest(program, carrier)
                remote = guest.enter()
                guest.wait_synced(remote)
                path = self.directory() / "p.png"
                path.write_bytes(png(300, 200) if carrier is WebSocket else png(200, 300))
                program.do("photo", file=str(path), at=[0, 0])
                sha256 = hashlib.sha256(path.read_bytes()).digest()
                self.assertEqual(guest.wait_asset(sha256).read_bytes(), path.read_bytes())
                file = self.file(3_000_000)
                remote.send_resource("big.bin", file)
                event = program.events.wait("resource-finished", 30, outcome="delivered", name="big.bin")
                self.assertEqual(pathlib.Path(event["path"]).read_bytes(), file.read_bytes())
                guest.leave()

    def test_web_7_a_guest_reaches_a_peer_through_the_gateway(self):
        program = self.gateway()
        native = self.peer("native", program.session, kind=BoardPeer)
        native.join(program.address, program.id, code=program.code)
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                attacker = self.attacker(program)
                link = self.keep(attacker.proved(carrier))
                accept = attacker.ask(link)
                self.assertEqual(attacker.theirs["role"], "relay")
                member = [m for m in accept["members"] if m["peer"] == native.id]
                self.assertEqual(len(member), 1)
                reach = relay.encode(relay.REACH, {"peer": native.id, "incarnation": native.incarnation})
                flags = wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS
                link.send_frame(wire.MESSAGE, encode_vint(1) + bytes([flags]) + reach)
                # The Python peer does not know relays, so it opens no route; sending to none is no error.
                send = relay.encode(relay.SEND, {"routes": [0, 7, 255]}, b"nobody")
                link.send_frame(wire.MESSAGE, encode_vint(2) + bytes([flags]) + send)
                link.send_frame(wire.RELAY_DATAGRAM, send)
                link.send_frame(wire.PING, b"abcdefgh")
                self.assertEqual(self.frame(link, wire.PONG), b"abcdefgh")

    def test_web_6_a_guest_resumes_without_the_secret(self):
        program = self.gateway()
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                guest = self.guest(program, carrier)
                remote = guest.enter()
                guest.wait_synced(remote)
                guest.events.wait("connected")
                # With another K, only RSM-2 admits.
                guest.page.secret, secret = bytes(16), guest.page.secret
                remote.cut()
                self.assertTrue(guest.events.wait("connected", 20)["resumed"])
                guest.page.secret = secret
                guest.leave()
                program.events.wait("left", peer=guest.identity.text)

    def test_web_6_admission_anyone_does_not_admit_a_guest_without_a_secret(self):
        program = self.gateway(admit="anyone")
        attacker = self.attacker(program)
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=os.urandom(32)))
        attacker.ask(self.keep(attacker.proved()))
        self.assertEqual(attacker.theirs["admission"], "code")

    def test_web_5_web_6_a_kicked_guest_does_not_return(self):
        program = self.gateway()
        bad, good = self.guest(program), self.guest(program, Posts)
        for guest in (bad, good):
            guest.enter()
            program.events.wait("joined", peer=guest.identity.text)
        program.do("kick", target=bad.identity.text, reason="enough")
        self.assert_kicked(bad, "enough")
        page = self.page_of(program)
        self.assertNotEqual(page.secret, program.page.secret)
        same = self.attacker(program, identity=bad.identity)
        self.assert_refused("kicked", lambda: same.admitted())
        other = self.attacker(program)
        self.assert_refused("wrong-code", lambda: other.admitted())
        # The other guests of this link, and guests with the new link, come in.
        good.leave()
        program.events.wait("left", peer=good.identity.text)
        self.keep(self.attacker(program, identity=good.identity).admitted())
        self.keep(Attacker(page).admitted())

    def test_web_10_a_link_expires_and_its_guests_are_removed(self):
        program = self.gateway()
        program.do("invite", web=True, expires="4s")
        page = self.page_of(program)
        here, gone = self.guest(program, page=page), self.guest(program, Posts, page=page)
        for guest in (here, gone):
            guest.enter()
            program.events.wait("joined", peer=guest.identity.text)
        gone.leave()
        program.events.wait("left", peer=gone.identity.text)
        self.assert_kicked(here, "The link has expired.")
        for guest in (here, gone):
            again = Attacker(page, identity=guest.identity)
            self.assert_refused("kicked", again.admitted)
            self.assert_native_refused(program, guest.identity, "kicked")
        self.assert_refused("wrong-code", Attacker(page).admitted)

    def test_web_10_revoked_links_remove_their_guests(self):
        program = self.gateway()
        guest = self.guest(program)
        guest.enter()
        program.events.wait("joined", peer=guest.identity.text)
        program.do("web", state="revoke")
        self.assert_kicked(guest, "The host revoked all browser links.")
        self.assert_refused("kicked", Attacker(program.page, identity=guest.identity).admitted)
        self.assert_refused("wrong-code", Attacker(program.page).admitted)
        self.assert_native_refused(program, guest.identity, "kicked")

    def assert_kicked(self, guest, message):
        closed = guest.events.wait("closed", 15)
        self.assertEqual((closed["code"], closed["message"]), ("kicked", message))

    def assert_native_refused(self, program, identity, *codes, **changes):
        attacker = Attacker(program.page, identity)
        link = Link.connect(program.address, identity)
        self.addCleanup(link.close, "left")
        link.send_frame(wire.HELLO, attacker.hello(**{"invitation": ..., **changes}))
        kind, payload = link.read_frame(5)
        if kind == wire.HELLO and "code" in codes:
            return self.assertEqual(parse_hello(payload, False)["admission"], "code")
        self.assertEqual(kind, wire.CLOSE, payload)
        self.assertIn(parse_close(payload)[0], codes)

    def test_web_6_a_guest_does_not_enter_by_the_port_for_peers(self):
        """What a guest learns does not admit it as a peer, neither during its access nor after it."""
        program = self.gateway()
        attacker = self.attacker(program)
        link = attacker.admitted()
        program.events.wait("joined", peer=attacker.identity.text)
        self.assert_native_refused(program, attacker.identity, "code", "unknown-admitter", "kicked", "not-known")
        link.close("left")
        program.events.wait("left", peer=attacker.identity.text)
        self.assert_native_refused(program, attacker.identity, "code", "unknown-admitter", "kicked", "not-known")
        program.do("web", state="off")
        self.assert_native_refused(program, attacker.identity, "code", "unknown-admitter", "kicked", "not-known")

    def test_web_6_a_guest_admits_nobody(self):
        """A ticket that a guest signed, or that a member signed for a guest, does not count at the gateway."""
        program = self.gateway()
        attacker, friend = self.attacker(program), Identity()
        native = self.peer("native", program.session, kind=BoardPeer)
        native.join(program.address, program.id, code=program.code)
        self.keep(attacker.admitted())
        program.events.wait("joined", peer=attacker.identity.text)
        for_guest = admission.make_ticket(native.identity, program.session, attacker.identity.peer_id)
        self.assert_native_refused(program, attacker.identity, "code", "unknown-admitter", ticket=for_guest)
        for_friend = admission.make_ticket(attacker.identity, program.session, friend.peer_id)
        self.assert_native_refused(program, friend, "code", "unknown-admitter", ticket=for_friend)
        chained = {**for_friend, "via": [for_guest]}
        self.assert_native_refused(program, friend, "code", "unknown-admitter", ticket=chained)
        # A peer that a member admits still comes in.
        honest = admission.make_ticket(native.identity, program.session, friend.peer_id)
        link = Link.connect(program.address, friend)
        self.addCleanup(link.close, "left")
        link.send_frame(wire.HELLO, Attacker(program.page, friend).hello(ticket=honest, invitation=...))
        self.assertEqual(parse_hello(link.read_frame(5)[1], False)["admission"], "none")

    def test_web_6_a_guest_does_not_return_as_a_peer_after_a_restart(self):
        program = self.gateway()
        attacker = self.attacker(program)
        link = attacker.admitted()
        program.events.wait("joined", peer=attacker.identity.text)
        program.do("save")
        time.sleep(1)  # Links and members are stored soon after they change.
        program.process.kill()
        program.process.wait()
        link.abort()
        again = Program("host", "Board", directory=program.directory, options=("--admit", "code", "--web"))
        self.addCleanup(again.stop)
        again.ready()
        again.session, again.page = program.session, program.page
        self.assert_native_refused(again, attacker.identity, "code", "unknown-admitter", "not-known")
        # The link of the crashed process still admits it (WEB-10).
        origin = self.page_of(again)
        attacker.page.origin, attacker.address = origin.origin, ("127.0.0.1", origin.address[1])
        attacker.incarnation = os.urandom(8)
        self.keep(attacker.admitted())

    def test_web_6_no_session_lets_browsers_join(self):
        program = self.gateway()
        for session in (bytes(16), os.urandom(16)):
            attacker = self.attacker(program)
            self.assert_refused(
                "no-such-session", lambda: attacker.ask(attacker.proved(), session=base32(session))
            )
        program.do("web", state="off")
        with self.assertRaises(OSError):
            self.attacker(program).http()

    def test_web_9_the_certificate(self):
        program = self.gateway()
        connection = self.attacker(program).http()
        self.addCleanup(connection.close)
        certificate = x509.load_der_x509_certificate(connection._tls.getpeercert(binary_form=True))
        self.assertIsInstance(certificate.public_key().curve, ec.SECP256R1)
        lifetime = certificate.not_valid_after - certificate.not_valid_before
        self.assertLessEqual(lifetime, datetime.timedelta(days=397))
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        self.assertIn("127.0.0.1", map(str, names.get_values_for_type(x509.IPAddress)))
        connection.send(request("GET", "/ca.crt", [("Host", program.page.authority)]))
        authority = x509.load_der_x509_certificate(connection.answer().body)
        authority.public_key().verify(
            certificate.signature, certificate.tbs_certificate_bytes, ec.ECDSA(certificate.signature_hash_algorithm)
        )
        self.assertGreater(authority.not_valid_after, certificate.not_valid_after)
        connection.send(request("GET", "/about.json", [("Host", program.page.authority)]))
        about = json.loads(connection.answer().body)
        digest = certificate.fingerprint(hashes.SHA256())
        self.assertEqual(about, {"authority": True, "fingerprint": ":".join(f"{byte:02X}" for byte in digest)})

    def test_secrets_are_in_no_log_and_no_answer(self):
        """Neither the secret, nor K, nor the fragment leaves the program, except in the link itself."""
        program = self.gateway("--log-level", "trace")
        page = program.page
        seen = []
        attacker = self.attacker(program)
        connection = attacker.http()
        self.addCleanup(connection.close)
        for path in ("/", "/about.json", "/ca.crt", "/app.mjs", "/nothing", "/index.html?" + page.fragment):
            connection.send(request("GET", path, [("Host", page.authority)]))
            answer = connection.answer()
            seen.append((str(answer.headers).encode(), answer.body))
            if answer.header("connection") == "close":
                connection.close()
                connection = attacker.http()
        for carrier in CARRIERS:
            guest = self.guest(program, carrier)
            guest.wait_synced(guest.enter())
            with contextlib.suppress(Refused):
                other = self.attacker(program)
                other.ask(other.proved(carrier), key=os.urandom(32))
            guest.leave()
        program.do("invite", web=True, expires="1h")
        second = self.page_of(program)
        program.do("web", state="revoke")
        program.stop()
        texts = [pathlib.Path(program._log.name).read_bytes()]
        self.assertIn(b" debug ", texts[0])
        for headers, body in seen:
            texts += [headers, body]
        for one in (page, second):
            for secret in (
                one.secret_text.encode(), one.secret, one.secret.hex().encode(), one.key, one.key.hex().encode(),
                base32(one.key).encode(), wire.base64_text(one.key).encode(), wire.base64_text(one.secret).encode(),
                one.fragment.encode(),
            ):
                for text in texts:
                    self.assertNotIn(secret, text)
                    self.assertNotIn(secret.upper(), text)


class Openings(SharedGateway):
    """WEB-3: the first two frames, on both kinds of links."""

    def each(self):
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                attacker = self.attacker(self.host)
                yield attacker, self.keep(attacker.open(carrier))

    def test_web_3_another_first_frame(self):
        frames = [
            encode_frame(kind, b"{}") for kind in sorted(wire.KNOWN_TYPES - {wire.WEB_PROOF, wire.CLOSE})
        ]
        for frame in [*frames, encode_frame(wire.HELLO, self.attacker(self.host).hello())]:
            attacker = self.attacker(self.host)
            link = self.keep(attacker.open())
            link.send(frame)
            self.assert_closes(link, "protocol-error")
        for attacker, link in self.each():
            link.send_frame(wire.HELLO, attacker.hello())
            self.assert_closes(link, "protocol-error")

    def test_web_3_frames_over_8192_bytes(self):
        for attacker, link in self.each():
            link.send(bytes([wire.WEB_PROOF]) + encode_vint(8_193))
            self.assert_closes(link, "too-large")

    def test_web_3_a_second_proof(self):
        for attacker, link in self.each():
            link.send_frame(wire.WEB_PROOF, link.proof())
            link.send_frame(wire.WEB_PROOF, link.proof())
            self.assert_closes(link, "protocol-error")

    def test_frm_4_web_frames_on_other_links(self):
        for kind in (wire.WEB_CHALLENGE, wire.WEB_PROOF):
            link = Link.connect(self.host.address, Identity())
            self.addCleanup(link.close, "left")
            link.send_frame(kind, {})
            self.assert_closes(link, "protocol-error")
        for kind in (wire.WEB_CHALLENGE, wire.WEB_PROOF):
            link = self.keep(self.attacker(self.host).admitted())
            link.send_frame(kind, {})
            self.assert_closes(link, "protocol-error")

    def test_web_3_proofs_that_are_not_valid(self):
        good = Identity()
        zero, r = bytes(64), (1).to_bytes(32, "big")
        order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
        changes = [
            {"signature": wire.base64_text(zero)},
            {"signature": wire.base64_text(r + r)},
            {"signature": wire.base64_text(order.to_bytes(32, "big") * 2)},
            {"signature": wire.base64_text(b"\xff" * 64)},
            {"signature": wire.base64_text(bytes(63))},
            {"signature": wire.base64_text(bytes(65))},
            {"signature": ""},
            {"signature": "!"},
            {"signature": 7},
            {"signature": None},
            {"key": wire.base64_text(Identity().public_key_info)},
            {"key": ""},
            {"key": wire.base64_text(bytes(91))},
            {"key": wire.base64_text(good.public_key_info[:-1])},
            {"key": wire.base64_text(good.public_key_info + b"\0")},
            {"key": wire.base64_text(bytes(129))},
            {"key": wire.base64_text(good.public_key_info[:-64] + bytes(64))},
            {"nonce": wire.base64_text(bytes(32))},
            {"nonce": wire.base64_text(bytes(31))},
            {"nonce": 1},
        ]
        for change in changes:
            with self.subTest(change=change):
                link = self.keep(self.attacker(self.host).open())
                link.send_frame(wire.WEB_PROOF, {**link.proof(), **change})
                self.assert_closes(link, "protocol-error")

    def test_web_3_keys_that_are_not_p_256(self):
        for curve in (ec.SECP384R1(), ec.SECP521R1(), ec.SECP256K1()):
            link = self.keep(self.attacker(self.host, identity=Identity(curve)).open())
            link.send_frame(wire.WEB_PROOF, link.proof())
            self.assert_closes(link, "protocol-error")

    def test_web_3_a_signature_for_another_origin(self):
        port = self.host.page.address[1]
        for origin in ("https://evil.example", f"http://127.0.0.1:{port}", f"https://localhost:{port}", ""):
            link = self.keep(self.attacker(self.host).open())
            link.send_frame(wire.WEB_PROOF, link.proof(origin or f"https://127.0.0.1:{port + 1}"))
            self.assert_closes(link, "protocol-error")

    def test_web_3_a_proof_replayed_on_another_link(self):
        attacker = self.attacker(self.host)
        link = self.keep(attacker.open())
        proof = link.proof()
        link.send_frame(wire.WEB_PROOF, proof)
        attacker.ask(link)
        again = self.keep(attacker.open())
        again.send_frame(wire.WEB_PROOF, proof)
        self.assert_closes(again, "protocol-error")

    def test_lnk_6_a_proof_that_does_not_come(self):
        began = time.monotonic()
        links = [self.keep(self.attacker(self.host).open(carrier)) for carrier in CARRIERS]
        silent = self.keep(self.attacker(self.host).proved())
        self.assert_closes(silent, "timed-out")
        self.assertLess(time.monotonic() - began, 8)
        for link in links:
            with self.assertRaises(LinkBroken) as raised:
                link.read_frame(12)
            self.assertNotIsInstance(raised.exception, LinkTimeout)
        self.assertLess(time.monotonic() - began, 14)

    def test_web_6_hello_that_a_page_must_not_send(self):
        attacker = self.attacker(self.host)
        signer = Identity()
        ticket = admission.make_ticket(signer, self.host.session, attacker.identity.peer_id)
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=bytes(32), ticket=ticket))
        # Without an invitation, and with a ticket, a guest needs K all the same.
        attacker = self.attacker(self.host)
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=bytes(32), invitation=...))
        key = wire.base64_text(attacker.identity.public_key_info)
        grant = wire.base64_text(bytes(70))
        carry = {"name": "x", "admission": "anyone", "grant": grant, "key": key}
        self.assert_refused("protocol-error", lambda: attacker.ask(attacker.proved(), carry=carry))

    def test_web_6_resuming_what_another_guest_has(self):
        victim = self.attacker(self.host)
        link = self.keep(victim.admitted())
        resume = {"incarnation": base32(victim.theirs["incarnation"]), "received": 0, "since": 1}
        thief = self.attacker(self.host)
        thief.incarnation = victim.incarnation
        self.assert_refused("wrong-code", lambda: thief.ask(thief.proved(), key=bytes(32), resume=resume))
        link.send_frame(wire.PING, b"12345678")
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")

    def test_attach_without_the_proof_of_the_control_link(self):
        for carrier in CARRIERS:
            attacker = self.attacker(self.host)
            control = self.keep(attacker.admitted(carrier))
            for proof in (bytes(32), None):
                bulk = self.keep(attacker.proved(carrier))
                proof = proof or attach_proof(control.exporter(ATTACH_LABEL), control.exporter(ATTACH_LABEL))
                attach = {
                    "session": base32(self.host.session), "incarnation": base32(attacker.incarnation),
                    "opener": "dialler", "proof": wire.base64_text(proof),
                }
                bulk.send_frame(wire.ATTACH, attach)
                self.assert_closes(bulk, "not-attached")


class Requests(SharedGateway):
    """WEB-8: the heads and bodies of requests."""

    def setUp(self):
        self.page = self.host.page

    def raw(self, data, timeout=10):
        """Sends bytes; returns the status of the answer, or None if the connection ends without one."""
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        with contextlib.suppress(LinkBroken):
            connection.send(data)
        try:
            return connection.answer(timeout).status
        except LinkTimeout:
            raise
        except LinkBroken:
            return None

    def get(self, path="/", *more, host=None):
        return request("GET", path, [("Host", host or self.page.authority), *more])

    def post(self, path, body=b"", *more, origin=None, length=True):
        headers = [("Host", self.page.authority), ("Origin", origin or self.page.origin)]
        if length:
            headers.append(("Content-Length", len(body)))
        return request("POST", path, [*headers, *more], body)

    def test_the_headers_of_the_page(self):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        for path in ("/", "/about.json", "/ca.crt", "/app.mjs", "/app.css"):
            connection.send(self.get(path))
            answer = connection.answer()
            self.assertEqual(answer.status, 200, path)
            policy = answer.header("content-security-policy")
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe-inline", policy)
            self.assertNotIn("'unsafe-eval'", policy)
            self.assertEqual(answer.header("referrer-policy"), "no-referrer")
            self.assertEqual(answer.header("x-content-type-options"), "nosniff")
            self.assertIsNone(answer.header("access-control-allow-origin"))

    def test_web_8_another_host(self):
        port = self.page.address[1]
        for host in ("evil.example", "127.0.0.1", f"127.0.0.1:{port + 1}", f"evil.example:{port}", f"127.0.0.1:{port}@evil",
                     f"127.0.0.1.:{port}", "", f"[::1]:{port + 1}", f"127.0.0.1:{port}, evil.example"):
            with self.subTest(host=host):
                self.assertIn(self.raw(request("GET", "/", [("Host", host)])), (400, 421))
        self.assertIn(self.raw(request("GET", "/")), (400, 421))
        two = request("GET", "/", [("Host", self.page.authority), ("Host", "evil.example")])
        self.assertIn(self.raw(two), (400, 421))
        self.assertEqual(self.raw(self.get(host=f"localhost:{port}")), 200)
        self.assertEqual(self.raw(self.get(host=f"LOCALHOST:{port}")), 200)

    def test_web_8_another_origin(self):
        port = self.page.address[1]
        origins = ["https://evil.example", f"https://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port}", "null",
                   f"https://localhost:{port}", f"https://127.0.0.1:{port}/", f"https://127.0.0.1:{port}, https://evil",
                   "https://127.0.0.1", f"HTTPS://127.0.0.1:{port}", ""]
        for origin in origins:
            with self.subTest(origin=origin):
                with self.assertRaises(Refusal) as raised:
                    self.attacker(self.host).carrier(headers={"Origin": origin})
                self.assertIn(raised.exception.status, (400, 403, 426))
                headers = [("Host", self.page.authority), ("Origin", origin), ("Content-Length", 0)]
                self.assertEqual(self.raw(request("POST", "/link", headers)), 403)
        with self.assertRaises(Refusal):
            self.attacker(self.host).carrier(headers={"Origin": None})
        headers = [("Host", self.page.authority), ("Content-Length", 0)]
        self.assertEqual(self.raw(request("POST", "/link", headers)), 403)
        twice = [("Host", self.page.authority), ("Origin", self.page.origin), ("Origin", self.page.origin)]
        self.assertEqual(self.raw(request("POST", "/link", [*twice, ("Content-Length", 0)])), 403)
        upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                   ("Sec-WebSocket-Key", wire.base64_text(bytes(16))), ("Sec-WebSocket-Protocol", SUBPROTOCOL)]
        self.assertEqual(self.raw(request("GET", "/link", [*twice, *upgrade])), 426)

    def test_web_2_a_websocket_without_what_it_needs(self):
        for headers in (
            {"Sec-WebSocket-Protocol": None}, {"Sec-WebSocket-Protocol": "chat"}, {"Sec-WebSocket-Key": None},
            {"Sec-WebSocket-Key": "x"}, {"Sec-WebSocket-Version": "12"}, {"Upgrade": "h2c"}, {"Connection": "close"},
            {"Host": "evil.example"}, {"Content-Length": "5"}, {"Transfer-Encoding": "chunked"},
        ):
            with self.subTest(headers=headers):
                try:
                    socket_ = self.attacker(self.host).carrier(headers=headers)
                except (Refusal, LinkBroken):
                    continue
                except wire.Violation:
                    continue
                # A request with a body is answered only after the body.
                self.keep(socket_)
                self.fail("the WebSocket opened")

    def test_web_2_only_get_opens_a_websocket(self):
        upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                   ("Sec-WebSocket-Key", wire.base64_text(bytes(16))), ("Sec-WebSocket-Protocol", SUBPROTOCOL),
                   ("Host", self.page.authority), ("Origin", self.page.origin), ("Content-Length", 0)]
        for method in ("POST", "PUT", "HEAD"):
            self.assertNotEqual(self.raw_head(request(method, "/link", upgrade)), 101, method)

    def raw_head(self, data):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        connection.send(data)
        try:
            return connection.head().status
        except LinkBroken:
            return None

    def test_web_8_smuggled_requests(self):
        """No bytes after a request with an ambiguous length are taken as a further request."""
        inner = self.get("/about.json")
        base = f"POST /link HTTP/1.1\r\nHost: {self.page.authority}\r\nOrigin: {self.page.origin}\r\n".encode()
        for name, headers in {
            "both": b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
            "both, the other order": b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
            "two lengths": b"Content-Length: 0\r\nContent-Length: 5\r\n",
            "the same length twice": b"Content-Length: 0\r\nContent-Length: 0\r\n",
            "a list of lengths": b"Content-Length: 0, 0\r\n",
            "a sign": b"Content-Length: +0\r\n",
            "a negative length": b"Content-Length: -1\r\n",
            "a length in hexadecimal": b"Content-Length: 0x0\r\n",
            "a huge length": b"Content-Length: 99999999999999999999999\r\n",
            "no length": b"",
            "an empty length": b"Content-Length:\r\n",
            "xchunked": b"Transfer-Encoding: xchunked\r\n",
            "identity": b"Transfer-Encoding: identity\r\nContent-Length: 0\r\n",
            "chunked": b"Transfer-Encoding: chunked\r\n",
            "chunked twice": b"Transfer-Encoding: chunked, chunked\r\nContent-Length: 0\r\n",
            "a space before the colon": b"Content-Length : 0\r\n",
            "a folded header": b"X: a\r\n Content-Length: 5\r\nContent-Length: 0\r\n",
            "a folded length": b"Content-Length:\r\n 0\r\n",
            "a bare line feed": b"Content-Length: 0\nX: 1\r\n",
            "a bare carriage return": b"Content-Length: 0\rX: 1\r\n",
            "a zero byte": b"Content-Length: 0\0\r\n",
            "a name that is no token": b"Content-Length: 0\r\nX y: 1\r\n",
        }.items():
            with self.subTest(name):
                connection = self.attacker(self.host).http()
                self.addCleanup(connection.close)
                connection.send(base + headers + b"\r\n" + b"0\r\n\r\n" + inner)
                try:
                    first = connection.head()
                except LinkBroken:
                    continue
                if first.status == 200 and first.header("whiteboard-link"):
                    # Only one length, twice the same, opens a link, which is the only answer.
                    self.assertIn(name, ("a bare line feed",), "the link opened")
                    continue
                self.assertGreaterEqual(first.status, 400)
                rest = bytearray(connection.buffer)
                with contextlib.suppress(LinkTimeout):
                    while connection.fill(time.monotonic() + 3):
                        pass
                rest = bytes(connection.buffer)
                self.assertNotIn(b"fingerprint", rest)

    def test_web_2_a_pipelined_request_behind_a_link(self):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        connection.send(self.post("/link") + self.get("/about.json") + self.get("/about.json"))
        answer = connection.head()
        self.assertEqual(answer.status, 200)
        with contextlib.suppress(LinkBroken, LinkTimeout):
            deadline = time.monotonic() + 15
            while data := connection.chunk(deadline):
                self.assertNotIn(b"fingerprint", data)

    def test_pipelined_requests_are_answered_in_order(self):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        connection.send(self.get("/about.json") + self.get("/") + self.get("/ca.crt") + self.get("/nothing"))
        kinds = [connection.answer().header("content-type").split(";")[0] for _ in range(4)]
        self.assertEqual(kinds, ["application/json", "text/html", "application/x-x509-ca-cert", "text/plain"])

    def test_web_8_bodies_where_none_belongs(self):
        self.assertIn(self.raw(request("GET", "/", [("Host", self.page.authority), ("Content-Length", 4)], b"body")), (400, 413))
        self.assertEqual(self.raw(self.post("/link", b"body")), 400)
        chunked = request("GET", "/", [("Host", self.page.authority), ("Transfer-Encoding", "chunked")], b"4\r\nbody\r\n0\r\n\r\n")
        self.assertIn(self.raw(chunked), (400, 411))

    def test_web_8_heads_that_are_too_long(self):
        for name, data in {
            "a path": self.get("/" + "a" * 40_000),
            "a query": self.get("/?" + "a" * 40_000),
            "a header": self.get("/", ("X", "a" * 40_000)),
            "a name": self.get("/", ("X" * 40_000, "a")),
            "all": self.get("/", *[(f"X-{n}", "a" * 1_000) for n in range(40)]),
            "many": self.get("/", *[(f"X-{n}", "a") for n in range(200)]),
            "many of one name": self.get("/", *[("X", "")] * 2_000),
            "a method": b"A" * 40_000 + b" / HTTP/1.1\r\n\r\n",
            "a version": b"GET / HTTP/1." + b"1" * 40_000 + b"\r\n\r\n",
            "cookies": self.get("/", *[("Cookie", "a" * 400)] * 100),
        }.items():
            with self.subTest(name):
                status = self.raw(data)
                self.assertIn(status, (None, 400, 413, 414, 431), name)

    def test_web_8_trailers_without_an_end(self):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        before = self.resident(self.host)
        head = request("GET", "/", [("Host", self.page.authority), ("Transfer-Encoding", "chunked")], b"0\r\n")
        with contextlib.suppress(LinkBroken):
            connection.send(head)
            for number in range(20_000):
                connection.send(b"X-%d: %s\r\n" % (number, b"a" * 1_000))
        self.assertLess(self.resident(self.host) - before, 30_000_000)

    def test_garbage(self):
        for data in (b"\0" * 100, b"\x16\x03\x01" * 50, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\r\n" * 1_000 + b"x", b"GET  / HTTP/1.1\r\n\r\n", b"GET /\r\n\r\n", "GET /ü HTTP/1.1\r\n\r\n".encode(),
                     b"CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n", b"OPTIONS * HTTP/1.1\r\n\r\n",
                     self.get("http://evil.example/"), self.get("/../../etc/passwd"), self.get("/%2e%2e/%2e%2e/etc/passwd"),
                     self.get("//etc/passwd"), request("TRACE", "/", [("Host", self.page.authority)]),
                     request("DELETE", "/link", [("Host", self.page.authority)])):
            with self.subTest(data=data[:40]):
                status = self.raw(data, timeout=35)
                self.assertTrue(status is None or status >= 400, status)


class Posting(SharedGateway):
    """WEB-2: bodies of requests."""

    def opened(self):
        attacker = self.attacker(self.host)
        link = self.keep(attacker.open(Posts))
        return attacker, link, link.transport

    def test_positions_that_are_wrong(self):
        attacker, link, posts = self.opened()
        frame = encode_frame(wire.WEB_PROOF, link.proof())
        for position in (1, 5, 2**31, 2**53, 2**63 - 1):
            answer = posts.post(frame, position)
            self.assertEqual((answer.status, answer.header("whiteboard-position")), (409, "0"))
        for position in (-1, -(2**63), 2**63, 2**64, 10**30, "", "x", "0x0", "1e3", "0 0", "٠"):
            with self.subTest(position=position):
                text = position.encode("utf-8").decode("latin-1") if isinstance(position, str) else position
                answer = posts.post(frame, text)
                self.assertIn(answer.status, (400, 409))
        link.send(frame)
        attacker.ask(link)

    def test_web_2_a_body_sent_again(self):
        attacker, link, posts = self.opened()
        frame = encode_frame(wire.WEB_PROOF, link.proof())
        half = len(frame) // 2
        self.assertEqual(posts.post(frame[:half], 0).status, 204)
        for _ in range(3):
            answer = posts.post(frame[:half], 0)
            self.assertEqual((answer.status, answer.header("whiteboard-position")), (409, str(half)))
        self.assertEqual(posts.post(b"", half).status, 204)
        posts.position = half
        link.send(frame[half:])
        attacker.ask(link)

    def test_a_body_of_every_size(self):
        attacker, link, posts = self.opened()
        link.send_frame(wire.WEB_PROOF, link.proof())
        attacker.ask(link)
        ping = encode_frame(wire.PING, b"12345678")
        link.send(encode_frame(0x80, bytes(65_000)) * 4)
        for piece in (ping[:1], ping[1:2], ping[2:]):
            link.send(piece)
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")
        self.assertEqual(posts.post(bytes(MAXIMUM_POST + 1)).status, 413)
        link.send_frame(wire.PING, b"abcdefgh")
        self.assertEqual(self.frame(link, wire.PONG), b"abcdefgh")

    def test_unknown_links(self):
        _, _, posts = self.opened()
        own = posts.id
        self.assertEqual(posts.post(b"x", 0).status, 204)
        for other in (base32(os.urandom(16)), "x", own[:-1], own.upper(), own + "a", own + "/", "../link/" + own, ""):
            posts.id = other
            self.assertIn(posts.post(b"x", 1).status, (400, 404), other)

    def test_a_link_that_has_ended(self):
        _, link, posts = self.opened()
        posts.connection.close()
        deadline = time.monotonic() + 10
        while posts.post(b"", 0).status != 404:
            self.assertLess(time.monotonic(), deadline, "the link has not ended")
            time.sleep(0.1)

    def test_two_bodies_at_once(self):
        """At most one of two bodies for the same position arrives."""
        attacker, link, posts = self.opened()
        link.send_frame(wire.WEB_PROOF, link.proof())
        attacker.ask(link)
        start, statuses = posts.position, []

        def post(byte):
            with contextlib.suppress(LinkBroken):
                connection = attacker.http()
                statuses.append(posts.post(encode_frame(wire.PING, byte * 8), start, connection).status)
                connection.close()

        threads = [threading.Thread(target=post, args=(bytes([65 + number]),)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses.count(204), 1, statuses)
        self.assertTrue(set(statuses) <= {204, 409, 429}, statuses)
        posts.position = start + 10
        link.send_frame(wire.PING, b"abcdefgh")
        self.assertEqual(len(self.frame(link, wire.PONG)), 8)
        self.assertEqual(self.frame(link, wire.PONG), b"abcdefgh")

    def test_a_body_shorter_than_announced(self):
        attacker, link, posts = self.opened()
        connection = attacker.http()
        self.addCleanup(connection.close)
        head = [("Host", posts.authority), ("Origin", posts.origin), ("Content-Length", 100), ("Whiteboard-Position", 0)]
        connection.send(request("POST", f"/link/{posts.id}", head, b"\x09"))
        connection.close()
        # Nothing of it arrived.
        link.send_frame(wire.WEB_PROOF, link.proof())
        attacker.ask(link)

    def test_a_body_longer_than_announced(self):
        attacker, link, posts = self.opened()
        connection = attacker.http()
        self.addCleanup(connection.close)
        frame = encode_frame(wire.WEB_PROOF, link.proof())
        head = [("Host", posts.authority), ("Origin", posts.origin), ("Content-Length", len(frame)), ("Whiteboard-Position", 0)]
        connection.send(request("POST", f"/link/{posts.id}", head, frame + b"more bytes\r\n\r\n"))
        self.assertEqual(connection.answer().status, 204)
        with contextlib.suppress(LinkBroken):
            self.assertGreaterEqual(connection.answer().status, 400)
        posts.position = len(frame)
        attacker.ask(link)


class Sockets(SharedGateway):
    """WEB-2: the frames of a WebSocket (RFC 6455)."""

    def ready(self):
        link = self.keep(self.attacker(self.host).admitted())
        return link, link.transport

    def closes(self, link, *codes):
        """Expects that the gateway closes the WebSocket, with one of `codes` if it names one."""
        with self.assertRaises(LinkBroken) as raised:
            deadline = time.monotonic() + 6
            while time.monotonic() < deadline:
                link.transport.receive(deadline)
        self.assertNotIsInstance(raised.exception, LinkTimeout, "the WebSocket stays open")
        if link.transport.closed_with is not None:
            self.assertIn(link.transport.closed_with, codes)

    def test_frames_that_break_rfc_6455(self):
        ping = encode_frame(wire.PING, b"12345678")
        frame = WebSocket.frame
        for name, data, codes in (
            ("not masked", frame(BINARY_MESSAGE, ping, masked=False), (1002,)),
            ("not masked, and empty", frame(BINARY_MESSAGE, masked=False), (1002,)),
            ("a ping that is not masked", frame(PING, masked=False), (1002,)),
            ("text", frame(TEXT, b"hello"), (1002, 1003)),
            ("a continuation of nothing", frame(CONTINUATION, ping), (1002,)),
            ("a message in a message", frame(BINARY_MESSAGE, ping, fin=False) + frame(BINARY_MESSAGE, ping), (1002,)),
            ("text in a message", frame(BINARY_MESSAGE, ping, fin=False) + frame(TEXT, b"x"), (1002, 1003)),
            ("a ping in parts", frame(PING, b"x", fin=False), (1002,)),
            ("a close in parts", frame(CLOSING, fin=False), (1002,)),
            ("a long ping", frame(PING, bytes(126)), (1002,)),
            ("a long pong", frame(PONG, bytes(126)), (1002,)),
            ("a long close", frame(CLOSING, bytes(126)), (1002,)),
            ("a reserved bit", frame(BINARY_MESSAGE, ping, reserved=4), (1002,)),
            ("another reserved bit", frame(BINARY_MESSAGE, ping, reserved=2), (1002,)),
            ("the last reserved bit", frame(BINARY_MESSAGE, ping, reserved=1), (1002,)),
            ("a ping with a reserved bit", frame(PING, b"x", reserved=4), (1002,)),
            ("opcode 3", frame(3, b"x"), (1002,)),
            ("opcode 11", frame(11, b"x"), (1002,)),
            ("too long", frame(BINARY_MESSAGE, b"x" * 100, length=MAXIMUM_MESSAGE + 1), (1009,)),
            ("far too long", frame(BINARY_MESSAGE, b"x" * 100, length=2**63 - 1), (1002, 1009)),
            ("a negative length", frame(BINARY_MESSAGE, b"x" * 100, length=2**64 - 1), (1002, 1009)),
        ):
            with self.subTest(name):
                link, socket_ = self.ready()
                socket_.connection.send(data)
                self.closes(link, *codes)
                link.abort()

    def test_web_2_a_message_in_parts_that_is_too_long(self):
        link, socket_ = self.ready()
        part = encode_frame(0x80, bytes(30_000))
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, part, fin=False))
        socket_.connection.send(WebSocket.frame(CONTINUATION, part, fin=False))
        socket_.connection.send(WebSocket.frame(CONTINUATION, part, fin=False))
        self.closes(link, 1009)

    def test_web_2_cuts_have_no_meaning(self):
        link, socket_ = self.ready()
        ping = encode_frame(wire.PING, b"12345678")
        for byte in ping:
            socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, bytes([byte])))
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")
        first, *middle, last = [ping[index : index + 1] for index in range(len(ping))]
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, first, fin=False))
        for part in middle:
            socket_.connection.send(WebSocket.frame(CONTINUATION, part, fin=False))
            socket_.connection.send(WebSocket.frame(PONG, b"between"))
        socket_.connection.send(WebSocket.frame(CONTINUATION, b"", fin=False))
        socket_.connection.send(WebSocket.frame(CONTINUATION, last))
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")
        longest = encode_frame(0x80, bytes(wire.MAXIMUM_PAYLOAD)) + encode_frame(0x81, b"..")
        self.assertEqual(len(longest), MAXIMUM_MESSAGE)
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, longest))
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, ping * 5))
        self.assertEqual(self.frame(link, wire.PONG), b"12345678")

    def test_the_closing_handshake(self):
        for data in (b"", struct.pack(">H", 1000), struct.pack(">H", 1001) + b"bye", b"x", b"\xff\xff", struct.pack(">H", 1000) + b"\xff"):
            link, socket_ = self.ready()
            socket_.connection.send(WebSocket.frame(CLOSING, data))
            self.closes(link, 1000, 1001, 1002, 1007)

    def test_pings_are_answered(self):
        link, socket_ = self.ready()
        socket_.connection.send(WebSocket.frame(PING, b"p" * 125))
        deadline = time.monotonic() + 5
        while (frame := socket_.read(deadline))[0] != PONG:
            pass
        self.assertEqual(frame, (PONG, b"p" * 125))

    def test_data_behind_the_request(self):
        """Frames that arrive with the request are those of the WebSocket."""
        attacker = self.attacker(self.host)
        connection = attacker.http()
        self.addCleanup(connection.close)
        headers = [("Host", self.host.page.authority), ("Origin", self.host.page.origin), ("Connection", "Upgrade"),
                   ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                   ("Sec-WebSocket-Key", wire.base64_text(bytes(16))), ("Sec-WebSocket-Protocol", SUBPROTOCOL)]
        connection.send(request("GET", "/link", headers) + WebSocket.frame(PING, b"early"))
        self.assertEqual(connection.head().status, 101)
        deadline, data = time.monotonic() + 5, b""
        while b"early" not in connection.buffer:
            self.assertTrue(connection.fill(deadline))

    def test_a_flood_of_pings_whose_answers_nobody_reads(self):
        attacker = self.attacker(self.host)
        link = self.keep(WebLink(attacker.carrier(receive_buffer=4_096), attacker.identity, attacker.page.origin))
        link.read_challenge()
        link.send_frame(wire.WEB_PROOF, link.proof())
        attacker.ask(link)
        before = self.resident(self.host)
        pings = WebSocket.frame(PING, bytes(125)) * 500
        with contextlib.suppress(LinkBroken):
            for _ in range(200):
                link.transport.connection.send(pings)
        inner = WebSocket.frame(BINARY_MESSAGE, encode_frame(wire.PING, b"12345678") * 1_600)
        with contextlib.suppress(LinkBroken):
            for _ in range(100):
                link.transport.connection.send(inner)
        self.assertLess(self.resident(self.host) - before, 40_000_000)


class Load(WebCase):
    def test_web_8_connections_from_one_address(self):
        """One address gets at most 256 connections, and guests and peers from others still get in."""
        program = self.gateway()
        held = []
        for _ in range(290):
            with contextlib.suppress(OSError, LinkBroken):
                held.append(self.keep(Attacker(program.page, source="127.0.0.2").http(timeout=3)))
        self.assertLessEqual(len(held), 256)
        self.assertGreater(len(held), 150)
        self.assert_serves(program, source="127.0.0.1")
        native = self.peer("native", program.session, kind=BoardPeer)
        native.join(program.address, program.id, code=program.code)

    def test_web_1_links_that_are_refused_are_closed(self):
        """If too many links wait for admission, further links are closed, and do not use up connections."""
        program = self.gateway()
        attackers = [Attacker(program.page, source="127.0.0.2") for _ in range(60)]
        opened, refused = [], []
        for attacker in attackers:
            try:
                carrier = self.keep(attacker.carrier(timeout=3))
            except (Refusal, LinkBroken, OSError):
                continue
            link = WebLink(carrier, attacker.identity, program.page.origin)
            try:
                link.read_challenge(2)
                opened.append(link)
            except LinkTimeout:
                refused.append(link)
                break
            except LinkBroken:
                pass
        self.assertEqual(refused, [], "a refused link stays open")
        self.assertLessEqual(len(opened), 16)
        self.assert_serves(program, source="127.0.0.3")
        link = Link.connect(program.address, Identity(), source="127.0.0.4")
        link.abort()

    def test_web_8_a_request_that_arrives_slowly(self):
        """The whole head, and the whole body, must arrive in time, even if some bytes arrive again and again."""
        program = self.gateway()
        guest = self.guest(program, Posts)
        guest.enter()
        posts = next(iter(guest.remotes.values())).control.link.transport
        head = [("Host", posts.authority), ("Origin", posts.origin), ("Content-Length", 1_000),
                ("Whiteboard-Position", posts.position)]
        slow = {
            "nothing": b"",
            "a head": b"GET / HTTP/1.1\r\nHost: ",
            "a body": request("POST", f"/link/{posts.id}", head, b""),
        }
        connections = {}
        for name, data in slow.items():
            connections[name] = self.attacker(program).http()
            self.addCleanup(connections[name].close)
            if data:
                connections[name].send(data)
        deadline = time.monotonic() + 75
        ended = {}
        while len(ended) < len(slow) and time.monotonic() < deadline:
            for name, connection in connections.items():
                if name in ended:
                    continue
                try:
                    if name != "nothing":
                        connection.send(b"a")
                    if connection.is_closed(0.5):
                        ended[name] = True
                except LinkBroken:
                    ended[name] = True
        self.assertEqual(sorted(ended), sorted(slow), "the others are still open")
        # The guest's own link is not affected.
        self.assertEqual(len(program.events.all("left")), 0)
        self.assert_serves(program)

    def test_web_8_readers_of_the_page_that_are_slow(self):
        program = self.gateway()
        before = self.resident(program)
        connections = []
        for number in range(60):
            connection = Attacker(program.page, source="127.0.0.2").http(receive_buffer=4_096)
            self.addCleanup(connection.close)
            paths = ["/whiteboard.wasm"] * 20
            connection.send(b"".join(
                request("GET", path, [("Host", program.page.authority), ("Accept-Encoding", "br, gzip")]) for path in paths
            ))
            connections.append(connection)
        time.sleep(1)
        self.assert_serves(program)
        self.assertLess(self.resident(program) - before, 80_000_000)

    def test_a_guest_that_reads_nothing(self):
        """The board stays responsive, and what waits for the guest is limited."""
        program = self.gateway()
        native = self.program("join", program.link, name="native")
        native.events.wait("joined", 30, peer=program.peer)
        deaf = []
        for carrier in CARRIERS:
            attacker = self.attacker(program)
            link = self.keep(WebLink(attacker.carrier(carrier, receive_buffer=4_096), attacker.identity, attacker.page.origin))
            link.read_challenge()
            link.send_frame(wire.WEB_PROOF, link.proof())
            attacker.ask(link)
            deaf.append(link)
        before, began = self.resident(program), time.monotonic()
        for number in range(150):
            program.do("text", at=[number, 0], text="x" * 8_000, timeout=10)
            if number % 10 == 0:
                for link in deaf:
                    with contextlib.suppress(LinkBroken):
                        link.send_frame(wire.PING, b"12345678")
        self.assertLess(time.monotonic() - began, 30)
        self.assert_serves(program)
        self.assertLess(self.resident(program) - before, 80_000_000)
        deadline = time.monotonic() + 20
        while native.digest() != program.digest():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def test_floods_of_messages_and_datagrams(self):
        program = self.gateway()
        for carrier in CARRIERS:
            attacker = self.attacker(program)
            link = self.keep(attacker.admitted(carrier))
            before = self.resident(program)
            flags = bytes([wire.Part.FIRST | wire.Part.LAST])
            relays = bytes([wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS])
            with contextlib.suppress(LinkBroken):
                datagrams = encode_frame(wire.DATAGRAM, os.urandom(60)) * 2_000
                datagrams += encode_frame(wire.RELAY_DATAGRAM, relay.encode(relay.SEND, {"routes": list(range(256))}, b"x")) * 1_000
                for _ in range(10):
                    link.send(datagrams)
                data = b"".join(
                    encode_frame(wire.MESSAGE, encode_vint(n) + flags + b"\x7f" + bytes(20)) for n in range(1, 5_000)
                )
                link.send(data)
            self.assert_serves(program)
            self.assertLess(self.resident(program) - before, 60_000_000)
            link = self.keep(self.attacker(program).admitted(carrier))
            with contextlib.suppress(LinkBroken):
                for start in range(1, 200_000, 2_000):
                    link.send(b"".join(
                        encode_frame(wire.MESSAGE, encode_vint(n) + relays + relay.encode(relay.SEND, {"routes": [0]}, b"x"))
                        for n in range(start, start + 2_000)
                    ))
            self.assert_serves(program)
            self.assertLess(self.resident(program) - before, 80_000_000)

    def test_rly_5_forged_relay_messages(self):
        program = self.gateway()
        for carrier in CARRIERS:
            for message, codes in (
                (relay.encode(relay.ROUTE, {"route": 0}, b"{}"), ("protocol-error",)),
                (relay.encode(relay.FROM, {"route": 0}, b"x"), ("protocol-error",)),
                (relay.encode(relay.FREE, {"route": 3}), ("protocol-error",)),
                (b"\x63", ("protocol-error",)),
                (b"\x01" + bytes(3), ("protocol-error",)),
            ):
                with self.subTest(carrier=carrier.__name__, message=message[:4]):
                    link = self.keep(self.attacker(program).admitted(carrier))
                    flags = wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS
                    link.send_frame(wire.MESSAGE, encode_vint(1) + bytes([flags]) + message)
                    self.assert_closes(link, *codes)
            # A guest does not speak for the host.
            victim, forger = self.attacker(program), self.attacker(program)
            other, link = self.keep(victim.admitted(carrier)), self.keep(forger.admitted(carrier))
            link.send_frame(wire.KICK, {"peer": victim.identity.text, "reason": "no"})
            link.send_frame(wire.KICK, {"peer": program.peer, "reason": "no"})
            link.send_frame(wire.PING, b"abcdefgh")
            self.frame(link, wire.PONG)
            other.send_frame(wire.PING, b"abcdefgh")
            self.assertEqual(self.frame(other, wire.PONG), b"abcdefgh")
            grant = {"key": wire.base64_text(forger.identity.public_key_info), "signature": wire.base64_text(bytes(70))}
            link.send_frame(wire.RELAY_GRANT, grant)
            self.assert_closes(link, "protocol-error")


if __name__ == "__main__":
    unittest.main()
