"""Checks every vector of Protocol/Vectors/session.json with this implementation."""

import base64
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import unittest

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from whiteboard_peer import admission, datagram, relay, wire
from whiteboard_peer.session import Delivery, Peer, Remote, parse_accept, parse_close, parse_hello, parse_member
from whiteboard_peer.tls import BINDING
from whiteboard_peer.web import invitation_proof, web_key
from whiteboard_peer.wire import Violation

VECTORS = json.loads((admission.PROTOCOL / "Vectors" / "session.json").read_text("utf-8"))
WEB = json.loads((admission.PROTOCOL / "Vectors" / "web.json").read_text("utf-8"))
TYPES = {
    name: value
    for name, value in vars(wire).items()
    if isinstance(value, int) and name.isupper() and value in wire.KNOWN_TYPES
}
NAMES = {number: name.replace("_", "-") for name, number in TYPES.items()}


def unhex(vector):
    return bytes.fromhex(vector["hex"])


class VectorCase(unittest.TestCase):
    index, vector = 0, None

    def each(self, vectors):
        self.assertTrue(vectors)
        for self.index, self.vector in enumerate(vectors):
            yield self.vector

    def _formatMessage(self, message, standard):
        at = f"vector {self.index}, {self.vector.get('name', '')}: " if self.vector else ""
        return at + super()._formatMessage(message, standard)

    def assert_violates(self, vector, call):
        with self.assertRaises(Violation) as raised:
            call()
        if "close" in vector:
            self.assertEqual(raised.exception.code, vector["close"])


class Generators(unittest.TestCase):
    def test_the_vectors_are_what_their_generators_write(self):
        for name in (
            "make_vectors.py",
            "make_admission_vectors.py",
            "make_board_vectors.py",
            "make_broadcast_vectors.py",
            "make_vectors_games.py",
            "make_walkthrough.py",
            "make_web_vectors.py",
        ):
            with self.subTest(name):
                script = pathlib.Path(__file__).resolve().parent / name
                done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Resumption(VectorCase):
    def test_what_hello_and_accept_say(self):
        group = VECTORS["resumption"]
        for vector in self.each(group["hellos"]["valid"]):
            hello = parse_hello(vector["text"].encode(), True)
            told = hello.get("resume")
            wanted = vector["resume"]
            if wanted:
                self.assertEqual(wire.base32(told["incarnation"]), wanted["incarnation"])
                self.assertEqual([told[k] for k in ("received", "since")], [wanted[k] for k in ("received", "since")])
            else:
                self.assertIsNone(told)
            self.assertEqual(hello["ended"], vector["ended"])
        for vector in self.each(group["hellos"]["invalid"]):
            self.assert_violates(vector, lambda: parse_hello(vector["text"].encode(), True))
        for vector in self.each(group["accepts"]["valid"]):
            accept = parse_accept(vector["text"].encode())
            self.assertEqual([accept["received"], accept["ended"]], [vector["received"], vector["ended"]])
        for vector in self.each(group["accepts"]["invalid"]):
            self.assert_violates(vector, lambda: parse_accept(vector["text"].encode()))

    def test_which_delivery_state_is_resumed(self):
        group = VECTORS["resumption"]
        for vector in self.each(group["cases"]):
            listener = Peer.__new__(Peer)
            listener.incarnation = wire.parse_base32(group["listener"], 8)
            remote = Remote(listener, bytes(32))
            if vector["held"]:
                remote.incarnation = wire.parse_base32(vector["held"]["incarnation"], 8)
                remote.delivery = Delivery(vector["held"]["since"])
                remote.delivery.next = vector["held"]["sent"] + 1
            hello = parse_hello(vector["hello"].encode(), True)
            if vector["answer"] == "protocol-error":
                with self.assertRaises(Violation):
                    listener._resumes(remote, hello)
            else:
                self.assertEqual(listener._resumes(remote, hello), vector["answer"] == "resumes")


