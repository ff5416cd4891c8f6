"""The parts that the links of peers (tls.py) and the links of browsers (web.py) share."""

import select
import socket
import struct
import time

from .wire import FrameDecoder, encode_frame


class LinkBroken(Exception):
    """The connection ended without a CLOSE."""


class LinkTimeout(LinkBroken):
    """No data arrived in time."""


def prepare(sock):
    """Sends without delay, and limits the time in which the other end must accept data."""
    sock.settimeout(None)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 30, 0))


def receive(sock, deadline):
    """Returns the next bytes of a socket, or none at its end."""
    poller = select.poll()
    try:
        poller.register(sock, select.POLLIN)
        wait = None if deadline is None else max(0, deadline - time.monotonic()) * 1000
        if not poller.poll(wait):
            raise LinkTimeout("nothing came in time")
        return sock.recv(65_536)
    except (OSError, ValueError) as error:
        raise LinkBroken(str(error)) from error


class FramedLink:
    """Frames over the bytes of a link: a subclass has `send(data)` and `read_some(deadline)`."""

    def __init__(self, identity, server, remote_address):
        self.identity, self.server, self.remote_address = identity, server, remote_address
        self.decoder = FrameDecoder()
        # Frames that arrived before the local user had decided; they are read again after the decision (ADM-8).
        self.held = []
        self.last_read = time.monotonic()
        self._closed = False

    def send_frame(self, kind, payload=b""):
        self.send(encode_frame(kind, payload))

    def read_frame(self, timeout=None):
        """Returns the next (type, payload) of a known type; raises `Violation`, `LinkBroken`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if self.held:
            return self.held.pop(0)
        while True:
            frame = self.decoder.next()
            if frame is not None:
                return frame
            self.decoder.feed(self.read_some(deadline))
