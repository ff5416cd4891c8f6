"""The messages of an attacker, and checks of the answers; for the links of peers and of browsers."""

import contextlib
import os
import pathlib
import re
import socket
import threading
import time

from whiteboard_peer import wire
from whiteboard_peer.link_base import LinkBroken, LinkTimeout
from whiteboard_peer.session import parse_close
from whiteboard_peer.wire import base32

# A sentence, and not a value such as `outOfRange("port")`; or an empty text (CLS-5).
SENTENCE = r"^([A-Z]((?!\w\().)*\.)?$"


def hello_of(session, incarnation, /, **changes):
    """Returns a valid HELLO with `changes`; the value `...` removes a key."""
    hello = {
        "protocol": [1, 1],
        "session": base32(session),
        "name": "mallory",
        "incarnation": base32(incarnation),
        "port": 0,
        "addresses": [],
        "role": "member",
        "links": 0,
        **changes,
    }
    return {key: value for key, value in hello.items() if value is not ...}


def resident(program):
    """Returns the memory of a program in bytes."""
    status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


class LinkChecks:
    """Checks of links, for test cases."""

    # Whether the other end is the real program.
    closes_with_sentences = True

    def next_frame(self, link, wanted, timeout=10):
        """Returns the payload of the next frame of a type; fails if the link is closed."""
        deadline = time.monotonic() + timeout
        while True:
            kind, payload = link.read_frame(max(0.01, deadline - time.monotonic()))
            if kind == wanted:
                return payload
            if kind == wire.CLOSE:
                self.fail(f"closed with {payload}")

    def assert_answers(self, link, timeout=10):
        """Expects that all frames so far were handled, because a PING behind them is answered."""
        mark = os.urandom(8)
        link.send_frame(wire.PING, mark)
        deadline = time.monotonic() + timeout
        while self.next_frame(link, wire.PONG, deadline - time.monotonic()) != mark:
            pass

    def assert_ends(self, link, timeout=5):
        """Expects that the other end ends the connection, and sends nothing before that."""
        with self.assertRaises(LinkBroken) as raised:
            link.read_frame(timeout)
        self.assertNotIsInstance(raised.exception, LinkTimeout, "the connection stays open")

    def assert_closes(self, link, *codes, timeout=10):
        """Expects CLOSE with one of `codes`, then the end of the connection."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                kind, payload = link.read_frame(max(0.01, deadline - time.monotonic()))
                if kind == wire.CLOSE:
                    break
        except LinkBroken as error:
            self.fail(f"no CLOSE: {error}")
        code, message = parse_close(payload)
        self.assertIn(code, codes)
        if self.closes_with_sentences:
            self.assertRegex(message, SENTENCE)
        self.assert_ends(link)
        link.abort()


class DialCounter:
    """Accepts connections without an answer, and counts them."""

    def __init__(self, holds):
        """`holds`: keep the connections open as long as the other end does, instead of closing them at once."""
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._holds, self._held = holds, []
        self._condition = threading.Condition()
        self._total = 0
        # The highest number of connections that were open at the same time.
        self.most = 0
        self._thread = threading.Thread(target=self._accept)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for sock in [self._server, *self._held]:
            sock.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._server.accept()
                sock.setblocking(False)
                # The end of an earlier connection arrived before this connection.
                self._held = [held for held in self._held if is_open(held)] + [sock]
                with self._condition:
                    self._total += 1
                    self.most = max(self.most, len(self._held))
                    self._condition.notify_all()
                if not self._holds:
                    self._held.pop().close()

    def reaches(self, total, timeout):
        """Waits until `total` connections were opened; returns false if they were not opened in time."""
        with self._condition:
            return self._condition.wait_for(lambda: self._total >= total, timeout)


def is_open(sock):
    """Returns whether the other end has not closed a connection; drops what it sent."""
    try:
        while sock.recv(65_536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    sock.close()
    return False
