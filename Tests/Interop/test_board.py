"""Tests the board of the Python peer: merging, and two peers over loopback."""

import hashlib
import random
import unittest

from cryptography.hazmat.primitives.asymmetric import ec
from pictures import png
from support import InteropCase
from whiteboard_peer import cells, codec, views
from whiteboard_peer.authors import Author, LinkReader, LinkWriter
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.cells import BoardError, Dot, DotSet, State


class Replica:
    """A state with an author, for tests without a network."""

    def __init__(self, incarnation):
        self.incarnation, self.sequence, self.state = incarnation, 0, State()

    def write(self, time, operations):
        data = codec.encode_batch(self.incarnation, self.sequence + 1, time, operations)
        self.sequence += len(operations)
        self.state.apply(codec.decode_batch(data))
        return data

    def answer(self, other):
        data = codec.encode_difference(*self.state.answer_to(other.state.context))
        other.state.merge_answer(*codec.decode_difference(data))


class Merging(unittest.TestCase):
    def test_sets(self):
        seed = random.randrange(2**32)
        generator = random.Random(seed)
        for _ in range(200):
            dots = {
                Dot(generator.randrange(1, 4), generator.randrange(1, 30)) for _ in range(40)
            }
            held = DotSet()
            for dot in generator.sample(sorted(dots), len(dots)):
                held.add(dot)
            self.assertEqual(set(held), dots, f"seed {seed}")
            data = codec.encode_set(held)
            reader = codec.Reader(data)
            self.assertEqual(codec.read_set(reader), held, f"seed {seed}")
            reader.end()

    def test_syn_1_replicas_converge_whatever_is_lost_doubled_or_late(self):
        for _ in range(150):
            seed = random.randrange(2**32)
            with self.subTest(seed=seed):
                self.converge(random.Random(seed))

    def converge(self, generator):
        replicas = [Replica(generator.randrange(1, 2**64)) for _ in range(3)]
        for _ in range(60):
            writer = generator.choice(replicas)
            batch = writer.write(generator.randrange(1, 40) << 16, self.gesture(generator, writer))
            operations = codec.decode_batch(batch)
            for other in replicas:
                for _ in range(generator.choice([0, 0, 1, 2])):
                    other.state.apply(operations)
            if generator.random() < 0.2:
                one, two = generator.sample(replicas, 2)
                one.answer(two)
        for one in replicas * 2:
            for two in replicas:
                one.answer(two)
        self.assertEqual(len({r.state.digest() for r in replicas}), 1)
        self.assertEqual(replicas[0].state.objects, replicas[1].state.objects)
        self.assertEqual(replicas[0].state.context, replicas[2].state.context)

    def gesture(self, generator, writer):
        known = sorted(writer.state.objects)
        target = generator.choice(known) if known else None
        own = Dot(writer.incarnation, writer.sequence + 1)
        choice = generator.randrange(6)
        if target is None or choice == 0:
            kind = generator.randrange(1, 4)
            position = generator.randrange(-900, 900), generator.randrange(-900, 900)
            return [
                (None, cells.KIND, None, cells.UNSIGNED, kind),
                (own, cells.POSITION, None, cells.PAIR, position),
            ]
        if choice == 1:
            return [(target, cells.PURGE, None, cells.NONE, None)]
        if choice == 2:
            run = codec.encode_run(codec.ROOT, None, "abc")
            return [(target, cells.RUN, "own", cells.BYTES, run)]
        if choice == 3:
            return [
                (target, cells.ANGLE, None, cells.UNSIGNED, generator.randrange(4_096)),
                (target, 200 + 56, None, cells.SIGNED, generator.randrange(-9, 9)),
            ]
        if choice == 4:
            return [(target, cells.DELETED, None, cells.UNSIGNED, generator.randrange(2))]
        other = generator.choice(known)
        return [(target, 140, other, cells.DOT, target)]

    def test_decoders_never_fail_otherwise(self):
        """Random bytes give a value or a `BoardError`; a changed byte never gives the same bytes."""
        seed = random.randrange(2**32)
        generator = random.Random(seed)
        replica = Replica(7)
        batches = [replica.write(9 << 16, self.gesture(generator, replica)) for _ in range(20)]
        answer = codec.encode_difference(*replica.state.answer_to(DotSet()))
        for data, decode in [(b, codec.decode_batch) for b in batches] + [
            (answer, codec.decode_difference)
        ]:
            for _ in range(300):
                changed = bytearray(data)
                changed[generator.randrange(len(changed))] = generator.randrange(256)
                changed = changed[: generator.randrange(len(changed) + 1)]
                try:
                    decode(bytes(changed))
                except BoardError:
                    pass

    def test_links_and_records_never_fail_otherwise(self):
        """Changed bytes of a batch in link form, an author message or a head give a
        value or a `BoardError`."""
        seed = random.randrange(2**32)
        generator = random.Random(seed)
        board, key = bytes(16), ec.generate_private_key(ec.SECP256R1())
        author = Author(key, board)
        introduction, start = author.introduction(), Dot(author.incarnation, 1)
        writer = LinkWriter()
        gestures = [
            [(None, cells.KIND, None, cells.UNSIGNED, 1)],
            [(start, cells.POSITION, None, cells.PAIR, (3, 4))],
            [(Dot(7, 3), 40, None, cells.DOT, Dot(8, 9)), (start, 40, None, cells.DOT, "own")],
        ]
        messages = [("take_author", introduction)]
        for gesture in gestures:
            batch = writer.encode(author.incarnation, author.sequence + 1, 9 << 20, gesture)
            author.write(9 << 20, gesture)
            messages.append(("take_batch", batch))
        messages.append(("take_head", author.head()))
        for number, (take, data) in enumerate(messages):
            for _ in range(150):
                reader = LinkReader(board, author.record.member)
                for earlier, message in messages[:number]:
                    getattr(reader, earlier)(message)
                changed = bytearray(data)
                changed[generator.randrange(len(changed))] = generator.randrange(256)
                changed = changed[: generator.randrange(len(changed) + 1)]
                try:
                    getattr(reader, take)(bytes(changed))
                except BoardError:
                    pass

    def test_brd_14_text_typed_by_two(self):
        one, two = Replica(5), Replica(9)
        batch = one.write(
            1 << 16,
            [
                (None, cells.KIND, None, cells.UNSIGNED, cells.TEXT),
                (Dot(5, 1), cells.RUN, "own", cells.BYTES, codec.encode_run(0, None, "ad")),
            ],
        )
        two.state.apply(codec.decode_batch(batch))
        text, run = Dot(5, 1), Dot(5, 2)
        between = codec.LEFT, (run, 1)
        a = one.write(
            2 << 16,
            [(text, cells.RUN, "own", cells.BYTES, codec.encode_run(*between, "bb"))],
        )
        b = two.write(
            2 << 16,
            [(text, cells.RUN, "own", cells.BYTES, codec.encode_run(*between, "cc"))],
        )
        one.state.apply(codec.decode_batch(b))
        two.state.apply(codec.decode_batch(a))
        self.assertEqual(views.text_of(one.state, text), "abbccd")
        self.assertEqual(views.text_of(two.state, text), "abbccd")


