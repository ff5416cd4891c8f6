"""Checks every vector of Protocol/Vectors/board.json with this implementation."""

import hashlib
import json
import struct
import unittest

import signing
from cryptography.hazmat.primitives.asymmetric import ec
from test_vectors_session import VectorCase
from vectors.form_readings import described
from vectors.forms import batch_json, difference_json, incarnation_of, text_of
from whiteboard_peer import admission, authors, cells, codec, messages, owned, retirement, stacking, views
from whiteboard_peer.authors import LinkReader
from whiteboard_peer.cells import BoardError, Dot, DotSet, State
from whiteboard_peer.clock import Clock, runs
from whiteboard_peer.messages import (
    AUTHOR,
    BATCH,
    RECORD,
    context_hash,
    decode_datagram,
    decode_message,
)
from whiteboard_peer.wire import base32

VECTORS = json.loads((admission.PROTOCOL / "Vectors" / "board.json").read_text("utf-8"))


def dots(value):
    held = DotSet()
    for text, ranges in value.items():
        held.ranges[incarnation_of(text)] = [list(r) for r in ranges]
    return held


def operations_again(operations):
    """Converts decoded operations to the arguments of `encode_batch`."""
    return [(o.object, o.number, o.qualifier, o.shape, o.value) for o in operations]


