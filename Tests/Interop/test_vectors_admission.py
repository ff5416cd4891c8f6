"""Checks every vector of Protocol/Vectors/admission.json with this implementation."""

import hashlib
import json
import unittest

from cryptography.hazmat.primitives import hashes, serialization
from test_vectors_session import VectorCase
from whiteboard_peer import admission
from whiteboard_peer.datagram import expand_label
from whiteboard_peer.tls import public_key_info
from whiteboard_peer.wire import Violation, base32, base64_text, parse_base32

VECTORS = json.loads((admission.PROTOCOL / "Vectors" / "admission.json").read_text("utf-8"))


def unhex(*values):
    return [bytes.fromhex(value) for value in values]


class Admission(VectorCase):
    def test_peers(self):
        for vector in self.each(VECTORS["peers"]):
            key = serialization.load_pem_private_key(vector["privateKey"].encode(), None)
            info = public_key_info(key.public_key())
            self.assertEqual(info.hex(), vector["spki"])
            self.assertEqual(hashlib.sha256(info).hexdigest(), vector["peerID"])
            self.assertEqual(base32(hashlib.sha256(info).digest()), vector["text"])

    def test_exporter(self):
        for vector in self.each(VECTORS["exporter"]):
            secret = bytes.fromhex(vector["secret"])
            algorithm = hashes.SHA256 if len(secret) == 32 else hashes.SHA384
            empty = hashlib.new(algorithm.name, b"").digest()
            derived = expand_label(
                secret, vector["label"].encode(), empty, len(secret), algorithm
            )
            self.assertEqual(derived.hex(), vector["derived"])
            output = expand_label(derived, b"exporter", empty, vector["length"], algorithm)
            self.assertEqual(output.hex(), vector["output"])

    def test_words(self):
        for vector in self.each(VECTORS["words"]):
            (data,) = unhex(vector["bytes"])
            self.assertEqual(admission.words(data, len(vector["words"])), vector["words"])

    def test_typed_codes(self):
        for vector in self.each(VECTORS["typedCodes"]["valid"]):
            self.assertEqual(admission.parse_code(vector["typed"]), vector["code"])
        for vector in self.each(VECTORS["typedCodes"]["invalid"]):
            with self.assertRaises(ValueError):
                admission.parse_code(vector["typed"])

    def test_code_proofs(self):
        for vector in self.each(VECTORS["codeProof"]):
            session, dialler, listener, binding = unhex(
                *(vector[k] for k in ("session", "dialler", "listener", "binding"))
            )
            stretched = admission.stretch_code(vector["code"], session, listener)
            self.assertEqual(stretched.hex(), vector["K"])
            for who in ("joiner", "host"):
                proof = admission.code_proof(
                    stretched, who, binding, session, dialler, listener
                )
                self.assertEqual(proof.hex(), vector[who]["proof"])

    def test_compared_words(self):
        for vector in self.each(VECTORS["shortWords"]):
            session, dialler, listener, binding, mine, theirs = unhex(
                *(
                    vector[k]
                    for k in ("session", "dialler", "listener", "binding", "nonceD", "nonceL")
                )
            )
            self.assertEqual(admission.sas_commitment(binding, mine).hex(), vector["commit"])
            secret = admission.sas_secret(binding, mine, theirs, session, dialler, listener)
            self.assertEqual(secret.hex(), vector["S"])
            self.assertEqual(admission.words(secret, 3), vector["words"])

    def test_tickets(self):
        for vector in self.each(VECTORS["tickets"]):
            session, dialler = unhex(vector["session"], vector["dialler"])
            first = [vector["ticket"]["admitter"]] if vector["admitterIsKnown"] else []
            known = {parse_base32(text, 32) for text in vector.get("knownAdmitters", first)}
            admitter = parse_base32(vector["ticket"]["admitter"], 32)
            signed = admission.ticket_bytes(session, admitter, dialler)
            self.assertEqual(signed.hex(), vector["input"])
            try:
                signers = admission.ticket_signers(vector["ticket"], session, dialler)
                verdict = "valid" if any(signer in known for signer in signers) else "unknown-admitter"
            except Violation as violation:
                verdict = violation.code
            self.assertEqual(verdict, vector["expected"])

    def test_named_sessions(self):
        for vector in self.each(VECTORS["namedSessions"]):
            session, peer = unhex(vector["session"], vector["peer"])
            self.assertEqual(admission.is_named(session, peer), vector["isNamed"])

    def test_a_ticket_of_our_own(self):
        key = serialization.load_pem_private_key(
            VECTORS["peers"][1]["privateKey"].encode(), None
        )
        identity = type("Listener", (), {})()
        identity.key, identity.public_key_info = key, public_key_info(key.public_key())
        identity.peer_id = hashlib.sha256(identity.public_key_info).digest()
        vector = VECTORS["tickets"][0]
        session, dialler = unhex(vector["session"], vector["dialler"])
        ticket = admission.make_ticket(identity, session, dialler)
        self.assertEqual(ticket["admitter"], vector["ticket"]["admitter"])
        self.assertEqual(ticket["key"], base64_text(identity.public_key_info))
        self.assertEqual(admission.verify_ticket(ticket, session, dialler), identity.peer_id)


if __name__ == "__main__":
    unittest.main()
