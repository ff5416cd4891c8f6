#!/usr/bin/python3
"""Writes Protocol/Vectors/web.json and the example in Protocol/web.md, from Protocol/web.md alone.

This script does not call the Swift code or the page's scripts: it computes everything with the standard library and
`cryptography` (Debian's python3-cryptography). ECDSA signatures are not repeatable, so --check verifies the signature
in the file instead of creating a new one.

  make_web_vectors.py           writes the files
  make_web_vectors.py --check   compares them, and fails on a difference
"""

import base64
import hashlib
import hmac
import json
import textwrap

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from make_admission_vectors import base32, counted, peer, peer_id, private_key, spki
from vector_file import PROTOCOL, write_or_check, write_or_check_signed

TARGET = PROTOCOL / "Vectors" / "web.json"
DOCUMENT = PROTOCOL / "web.md"
EXAMPLE = "## 10. Example\n"
AUTHORITY = "192.168.1.5:26443"
ORIGIN = f"https://{AUTHORITY}"
GUEST, GATEWAY = private_key("web guest"), private_key("web gateway")
BOARD, SECRET = counted("web board", 16), counted("web secret", 16)
NONCES = counted("web gateway nonce", 32), counted("web guest nonce", 32)


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def code_key(secret, board):
    return sha256(b"whiteboard-p2p web key 1\0" + secret + board)


def links():
    def valid(secret, board):
        return {
            "fragment": f"#{base32(board)}.{base32(secret)}", "board": board.hex(), "secret": secret.hex(),
            "K": code_key(secret, board).hex(),
        }

    good = valid(SECRET, BOARD)["fragment"]
    return {
        "valid": [valid(SECRET, BOARD), valid(bytes(16), b"\xff" * 16)],
        "invalid": [
            {"name": "empty", "fragment": ""},
            {"name": "a sign alone", "fragment": "#"},
            {"name": "without a secret", "fragment": good.split(".")[0]},
            {"name": "a secret that is too short", "fragment": good[:-1]},
            {"name": "a secret that is too long", "fragment": good + "a"},
            {"name": "capitals", "fragment": good.upper()},
            {"name": "a space", "fragment": good + " "},
            {"name": "bits left over in the secret", "fragment": good[:-1] + "b"},
            {"name": "bits left over in the board", "fragment": good[:26] + "b" + good[27:]},
            {"name": "a dash instead of the dot", "fragment": good.replace(".", "-")},
        ],
    }


def exporter_secret(nonces, gateway, guest):
    return sha256(b"whiteboard-p2p web exporter 1\0" + b"".join(nonces) + gateway + guest)


def exporter(secret, label):
    return {"label": label, "output": hmac256(secret, label.encode()).hex()}


