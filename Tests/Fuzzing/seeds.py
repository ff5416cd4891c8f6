#!/usr/bin/python3
"""Writes inputs for exploring fuzzers, in addition to their corpus, into one folder for each target.

The inputs are those of Protocol/Vectors, and further valid inputs.

  seeds.py FOLDER
"""

import json
import pathlib
import sqlite3
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = json.loads((HERE.parents[1] / "Protocol" / "Vectors" / "session.json").read_text())
PEER = "aeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaqcaibaeaq"
SESSION = "aebagbafaydqqcikbmga2dqpca"
BASE64 = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="


def write(target, name, data):
    folder = pathlib.Path(sys.argv[1]) / target
    folder.mkdir(parents=True, exist_ok=True)
    slug = "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-")
    (folder / f"seed-{slug}"[:80]).write_bytes(data)


def both(group):
    return [("valid", i, v) for i, v in enumerate(group["valid"])] + [
        ("invalid", i, v) for i, v in enumerate(group["invalid"])]


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


KEYS = (
    "a", "\u00e9\u6f22\U0001f44d", "e\u0301", "\u0085", "^[A", "^OB", "^[1;5C", "^[3~", "^[[A", "^x", "^^[A", "^", "^]",
    "^[97;5u", "^[97:65;2:1u", "^[57419u", "^[133u", "^[127;3u", "^[1;1:3A",
    "^[<0;10;5M", "^[<32;804;533M", "^[<0;804;533m", "^[<64;1;1M", "^[<35;3;4m", "^[<0;0;9999999M", "^[M !!", "^[M#\"!",
    "^[200~pasted^[201~", "^[200~^[A^]0;x\7^[200~^[20", "^[200~^[201~^[201~q", "^[I^[O",
    "^[?63;1;4c", "^[?2026;2$y", "^[?1016;0$y", "^[?1u", "^[6;20;10t", "^[4;600;800t", "^[8;24;80t", "^[>0;276;0c", "^[5;9R",
    "^]11;rgb:1e1e/2020/ffff\7", "^]11;rgb:0/8/f^\\", "^]11;rgb:00^[<0;5;5M", "^]52;c;aGk=\7", "^P1+r524742=38^\\", "^P!|00^\\",
    "^_Gi=31;OK^\\", "^_Gi=31;EINVAL:x^\\", "^^x^\\", "^]" + "x" * 4100 + "^\\q", "^[" + "1;" * 2100 + "Aq",
)


