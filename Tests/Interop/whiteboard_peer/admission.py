"""Words, code proofs, word comparison and tickets (session.md 4 and 5.2)."""

import hashlib
import hmac
import os
import pathlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .wire import Violation, base32, base64_text, malformed, parse_base32, parse_base64, text

PROTOCOL = pathlib.Path(
    os.environ.get("WHITEBOARD_PROTOCOL", pathlib.Path(__file__).parents[3] / "Protocol")
)


def word_list():
    # An installed package has a copy of the file (pyproject.toml).
    copy = pathlib.Path(__file__).with_name("Words.txt")
    path = copy if copy.exists() else PROTOCOL / "Words.txt"
    words = path.read_text("utf-8").splitlines()
    if len(words) != 2048 or len(set(words)) != 2048:
        raise ValueError("Words.txt does not hold 2,048 different words")
    return words


def word_numbers(data, count):
    value = int.from_bytes(data, "big")
    bits = len(data) * 8
    return [(value >> (bits - 11 * (i + 1))) & 0x7FF for i in range(count)]


def words(data, count):
    table = word_list()
    return [table[number] for number in word_numbers(data, count)]


def new_code():
    return "-".join(words(os.urandom(6), 4))


# The separators between the words of a code (4.2).
_SPACES = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_DASHES = (
    "\u00ad\u058a\u05be\u1400\u1806\u2010-\u2015\u2053\u207b\u208b\u2212\u2e17\u2e1a"
    "\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\U00010ead"
)
_PUNCTUATION = "\"',./:;_\u00ab\u00bb\u2018-\u201f\u2039\u203a\u3001\u3002\uff0c"
_INVISIBLE = "\u200b-\u200f\u2060\ufeff"
# Lower only ASCII letters: the Kelvin sign is not a k.
_SMALL = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
_BETWEEN = re.compile(f"[{_SPACES}{_DASHES}{_PUNCTUATION}{_INVISIBLE}-]+")


def normal_code(typed):
    """Returns the form of a code that is stretched: lower case, one hyphen between two words (4.2)."""
    return "-".join(part for part in _BETWEEN.split(typed.translate(_SMALL)) if part)


def parse_code(typed):
    """Parses a typed code; raises `ValueError` if it is malformed."""
    if len(typed.encode("utf-8")) > 256:
        raise ValueError("a code has at most 256 bytes")
    code = normal_code(typed)
    parts = code.split("-")
    known = set(word_list())
    if len(parts) != 4 or not known.issuperset(parts):
        raise ValueError("a code is four words of the list")
    return code


def stretch_code(code, session_id, listener_id):
    return hashlib.scrypt(
        normal_code(code).encode("utf-8"),
        salt=session_id + listener_id,
        n=32_768,
        r=8,
        p=1,
        maxmem=64 * 1024 * 1024,
        dklen=32,
    )


def code_proof(stretched, who, binding, session_id, dialler_id, listener_id):
    """`who` is "joiner" or "host"."""
    data = b"whiteboard-p2p code 1 " + who.encode("ascii") + b"\0" + binding + session_id
    return hmac.digest(stretched, data + dialler_id + listener_id, "sha256")


def sas_commitment(binding, dialler_nonce):
    return hashlib.sha256(b"whiteboard-p2p sas commit 1\0" + binding + dialler_nonce).digest()


def sas_secret(binding, dialler_nonce, listener_nonce, session_id, dialler_id, listener_id):
    data = b"whiteboard-p2p sas 1\0" + dialler_nonce + listener_nonce + session_id
    return hmac.digest(binding, data + dialler_id + listener_id, "sha256")


def named_session(host_id, salt=None):
    """Returns a session id that names its host (MEM-14)."""
    while salt is None or salt[:2] == b"ow":
        salt = os.urandom(4)
    digest = hashlib.sha256(b"whiteboard-p2p host 1\0" + salt + host_id).digest()
    return salt + digest[:10] + b"ho"


def names_host(session_id):
    """Returns whether a session id names its host (MEM-15)."""
    return session_id.endswith(b"ho") and not session_id.startswith(b"ow")


def is_named(session_id, peer_id):
    """Returns whether a session id names this peer as the host (MEM-15)."""
    return names_host(session_id) and session_id == named_session(peer_id, session_id[:4])


def ticket_bytes(session_id, admitter_id, member_id):
    """Returns the text that the admitter signs (5.2)."""
    return b"whiteboard-p2p ticket 1\0" + session_id + admitter_id + member_id


