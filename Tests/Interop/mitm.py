"""A man in the middle: terminates TLS with its own key on both sides and relays what it reads."""

import json
import os
import socket
import threading

from whiteboard_peer import admission, wire
from whiteboard_peer.events import EventLog
from whiteboard_peer.link_base import LinkBroken
from whiteboard_peer.session import parse_hello
from whiteboard_peer.tls import BINDING, Identity, Link
from whiteboard_peer.wire import Violation, base32, parse_base64


class Interceptor:
    """Stands between a dialler and `target`. `strategy` is one of:

    - "relay": relays every frame except the ticket, which would reveal the attack;
    - "words": compares words with each side separately, with its own nonces;
    - "pretend": answers the dialler itself, as a host that admits anyone;
    - "pretend-ask": answers the dialler itself, as a host that compares words.
    """

    def __init__(self, target, strategy="relay"):
        self.target = target
        self.strategy = strategy
        self.identity = Identity()
        self.events = EventLog()
        self.frames = []
        self.words = {}
        self._links = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        for link in self._links:
            link.abort()

    def read(self, side):
        """The frames from `side` ("dialler" or "host"), by frame type."""
        return [kind for who, kind, _ in self.frames if who == side]

    def saw(self, data):
        return any(data in payload for _, _, payload in self.frames)

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            dialler = Link(sock, self.identity, True)
            dialler.decoder.maximum = wire.MAXIMUM_PAYLOAD
            self._links.append(dialler)
            self.events.add("dialled", peer=dialler.peer_id)
            if self.strategy.startswith("pretend"):
                self._pretend(dialler)
                return
            host = Link.connect(self.target, self.identity)
            host.decoder.maximum = wire.MAXIMUM_PAYLOAD
            self._links.append(host)
            if self.strategy == "words":
                self._play_words(dialler, host)
            back = threading.Thread(target=self._pump, args=(host, dialler, "host"), daemon=True)
            back.start()
            self._pump(dialler, host, "dialler")
        except (OSError, LinkBroken, Violation) as error:
            self.events.add("ended", why=str(error))

    def _take(self, link, side):
        kind, payload = link.read_frame(70)
        self.frames.append((side, kind, payload))
        if kind == wire.CLOSE:
            self.events.add("closed", side=side, code=wire.parse_json(payload)["code"])
        return kind, payload

    def _pump(self, source, sink, side):
        try:
            while True:
                kind, payload = self._take(source, side)
                if kind == wire.ACCEPT:
                    self.events.add("accepted")
                    accept = json.loads(payload)
                    accept.pop("ticket", None)
                    payload = accept
                sink.send_frame(kind, payload)
        except (OSError, LinkBroken, Violation) as error:
            self.events.add("ended", side=side, why=str(error))
            sink.abort()

    def _play_words(self, dialler, host):
        kind, payload = self._take(dialler, "dialler")
        hello = json.loads(payload)
        hello.pop("ticket", None)
        hello.pop("resume", None)
        host.send_frame(kind, hello)
        kind, payload = self._take(host, "host")
        dialler.send_frame(kind, payload)
        if kind != wire.HELLO:
            return
        theirs = parse_hello(payload, False)
        if theirs["admission"] != "ask":
            return
        self._words_as_listener(dialler, theirs["session"])
        self._words_as_dialler(host, theirs["session"])

    def _words_as_listener(self, link, session):
        kind, _ = self._take(link, "dialler")
        if kind != wire.SAS_COMMIT:
            raise LinkBroken(f"frame {kind:#04x} and not SAS-COMMIT")
        mine = os.urandom(32)
        link.send_frame(wire.SAS_NONCE, {"nonce": wire.base64_text(mine)})
        kind, payload = self._take(link, "dialler")
        while kind == wire.DECIDING:
            kind, payload = self._take(link, "dialler")
        nonce = parse_base64(wire.parse_json(payload)["nonce"], exactly=32)
        sides = (session, link.peer_id, self.identity.peer_id)
        secret = admission.sas_secret(link.exporter(BINDING), nonce, mine, *sides)
        self.words["dialler"] = admission.words(secret, 3)

    def _words_as_dialler(self, link, session):
        binding, mine = link.exporter(BINDING), os.urandom(32)
        commit = admission.sas_commitment(binding, mine)
        link.send_frame(wire.SAS_COMMIT, {"commit": wire.base64_text(commit)})
        _, payload = self._take(link, "host")
        nonce = parse_base64(wire.parse_json(payload)["nonce"], exactly=32)
        link.send_frame(wire.SAS_REVEAL, {"nonce": wire.base64_text(mine)})
        sides = (session, self.identity.peer_id, link.peer_id)
        secret = admission.sas_secret(binding, mine, nonce, *sides)
        self.words["host"] = admission.words(secret, 3)

    def _pretend(self, dialler):
        _, payload = self._take(dialler, "dialler")
        theirs = parse_hello(payload, True)
        session = theirs["session"] if any(theirs["session"]) else os.urandom(16)
        hello = {
            "protocol": [1, 1],
            "session": base32(session),
            "name": "host",
            "incarnation": base32(os.urandom(8)),
            "port": self.address[1],
            "addresses": ["127.0.0.1"],
            "role": "member",
            "links": 0,
            "admission": "ask" if self.strategy == "pretend-ask" else "none",
        }
        dialler.send_frame(wire.HELLO, hello)
        if self.strategy == "pretend-ask":
            self._words_as_listener(dialler, session)
        accept = {"host": self.identity.text, "maximum": 16, "members": []}
        dialler.send_frame(wire.ACCEPT, accept)
        while True:
            self._take(dialler, "dialler")
