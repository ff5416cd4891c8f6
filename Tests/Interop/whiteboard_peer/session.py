"""A peer in one session: dial, listen, admission, messages, resumption, liveness, members."""

import collections
import hmac
import ipaddress
import itertools
import json
import os
import queue
import random
import socket
import threading
import time

from . import admission, datagram, wire
from .bulk import BulkMixin, serve_bulk
from .events import PATIENCE, EventLog
from .link_base import LinkBroken, LinkTimeout
from .tls import BINDING, DATAGRAM_LABEL, Link
from .wire import Violation, base32, malformed, parse_base32, parse_base64

VERSION = 1
ANY_SESSION = bytes(16)
STEP = 5
OUTBOX = 40 * 1024 * 1024


class Refused(Exception):
    """The other side closed the link instead of admitting this peer."""

    def __init__(self, code, message=""):
        super().__init__(f"{code}: {message}")
        self.code = code


class WrongPeer(Exception):
    """Another key answers at that address (LNK-3)."""


class NotVerified(Exception):
    """The host did not prove itself (HEL-4, ADM-8)."""


def is_address_of_one_machine(text):
    """Whether a member may have this address: it is not unspecified, multicast or broadcast (MEM-18)."""
    address = ipaddress.ip_address(text)
    return not (address.is_unspecified or address.is_multicast or text == "255.255.255.255")


def parse_member(value):
    if not isinstance(value, dict):
        raise malformed("a member is not an object")
    return {
        "peer": parse_base32(wire.text(value, "peer"), 32),
        "name": wire.text(value, "name", 1, 64),
        "incarnation": parse_base32(wire.text(value, "incarnation"), 8),
        "port": wire.integer(value, "port", 0, 65_535),
        "addresses": _addresses(value),
        "role": wire.text(value, "role"),
    }


def _addresses(value):
    addresses = wire.array(value, "addresses", 16)
    if not all(isinstance(a, str) for a in addresses):
        raise malformed("an address is not a text")
    return addresses


def parse_hello(payload, from_dialler):
    """Decodes HELLO, including its binary parts (3.1)."""
    raw = wire.parse_json(payload)
    versions = wire.array(raw, "protocol", 2)
    if len(versions) != 2 or not all(type(v) is int and 0 <= v for v in versions):
        raise malformed("`protocol` is not two integers")
    if versions[0] > versions[1]:
        raise malformed("`protocol` is not a range")
    hello = {
        "protocol": versions,
        "session": parse_base32(wire.text(raw, "session"), 16),
        "name": wire.text(raw, "name", 1, 64),
        "incarnation": parse_base32(wire.text(raw, "incarnation"), 8),
        "port": wire.integer(raw, "port", 0, 65_535),
        "addresses": _addresses(raw),
        "role": wire.text(raw, "role"),
        "links": wire.integer(raw, "links"),
    }
    if not from_dialler:
        hello["admission"] = wire.text(raw, "admission")
        if hello["admission"] not in ("none", "code", "ask"):
            raise malformed("an unknown admission")
        return hello
    resume = wire.mapping(raw, "resume")
    if resume is not None:
        hello["resume"] = {
            "incarnation": parse_base32(wire.text(resume, "incarnation"), 8),
            "received": wire.integer(resume, "received"),
            "since": wire.integer(resume, "since", 1, default=None),
        }
    hello["ended"] = wire.text(raw, "ended", 0, 64, default=None)
    hello["ticket"] = wire.mapping(raw, "ticket")
    invitation = wire.mapping(raw, "invitation")
    hello["joins"] = invitation is not None
    invitation = invitation or {}
    hello["timeout"] = wire.integer(invitation, "timeout", 1_000, 600_000, 300_000) / 1000
    hello["context"] = parse_base64(wire.text(invitation, "context", default=""), 1_024)
    if "pass" in invitation:
        parse_base32(wire.text(invitation, "pass"), 16)
    return hello


def parse_accept(payload):
    """Decodes ACCEPT, including its binary parts (3.3)."""
    raw = wire.parse_json(payload)
    resumed = wire.mapping(raw, "resume")
    ended = wire.text(raw, "ended", 0, 64, default=None)
    return {
        "host": parse_base32(wire.text(raw, "host"), 32),
        "maximum": wire.integer(raw, "maximum", 1),
        "members": [parse_member(m) for m in wire.array(raw, "members", 256)],
        "ticket": wire.mapping(raw, "ticket"),
        "proof": parse_base64(wire.text(raw, "proof", default=""), 32),
        "received": None if resumed is None else wire.integer(resumed, "received"),
        # With an accepted resume, `ended` has no meaning (RSM-6).
        "ended": ended if resumed is None else None,
        "mode": wire.text(raw, "admission", default=None),
        "code": wire.text(raw, "code", 1, 256, default=None),
    }


def parse_close(payload):
    raw = wire.parse_json(payload)
    return wire.text(raw, "code"), wire.text(raw, "message", 0, 512)


class Delivery:
    """The delivery state of a pair of incarnations, across links (3.4, 6)."""

    def __init__(self, since=0):
        # The number of the link with which the state began (RSM-5), and of the last link that this side dialed
        # (DUP-1).
        self.since = since
        self.dialled = 0
        self.next = 1
        self.unacknowledged = collections.deque()
        self.size = 0
        self.acknowledged = 0
        self.received = 0
        self.acknowledged_to_other = 0
        self.received_bytes = 0
        self.ack_due = None
        self.heard = False
        self.assembler = wire.MessageAssembler()

    def queue(self, message, at_once):
        payloads = wire.encode_message_parts(message, self.next, at_once)
        for payload in payloads:
            self.unacknowledged.append((self.next, payload))
            self.next += 1
            self.size += len(payload)
        return payloads

    def acknowledge(self, sequence):
        if sequence >= self.next:
            raise malformed("an ACK for what was never sent")
        self.heard = True
        if sequence <= self.acknowledged:
            return
        self.acknowledged = sequence
        while self.unacknowledged and self.unacknowledged[0][0] <= sequence:
            self.size -= len(self.unacknowledged.popleft()[1])

    def take(self, payload):
        """Returns the message that this part completes, or None (MSG-3, MSG-4)."""
        sequence, flags, total, body = wire.decode_message_part(payload)
        self.heard = True
        if sequence <= self.received:
            self.ack_due = time.monotonic()
            return None
        if sequence != self.received + 1:
            raise malformed("a sequence number was skipped")
        message = self.assembler.take(flags, total, body)
        self.received = sequence
        self.received_bytes += len(payload)
        now = time.monotonic()
        if (
            flags & wire.Part.AT_ONCE
            or self.received - self.acknowledged_to_other >= 256
            or self.received_bytes >= 256 * 1024
        ):
            self.ack_due = now
        elif self.ack_due is None:
            self.ack_due = now + 0.02
        return message


