"""Tests guests (web.md): an independent client of web links joins the real program."""

import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import time
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from pictures import png
from program import Failed, Program
from web_case import CARRIERS, Attacker, SharedGateway, WebCase
from whiteboard_peer import admission, relay, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.session import Refused, parse_close, parse_hello
from whiteboard_peer.tls import ATTACH_LABEL, Identity, Link
from whiteboard_peer.web import Posts, WebSocket, request
from whiteboard_peer.wire import base32, encode_frame, encode_vint


class Guests(WebCase):
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
                self.assertIsNone(guest.ticket, "WEB-33: a guest gets no ticket")
                program.events.wait("joined", peer=guest.identity.text)
                guest.wait_synced(remote)
                guest.add_text(100, 100, "from a guest")
                guest.say("hello")
                for other in (program, native):
                    other.events.wait("chat", 15, where=lambda event: event.get("text") == "hello")
                self.eventually_same(program, native, guest)
                guest.leave()
                program.events.wait("left", peer=guest.identity.text)

    def test_web_46_photos_go_both_ways_on_further_web_links(self):
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

    def test_web_2_a_guest_that_ends_while_a_resource_is_sent_to_it(self):
        """The gateway writes nothing after the end of a response, or after a close frame."""
        ends = {
            "left": lambda program, control, peer: control.send_frame(wire.CLOSE, {"code": "left", "message": ""}),
            "malformed": lambda program, control, peer: control.send_frame(wire.MEMBERS, b"no JSON"),
            "kicked": lambda program, control, peer: program.do("kick", target=peer),
            "off": lambda program, control, peer: program.do("web", state="off"),
        }
        for carrier in CARRIERS:
            for name, end in ends.items():
                with self.subTest(carrier=carrier.__name__, end=name):
                    program = self.gateway()
                    attacker = self.attacker(program)
                    control = self.keep(attacker.admitted(carrier))
                    peer = attacker.identity.text
                    program.events.wait("joined", peer=peer)
                    program.begin("resource", file=str(self.file(3_000_000)), name="big", to=peer)
                    self.read_until(control, wire.BULK_REQUEST)
                    bulk = self.keep(attacker.attached(control, carrier))
                    offer = wire.parse_json(self.read_until(bulk, wire.RESOURCE_OFFER))
                    bulk.send_frame(wire.RESOURCE_ACCEPT, {"id": offer["id"], "offset": 0})
                    self.read_until(bulk, wire.CHUNK)
                    end(program, control, peer)
                    program.events.wait("left", 15, peer=peer)
                    if name == "kicked":
                        program.page = self.page_of(program)
                    if name == "off":
                        program.do("web", state="on")
                    self.assert_serves(program)
                    program.stop()

    def read_until(self, link, wanted):
        """Returns the payload of the next frame of a type; skips others."""
        while True:
            kind, payload = link.read_frame(10)
            if kind == wanted:
                return payload

    def test_web_5_more_links_than_the_limit_are_refused(self):
        program = self.gateway()
        for _ in range(63):
            program.do("invite", web=True)
        with self.assertRaises(Failed) as raised:
            program.do("invite", web=True)
        self.assertIn("64", str(raised.exception))
        self.assert_serves(program)

    def test_web_38_a_guest_reaches_a_peer_through_the_gateway(self):
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
                self.assert_answers(link)

    def test_web_6_web_35_a_guest_resumes_without_the_secret(self):
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

    def test_web_15_a_kicked_guest_does_not_return(self):
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

    def test_web_34_a_guest_does_not_enter_by_the_port_for_peers(self):
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

    def test_web_33_a_guest_admits_nobody(self):
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

    def test_web_34_a_guest_does_not_return_as_a_peer_after_a_restart(self):
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
        # The link of the crashed process still admits it (WEB-26).
        origin = self.page_of(again)
        attacker.page.origin, attacker.address = origin.origin, ("127.0.0.1", origin.address[1])
        attacker.incarnation = os.urandom(8)
        self.keep(attacker.admitted())

    def test_web_27_no_session_lets_browsers_join(self):
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

    def test_web_19_another_first_frame(self):
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

    def test_web_19_proofs_that_are_not_valid(self):
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

    def test_web_19_keys_that_are_not_p_256(self):
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

    def test_web_19_lnk_6_a_proof_that_does_not_come(self):
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

    def test_web_27_web_28_hello_that_a_page_must_not_send(self):
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
        self.assert_answers(link)

    def test_attach_without_the_proof_of_the_control_link(self):
        for carrier in CARRIERS:
            attacker = self.attacker(self.host)
            control = self.keep(attacker.admitted(carrier))
            for proof in (bytes(32), None):
                bulk = self.keep(attacker.proved(carrier))
                proof = proof or attach_proof(control.exporter(ATTACH_LABEL), control.exporter(ATTACH_LABEL))
                bulk.send_frame(wire.ATTACH, attacker.attach(proof))
                self.assert_closes(bulk, "not-attached")


if __name__ == "__main__":
    unittest.main()
