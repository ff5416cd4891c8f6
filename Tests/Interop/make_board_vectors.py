#!/usr/bin/python3
"""Writes Protocol/Vectors/board.json from the text of Protocol/board.md alone.

This script does not call the Swift code. The implementation of this folder encodes the valid vectors;
the invalid ones are written by hand, each with one error. Keys, nonces and signatures are derived
from names (`signing.py`), so that the file is the same each time.

  make_board_vectors.py           writes the file
  make_board_vectors.py --check   compares it, and fails on a difference
"""

import json

from vector_file import PROTOCOL, write_or_check
from vectors import answers, basics, batches, form_readings, frame_readings, links, owned, readings, retirements, stacking, text_readings

TARGET = PROTOCOL / "Vectors" / "board.json"
NOTE = (
    "Vectors of board.md. 64-bit numbers are decimal strings. Each batch is canonical: encoding "
    "its value gives its hex."
)


def build():
    texts = text_readings.groups()
    more = frame_readings.groups()
    forms = form_readings.groups()["forms"] + texts["forms"] + more["forms"]
    return {
        "note": NOTE,
        **basics.groups(),
        **batches.groups(),
        **answers.groups(),
        **links.groups(),
        **owned.groups(),
        **retirements.groups(),
        **readings.groups(),
        **stacking.groups(),
        "votes": more["votes"],
        "comments": more["comments"],
        "columns": texts["columns"],
        "forms": forms,
    }


def text(groups):
    """The file: indented, with one line for each entry of some groups, which are mostly numbers."""
    listed = [(name, groups.pop(name)) for name in ("comments", "columns", "forms")]
    found = json.dumps(groups, indent=1)[: -len("\n}")]
    for name, entries in listed:
        found += f',\n "{name}": [\n' + ",\n".join("  " + json.dumps(entry) for entry in entries) + "\n ]"
    return found + "\n}\n"


if __name__ == "__main__":
    write_or_check({TARGET: text(build())})