class CloseCodes(VectorCase):
    def test_what_a_receiver_does_about_dialling_again(self):
        vectors = VECTORS["closeCodes"]
        for vector in self.each(vectors):
            self.assertEqual(wire.redial_after(vector["code"]), vector["redial"])
        self.assertEqual({v["code"] for v in vectors if "treatedAs" not in v}, wire.REDIAL.keys())


class Numbers(VectorCase):
    def test_vint(self):
        for vector in self.each(VECTORS["vint"]["valid"]):
            value = int(vector["value"])
            self.assertEqual(wire.encode_vint(value), unhex(vector))
            self.assertEqual(wire.decode_vint(unhex(vector)), (value, len(unhex(vector))))
        for vector in self.each(VECTORS["vint"]["invalid"]):
            if vector["error"] == "truncated":
                self.assertIsNone(wire.decode_vint(unhex(vector)))
            else:
                self.assert_violates(vector, lambda: wire.decode_vint(unhex(vector)))

    def test_base32(self):
        for vector in self.each(VECTORS["base32"]["valid"]):
            self.assertEqual(wire.base32(unhex(vector)), vector["text"])
            count = len(unhex(vector))
            self.assertEqual(wire.parse_base32(vector["text"], count), unhex(vector))
        for vector in self.each(VECTORS["base32"]["invalid"]):
            text = vector["text"]
            self.assert_violates(vector, lambda: wire.parse_base32(text, len(text) * 5 // 8))


class Frames(VectorCase):
    def test_types(self):
        listed = {v["type"]: v["number"] for v in VECTORS["frames"]["types"]}
        self.assertEqual(listed, {name: number for number, name in NAMES.items()})

    def decode(self, limit, data):
        decoder = wire.FrameDecoder()
        decoder.maximum = limit
        decoder.feed(data)
        frames = []
        while (frame := decoder.next()) is not None:
            frames.append(frame)
        return decoder, frames

    def test_heads(self):
        for vector in self.each(VECTORS["frames"]["heads"]["valid"]):
            body = bytes(vector["length"])
            _, frames = self.decode(vector["limit"], unhex(vector) + body)
            kinds = [NAMES[kind] for kind, _ in frames]
            self.assertEqual(kinds, [vector["type"]] if vector["type"] else [])
            if vector["type"]:
                self.assertEqual(wire.encode_frame(frames[0][0], body), unhex(vector) + body)
        for vector in self.each(VECTORS["frames"]["heads"]["invalid"]):
            self.assert_violates(vector, lambda: self.decode(vector["limit"], unhex(vector)))

    def test_streams_in_one_piece_and_byte_by_byte(self):
        for vector in self.each(VECTORS["frames"]["streams"]):
            wanted = [
                (TYPES[f["type"].replace("-", "_")], bytes.fromhex(f["payload"]))
                for f in vector["frames"]
                if f["type"]
            ]
            data = unhex(vector)
            for step in (len(data), 1):
                decoder, got, error = wire.FrameDecoder(), [], None
                decoder.maximum = vector["limit"]
                for start in range(0, len(data), step):
                    decoder.feed(data[start : start + step])
                    try:
                        while (frame := decoder.next()) is not None:
                            got.append(frame)
                    except Violation as violation:
                        error = violation.code
                        break
                self.assertEqual(got, wanted)
                self.assertEqual(error, vector.get("close"))
                if error is None:
                    self.assertEqual(decoder.pending > 0, vector.get("incomplete", False))

    def test_control_payloads(self):
        for vector in self.each(VECTORS["control"]["valid"]):
            self.assertIsInstance(wire.parse_json(unhex(vector)), dict)
        for vector in self.each(VECTORS["control"]["invalid"]):
            self.assert_violates(vector, lambda: wire.parse_json(unhex(vector)))


class Messages(VectorCase):
    def test_parts(self):
        for vector in self.each(VECTORS["messageParts"]["valid"]):
            flags = (
                wire.Part.FIRST * vector["first"]
                | wire.Part.LAST * vector["last"]
                | wire.Part.AT_ONCE * vector["acknowledge"]
                | wire.Part.RELAYS * vector["relays"]
            )
            body = bytes.fromhex(vector["bytes"])
            wanted = (int(vector["sequence"]), flags, vector.get("total"), body)
            self.assertEqual(wire.decode_message_part(unhex(vector)), wanted)
        for vector in self.each(VECTORS["messageParts"]["invalid"]):
            self.assert_violates(vector, lambda: wire.decode_message_part(unhex(vector)))

    def test_sequences(self):
        for vector in self.each(VECTORS["messageSequences"]):
            delivery = Delivery()
            for step in vector["steps"]:
                before = delivery.received
                if step["outcome"] == "error":
                    self.assert_violates(step, lambda: delivery.take(unhex(step)))
                    continue
                message = delivery.take(unhex(step))
                if step["outcome"] == "deliver":
                    self.assertEqual(message, bytes.fromhex(step["message"]))
                else:
                    self.assertIsNone(message)
                    self.assertEqual(delivery.received > before, step["outcome"] == "keep")

    def test_acknowledgements(self):
        for vector in self.each(VECTORS["acknowledgements"]["valid"]):
            self.assertEqual(wire.decode_ack(unhex(vector)), int(vector["sequence"]))
        for vector in self.each(VECTORS["acknowledgements"]["invalid"]):
            self.assert_violates(vector, lambda: wire.decode_ack(unhex(vector)))


class Relays(VectorCase):
    def test_messages(self):
        for vector in self.each(VECTORS["relayMessages"]["valid"]):
            fields = {name: vector[name] for name in ("route", "routes", "end") if name in vector}
            fields |= {n: bytes.fromhex(vector[n]) for n in ("peer", "incarnation") if n in vector}
            fields |= {"token": int(vector["token"])} if "token" in vector else {}
            payload = bytes.fromhex(vector["payload"])
            self.assertEqual(relay.decode(unhex(vector)), (vector["kind"], fields, payload))
            self.assertEqual(relay.encode(vector["kind"], fields, payload), unhex(vector))
        for vector in self.each(VECTORS["relayMessages"]["invalid"]):
            self.assert_violates(vector, lambda: relay.decode(unhex(vector)))


class Datagrams(VectorCase):
    vectors = VECTORS["datagrams"]

    def test_keys(self):
        for vector in self.each(self.vectors["keys"]):
            secret = bytes.fromhex(vector["secret"])
            keys = datagram.DirectionKeys(secret, vector["direction"].encode())
            key, iv = keys.epoch(vector["epoch"])
            self.assertEqual(keys.key_id.hex(), vector["id"])
            self.assertEqual((key.hex(), iv.hex()), (vector["key"], vector["iv"]))

    def test_packets(self):
        for vector in self.each(self.vectors["packets"]["valid"]):
            secret, direction = bytes.fromhex(vector["secret"]), vector["direction"].encode()
            plain = bytes.fromhex(vector["plaintext"])
            sealer = datagram.Sealer(secret, direction)
            sealer.epoch, sealer.counter = vector["epoch"], int(vector["counter"])
            _, iv = sealer.keys.epoch(sealer.epoch)
            self.assertEqual(datagram.nonce(iv, sealer.counter).hex(), vector["nonce"])
            self.assertEqual(sealer.seal(plain[0], plain[1:]).hex(), vector["packet"])
            opener = datagram.Opener(secret, direction)
            while opener.epoch < vector["epoch"]:
                opener.epoch += 1
                opener._windows[opener.epoch] = datagram.ReplayWindow()
            opened = opener.open(bytes.fromhex(vector["packet"]))
            self.assertEqual(opened[:2], (plain[0], plain[1:]))
        for vector in self.each(self.vectors["packets"]["invalid"]):
            opener = datagram.Opener(bytes.fromhex(vector["secret"]), b"d")
            self.assertIsNone(opener.open(bytes.fromhex(vector["packet"])))

    def test_pieces(self):
        for vector in self.each(self.vectors["contents"]["invalid"]):
            content = unhex(vector)
            if content[:1] == bytes([datagram.PIECE]):
                reassembler = datagram.Reassembler()
                self.assertIsNone(reassembler.take(content[1:]))
                self.assertFalse(reassembler._open)

    def test_cuts(self):
        for vector in self.each(self.vectors["cuts"]["valid"]):
            message = bytes(i % 251 for i in range(vector["length"]))
            self.assertEqual(hashlib.sha256(message).hexdigest(), vector["sha256"])
            cut = [bytes([k]) + c for k, c in datagram.pieces(vector["id"], message)]
            self.assertEqual(
                [(len(p), hashlib.sha256(p).hexdigest()) for p in cut],
                [(p["plaintextLength"], p["sha256"]) for p in vector["packets"]],
            )
        for vector in self.each(self.vectors["cuts"]["invalid"]):
            with self.assertRaises(ValueError):
                datagram.pieces(1, bytes(vector["length"]))

    def test_assembly(self):
        for vector in self.each(self.vectors["assembly"]):
            now = [0]
            reassembler = datagram.Reassembler(clock=lambda: now[0] / 1000)
            for step in vector["steps"]:
                now[0] = step["milliseconds"]
                message = reassembler.take(unhex(step)[1:])
                if step["outcome"] == "complete":
                    self.assertEqual(hashlib.sha256(message).hexdigest(), step["sha256"])
                else:
                    self.assertIsNone(message, step["outcome"])

    def test_replay(self):
        for vector in self.each(self.vectors["replay"]):
            window = datagram.ReplayWindow()
            for step in vector["steps"]:
                self.assertEqual(window.take(int(step["counter"])), step["taken"], step)


class Exchange(VectorCase):
    """The exchange of web.md, section 10."""

    frames = WEB["exchange"]["frames"]

    def sent(self, sender):
        return b"".join(unhex(frame) for frame in self.frames if frame["from"] == sender)

    def payload(self, number):
        """Returns the payload of a frame, which web.md numbers from 1."""
        decoder = wire.FrameDecoder()
        decoder.feed(unhex(self.frames[number - 1]))
        kind, payload = decoder.next()
        self.assertEqual(NAMES[kind], self.frames[number - 1]["frame"])
        self.assertEqual(decoder.pending, 0)
        return bytes(payload)

    def test_the_frames_are_the_bytes_of_their_objects(self):
        for number, frame in enumerate(self.each(self.frames), 1):
            if "json" in frame:
                self.assertEqual(wire.parse_json(self.payload(number)), frame["json"])
        self.assertEqual(len(self.frames), 11)

    def test_web_3_web_4_web_31_the_proofs(self):
        challenge, proof = wire.parse_json(self.payload(1)), wire.parse_json(self.payload(2))
        gateway, key = wire.parse_base32(challenge["peer"], 32), base64.b64decode(proof["key"])
        guest = hashlib.sha256(key).digest()
        common = base64.b64decode(challenge["nonce"]) + base64.b64decode(proof["nonce"]) + gateway + guest
        signature = base64.b64decode(proof["signature"])
        r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
        self.assertEqual(len(signature), 64)
        # `verify` raises an exception if the signature is wrong.
        serialization.load_der_public_key(key).verify(
            utils.encode_dss_signature(r, s),
            b"whiteboard-p2p web proof 1\0" + common + WEB["proof"]["origin"].encode(),
            ec.ECDSA(hashes.SHA256()),
        )
        secret = hashlib.sha256(b"whiteboard-p2p web exporter 1\0" + common).digest()
        self.assertEqual(secret.hex(), WEB["proof"]["E"])
        hello, answer = parse_hello(self.payload(3), True), parse_hello(self.payload(4), False)
        session, accept = hello["session"], parse_accept(self.payload(6))
        self.assertEqual((answer["session"], answer["admission"], answer["role"]), (session, "code", "relay"))
        self.assertEqual((hello["port"], hello["addresses"], hello["role"], hello["links"]), (0, [], "member", 0))
        link = WEB["links"]["valid"][0]
        self.assertEqual(session.hex(), link["board"])
        k = web_key(bytes.fromhex(link["secret"]), session)
        sides = (hmac.digest(secret, BINDING, "sha256"), session, guest, gateway)
        joiner = base64.b64decode(wire.parse_json(self.payload(5))["proof"])
        self.assertEqual(joiner, admission.code_proof(k, "joiner", *sides))
        self.assertEqual(accept["proof"], admission.code_proof(k, "host", *sides))
        for role in ("editor", "viewer"):
            proof = invitation_proof(k, sides[0], role)
            self.assertEqual(proof.hex(), WEB["invitation"][role]["proof"], "WEB-58")

    def test_web_38_the_route(self):
        member = parse_accept(self.payload(6))["members"][0]
        flags = wire.Part.FIRST | wire.Part.LAST | wire.Part.RELAYS
        sequence, got, _, reach = wire.decode_message_part(self.payload(7))
        self.assertEqual((sequence, got), (1, flags))
        self.assertEqual(
            relay.decode(reach), (relay.REACH, {"peer": member["peer"], "incarnation": member["incarnation"]}, b"")
        )
        sequence, got, _, message = wire.decode_message_part(self.payload(9))
        kind, fields, payload = relay.decode(message)
        self.assertEqual((sequence, got, kind, fields), (1, flags, relay.ROUTE, {"route": 0}))
        self.assertEqual(parse_member(wire.parse_json(payload)), member)
        for number in (8, 10):
            self.assertEqual(wire.decode_ack(self.payload(number)), 1)
        self.assertEqual(parse_close(self.payload(11)), ("left", ""))

    def head(self, text):
        """Returns the first line and the headers of a request or response."""
        self.assertTrue(text.endswith("\r\n\r\n"))
        first, *lines = text.removesuffix("\r\n\r\n").split("\r\n")
        return first, dict(line.split(": ", 1) for line in lines)

    def test_web_2_web_21_the_requests_carry_the_same_bytes(self):
        opening, *posts = WEB["exchange"]["requests"]
        line, headers = self.head(opening["request"]["head"])
        self.assertEqual((line, headers["Content-Length"]), ("POST /link HTTP/1.1", "0"))
        line, headers = self.head(opening["response"]["head"])
        self.assertEqual(line, "HTTP/1.1 200 OK")
        link = headers["Whiteboard-Link"]
        self.assertEqual(wire.base32(wire.parse_base32(link, 16)), link)
        self.assertEqual(bytes.fromhex(opening["response"]["body"]), self.sent("gateway"))
        received = b""
        for post in posts:
            line, headers = self.head(post["request"]["head"])
            body = bytes.fromhex(post["request"]["body"])
            self.assertEqual(line, f"POST /link/{link} HTTP/1.1")
            self.assertEqual(headers["Origin"], f"https://{headers['Host']}")
            self.assertEqual(headers["Origin"], WEB["proof"]["origin"])
            self.assertEqual((headers["Content-Length"], headers["Whiteboard-Position"]), (str(len(body)), str(len(received))))
            self.assertEqual(self.head(post["response"]["head"])[0], "HTTP/1.1 204 No Content")
            received += body
        self.assertEqual(received, self.sent("page"))

    def test_web_2_the_websocket(self):
        line, headers = self.head(WEB["exchange"]["webSocket"]["request"])
        self.assertEqual((line, headers["Sec-WebSocket-Protocol"]), ("GET /link HTTP/1.1", "whiteboard-p2p"))
        key = headers["Sec-WebSocket-Key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        line, headers = self.head(WEB["exchange"]["webSocket"]["response"])
        self.assertEqual(line, "HTTP/1.1 101 Switching Protocols")
        self.assertEqual(base64.b64decode(headers["Sec-WebSocket-Accept"]), hashlib.sha1(key).digest())


if __name__ == "__main__":
    unittest.main()
