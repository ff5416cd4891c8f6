"""Writes the files of test vectors, or compares them with what a script computes."""

import json
import pathlib
import sys

PROTOCOL = pathlib.Path(__file__).resolve().parents[2] / "Protocol"


def write_or_check(texts):
    """Writes each text to its file. With the argument --check, fails if a file has another text."""
    for target, text in texts.items():
        if sys.argv[1:] != ["--check"]:
            target.write_text(text, "utf-8")
            print(f"{target.name}: {len(text)} characters")
        elif not target.exists() or target.read_text("utf-8") != text:
            sys.exit(f"{target.name} is not what the specification gives; run {sys.argv[0]}")
        else:
            print(f"{target.name}: as computed")


def write_or_check_signed(target, build):
    """Writes or checks the JSON that `build` returns.

    `build` receives the values in the file, or None, and uses their signatures again if they are valid, because ECDSA
    gives another signature each time.
    """
    previous = json.loads(target.read_text()) if target.exists() else None
    write_or_check({target: json.dumps(build(previous), indent=1) + "\n"})
