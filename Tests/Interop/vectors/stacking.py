"""Positions in the stack of objects (BRD-34)."""

from whiteboard_peer import stacking

FRONTS = ("8000000089", "80ffffff01", "feffffffff05", "ff00000001", "07", "ffffffffffffffff12345605", "")
BACKS = ("8000000089", "8000000001", "0100000001", "0000000101", "07", "00ffffff07", "0001", "00", "")
PAIRS = (
    ("8000000031", "8000000232"),
    ("8000000031", "8000000132"),
    ("8000000031", "80000000318005"),
    ("07", "0700"),
    ("07", "07"),
    ("08", "07"),
    ("", "0001"),
    ("07ff", "08"),
    ("07ffff", "0801"),
    ("ff", None),
    ("80" * 31, "80" * 30 + "81"),
    ("80" * 32, "80" * 31 + "81"),
)
JITTER = b"\x42"


def place(data):
    return None if data is None else bytes.fromhex(data)


def text(data):
    return None if data is None else data.hex()


def groups():
    return {
        "zIndexes": {
            "jitter": JITTER.hex(),
            "front": [
                {"top": top, "place": stacking.front(place(top), JITTER).hex()} for top in (None, *FRONTS)
            ],
            "back": [
                {"bottom": bottom, "place": text(stacking.back(place(bottom), JITTER))}
                for bottom in (None, *BACKS)
            ],
            "between": [
                {
                    "lower": lower,
                    "upper": upper,
                    "place": text(stacking.between(place(lower), place(upper), JITTER)),
                }
                for lower, upper in PAIRS
            ],
            "spread": [
                {
                    "count": count,
                    "lower": lower,
                    "upper": upper,
                    "places": [p.hex() for p in stacking.spread(count, place(lower), place(upper), JITTER)],
                }
                for count, lower, upper in (
                    (3, None, None),
                    (2, "8000000031", None),
                    (2, None, "8000000031"),
                    (5, "8000000031", "8000000132"),
                )
            ],
            "notFollowed": [("ff" * 9) + "01", "ff" * 64, "80" * 65],
        }
    }
