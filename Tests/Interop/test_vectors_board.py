"""Every vector of Protocol/Vectors/board.json, read and computed by this implementation."""

import base64
import hashlib
import json
import struct
import unittest

from test_vectors_session import VectorCase
from whiteboard_peer import admission, cells, codec, views
from whiteboard_peer.board import context_hash, decode_datagram, decode_message
from whiteboard_peer.cells import BoardError, Dot, DotSet, State
from whiteboard_peer.wire import base32

VECTORS = json.loads((admission.PROTOCOL / "Vectors" / "board.json").read_text("utf-8"))
SHAPES = ["none", "unsigned", "signed", "pair", "bytes", "text", "dot"]


def incarnation(text):
    return int.from_bytes(base64.b32decode(text.upper() + "==="), "big")


def dots(value):
    held = DotSet()
    for text, ranges in value.items():
        held.ranges[incarnation(text)] = [list(r) for r in ranges]
    return held


def dot_text(dot):
    return views.object_text(dot)


def value_json(shape, value):
    """A value as the vectors write it."""
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
        result["dot"] = dot_text(value)
    return result


def qualifier_json(number, qualifier):
    if codec.qualifier_class(number) == 1:
        return {"index": str(qualifier)}
    if codec.qualifier_class(number) == 2:
        return {"dot": dot_text(qualifier)}
    return {}


def batch_json(operations):
    first = operations[0]
    return {
        "author": base32(struct.pack(">Q", first.dot.incarnation)),
        "first": first.dot.sequence,
        "time": str(first.time),
        "operations": [
            {
                "object": dot_text(o.object),
                "property": o.number,
                **qualifier_json(o.number, o.qualifier),
                "value": value_json(o.shape, o.value),
            }
            for o in operations
        ],
    }


def answer_json(context, living, held):
    def set_json(value):
        return {base32(struct.pack(">Q", i)): value.ranges[i] for i in value.ranges}

    return {
        "context": set_json(context),
        "living": set_json(living),
        "objects": [
            {
                "object": dot_text(identifier),
                "cells": [
                    {
                        "property": number,
                        **qualifier_json(number, qualifier),
                        "author": dot_text(cell.dot),
                        "time": str(cell.time),
                        "value": value_json(cell.shape, cell.value),
                    }
                    for (number, qualifier), cell in sorted(
                        held[identifier].items(), key=lambda item: codec._cell_order(item[0])
                    )
                ],
            }
            for identifier in sorted(held)
        ],
    }


def operations_again(operations):
    """Decoded operations as `encode_batch` takes them."""
    return [(o.object, o.number, o.qualifier, o.shape, o.value) for o in operations]


