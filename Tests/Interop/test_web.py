"""Tests guests (web.md): an independent client of web links joins the real program."""

import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pictures import png
from program import BINARY, Failed, Program, data_of, end_with_parent
from test_hostile import Attacker as NativeAttacker
from web_case import CARRIERS, Attacker, SharedGateway, WebCase
from whiteboard_peer import admission, relay, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.recording import checksum
from whiteboard_peer.session import parse_close
from whiteboard_peer.tls import ATTACH_LABEL, BINDING, Identity, Link
from whiteboard_peer.web import PageLink, Posts, WebSocket, request, web_key
from whiteboard_peer.wire import base32, encode_frame, encode_vint

RELAY = BINARY.with_name("whiteboard-relay")


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
                    if name == "off":
                        program.do("web", state="on")
                    if name in ("kicked", "off"):
                        program.page = self.page_of(program)
                    self.assert_serves(program)
                    program.stop()

    def read_until(self, link, wanted):
        """Returns the payload of the next frame of a type; skips other frames."""
        while True:
            kind, payload = link.read_frame(10)
            if kind == wanted:
                return payload

    def test_web_7_a_guest_asks_for_a_peer_that_uses_no_relay(self):
        program = self.gateway()
        native = self.member(program)
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
                # The Python peer does not know relays, so it opens no route. Sending to a missing route is allowed.
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
                # With another K, the guest has no proof, so only RSM-2 can admit it.
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
        # The other guests of this link, and guests with the new link, are admitted.
        good.leave()
        program.events.wait("left", peer=good.identity.text)
        self.keep(self.attacker(program, identity=good.identity).admitted())
        self.keep(Attacker(page).admitted())

    def test_web_10_a_link_expires_and_its_guests_are_removed(self):
        program = self.gateway()
        page = self.invite(program, expires="4s")
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
            self.assertEqual(self.native_answer(program, guest.identity), "kicked")
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
        self.assertEqual(self.native_answer(program, guest.identity), "kicked")

    def test_web_34_a_guest_does_not_enter_by_the_port_for_peers(self):
        """What a guest learns does not admit it as a peer, neither during its access nor after it."""
        program = self.gateway()
        attacker = self.attacker(program)
        link = attacker.admitted()
        program.events.wait("joined", peer=attacker.identity.text)
        self.assertEqual(self.native_answer(program, attacker.identity), "code")
        link.close("left")
        program.events.wait("left", peer=attacker.identity.text)
        self.assertEqual(self.native_answer(program, attacker.identity), "code")
        program.do("web", state="off")
        self.assertEqual(self.native_answer(program, attacker.identity), "code")

    def test_web_33_a_guest_admits_nobody(self):
        """A ticket that a guest signed, or that a member signed for a guest, does not count at the gateway."""
        program = self.gateway()
        attacker, friend = self.attacker(program), Identity()
        native = self.member(program)
        self.keep(attacker.admitted())
        program.events.wait("joined", peer=attacker.identity.text)
        for_guest = admission.make_ticket(native.identity, program.session, attacker.identity.peer_id)
        self.assertEqual(self.native_answer(program, attacker.identity, ticket=for_guest), "code")
        for_friend = admission.make_ticket(attacker.identity, program.session, friend.peer_id)
        self.assertEqual(self.native_answer(program, friend, ticket=for_friend), "code")
        chained = {**for_friend, "via": [for_guest]}
        self.assertEqual(self.native_answer(program, friend, ticket=chained), "code")
        # A peer that a member admits can still join.
        honest = admission.make_ticket(native.identity, program.session, friend.peer_id)
        self.assertEqual(self.native_answer(program, friend, ticket=honest), "none")

    def test_web_34_a_guest_does_not_return_as_a_peer_after_a_restart(self):
        program = self.gateway()
        attacker = self.attacker(program)
        link = attacker.admitted()
        program.events.wait("joined", peer=attacker.identity.text)
        self.wait_stored(program, attacker.identity)
        program.process.kill()
        program.process.wait()
        link.abort()
        again = self.restarted(program)
        self.assertEqual(self.native_answer(again, attacker.identity), "code")
        # The secret of the crashed process still admits the guest (WEB-10).
        self.assertEqual(again.page.secret, program.page.secret)
        self.keep(Attacker(again.page, attacker.identity).admitted())

    def test_web_27_no_session_lets_browsers_join(self):
        program = self.gateway()
        for session in (bytes(16), os.urandom(16)):
            attacker = self.attacker(program)
            self.assert_refused(
                "no-such-session", lambda: attacker.ask(attacker.proved(), session=base32(session))
            )
        program.do("web", state="off")
        with self.assertRaises(ConnectionRefusedError):
            self.attacker(program).http()

    def test_mem_3_mem_11_a_removed_guest_when_the_list_of_removals_is_full(self):
        """A member learns of the removal, although the host cannot store it."""
        program = self.gateway()
        first = self.attacker(program)
        self.joined(program, first)
        self.wait_stored(program, first.identity)
        program.process.kill()
        program.process.wait()
        (path,) = (program.directory / "boards").glob("*.whiteboard")
        with contextlib.closing(sqlite3.connect(path)) as file, file:
            ((text,),) = file.execute("SELECT value FROM meta WHERE key = 'membership'")
            record = json.loads(text) | {"removed": [base32(os.urandom(32)) for _ in range(1_024)]}
            text = json.dumps(record)
            crc = checksum("m", [], [b"membership", text.encode()])
            file.execute("UPDATE meta SET value = ?, crc = ? WHERE key = 'membership'", (text, crc))
        # The program did not write this value (REC-20).
        program = self.restarted(program, "--trust-file")
        member, bad = self.member(program), self.attacker(program)
        link = self.joined(program, bad)
        program.do("kick", target=bad.identity.text, reason="Enough.")
        self.assert_closes(link, "kicked")
        deadline = time.monotonic() + 20
        while bad.identity.peer_id not in member.signed_kicks:
            self.assertLess(time.monotonic(), deadline, "the member does not learn of the removal")
            time.sleep(0.05)

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
        self.assertIn("localhost", names.get_values_for_type(x509.DNSName))
        # The key of the certificate is not the key of the peer, which is in the same directory.
        key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.assertNotEqual(hashlib.sha256(key).digest(), program.id)
        connection.send(request("GET", "/ca.crt", [("Host", program.page.authority)]))
        authority = x509.load_der_x509_certificate(connection.answer().body)
        authority.public_key().verify(
            certificate.signature, certificate.tbs_certificate_bytes, ec.ECDSA(certificate.signature_hash_algorithm)
        )
        self.assertGreater(authority.not_valid_after, certificate.not_valid_after)
        self.assertNotEqual(authority.public_key(), certificate.public_key())
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
            other = self.attacker(program)
            self.assert_refused("wrong-code", lambda: other.ask(other.proved(carrier), key=os.urandom(32)))
            guest.leave()
        second = self.invite(program, expires="1h")
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


