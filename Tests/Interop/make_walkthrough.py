#!/usr/bin/python3
"""Writes Protocol/Walkthrough.md and Protocol/Vectors/walkthrough.json.

This script does not call the Swift code. Keys, nonces and signatures are derived from names, and the values of TLS
are fixed, so that both files are the same each time.

  make_walkthrough.py           writes the files
  make_walkthrough.py --check   compares them, and fails on a difference
"""

import json
import re
import textwrap

from vector_file import PROTOCOL, write_or_check
from vectors import recipes, walkthrough
from whiteboard_peer import cells, wire

DOCUMENT, VECTORS = PROTOCOL / "Walkthrough.md", PROTOCOL / "Vectors" / "walkthrough.json"
WIDTH = 29

INTRODUCTION = """\
# Walkthrough: one session, byte by byte

Start here if you write a peer. Ben joins Anna's board with a code, receives the board's content, writes a text and
leaves. This document shows every frame with all its bytes. The keys, nonces and signatures are fixed, so your program
must either produce the same bytes or accept these bytes.

`Vectors/walkthrough.json` contains the same frames without the explanations. A script in the reference implementation's
repository (`Tests/Interop/make_walkthrough.py`) writes both files, and its tests read them with two independent
implementations. `web.md`, section 10, shows how a browser joins.

## 1. How to use it

1. Decode the frames in order. Check that your program reads the values that are shown here.
2. Encode the values. The binary frames must be the same. JSON objects may have their keys in any order and may have
   white space: compare their values.
3. Verify each signature. Your own signatures differ, because ECDSA uses a random number. The signatures here follow
   RFC 6979.
4. Act as Ben against a program that acts as Anna, then as Anna against a program that acts as Ben.

Each line of a table has the format `bytes | field | value`; values are decimal. Long byte strings are shortened with
`…`. In this case the complete frame follows in hex. The JSON of a control frame is one line on the wire; this document
splits the line between keys.

## 2. The two peers

"""

TLS = """\
Each private key is a 32-byte number. A `PeerID` is the SHA-256 of the key info (LNK-2). The certificates are
examples: only the keys in them matter.

## 3. The values from TLS

Ben opens a TCP connection to Anna's port and performs a TLS 1.3 handshake: both peers present their certificates, and
ALPN is `whiteboard-p2p`. This document does not show the bytes of TLS, and assumes that the exporters have these values
(`session.md` 1.1):

"""


def cut(data):
    """Hexadecimal text of a field, shortened for a line of a table."""
    return data.hex() if len(data) <= WIDTH // 2 else data[:12].hex() + "…"


def fields(parts):
    lines = []
    for data, name, value in parts:
        text = f"{cut(data) or '(none)':<{WIDTH}}| {name}"
        lines.append(f"{text} | {value}" if value else text)
    return lines


def hexes(data):
    return textwrap.wrap(data.hex(), 96)


def json_lines(text):
    """JSON in lines of about 110 characters, broken before keys."""
    lines = [""]
    for piece in re.split(r'(?<=,)(?=")', text):
        if lines[-1] and len(lines[-1]) + len(piece) > 110:
            lines.append("")
        lines[-1] += piece
    return lines


