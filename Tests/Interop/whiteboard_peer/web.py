"""Links of browsers: WebSockets and HTTP requests over TLS, and guests that use them (web.md)."""

import hashlib
import hmac
import os
import socket
import ssl
import struct
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from . import wire
from .board import BoardPeer
from .link_base import FramedLink, LinkBroken, LinkTimeout, prepare, receive
from .tls import BINDING, Identity
from .wire import CLOSE, base32, base64_text, malformed, parse_base32, parse_base64

SUBPROTOCOL = "whiteboard-p2p"
MAXIMUM_MESSAGE = 65_544
MAXIMUM_POST = 262_144
MAXIMUM_OPENING = 8_192
CONTINUATION, TEXT, BINARY, CLOSING, PING, PONG = 0, 1, 2, 8, 9, 10


class Refusal(Exception):
    """The gateway answered a request with an unexpected status."""

    def __init__(self, answer):
        super().__init__(f"{answer.status}: {answer.body[:200]!r}")
        self.status = answer.status
        self.answer = answer


def web_key(secret, session):
    """Returns K, which both sides prove instead of a stretched code (1)."""
    return hashlib.sha256(b"whiteboard-p2p web key 1\0" + secret + session).digest()


def invitation_proof(key, binding, role):
    """Returns the proof in a request for a link to show to others (WEB-58)."""
    return hmac.digest(key, b"whiteboard-p2p web invite 1\0" + binding + role.encode(), "sha256")


class PageLink:
    """The parts of the link in a QR code (1)."""

    def __init__(self, text):
        parts = urllib.parse.urlsplit(text)
        if parts.scheme != "https" or parts.path != "/" or parts.query:
            raise ValueError("not a link for browsers")
        session, _, secret = parts.fragment.partition(".")
        self.text = text
        self.fragment = parts.fragment
        self.origin = f"https://{parts.netloc}"
        self.authority = parts.netloc
        self.address = (parts.hostname, parts.port or 443)
        self.session, self.secret_text = parse_base32(session, 16), secret
        self.secret = parse_base32(secret, 16)
        self.key = web_key(self.secret, self.session)


class Answer:
    """An answer to a request; the names of its headers are in lower case."""

    def __init__(self, status, headers):
        self.status, self.headers, self.body = status, headers, b""

    def header(self, name):
        """Returns the only value of a header, or None."""
        values = [value for key, value in self.headers if key == name]
        if len(values) > 1:
            raise malformed(f"{len(values)} headers {name}")
        return values[0] if values else None


