"""Definitions that the groups share: members, their incarnations, and values as the vectors write them."""

import base64
import hashlib
import struct

import signing
from whiteboard_peer import authors, cells, codec, views
from whiteboard_peer.cells import State
from whiteboard_peer.wire import base32, encode_vint

# Incarnations of the groups without signatures.
ANNA, BEN, CARA = 0x1122334455667788, 0x99AABBCCDDEEFF00, 0xFEDCBA9876543210
SHAPES = ["none", "unsigned", "signed", "pair", "bytes", "text", "dot"]
BOARD, OTHER_BOARD = bytes(range(16)), bytes(range(1, 17))
MEMBER = bytes(range(32))


def varint(*values):
    return b"".join(map(encode_vint, values))


def inc(incarnation):
    return struct.pack(">Q", incarnation)


def text_of(incarnation):
    return base32(inc(incarnation))


def incarnation_of(text):
    return int.from_bytes(base64.b32decode(text.upper() + "==="), "big")


def nonce(name):
    return hashlib.sha256(f"vector nonce {name}".encode()).digest()[:16]


def author(name, role=authors.EDITOR, board=BOARD, granter=None, run=""):
    """Returns an author of these vectors, with the key derived from the name."""
    granter = granter and signing.key_named(granter)
    return authors.Author(
        signing.key_named(name), board, role, nonce(name + run), granter, signing.sign
    )


def invalid(name, data, error, **more):
    return {"name": name, "hex": data.hex(), "error": error, **more}


def set_json(dots):
    return {text_of(i): [list(r) for r in dots.ranges[i]] for i in sorted(dots.ranges)}


def value_json(shape, value):
    result = {"shape": SHAPES[shape]}
    if shape in (cells.UNSIGNED, cells.SIGNED):
        result["number"] = str(value)
    elif shape == cells.PAIR:
        result["pair"] = list(value)
    elif shape == cells.BYTES:
        result["hex"] = value.hex()
    elif shape == cells.STRING:
        result["text"] = value.decode("utf-8")
    elif shape == cells.DOT:
        result["dot"] = views.object_text(value)
    return result


def qualifier_json(number, qualifier):
    if cells.qualifier_class(number) == 1:
        return {"index": str(qualifier)}
    if cells.qualifier_class(number) == 2:
        return {"dot": views.object_text(qualifier)}
    return {}


def batch_json(operations):
    first = operations[0]
    return {
        "author": text_of(first.dot.incarnation),
        "first": first.dot.sequence,
        "time": str(first.time),
        "operations": [
            {
                "object": views.object_text(o.object),
                "property": o.number,
                **qualifier_json(o.number, o.qualifier),
                "value": value_json(o.shape, o.value),
            }
            for o in operations
        ],
    }


def cell_json(number, qualifier, cell):
    return {
        "property": number,
        **qualifier_json(number, qualifier),
        "value": value_json(cell.shape, cell.value),
        "time": str(cell.time),
        "author": views.object_text(cell.dot),
    }


def in_order(held):
    return sorted(held.items(), key=lambda item: (item[0][0], item[0][1] or 0))


def difference_json(context, living, held):
    return {
        "context": set_json(context),
        "living": set_json(living),
        "objects": [
            {
                "object": views.object_text(identifier),
                "cells": [cell_json(*key, cell) for key, cell in in_order(held[identifier])],
            }
            for identifier in sorted(held)
        ],
    }


def state_of(data):
    """Returns the board after these batches in full form."""
    state = State()
    for batch in data:
        state.apply(codec.decode_batch(batch))
    return state


def create(kind):
    return (None, cells.KIND, None, cells.UNSIGNED, kind)


