"""Tests the requests and WebSockets of a gateway (web.md, sections 2, 5 and 6), and many guests at once.

An attack must end only its own connection, and the program must still serve guests and peers.
"""

import contextlib
import os
import socket
import struct
import threading
import time
import unittest

from attacking import resident
from test_hostile import Attacker as NativeAttacker
from web_case import CARRIERS, Attacker, SharedGateway, WebCase
from whiteboard_peer import relay, wire
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.tls import Identity, Link
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
    Posts,
    Refusal,
    WebLink,
    WebSocket,
    request,
)
from whiteboard_peer.wire import base32, encode_frame, encode_vint

# The headers that ask for a WebSocket.
UPGRADE = [
    ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", wire.base64_text(bytes(16))), ("Sec-WebSocket-Protocol", SUBPROTOCOL),
]


class Requests(SharedGateway):
    """WEB-8 and WEB-51 to WEB-55: the heads and bodies of requests."""

    def setUp(self):
        self.page = self.host.page

    def http(self):
        connection = self.attacker(self.host).http()
        self.addCleanup(connection.close)
        return connection

    def raw(self, data):
        """Sends bytes; returns the status of the answer, or None if the connection ends without an answer."""
        connection = self.http()
        with contextlib.suppress(LinkBroken):
            connection.send(data)
        try:
            return connection.answer().status
        except LinkTimeout:
            raise
        except LinkBroken:
            return None

    def assert_refuses(self, data, status):
        """Expects an answer that refuses a request, and the end of the connection, so that nothing after the request
        counts."""
        connection = self.http()
        connection.send(data)
        self.assertEqual(connection.answer().status, status)
        self.assertEqual(connection.buffer, b"")
        self.assertTrue(connection.is_closed())

    def get(self, path="/", *more, host=None):
        return request("GET", path, [("Host", host or self.page.authority), *more])

    def post(self, path, body=b"", *more, origin=None, length=True):
        headers = [("Host", self.page.authority), ("Origin", origin or self.page.origin)]
        if length:
            headers.append(("Content-Length", len(body)))
        return request("POST", path, [*headers, *more], body)

    def test_the_headers_of_the_page(self):
        """WEB-55: all answers have these headers, even those that refuse a request."""
        form = [("Host", self.page.authority), ("Content-Length", 0)]
        for status, data in (
            (200, self.get("/")), (200, self.get("/about.json")), (200, self.get("/ca.crt")), (200, self.get("/app.mjs")),
            (200, self.get("/app.css")), (404, self.get("/nothing")), (421, self.get(host="evil.example")),
            (426, self.get("/link")), (403, request("POST", "/link", form)), (405, request("DELETE", "/", form)),
        ):
            connection = self.http()
            connection.send(data)
            answer = connection.answer()
            self.assertEqual(answer.status, status, data)
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
                self.assert_refuses(request("GET", "/", [("Host", host)]), 421)
                from_there = [("Host", host), ("Origin", f"https://{host}"), ("Content-Length", 0)]
                self.assert_refuses(request("POST", "/link", from_there), 421)
        self.assert_refuses(request("GET", "/"), 421)
        own, other = ("Host", self.page.authority), ("Host", "evil.example")
        for two in ([own, other], [other, own], [own, own]):
            self.assert_refuses(request("GET", "/", two), 421)
        self.assertEqual(self.raw(self.get(host=f"localhost:{port}")), 200)
        self.assertEqual(self.raw(self.get(host=f"LOCALHOST:{port}")), 200)

    def test_web_52_another_origin(self):
        port = self.page.address[1]
        origins = ["https://evil.example", f"https://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port}", "null",
                   f"https://localhost:{port}", f"https://127.0.0.1:{port}/", f"https://127.0.0.1:{port}, https://evil",
                   "https://127.0.0.1", f"HTTPS://127.0.0.1:{port}", ""]
        for origin in origins:
            with self.subTest(origin=origin):
                with self.assertRaises(Refusal) as raised:
                    self.attacker(self.host).carrier(headers={"Origin": origin})
                self.assertEqual(raised.exception.status, 426)
                headers = [("Host", self.page.authority), ("Origin", origin), ("Content-Length", 0)]
                self.assert_refuses(request("POST", "/link", headers), 403)
        with self.assertRaises(Refusal) as raised:
            self.attacker(self.host).carrier(headers={"Origin": None})
        self.assertEqual(raised.exception.status, 426)
        headers = [("Host", self.page.authority), ("Content-Length", 0)]
        self.assertEqual(self.raw(request("POST", "/link", headers)), 403)
        twice = [("Host", self.page.authority), ("Origin", self.page.origin), ("Origin", self.page.origin)]
        self.assertEqual(self.raw(request("POST", "/link", [*twice, ("Content-Length", 0)])), 403)
        self.assertEqual(self.raw(request("GET", "/link", [*twice, *UPGRADE])), 426)

    def test_web_52_a_websocket_without_what_it_needs(self):
        for status, headers in (
            (426, {"Sec-WebSocket-Protocol": None}), (426, {"Sec-WebSocket-Protocol": "chat"}),
            (426, {"Sec-WebSocket-Key": None}), (426, {"Sec-WebSocket-Version": "12"}),
            (426, {"Sec-WebSocket-Version": None}), (426, {"Upgrade": "h2c"}), (426, {"Upgrade": None}),
            (426, {"Connection": "close"}), (426, {"Connection": None}), (421, {"Host": "evil.example"}),
        ):
            with self.subTest(headers=headers):
                with self.assertRaises(Refusal) as raised:
                    self.attacker(self.host).carrier(headers=headers)
                self.assertEqual(raised.exception.status, status)

    def test_web_2_a_websocket_behind_a_body(self):
        """The body of the request that opens a WebSocket is not read as frames."""
        hidden = WebSocket.frame(PING, b"hidden")
        for length, body in (
            (("Content-Length", len(hidden)), hidden),
            (("Transfer-Encoding", "chunked"), b"%x\r\n" % len(hidden) + hidden + b"\r\n0\r\n\r\n"),
        ):
            with self.subTest(length):
                connection = self.http()
                connection.send(self.get("/link", ("Origin", self.page.origin), *UPGRADE, length))
                connection.send(body + WebSocket.frame(PING, b"later"))
                self.assertEqual(connection.head().status, 101)
                deadline = time.monotonic() + 5
                while b"later" not in connection.buffer:
                    self.assertTrue(connection.fill(deadline))
                self.assertNotIn(b"hidden", connection.buffer)

    def test_web_2_only_get_opens_a_websocket(self):
        headers = [*UPGRADE, ("Host", self.page.authority), ("Origin", self.page.origin), ("Content-Length", 0)]
        # A POST opens a link over requests.
        for method, status in (("POST", 200), ("PUT", 405), ("HEAD", 426)):
            connection = self.http()
            connection.send(request(method, "/link", headers))
            answer = connection.head()
            self.assertEqual((answer.status, answer.header("upgrade")), (status, None), method)

    def test_web_53_smuggled_requests(self):
        """No bytes after a request with an ambiguous length are taken as a further request."""
        inner = self.get("/about.json")
        base = f"POST /link HTTP/1.1\r\nHost: {self.page.authority}\r\nOrigin: {self.page.origin}\r\n".encode()
        for name, (status, headers) in {
            "both": (400, b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
            "both, the other order": (400, b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"),
            "two lengths": (400, b"Content-Length: 0\r\nContent-Length: 5\r\n"),
            "the same length twice": (400, b"Content-Length: 0\r\nContent-Length: 0\r\n"),
            "a list of lengths": (400, b"Content-Length: 0, 0\r\n"),
            "a sign": (400, b"Content-Length: +0\r\n"),
            "a negative length": (400, b"Content-Length: -1\r\n"),
            "a length in hexadecimal": (400, b"Content-Length: 0x0\r\n"),
            "a huge length": (400, b"Content-Length: 99999999999999999999999\r\n"),
            "no length": (411, b""),
            "an empty length": (400, b"Content-Length:\r\n"),
            "xchunked": (411, b"Transfer-Encoding: xchunked\r\n"),
            "identity": (400, b"Transfer-Encoding: identity\r\nContent-Length: 0\r\n"),
            "chunked": (411, b"Transfer-Encoding: chunked\r\n"),
            "chunked twice": (400, b"Transfer-Encoding: chunked, chunked\r\nContent-Length: 0\r\n"),
            "a space before the colon": (400, b"Content-Length : 0\r\n"),
            "a folded header": (400, b"X: a\r\n Content-Length: 5\r\nContent-Length: 0\r\n"),
            "a folded length": (400, b"Content-Length:\r\n 0\r\n"),
            "a bare line feed": (400, b"Content-Length: 0\nX: 1\r\n"),
            "a bare carriage return": (400, b"Content-Length: 0\rX: 1\r\n"),
            "a zero byte": (400, b"Content-Length: 0\0\r\n"),
            "a name that is no token": (400, b"Content-Length: 0\r\nX y: 1\r\n"),
        }.items():
            with self.subTest(name):
                self.assert_refuses(base + headers + b"\r\n" + b"0\r\n\r\n" + inner, status)

    def test_web_24_requests_behind_a_link_are_not_answered(self):
        """The answer of a link ends only with the link, and then the connection ends."""
        link = self.keep(self.attacker(self.host).open(Posts))
        connection = link.transport.connection
        connection.send(self.get("/about.json") * 2)
        link.send_frame(wire.WEB_PROOF, link.proof())
        link.send_frame(wire.PING, bytes(8))
        self.assertEqual(link.read_frame(5)[0], wire.CLOSE)
        deadline = time.monotonic() + 5
        while connection.fill(deadline):
            pass
        self.assertEqual(connection.buffer, b"0\r\n\r\n")

    def test_pipelined_requests_are_answered_in_order(self):
        connection = self.http()
        connection.send(self.get("/about.json") + self.get("/") + self.get("/ca.crt") + self.get("/nothing"))
        kinds = [connection.answer().header("content-type").split(";")[0] for _ in range(4)]
        self.assertEqual(kinds, ["application/json", "text/html", "application/x-x509-ca-cert", "text/plain"])

    def test_web_8_bodies_where_none_belongs(self):
        self.assert_refuses(request("GET", "/", [("Host", self.page.authority), ("Content-Length", 4)], b"body"), 400)
        self.assert_refuses(self.post("/link", b"body"), 400)
        chunked = [("Host", self.page.authority), ("Transfer-Encoding", "chunked")]
        self.assert_refuses(request("GET", "/", chunked, b"4\r\nbody\r\n0\r\n\r\n"), 400)

    def test_web_55_the_longest_heads(self):
        """A head of 16,384 bytes or 64 headers is accepted, and a longer head is not."""
        def padded(length):
            unpadded = self.get("/about.json", ("X", ""))
            return self.get("/about.json", ("X", "a" * (length - len(unpadded))))

        def counted(count):
            return self.get("/about.json", *[(f"X-{number}", "a") for number in range(count - 1)])

        for data in (padded(16_384), counted(64)):
            self.assertEqual(self.raw(data), 200)
        # The program does not count the separators of the headers.
        for data in (padded(16_500), counted(65)):
            self.assertIn(self.raw(data), (None, 400, 413, 431))

    def test_web_55_heads_that_are_too_long(self):
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
                self.assertIn(self.raw(data), (None, 400, 413, 431))

    def test_web_55_trailers_without_an_end(self):
        connection = self.http()
        before = resident(self.host)
        connection.send(request("GET", "/", [("Host", self.page.authority), ("Transfer-Encoding", "chunked")], b"0\r\n"))
        with contextlib.suppress(LinkBroken):
            for number in range(20_000):
                connection.send(b"X-%d: %s\r\n" % (number, b"a" * 1_000))
        self.assertTrue(connection.is_closed(), "the gateway read all trailers")
        self.assertLess(resident(self.host) - before, 30_000_000)

    def test_garbage(self):
        host = f"Host: {self.page.authority}\r\n\r\n".encode()
        for status, data in (
            (400, b"\0" * 100), (400, b"\x16\x03\x01" * 50), (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            (400, b"GET / HTTP/9.9\r\n" + host), (400, b"\r\n" * 1_000 + b"x"), (400, b"GET /\r\n\r\n"),
            (400, "GET /\u00fc HTTP/1.1\r\n".encode() + host),
            (421, b"CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n"), (421, b"OPTIONS * HTTP/1.1\r\n\r\n"),
            (405, b"OPTIONS * HTTP/1.1\r\n" + host), (404, self.get("http://evil.example/")),
            (404, self.get("/../../etc/passwd")), (404, self.get("/%2e%2e/%2e%2e/etc/passwd")), (404, self.get("//etc/passwd")),
            (405, request("TRACE", "/", [("Host", self.page.authority)])),
            (405, request("DELETE", "/link", [("Host", self.page.authority)])),
        ):
            with self.subTest(data=data[:40]):
                self.assert_refuses(data, status)


class Posting(SharedGateway):
    """WEB-20 to WEB-24: bodies of requests."""

    def opened(self):
        attacker = self.attacker(self.host)
        link = self.keep(attacker.open(Posts))
        return attacker, link, link.transport

    def test_web_21_positions_that_are_wrong(self):
        attacker, link, posts = self.opened()
        frame = encode_frame(wire.WEB_PROOF, link.proof())
        for position in (1, 5, 2**31, 2**53, 2**63 - 1):
            answer = posts.post(frame, position)
            self.assertEqual((answer.status, answer.header("whiteboard-position")), (409, "0"))
        for position in (-1, -(2**63), 2**63, 2**64, 10**30, "", "x", "0x0", "1e3", "0 0", "٠"):
            with self.subTest(position=position):
                text = position.encode("utf-8").decode("latin-1") if isinstance(position, str) else position
                answer = posts.post(frame, text)
                self.assertEqual(answer.status, 400)
        link.send(frame)
        attacker.ask(link)

    def test_web_20_web_21_a_body_sent_again(self):
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
        longest = encode_frame(0x80, bytes(65_000)) * 4
        longest += encode_frame(0x80, bytes(MAXIMUM_POST - len(longest) - 3))
        self.assertEqual(len(longest), MAXIMUM_POST)
        link.send(longest)
        for piece in (ping[:1], ping[1:2], ping[2:]):
            link.send(piece)
        self.assertEqual(self.next_frame(link, wire.PONG), b"12345678")
        self.assertEqual(posts.post(bytes(MAXIMUM_POST + 1)).status, 413)
        self.assert_answers(link)

    def test_unknown_links(self):
        _, _, posts = self.opened()
        own = posts.id
        self.assertEqual(posts.post(b"x", 0).status, 204)
        posts.id = base32(os.urandom(16))
        self.assertEqual(posts.post(b"x", 1).status, 404)
        for other in ("x", own[:-1], own.upper(), own + "a", own + "/", "../link/" + own, ""):
            posts.id = other
            self.assertEqual(posts.post(b"x", 1).status, 400, other)

    def test_web_22_a_link_that_has_ended(self):
        _, link, posts = self.opened()
        posts.connection.close()
        deadline = time.monotonic() + 10
        while posts.post(b"", 0).status != 404:
            self.assertLess(time.monotonic(), deadline, "the link has not ended")
            time.sleep(0.1)

    def test_web_21_two_bodies_at_once(self):
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
        self.assertEqual(len(self.next_frame(link, wire.PONG)), 8)
        self.assertEqual(self.next_frame(link, wire.PONG), b"abcdefgh")

    def test_a_body_shorter_than_announced(self):
        attacker, link, posts = self.opened()
        connection = attacker.http()
        self.addCleanup(connection.close)
        head = [("Host", posts.authority), ("Origin", posts.origin), ("Content-Length", 100), ("Whiteboard-Position", 0)]
        connection.send(request("POST", f"/link/{posts.id}", head, b"\x09"))
        connection.close()
        # Nothing of the body arrived.
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
        self.assertEqual(connection.answer().status, 400)
        self.assertTrue(connection.is_closed())
        posts.position = len(frame)
        attacker.ask(link)


class Sockets(SharedGateway):
    """WEB-2 and WEB-23: the frames of a WebSocket (RFC 6455)."""

    def ready(self):
        link = self.keep(self.attacker(self.host).admitted())
        return link, link.transport

    def closes(self, link, *codes):
        """Expects that the gateway closes the WebSocket with one of `codes`."""
        with self.assertRaises(LinkBroken) as raised:
            deadline = time.monotonic() + 6
            while time.monotonic() < deadline:
                link.transport.receive(deadline)
        self.assertNotIsInstance(raised.exception, LinkTimeout, "the WebSocket stays open")
        self.assertIn(link.transport.closed_with, codes)

    def test_web_23_frames_that_break_rfc_6455(self):
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
            ("far too long", frame(BINARY_MESSAGE, b"x" * 100, length=2**63 - 1), (1009,)),
            ("a negative length", frame(BINARY_MESSAGE, b"x" * 100, length=2**64 - 1), (1002, 1009)),
        ):
            with self.subTest(name):
                link, socket_ = self.ready()
                socket_.connection.send(data)
                self.closes(link, *codes)
                link.abort()

    def test_web_23_a_message_in_parts_that_is_too_long(self):
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
        self.assertEqual(self.next_frame(link, wire.PONG), b"12345678")
        first, *middle, last = [ping[index : index + 1] for index in range(len(ping))]
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, first, fin=False))
        for part in middle:
            socket_.connection.send(WebSocket.frame(CONTINUATION, part, fin=False))
            socket_.connection.send(WebSocket.frame(PONG, b"between"))
        socket_.connection.send(WebSocket.frame(CONTINUATION, b"", fin=False))
        socket_.connection.send(WebSocket.frame(CONTINUATION, last))
        self.assertEqual(self.next_frame(link, wire.PONG), b"12345678")
        longest = encode_frame(0x80, bytes(wire.MAXIMUM_PAYLOAD)) + encode_frame(0x81, b"..")
        self.assertEqual(len(longest), MAXIMUM_MESSAGE)
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, longest))
        socket_.connection.send(WebSocket.frame(BINARY_MESSAGE, ping * 5))
        self.assertEqual(self.next_frame(link, wire.PONG), b"12345678")

    def test_the_closing_handshake(self):
        normal, away = struct.pack(">H", 1000), struct.pack(">H", 1001)
        for data, codes in (
            (b"", (1000,)), (normal, (1000,)), (away + b"bye", (1000, 1001)),
            # RFC 6455, 7.1.7, lets an endpoint close in any way if a close frame is not valid.
            (b"x", (1000, 1002)), (b"\xff\xff", (1000, 1002)), (normal + b"\xff", (1000, 1007)),
        ):
            with self.subTest(data=data):
                link, socket_ = self.ready()
                socket_.connection.send(WebSocket.frame(CLOSING, data))
                self.closes(link, *codes)

    def test_pings_are_answered(self):
        link, socket_ = self.ready()
        socket_.connection.send(WebSocket.frame(PING, b"p" * 125))
        deadline = time.monotonic() + 5
        while (frame := socket_.read(deadline))[0] != PONG:
            pass
        self.assertEqual(frame, (PONG, b"p" * 125))

    def test_data_behind_the_request(self):
        """Frames that arrive together with the request belong to the WebSocket."""
        attacker = self.attacker(self.host)
        connection = attacker.http()
        self.addCleanup(connection.close)
        headers = [("Host", self.host.page.authority), ("Origin", self.host.page.origin), *UPGRADE]
        connection.send(request("GET", "/link", headers) + WebSocket.frame(PING, b"early"))
        self.assertEqual(connection.head().status, 101)
        deadline = time.monotonic() + 5
        while b"early" not in connection.buffer:
            self.assertTrue(connection.fill(deadline))

    def test_a_flood_of_pings_whose_answers_nobody_reads(self):
        attacker = self.attacker(self.host)
        link = self.keep(WebLink(attacker.carrier(receive_buffer=4_096), attacker.identity, attacker.page.origin))
        link.read_challenge()
        link.send_frame(wire.WEB_PROOF, link.proof())
        attacker.ask(link)
        before = resident(self.host)
        pings = WebSocket.frame(PING, bytes(125)) * 500
        with contextlib.suppress(LinkBroken):
            for _ in range(200):
                link.transport.connection.send(pings)
        inner = WebSocket.frame(BINARY_MESSAGE, encode_frame(wire.PING, b"12345678") * 1_600)
        with contextlib.suppress(LinkBroken):
            for _ in range(100):
                link.transport.connection.send(inner)
        self.assertLess(resident(self.host) - before, 40_000_000)


