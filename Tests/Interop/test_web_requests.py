"""Tests the requests and WebSockets of a gateway (web.md, sections 2, 5 and 6), and many guests at once.

An attack must end only its own connection, and the program must still serve guests and peers.
"""

import contextlib
import os
import struct
import threading
import time
import unittest

from attacking import resident
from web_case import CARRIERS, Attacker, SharedGateway, WebCase
from whiteboard_peer import relay, wire
from whiteboard_peer.board import BoardPeer
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
        before = resident(self.host)
        head = request("GET", "/", [("Host", self.page.authority), ("Transfer-Encoding", "chunked")], b"0\r\n")
        with contextlib.suppress(LinkBroken):
            connection.send(head)
            for number in range(20_000):
                connection.send(b"X-%d: %s\r\n" % (number, b"a" * 1_000))
        self.assertLess(resident(self.host) - before, 30_000_000)

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
        self.assertEqual(self.next_frame(link, wire.PONG), b"12345678")
        self.assertEqual(posts.post(bytes(MAXIMUM_POST + 1)).status, 413)
        self.assert_answers(link)

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
        self.assertEqual(len(self.next_frame(link, wire.PONG)), 8)
        self.assertEqual(self.next_frame(link, wire.PONG), b"abcdefgh")

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
        time.sleep(1)
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
        deadline = time.monotonic() + 20
        while native.digest() != program.digest():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

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
            self.next_frame(link, wire.PONG)
            self.assert_answers(other)
            grant = {"key": wire.base64_text(forger.identity.public_key_info), "signature": wire.base64_text(bytes(70))}
            link.send_frame(wire.RELAY_GRANT, grant)
            self.assert_closes(link, "protocol-error")


if __name__ == "__main__":
    unittest.main()
