"""Checks that this implementation reads Protocol/Vectors/recording.whiteboard as recording.md says."""

import json
import pathlib
import random
import sqlite3
import tempfile
import unittest

from whiteboard_peer import admission
from whiteboard_peer.recording import Damaged, Recording, decode_batch, state_of_keyframe
from whiteboard_peer.cells import State
from whiteboard_peer.wire import base32

VECTORS = admission.PROTOCOL / "Vectors"
SAMPLE = VECTORS / "recording.whiteboard"


class Recordings(unittest.TestCase):
    sample = SAMPLE

    def setUp(self):
        self.expected = json.loads((VECTORS / "recording.json").read_text("utf-8"))
        self.recording = Recording(self.sample)

    def test_rec_5_the_steps_and_the_board_after_each(self):
        self.assertEqual(base32(self.recording.board), self.expected["board"])
        self.assertEqual(self.recording.name, self.expected["name"])
        start = self.recording.steps[0][0]
        found = [
            {"ms": time - start, "kind": kind, "bytes": len(data), "digest": state.digest()}
            for (time, kind, data), state in zip(self.recording.steps, self.recording.play())
        ]
        self.assertEqual(found, self.expected["steps"])

    def test_rec_6_each_keyframe_is_the_board_there(self):
        found = [
            {"after": place, "digest": digest, "name": name}
            for place, name, digest, _ in self.recording.keyframes
        ]
        self.assertEqual(found, self.expected["keyframes"])
        for _, _, digest, body in self.recording.keyframes:
            self.assertEqual(state_of_keyframe(body).digest(), digest)

    def test_rec_8_any_order_ends_in_the_same_board(self):
        batches = [data for _, kind, data in self.recording.steps if kind == "batch"]
        whole = list(self.recording.play())[-1]
        for seed in range(20):
            order = batches * 2
            random.Random(seed).shuffle(order)
            state = State()
            for data in order:
                state.apply(decode_batch(data))
            # The keyframes contain the operations that arrived by catch-up.
            state.merge_answer(*whole.answer_to(state.context))
            self.assertEqual(state.digest(), whole.digest(), f"seed {seed}")

    def test_rec_3_a_row_that_was_changed_is_found_out(self):
        changes = [
            "UPDATE log SET time = time + 1 WHERE id = 2",
            "UPDATE log SET body = zeroblob(length(body)) WHERE id = 3",
            "UPDATE log SET sum = sum + 1 WHERE id = 1",
            "DELETE FROM log WHERE id = 2",
            "DELETE FROM log WHERE id = 4",
            "UPDATE keyframe SET digest = zeroblob(32) WHERE id = 1",
            "UPDATE meta SET value = 'other' WHERE key = 'name'",
            "UPDATE author SET sequence = sequence + 1",
        ]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "changed.whiteboard"
            for change in changes:
                path.write_bytes(self.sample.read_bytes())
                database = sqlite3.connect(path)
                changed = database.execute(change).rowcount
                database.commit()
                database.close()
                if not changed:
                    continue  # the packed sample has two rows
                with self.assertRaises(Damaged, msg=change):
                    Recording(path)


class PackedRecordings(Recordings):
    """The same recording with packed bodies (REC-11)."""

    sample = VECTORS / "recording-packed.whiteboard"


class MoreRecordings(unittest.TestCase):
    def test_rec_6_rec_7_rec_11_gaps_answers_purges_and_many_authors(self):
        samples = json.loads((VECTORS / "recording-more.json").read_text("utf-8"))
        self.assertEqual(len(samples), 3)
        for sample, expected in samples.items():
            recording = Recording(VECTORS / f"{sample}.whiteboard")
            start = recording.steps[0][0]
            steps = [
                {"ms": time - start, "kind": kind, "bytes": len(data), "digest": state.digest()}
                for (time, kind, data), state in zip(recording.steps, recording.play())
            ]
            keyframes = [{"after": place, "digest": digest} for place, _, digest, _ in recording.keyframes]
            self.assertEqual((steps, keyframes), (expected["steps"], expected["keyframes"]), sample)
            for keyframe in keyframes:
                self.assertEqual(steps[keyframe["after"] - 1]["digest"], keyframe["digest"], sample)


class RecordingsWithTraffic(Recordings):
    """The same recording with names, an end, and the traffic of the session."""

    sample = VECTORS / "recording-traffic.whiteboard"

    def test_rec_12_rec_13_names_the_end_and_the_traffic(self):
        start = self.recording.steps[0][0]
        self.assertEqual(self.recording.names, self.expected["names"])
        self.assertEqual(self.recording.end - start, self.expected["end"])
        found = [
            {"ms": entry.pop("time") - start} | {key: value for key, value in entry.items() if value not in ("", 0)}
            | {"kind": entry["kind"]}
            for entry in self.recording.traffic
        ]
        expected = [
            {key: value for key, value in entry.items() if value != "" or key == "kind"}
            for entry in self.expected["traffic"]
        ]
        self.assertEqual([dict(sorted(e.items())) for e in found], [dict(sorted(e.items())) for e in expected])

    def test_rec_13_traffic_that_was_changed_is_found_out(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "changed.whiteboard"
            for change in ["UPDATE traffic SET time = time + 1", "UPDATE mark SET time = 1"]:
                path.write_bytes(self.sample.read_bytes())
                database = sqlite3.connect(path)
                self.assertTrue(database.execute(change).rowcount)
                database.commit()
                database.close()
                with self.assertRaises(Damaged, msg=change):
                    Recording(path)


if __name__ == "__main__":
    unittest.main()
