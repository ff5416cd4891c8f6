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
from vectors import answers, basics, batches, form_readings, links, owned, readings, retirements, stacking

TARGET = PROTOCOL / "Vectors" / "board.json"
NOTE = (
    "Vectors of board.md. 64-bit numbers are decimal strings. Each batch is canonical: encoding "
    "its value gives its hex."
)


def build():
    return {
        "note": NOTE,
        **basics.groups(),
        **batches.groups(),
        **answers.groups(),
        **links.groups(),
        **owned.groups(),
        **retirements.groups(),
        **readings.groups(),
        **form_readings.groups(),
        **stacking.groups(),
    }


def text(groups):
    """The file: indented, with one line for each vector of the group `forms`, because these consist mostly of numbers."""
    forms = groups.pop("forms")
    lines = ",\n".join("  " + json.dumps(vector) for vector in forms)
    return json.dumps(groups, indent=1)[: -len("\n}")] + ',\n "forms": [\n' + lines + "\n ]\n}\n"


if __name__ == "__main__":
    write_or_check({TARGET: text(build())})
