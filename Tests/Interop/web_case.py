"""A host that serves browsers, and raw web links to it (web.md)."""

import os
import time

from attacking import LinkChecks, hello_of
from test_against_swift import SwiftCase
from whiteboard_peer import admission, wire
from whiteboard_peer.bulk import attach_proof
from whiteboard_peer.session import Refused, parse_accept, parse_close, parse_hello
from whiteboard_peer.tls import ATTACH_LABEL, BINDING, Identity
from whiteboard_peer.web import Connection, Guest, PageLink, Posts, WebLink, WebSocket
from whiteboard_peer.wire import base32

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

    def eventually_same(self, *boards, timeout=30):
        deadline = time.monotonic() + timeout
        while len({board.digest() for board in boards}) > 1:
            self.assertLess(time.monotonic(), deadline, "the boards differ")
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
    """One process for all attacks, so that each attack meets the effects of those before."""

    @classmethod
    def setUpClass(cls):
        host = cls()
        cls.addClassCleanup(host.doCleanups)
        # Members whose links broke keep their places for a while.
        cls.host = host.gateway("--max-peers", "200")

    def tearDown(self):
        self.assert_serves(self.host)