def is_valid(signature, data):
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        GUEST.public_key().verify(utils.encode_dss_signature(r, s), data, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def proof(previous):
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    data = b"whiteboard-p2p web proof 1\0" + b"".join(NONCES) + gateway + guest + ORIGIN.encode()
    signature = bytes.fromhex((previous or {}).get("proof", {}).get("signature", "00" * 64))
    if not is_valid(signature, data):
        r, s = utils.decode_dss_signature(GUEST.sign(data, ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert is_valid(signature, data)
    secret = exporter_secret(NONCES, gateway, guest)
    return {
        "origin": ORIGIN, "gatewayNonce": NONCES[0].hex(), "guestNonce": NONCES[1].hex(), "gateway": gateway.hex(),
        "guest": guest.hex(), "key": spki(GUEST).hex(), "input": data.hex(), "signature": signature.hex(),
        "E": secret.hex(),
        "exporter": [exporter(secret, f"EXPORTER-whiteboard-p2p {use}") for use in ("binding", "attach")],
    }


def code_proof():
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    secret = exporter_secret(NONCES, gateway, guest)
    binding = bytes.fromhex(exporter(secret, "EXPORTER-whiteboard-p2p binding")["output"])
    key = code_key(SECRET, BOARD)
    vector = {
        "K": key.hex(), "session": BOARD.hex(), "guest": guest.hex(), "gateway": gateway.hex(),
        "binding": binding.hex(),
    }
    for who in ("joiner", "host"):
        data = f"whiteboard-p2p code 1 {who}".encode() + b"\0" + binding + BOARD + guest + gateway
        vector[who] = {"input": data.hex(), "proof": hmac256(key, data).hex()}
    return vector


def invitation(code):
    key, binding = bytes.fromhex(code["K"]), bytes.fromhex(code["binding"])
    inputs = {role: b"whiteboard-p2p web invite 1\0" + binding + role.encode() for role in ("editor", "viewer")}
    return {
        "K": code["K"], "binding": code["binding"],
        **{role: {"input": data.hex(), "proof": hmac256(key, data).hex()} for role, data in inputs.items()},
    }


def attach_proof():
    gateway, guest = peer_id(GATEWAY), peer_id(GUEST)
    label = "EXPORTER-whiteboard-p2p attach"
    control = bytes.fromhex(exporter(exporter_secret(NONCES, gateway, guest), label)["output"])
    nonces = counted("web bulk gateway nonce", 32), counted("web bulk guest nonce", 32)
    bulk = bytes.fromhex(exporter(exporter_secret(nonces, gateway, guest), label)["output"])
    data = b"whiteboard-p2p attach 1\0" + bulk
    return {
        "gatewayNonce": nonces[0].hex(), "guestNonce": nonces[1].hex(), "control": control.hex(), "bulk": bulk.hex(),
        "proof": hmac256(control, data).hex(),
    }


# --- the exchange ---------------------------------------------------------------------------------

GUEST_RUN, GATEWAY_RUN, MEMBER_RUN = (counted(f"web {name} incarnation", 8) for name in ("guest", "gateway", "member"))
MEMBER = private_key("web member")
LINK_ID = base32(counted("web link id", 16))
# The numbers of the frames.
TYPES = {
    "HELLO": 0x01, "CLOSE": 0x02, "ACCEPT": 0x03, "CODE-PROOF": 0x04, "WEB-CHALLENGE": 0x08, "WEB-PROOF": 0x09,
    "MESSAGE": 0x40, "ACK": 0x41,
}
# The flags of a message between a member and a relay that has one part.
WHOLE_RELAY_MESSAGE = 1 | 2 | 8


def base64_text(data):
    return base64.b64encode(data).decode()


def vint(value):
    out = b""
    while value >= 128:
        out += bytes([value % 128 + 128])
        value //= 128
    return out + bytes([value])


def frame(sender, name, value, note):
    """Returns a frame whose payload is bytes, or an object for JSON."""
    payload = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return {
        "from": sender, "frame": name, "note": note,
        "hex": (bytes([TYPES[name]]) + vint(len(payload)) + payload).hex(),
        **({} if isinstance(value, bytes) else {"json": value}),
    }


def frames(signature, proofs):
    gateway = base32(peer_id(GATEWAY))
    member = {
        "peer": base32(peer_id(MEMBER)), "name": "Ben", "incarnation": base32(MEMBER_RUN), "port": 26273,
        "addresses": ["192.168.1.7"], "role": "member",
    }
    reach = b"\x01" + peer_id(MEMBER) + MEMBER_RUN
    route = b"\x10" + vint(0) + json.dumps(member, separators=(",", ":")).encode()
    first = vint(1) + bytes([WHOLE_RELAY_MESSAGE])
    return [
        frame("gateway", "WEB-CHALLENGE", {"peer": gateway, "nonce": base64_text(NONCES[0])},
              "WEB-3. `peer` is only a claim (WEB-31)."),
        frame("page", "WEB-PROOF", {"key": base64_text(spki(GUEST)), "nonce": base64_text(NONCES[1]),
                                    "signature": base64_text(signature)},
              "The signature is `signature` in the group `proof`. Your signature will differ."),
        frame("page", "HELLO", {"protocol": [1, 1], "session": base32(BOARD), "name": "Greta",
                                "incarnation": base32(GUEST_RUN), "port": 0, "addresses": [], "role": "member", "links": 0},
              "The page sends it immediately after WEB-PROOF."),
        frame("gateway", "HELLO", {"protocol": [1, 1], "session": base32(BOARD), "name": "Anna",
                                   "incarnation": base32(GATEWAY_RUN), "port": 26273, "addresses": ["192.168.1.5"],
                                   "role": "relay", "links": 0, "admission": "code"},
              "The gateway is the host of the session. `admission` is `code` (WEB-27)."),
        frame("page", "CODE-PROOF", {"proof": base64_text(bytes.fromhex(proofs["joiner"]["proof"]))},
              "`joiner` in the group `codeProof` (WEB-29)."),
        frame("gateway", "ACCEPT", {"host": gateway, "maximum": 16, "members": [member],
                                    "proof": base64_text(bytes.fromhex(proofs["host"]["proof"]))},
              "The page checks `proof` (`host` in `codeProof`, WEB-31). The link is open; it has the number 1. The session "
              "has one more member."),
        frame("page", "MESSAGE", first + reach,
              "Number 1, with the flags 1, 2 and 8: REACH (kind 1) for Ben's `PeerID` and incarnation (WEB-38). A page with "
              "a board also sends the first messages of its channel with the gateway now, such as the author message "
              "(AUT-5)."),
        frame("gateway", "ACK", vint(1), "The gateway has received message 1."),
        frame("gateway", "MESSAGE", first + route,
              "Ben has sent REACH for Greta, too, so the gateway sends ROUTE (kind 16): the route 0 leads to Ben. The rest "
              "is the member as JSON."),
        frame("page", "ACK", vint(1), "The page has received message 1. Now it could send messages to Ben with SEND."),
        frame("page", "CLOSE", {"code": "left", "message": ""}, "The user closes the page."),
    ]


def web_socket():
    key = counted("web socket key", 16)
    accept = hashlib.sha1(base64.b64encode(key) + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    return {
        "request": f"GET /link HTTP/1.1\r\nHost: {AUTHORITY}\r\nOrigin: {ORIGIN}\r\nConnection: Upgrade\r\n"
                   f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64_text(key)}\r\n"
                   "Sec-WebSocket-Protocol: whiteboard-p2p\r\n\r\n",
        "response": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    f"Sec-WebSocket-Accept: {base64_text(accept)}\r\nSec-WebSocket-Protocol: whiteboard-p2p\r\n\r\n",
    }


def requests(all_frames):
    """Returns the frames as requests: the page sends the frames of each group in one body."""
    data = {sender: [bytes.fromhex(f["hex"]) for f in all_frames if f["from"] == sender] for sender in ("page", "gateway")}
    start = f"Host: {AUTHORITY}\r\nOrigin: {ORIGIN}\r\n"
    result = [{
        "request": {"head": f"POST /link HTTP/1.1\r\n{start}Content-Length: 0\r\n\r\n", "body": ""},
        "response": {
            "head": "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nCache-Control: no-store\r\n"
                    f"Whiteboard-Link: {LINK_ID}\r\nTransfer-Encoding: chunked\r\n\r\n",
            "body": b"".join(data["gateway"]).hex(),
        },
    }]
    position = 0
    for first, end in ((0, 2), (2, 3), (3, 4), (4, 6)):
        body = b"".join(data["page"][first:end])
        result.append({
            "request": {
                "head": f"POST /link/{LINK_ID} HTTP/1.1\r\n{start}Content-Length: {len(body)}\r\n"
                        f"Whiteboard-Position: {position}\r\n\r\n",
                "body": body.hex(),
            },
            "response": {"head": "HTTP/1.1 204 No Content\r\n\r\n", "body": ""},
        })
        position += len(body)
    return result


def exchange(signature, proofs):
    all_frames = frames(bytes.fromhex(signature), proofs)
    return {"webSocket": web_socket(), "frames": all_frames, "requests": requests(all_frames)}


def lines_of(text):
    return textwrap.wrap(text, 116, break_on_hyphens=False)


def hex_lines(data):
    return textwrap.wrap(data, 64)


def shown_json(value):
    """Returns the lines of an object, with a line for each key."""
    keys = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()]
    return [("{" if index == 0 else " ") + key + ("}" if index == len(keys) - 1 else ",") for index, key in enumerate(keys)]


def head_lines(head):
    return head.rstrip("\r\n").split("\r\n")


def example(vectors):
    """Returns the lines of the section that shows the exchange."""
    link, proof_ = vectors["links"]["valid"][0], vectors["proof"]
    told = vectors["exchange"]
    lines = [
        *lines_of(
            "Greta opens a browser link and joins the session of the host Anna; the gateway is Anna's program. Ben is a third "
            "member. `Vectors/web.json` has all bytes of this exchange in `exchange`, the keys in `peers`, and the derived "
            "values in `proof` and `codeProof`. The JSON of a frame is one line on the wire; this section splits the line "
            "between keys, and leaves out the bytes before it: the type of the frame and its length."
        ),
        "", "```",
        f"browser link  {ORIGIN}/{link['fragment'][:28]}",
        f"              {link['fragment'][28:]}",
        f"K             {link['K']}",
        f"guest         {vectors['peers'][0]['text']}",
        f"gateway       {vectors['peers'][1]['text']}",
        f"E             {proof_['E']}",
        *(f"{e['label'].split()[-1]:14}{e['output']}" for e in proof_["exporter"][:1]),
        "```",
        "", "### 10.1 Frames", "",
    ]
    for number, f in enumerate(told["frames"], 1):
        count = len(f["hex"]) // 2
        lines += [f"**{number}. {f['from'].capitalize()}: {f['frame']}**, {count} bytes", "", *lines_of(f["note"]), "", "```"]
        lines += shown_json(f["json"]) if "json" in f else hex_lines(f["hex"])
        lines += ["```", ""]
    lines += [
        "### 10.2 The same frames over a WebSocket", "",
        *lines_of("This request and this response open the WebSocket. Then each side sends the bytes of its frames in binary "
                  "messages."),
        "", "```", *head_lines(told["webSocket"]["request"]), "", *head_lines(told["webSocket"]["response"]), "```", "",
        "### 10.3 The same frames in requests", "",
        *lines_of("The first response remains open. Its body has the frames 1, 4, 6, 8 and 9, as soon as the gateway sends "
                  "them. After frame 11, the gateway ends this response. The heads of responses are shortened: a "
                  "gateway adds the headers of WEB-55."),
        "",
    ]
    contents = ("no body", "body: the frames 2 and 3", "body: frame 5", "body: frame 7", "body: the frames 10 and 11")
    for content, pair in zip(contents, told["requests"], strict=True):
        lines += ["```", *head_lines(pair["request"]["head"]), "", f"({content})", "",
                  *head_lines(pair["response"]["head"]), "```", ""]
    return lines[:-1]


def build(previous):
    proof_, code_proof_ = proof(previous), code_proof()
    return {
        "specification": "Protocol/web.md",
        "notation": "hex; base32 in fragments",
        "peers": [peer("guest", GUEST), peer("gateway", GATEWAY)],
        "links": links(),
        "proof": proof_,
        "codeProof": code_proof_,
        "invitation": invitation(code_proof_),
        "attachProof": attach_proof(),
        "exchange": exchange(proof_["signature"], code_proof_),
    }


if __name__ == "__main__":
    write_or_check_signed(TARGET, build)
    text = DOCUMENT.read_text("utf-8").split(EXAMPLE)[0]
    shown = example(json.loads(TARGET.read_text("utf-8")))
    write_or_check({DOCUMENT: "\n".join([text + EXAMPLE, *shown]) + "\n"})