def step_text(number, step, people):
    other = {"anna": "ben", "ben": "anna"}[step["from"]]
    sender, receiver = (walkthrough.NAMES[name] for name in (step["from"], other))
    link = "" if step["link"] == "control" else ", bulk link"
    title = step["title"] if step["frame"] != "MESSAGE" else f"MESSAGE: {step['title']}"
    lines = [f"### 4.{number} {sender} to {receiver}{link}: {title}", ""]
    if step["why"]:
        lines += [*textwrap.wrap(step["why"], 110), ""]
    data = bytes.fromhex(step["hex"])
    length, start = wire.decode_vint(data, 1)
    head = [
        (data[:1], "type", step["frame"]),
        (data[1:start], "length", str(length)),
    ]
    lines.append("```")
    if step["value"] is not None:
        lines += fields(head)
        lines += json_lines(data[start:].decode())
    else:
        lines += fields(head + step["parts"])
    lines.append("```")
    if step["value"] is None and any(len(part) > WIDTH // 2 for part, _, _ in step["parts"]):
        lines += ["", "All bytes of the frame:", "", "```", *hexes(data), "```"]
    return [*lines, ""]


def document(told):
    lines = INTRODUCTION.split("\n")[:-1]
    for person in told["people"]:
        name = walkthrough.NAMES[person["name"]]
        role = "the host and listener" if person["name"] == "anna" else "the joining peer and dialler"
        lines += [
            f"**{name}**, {role}, at {walkthrough.ADDRESSES[person['name']]}:{walkthrough.PORT}",
            "",
            "```",
            f"private key          {person['privateKey']}",
            f"key info (DER)       {person['keyInfo'][:64]}",
            *(f"                     {line}" for line in textwrap.wrap(person["keyInfo"][64:], 64)),
            f"PeerID               {person['peerID']}",
            f"PeerID, text         {person['peerIDText']}",
            f"session incarnation  {person['sessionIncarnation']}",
            f"board nonce          {person['boardNonce']}",
            f"board incarnation    {person['boardIncarnation']}",
            f"certificate (DER)    {person['certificate'][:64]}",
            *(f"                     {line}" for line in textwrap.wrap(person["certificate"][64:], 64)),
            "```",
            "",
        ]
    lines += TLS.split("\n")[:-1]
    lines += [
        "| label | connection | 32 bytes |",
        "|---|---|---|",
        f"| `EXPORTER-whiteboard-p2p binding` | control link | `{told['exporters']['binding']}` |",
        f"| `EXPORTER-whiteboard-p2p attach` | control link | `{told['exporters']['attachControl']}` |",
        f"| `EXPORTER-whiteboard-p2p attach` | bulk link | `{told['exporters']['attachBulk']}` |",
        "",
        "| name | value |",
        "|---|---|",
        f"| session id, which is the board id | `{told['session']}` |",
        f"| session id as text | `{told['sessionText']}` |",
        f"| code | `{told['code']}` |",
        f"| stretched code, K of `session.md` 4.2 | `{told['stretchedCode']}` |",
        "",
        "Before Ben joined, Anna wrote the text \"hello\": her operations 1 to 4. Her batch in full form (SYN-20) is:",
        "",
        "```",
        *hexes(bytes.fromhex(told["batches"][0]["hex"])),
        "```",
        "",
        "Her chain hash after this batch (AUT-6) is",
        f"`{told['batches'][0]['chain']}`.",
        "",
        "## 4. The frames",
        "",
        "The frames of the two directions may also alternate in other ways. Acknowledgements and reports may arrive at other",
        "points, and there may be more acknowledgements and reports.",
        "",
    ]
    for number, step in enumerate(told["steps"], 1):
        lines += step_text(number, step, told["people"])
    last = told["batches"][1]
    lines += [
        "## 5. The state of both boards at the end",
        "",
        "| name | value |",
        "|---|---|",
        f"| digest (SYN-40) | `{last['digest']}` |",
        f"| context hash (SYN-14) | `{told['contextHash']}` |",
        f"| Ben's chain hash | `{last['chain']}` |",
        "",
        "Ben's batch in its full form, which he hashed into his chain:",
        "",
        "```",
        *hexes(bytes.fromhex(last["hex"])),
        "```",
        "",
        "## 6. Recipes",
        "",
        "In each recipe, Ben sends his first batch at 1,700,000,000,000 ms since 1970. Before this batch, he has sent only his",
        "author message on the channel. Send the message to each member (SYN-10), and hash the full form into your chain",
        "(AUT-6). Each recipe shows the digest of a board that contains only this object. `board.md` lists the properties and",
        "their units.",
        "",
    ]
    for number, recipe in enumerate(told["recipes"], 1):
        lines += recipe_text(number, recipe)
    return "\n".join(lines).rstrip("\n") + "\n"


def value_text(value):
    shape = value["shape"]
    shown = value.get("number") or value.get("hex") or value.get("text") or value.get("dot")
    if shape == "pair":
        shown = "({}, {})".format(*value["pair"])
    return f"{shape} `{shown}`" if shape in ("bytes", "text") else f"{shape} {shown}"


NOTES = {
    "text": "The value of the run consists of the run's anchor, which is 0 for the root, and the text in UTF-8. Each later "
    "insertion is a separate run (BRD-14).",
    "stroke": "A longer stroke has a piece of `ink` for each 128 points; the qualifier is the index of the piece's first "
    "point. A stroke that is still being drawn gets its `end` later (SYN-31).",
    "photo": "Send the file to each member that requests it (SYN-36). Its bytes are below.",
    "chat line": "The time of its create operation is later than that of every chat line on the board (BRD-31).",
}


def recipe_text(number, recipe):
    value = recipe["value"]
    lines = [
        f"### 6.{number} A {recipe['name']}",
        "",
        *textwrap.wrap(f"{recipe['makes']} {NOTES[recipe['name']]}", 110),
        "",
        "| operation | property | qualifier | value |",
        "|---|---|---|---|",
    ]
    for at, operation in enumerate(value["operations"], 1):
        qualifier = operation.get("index") or ("its own dot" if "dot" in operation else "")
        number_of = operation["property"]
        shown = value_text(operation["value"])
        if number_of == cells.COLOUR:
            shown += f", 0x{int(operation['value']['number']):08x}"
        lines.append(f"| {at} | {number_of} {walkthrough.PROPERTIES[number_of]} | {qualifier} | {shown} |")
    lines += ["", "The message:", "", "```", *fields(recipe["parts"]), "```", ""]
    lines += ["The message, the full form and the digest, in hex:", "", "```"]
    for text in (recipe["message"], recipe["hex"], recipe["digest"]):
        lines += [*hexes(bytes.fromhex(text)), ""]
    lines[-1] = "```"
    if "file" in recipe:
        lines += ["", "The file:", "", "```", *hexes(bytes.fromhex(recipe["file"])), "```"]
    return [*lines, ""]


def build():
    """Returns the text of the document and of the vectors."""
    told = walkthrough.walkthrough()
    told["recipes"] = recipes.recipes()
    text = document(told)
    for step in told["steps"]:
        del step["parts"], step["why"]
        if step["value"] is None:
            del step["value"]
    for recipe in told["recipes"]:
        del recipe["parts"]
    return {DOCUMENT: text, VECTORS: json.dumps(told, indent=1) + "\n"}


if __name__ == "__main__":
    write_or_check(build())
