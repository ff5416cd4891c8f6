"""Checks every vector of Protocol/Vectors/session.json with this implementation."""

import hashlib
import json
import pathlib
import subprocess
import sys
import unittest

from whiteboard_peer import admission, datagram, relay, wire
from whiteboard_peer.session import Delivery, Peer, Remote, parse_accept, parse_hello
from whiteboard_peer.wire import Violation

VECTORS = json.loads((admission.PROTOCOL / "Vectors" / "session.json").read_text("utf-8"))
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


if __name__ == "__main__":
    unittest.main()