class Access(WebCase):
    """WEB-5, WEB-6 and WEB-10: which guests are admitted, and when their access ends."""

    def assert_wrong_key(self, attacker, **changes):
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=os.urandom(32), **changes))

    def test_web_6_each_admission_mode_of_the_session(self):
        """A guest needs K in every mode, and nothing else."""
        for mode in ("code", "anyone", "known", "ask"):
            with self.subTest(mode=mode):
                program = self.gateway(admit=mode)
                attacker = self.attacker(program)
                self.assert_wrong_key(attacker)
                self.assertEqual(attacker.theirs["admission"], "code")
                self.joined(program, attacker)
                self.assertEqual(attacker.theirs["admission"], "code")

    def test_web_6_neither_a_ticket_nor_an_earlier_admission_is_enough(self):
        program = self.gateway()
        native = self.member(program)
        attacker = self.attacker(program)
        ticket = admission.make_ticket(native.identity, program.session, attacker.identity.peer_id)
        self.assert_wrong_key(attacker, ticket=ticket)
        # The same ticket admits a peer that is not a guest.
        self.assertEqual(self.native_answer(program, attacker.identity, ticket=ticket), "none")
        # A guest that was a member before.
        link = self.joined(program, attacker)
        link.close("left")
        program.events.wait("left", peer=attacker.identity.text)
        for invitation in ({}, ...):
            self.assert_wrong_key(attacker, invitation=invitation)
        # A member with the join code.
        member = Attacker(program.page, native.identity)
        for invitation in ({}, ...):
            self.assert_wrong_key(member, invitation=invitation)
        self.joined(program, attacker)

    def test_web_6_wrong_proofs_lock_nobody_out(self):
        """ADM-3 does not apply to guests, neither to the address nor to the key."""
        program = self.gateway()
        attacker = self.attacker(program)
        for _ in range(10):
            self.assert_wrong_key(attacker)
        self.joined(program, attacker)
        self.member(program)

    def test_web_6_k_is_no_code(self):
        """On the port for peers, the proof of K is wrong."""
        program = self.gateway()
        identity = Identity()
        link = self.keep(Link.connect(program.address, identity))
        link.send_frame(wire.HELLO, Attacker(program.page, identity).hello())
        self.next_frame(link, wire.HELLO)
        sides = (link.exporter(BINDING), program.session, identity.peer_id, link.peer_id)
        proof = admission.code_proof(program.page.key, "joiner", *sides)
        link.send_frame(wire.CODE_PROOF, {"proof": wire.base64_text(proof)})
        self.assert_closes(link, "wrong-code")

    def test_web_6_the_secret_of_another_session(self):
        """K belongs to one session, although the secret is the same."""
        program = self.gateway()
        attacker = self.attacker(program)
        other = web_key(program.page.secret, os.urandom(16))
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=other))

    def test_web_5_several_secrets_are_valid_at_a_time(self):
        """Up to 64 secrets are valid, and a proof with any of them is accepted."""
        program = self.gateway()
        pages = [program.page, *(self.invite(program, expires="1h") for _ in range(63))]
        self.assertEqual(len({page.secret for page in pages}), 64)
        for page in (pages[0], pages[31], pages[63]):
            self.joined(program, Attacker(page))

    def test_web_5_a_removal_that_keeps_the_codes(self):
        """MEM-12: the secret still admits new guests, but not the removed guest."""
        program = self.gateway()
        bad = self.attacker(program)
        link = self.joined(program, bad)
        program.do("kick", target=bad.identity.text, keepCode=True)
        self.assert_closes(link, "kicked")
        self.assert_refused("kicked", bad.admitted)
        self.joined(program, self.attacker(program))

    def test_web_6_browsers_that_can_no_longer_join(self):
        program = self.gateway()
        waiting = self.attacker(program)
        opened = self.keep(waiting.proved())
        inside = self.attacker(program)
        link = self.joined(program, inside)
        program.do("web", state="off")
        self.assert_closes(link, "shutting-down")
        # This link was opened before `web off`, but its HELLO arrives afterwards.
        self.assert_refused("no-such-session", lambda: waiting.ask(opened))
        with self.assertRaises(ConnectionRefusedError):
            self.attacker(program).http()
        # The secret is valid again as soon as browsers can join.
        program.do("web", state="on")
        page = self.page_of(program)
        self.assertEqual(page.secret, program.page.secret)
        self.joined(program, Attacker(page, inside.identity))

    def test_web_42_browsers_that_can_no_longer_join_after_a_link_broke(self):
        """A guest whose link has just broken leaves at once, and not after `--lost-after`."""
        program = self.gateway()
        attacker = self.attacker(program)
        self.joined(program, attacker).abort()
        program.events.wait(
            "peer-state", 20, lambda event: event["state"] in ("suspect", "reconnecting"), peer=attacker.identity.text
        )
        program.do("web", state="off")
        program.events.wait("left", 20, peer=attacker.identity.text)

    def test_a_page_whose_port_is_in_use_at_first(self):
        """The program tries again until it can serve the page."""
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            program = self.program("host", "Board", admit="code", options=("--web", "--web-port", str(port)))
            program.ready()
            program.events.wait("warning", code="no-web")
        self.assertEqual(self.page_of(program).address[1], port)

    def test_web_6_a_guest_resumes_on_the_other_kind_of_link(self):
        program = self.gateway()
        for first, second in (CARRIERS, CARRIERS[::-1]):
            with self.subTest(second=second.__name__):
                attacker = self.attacker(program)
                link = self.joined(program, attacker, kind=first)
                link.abort()
                resume = {"incarnation": base32(attacker.theirs["incarnation"]), "received": 0, "since": 1}
                again = self.keep(attacker.proved(second))
                accept = attacker.ask(again, key=bytes(32), resume=resume, links=1)
                self.assertEqual(attacker.theirs["admission"], "none")
                self.assertIsNotNone(accept["received"])

    def test_dup_3_a_guest_that_was_restarted(self):
        """A new incarnation replaces the old incarnation, although the old incarnation's link is still open."""
        program = self.gateway()
        attacker = self.attacker(program)
        for first, second in (CARRIERS, CARRIERS[::-1]):
            link = self.joined(program, attacker, kind=first)
            attacker.incarnation = os.urandom(8)
            self.assert_wrong_key(attacker)
            self.assert_answers(link)
            again = self.joined(program, attacker, kind=second)
            self.assert_closes(link, "replaced")
            self.assert_answers(again)
            attacker.incarnation = os.urandom(8)

    def test_a_guest_whose_connection_breaks_within_a_frame(self):
        """Half a frame has no effect, and the guest can return."""
        program = self.gateway()
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                attacker = self.attacker(program)
                link = self.joined(program, attacker, kind=carrier)
                link.send(encode_frame(wire.KICK, {"peer": program.peer, "reason": "no"})[:-1])
                link.abort()
                again = self.keep(attacker.proved(carrier))
                resume = {"incarnation": base32(attacker.theirs["incarnation"]), "received": 0, "since": 1}
                attacker.ask(again, resume=resume, links=1)
                self.assert_answers(again)

    def test_web_10_a_secret_without_a_time_limit_ends_with_the_board(self):
        program = self.gateway()
        limited = self.invite(program, expires="1h")
        inside, guest = self.attacker(program), Attacker(limited)
        link, other = self.joined(program, inside), self.joined(program, guest)
        program.stop()
        self.assert_closes(link, "kicked")
        self.assert_closes(other, "left")
        again = self.restarted(program)
        self.assertNotEqual(again.page.secret, program.page.secret)
        self.assert_refused("kicked", Attacker(again.page, inside.identity).admitted)
        ended = Attacker(again.page)
        self.assert_refused("wrong-code", lambda: ended.ask(ended.proved(), key=program.page.key))
        # A secret with a time limit is still valid, for the guest and for others.
        for attacker in (Attacker(again.page, guest.identity), Attacker(again.page)):
            attacker.ask(self.keep(attacker.proved()), key=limited.key)

    def test_web_10_a_guest_that_is_away_when_its_secret_is_revoked(self):
        """The removal also counts after a restart of the host."""
        program = self.gateway()
        attacker = self.attacker(program)
        link = self.joined(program, attacker)
        link.abort()
        program.do("web", state="revoke")
        program.stop()
        again = self.restarted(program)
        returning = Attacker(again.page, attacker.identity)
        self.assert_refused("kicked", returning.admitted)
        self.assertEqual(self.native_answer(again, attacker.identity), "kicked")

    def assert_late(self, page, end, code):
        """Ends an access while the gateway waits for the proof of K, and expects that the proof is refused."""
        attacker = Attacker(page)
        link = self.keep(attacker.proved())
        link.send_frame(wire.HELLO, attacker.hello())
        self.next_frame(link, wire.HELLO)
        end()
        sides = (link.exporter(BINDING), page.session, attacker.identity.peer_id, link.peer_id)
        proof = admission.code_proof(page.key, "joiner", *sides)
        link.send_frame(wire.CODE_PROOF, {"proof": wire.base64_text(proof)})
        kind, payload = link.read_frame(5)
        self.assertEqual(kind, wire.CLOSE, "the guest was admitted")
        self.assertEqual(parse_close(payload)[0], code)

    def test_web_6_a_secret_that_is_revoked_during_admission(self):
        program = self.gateway()
        self.assert_late(program.page, lambda: program.do("web", state="revoke"), "wrong-code")

    def test_web_6_a_secret_that_expires_during_admission(self):
        program = self.gateway()
        page = self.invite(program, expires="3s")
        inside = self.attacker(program)
        link = self.joined(program, Attacker(page, inside.identity))
        self.assert_late(page, lambda: self.assert_closes(link, "kicked"), "wrong-code")

    def test_web_5_a_secret_that_admits_no_new_guest_since_a_removal_during_admission(self):
        program = self.gateway()
        bad = self.attacker(program)
        self.joined(program, bad)
        self.assert_late(program.page, lambda: program.do("kick", target=bad.identity.text), "wrong-code")

    def test_web_6_browsers_that_can_no_longer_join_during_admission(self):
        program = self.gateway()
        self.assert_late(program.page, lambda: program.do("web", state="off"), "no-such-session")

    def test_web_6_a_guest_is_no_known_peer(self):
        """In mode `known`, the gateway does not know a guest that dials the port for peers."""
        program = self.gateway(admit="known")
        attacker = self.attacker(program)
        self.joined(program, attacker)
        self.assertEqual(self.native_answer(program, Identity(), invitation={}), "not-known")
        self.assertEqual(self.native_answer(program, attacker.identity, invitation={}), "not-known")

    def test_web_6_a_guest_is_no_known_peer_of_another_board(self):
        """The access of a guest ends with its secret, so it does not open other boards of the same user."""
        program = self.gateway()
        attacker = self.attacker(program)
        link = self.joined(program, attacker)
        link.close("left")
        program.events.wait("left", peer=attacker.identity.text)
        program.stop()
        other = Program("host", "Other", directory=program.directory, options=("--admit", "known"))
        self.addCleanup(other.stop)
        other.ready()
        other.page = program.page
        for identity in (Identity(), attacker.identity):
            self.assertEqual(self.native_answer(other, identity, session=other.board, invitation={}), "not-known")

    def test_web_6_a_guest_does_not_resume_on_the_port_for_peers(self):
        program = self.gateway()
        attacker = self.attacker(program)
        link = self.joined(program, attacker)
        link.abort()
        program.do("web", state="off")
        resume = {"incarnation": base32(attacker.theirs["incarnation"]), "received": 0, "since": 1}
        changes = {"incarnation": base32(attacker.incarnation), "resume": resume, "links": 1}
        self.assertEqual(self.native_answer(program, attacker.identity, **changes), "code")

    def test_web_38_a_guest_is_not_dialed_at_addresses_that_a_member_names(self):
        program = self.gateway(admit="anyone")
        attacker = self.attacker(program)
        self.joined(program, attacker).close("left")
        program.events.wait("left", peer=attacker.identity.text)
        member = self.keep(NativeAttacker(program.address, program.session).open())
        places = []
        # The host dials the members in the same way, 3 s after it learned of them.
        for identity in (attacker.identity, Identity()):
            place = socket.create_server(("127.0.0.1", 0))
            self.addCleanup(place.close)
            places.append(place)
            named = {
                "peer": identity.text, "name": "named", "incarnation": base32(os.urandom(8)), "port": place.getsockname()[1],
                "addresses": ["127.0.0.1"], "role": "member",
            }
            member.send_frame(wire.MEMBERS, {"members": [named]})
        guest, other = places
        other.settimeout(15)
        other.accept()[0].close()
        guest.settimeout(1)
        with self.assertRaises(TimeoutError):
            guest.accept()

    def test_web_5_one_secret_more_than_the_limit(self):
        program = self.gateway()
        for _ in range(63):
            self.invite(program, expires="1h")
        with self.assertRaisesRegex(Failed, "64 browser links"):
            program.do("invite", web=True, expires="1h")
        self.joined(program, self.attacker(program))

    def test_web_57_a_secret_for_one_guest(self):
        """Another guest cannot use the link that a browser stored, even after a restart of the host; the first guest
        can return."""
        program = self.gateway()
        page = self.invite(program, once=True, expires="1h")
        first = Attacker(page)
        self.joined(program, first).abort()
        # The command is answered after the gateway has handled the new guest.
        program.do("invite", web=True, expires="1h")
        other = Attacker(page)
        self.assert_refused("wrong-code", lambda: other.ask(other.proved(), key=page.key))
        program.stop()
        again = self.restarted(program)
        other = Attacker(again.page)
        self.assert_refused("wrong-code", lambda: other.ask(other.proved(), key=page.key))
        returning = Attacker(again.page, first.identity)
        returning.ask(self.keep(returning.proved()), key=page.key)

    def test_web_5_more_removals_than_the_limit_of_secrets(self):
        """Each removal closes a secret, and there is still a new secret for the next guest."""
        program = self.gateway()
        page = program.page
        for _ in range(66):
            attacker = Attacker(page)
            self.joined(program, attacker).abort()
            request = program.begin("kick", target=attacker.identity.text)
            page = self.page_of(program)
            program.finish(request)
        self.joined(program, Attacker(page))