def make_ticket(admitter, session_id, member_id):
    signature = admitter.key.sign(
        ticket_bytes(session_id, admitter.peer_id, member_id), ec.ECDSA(hashes.SHA256())
    )
    return {
        "admitter": base32(admitter.peer_id),
        "key": base64_text(admitter.public_key_info),
        "signature": base64_text(signature),
    }


def right_bytes(session_id, host_id, member_id):
    """Returns the text with which the host lets a member admit newcomers (TCK-6)."""
    return b"whiteboard-p2p admitter 1\0" + session_id + host_id + member_id


def add_right(ticket, host, session_id, member_id):
    """Returns a ticket of the host that also lets its member admit newcomers (TCK-6)."""
    signed = right_bytes(session_id, host.peer_id, member_id)
    return {**ticket, "right": base64_text(host.key.sign(signed, ec.ECDSA(hashes.SHA256())))}


def has_right(step, session_id, host_id, member_id):
    """Returns whether a ticket, or an element of `via`, shows the host's right for its member (TCK-6)."""
    if step.get("right") is None:
        return False
    right = parse_base64(text(step, "right"), 80)
    try:
        if verify_ticket(step, session_id, member_id) != host_id:
            return False
        key_info = parse_base64(text(step, "key"), 256)
        verify_key(key_info, host_id, right, right_bytes(session_id, host_id, member_id))
    except Violation:
        return False
    return True


def kick_bytes(session_id, host_id, peer_id, reason):
    """Returns the text that the host signs (MEM-11)."""
    return b"whiteboard-p2p kick 1\0" + session_id + host_id + peer_id + reason.encode()


def make_kick(host, session_id, peer_id, reason=""):
    signature = host.key.sign(
        kick_bytes(session_id, host.peer_id, peer_id, reason), ec.ECDSA(hashes.SHA256())
    )
    return {
        "peer": base32(peer_id),
        "reason": reason,
        "key": base64_text(host.public_key_info),
        "signature": base64_text(signature),
    }


def kick_signer(kick, session_id):
    """Returns the `PeerID` of a KICK's signer, or None; raises if the signature does not verify (MEM-11)."""
    if kick.get("key") is None and kick.get("signature") is None:
        return None
    key_info = parse_base64(text(kick, "key"), 128)
    signature = parse_base64(text(kick, "signature"), 80)
    peer_id = parse_base32(text(kick, "peer"), 32)
    signer_id = hashlib.sha256(key_info).digest()
    signed = kick_bytes(session_id, signer_id, peer_id, text(kick, "reason", 0, 512))
    verify_key(key_info, signer_id, signature, signed)
    return signer_id


def verify_kick(kick, session_id, host_id):
    """Returns whether a KICK has the host's signature; raises if the signature does not verify (MEM-11)."""
    return kick_signer(kick, session_id) == host_id


def ticket_signers(ticket, session_id, member_id):
    """Yields the `PeerID`s of a ticket's signers, towards the host (TCK-3).

    Raises at the first signature that does not verify, and checks none after it.
    """
    via = ticket.get("via") or []
    if not isinstance(via, list) or len(via) > 5 or not all(isinstance(step, dict) for step in via):
        raise malformed("a ticket with a chain that is none")
    for step in [ticket, *via]:
        member_id = verify_ticket(step, session_id, member_id)
        yield member_id


def verify_ticket(ticket, session_id, member_id):
    """Returns the `PeerID` of a ticket's signer; raises if its signature does not verify (TCK-1, TCK-2)."""
    admitter_id = parse_base32(text(ticket, "admitter"), 32)
    key_info = parse_base64(text(ticket, "key"), 256)
    signature = parse_base64(text(ticket, "signature"), 256)
    verify_key(key_info, admitter_id, signature, ticket_bytes(session_id, admitter_id, member_id))
    return admitter_id


def verify_key(key_info, signer_id, signature, signed):
    """Raises unless the key is the signer's and the signature is by it."""
    if hashlib.sha256(key_info).digest() != signer_id:
        raise malformed("a signature whose key is another's")
    try:
        key = serialization.load_der_public_key(key_info)
    except ValueError as error:
        raise malformed("a signature without a key") from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
        raise malformed("a signature whose key is not P-256")
    try:
        key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature as error:
        raise malformed("a signature that does not verify") from error