class Connection:
    """A TLS connection to a gateway, which carries HTTP. One thread may read while others write."""

    def __init__(self, address, source=None, timeout=10, receive_buffer=None):
        self.sock = socket.socket(socket.AF_INET)
        self.buffer = bytearray()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls_lock, self._send_lock = threading.Lock(), threading.Lock()
        try:
            if receive_buffer:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            self.sock.settimeout(timeout)
            if source:
                self.sock.bind((source, 0))
            self.sock.connect(address)
            prepare(self.sock)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            context.set_alpn_protocols(["http/1.1"])
            self._tls = context.wrap_bio(self._incoming, self._outgoing)
            self._handshake(time.monotonic() + timeout)
        except BaseException:
            self.sock.close()
            raise

    def _handshake(self, deadline):
        while True:
            try:
                self._tls.do_handshake()
                return self._flush()
            except ssl.SSLWantReadError:
                self._flush()
            except ssl.SSLError as error:
                raise LinkBroken(f"TLS handshake: {error}") from error
            if not self._receive(deadline):
                raise LinkBroken("the connection ended during the TLS handshake")

    def _flush(self):
        with self._tls_lock:
            data = self._outgoing.read()
        if data:
            self.sock.sendall(data)

    def _receive(self, deadline):
        """Reads from the socket; returns False at the end of the connection."""
        try:
            data = receive(self.sock, deadline)
        except LinkTimeout:
            raise
        except LinkBroken:
            return False
        with self._tls_lock:
            self._incoming.write(data) if data else self._incoming.write_eof()
        return bool(data)

    def send(self, data):
        with self._send_lock:
            try:
                with self._tls_lock:
                    self._tls.write(data)
                    out = self._outgoing.read()
                self.sock.sendall(out)
            except (OSError, ValueError) as error:
                raise LinkBroken(str(error)) from error

    def fill(self, deadline=None):
        """Reads some bytes into the buffer; returns False at the end of the connection."""
        while True:
            try:
                with self._tls_lock:
                    data = self._tls.read(65_536)
                self.buffer += data
                return bool(data)
            except ssl.SSLWantReadError:
                pass
            except (OSError, ValueError):
                return False
            if not self._receive(deadline):
                return False

    def take(self, count, deadline):
        while len(self.buffer) < count:
            if not self.fill(deadline):
                raise LinkBroken("the connection ended")
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def line(self, deadline):
        while b"\r\n" not in self.buffer:
            if not self.fill(deadline):
                raise LinkBroken("the connection ended")
        line, _, rest = bytes(self.buffer).partition(b"\r\n")
        self.buffer = bytearray(rest)
        return line

    def head(self, timeout=10):
        """Reads the head of an answer."""
        deadline = time.monotonic() + timeout
        version, status, *_ = self.line(deadline).decode("latin-1").split(" ", 2)
        if version != "HTTP/1.1":
            raise malformed("not HTTP/1.1")
        headers = []
        while line := self.line(deadline).decode("latin-1"):
            name, _, value = line.partition(":")
            headers.append((name.lower(), value.strip()))
        return Answer(int(status), headers)

    def chunk(self, deadline=None):
        """Reads one chunk of a body without a length; empty at its end."""
        count = int(self.line(deadline).split(b";")[0], 16)
        data = self.take(count, deadline)
        if self.take(2, deadline) != b"\r\n":
            raise malformed("a chunk without an end")
        return data

    def answer(self, timeout=10, has_body=True):
        """Reads a whole answer."""
        answer = self.head(timeout)
        deadline = time.monotonic() + timeout
        if answer.header("transfer-encoding") == "chunked":
            while data := self.chunk(deadline):
                answer.body += data
        elif has_body:
            answer.body = self.take(int(answer.header("content-length") or 0), deadline)
        return answer

    def is_closed(self, timeout=5):
        """Whether the gateway ends the connection in time; drops what arrives."""
        deadline = time.monotonic() + timeout
        try:
            while self.fill(deadline):
                self.buffer.clear()
        except LinkTimeout:
            return False
        return True

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()


def request(method, path, headers=(), body=b""):
    """Returns the bytes of a request."""
    head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(head).encode("latin-1") + body