class OverLoopback(InteropCase):
    def setUp(self):
        self.host = self.peer("host", kind=BoardPeer)

    def guest(self):
        guest = self.peer("guest", self.host.session, kind=BoardPeer)
        to_host = guest.join(self.host.address, self.host.id)
        guest.wait_synced(to_host)
        return guest, to_host

    def assert_same(self, one, two):
        one.wait_until(lambda: one.digest() == two.digest(), 10)
        self.assertEqual(one.objects(), two.objects())

    def test_catch_up_and_live_edits(self):
        text = self.host.add_text(10, 20, "hello")
        self.host.add_stroke([(x, x * x) for x in range(300)])
        guest, to_host = self.guest()
        self.assert_same(guest, self.host)
        guest.insert_text(text, 5, " world")
        guest.delete_text(text, 0, 1)
        guest.insert_text(text, 0, "J")
        guest.write(text, cells.POSITION, cells.PAIR, (64, 128))
        self.host.write(text, cells.ANGLE, cells.UNSIGNED, 1_024)
        self.host.wait_synced(self.host.remotes[guest.id])
        self.assert_same(guest, self.host)
        drawn = {o["type"]: o for o in self.host.objects()}
        self.assertEqual(drawn["text"]["text"], "Jello world")
        self.assertEqual(drawn["text"]["centerPosition"], [1, 2])
        self.assertEqual(len(drawn["drawing"]["points"]), 300)

    def test_a_photo(self):
        path = self.directory() / "picture.png"
        path.write_bytes(png(40, 30))
        guest, _ = self.guest()
        self.host.add_photo(0, 0, path)
        sha256 = hashlib.sha256(path.read_bytes()).digest()
        self.assertEqual(guest.wait_asset(sha256).read_bytes(), path.read_bytes())
        (photo,) = guest.objects()
        self.assertEqual(photo["pixelSize"], [40, 30])
        self.assertTrue(photo["isAssetAvailable"])

    def test_deleted_and_purged(self):
        guest, to_host = self.guest()
        text = self.host.add_text(0, 0, "gone")
        self.host.write(text, cells.DELETED, cells.UNSIGNED, 1)
        self.host.commit([(text, cells.PURGE, None, cells.NONE, None)])
        guest.wait_synced(to_host)
        self.assertEqual(guest.objects(), [])
        guest.write(text, cells.POSITION, cells.PAIR, (1, 1))
        self.host.wait_synced(self.host.remotes[guest.id])
        self.assert_same(guest, self.host)

    def test_nothing_is_lost_when_links_are_cut(self):
        guest, to_host = self.guest()
        for number in range(60):
            (guest if number % 2 else self.host).add_text(number, 0, str(number))
            if number % 15 == 7:
                to_host.cut()
        self.assert_same(guest, self.host)
        self.assertEqual(len(guest.objects()), 60)

    def test_chat_and_data(self):
        guest, to_host = self.guest()
        guest.say("in your name", author=self.host.id)
        guest.say("hello")
        self.host.wait_until(lambda: views.chat_lines(self.host.state, self.host.records), 10)
        self.assertEqual(views.chat_lines(self.host.state, self.host.records), [(guest.id, "hello")])
        guest.send_data(to_host, b"data")
        self.assertEqual(self.host.events.wait("data")["data"], b"data")

    def test_syn_12_nothing_lacking(self):
        """Two empty boards exchange no resources."""
        guest, to_host = self.guest()
        self.assertEqual(guest.events.wait("answer", remote=to_host)["size"], 0)
        self.assertEqual(guest.events.all("resource-started"), [])

    def test_aut_7_heads_come_while_somebody_writes_and_before_he_leaves(self):
        guest, to_host = self.guest()
        self.host.add_text(0, 0, "a")
        self.assertEqual(guest.events.wait("head", 5)["sequence"], self.host.sequence)
        guest.add_text(0, 0, "b")
        guest.leave()
        self.assertEqual(self.host.events.wait("head", 5)["sequence"], guest.sequence)

    def test_brd_25_claimed_dots_make_a_new_incarnation(self):
        guest, to_host = self.guest()
        guest.add_text(0, 0, "before")
        before = guest.board_incarnation
        self.host.wait_until(lambda: Dot(before, 1) in self.host.state.context, 10)
        self.host.commit([(Dot(before, 900), cells.PURGE, None, cells.NONE, None)])
        guest.wait_until(lambda: Dot(before, 900) in guest.state.context, 10)
        guest.add_text(0, 0, "behind")
        self.assertNotEqual(guest.board_incarnation, before)
        self.host.wait_synced(self.host.remotes[guest.id])
        self.assert_same(guest, self.host)
        self.assertEqual(len(guest.objects()), 2)

    def test_brd_22_only_a_member_selects_for_itself(self):
        guest, to_host = self.guest()
        text = self.host.add_text(0, 0, "mine")
        guest.wait_until(lambda: text in guest.state.objects, 10)
        for selected, shown in ((guest.id, guest.identity.text), (self.host.id, None)):
            guest.write(text, cells.SELECTION, cells.BYTES, selected)
            self.host.wait_until(
                lambda: self.host.state.read(text, cells.SELECTION) == selected, 10
            )
            self.assertEqual(self.host.objects()[0]["selectedBy"], shown)

    def test_syn_42_a_repair(self):
        guest, to_host = self.guest()
        text = self.host.add_text(0, 0, "one")
        gone = self.host.add_text(9, 9, "purged by one alone")
        guest.wait_until(lambda: gone in guest.state.objects, 10)
        for peer, angle in ((self.host, 1), (guest, 2)):
            with peer.condition:
                dot = Dot(5, 1)
                peer.state.objects[text][cells.ANGLE, None] = cells.Cell(
                    cells.UNSIGNED, angle, 1 << 40, dot
                )
                peer.state.context.add(dot)
        with guest.condition:
            del guest.state.objects[gone]
        self.assertTrue(guest.events.wait("diverged", 15))
        self.host.wait_until(lambda: gone not in self.host.state.objects, 15)
        self.assert_same(guest, self.host)
        self.assertEqual(guest.state.read(text, cells.ANGLE), 2)

    def test_a_broken_batch_costs_its_sender_the_link(self):
        guest, to_host = self.guest()
        to_host.send(b"\x01" + bytes(30))
        self.assertEqual(self.host.events.wait("board-error")["word"], "limit")
        self.assertEqual(guest.events.wait("closed")["code"], "protocol-error")


if __name__ == "__main__":
    unittest.main()