class Decision:
    """The time in which users decide on one link (ADM-15, ADM-16)."""

    SILENCE = 30

    def __init__(self, link, timeout, reports):
        self.link, self.reports = link, reports
        self.ends = time.monotonic() + timeout
        # The answer of the local user, once the user has answered.
        self.answers = []
        # The last answer that the other side reported; None if it reports none.
        self.peer_answer = None
        self._heard = None
        self._sent = (0, None)

    def report(self):
        """Sends DECIDING if a second has passed or the answer has changed."""
        now, answer = time.monotonic(), bool(self.answers and self.answers[0])
        if self.reports and (answer != self._sent[1] or now - self._sent[0] >= 1):
            self._sent = (now, answer)
            self.link.send_frame(wire.DECIDING, bytes([answer]))

    def received(self, payload):
        if not payload:
            raise malformed("an empty DECIDING")
        self.peer_answer = bool(self.peer_answer) or payload[0] == 1

    def next_frame(self):
        """Returns the next frame that is not DECIDING, or None if none arrives within a moment."""
        now = time.monotonic()
        if now > self.ends:
            raise Violation("timed-out", "a user did not answer in time")
        if self._heard is not None and now - self._heard > self.SILENCE:
            raise LinkBroken("the other side is silent")
        self.report()
        try:
            kind, payload = self.link.read_frame(0.02)
        except LinkTimeout:
            return None
        self._heard = time.monotonic()
        if kind == wire.CLOSE:
            raise Refused(*parse_close(payload))
        if kind == wire.DECIDING:
            self.received(payload)
            return None
        return kind, payload


class ControlLink:
    """The open control link of a remote peer, with a queue, so that no caller blocks on TCP."""

    def __init__(self, link, dialled_by_us):
        self.link = link
        self.dialled_by_us = dialled_by_us
        self.last_sent = time.monotonic()
        self.closed_with = None
        self._queue = queue.Queue()
        self.writer = threading.Thread(target=self._write, daemon=True)

    def send(self, kind, payload=b""):
        self.last_sent = time.monotonic()
        self._queue.put(wire.encode_frame(kind, payload))

    def close(self, code, message=""):
        """Sends the queued frames, then CLOSE."""
        self.closed_with = code
        self._queue.put((code, message))

    def _write(self):
        while True:
            item = self._queue.get()
            if item is None:
                return
            try:
                if isinstance(item, tuple):
                    self.link.close(*item)
                    return
                self.link.send(item)
            except LinkBroken:
                self.link.abort()
                return

    def stop(self):
        self._queue.put(None)


class Remote(BulkMixin):
    """Another peer of the session."""

    def __init__(self, peer, peer_id):
        self.peer = peer
        self.peer_id = peer_id
        self.name = "?"
        self.incarnation = None
        self.port = 0
        self.addresses = []
        self.address = None
        self.role = "member"
        self.control = None
        self.delivery = None
        self.links = 0
        self.state = "known"
        self.why = None
        self.since = time.monotonic()
        self.redial_at = None
        self.redials = 0
        self.most_redials = 8
        self.named_by = None
        self.dialling = False
        self.forbidden = False
        self.ticket_tries = 0
        # The signed removals that were sent on the current link (MEM-11).
        self.known_kicks = set()
        # The reason why the local side gave up its delivery state (RSM-6).
        self.gave_up = None
        self.init_bulk()
        self._forget_datagrams()

    def _forget_datagrams(self):
        self.sealer = self.opener = None
        self.reassembler = datagram.Reassembler()
        self.udp_address = None
        self.udp_works = False
        self.probes = 0
        # The unanswered probes (DGM-10).
        self.open_probes = collections.deque(maxlen=8)
        self.probe_at = None
        self.piece_id = random.getrandbits(32)

    @property
    def text(self):
        return base32(self.peer_id)

    @property
    def ended(self):
        """The reason to report to the other side for state that this side gave up, until newer state is in use
        (RSM-6)."""
        return None if self.delivery and self.delivery.heard else self.gave_up

    def send(self, message, wait=False, timeout=30):
        """Queues a message; with `wait`, waits until the other side acknowledged it."""
        with self.peer.condition:
            self.peer.wait_until(
                lambda: self.state in ("lost", "left")
                or (self.delivery and self.delivery.size < OUTBOX),
                timeout,
            )
            if self.state in ("lost", "left"):
                raise LinkBroken(f"the peer is gone: {self.state}, {self.why}")
            payloads = self.delivery.queue(message, wait)
            last, delivery = self.delivery.next - 1, self.delivery
            if self.control:
                for payload in payloads:
                    self.control.send(wire.MESSAGE, payload)
            if wait:
                self.peer.wait_until(lambda: delivery.acknowledged >= last, timeout)

    def send_datagram(self, message):
        """Sends a datagram once, by UDP, or on the link if UDP does not pass (DGM-9)."""
        with self.peer.condition:
            if not self.udp_works:
                if self.control:
                    self.control.send(wire.DATAGRAM, message)
                return "link"
            for kind, content in datagram.pieces(self.piece_id, message):
                self.peer.send_packet(self, self.sealer.seal(kind, content))
            self.piece_id = (self.piece_id + 1) & 0xFFFFFFFF
            return "udp"

    def cut(self):
        """Breaks the control link, as an unplugged cable would."""
        with self.peer.condition:
            if self.control:
                self.control.link.abort()

    def give_up(self, why="lost"):
        """Gives up the other side at once, as LIV-4 does after a long absence."""
        with self.peer.condition:
            control, self.control = self.control, None
            if control:
                control.link.abort()
            self.peer._gone(self, "lost", "not back in time")
            self.gave_up = why


