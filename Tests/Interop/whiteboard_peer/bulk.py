"""Bulk links: attaching, resources with resume, byte streams (session.md 8)."""

import contextlib
import hashlib
import hmac
import os
import pathlib
import queue
import threading
import time

from . import wire
from .link_base import LinkBroken
from .tls import ATTACH_LABEL
from .wire import Violation, base32, malformed, parse_base32, parse_base64

CHUNK = 65_536
# RES-6, RES-7 and RES-8.
MAXIMUM_TRANSFERS = 8
OFFER_PATIENCE = 120
PACE_WINDOW, PACE_BYTES = 60, 16_384
CODES = (
    "cancelled refused busy source-changed source-unreadable disk-full quota hash-mismatch"
    " size-mismatch io-error"
).split()


class TransferEnded(Exception):
    """The transfer ended without delivery; `code` is a code of the table in 8.2."""

    def __init__(self, code, message=""):
        super().__init__(f"{code}: {message}")
        self.code = code


class StreamReset(Exception):
    """One of the sides ended the stream in both directions."""

    def __init__(self, code, message=""):
        super().__init__(f"reset with {code}: {message}")
        self.code = code


class BulkClosed(LinkBroken):
    """The other side closed the bulk link with a CLOSE."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


def attach_proof(control_exporter, bulk_exporter):
    return hmac.digest(
        control_exporter, b"whiteboard-p2p attach 1\0" + bulk_exporter, "sha256"
    )


class BulkLink:
    """One attached link; a thread decodes its frames into a short queue (back-pressure, STR-2)."""

    def __init__(self, remote, link):
        self.remote = remote
        self.link = link
        self.frames = queue.Queue(15)
        link.decoder.maximum = wire.MAXIMUM_PAYLOAD
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                item = self.link.read_frame()
                if item[0] == wire.CLOSE:
                    raw = wire.parse_json(item[1])
                    item = BulkClosed(wire.text(raw, "code"))
            except (LinkBroken, Violation) as error:
                item = error
            while True:
                try:
                    self.frames.put(item, timeout=1)
                    break
                except queue.Full:
                    if self.link._closed:
                        return
            if isinstance(item, Exception):
                return

    def next(self, timeout=None):
        """Returns the next frame; raises the error that ended the link."""
        try:
            item = self.frames.get(timeout=timeout)
        except queue.Empty as error:
            raise TimeoutError("no frame on the bulk link") from error
        if isinstance(item, Exception):
            self.frames.put(item)
            raise item
        return item

    def poll(self):
        try:
            return self.next(0.000_001)
        except TimeoutError:
            return None

    def send(self, kind, payload=b""):
        self.link.send_frame(kind, payload)


def parse_offer(payload):
    raw = wire.parse_json(payload)
    offer = {
        "id": wire.text(raw, "id"),
        "name": wire.text(raw, "name", 0, 16_384),
        "size": wire.integer(raw, "size"),
        "modified": wire.integer(raw, "modified", default=None),
    }
    parse_base32(offer["id"], 16)
    if "\0" in offer["name"]:
        raise malformed("NUL in a resource name")
    return offer


class Stream:
    """One byte stream. After reading to the end and `finish`, its link is idle again."""

    def __init__(self, bulk, identifier, name, release):
        self.bulk, self.id, self.name = bulk, identifier, name
        self._release = release
        self._sent_fin = self._got_fin = False
        self.done = threading.Event()

    def write(self, data):
        for start in range(0, len(data), CHUNK):
            self.bulk.send(wire.STREAM_DATA, data[start : start + CHUNK])

    def finish(self):
        self._sent_fin = True
        self.bulk.send(wire.STREAM_FIN)
        self._maybe_release()

    def reset(self, code, message=""):
        self.bulk.send(wire.STREAM_RESET, {"id": self.id, "code": code, "message": message})
        self.bulk.link.close("left")
        self.done.set()

    def read(self, timeout=20):
        """Returns the next bytes; empty at the end."""
        if self._got_fin:
            return b""
        kind, payload = self.bulk.next(timeout)
        if kind == wire.STREAM_DATA and payload:
            return payload
        if kind == wire.STREAM_FIN and not payload:
            self._got_fin = True
            self._maybe_release()
            return b""
        if kind == wire.STREAM_RESET:
            raw = wire.parse_json(payload)
            self.bulk.link.abort()
            self.done.set()
            raise StreamReset(wire.integer(raw, "code", 0, 2**32 - 1), raw.get("message", ""))
        raise malformed(f"frame {kind:#04x} within a stream")

    def read_all(self, timeout=20):
        parts = []
        while True:
            part = self.read(timeout)
            if not part:
                return b"".join(parts)
            parts.append(part)

    def _maybe_release(self):
        if self._sent_fin and self._got_fin and not self.done.is_set():
            self.done.set()
            self._release(self.bulk)


class Transfer:
    """An outgoing resource."""

    def __init__(self, remote, name, path, modified, identifier, progress):
        self._progress = progress
        self.remote, self.name, self.path = remote, name, pathlib.Path(path)
        self.modified = modified
        self.id = identifier or base32(os.urandom(16))
        self.size = self.path.stat().st_size
        self.offset = 0
        self.started_at = None
        self.error = None
        self._cancel = threading.Event()
        self._done = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def cancel(self):
        self._cancel.set()

    def wait(self, timeout=60):
        if not self._done.wait(timeout):
            raise TimeoutError("the transfer did not end")
        if self.error:
            raise self.error

    def _run(self):
        try:
            while True:
                try:
                    bulk = self.remote.acquire_bulk()
                    self._send(bulk)
                    self.remote.release_bulk(bulk)
                    return
                except TransferEnded as ended:
                    if ended.code in CODES:
                        self.remote.release_bulk(bulk)
                    raise
                except (LinkBroken, OSError):
                    # RES-5: try again on a new link, while the peer is not lost.
                    self.remote.wait_connected()
        except Exception as error:
            self.error = error
        finally:
            self._done.set()

    def _send(self, bulk):
        offer = {"id": self.id, "name": self.name, "size": self.size}
        if self.modified is not None:
            offer["modified"] = self.modified
        bulk.send(wire.RESOURCE_OFFER, offer)
        # RES-8: the other side may ask its user first.
        accept = self._answer(bulk, wire.RESOURCE_ACCEPT, OFFER_PATIENCE + 10)
        offset = wire.integer(accept, "offset", 0, self.size)
        with self.path.open("rb") as file:
            digest = hashlib.sha256()
            if offset:
                left = offset
                while left:
                    data = file.read(min(left, 1 << 20))
                    if not data:
                        raise TransferEnded("source-changed")
                    digest.update(data)
                    left -= len(data)
                if digest.hexdigest() != wire.text(accept, "prefix", 64, 64):
                    offset = 0
                    file.seek(0)
                    digest = hashlib.sha256()
            self.offset = self.started_at = offset
            bulk.send(wire.RESOURCE_START, {"id": self.id, "offset": offset})
            while data := file.read(CHUNK):
                digest.update(data)
                bulk.send(wire.CHUNK, data)
                self.offset += len(data)
                self._progress(self)
                frame = bulk.poll()
                if frame:
                    self._refused(bulk, *frame)
                if self._cancel.is_set():
                    self._give_up(bulk)
        bulk.send(wire.RESOURCE_END, {"id": self.id, "sha256": digest.hexdigest()})
        self._answer(bulk, wire.RESOURCE_DONE)

    def _answer(self, bulk, wanted, timeout=60):
        kind, payload = bulk.next(timeout)
        if kind != wanted:
            self._refused(bulk, kind, payload)
        raw = wire.parse_json(payload)
        if wire.text(raw, "id") != self.id:
            raise malformed("an answer about another transfer")
        return raw

    def _refused(self, bulk, kind, payload):
        """Answers a CANCEL with a CANCEL, whatever was sent before (RES-4)."""
        if kind != wire.RESOURCE_CANCEL:
            raise malformed(f"frame {kind:#04x} within a transfer")
        raw = wire.parse_json(payload)
        if wire.text(raw, "id") != self.id:
            raise malformed("a cancel of another transfer")
        code = wire.text(raw, "code")
        bulk.send(wire.RESOURCE_CANCEL, {"id": self.id, "code": "cancelled", "message": ""})
        raise TransferEnded(code, raw.get("message", ""))

    def _give_up(self, bulk):
        bulk.send(wire.RESOURCE_CANCEL, {"id": self.id, "code": "cancelled", "message": ""})
        kind, _ = bulk.next(20)
        if kind not in (wire.RESOURCE_CANCEL, wire.RESOURCE_DONE):
            raise malformed(f"frame {kind:#04x} as the answer to a cancel")
        raise TransferEnded("cancelled", "by us")


class Partial:
    """The received part of an unfinished transfer (RES-1)."""

    def __init__(self, path, offer):
        self.path = path
        self.offer = offer

    def serves(self, offer):
        same = ("name", "size", "modified")
        return self.offer["id"] == offer["id"] or all(self.offer[k] == offer[k] for k in same)


class BulkMixin:
    """The bulk links of a remote peer."""

    def init_bulk(self):
        self.bulk_links = []
        self.idle_bulk = queue.Queue()
        # The number of callers that wait for a link requested from the other side.
        self.bulk_waiters = 0
        self.previous_control = (None, 0)
        self.partials = []
        self.streams = []
        # The number of incoming resources, by whether this side requested them (RES-6).
        self.incoming = {True: 0, False: 0}

    def end_bulk(self):
        for bulk in self.bulk_links:
            bulk.link.abort()
        self.bulk_links = []

    def wait_connected(self):
        self.peer.wait_until(
            lambda: self.control is not None or self.state in ("lost", "left"), 90
        )
        if self.control is None:
            raise LinkBroken("the peer is gone")

    # The opening side

    def acquire_bulk(self):
        while True:
            try:
                bulk = self.idle_bulk.get_nowait()
            except queue.Empty:
                break
            if not bulk.link._closed and bulk.frames.empty():
                return bulk
        with self.peer.condition:
            self.bulk_waiters += 1
        try:
            return self._new_bulk()
        finally:
            with self.peer.condition:
                self.bulk_waiters -= 1

    def _new_bulk(self):
        """Dials a link, or requests a link and waits for it (BLK-5)."""
        asked_on, until = None, time.monotonic() + 10
        while asked_on is None or time.monotonic() < until:
            self.wait_connected()
            with self.peer.condition:
                control = self.control
                if control is None:
                    continue
                if not control.dialled_by_us and control is not asked_on:
                    # BLK-5: a request on the previous control link is lost.
                    control.send(wire.BULK_REQUEST, {"count": 1})
                    asked_on, until = control, time.monotonic() + 10
            if control.dialled_by_us:
                return self._dial_bulk(control, "dialler")
            with contextlib.suppress(queue.Empty):
                return self.idle_bulk.get(timeout=0.1)
        raise LinkBroken("the peer dialled no bulk link")

    def release_bulk(self, bulk):
        self.idle_bulk.put(bulk)

    def _dial_bulk(self, control, opener):
        link = self.peer.dial(control.link.remote_address[:2])
        if link.peer_id != self.peer_id:
            link.abort()
            raise LinkBroken("another peer answers at the address")
        proof = attach_proof(control.link.exporter(ATTACH_LABEL), link.exporter(ATTACH_LABEL))
        attach = {
            "session": base32(self.peer.session),
            "incarnation": base32(self.peer.incarnation),
            "opener": opener,
            "proof": wire.base64_text(proof),
        }
        link.send_frame(wire.ATTACH, attach)
        kind, payload = link.read_frame(5)
        if kind == wire.CLOSE:
            code = wire.text(wire.parse_json(payload), "code")
            link.abort()
            raise BulkClosed(code)
        if kind != wire.ATTACHED:
            link.close("protocol-error")
            raise malformed(f"frame {kind:#04x} where ATTACHED was due")
        wire.parse_json(payload)
        bulk = BulkLink(self, link)
        self.bulk_links.append(bulk)
        return bulk

    def send_resource(
        self, name, path, modified=None, identifier=None, progress=lambda transfer: None
    ):
        """Starts to send a file; the returned `Transfer` has its result."""
        return Transfer(self, name, path, modified, identifier, progress)

    def open_stream(self, name):
        bulk = self.acquire_bulk()
        identifier = base32(os.urandom(16))
        bulk.send(wire.STREAM_OPEN, {"id": identifier, "name": name})
        return Stream(bulk, identifier, name, self.release_bulk)

    # The answering side

    def dial_bulk_for_other(self):
        try:
            control = self.control
            if control:
                serve_opener(self, self._dial_bulk(control, "listener"))
        except (LinkBroken, OSError, Violation) as error:
            self.peer.events.add("bulk-failed", remote=self, why=str(error))


def serve_bulk(peer, link, raw, admitted):
    """Answers ATTACH as the listener (BLK-1); calls `admitted` after the check."""
    session = parse_base32(wire.text(raw, "session"), 16)
    incarnation = parse_base32(wire.text(raw, "incarnation"), 8)
    opener = wire.text(raw, "opener")
    proof = parse_base64(wire.text(raw, "proof"), exactly=32)
    if opener not in ("dialler", "listener"):
        raise malformed("an unknown opener")
    with peer.condition:
        remote = peer.remotes.get(link.peer_id)
        if not remote or session != peer.session or remote.incarnation != incarnation:
            raise Violation("not-attached", "no control link")
        controls = [remote.control]
        previous, since = remote.previous_control
        if time.monotonic() - since < 10:
            controls.append(previous)
        mine = link.exporter(ATTACH_LABEL)
        if not any(
            c
            and not c.dialled_by_us
            and hmac.compare_digest(attach_proof(c.link.exporter(ATTACH_LABEL), mine), proof)
            for c in controls
        ):
            raise Violation("not-attached", "the proof does not verify")
        remote.bulk_links = [b for b in remote.bulk_links if not b.link._closed]
        if len(remote.bulk_links) >= 32:
            raise Violation("busy", "too many bulk links")
        link.send_frame(wire.ATTACHED, {})
        if opener == "listener" and not remote.bulk_waiters:
            raise Violation("left", "no transfer waits for the link")
        bulk = BulkLink(remote, link)
        remote.bulk_links.append(bulk)
    admitted()
    if opener == "listener":
        remote.release_bulk(bulk)
    else:
        serve_opener(remote, bulk)


def serve_opener(remote, bulk):
    """Handles what the other side starts on this link, one transfer after the other (BLK-2)."""
    try:
        while True:
            kind, payload = bulk.next()
            if kind == wire.RESOURCE_OFFER:
                offer = parse_offer(payload)
                is_requested = remote.peer.is_requested(remote, offer)
                with remote.peer.condition:
                    remote.incoming[is_requested] += 1
                try:
                    _receive_resource(remote, bulk, offer, is_requested)
                finally:
                    with remote.peer.condition:
                        remote.incoming[is_requested] -= 1
            elif kind == wire.STREAM_OPEN:
                raw = wire.parse_json(payload)
                name = wire.text(raw, "name", 0, 1_024)
                parse_base32(wire.text(raw, "id"), 16)
                if "\0" in name:
                    raise malformed("NUL in a stream name")
                stream = Stream(bulk, raw["id"], name, lambda _: None)
                remote.streams = [s for s in remote.streams if not s.done.is_set()]
                if len(remote.streams) >= 24:
                    stream.reset(1, "too many streams")
                    return
                remote.streams.append(stream)
                remote.peer.events.add("stream", remote=remote, name=name, stream=stream)
                stream.done.wait()
                if bulk.link._closed:
                    return
            else:
                raise malformed(f"frame {kind:#04x} on an idle bulk link")
    except Violation as violation:
        remote.peer.events.add("bulk-violation", remote=remote, why=str(violation))
        bulk.link.close(violation.code, violation.message)
    except LinkBroken:
        bulk.link.abort()


def _receive_resource(remote, bulk, offer, is_requested):
    peer = remote.peer
    identifier = offer["id"]

    def cancel(code, answered=False):
        """Cancels the transfer. Frames that cross our CANCEL are discarded until the sender's own CANCEL (RES-4)."""
        peer.events.add("resource-ended", remote=remote, offer=offer, code=code)
        bulk.send(wire.RESOURCE_CANCEL, {"id": identifier, "code": code, "message": ""})
        if not answered:
            _discard_until_answer(bulk)

    if remote.incoming[is_requested] > MAXIMUM_TRANSFERS:
        cancel("busy")
        return
    if peer.resource_directory is None or not peer.accept_resource(remote, offer):
        cancel("refused")
        return
    partial = next((p for p in remote.partials if p.serves(offer)), None)
    if partial is None:
        path = pathlib.Path(peer.resource_directory) / base32(os.urandom(16))
        partial = Partial(path, offer)
        path.touch()
        remote.partials.append(partial)
    partial.offer = offer
    have = min(partial.path.stat().st_size, offer["size"])
    accept = {"id": identifier, "offset": have}
    digest = hashlib.sha256(partial.path.read_bytes()[:have])
    if have:
        accept["prefix"] = digest.hexdigest()
    bulk.send(wire.RESOURCE_ACCEPT, accept)
    kind, payload = bulk.next(60)
    raw = wire.parse_json(payload)
    if kind == wire.RESOURCE_CANCEL:
        cancel(wire.text(raw, "code"), answered=True)
        return
    if kind != wire.RESOURCE_START or wire.text(raw, "id") != identifier:
        raise malformed("no START after ACCEPT")
    start = wire.integer(raw, "offset", 0, have)
    if start not in (0, have):
        raise malformed("START from an offset that was not offered")
    if start == 0:
        digest = hashlib.sha256()
    peer.events.add("resource-started", remote=remote, offer=offer, start=start)
    with partial.path.open("r+b") as file:
        file.truncate(start)
        file.seek(start)
        count = start
        since, before = time.monotonic(), start
        while True:
            kind, payload = bulk.next(60)
            if kind != wire.CHUNK:
                break
            count += len(payload)
            if time.monotonic() - since >= PACE_WINDOW:
                if count - before < PACE_BYTES:
                    remote.partials.remove(partial)
                    cancel("cancelled")
                    return
                since, before = time.monotonic(), count
            if not payload or count > offer["size"]:
                remote.partials.remove(partial)
                cancel("size-mismatch")
                return
            digest.update(payload)
            file.write(payload)
    raw = wire.parse_json(payload)
    if kind == wire.RESOURCE_CANCEL:
        remote.partials.remove(partial)
        cancel(wire.text(raw, "code"), answered=True)
        return
    if kind != wire.RESOURCE_END or wire.text(raw, "id") != identifier:
        raise malformed(f"frame {kind:#04x} within a transfer")
    remote.partials.remove(partial)
    if count != offer["size"]:
        cancel("size-mismatch")
    elif wire.text(raw, "sha256") != digest.hexdigest():
        cancel("hash-mismatch")
    else:
        bulk.send(wire.RESOURCE_DONE, {"id": identifier})
        peer.on_resource(remote, offer, partial.path)


def _discard_until_answer(bulk):
    while True:
        kind, _ = bulk.next(60)
        if kind == wire.RESOURCE_CANCEL:
            return
        if kind not in (wire.CHUNK, wire.RESOURCE_END):
            raise malformed(f"frame {kind:#04x} while a cancel is open")