class Board(VectorCase):
    def refuse(self, vector, decode):
        data = bytes.fromhex(vector["hex"])
        with self.assertRaises(BoardError) as raised:
            decode(data)
        self.assertEqual(raised.exception.word, vector["error"])

    def test_incarnations_and_object_ids(self):
        for vector in self.each(VECTORS["incarnations"]):
            number = int(vector["number"])
            self.assertEqual(base32(struct.pack(">Q", number)), vector["text"])
        for vector in self.each(VECTORS["objectIds"]["valid"]):
            dot = Dot(int(vector["incarnation"]), int(vector["sequence"]))
            self.assertEqual(views.object_text(dot), vector["text"])
            self.assertEqual(views.parse_object(vector["text"]), dot)
        self.vector = None
        for text in VECTORS["objectIds"]["invalid"]:
            with self.assertRaises(Exception, msg=text):
                views.parse_object(text)

    def test_batches(self):
        for vector in self.each(VECTORS["batches"]["valid"]):
            data = bytes.fromhex(vector["hex"])
            operations = codec.decode_batch(data)
            self.assertEqual(batch_json(operations), vector["value"])
            first = operations[0]
            again = codec.encode_batch(
                first.dot.incarnation, first.dot.sequence, first.time, operations_again(operations)
            )
            self.assertEqual(again.hex(), vector["hex"])
        for vector in self.each(VECTORS["batches"]["invalid"]):
            self.refuse(vector, codec.decode_batch)

    def read_set(self, data):
        reader = codec.Reader(data)
        held = codec.read_set(reader)
        reader.end()
        return held

    def test_sets(self):
        for vector in self.each(VECTORS["sets"]["valid"]):
            held = self.read_set(bytes.fromhex(vector["hex"]))
            self.assertEqual(held, dots(vector["value"]))
            self.assertEqual(codec.encode_set(held).hex(), vector["hex"])
            self.assertEqual(context_hash(held).hex(), vector["hash"])
        for vector in self.each(VECTORS["sets"]["invalid"]):
            self.refuse(vector, self.read_set)

    def state(self, names):
        state = State()
        by_name = {v["name"]: v["hex"] for v in VECTORS["batches"]["valid"]}
        for name in names:
            state.apply(codec.decode_batch(bytes.fromhex(by_name[name])))
        return state

    def test_answers(self):
        whole = self.state(VECTORS["digest"]["batches"])
        for vector in self.each(VECTORS["answers"]["valid"]):
            data = bytes.fromhex(vector["hex"])
            answer = codec.decode_answer(data)
            self.assertEqual(codec.encode_answer(*answer).hex(), vector["hex"])
            if "value" in vector:
                ours = answer_json(*answer)
                self.assertEqual(ours["context"], vector["value"]["context"])
                self.assertEqual(ours["living"], vector["value"]["living"])
                self.assertEqual(
                    [o["object"] for o in ours["objects"]],
                    [o["object"] for o in vector["value"]["objects"]],
                )
            # It is what a replica that applied every batch answers to `since`.
            since = self.read_set(bytes.fromhex(vector["since"]))
            answered = codec.encode_answer(*whole.answer_to(since))
            self.assertEqual(answered.hex(), vector["hex"])
            fresh = State()
            if vector["since"] == "00":
                fresh.merge_answer(*answer)
                self.assertEqual(fresh.digest(), whole.digest())
                self.assertEqual(fresh.objects, whole.objects)
        for vector in self.each(VECTORS["answers"]["invalid"]):
            self.refuse(vector, codec.decode_answer)

    def test_orphans(self):
        vector = VECTORS["answers"]["orphans"]
        state = self.state([vector["batch"]])
        answer = codec.encode_answer(*state.answer_to(DotSet()))
        self.assertEqual(answer.hex(), vector["hex"])
        self.assertEqual(state.digest(), vector["digest"])

    def test_ink(self):
        for vector in self.each(VECTORS["ink"]["valid"]):
            points = [tuple(point) for point in vector["points"]]
            self.assertEqual(codec.decode_ink(bytes.fromhex(vector["hex"]), 128), points)
            self.assertEqual(codec.encode_ink(points).hex(), vector["hex"])
        for vector in self.each(VECTORS["ink"]["invalid"]):
            self.refuse(vector, lambda data: codec.decode_ink(data, 128))

    def test_digest(self):
        vectors = VECTORS["digest"]
        self.assertEqual(State().digest(), vectors["empty"])
        state = State()
        by_name = {v["name"]: v["hex"] for v in VECTORS["batches"]["valid"]}
        for vector in self.each(vectors["steps"]):
            state.apply(codec.decode_batch(bytes.fromhex(by_name[vector["apply"]])))
            self.assertEqual(state.digest(), vector["digest"])
            self.assertEqual(context_hash(state.context).hex(), vector["contextHash"])
        self.vector = None
        whole = self.state(vectors["batches"])
        self.assertEqual(whole.digest(), vectors["digest"])
        given = hashlib.sha256(bytes.fromhex(vectors["input"])).hexdigest()
        self.assertEqual(given, vectors["digest"])
        # Any order gives the same.
        backwards = self.state(reversed(vectors["batches"]))
        self.assertEqual(backwards.digest(), vectors["digest"])
        texts = [
            views.text_of(whole, i)
            for i in views.drawn_objects(whole)
            if whole.read(i, cells.KIND) == cells.TEXT
        ]
        self.assertIn(vectors["text"], texts)

    def test_messages(self):
        self.check_kinds(VECTORS["messages"], decode_message)
        for vector in self.each(VECTORS["messages"]["skipped"]):
            self.assertIsNone(decode_message(bytes.fromhex(vector["hex"])))

    def test_datagrams(self):
        self.check_kinds(VECTORS["datagrams"], decode_datagram)

    def check_kinds(self, vectors, decode):
        for vector in self.each(vectors["valid"]):
            data = bytes.fromhex(vector["hex"])
            self.assertEqual(decode(data)[0], data[0])
        for vector in self.each(vectors["invalid"]):
            self.refuse(vector, decode)


if __name__ == "__main__":
    unittest.main()