class Load(WebCase):
    def tcp(self, program, source):
        """Opens a TCP connection to the page."""
        sock = socket.create_connection(("127.0.0.1", program.page.address[1]), timeout=5, source_address=(source, 0))
        self.addCleanup(sock.close)
        return sock

    def assert_ended(self, sock, timeout=5):
        """Expects that the other end closes a connection without sending anything."""
        sock.settimeout(timeout)
        with contextlib.suppress(ConnectionError):
            self.assertEqual(sock.recv(1), b"")

    def wait_for_place(self, program, source):
        """Waits until the gateway has noticed the end of connections, and accepts another connection."""
        deadline = time.monotonic() + 10
        while True:
            try:
                return Attacker(program.page, source=source).http().close()
            except (LinkBroken, ConnectionError):
                self.assertLess(time.monotonic(), deadline, "no place is free")

    def test_web_55_connections_from_one_address(self):
        """One address gets 256 connections, and guests and peers from others still get in."""
        program = self.gateway()
        held = [self.tcp(program, "127.0.0.2") for _ in range(256)]
        for _ in range(10):
            self.assert_ended(self.tcp(program, "127.0.0.2"))
        self.assert_serves(program, source="127.0.0.1")
        self.member(program)
        # A place is free again when a connection ends, and the other connections are still open.
        held.pop().close()
        self.wait_for_place(program, "127.0.0.2")
        self.assert_serves(program, source="127.0.0.1")
        for sock in held:
            sock.setblocking(False)
            with self.assertRaises(BlockingIOError):
                sock.recv(1)

    def test_web_55_connections_in_all(self):
        """The gateway has 1,024 connections at the same time, wherever they come from."""
        program = self.gateway()
        held = [self.tcp(program, f"127.0.0.{2 + number // 256}") for number in range(1_024)]
        for _ in range(5):
            self.assert_ended(self.tcp(program, "127.0.0.9"))
        self.member(program)
        for sock in held:
            sock.close()
        self.wait_for_place(program, "127.0.0.9")
        self.assert_serves(program, source="127.0.0.9")

    def test_web_55_connections_leave_descriptors_to_peers(self):
        """If the system allows 300 open files, browsers use at most half of them."""
        program = self.gateway(under=("prlimit", "--nofile=300:300"))
        held = [self.tcp(program, f"127.0.0.{2 + number // 100}") for number in range(400)]
        self.member(program)
        self.assert_ended(held[-1])

    def test_web_1_web_17_links_that_are_refused_are_closed(self):
        """A web link counts as a connection that is not yet admitted: the 17th from one address is closed at once."""
        program = self.gateway()
        opened = [self.keep(Attacker(program.page, source="127.0.0.2").open()) for _ in range(16)]
        for carrier in CARRIERS:
            with self.subTest(carrier=carrier.__name__):
                for _ in range(20):
                    with self.assertRaises(LinkBroken) as raised:
                        Attacker(program.page, source="127.0.0.2").open(carrier)
                    self.assertNotIsInstance(raised.exception, LinkTimeout, "a refused link stays open")
        # Connections of peers count too, and pages do not.
        native = socket.create_connection(program.address, source_address=("127.0.0.2", 0))
        self.addCleanup(native.close)
        self.assert_ended(native)
        page = Attacker(program.page, source="127.0.0.2").http()
        self.addCleanup(page.close)
        page.send(request("GET", "/", [("Host", program.page.authority)]))
        self.assertEqual(page.answer().status, 200)
        self.assert_serves(program, source="127.0.0.3")
        Link.connect(program.address, Identity(), source="127.0.0.4").abort()
        # The 16 links are not affected.
        for link in opened:
            link.send_frame(wire.PING, bytes(8))
            self.assert_closes(link, "protocol-error")

    def test_web_55_the_next_request_of_a_connection(self):
        program = self.gateway()
        connection = self.attacker(program).http()
        self.addCleanup(connection.close)
        for _ in range(2):
            connection.send(request("GET", "/about.json", [("Host", program.page.authority)]))
            self.assertEqual(connection.answer().status, 200)
        began = time.monotonic()
        self.assertTrue(connection.is_closed(10))
        self.assertGreater(time.monotonic() - began, 4)

    def test_web_55_a_request_that_arrives_slowly(self):
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
        began, ended = time.monotonic(), {}
        while len(ended) < len(slow) and time.monotonic() - began < 75:
            for name, connection in connections.items():
                if name in ended:
                    continue
                try:
                    if name != "nothing":
                        connection.send(b"a")
                    if connection.is_closed(0.5):
                        ended[name] = time.monotonic() - began
                except LinkBroken:
                    ended[name] = time.monotonic() - began
        self.assertEqual(sorted(ended), sorted(slow), "the others are still open")
        for name, took in ended.items():
            self.assertGreater(took, 25, name)
            self.assertLess(took, 40, name)
        # The guest's own link is not affected.
        self.assertEqual(len(program.events.all("left")), 0)
        self.assert_serves(program)

    def test_web_55_readers_of_the_page_that_are_slow(self):
        program = self.gateway()
        before = resident(program)
        connections = []
        for number in range(60):
            connection = Attacker(program.page, source="127.0.0.2").http(receive_buffer=4_096)
            self.addCleanup(connection.close)
            paths = ["/whiteboard.wasm"] * 20
            connection.send(b"".join(
                request("GET", path, [("Host", program.page.authority), ("Accept-Encoding", "br, gzip")]) for path in paths
            ))
            connections.append(connection)
        # Each connection reads the beginning of the first answer, and nothing else.
        for connection in connections:
            self.assertEqual(connection.head().status, 200)
        self.assert_serves(program)
        self.assertLess(resident(program) - before, 80_000_000)

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
        before, began = resident(program), time.monotonic()
        for number in range(150):
            program.do("text", at=[number, 0], text="x" * 8_000, timeout=10)
            if number % 10 == 0:
                for link in deaf:
                    with contextlib.suppress(LinkBroken):
                        link.send_frame(wire.PING, b"12345678")
        self.assertLess(time.monotonic() - began, 30)
        self.assert_serves(program)
        self.assertLess(resident(program) - before, 80_000_000)
        self.eventually_same(native, program)

    def test_floods_of_messages_and_datagrams(self):
        program = self.gateway()
        for carrier in CARRIERS:
            attacker = self.attacker(program)
            link = self.keep(attacker.admitted(carrier))
            before = resident(program)
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
            self.assertLess(resident(program) - before, 60_000_000)
            link = self.keep(self.attacker(program).admitted(carrier))
            with contextlib.suppress(LinkBroken):
                for start in range(1, 200_000, 2_000):
                    link.send(b"".join(
                        encode_frame(wire.MESSAGE, encode_vint(n) + relays + relay.encode(relay.SEND, {"routes": [0]}, b"x"))
                        for n in range(start, start + 2_000)
                    ))
            self.assert_serves(program)
            self.assertLess(resident(program) - before, 80_000_000)

    def too_fast(self):
        """Returns more messages to a relay than it forwards in some seconds."""
        flags = bytes([wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS])
        message = relay.encode(relay.SEND, {"routes": [0]}, b"x" * 50)
        return b"".join(encode_frame(wire.MESSAGE, encode_vint(number) + flags + message) for number in range(1, 60_000))

    def test_rly_14_what_comes_too_fast_is_not_read(self):
        """TCP slows such a member down, so that its data does not fill the memory."""
        program = self.gateway(admit="anyone")
        native = NativeAttacker(program.address, program.session)
        for name, join in (
            ("a WebSocket", lambda: self.attacker(program).admitted(WebSocket)),
            ("requests", lambda: self.attacker(program).admitted(Posts)),
            ("a peer", native.open),
        ):
            with self.subTest(name):
                link, before = self.keep(join()), resident(program)

                def send():
                    with contextlib.suppress(LinkBroken):
                        link.send(self.too_fast())
                        for _ in range(400):
                            link.send(bytes(MAXIMUM_POST))

                sender = threading.Thread(target=send)
                sender.start()
                # The program does not report that it stopped reading. The thread ends within this time only if the
                # program reads everything.
                sender.join(3)
                self.assertLess(resident(program) - before, 30_000_000)
                link.abort()
                sender.join()

    def test_web_2_a_body_while_an_earlier_one_waits(self):
        """429: the link does not accept the earlier body yet, because the guest exceeds the relay's rate (RLY-14)."""
        program = self.gateway()
        attacker = self.attacker(program)
        link = self.keep(attacker.admitted(Posts))
        posts, other, data = link.transport, attacker.http(), self.too_fast()
        self.addCleanup(other.close)
        sending = attacker.http()
        self.addCleanup(sending.close)
        for start in range(0, len(data), MAXIMUM_POST):
            body = data[start : start + MAXIMUM_POST]
            headers = [("Host", posts.authority), ("Origin", posts.origin), ("Content-Length", len(body)),
                       ("Whiteboard-Position", posts.position)]
            sending.send(request("POST", f"/link/{posts.id}", headers, body))
            status = posts.post(b"", connection=other).status
            if status == 429:
                break
            self.assertIn(status, (204, 409))
            answer = sending.answer().status
            if answer == 429:
                # The request with the empty body arrived first, so that request waited.
                return
            self.assertEqual(answer, 204)
            posts.position += len(body)
        else:
            self.fail("the gateway read everything at once")
        # When the gateway reads the link again, it accepts the body that waits.
        self.assertEqual(sending.answer(15).status, 204)

    def test_rly_5_forged_relay_messages(self):
        program = self.gateway()
        for carrier in CARRIERS:
            for message in (
                relay.encode(relay.ROUTE, {"route": 0}, b"{}"),
                relay.encode(relay.FROM, {"route": 0}, b"x"),
                relay.encode(relay.FREE, {"route": 3}),
                b"\x63",
                b"\x01" + bytes(3),
            ):
                with self.subTest(carrier=carrier.__name__, message=message[:4]):
                    link = self.keep(self.attacker(program).admitted(carrier))
                    flags = wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS
                    link.send_frame(wire.MESSAGE, encode_vint(1) + bytes([flags]) + message)
                    self.assert_closes(link, "protocol-error")
            # A guest does not speak for the host, and is not a relay, although it claims to be a relay.
            victim, forger = self.attacker(program), self.attacker(program)
            other, link = self.keep(victim.admitted(carrier)), self.keep(forger.admitted(carrier, role="relay"))
            link.send_frame(wire.KICK, {"peer": victim.identity.text, "reason": "no"})
            link.send_frame(wire.KICK, {"peer": program.peer, "reason": "no"})
            self.assert_answers(link)
            self.assert_answers(other)
            grant = {"key": wire.base64_text(forger.identity.public_key_info), "signature": wire.base64_text(bytes(70))}
            link.send_frame(wire.RELAY_GRANT, grant)
            self.assert_closes(link, "protocol-error")


if __name__ == "__main__":
    unittest.main()