def main():
    documents()
    for i, text in enumerate(KEYS):
        write("keys", str(i), b"\x00\x03" + text.replace("^", "\x1b").encode())
    for kind, i, v in both(VECTORS["base32"]):
        write("base32", f"{kind}-{i}", bytes([len(v.get("hex", "")) // 2]) + v["text"].encode())

    for v in VECTORS["frames"]["streams"]:
        write("frames", v["name"], b"\x01\x00" + bytes.fromhex(v["hex"]))
    for kind, i, v in both(VECTORS["frames"]["heads"]):
        if v.get("length", 0) <= 5:
            write("frames", f"{kind}-{i}", b"\x00\x02" + bytes.fromhex(v["hex"]) + b"hello")

    for v in VECTORS["messageSequences"]:
        steps = [bytes.fromhex(s["hex"]) for s in v["steps"]]
        write("messages", v["name"], b"".join(bytes([len(s)]) + s for s in steps))
    for kind, i, v in both(VECTORS["messageParts"]):
        data = bytes.fromhex(v["hex"])
        write("messages", f"{kind}-{i}", bytes([len(data)]) + data)

    for kind, i, v in both(VECTORS["control"]):
        write("json", f"{kind}-{i}", b"\x00\x03" + bytes.fromhex(v["hex"]))

    datagrams = VECTORS["datagrams"]
    for kind, i, v in both(datagrams["packets"]):
        if len(v["packet"]) < 400:
            write("packets", f"{kind}-packet-{i}", bytes.fromhex(v["packet"]))
    for kind, i, v in both(datagrams["contents"]):
        if len(v["hex"]) < 2_600:
            write("packets", f"{kind}-content-{i}", bytes.fromhex(v["hex"]))
    for name, data in {
        "two pieces": b"\x41\x01\x00\x02\x41\x01\x01\x02\x09",
        "whole messages": b"\x02\x00\x05\x00\x01\x02\x08\x98\x01\x03\x02\xff\xff\x01\x07",
        "time passes": b"\x41\x01\x00\x02\x00\x08\x00\x41\x01\x01\x02\x09",
        "counters": b"".join(b"\x03" + struct.pack(">H", c) for c in (0, 1, 0, 2047, 2048, 0)),
    }.items():
        write("datagrams", name, data)

    hello = {"protocol": [1, 1], "session": SESSION, "name": "Ada", "incarnation": "aaaaaaaaaaaac",
             "port": 26273, "addresses": ["192.0.2.1", "2001:db8::1"], "role": "member", "links": 0}
    member = {k: hello[k] for k in ("name", "incarnation", "port", "addresses", "role")}
    member["peer"] = PEER
    ticket = {"admitter": PEER, "key": BASE64, "signature": BASE64}
    transfer = {"id": SESSION}
    payloads = [
        dict(hello, resume={"incarnation": "aaaaaaaaaaaac", "received": 7}, ticket=ticket,
             invitation={"timeout": 60000, "context": "aGVsbG8="}),
        dict(hello, admission="ask"),
        {"host": PEER, "maximum": 16, "members": [member], "ticket": ticket,
         "resume": {"received": 7}, "proof": BASE64},
        {"code": "left", "message": "bye"},
        {"proof": BASE64}, {"commit": BASE64}, {"nonce": BASE64},
        {"members": [member, member]},
        {"peer": PEER, "reason": "enough"},
        {"port": 26273, "addresses": ["192.0.2.1"]},
        {"count": 2},
        {"session": SESSION, "incarnation": "aaaaaaaaaaaac", "opener": "dialler", "proof": BASE64},
        dict(transfer, name="{\"type\":\"imageData\"}", size=5, modified=1),
        dict(transfer, offset=5, prefix="00" * 32),
        dict(transfer, offset=5),
        dict(transfer, sha256="00" * 32),
        transfer,
        dict(transfer, code="cancelled", message=""),
        dict(transfer, name="ink"),
        dict(transfer, code=1, message=""),
    ]
    for i, payload in enumerate(payloads):
        write("control", f"payload-{i}", bytes([i]) + compact(payload))

    # Steps of the web fuzzer: each is a choice, and then the bytes that it reads.
    for name, steps in {
        "page and the facts about it": "030403",
        "websocket and a proof": "050a0182080a1b82080a1b8208",
        "websocket and a wrong proof": "050a058208",
        "websocket and a changed proof": "050a021e418208",
        "websocket frames that are not masked": "050a01820a",
        "websocket with a huge length": "050a0182007fffffffffffffff",
        "websocket text, ping, close": "050c036162638109050c0361626389090c0203e88809",
        "websocket parts": "050c0361626302090c0361626300090c036162638009",
        "posts": "078801881b881b",
        "posts at another position": "0798017fff8801",
        "smuggled": "010101040105010701090113011604",
        "folded": "01000104010f0113",
        "slow head": "01000e0f01040e0f010e",
        "expect": "010101040105010701120113",
        "pipelined behind a link": "07040403",
    }.items():
        write("web", name, bytes.fromhex(steps))

    broadcasts = json.loads((HERE.parents[1] / "Protocol" / "Vectors" / "broadcast.json").read_text())
    for kind, i, v in both(broadcasts["requests"]):
        write("broadcast", f"{kind}-request-{i}", b"\x02\x00" + v["name"].encode())
    for kind, i, v in both(broadcasts["records"]):
        write("broadcast", f"{kind}-record-{i}", b"\x00\x02" + bytes.fromhex(v["hex"]))
    for i, v in enumerate(broadcasts["streams"]):
        write("broadcast", f"stream-{i}", b"\x00\x06" + bytes.fromhex(v["hex"]))
        write("broadcast", f"stream of a viewer-{i}", b"\x01\x06" + bytes.fromhex(v["hex"]))
    for i, v in enumerate(broadcasts["watching"]):
        data = b"".join(bytes.fromhex(step["hex"]) for step in v["records"])
        write("broadcast", f"watching-{i}", bytes([4 if '"changes":false' in v["request"] else 0, 3]) + data)

    digest = "00" * 32
    for i, name in enumerate([
        {"id": "1-aaaaaaaaaaaac", "type": "imageData", "isDeleted": False, "sha256": digest},
        {"id": "x", "type": "photo"}, {"id": "", "type": "photo"}, {"type": "chat"},
        {"id": "x", "type": "text", "isDeleted": True, "unknown": [[[[]]]]},
    ]):
        write("resource-name", f"name-{i}", compact(name))

    def record(*pairs):
        return b"".join(bytes([len(p)]) + p.encode() for p in pairs)

    whole = ("v=1", f"id={PEER}", f"sid={SESSION}", "name=Board", "host=Ada", "participants=3",
             "role=relay", "inc=aaaaaaaaaaaac")
    write("discovery", "whole", record(*whole))
    write("discovery", "more keys", record(*whole, "x", "y=", "=z", "V=2"))
    write("discovery", "tricks", record(*whole[:3], "name=\x1b[31m\u202e\u0301\u0301\u0301\ue000", "inc=aaaaaaaaaaaac"))

    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 8, 2, 0, 0, 0)
    write("photo", "png", png + bytes(4))
    write("photo", "jpeg", bytes.fromhex("ffd8ffe000104a46494600010100000100010000"
                                          "ffc0001108001000100301220002110103110100"))

    for picture in sorted((HERE.parent / "WhiteboardPicturesTests" / "Pictures").iterdir()):
        write("pictures", picture.name, b"\x20\x20" + picture.read_bytes())

    write("admission", "anyone", bytes([0x20, 0x10]) + bytes([0, 3, 3]))
    write("admission", "code", bytes([0x66, 0x20]) + bytes([0, 3, 0, 3]))
    write("admission", "code, other connection", bytes([0x76, 0x20]) + bytes([0, 3, 0, 3]))
    write("admission", "wrong code", bytes([0x62, 0x20]) + bytes([0, 3, 0, 3]))
    write("admission", "ask", bytes([0x03, 0x10]) + bytes([0, 3, 0, 3, 0, 9, 0, 10, 0, 3]))
    write("sealed", "in order", bytes([0, 0, 0, 6, 0, 6, 1]))
    write("sealed", "epochs", bytes([0, 0, 2, 0, 6, 1, 6, 0, 3, 0x30, 0, 6, 0]))
    write("sealed", "changed", bytes([0, 0, 0x46, 0, 0, 9, 6, 0, 0x85, 3, 1, 2, 3]))
    write("sync", "presence", b"\x01\x01\x01\x00")
    write("sync", "presence with flags", bytes.fromhex("0101010100000300025018"))
    write("sync", "presence with later flags", bytes.fromhex("01010100fe0001010163"))
    write("sync", "application", b"\x00\x10hello")
    write("sync", "asset", b"\x00\x05" + bytes(32))
    for i in range(8):
        moves = bytes(b for j in range(14) for b in ((i * 37 + j * 5) & 0x7F, j))
        write("games", f"wordle {i}", b"\x00" + moves)
        write("games", f"four {i}", b"\x01" + moves)
    board = HERE.parents[1] / "Protocol" / "Vectors" / "board.json"
    if board.exists():
        vectors = json.loads(board.read_text())
        for target in ("batch", "answer"):
            group = vectors["batches" if target == "batch" else "answers"]
            for kind, i, v in both(group):
                if len(v.get("hex", "")) < 4_000:
                    write(target, f"{kind}-{i}", b"\x00" + bytes.fromhex(v.get("hex", "")))
        for i, v in enumerate(vectors["differences"]["valid"]):
            if len(v.get("hex", "")) < 4_000:
                write("answer", f"difference-{i}", b"\x01\x00" + bytes.fromhex(v.get("hex", "")))
        for i, link in enumerate(vectors["links"]["valid"]):
            messages = [bytes.fromhex(m["hex"])[1:] for m in link.get("messages", []) if m.get("hex", "").startswith("01")]
            if all(0 < len(m) < 256 for m in messages):
                write("batch", f"link-{i}", b"\x01" + b"".join(bytes([len(m)]) + m for m in messages))
    if board.exists():
        count = 0
        for text in strings(json.loads(board.read_text())):
            data = unhex(text)
            if data and len(data) <= 2_000 and count < 200:
                for choice in range(4):
                    write("sync", f"board-{count}-{choice}", bytes([choice]) + data)
                count += 1


def documents():
    """Rows of a log; files in which long rows have their own pages; and one file with a write-ahead log."""
    write("document", "row", struct.pack(">BHB", 0, 7, 2) + b"\0\3abc" + b"\5\1d")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "board"
        for journal in ("delete", "wal"):
            path.unlink(missing_ok=True)
            base = sqlite3.connect(path)
            base.execute("PRAGMA page_size = 512")
            base.execute(f"PRAGMA journal_mode = {journal}")
            base.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, time, entries, body, sum)")
            base.execute("CREATE TABLE meta (key PRIMARY KEY, value, crc) WITHOUT ROWID")
            for n, body in enumerate((b"ab", bytes(300), bytes(2_000))):
                base.execute("INSERT INTO log VALUES (?, ?, 1, ?, ?)", (n + 1, n * 2.5, body, -n << 33))
            base.execute("INSERT INTO meta VALUES ('board', 'name', NULL)")
            base.commit()
            log = path.with_name("board-wal")
            beside = log.read_bytes()[:0xFFFF] if log.exists() else b""
            write("document", journal, struct.pack(">BH", 1, len(beside)) + beside + path.read_bytes())
            base.close()


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def unhex(text):
    try:
        return bytes.fromhex(text) if len(text) >= 8 else None
    except ValueError:
        return None


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
