"""A host that serves browsers, and raw web links to it (web.md)."""

import contextlib
import os
import random
import socket
import sqlite3
import time

from attacking import LinkChecks, hello_of
from program import Program
from test_against_swift import SwiftCase
from whiteboard_peer import admission, wire
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.session import Refused, parse_accept, parse_close, parse_hello
from whiteboard_peer.tls import ATTACH_LABEL, BINDING, Identity, Link
from whiteboard_peer.web import Connection, Guest, PageLink, Posts, WebLink, WebSocket
from whiteboard_peer.wire import base32

CARRIERS = (WebSocket, Posts)


def quiet_port():
    """A port that is free now and that the system does not assign by itself."""
    while True:
        port = random.randrange(12_000, 26_000)
        with contextlib.suppress(OSError), socket.create_server(("0.0.0.0", port)):
            return port


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
        try:
            link.read_challenge()
        except BaseException:
            link.abort()
            raise
        return link

    def proved(self, kind=WebSocket, **options):
        """Returns a link on which the key is proved."""
        link = self.open(kind, **options)
        link.send_frame(wire.WEB_PROOF, link.proof())
        return link

    def hello(self, **changes):
        return hello_of(self.page.session, self.incarnation, **{"invitation": {}, **changes})

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

    def attach(self, proof, opener="dialler"):
        """Returns the contents of ATTACH."""
        return {
            "session": base32(self.page.session), "incarnation": base32(self.incarnation), "opener": opener,
            "proof": wire.base64_text(proof),
        }

    def attached(self, control, kind=WebSocket):
        """Returns a bulk link on which the gateway can send."""
        link = self.proved(kind)
        proof = attach_proof(control.exporter(ATTACH_LABEL), link.exporter(ATTACH_LABEL))
        link.send_frame(wire.ATTACH, self.attach(proof, "listener"))
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        kind, payload = link.read_frame(5)
        if kind != wire.ATTACHED:
            raise AssertionError(f"not attached: {kind:#04x} {payload}")
        return link


class WebCase(LinkChecks, SwiftCase):
    """Each test, or each class, has a host that serves browsers."""

    def gateway(self, *more, **options):
        """Starts a host; returns it with the link of its page."""
        options.setdefault("admit", "code")
        # Use a separate port, because other programs take the default ports while the gateway is closed.
        port = ("--web-port", str(quiet_port()))
        options["options"] = ("--web", *port, *more)
        program = self.program("host", "Board", **options)
        program.web_port = port
        return self.serving(program)

    def serving(self, program):
        program.ready()
        program.session = wire.parse_base32(program.board, 16)
        program.id = wire.parse_base32(program.peer, 32)
        program.page = self.page_of(program)
        return program

    def restarted(self, program, *options):
        """Restarts a host that has ended."""
        again = Program(
            "host", "Board", directory=program.directory, options=("--admit", "code", "--web", *program.web_port, *options)
        )
        again.web_port = program.web_port
        self.addCleanup(again.stop)
        self.serving(again)
        self.assertEqual(again.session, program.session)
        return again

    def wait_stored(self, program, guest):
        """Waits until the file of the board contains a guest, as a member and with its link."""
        (path,) = (program.directory / "boards").glob("*.whiteboard")
        deadline = time.monotonic() + 15
        while True:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
                stored = dict(file.execute("SELECT key, value FROM meta WHERE key IN ('membership', 'browser_links')"))
            if len(stored) == 2 and all(guest.text in value for value in stored.values()):
                return
            self.assertLess(time.monotonic(), deadline, stored)
            time.sleep(0.05)

    def page_of(self, program, timeout=30, **fields):
        event = program.events.wait("invited", timeout, lambda event: event["link"].startswith("https:"), **fields)
        return PageLink(event["link"])

    def invite(self, program, **terms):
        """Creates another link of the page."""
        request = program.begin("invite", web=True, **terms)
        page = self.page_of(program, request=request)
        program.finish(request)
        return page

    def guest(self, program, carrier=WebSocket, page=None, **options):
        return self.peer("guest", kind=Guest, page=page or program.page, carrier=carrier, **options)

    def member(self, program):
        """Lets a peer join with the code, on the port for peers; a busy program is dialed again (CLS-4)."""
        member = self.peer("member", program.session, kind=BoardPeer)
        member.join_patiently(program.address, program.id, code=program.code)
        return member

    def attacker(self, program, **options):
        return Attacker(program.page, **options)

    def keep(self, link):
        self.addCleanup(link.abort if hasattr(link, "abort") else link.close)
        return link

    def eventually_same(self, *boards, timeout=30):
        deadline = time.monotonic() + timeout
        while len({board.digest() for board in boards}) > 1:
            self.assertLess(time.monotonic(), deadline, "the boards differ")
            time.sleep(0.1)

    def joined(self, program, attacker, **options):
        """Joins, and waits until the program has reported the guest; returns the link."""
        link = self.keep(attacker.admitted(**options))
        program.events.wait("joined", peer=attacker.identity.text)
        return link

    def native_answer(self, program, identity, **changes):
        """Dials the port for peers with the key of a guest; returns the admission mode, or the close code."""
        link = self.keep(Link.connect(program.address, identity))
        link.send_frame(wire.HELLO, Attacker(program.page, identity).hello(**{"invitation": ..., **changes}))
        kind, payload = link.read_frame(5)
        return parse_hello(payload, False)["admission"] if kind == wire.HELLO else parse_close(payload)[0]

    def assert_kicked(self, guest, message):
        closed = guest.events.wait("closed", 15)
        self.assertEqual((closed["code"], closed["message"]), ("kicked", message))

    def eventually_refused(self, code, attempt, timeout=10):
        deadline = time.monotonic() + timeout
        while True:
            try:
                attempt().close("left")
            except Refused as refused:
                return self.assertEqual(refused.code, code)
            self.assertLess(time.monotonic(), deadline, "still admitted")
            time.sleep(0.1)

    def assert_refused(self, code, attempt):
        with self.assertRaises(Refused) as raised:
            attempt()
        self.assertEqual(raised.exception.code, code)

    def assert_serves(self, program, source=None, within=10):
        """Lets an honest guest join, get an answer, and leave."""
        self.assertTrue(program.is_running(), program.log[-3_000:])
        began = time.monotonic()
        link = Attacker(program.page, source=source).admitted(name="good")
        self.assert_answers(link)
        link.close("left")
        program.do("say", text="still here", timeout=within)
        self.assertLess(time.monotonic() - began, within)


class SharedGateway(WebCase):
    """One process for all attacks, so that each attack meets the effects of the earlier attacks."""

    @classmethod
    def setUpClass(cls):
        host = cls()
        cls.addClassCleanup(host.doCleanups)
        # Members whose links broke keep their places for a while.
        cls.host = host.gateway("--max-peers", "200")

    def tearDown(self):
        self.assert_serves(self.host)