class WebSocket:
    """The bytes of a link in the messages of a WebSocket (RFC 6455)."""

    def __init__(self, address, origin, authority=None, headers=None, **options):
        self.connection = Connection(address, **options)
        key = base64_text(os.urandom(16))
        standard = {
            "Host": authority or origin.removeprefix("https://"),
            "Origin": origin,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Protocol": SUBPROTOCOL,
            **(headers or {}),
        }
        try:
            self.connection.send(request("GET", "/link", [(k, v) for k, v in standard.items() if v is not None]))
            answer = self.connection.head()
            if answer.status != 101:
                raise Refusal(answer)
            accept = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
            if answer.header("sec-websocket-accept") != base64_text(accept):
                raise malformed("another key in the answer")
            if answer.header("sec-websocket-protocol") != SUBPROTOCOL:
                raise malformed("another subprotocol in the answer")
        except BaseException:
            self.connection.close()
            raise
        self.closed_with = None

    @staticmethod
    def frame(opcode, data=b"", fin=True, masked=True, reserved=0, length=None):
        """Returns the bytes of one frame; `length` announces another length than that of `data`."""
        count = len(data) if length is None else length
        first = (0x80 if fin else 0) | reserved << 4 | opcode
        mark = 0x80 if masked else 0
        if count < 126:
            head = bytes([first, mark | count])
        elif count < 65_536:
            head = struct.pack(">BBH", first, mark | 126, count)
        else:
            head = struct.pack(">BBQ", first, mark | 127, count)
        if not masked:
            return head + data
        mask = os.urandom(4)
        stream = (mask * (len(data) // 4 + 1))[: len(data)]
        masked_data = int.from_bytes(data, "big") ^ int.from_bytes(stream, "big")
        return head + mask + masked_data.to_bytes(len(data), "big")

    def send(self, data):
        for start in range(0, len(data), MAXIMUM_MESSAGE):
            self.connection.send(self.frame(BINARY, data[start : start + MAXIMUM_MESSAGE]))

    def read(self, deadline=None):
        """Returns (opcode, data) of the next frame; checks what a server may send."""
        first, second = self.connection.take(2, deadline)
        if second & 0x80 or first & 0x70 or not first & 0x80:
            raise malformed("a frame that is masked, reserved or fragmented")
        count = second & 0x7F
        if count == 126:
            (count,) = struct.unpack(">H", self.connection.take(2, deadline))
        elif count == 127:
            (count,) = struct.unpack(">Q", self.connection.take(8, deadline))
        if count > MAXIMUM_MESSAGE:
            raise malformed(f"a message of {count} bytes")
        return first & 15, self.connection.take(count, deadline)

    def receive(self, deadline=None):
        """Returns the bytes of the next binary message."""
        while True:
            opcode, data = self.read(deadline)
            if opcode == BINARY:
                return data
            if opcode == CLOSING:
                self.closed_with = struct.unpack(">H", data[:2])[0] if data else None
                raise LinkBroken(f"the WebSocket was closed: {self.closed_with}")
            if opcode not in (PING, PONG):
                raise malformed(f"a frame with opcode {opcode}")

    def end(self):
        self.connection.send(self.frame(CLOSING, struct.pack(">H", 1000)))

    def abort(self):
        self.connection.close()


class Posts:
    """The bytes of a link in requests, and in the body of one answer."""

    def __init__(self, address, origin, authority=None, **options):
        self.address, self.origin, self.options = address, origin, options
        self.authority = authority or origin.removeprefix("https://")
        self.connection = Connection(address, **options)
        try:
            self.connection.send(self._request("/link", b""))
            answer = self.connection.head()
            if answer.status != 200:
                raise Refusal(answer)
            self.id = answer.header("whiteboard-link")
            parse_base32(self.id, 16)
            if answer.header("content-length") is not None:
                raise malformed("a streamed body has no length")
        except BaseException:
            self.connection.close()
            raise
        self.position = 0
        self._sending = None

    def _request(self, path, body, headers=()):
        standard = [("Host", self.authority), ("Origin", self.origin), ("Content-Length", len(body))]
        return request("POST", path, [*standard, *headers], body)

    def post(self, body, position=None, connection=None):
        """Sends a body; returns the answer."""
        own = connection is None
        if own and self._sending is None:
            self._sending = Connection(self.address, **self.options)
        connection = connection or self._sending
        position = self.position if position is None else position
        connection.send(self._request(f"/link/{self.id}", body, [("Whiteboard-Position", position)]))
        answer = connection.answer()
        if own and answer.header("connection") == "close":
            self._sending.close()
            self._sending = None
        return answer

    def send(self, data):
        for start in range(0, len(data), MAXIMUM_POST):
            body = data[start : start + MAXIMUM_POST]
            answer = self.post(body)
            if answer.status != 204:
                raise LinkBroken(f"POST: {answer.status}")
            self.position += len(body)

    def receive(self, deadline=None):
        data = self.connection.chunk(deadline)
        if not data:
            raise LinkBroken("the answer ended")
        return data

    def end(self):
        pass

    def abort(self):
        self.connection.close()
        if self._sending:
            self._sending.close()


class WebLink(FramedLink):
    """A link to a gateway, with the interface of `tls.Link`. One thread may read while others write."""

    def __init__(self, transport, identity, origin):
        super().__init__(identity, False, transport.connection.sock.getpeername())
        self.transport, self.origin = transport, origin
        self._secret = None
        self.challenge = None

    @classmethod
    def connect(cls, address, identity, origin, kind=WebSocket, **options):
        """Opens a link and proves the key of `identity` (WEB-3)."""
        link = cls(kind(address, origin, **options), identity, origin)
        try:
            link.read_challenge()
            link.send_frame(wire.WEB_PROOF, link.proof())
        except BaseException:
            link.abort()
            raise
        return link

    def read_challenge(self, timeout=5):
        kind, payload = self.read_frame(timeout)
        if kind != wire.WEB_CHALLENGE:
            raise malformed(f"frame {kind:#04x} instead of WEB-CHALLENGE")
        if len(payload) > MAXIMUM_OPENING:
            raise malformed("a WEB-CHALLENGE that is too long")
        raw = wire.parse_json(payload)
        self.peer_id = parse_base32(wire.text(raw, "peer"), 32)
        self.challenge = parse_base64(wire.text(raw, "nonce"), exactly=32)

    def proof(self, origin=None, **changes):
        """Returns WEB-PROOF; derives the exporter of the link (WEB-4)."""
        identity, nonce = self.identity, os.urandom(32)
        common = self.challenge + nonce + self.peer_id + identity.peer_id
        signed = b"whiteboard-p2p web proof 1\0" + common + (origin or self.origin).encode("ascii")
        r, s = utils.decode_dss_signature(identity.key.sign(signed, ec.ECDSA(hashes.SHA256())))
        size = (identity.key.curve.key_size + 7) // 8
        self._secret = hashlib.sha256(b"whiteboard-p2p web exporter 1\0" + common).digest()
        return {
            "key": base64_text(identity.public_key_info),
            "nonce": base64_text(nonce),
            "signature": base64_text(r.to_bytes(size, "big") + s.to_bytes(size, "big")),
            **changes,
        }

    def exporter(self, label):
        return hmac.digest(self._secret, label, "sha256")

    def invitation_request(self, key, session, role):
        """Returns the body of a request for a link to show to others (WEB-58)."""
        return {
            "session": base32(session), "guest": base32(self.identity.peer_id), "role": role,
            "proof": base64_text(invitation_proof(key, self.exporter(BINDING), role)),
        }

    def send(self, data):
        self.transport.send(data)

    def read_some(self, deadline=None):
        data = self.transport.receive(deadline)
        self.last_read = time.monotonic()
        return data

    def close(self, code, message=""):
        if self._closed:
            return
        try:
            self.send_frame(CLOSE, {"code": code, "message": message})
            self.transport.end()
            self.transport.connection.is_closed(0.5)
        except (OSError, LinkBroken):
            pass
        self.abort()

    def abort(self):
        self._closed = True
        self.transport.abort()


class Guest(BoardPeer):
    """A member that uses web links, with a replica of the board."""

    def __init__(self, identity, name, session=None, *, page, carrier=WebSocket, **options):
        self.page, self.carrier = page, carrier
        super().__init__(identity or Identity(), name, session or page.session, hidden=True, **options)

    def enter(self):
        """Joins with the secret of the page's link."""
        return self.join(("127.0.0.1", self.page.address[1]), code=self.page.secret)

    def dial(self, address):
        return WebLink.connect(address, self.identity, self.page.origin, self.carrier)

    def code_key(self, code, listener):
        return web_key(code, self.session)

    def _join(self, link, address, expect, code, insist, resume, timeout, context, returning):
        # A guest proves K again unless both sides resume (WEB-6).
        code = code or self.page.secret
        return super()._join(link, address, expect, code, insist, resume, timeout, context, False)

    def _start_datagrams(self, remote, link, dialled_by_us):
        # All datagrams of a guest travel on its link (WEB-40).
        remote._forget_datagrams()