class Invitations(WebCase):
    """WEB-58 to WEB-60: guests ask for links to show to others."""

    def ask(self, attacker, body, origin=None):
        """Sends a request for a link; returns the status, and the object or the sentence of the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        origin = origin or attacker.page.origin
        connection = attacker.http()
        headers = [("Host", attacker.page.authority), ("Origin", origin), ("Content-Length", len(data))]
        connection.send(request("POST", "/invite", headers, data))
        answer = connection.answer()
        connection.close()
        self.assertEqual(answer.header("cache-control"), "no-store")
        return answer.status, json.loads(answer.body) if answer.status == 200 else answer.body.decode()

    def guest_of(self, page):
        """Returns a guest, and its open link."""
        guest = Attacker(page)
        link = self.keep(guest.proved())
        guest.ask(link, key=page.key)
        return guest, link

    def scanned(self, svg):
        """Returns the text that a scanner reads from a picture of a QR code."""
        with tempfile.TemporaryDirectory() as folder:
            drawn, picture = pathlib.Path(folder, "qr.svg"), pathlib.Path(folder, "qr.png")
            drawn.write_text(svg.replace("<svg ", '<svg width="600" height="600" ', 1), encoding="utf-8")
            subprocess.run(["vips", "copy", drawn, picture], check=True)
            return subprocess.run(
                ["zbarimg", "-q", "--raw", picture], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            ).stdout.strip()

    def assert_invites(self, answer, guest):
        """Expects a link with which another guest can join; returns it."""
        status, told = answer
        self.assertEqual(status, 200, told)
        page = PageLink(told["link"])
        self.assertEqual(page.session, guest.page.session)
        self.assertEqual(self.scanned(told["qr"]), told["link"])
        self.guest_of(page)
        return page, told

    def assert_forbids(self, answer, words):
        status, sentence = answer
        self.assertEqual(status, 403, sentence)
        self.assertIn(words, sentence)

    def test_web_58_a_guest_gets_its_own_link(self):
        program = self.gateway()
        guest, link = self.guest_of(program.page)
        body = link.invitation_request(guest.page.key, guest.page.session, "editor")
        page, told = self.assert_invites(self.ask(guest, body), guest)
        self.assertEqual(page.fragment, guest.page.fragment)
        self.assertNotIn("expires", told)
        self.assertEqual(self.ask(guest, body), (200, told), "the same request gets the same link")
        self.assert_forbids(self.ask(guest, link.invitation_request(guest.page.key, guest.page.session, "viewer")), "can edit")
        timed = self.invite(program, expires="1h")
        other, other_link = self.guest_of(timed)
        page, told = self.assert_invites(self.ask(other, other_link.invitation_request(timed.key, timed.session, "editor")), other)
        self.assertEqual(page.fragment, timed.fragment, "WEB-59: the new link ends with the guest's link")
        self.assertRegex(told["expires"], r"^20\d\d-.*Z$")

    def test_web_58_the_origin_of_the_link(self):
        program = self.gateway()
        guest, link = self.guest_of(program.page)
        body = link.invitation_request(guest.page.key, guest.page.session, "editor")
        local = f"localhost:{guest.page.address[1]}"
        connection = guest.http()
        data = json.dumps(body).encode()
        headers = [("Host", local), ("Origin", f"https://{local}"), ("Content-Length", len(data))]
        connection.send(request("POST", "/invite", headers, data))
        answer = connection.answer()
        connection.close()
        self.assertEqual(PageLink(json.loads(answer.body)["link"]).origin, program.page.origin, "others cannot open localhost")

    def test_web_58_requests_that_are_not_proved(self):
        program = self.gateway()
        guest, link = self.guest_of(program.page)
        good = link.invitation_request(guest.page.key, guest.page.session, "editor")
        _, other_link = self.guest_of(program.page)
        stranger = Attacker(program.page)
        closed = self.keep(stranger.proved())
        away = closed.invitation_request(guest.page.key, guest.page.session, "editor")
        for name, body in {
            "another key": link.invitation_request(os.urandom(32), guest.page.session, "editor"),
            "another role": {**good, "role": "viewer"},
            "another guest": {**good, "guest": base32(other_link.identity.peer_id)},
            "another link of this guest": {**good, "proof": other_link.invitation_request(guest.page.key, guest.page.session, "editor")["proof"]},
            "a guest without a link": {**good, "guest": base32(os.urandom(32))},
            "a guest that is not admitted": away,
            "the host": {**good, "guest": program.peer},
            "no proof": {**good, "proof": ""},
            "another session": {**good, "session": base32(os.urandom(16))},
        }.items():
            with self.subTest(name):
                self.assertEqual(self.ask(guest, body)[0], 403)
        for name, body in {
            "no JSON": b"invite", "nothing": b"", "a list": [], "no role": {**good, "role": "host"},
            "a number": {**good, "proof": 7}, "text after it": json.dumps(good).encode() + b"x",
        }.items():
            with self.subTest(name):
                self.assertEqual(self.ask(guest, body)[0], 400)
        self.assertEqual(self.ask(guest, b" " * 1_025)[0], 413)
        self.assertEqual(self.ask(guest, good, origin="https://evil.example")[0], 403)
        link.close("left")
        program.events.wait("left", peer=guest.identity.text)
        self.assertEqual(self.ask(guest, good)[0], 403, "a request is worthless after its link has ended")

    def test_web_59_links_that_let_no_one_else_in(self):
        program = self.gateway()
        once = self.invite(program, once=True, expires="1h")
        guest, link = self.guest_of(once)
        self.assert_forbids(self.ask(guest, link.invitation_request(once.key, once.session, "editor")), "no longer")
        guest, link = self.guest_of(program.page)
        kicked, _ = self.guest_of(program.page)
        program.events.wait("joined", peer=kicked.identity.text)
        program.do("kick", target=kicked.identity.text)
        self.assert_forbids(self.ask(guest, link.invitation_request(guest.page.key, guest.page.session, "editor")), "no longer")

    def test_web_59_the_roles_of_an_owned_board(self):
        program = self.gateway("--owned", "--web-invite")
        guest, link = self.guest_of(program.page)
        edit, view = (link.invitation_request(guest.page.key, guest.page.session, role) for role in ("editor", "viewer"))
        self.assert_invites(self.ask(guest, edit), guest)
        page, told = self.assert_invites(self.ask(guest, view), guest)
        self.assertNotEqual(page.fragment, guest.page.fragment)
        self.assertEqual(self.ask(guest, view), (200, told), "no further secret")
        self.assert_forbids(self.ask(guest, {**edit, "role": "viewer"}), "not connected")
        viewer, viewer_link = self.guest_of(page)
        self.assert_forbids(self.ask(viewer, viewer_link.invitation_request(page.key, page.session, "editor")), "only view")
        same, _ = self.assert_invites(self.ask(viewer, viewer_link.invitation_request(page.key, page.session, "viewer")), viewer)
        self.assertEqual(same.fragment, page.fragment)
        timed = self.invite(program, expires="1h")
        guest, link = self.guest_of(timed)
        page, told = self.assert_invites(self.ask(guest, link.invitation_request(timed.key, timed.session, "viewer")), guest)
        self.assertIn("expires", told, "a link for viewers ends with the guest's link")

    def test_web_59_invitations_that_are_off(self):
        for options in (["--no-web-invite"], ["--owned"]):
            with self.subTest(options):
                program = self.gateway(*options)
                guest, link = self.guest_of(program.page)
                body = link.invitation_request(guest.page.key, guest.page.session, "editor")
                self.assert_forbids(self.ask(guest, body), "Ask the host for a link")

    def test_web_60_too_many_requests(self):
        program = self.gateway()
        guest, link = self.guest_of(program.page)
        body = link.invitation_request(guest.page.key, guest.page.session, "editor")
        answers = [self.ask(guest, body) for _ in range(21)]
        self.assertEqual([status for status, _ in answers].count(200), 20)
        self.assertEqual(answers[-1][0], 429)
        self.assertIn("Wait a minute", answers[-1][1])
        other, other_link = self.guest_of(program.page)
        self.assert_invites(self.ask(other, other_link.invitation_request(other.page.key, other.page.session, "editor")), other)


class RelayMessages(WebCase):
    """Messages between a guest and its gateway."""

    WHOLE = wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS

    def relay_message(self, link, kind, timeout=10):
        """Returns the fields and the payload of the next message of a kind from the gateway."""
        deadline = time.monotonic() + timeout
        while True:
            part = self.next_frame(link, wire.MESSAGE, deadline - time.monotonic())
            sequence, flags, _, data = wire.decode_message_part(part)
            link.send_frame(wire.ACK, encode_vint(sequence))
            if flags & wire.Part.RELAYS:
                got, fields, payload = relay.decode(data)
                if got == kind:
                    return fields, payload

    def send(self, link, sequence, message):
        link.send_frame(wire.MESSAGE, encode_vint(sequence) + bytes([self.WHOLE]) + message)


class Routes(RelayMessages):
    """WEB-7: a gateway is a relay."""

    def test_web_7_guests_reach_each_other(self):
        program = self.gateway()
        for carriers in (CARRIERS, CARRIERS[::-1]):
            with self.subTest([carrier.__name__ for carrier in carriers]):
                sides = []
                for carrier in carriers:
                    attacker = self.attacker(program)
                    sides.append((attacker, self.joined(program, attacker, kind=carrier)))
                (first, left), (second, right) = sides
                # RLY-4: the route opens as soon as both have requested it, without the 2 s of RLY-6.
                reach = {"peer": second.identity.peer_id, "incarnation": second.incarnation}
                self.send(left, 1, relay.encode(relay.REACH, reach))
                self.assert_answers(left)
                reach = {"peer": first.identity.peer_id, "incarnation": first.incarnation}
                self.send(right, 1, relay.encode(relay.REACH, reach))
                routes = []
                for link, other in ((left, second), (right, first)):
                    fields, member = self.relay_message(link, relay.ROUTE)
                    member = wire.parse_json(member)
                    self.assertEqual((member["peer"], member["port"], member["addresses"]), (other.identity.text, 0, []))
                    routes.append(fields["route"])
                self.send(left, 2, relay.encode(relay.SEND, {"routes": [routes[0]]}, b"\x10hello"))
                self.assertEqual(self.relay_message(right, relay.FROM), ({"route": routes[1]}, b"\x10hello"))
                # Datagrams travel on the links.
                datagram = relay.encode(relay.SEND, {"routes": [routes[1]]}, b"quick")
                right.send_frame(wire.RELAY_DATAGRAM, datagram)
                while (got := relay.decode(self.next_frame(left, wire.RELAY_DATAGRAM)))[2] != b"quick":
                    pass
                self.assertEqual(got[:2], (relay.FROM, {"route": routes[0]}))
                right.close("left")
                fields, _ = self.relay_message(left, relay.UNROUTE)
                self.assertEqual(fields, {"route": routes[0], "end": 2})
                left.close("left")

    def test_web_7_datagrams_between_a_guest_and_the_host(self):
        program = self.gateway()
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                guest = self.guest(program, carrier)
                remote = guest.enter()
                self.assertEqual(guest.send_data(remote, b"quick", reliable=False), "link")
                event = program.events.wait("data", reliable=False)
                self.assertEqual((data_of(event), event["from"]), (b"quick", guest.identity.text))
                program.do("send", text="back", unreliable=True)
                event = guest.events.wait("data", reliable=False)
                self.assertEqual((event["data"], event["path"]), (b"back", "link"))
                guest.leave()
                program.events.wait("left", peer=guest.identity.text)

    def test_web_7_a_host_becomes_a_relay_when_it_serves_browsers(self):
        """The host renews its open links, so that all members learn of its new role, and it stays a relay."""
        program = self.swift_host("code")
        native = self.peer("native", program.session, kind=BoardPeer)
        remote = native.join_patiently(program.address, program.id, code=program.code)
        native.events.wait("connected")
        self.assertEqual(remote.role, "member")
        program.do("web", state="on")
        program.page = self.page_of(program)
        renewed = native.events.wait("connected", 10)
        self.assertTrue(renewed["resumed"])
        self.assertEqual(remote.role, "relay")
        program.do("web", state="off")
        newcomer = self.peer("newcomer", program.session, kind=BoardPeer)
        self.assertEqual(newcomer.join_patiently(program.address, program.id, code=program.code).role, "relay")


@unittest.skipUnless(RELAY.exists(), f"{RELAY.name} is not built")
class RelayGateways(RelayMessages):
    """A relay as the gateway: of its own board, and of a board whose host is another peer."""

    def setUp(self):
        place = self.directory()
        (place / "no-config").touch()
        self.common = ["--data-dir", str(place / "relay"), "--config", str(place / "no-config"), "--json"]
        self.serve()

    def serve(self):
        """Starts the relay, and waits until the relay reports its status."""
        command = [str(RELAY), "serve", "--web", "--boards", "any", "--listen", "127.0.0.1:0", "--http", "none"]
        self.process = subprocess.Popen(
            [*command, "--no-announce", *self.common], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_parent,
        )
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        while (event := json.loads(self.process.stdout.readline()))["event"] != "status":
            pass
        self.address, self.relay_id = event["addresses"][0], event["peer"]

    def ask_control(self, request):
        """Sends a request to the relay's control socket; returns the lines of the answer."""
        path = pathlib.Path(self.common[1]) / "control.sock"
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(20)
            control.connect(str(path))
            control.sendall(json.dumps(request).encode() + b"\n")
            lines = []
            for line in control.makefile("r"):
                lines.append(json.loads(line))
                if lines[-1]["event"] in ("done", "error"):
                    break
        return lines

    def manage(self, *words):
        """Runs a command of the relay's administrator; returns its events."""
        yes = ["--yes"] if words[0] in ("kick", "revoke") else []
        done = subprocess.run([str(RELAY), "boards", *words, *yes, *self.common], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def page(self, board):
        """Creates a link of the page as soon as the relay serves a board."""
        deadline = time.monotonic() + 20
        while not any(shown.get("name") == board and shown["state"] == "serving" for shown in self.manage("list")):
            self.assertLess(time.monotonic(), deadline, "the board is not served")
            time.sleep(0.1)
        return PageLink(self.manage("invite", board, "--web")[0]["link"])

    def boards(self):
        """Yields host and page of a board that the relay hosts, and of a board that it relays for another host."""
        self.manage("create", "own")
        yield self.relay_id, "own", self.page("own")
        program = self.swift_host("code", options=("--relay", self.address))
        yield program.peer, "Board", self.page("Board")

    def test_web_10_a_relay_ends_the_access_of_guests(self):
        for host, name, page in self.boards():
            with self.subTest(name):
                links, attackers = [], [Attacker(page) for _ in CARRIERS]
                for attacker, carrier in zip(attackers, CARRIERS):
                    links.append(self.keep(attacker.proved(carrier)))
                    accept = attacker.ask(links[-1])
                    self.assertEqual((base32(accept["host"]), attacker.theirs["role"]), (host, "relay"))
                    self.assertIsNone(accept["ticket"])
                self.manage("revoke", name)
                for link in links:
                    self.assert_closes(link, "kicked")
                self.assert_refused("wrong-code", Attacker(page).admitted)
                # A host removes the guests for good; a relay only ends their access.
                for attacker in attackers:
                    self.assert_refused("kicked" if host == self.relay_id else "wrong-code", attacker.admitted)

    def relayed(self):
        """Returns a host whose board the relay serves, and a page of the relay."""
        program = self.swift_host("code", options=("--relay", self.address))
        program.page = self.page("Board")
        return program, program.page

    def reached(self, program, page):
        """Joins at the relay, and asks for a route to the host."""
        attacker = Attacker(page)
        link = self.keep(attacker.proved())
        host = next(member for member in attacker.ask(link)["members"] if member["peer"] == program.id)
        self.send(link, 1, relay.encode(relay.REACH, {"peer": program.id, "incarnation": host["incarnation"]}))
        program.events.wait("joined", 30, peer=attacker.identity.text)
        return attacker, link

    def test_web_26_a_board_that_a_relay_keeps_open_keeps_its_secrets(self):
        program = self.swift_host("code", options=("--relay", self.address, "--web"))
        program.events.wait("carried", 20)
        program.page = self.page_of(program)
        link = self.joined(program, self.attacker(program))
        program.begin("quit")
        self.assert_closes(link, "left")

    def test_web_7_a_guest_of_the_host_reaches_its_relay(self):
        """The relay learns that the host is a relay too, although the host becomes a relay only while it dials the
        relay."""
        program = self.swift_host("code", options=("--relay", self.address, "--web"))
        program.events.wait("carried", 20)
        attacker = Attacker(self.page_of(program))
        link = self.keep(attacker.proved())
        other = next(member for member in attacker.ask(link)["members"] if base32(member["peer"]) == self.relay_id)
        reach = relay.encode(relay.REACH, {"peer": other["peer"], "incarnation": other["incarnation"]})
        self.send(link, 1, reach)
        self.relay_message(link, relay.ROUTE)

    def test_web_16_a_removal_by_the_host_closes_the_secret_of_its_relay(self):
        program, page = self.relayed()
        attacker, link = self.reached(program, page)
        program.do("kick", target=attacker.identity.text, reason="Enough.")
        self.assert_closes(link, "kicked")
        self.eventually_refused("wrong-code", lambda: Attacker(page).admitted())

    def test_web_34_web_56_a_guest_of_a_relay_is_a_stranger_at_the_host(self):
        program, page = self.relayed()
        attacker, link = self.reached(program, page)
        self.assertEqual(self.native_answer(program, attacker.identity), "code")
        link.close("left")
        program.events.wait("left", peer=attacker.identity.text)
        self.assertEqual(self.native_answer(program, attacker.identity), "code")

    def shown_page(self, board):
        """Returns the link of the page in the relay's list of boards."""
        (shown,) = [shown for shown in self.manage("list") if shown.get("name") == board]
        return shown.get("webLink") and PageLink(shown["webLink"])

    def test_a_relay_lists_its_browser_link(self):
        self.manage("create", "own")
        self.page("own")
        page = self.shown_page("own")
        attacker = Attacker(page)
        link = self.keep(attacker.admitted())
        self.manage("kick", "own", attacker.identity.text)
        self.assert_closes(link, "kicked")
        other = self.shown_page("own")
        self.assertNotEqual(page.secret, other.secret)
        self.assert_refused("wrong-code", Attacker(page).admitted)
        self.keep(Attacker(other).admitted())
        self.manage("revoke", "own")
        self.assertIsNone(self.shown_page("own"))
        again = self.page("own")
        self.assertEqual(self.shown_page("own").secret, again.secret)

    def test_mem_12_web_15_removals_on_a_relay_with_more_closed_links_than_the_limit(self):
        """Each link stays valid for a guest who has left, and the relay still makes new links and codes."""
        self.manage("create", "own")
        self.page("own")
        pages, stayed = [], []
        for _ in range(66):
            pages.append(self.shown_page("own"))
            stayed.append(Attacker(pages[-1]))
            stayed[-1].admitted().close("left")
            bad = Attacker(pages[-1])
            link = self.keep(bad.admitted())
            told = self.manage("kick", "own", bad.identity.text)
            self.assert_closes(link, "kicked")
        (code,) = [event["code"] for event in told if event.get("code")]
        # The earliest links have ended, and the guests of the other links can return.
        self.eventually_refused("kicked", lambda: Attacker(pages[0], stayed[0].identity).admitted())
        self.keep(Attacker(pages[-1], stayed[-1].identity).admitted())
        self.keep(Attacker(self.shown_page("own")).admitted())
        self.process.terminate()
        self.process.wait(20)
        self.serve()
        self.page("own")
        (shown,) = [shown for shown in self.manage("list") if shown.get("name") == "own"]
        self.assertTrue(shown["link"].endswith("#" + code.replace(" ", "-")), shown)

    def test_an_invitation_with_a_lifetime_out_of_range(self):
        self.manage("create", "own")
        self.page("own")
        for seconds in (-1, 0, 2**62, 30 * 86_400 + 1):
            for web in (False, True):
                with self.subTest(seconds=seconds, web=web):
                    told = self.ask_control(
                        {"command": "invite", "board": "own", "terms": {"isView": False, "isForBrowsers": web, "seconds": seconds}}
                    )
                    self.assertIn("at most 30 days", told[-1].get("message", ""), told)
        self.page("own")

    def test_web_10_the_secrets_of_a_relay_that_was_restarted(self):
        """The board is not closed, so its secrets are still valid."""
        self.manage("create", "own")
        page = self.page("own")
        attacker = Attacker(page)
        link = self.keep(attacker.admitted())
        self.process.terminate()
        self.assert_closes(link, "shutting-down")
        self.process.wait(20)
        self.serve()
        # The page may have another port now.
        now = self.page("own")
        for again in (Attacker(now, attacker.identity), Attacker(now)):
            again.ask(self.keep(again.proved()), key=page.key)


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

    def test_web_3_the_challenge_is_another_one_on_each_link(self):
        links = [link for _ in range(3) for _, link in self.each()]
        self.assertEqual(len({link.challenge for link in links}), len(links))
        self.assertEqual({link.peer_id for link in links}, {self.host.id})

    def test_web_3_a_proof_of_8192_bytes(self):
        for attacker, link in self.each():
            # FRM-5: an unknown key is ignored. The head of such a frame has 3 bytes.
            proof = {**link.proof(), "padding": "x" * 7_000}
            proof["padding"] += "x" * (8_192 + 3 - len(encode_frame(wire.WEB_PROOF, proof)))
            frame = encode_frame(wire.WEB_PROOF, proof)
            self.assertEqual(len(frame), 8_192 + 3)
            link.send(frame)
            attacker.ask(link)

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
        # The signatures for the last two curves have 64 bytes too.
        for curve in (ec.SECP384R1(), ec.SECP521R1(), ec.SECP256K1(), ec.BrainpoolP256R1()):
            link = self.keep(self.attacker(self.host, identity=Identity(curve)).open())
            link.send_frame(wire.WEB_PROOF, link.proof())
            self.assert_closes(link, "protocol-error")

    def test_web_3_a_key_that_is_not_in_der(self):
        """The signature covers the `PeerID` of exactly these bytes, so only their form is wrong."""
        identity = Identity()
        info = identity.public_key_info
        for name, data in (
            ("a byte behind the key", info + b"\0"),
            ("a length in two bytes", info[:1] + b"\x81" + info[1:]),
            ("a point that is not on the curve", info[:-1] + bytes([info[-1] ^ 1])),
        ):
            with self.subTest(name):
                identity.public_key_info, identity.peer_id = data, hashlib.sha256(data).digest()
                link = self.keep(self.attacker(self.host, identity=identity).open())
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
        """The gateway waits 10 s for WEB-PROOF, as for the TLS handshake of a peer, and then 5 s for HELLO."""
        began = time.monotonic()
        links = [self.keep(self.attacker(self.host).open(carrier)) for carrier in CARRIERS]
        proved = self.keep(self.attacker(self.host).proved())
        self.assert_closes(proved, "timed-out")
        self.assertGreater(time.monotonic() - began, 4)
        self.assertLess(time.monotonic() - began, 8)
        for link in links:
            self.assert_ends(link, 12)
        self.assertGreater(time.monotonic() - began, 9)
        self.assertLess(time.monotonic() - began, 14)

    def test_web_27_web_28_hello_that_a_page_must_not_send(self):
        attacker = self.attacker(self.host)
        signer = Identity()
        ticket = admission.make_ticket(signer, self.host.session, attacker.identity.peer_id)
        self.assert_refused("wrong-code", lambda: attacker.ask(attacker.proved(), key=bytes(32), ticket=ticket))
        # A guest needs K even if it has a ticket, or sends no invitation.
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