def take(reader, data):
    """Passes a message of one link to its reader."""
    if data[0] == BATCH:
        return reader.take_batch(data[1:])
    if data[0] == AUTHOR:
        return reader.take_author(data[1:])
    if data[0] == RECORD:
        return authors.decode_record(data[1:], reader.board)
    return reader.take_head(data[1:])


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

    def test_brd_35_values_out_of_range(self):
        for vector in self.each(VECTORS["outOfRange"]):
            operations = codec.decode_batch(bytes.fromhex(vector["hex"]))
            state = State()
            state.apply(operations)
            shown = views.describe(state, operations[0].object)
            self.assertEqual({key: shown.get(key) for key in vector["reads"]}, vector["reads"])

    def test_brd_48_forms(self):
        for vector in self.each(VECTORS["forms"]):
            for order in (vector["batches"], vector["batches"][::-1]):
                state = self.board({"batches": order})
                found = {views.object_text(i): described(state, i) for i in views.drawn_objects(state)}
                self.assertEqual(found, vector["objects"])

    def test_z_indexes(self):
        vectors = VECTORS["zIndexes"]
        jitter = bytes.fromhex(vectors["jitter"])

        def place(text):
            return None if text is None else bytes.fromhex(text)

        for vector in self.each(vectors["front"]):
            self.assertEqual(stacking.front(place(vector["top"]), jitter), place(vector["place"]))
        for vector in self.each(vectors["back"]):
            self.assertEqual(stacking.back(place(vector["bottom"]), jitter), place(vector["place"]))
        for vector in self.each(vectors["between"]):
            sides = place(vector["lower"]), place(vector["upper"])
            found = stacking.between(*sides, jitter)
            self.assertEqual(found, place(vector["place"]))
            self.assertTrue(found is None or sides[0] < found < (sides[1] or b"\xff" * 99))
        for vector in self.each(vectors["spread"]):
            sides = place(vector["lower"]), place(vector["upper"])
            found = stacking.spread(vector["count"], *sides, jitter)
            self.assertEqual([p.hex() for p in found], vector["places"])
        self.vector = None
        for text in vectors["notFollowed"]:
            self.assertFalse(stacking.is_followed(bytes.fromhex(text)))

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

    def test_large_sets(self):
        for vector in self.each(VECTORS["sets"]["large"]):
            held = self.read_set(bytes.fromhex(vector["hex"]))
            (ranges,) = held.ranges.values()
            self.assertEqual((len(ranges), ranges[-1]), (vector["ranges"], vector["last"]))
            self.assertEqual(codec.encode_set(held).hex(), vector["hex"])
            self.assertEqual(context_hash(held).hex(), vector["hash"])

    def test_differences(self):
        whole = self.state(VECTORS["digest"]["batches"])
        for vector in self.each(VECTORS["differences"]["valid"]):
            difference = codec.decode_difference(bytes.fromhex(vector["hex"]))
            self.assertEqual(codec.encode_difference(*difference).hex(), vector["hex"])
            self.assertEqual(difference_json(*difference), vector["value"])
            # The difference is the answer of a replica with all batches to `since`.
            since = self.read_set(bytes.fromhex(vector["since"]))
            answered = codec.encode_difference(*whole.answer_to(since, vector["buckets"]))
            self.assertEqual(answered.hex(), vector["hex"])
            if vector["since"] == "00":
                fresh = State()
                fresh.merge_answer(*difference)
                self.assertEqual(fresh.digest(), whole.digest())
                self.assertEqual(fresh.objects, whole.objects)
        for vector in self.each(VECTORS["differences"]["invalid"]):
            self.refuse(vector, codec.decode_difference)

    def test_orphans(self):
        vector = VECTORS["differences"]["orphans"]
        state = self.state([vector["batch"]])
        difference = codec.encode_difference(*state.answer_to(DotSet()))
        self.assertEqual(difference.hex(), vector["hex"])
        self.assertEqual(state.digest(), vector["digest"])

    def test_answers(self):
        board = bytes.fromhex(VECTORS["answers"]["board"])
        for vector in self.each(VECTORS["answers"]["valid"]):
            member = bytes.fromhex(vector["member"])
            data = bytes.fromhex(vector["hex"])
            records, difference = authors.decode_answer(data, board, member, {})
            self.assertEqual([text_of(r.incarnation) for r in records], vector["records"])
            self.assertEqual(codec.encode_difference(*difference).hex(), vector["difference"])
            for cut in range(len(data)):
                with self.assertRaises(BoardError):
                    authors.decode_answer(data[:cut], board, member, {})
            for at in range(0, len(data), 7):
                flipped = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
                with self.assertRaises(BoardError):
                    authors.decode_answer(flipped, board, member, {})
        for vector in self.each(VECTORS["answers"]["invalid"]):
            member = bytes.fromhex(vector["member"])
            self.refuse(vector, lambda data: authors.decode_answer(data, board, member, {}))

    def test_brd_37_answers_of_unrecorded_authors(self):
        board = bytes.fromhex(VECTORS["answers"]["board"])
        for vector in self.each(VECTORS["answers"]["unrecorded"]):
            records, difference = authors.decode_answer(
                bytes.fromhex(vector["hex"]), board, bytes.fromhex(vector["member"]), {}
            )
            known = {record.incarnation: record for record in records}
            self.assertTrue(authors.unrecorded(difference, known))

    def test_rfc_6979(self):
        """Appendix A.2.5 of RFC 6979 confirms the deterministic signatures."""
        key = ec.derive_private_key(
            0xC9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721, ec.SECP256R1()
        )
        self.assertEqual(
            signing.sign(key, b"sample").hex(),
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
        )

    def test_records(self):
        vectors = VECTORS["records"]
        board = bytes.fromhex(vectors["board"])
        for vector in self.each(vectors["valid"]):
            record = authors.decode_record(bytes.fromhex(vector["hex"]), board)
            self.assertEqual(text_of(record.incarnation), vector["incarnation"])
            self.assertEqual(record.member.hex(), vector["member"])
            self.assertEqual(record.role, vector["role"])
            self.assertEqual(record.granter and record.granter.hex(), vector.get("granter"))
        for vector in self.each(vectors["invalid"]):
            self.refuse(vector, lambda data: authors.decode_record(data, board))

    def test_owned(self):
        group = VECTORS["owned"]
        salt, owner, board = (bytes.fromhex(group[name]) for name in ("salt", "owner", "board"))
        self.assertEqual(owned.board_of(salt, owner), board)
        for vector in self.each(group["records"]["valid"]):
            record = authors.decode_record(bytes.fromhex(vector["hex"]), board)
            self.assertEqual(text_of(record.incarnation), vector["incarnation"])
            self.assertEqual(record.member.hex(), vector["member"])
            self.assertEqual(record.role, vector["role"])
        for vector in self.each(group["records"]["invalid"]):
            self.refuse(vector, lambda data: authors.decode_record(data, board))
        holder = next(
            bytes.fromhex(k["public"])
            for k in VECTORS["keys"]
            if k["member"] == group["grants"]["holder"]
        )
        for vector in self.each(group["grants"]["valid"]):
            grant = authors.decode_grant(bytes.fromhex(vector["hex"]), board, holder)
            rights = grant.certificates[-1].rights if grant.certificates else 0
            self.assertEqual(rights, vector["rights"])
        for vector in self.each(group["grants"]["invalid"]):
            self.refuse(vector, lambda data: authors.decode_grant(data, board, holder))

    def test_revocations(self):
        group = VECTORS["owned"]
        board, vectors = bytes.fromhex(group["board"]), group["revocations"]
        known = {}
        for vector in self.each(vectors["valid"]):
            one = authors.decode_revocation(bytes.fromhex(vector["hex"]), board)
            known[vector["name"]] = one
            self.assertEqual((one.member.hex(), str(one.serial)), (vector["member"], vector["serial"]))
            counted = [[text_of(i), str(s)] for i, s in sorted(one.counted.items())]
            self.assertEqual(counted, vector["counted"])
        for vector in self.each(vectors["invalid"]):
            self.refuse(vector, lambda data: authors.decode_revocation(data, board))
        record = authors.decode_record(bytes.fromhex(vectors["limits"]["record"]), board)
        for case in vectors["limits"]["sets"]:
            some = [known[name] for name in case["revocations"]]
            limit = owned.limit_of(
                record.incarnation, record.grant.certificates, some, authors.member_of
            )
            self.assertEqual(None if limit is None else str(limit), case["limit"])

    def test_aut_17_retirements(self):
        group = VECTORS["retirements"]
        for vector in self.each(group["valid"]):
            data, board = bytes.fromhex(vector["hex"]), bytes.fromhex(vector["board"])
            one = authors.decode_retirement(data, board)
            self.assertEqual([text_of(i) for i in one.incarnations], vector["incarnations"])
            self.assertEqual((one.host.hex(), one.salt.hex()), (vector["host"], vector["salt"]))
            self.assertEqual((retirement.DOMAIN + one.body).hex(), vector["signed"])
            self.assertEqual(one.data, data)
        for vector in self.each(group["large"]):
            board, first = bytes.fromhex(vector["board"]), incarnation_of(vector["first"])
            named = range(first, first + vector["count"])
            inside = b"".join(struct.pack(">Q", one) for one in named)
            data = bytes.fromhex(vector["before"]) + inside + bytes.fromhex(vector["after"])
            self.assertEqual(authors.decode_retirement(data, board).incarnations, tuple(named))
        for vector in self.each(group["invalid"]):
            board = bytes.fromhex(vector["board"])
            self.refuse(vector, lambda data: authors.decode_retirement(data, board))

    def test_aut_17_boards_with_a_retirement(self):
        group = VECTORS["retirements"]
        board = bytes.fromhex(group["board"])
        for vector in self.each(group["effects"]):
            state = State()
            for step in vector["steps"]:
                if "batch" in step:
                    state.apply(codec.decode_batch(bytes.fromhex(step["batch"])))
                elif "retirement" in step:
                    one = authors.decode_retirement(bytes.fromhex(step["retirement"]), board)
                    state.retire(one.incarnations)
                else:
                    difference = codec.decode_difference(bytes.fromhex(step["difference"]))
                    state.merge_answer(*difference, is_repair=step["buckets"] != 0)
                self.assertEqual(state.context, dots(step["context"]), step["name"])
                self.assertEqual(context_hash(state.context).hex(), step["contextHash"])
                self.assertEqual(state.digest(), step["digest"], step["name"])
                self.assertEqual([str(v) for v in messages.bucket_sums(state)], step["sums"])
        self.vector = group["unrecorded"]
        records, difference = authors.decode_answer(
            bytes.fromhex(self.vector["hex"]), board, bytes.fromhex(self.vector["member"]), {}
        )
        known = {record.incarnation for record in records}
        self.assertTrue(authors.unrecorded(difference, known))
        state = State()
        one = authors.decode_retirement(bytes.fromhex(self.vector["retirement"]), board)
        state.retire(one.incarnations)
        self.assertFalse(authors.unrecorded(difference, known | state.retired))
        state.merge_answer(*difference)
        self.assertEqual(state.context, dots(self.vector["context"]))

    def test_chain(self):
        vectors = VECTORS["chain"]
        chain = authors.chain_start(incarnation_of(vectors["incarnation"]))
        self.assertEqual(chain.hex(), vectors["start"])
        by_name = {v["name"]: v["hex"] for v in VECTORS["batches"]["valid"]}
        for vector in self.each(vectors["steps"]):
            chain = authors.chain_after(chain, bytes.fromhex(by_name[vector["batch"]]))
            self.assertEqual(chain.hex(), vector["hash"])

    def reader(self, group, vector, before=()):
        board, member = (bytes.fromhex(v) for v in (group["board"], vector["member"]))
        reader = LinkReader(board, member)
        for message in before:
            take(reader, bytes.fromhex(message))
        return reader

    def test_links(self):
        group = VECTORS["links"]
        for vector in self.each(group["valid"]):
            reader = self.reader(group, vector)
            for message in vector["messages"]:
                taken = take(reader, bytes.fromhex(message["hex"]))
                if "full" in message:
                    operations, full = taken
                    self.assertEqual(full.hex(), message["full"])
                    self.assertEqual(operations, codec.decode_batch(full))
                    self.assertEqual(reader.chain.hex(), message["chain"])
                elif "author" in message or "record" in message:
                    self.assertEqual(text_of(taken.incarnation), message.get("author", message.get("record")))
                else:
                    self.assertEqual(taken, message["head"])
        for vector in self.each(group["invalid"]):
            reader = self.reader(group, vector, vector["before"])
            self.refuse(vector, lambda data: take(reader, data))

    def test_heads(self):
        group = VECTORS["heads"]
        for vector in self.each(group["valid"]):
            reader = self.reader(group, group, group["before"])
            self.assertEqual(take(reader, bytes.fromhex(vector["hex"])), vector["sequence"])
        for vector in self.each(group["invalid"]):
            reader = self.reader(group, group, group["before"])
            self.refuse(vector, lambda data: take(reader, data))

    def test_buckets(self):
        vectors = VECTORS["buckets"]
        for vector in self.each(vectors["mix"]):
            self.assertEqual(cells.mix(int(vector["in"])), int(vector["out"]))
        for vector in self.each(vectors["boards"]):
            sums = messages.bucket_sums(self.state(vector["batches"]))
            self.assertEqual([str(value) for value in sums], vector["sums"])
        start = cells.sums_start(bytes.fromhex(vectors["context"]))
        self.assertEqual(str(start), vectors["start"])
        sums = [0] * 16
        for vector in self.each(vectors["cells"]):
            sums[vector["bucket"]] += int(vector["hash"])
        whole = [v for v in vectors["boards"] if v["batches"] == VECTORS["digest"]["batches"]]
        self.assertEqual([str(value % 2**64) for value in sums], whole[0]["sums"])

    def test_ties(self):
        for vector in self.each(VECTORS["ties"]):
            given = codec.decode_batch(bytes.fromhex(vector["first"]))
            boards = []
            for data in vector["batches"]:
                boards.append(State())
                boards[-1].apply(given)
                boards[-1].apply(codec.decode_batch(bytes.fromhex(data)))
            self.assertNotEqual(*map(messages.bucket_sums, boards))
            for mine, theirs in (boards, boards[::-1]):
                mine.merge_answer(*theirs.answer_to(mine.context, 0xFFFF), is_repair=True)
            self.assertEqual([b.digest() for b in boards], [vector["digest"]] * 2)

    def test_erasures(self):
        for vector in self.each(VECTORS["erasures"]["valid"]):
            spans = [tuple(span) for span in vector["spans"]]
            self.assertEqual(codec.decode_erasure(bytes.fromhex(vector["hex"])), spans)
            self.assertEqual(codec.encode_erasure(spans).hex(), vector["hex"])
        for vector in self.each(VECTORS["erasures"]["invalid"]):
            self.refuse(vector, codec.decode_erasure)

    def board(self, vector):
        state = State()
        for data in vector["batches"]:
            state.apply(codec.decode_batch(bytes.fromhex(data)))
        return state

    def test_groups(self):
        for vector in self.each(VECTORS["groups"]):
            state = self.board(vector)
            for identifier, groups in vector["groups"].items():
                found = views.groups_of(state, views.parse_object(identifier))
                self.assertEqual([views.object_text(group) for group in found], groups)

    def test_settings(self):
        names = {
            "title": cells.TITLE,
            "background": cells.BACKGROUND,
            "grid": cells.GRID,
            "language": cells.LANGUAGE,
        }
        for vector in self.each(VECTORS["settings"]):
            found = views.settings_of(self.board(vector))
            for name, number in names.items():
                value = found.get(number)
                value = value.decode() if isinstance(value, bytes) else value
                told = vector["settings"].get(name)
                self.assertEqual(None if value is None else str(value), told)

    def test_brd_31_chat(self):
        for vector in self.each(VECTORS["chat"]):
            state = self.board(vector)
            lines = [text for _, text in views.chat_lines(state, {})]
            self.assertEqual(lines, vector["lines"])
            after = views.latest_line(state)
            self.assertEqual(None if after is None else str(after), vector["after"])
            clock = Clock(lambda: int(vector["wall"]))
            at = clock.times([after])[0]
            self.assertGreater(at, after or 0)
            # The time of the edit moves no other time ahead.
            self.assertLessEqual(clock.times([None])[0], (int(vector["wall"]) + 60_000) << 16)

    def test_brd_32_far_times(self):
        wall, far = 1000, 9_000_000 << 16
        clock = Clock(lambda: wall)
        clock.observe(far)
        times = clock.times([None, 2000 << 16, far, None])
        base = (2000 << 16) + 1
        self.assertEqual(times, [base, base + 1, far + 1, base + 3])
        self.assertEqual(runs(times), [[0, 2], [2, 1], [3, 1]])
        clock.observe(wall + 60_000 << 16)
        self.assertEqual(clock.times([None]), [(wall + 60_000 << 16) + 1])

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
            self.assertEqual([str(value) for value in messages.bucket_sums(state)], vector["sums"])
        self.vector = None
        whole = self.state(vectors["batches"])
        self.assertEqual(whole.digest(), vectors["digest"])
        given = hashlib.sha256(bytes.fromhex(vectors["input"])).hexdigest()
        self.assertEqual(given, vectors["digest"])
        # Every order gives the same result.
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

    def test_syn_34_presence(self):
        for vector in self.each(VECTORS["presence"]["valid"]):
            data = bytes.fromhex(vector["hex"])
            presence = decode_datagram(data)[1]
            cursor, view = (place and tuple(place) for place in (vector["cursor"], vector["view"]))
            clock = vector["clock"] and int(vector["clock"])
            wanted = messages.Presence(int(vector["counter"]), cursor, vector["laser"], view, clock)
            self.assertEqual(presence, wanted)
            if vector["isCanonical"]:
                self.assertTrue(data.startswith(messages.encode_presence(presence)))
        for vector in self.each(VECTORS["presence"]["invalid"]):
            self.refuse(vector, decode_datagram)

    def test_syn_49_profiles(self):
        for vector in self.each(VECTORS["profiles"]["valid"]):
            content = decode_message(bytes.fromhex(vector["hex"]))[1]
            self.assertEqual(list(content), [*vector["profile"], vector["showsPreviews"]])
        for vector in self.each(VECTORS["profiles"]["invalid"]):
            self.refuse(vector, decode_message)

    def check_kinds(self, vectors, decode):
        for vector in self.each(vectors["valid"]):
            data = bytes.fromhex(vector["hex"])
            self.assertEqual(decode(data)[0], data[0])
        for vector in self.each(vectors["invalid"]):
            self.refuse(vector, decode)


if __name__ == "__main__":
    unittest.main()