class Peer:
    """One peer in one session, with a listener on loopback."""

    def __init__(
        self,
        identity,
        name,
        session=None,
        *,
        host=None,
        admission_mode="anyone",
        code=None,
        known=(),
        maximum=16,
        address="127.0.0.1",
        port=0,
        lost_after=60,
        resource_directory=None,
        hidden=False,
        members_admit=True,
    ):
        """With `members_admit`, the host of an `ask` session lets its members admit newcomers (TCK-6). With `hidden`, the peer does not announce its listener, and dials only the given address."""
        self.identity = identity
        self.id = identity.peer_id
        self.name = name
        self.host = host or self.id
        self.session = admission.named_session(self.host) if session is None else session
        # Other peers that were named as the host, if the session id proves nothing (MEM-16).
        self.claimants = set()
        self.incarnation = os.urandom(8)
        self.admission_mode = admission_mode
        self.code = code
        self.known = set(known)
        self.maximum = maximum
        self.lost_after = lost_after
        self.hidden = hidden
        self.members_admit = members_admit
        self.resource_directory = resource_directory
        self.ticket = None
        self.remotes = {}
        self.ever_members = {self.id}
        self.kicked = {}
        self.signed_kicks = {}
        self.events = EventLog()
        self.condition = threading.Condition(threading.RLock())
        self.answer_invitation = lambda name, words, context: True
        self.confirm_host = lambda name, words: True
        # A peer that does not send DECIDING simulates a program that does not know ADM-15 and ADM-16.
        self.reports_decision = True
        self.accept_resource = lambda remote, offer: True
        self.is_requested = lambda remote, offer: False
        self._stretched = None
        self._wrong = collections.defaultdict(list)
        # The addresses of the peers that wait for the user's answer, and the time until which a declined address is
        # refused.
        self._pending = {}
        self._silenced = {}
        self._short = []
        self._closed = False
        self._open_listener(address, port)
        self._threads = []
        for target in (self._accept, self._receive_packets, self._tick):
            self._start(target)

    # Lifetime

    def _open_listener(self, address, port):
        for _ in range(50):
            tcp = socket.create_server((address, port))
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            try:
                udp.bind(tcp.getsockname())
            except OSError:
                tcp.close()
                udp.close()
                continue
            self._tcp, self._udp = tcp, udp
            self.address = tcp.getsockname()
            return
        raise OSError("no port is free for both TCP and UDP")

    def _start(self, target, *args):
        thread = threading.Thread(target=target, args=args, daemon=True)
        thread.start()
        return thread

    def leave(self, code="left"):
        with self.condition:
            if self._closed:
                return
            self._closed = True
            controls = [r.control for r in self.remotes.values() if r.control]
            for remote in self.remotes.values():
                remote.state = "left"
                remote.end_bulk()
            for control in controls:
                control.close(code)
            self.condition.notify_all()
        for control in controls:
            control.writer.join(5)
        for sock in (self._tcp, self._udp):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def wait_until(self, condition, timeout):
        with self.condition:
            if not self.condition.wait_for(condition, timeout * PATIENCE):
                raise TimeoutError("the condition did not come true")

    # Hooks for a subclass

    def on_session(self):
        """Called when a peer that joined without a session id has learned the id from the listener."""

    def on_open(self, remote):
        """Called when the link of `remote` opens, for the first time or again."""

    def on_message(self, remote, message):
        self.events.add("message", remote=remote, message=message)

    def on_datagram(self, remote, message, path):
        self.events.add("datagram", remote=remote, message=message, path=path)

    def on_resource(self, remote, offer, path):
        self.events.add("resource", remote=remote, name=offer["name"], path=path, offer=offer)

    # HELLO

    def _hello(self, remote, extra):
        address = self.address[0]
        return {
            "protocol": [VERSION, VERSION],
            "session": base32(self.session),
            "name": self.name,
            "incarnation": base32(self.incarnation),
            "port": 0 if self.hidden else self.address[1],
            "addresses": [] if self.hidden else [address],
            "role": "member",
            "links": remote.links if remote else 0,
            **extra,
        }

    # Dialing

    def join_patiently(self, address, expect=None, *, within=30, **options):
        """Joins for the first time, and dials again as long as the listener may admit later (CLS-4, LIV-3)."""
        began = time.monotonic()
        waits = itertools.chain((0.2, 0.5, 1, 2), itertools.repeat(5))
        while True:
            try:
                return self.join(address, expect, **options)
            except (Refused, LinkTimeout) as problem:
                code = getattr(problem, "code", "timed-out")
                if wire.redial_after(code) != "later" or code in ("full", "no-such-session", "unknown-admitter"):
                    raise
                wait = next(waits) * (1 + 0.3 * random.random())
                if time.monotonic() + wait - began > (75 if code == "locked-out" else within):
                    raise
            time.sleep(wait)

    def join(
        self, address, expect=None, *, code=None, insist=False, resume=True, timeout=60, context=b"", returning=False
    ):
        """Dials `address`, is admitted and opens the link; raises `Refused` and other errors.

        With `code`, or `insist`, the host must prove itself (HEL-4). A returning member sends no invitation (MEM-7).
        """
        link = self.dial(address)
        try:
            return self._join(link, address, expect, code, insist, resume, timeout, context, returning)
        except Violation as violation:
            link.close(violation.code, violation.message)
            raise
        except BaseException:
            link.abort()
            raise

    def dial(self, address):
        """Opens a link to a listener."""
        return Link.connect(address, self.identity)

    def code_key(self, code, listener):
        """Returns the key with which both sides prove that they know a code."""
        return admission.stretch_code(code, self.session, listener)

    def _join(self, link, address, expect, code, insist, resume, timeout, context, returning):
        other = link.peer_id
        if expect is not None and other != expect:
            raise WrongPeer(base32(other))
        if other == self.id:
            link.close("self")
            raise Refused("self")
        with self.condition:
            remote = self.remotes.get(other)
            ticket = self._ticket_to_show(remote)
            extra = {"ticket": ticket} if ticket else {}
            if not returning:
                extra["invitation"] = {"timeout": int(timeout * 1000)}
            if context and not returning:
                extra["invitation"]["context"] = wire.base64_text(context)
            if resume and remote and remote.delivery:
                extra["resume"] = {
                    "incarnation": base32(remote.incarnation),
                    "received": remote.delivery.received,
                    "since": remote.delivery.since,
                }
            if remote and remote.ended:
                extra["ended"] = remote.ended
            hello = self._hello(remote, extra)
            said = remote.delivery if remote else None
            before = remote.control if remote else None
            if returning and before:
                # DUP-2: another link opened during the dial.
                link.abort()
                return remote
        link.send_frame(wire.HELLO, hello)
        theirs = parse_hello(self._expect(link, wire.HELLO), False)
        if self.session == ANY_SESSION:
            self.session = theirs["session"]
            self.on_session()
        elif theirs["session"] != self.session:
            raise malformed("another session")
        if not theirs["protocol"][0] <= VERSION <= theirs["protocol"][1]:
            raise Violation("version-mismatch", "version 1 only")
        proof, accept = self._satisfy(link, theirs, expect, code, insist, timeout, extra)
        accept = parse_accept(accept or self._expect(link, wire.ACCEPT))
        if proof is not None and not hmac.compare_digest(accept["proof"], proof):
            link.close("not-verified")
            raise NotVerified("the host did not prove that it knows the code")
        received, ended = accept["received"], accept["ended"]
        number = min(max(hello["links"], theirs["links"]) + 1, 2**53 - 1)
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        with self.condition:
            self.maximum = accept["maximum"]
            self._take_host(accept["host"], other)
            if accept["ticket"]:
                self._keep_ticket(accept["ticket"])
            remote = self.remotes.setdefault(other, Remote(self, other))
            remote.address = address
            crossed = (
                remote.control is not None
                and remote.control is not before
                and not remote.control.dialled_by_us
                and remote.incarnation == theirs["incarnation"]
            )
            if crossed and other < self.id:
                # DUP-2: the other side's link stays.
                self._start(link.close, "duplicate-link")
            elif self._is_outdated(remote, theirs, hello, said, received):
                raise Violation("duplicate-link", "")
            else:
                close_old = "duplicate-link" if crossed else "replaced"
                self._open(remote, link, True, theirs, received, number, ended, close_old)
                self._take_terms(remote, accept["mode"], accept["code"])
            self._learn(accept["members"], wait=0)
        return remote

    @property
    def authority(self):
        """The peer that has the host's rights, or None as long as it is not proved (MEM-15)."""
        if admission.names_host(self.session) and not admission.is_named(self.session, self.host):
            return None
        return self.host

    def _notice(self, *peer_ids):
        """Accepts a peer as the host if the session id names it (MEM-15)."""
        for peer_id in peer_ids:
            if peer_id != self.host and admission.is_named(self.session, peer_id):
                self.host = peer_id
                is_host = lambda kick: kick and admission.verify_kick(kick, self.session, peer_id)
                self.kicked = {k: why for k, why in self.kicked.items() if is_host(self.signed_kicks.get(k))}
                self.signed_kicks = {k: kick for k, kick in self.signed_kicks.items() if k in self.kicked}

    def _take_host(self, named, source):
        """Handles the host that a member names (MEM-15, MEM-16)."""
        self._notice(named, source)
        is_first = not self.ever_members - {self.id}
        if is_first and not admission.is_named(self.session, self.host):
            self.host = named
        if admission.names_host(self.session):
            if named != self.authority:
                self.events.add("false-host", host=named, source=source)
        elif named != self.host:
            self.claimants.add(named)
            self.events.add("host-disputed", host=named, source=source)

    def _keep_ticket(self, ticket):
        """Stores a ticket that leads to the host, or is not longer than the current one (TCK-4)."""
        signers = list(admission.ticket_signers(ticket, self.session, self.id))
        old = self.ticket and list(admission.ticket_signers(self.ticket, self.session, self.id))
        is_first = not old or old[-1] != self.host and signers[-1] == self.host
        if is_first or signers[-1] == self.host and len(signers) <= len(old):
            self.ticket = ticket

    def _make_ticket(self, member):
        """Signs a ticket that leads to the host, if the local ticket does (TCK-3)."""
        ticket = admission.make_ticket(self.identity, self.session, member)
        if self.ticket and self.host != self.id:
            # Only a peer that asks its user shows the right that the host gave to this peer (TCK-6).
            keys = ("admitter", "key", "signature") + (("right",) if self.admission_mode == "ask" else ())
            own = {key: self.ticket[key] for key in keys if key in self.ticket}
            chain = [own] + (self.ticket.get("via") or [])
            if len(chain) < 6:
                ticket["via"] = chain
        if self.authority == self.id and self.members_admit and self.admission_mode == "ask":
            ticket = admission.add_right(ticket, self.identity, self.session, member)
        return ticket

    @property
    def may_admit(self):
        """Whether the host lets this peer admit newcomers in the modes `known` and `ask` (TCK-6)."""
        if self.authority == self.id:
            return True
        ticket = self.ticket
        return bool(ticket) and admission.has_right(ticket, self.session, self.authority, self.id)

    def _send_terms(self, remote):
        """Tells a member how the host admits newcomers (MEM-17)."""
        if remote.control and self._terms():
            remote.control.send(wire.MEMBERS, {"members": [], **self._terms()})

    def _terms(self):
        """How this peer admits newcomers, if it is the host."""
        if self.authority != self.id:
            return {}
        code = {"code": self.code} if self.admission_mode == "code" else {}
        return {"admission": self.admission_mode, **code}

    def _take_terms(self, remote, mode, code):
        """Handles the host's mode and code (MEM-17)."""
        if mode is not None and remote.peer_id == self.authority and self.authority != self.id:
            if mode == "code" and code is not None:
                self.code, self._stretched = admission.normal_code(code), None
            self.events.add("terms", mode=mode, code=code)

    def replace_code(self, code):
        """Replaces the code of the session (MEM-12)."""
        with self.condition:
            self.code, self._stretched = code, None
            for remote in self.remotes.values():
                self._send_terms(remote)

    def _is_outdated(self, remote, theirs, hello, said, received):
        """Whether the local HELLO is outdated when ACCEPT arrives (DUP-5)."""
        if remote.control is None and remote.links > hello["links"]:
            return True
        if remote.incarnation != theirs["incarnation"] or remote.delivery is said:
            return False
        return received is not None or bool(remote.delivery and remote.delivery.heard)

    def _ticket_to_show(self, remote):
        """Returns our admitter's ticket. The host signs a ticket for itself, for peers that know it as the host."""
        if self.ticket is None and self.host == self.id and remote is not None:
            return admission.make_ticket(self.identity, self.session, self.id)
        return self.ticket

    def _expect(self, link, wanted, timeout=STEP):
        kind, payload = link.read_frame(timeout)
        if kind == wire.CLOSE:
            raise Refused(*parse_close(payload))
        if kind != wanted:
            raise malformed(f"frame {kind:#04x} where {wanted:#04x} was due")
        return payload

    def _satisfy(self, link, theirs, expect, code, insist, timeout, extra):
        """Performs the steps of the listener's `admission`.

        Returns the proof that the host must give, or None, and the payload of ACCEPT if it has arrived.
        """
        mode = theirs["admission"]
        listener = link.peer_id
        binding = link.exporter(BINDING)
        unproved = "resume" not in extra and "ticket" not in extra
        if mode == "none":
            if unproved and (insist or code and expect is None):
                link.close("not-verified")
                raise NotVerified("the host asks for nothing and proves nothing")
            return None, None
        if mode == "code":
            if not code:
                link.close("not-verified", "no code was given")
                raise NotVerified("a code is needed")
            stretched = self.code_key(code, listener)
            sides = (binding, self.session, self.id, listener)
            mine = admission.code_proof(stretched, "joiner", *sides)
            link.send_frame(wire.CODE_PROOF, {"proof": wire.base64_text(mine)})
            return admission.code_proof(stretched, "host", *sides), None
        if code and expect is None:
            # HEL-7: a dialler with a code does not fall back to another mode.
            link.close("not-verified", "a code was given and is not asked for")
            raise NotVerified("the host does not prove that it knows the code")
        mine = os.urandom(32)
        commit = admission.sas_commitment(binding, mine)
        link.send_frame(wire.SAS_COMMIT, {"commit": wire.base64_text(commit)})
        answer = wire.parse_json(self._expect(link, wire.SAS_NONCE))
        nonce = parse_base64(wire.text(answer, "nonce"), exactly=32)
        decision = Decision(link, timeout, self.reports_decision)
        if expect is not None:
            decision.answers.append(True)
        decision.report()
        link.send_frame(wire.SAS_REVEAL, {"nonce": wire.base64_text(mine)})
        secret = admission.sas_secret(binding, mine, nonce, self.session, self.id, listener)
        words = admission.words(secret, 3)
        self.events.add("words", words=words, peer=listener)
        if expect is None:
            self._start(lambda: decision.answers.append(self.confirm_host(theirs["name"], words)))
        return None, self._await_users(link, decision)

    def _await_users(self, link, decision):
        """Waits until the local user has confirmed the words and ACCEPT has arrived; returns its payload.

        A listener that does not know ADM-16 may send ACCEPT first (ADM-8).
        """
        accept, held = None, []
        while accept is None or not decision.answers:
            if decision.answers == [False]:
                break
            frame = decision.next_frame()
            if frame is None:
                continue
            kind, payload = frame
            if accept is None and kind == wire.ACCEPT:
                accept = payload
                link.decoder.maximum = wire.MAXIMUM_PAYLOAD
            elif accept is not None and kind == wire.PING:
                link.send_frame(wire.PONG, payload)
            elif accept is not None and kind != wire.PONG:
                held.append(frame)
            elif accept is None:
                raise malformed(f"frame {kind:#04x} while users decide")
        if not decision.answers[0]:
            link.close("not-verified")
            raise NotVerified("the words differ")
        link.held = held
        return accept

    # Listening

    def _accept(self):
        while True:
            try:
                sock, (address, _) = self._tcp.accept()
            except OSError:
                return
            with self.condition:
                if self._short.count(address) >= 16 or len(self._short) >= 64:
                    sock.close()
                    continue
                self._short.append(address)
            self._start(self._serve, sock, address)

    def _serve(self, sock, address):
        """Serves one connection until it is admitted; LNK-6 counts it until then."""
        admitted = threading.Event()

        def count():
            with self.condition:
                if not admitted.is_set():
                    admitted.set()
                    self._short.remove(address)

        try:
            self._serve_connection(sock, count)
        finally:
            count()

    def _serve_connection(self, sock, admitted):
        try:
            link = Link(sock, self.identity, True, 10)
        except (LinkBroken, Violation) as error:
            self.events.add("refused", why=str(error))
            return
        try:
            if link.peer_id == self.id:
                link.close("self")
                return
            kind, payload = link.read_frame(5)
            if kind == wire.HELLO:
                self._welcome(link, parse_hello(payload, True))
            elif kind == wire.ATTACH:
                serve_bulk(self, link, wire.parse_json(payload), admitted)
            elif kind != wire.CLOSE:
                raise malformed("neither HELLO nor ATTACH came first")
        except Violation as violation:
            self.events.add("refused", why=str(violation))
            link.close(violation.code, violation.message)
        except Refused as refused:
            self.events.add("refused", why=str(refused))
            link.abort()
        except LinkBroken as broken:
            self.events.add("refused", why=str(broken))
            link.abort()

    def _welcome(self, link, theirs):
        if not theirs["protocol"][0] <= VERSION <= theirs["protocol"][1]:
            raise Violation("version-mismatch", "version 1 only")
        if theirs["session"] not in (self.session, ANY_SESSION) or self._closed:
            raise Violation("no-such-session", "")
        other = link.peer_id
        if other in self.kicked:
            raise Violation("kicked", self.kicked[other])
        with self.condition:
            remote = self.remotes.get(other)
            self._refuse_duplicate(remote, theirs)
            resumes = self._resumes(remote, theirs)
            self._check_room(remote)
            ticketed = not resumes and self._takes_ticket(theirs, other)
            mode = self.admission_mode if self.admission_mode in ("code", "ask") else "none"
            answer = {"admission": "none" if resumes or ticketed else mode}
            if self.ticket:
                answer["ticket"] = self.ticket
            hello = self._hello(remote, answer)
        if self.admission_mode == "known" and not resumes and not ticketed:
            if other not in self.known:
                raise Violation("not-known", "")
        link.send_frame(wire.HELLO, hello)
        proof = None
        admitted = not resumes and not ticketed
        try:
            if hello["admission"] == "code":
                proof = self._check_code(link)
            elif hello["admission"] == "ask":
                self._ask(link, theirs)
        except LinkTimeout as error:
            raise Violation("timed-out", "") from error
        with self.condition:
            remote = self.remotes.setdefault(other, Remote(self, other))
            self._refuse_duplicate(remote, theirs)
            self._check_room(remote)
            accept = {"host": base32(self.host), "maximum": self.maximum}
            accept["members"], further = [], []
            for member in self._members(without=other):
                # FRM-1: ACCEPT itself is limited to 4,096 bytes.
                fits = len(json.dumps(accept)) + len(json.dumps(member)) < 2_800
                (accept["members"] if fits and not further else further).append(member)
            if admitted:
                accept["ticket"] = self._make_ticket(other)
            accept.update(self._terms())
            if proof is not None:
                accept["proof"] = wire.base64_text(proof)
            received = None
            if resumes and self._resumes(remote, theirs):
                accept["resume"] = {"received": remote.delivery.received}
                received = theirs["resume"]["received"]
            elif theirs.get("resume") and remote.ended:
                accept["ended"] = remote.ended
            link.send_frame(wire.ACCEPT, accept)
            link.decoder.maximum = wire.MAXIMUM_PAYLOAD
            remote.address = (link.remote_address[0], theirs["port"])
            number = min(max(hello["links"], theirs["links"]) + 1, 2**53 - 1)
            ended = theirs["ended"] if received is None else None
            self._open(remote, link, False, theirs, received, number, ended)
            for start in range(0, len(further), 16):
                remote.control.send(wire.MEMBERS, {"members": further[start : start + 16]})
            if admitted:
                self._announce(remote)

    def _refuse_duplicate(self, remote, theirs):
        """Refuses a link whose dialler started before our own link was open (DUP-1)."""
        if not remote or not remote.delivery or remote.incarnation != theirs["incarnation"]:
            return
        if theirs["links"] < remote.delivery.dialled:
            raise Violation("duplicate-link", "")

    def _resumes(self, remote, theirs):
        resume = theirs.get("resume")
        holds = bool(
            resume
            and resume["incarnation"] == self.incarnation
            and remote
            and remote.delivery
            and remote.incarnation == theirs["incarnation"]
            and resume["since"] in (None, remote.delivery.since)
        )
        if holds and resume["received"] >= remote.delivery.next:
            raise malformed("a resumption from beyond what was sent")
        return holds

    def _takes_ticket(self, theirs, member):
        """Returns whether a dialler's ticket admits it.

        A ticket that does not lead to the host counts as none (TCK-2, TCK-3).
        This peer knows no relays. So in the modes `known` and `ask`, only tickets by the host or by itself
        admit (TCK-5).
        """
        if theirs["ticket"] is None:
            return False
        only_host = self.admission_mode in ("known", "ask")
        admitters = {self.host, self.id} | (set() if only_host else self.ever_members)
        for signer in admission.ticket_signers(theirs["ticket"], self.session, member):
            if signer in self.kicked:
                break
            if signer in admitters:
                return True
            if only_host:
                via = theirs["ticket"].get("via") or []
                may_give = self.host != self.id or self.members_admit and self.admission_mode == "ask"
                if via and may_give and self.authority:
                    if admission.has_right(via[0], self.session, self.authority, signer):
                        return True
                break
        if only_host and not theirs["joins"]:
            raise Violation("unknown-admitter", "")
        return False

    def _check_room(self, remote):
        present = [r for r in self.remotes.values() if r.delivery]
        if not (remote and remote.delivery) and len(present) + 2 > self.maximum:
            raise Violation("full", "")

    def _check_code(self, link):
        raw = wire.parse_json(self._expect(link, wire.CODE_PROOF))
        given = parse_base64(wire.text(raw, "proof"), 64)
        now = time.monotonic()
        sources = (link.remote_address[0], link.peer_id)
        for source in sources:
            wrong = [t for t in self._wrong[source] if t > now - 60]
            self._wrong[source] = wrong
            if len(wrong) >= 3:
                raise Violation("locked-out", "")
        if self._stretched is None:
            self._stretched = admission.stretch_code(self.code, self.session, self.id)
        sides = (link.exporter(BINDING), self.session, link.peer_id, self.id)
        right = admission.code_proof(self._stretched, "joiner", *sides)
        if not hmac.compare_digest(right, given):
            for source in sources:
                self._wrong[source].append(now)
            raise Violation("wrong-code", "")
        return admission.code_proof(self._stretched, "host", *sides)

    def _ask(self, link, theirs):
        with self.condition:
            address = link.remote_address[0]
            if time.monotonic() < self._silenced.get(address, 0):
                raise Violation("busy", "")
            addresses = list(self._pending.values())
            if link.peer_id in self._pending or len(addresses) >= 16 or addresses.count(address) >= 2:
                raise Violation("busy", "")
            self._pending[link.peer_id] = address
        try:
            raw = wire.parse_json(self._expect(link, wire.SAS_COMMIT))
            commit = parse_base64(wire.text(raw, "commit"), exactly=32)
            mine = os.urandom(32)
            link.send_frame(wire.SAS_NONCE, {"nonce": wire.base64_text(mine)})
            decision = Decision(link, theirs["timeout"], self.reports_decision)
            kind, payload = link.read_frame(STEP)
            while kind == wire.DECIDING:
                decision.received(payload)
                kind, payload = link.read_frame(STEP)
            if kind == wire.CLOSE:
                raise Refused(*parse_close(payload))
            if kind != wire.SAS_REVEAL:
                raise malformed(f"frame {kind:#04x} where SAS-REVEAL was due")
            raw = wire.parse_json(payload)
            nonce = parse_base64(wire.text(raw, "nonce"), exactly=32)
            binding = link.exporter(BINDING)
            if not hmac.compare_digest(commit, admission.sas_commitment(binding, nonce)):
                raise malformed("the reveal does not match the commitment")
            secret = admission.sas_secret(
                binding, nonce, mine, self.session, link.peer_id, self.id
            )
            words = admission.words(secret, 3)
            self.events.add("invitation", peer=link.peer_id, words=words, name=theirs["name"])
            if not self._person_says_yes(decision, theirs, words):
                self._silenced[address] = time.monotonic() + 60
                raise Violation("declined", "")
        finally:
            with self.condition:
                self._pending.pop(link.peer_id, None)

    def _person_says_yes(self, decision, theirs, words):
        """Asks the user until the dialler leaves or its time is over (3.2), then waits for the dialler's user (ADM-16)."""
        arguments = (theirs["name"], words, theirs["context"])
        self._start(lambda: decision.answers.append(self.answer_invitation(*arguments)))
        while not decision.answers or decision.answers[0] and decision.peer_answer is False:
            frame = decision.next_frame()
            if frame is not None:
                raise malformed(f"frame {frame[0]:#04x} while users decide")
        return decision.answers[0]

    # Links

    def _open(
        self, remote, link, dialled_by_us, theirs, received, number, ended, close_old="replaced"
    ):
        """Replaces the control link with `link`; if both sides resume, `received` is the count of the other side.

        `ended` is the reason why the other side gave up the state, if the other side reported a reason.
        """
        old = remote.control
        if remote.incarnation != theirs["incarnation"]:
            if remote.delivery:
                self.events.add("lost", remote=remote, undelivered=remote.delivery.size)
                remote.end_bulk()
            remote.delivery = None
            remote.gave_up = None
            remote.incarnation = theirs["incarnation"]
        control = ControlLink(link, dialled_by_us)
        fresh = remote.delivery is None
        if fresh:
            remote.delivery = Delivery(number)
        elif received is not None:
            remote.delivery.acknowledge(received)
        elif remote.delivery.heard or ended is not None:
            # RSM-3: give up the delivery state. RSM-4: keep the delivery state if nothing has been received yet.
            self.events.add("reset", remote=remote, why=ended)
            if remote.delivery.size:
                self.events.add("undelivered", remote=remote, size=remote.delivery.size)
            remote.delivery = Delivery(number)
            remote.gave_up = None
        else:
            remote.delivery.since = number
        if dialled_by_us:
            remote.delivery.dialled = number
        remote.name, remote.port = theirs["name"], theirs["port"]
        remote.addresses, remote.role = theirs["addresses"], theirs["role"]
        remote.forbidden = False
        remote.links = max(remote.links, number)
        remote.state, remote.since = "connected", time.monotonic()
        remote.redial_at, remote.redials, remote.dialling = None, 0, False
        remote.previous_control = (old, time.monotonic())
        remote.control = control
        remote.known_kicks = set()
        self.ever_members.add(remote.peer_id)
        for _, payload in remote.delivery.unacknowledged:
            control.send(wire.MESSAGE, payload)
        self._start_datagrams(remote, link, dialled_by_us)
        if old:
            old.close(close_old)
        control.writer.start()
        self._start(self._read, remote, control)
        self.events.add("connected", remote=remote, resumed=received is not None)
        self._spread_kicks(remote)
        self._send_terms(remote)
        self.on_open(remote)
        self.condition.notify_all()

    def _read(self, remote, control):
        link = control.link
        try:
            while True:
                kind, payload = link.read_frame()
                with self.condition:
                    if remote.control is not control:
                        break
                    if kind == wire.CLOSE:
                        self._closed_by(remote, control, *parse_close(payload))
                        break
                    self._take(remote, control, kind, payload)
        except Violation as violation:
            with self.condition:
                if remote.control is control:
                    remote.control = None
                    self._gone(remote, "violation", violation.code)
            control.close(violation.code, violation.message)
            return
        except LinkBroken:
            with self.condition:
                self._broken(remote, control)
        control.stop()
        if control.closed_with is None:
            link.abort()

    def _take(self, remote, control, kind, payload):
        if kind == wire.MESSAGE:
            message = remote.delivery.take(payload)
            if message is not None:
                self.on_message(remote, message)
            self._acknowledge(remote, control, time.monotonic())
        elif kind == wire.ACK:
            remote.delivery.acknowledge(wire.decode_ack(payload))
        elif kind == wire.PING:
            if len(payload) != 8:
                raise malformed("a PING that is not 8 bytes")
            control.send(wire.PONG, payload)
        elif kind == wire.PONG:
            if len(payload) != 8:
                raise malformed("a PONG that is not 8 bytes")
        elif kind == wire.DECIDING:
            pass
        elif kind == wire.DATAGRAM:
            self.on_datagram(remote, payload, "link")
        elif kind == wire.MEMBERS:
            raw = wire.parse_json(payload)
            self._learn([parse_member(m) for m in wire.array(raw, "members", 256)], wait=3, named_by=remote)
            ticket = wire.mapping(raw, "ticket")
            if ticket:
                self._keep_ticket(ticket)
            self._take_terms(
                remote, wire.text(raw, "admission", default=None), wire.text(raw, "code", 1, 256, default=None)
            )
        elif kind == wire.KICK:
            self._take_kick(remote, wire.parse_json(payload))
        elif kind == wire.ADDRESSES:
            raw = wire.parse_json(payload)
            remote.port = wire.integer(raw, "port", 0, 65_535)
            remote.addresses = _addresses(raw)
        elif kind == wire.BULK_REQUEST:
            count = wire.integer(wire.parse_json(payload), "count", 1, 8)
            if not control.dialled_by_us:
                raise malformed("a peer that did not dial the control link cannot dial bulk links")
            for _ in range(count):
                self._start(remote.dial_bulk_for_other)
        else:
            raise malformed(f"frame {kind:#04x} on an open control link")
        self.condition.notify_all()

    def _acknowledge(self, remote, control, now):
        delivery = remote.delivery
        if delivery.ack_due is not None and delivery.ack_due <= now:
            control.send(wire.ACK, wire.encode_vint(delivery.received))
            delivery.acknowledged_to_other = delivery.received
            delivery.received_bytes = 0
            delivery.ack_due = None

    def _take_kick(self, remote, raw):
        kicked = parse_base32(wire.text(raw, "peer"), 32)
        reason = wire.text(raw, "reason", 0, 512)
        signer = admission.kick_signer(raw, self.session)
        is_signed = signer is not None
        if is_signed:
            self._notice(signer)
            if signer != self.authority:
                if self.host == self.id or admission.is_named(self.session, self.host):
                    raise malformed("a KICK that the host did not sign")
                return self._take_host(signer, remote.peer_id)
            remote.known_kicks.add(kicked)
        if kicked == self.host or kicked in self.claimants or not is_signed and remote.peer_id != self.authority:
            return
        if kicked == self.id:
            self.events.add("removed", remote=remote, message=reason)
            return self._start(self.leave)
        if is_signed and kicked not in self.signed_kicks:
            self.signed_kicks[kicked] = {k: raw[k] for k in ("peer", "reason", "key", "signature")}
            for other in self.remotes.values():
                self._spread_kicks(other)
        self.kicked[kicked] = reason
        target = self.remotes.get(kicked)
        if target:
            if target.control:
                target.control.close("kicked", reason)
                target.control = None
            self._gone(target, "left", "kicked")

    def _closed_by(self, remote, control, code, message):
        control.link.abort()
        self.events.add("closed", remote=remote, code=code, message=message)
        remote.control = None
        if wire.redial_after(code) in ("later", "not-applicable"):
            self._set_reconnecting(remote, control, at_once=False)
        else:
            remote.forbidden = True
            self._gone(remote, "left", code)

    def _broken(self, remote, control):
        if remote.control is not control or self._closed:
            return
        remote.control = None
        self.events.add("broken", remote=remote)
        self._set_reconnecting(remote, control, at_once=True)

    def _set_reconnecting(self, remote, control, at_once):
        remote.state, remote.since = "reconnecting", time.monotonic()
        mine = control.dialled_by_us and at_once
        remote.redial_at = time.monotonic() + (0 if mine else 1)
        self.condition.notify_all()

    def _gone(self, remote, state, why):
        remote.state, remote.why, remote.since = state, why, time.monotonic()
        if remote.delivery:
            remote.gave_up = "lost" if state == "lost" else why
        remote.delivery = None
        remote.end_bulk()
        self.events.add("gone", remote=remote, state=state, why=why)
        self.condition.notify_all()

    # Members

    def _members(self, without=None):
        return [
            {
                "peer": r.text,
                "name": r.name,
                "incarnation": base32(r.incarnation),
                "port": r.port,
                "addresses": r.addresses,
                "role": r.role,
            }
            for r in self.remotes.values()
            if r.peer_id != without and r.incarnation and r.delivery
        ]

    def _announce(self, newcomer):
        member = [m for m in self._members() if m["peer"] == newcomer.text]
        for remote in self.remotes.values():
            if remote is not newcomer and remote.control:
                remote.control.send(wire.MEMBERS, {"members": member})

    def _learn(self, members, wait, named_by=None):
        """Learns members from a list. A newcomer dials them at once; any other peer after 3 s (MEM-2).

        A member that is not the host may name 32 strangers at a time (MEM-18).
        """
        is_bounded = named_by is not None and named_by.peer_id != self.host
        for member in members:
            peer_id = member["peer"]
            self._notice(peer_id)
            if peer_id == self.id or peer_id in self.kicked or peer_id in self.remotes:
                continue
            if len(self.remotes) >= 256:
                return
            heard = [r for r in self.remotes.values() if r.named_by is named_by and r.state == "heard"]
            if is_bounded and len([r for r in heard if r.redials < r.most_redials]) >= 32:
                return
            remote = self.remotes[peer_id] = Remote(self, peer_id)
            remote.named_by = named_by
            remote.most_redials = 4 if is_bounded else 8
            remote.name, remote.port = member["name"], member["port"]
            remote.addresses = [a for a in member["addresses"] if is_address_of_one_machine(a)]
            remote.role = member["role"]
            remote.state = "heard"
            remote.redial_at = time.monotonic() + wait

    def _spread_kicks(self, remote):
        """Sends the signed removals that were not sent on this link yet (MEM-11)."""
        for peer_id, kick in self.signed_kicks.items():
            if remote.control and peer_id != remote.peer_id and peer_id not in remote.known_kicks:
                remote.known_kicks.add(peer_id)
                remote.control.send(wire.KICK, kick)

    def kick(self, remote, reason=""):
        with self.condition:
            self.kicked[remote.peer_id] = reason
            kick = admission.make_kick(self.identity, self.session, remote.peer_id, reason)
            self.signed_kicks[remote.peer_id] = kick
            for other in self.remotes.values():
                self._spread_kicks(other)
            if remote.control:
                remote.control.close("kicked", reason)
                remote.control = None
            self._gone(remote, "left", "kicked")

    # Datagrams

    def _start_datagrams(self, remote, link, dialled_by_us):
        secret = link.exporter(DATAGRAM_LABEL)
        mine, theirs = (b"d", b"l") if dialled_by_us else (b"l", b"d")
        remote._forget_datagrams()
        remote.sealer = datagram.Sealer(secret, mine)
        remote.opener = datagram.Opener(secret, theirs)
        if remote.port:
            remote.udp_address = (link.remote_address[0], remote.port)
            remote.probe_at = time.monotonic()

    def send_packet(self, remote, packet):
        if remote.udp_address and not self._closed:
            try:
                self._udp.sendto(packet, remote.udp_address)
            except OSError:
                pass

    def _receive_packets(self):
        while True:
            try:
                packet, source = self._udp.recvfrom(65_536)
            except OSError:
                return
            if not packet and self._closed:
                return
            with self.condition:
                for remote in list(self.remotes.values()):
                    if remote.opener and remote.control:
                        opened = remote.opener.open(packet)
                        if opened:
                            self._take_packet(remote, source, *opened)
                            break

    def _take_packet(self, remote, source, kind, content, newest):
        if newest:
            if remote.udp_address is None:
                remote.probe_at = time.monotonic()
            remote.udp_address = source
        if kind == datagram.WHOLE:
            self.on_datagram(remote, content, "udp")
        elif kind == datagram.PIECE:
            message = remote.reassembler.take(content)
            if message is not None:
                self.on_datagram(remote, message, "udp")
        elif kind == datagram.PROBE and len(content) == 8:
            self.send_packet(remote, remote.sealer.seal(datagram.ANSWER, content))
        elif kind == datagram.ANSWER and content in remote.open_probes:
            remote.open_probes.clear()
            remote.udp_works = True
            remote.probes = 0
            remote.probe_at = time.monotonic() + 5
        self.condition.notify_all()

    # Time

    def _tick(self):
        while not self._closed:
            with self.condition:
                self.condition.wait(0.01)
                now = time.monotonic()
                for remote in list(self.remotes.values()):
                    self._tick_remote(remote, now)

    def _tick_remote(self, remote, now):
        control = remote.control
        if control:
            self._acknowledge(remote, control, now)
            if now - control.last_sent >= 1:
                control.send(wire.PING, os.urandom(8))
            silent = now - control.link.last_read
            if silent > 6:
                control.link.abort()
            elif silent > 2 and remote.state == "connected":
                remote.state = "suspect"
                self.events.add("suspect", remote=remote)
            elif silent <= 2 and remote.state == "suspect":
                remote.state = "connected"
            if remote.probe_at is not None and now >= remote.probe_at:
                self._probe(remote, now)
        elif remote.state == "reconnecting" and now - remote.since > self.lost_after:
            self._gone(remote, "lost", "not back in time")
        elif remote.redial_at is not None and now >= remote.redial_at:
            if remote.state == "heard" and not self._may_dial_heard(remote):
                return
            if remote.state in ("reconnecting", "heard") and not remote.forbidden:
                waits = (0.2, 0.5, 1, 2, 5)
                wait = waits[min(remote.redials, 4)] * (1 + 0.3 * random.random())
                remote.redials += 1
                remote.dialling = True
                remote.redial_at = now + 5 + wait
                self._start(self._redial, remote, wait)

    def _may_dial_heard(self, remote):
        """Whether a member known from a list may be dialed: four at a time, a few times each (MEM-6, MEM-18)."""
        # A dial may take longer than the wait before the next dial.
        if remote.redials >= remote.most_redials or remote.dialling:
            return False
        return len([r for r in self.remotes.values() if r.state == "heard" and r.dialling]) < 4

    def _probe(self, remote, now):
        content = os.urandom(8)
        remote.open_probes.append(content)
        self.send_packet(remote, remote.sealer.seal(datagram.PROBE, content))
        remote.probes += 1
        if remote.udp_works:
            if remote.probes > 2:
                remote.udp_works = False
            remote.probe_at = now + 5
        else:
            remote.probe_at = now + (0.2 if remote.probes < 5 else 5)

    def _redial(self, remote, wait):
        addresses = [remote.address] if remote.address and remote.address[1] else []
        if not self.hidden:
            addresses += [(a, remote.port) for a in remote.addresses if remote.port]
        for address in dict.fromkeys(addresses):
            if self._closed or remote.control:
                return
            try:
                self.join(address, remote.peer_id, returning=True)
                return
            except Refused as refused:
                self.events.add("redial-refused", remote=remote, code=refused.code)
                with self.condition:
                    remote.ticket_tries += 1
                    later = wire.redial_after(refused.code) in ("later", "not-applicable")
                    if not later or remote.ticket_tries > 5:
                        remote.forbidden = True
                        if remote.state == "reconnecting":
                            self._gone(remote, "left", refused.code)
                        return
            except (OSError, LinkBroken, Violation, WrongPeer, NotVerified):
                pass
        with self.condition:
            remote.dialling = False
            remote.redial_at = time.monotonic() + wait
