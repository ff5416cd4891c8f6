"""Tests false statements of a member about a board: only the member's own link is closed, and no board changes.

The liars are members of this implementation that send one false statement. Their targets are the Python
peer of this folder, which shows that the rules of board.md detect the lie, and the real program.
"""

import contextlib
import os
import struct
import unittest

from program import BINARY, Failed, Program
from support import InteropCase
from whiteboard_peer import authors, cells, codec, messages, wire
from whiteboard_peer.authors import Author
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.cells import Dot, DotSet
from whiteboard_peer.link_base import LinkBroken
from whiteboard_peer.messages import AUTHOR, BATCH, HEAD, NOTHING_LACKING
from whiteboard_peer.tls import Identity
from whiteboard_peer.wire import base32, encode_vint

CREATE = (None, cells.KIND, None, cells.UNSIGNED, cells.TEXT)


class Liar(BoardPeer):
    """A peer that passes its answers through `lie`, and sends no heads, because those would reveal the lie."""

    lie = staticmethod(lambda peer, answer: answer)
    is_honest = True

    def make_answer(self, buckets, context):
        return self.lie(self, super().make_answer(buckets, context))

    def _send_heads(self):
        if self.is_honest:
            super()._send_heads()


def resigned(peer, body, key=None, board=None, incarnation=None, marker=b"\xff"):
    """Returns an answer with this body and the requested signature."""
    named = incarnation or peer.board_incarnation
    text = authors.answer_text(board or peer.session, named, body)
    signature = authors.sign(key or peer.identity.key, text)
    return body + marker + struct.pack(">Q", named) + signature


def another_author(peer):
    """Another member of the same board."""
    return Author(Identity().key, peer.session)


def with_another_bit(peer, answer):
    return answer[:-1] + bytes([answer[-1] ^ 1])


def cut(peer, answer):
    return answer[: len(answer) // 2]


def with_more(peer, answer):
    return answer + b"\0"


def of_another_board(peer, answer):
    return resigned(peer, answer[:-73], board=bytes(16))


def without_end(peer, answer):
    return resigned(peer, answer[:-73], marker=b"\xfe")


def by_nobody(peer, answer):
    return resigned(peer, answer[:-73], incarnation=99)


def by_another(peer, answer):
    return resigned(peer, answer[:-73], key=Identity().key)


def with_another_member(peer, answer):
    other = another_author(peer)
    empty = codec.encode_difference(DotSet(), DotSet(), {})
    return other.answer([other.record.data], empty)


def with_a_broken_record(peer, answer):
    record = peer.author.record.data[:-1] + bytes([peer.author.record.data[-1] ^ 1])
    empty = codec.encode_difference(DotSet(), DotSet(), {})
    return resigned(peer, encode_vint(1) + encode_vint(len(record)) + record + empty)


def with_cells_beyond_the_context(peer, answer):
    held = {Dot(5, 1): {(cells.KIND, None): cells.Cell(cells.UNSIGNED, 1, 1, Dot(5, 1))}}
    return resigned(peer, encode_vint(0) + codec.encode_difference(DotSet(), DotSet(), held))


def with_a_bomb(peer, answer):
    """Encodes 2^64 + 1 ranges in a few bytes."""
    bomb = b"\2\1" + struct.pack(">Q", 5) + b"\1\0\1" + encode_vint(2**64 - 1)
    return resigned(peer, encode_vint(0) + bomb)


def of_many_records(peer, answer):
    return resigned(peer, encode_vint(65_537) + bytes(70_000))


def with_invented_incarnations(peer, answer):
    """Claims a dot of each of 65,530 incarnations that never wrote anything."""
    claimed = DotSet()
    for incarnation in range(1000, 66_530):
        claimed.ranges[incarnation] = [[1, 1]]
    record = peer.author.record.data
    return resigned(
        peer,
        encode_vint(1) + encode_vint(len(record)) + record + codec.encode_difference(claimed, DotSet(), {}),
    )


def with_future_dots(peer, answer):
    """Claims 2^40 dots of each incarnation that the peer knows, without any cells."""
    claimed = DotSet()
    for incarnation in peer.records:
        claimed.ranges[incarnation] = [[1, 2**40]]
    living = DotSet()
    for identifier in peer.state.objects:
        living.add(identifier)
    records = [peer.records[incarnation].data for incarnation in sorted(peer.records)]
    body = encode_vint(len(records)) + b"".join(encode_vint(len(record)) + record for record in records)
    return resigned(peer, body + codec.encode_difference(claimed, living, {}))


ANSWERS = [
    with_another_bit,
    cut,
    with_more,
    of_another_board,
    without_end,
    by_nobody,
    by_another,
    with_another_member,
    with_a_broken_record,
    with_cells_beyond_the_context,
    with_a_bomb,
    of_many_records,
]


class BoardAttacks:
    """The lies; a subclass selects the target with `address`, `session`, `target_id` and `digest()`."""

    def liar(self, lie=None, **options):
        peer = self.peer("liar", self.session, kind=Liar, **options)
        if lie:
            peer.lie = lie
        return peer

    def join(self, peer):
        return peer.join(self.address, self.target_id)

    def member(self):
        """Returns an honest member that is synced, and its view of the target."""
        good = self.peer("good", self.session, kind=BoardPeer)
        remote = self.join(good)
        good.wait_synced(remote)
        return good, remote

    def assert_closed(self, peer):
        """Expects that the target closed the link with protocol-error."""
        event = peer.events.wait("closed", 20, where=lambda e: e["remote"].peer_id == self.target_id)
        self.assertEqual(event["code"], "protocol-error")

    def tearDown(self):
        good, _ = self.member()
        self.assertEqual(good.digest(), self.digest())
        good.leave()

    def raw_batch(self, peer, remote, time, operations, author=None):
        """Encodes a batch for this link without sending it."""
        author = author or peer.author
        member = peer._replica(remote)
        return bytes([BATCH]) + member.writer.encode(
            author.incarnation, author.sequence + 1, time, operations
        )

    # Answers

    def test_syn_29_answers_that_are_not_what_they_say(self):
        for lie in ANSWERS:
            with self.subTest(lie=lie.__name__):
                before = self.digest()
                peer = self.liar(lie)
                peer.add_text(0, 0, "a lie")
                self.join(peer)
                self.assert_closed(peer)
                self.assertEqual(self.digest(), before)
                peer.leave()

    def test_brd_37_an_answer_of_invented_incarnations_does_not_fill_the_board(self):
        before = self.digest()
        peer = self.liar(with_invented_incarnations)
        peer.add_text(0, 0, "a lie")
        remote = self.join(peer)
        peer.wait_until(lambda: peer._replica(remote).answered_to > 0, 20)
        self.wait_refused()
        self.assertEqual(self.digest(), before)
        # All members can write, including the liar, and a newcomer gets everything.
        self.write("still here")
        good, _ = self.member()
        self.assertLess(len(good.state.context.ranges), 100)
        self.assertEqual(good.digest(), self.digest())
        peer.leave()
        good.leave()

    def test_syn_48_a_purge_of_an_object_of_an_unknown_author(self):
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        peer.commit([(Dot(77, 1), cells.PURGE, None, cells.NONE, None)])
        self.assert_closed(peer)

    def test_syn_48_a_purge_behind_the_record_of_its_author(self):
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        other = another_author(peer)
        peer.records[other.record.incarnation] = other.record
        peer.commit([(Dot(other.record.incarnation, 1), cells.PURGE, None, cells.NONE, None)])
        peer.wait_synced(remote)
        peer.leave()

    def test_syn_13_answers_that_nobody_asked_for(self):
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        number = peer._replica(remote).answered_to
        answer = peer.make_answer(0, DotSet())
        path = self.directory() / "answer"
        path.write_bytes(answer)
        for name in (
            messages.answer_name(self.session, number, len(answer)),
            messages.answer_name(self.session, number + 1, len(answer)),
            messages.answer_name(bytes(16), number, len(answer)),
            messages.answer_name(self.session, number, len(answer) + 1),
            messages.answer_name(self.session, number, 268_435_457),
        ):
            with self.subTest(name=name):
                with self.assertRaises(Exception) as raised:
                    remote.send_resource(name, path).wait()
                self.assertEqual(getattr(raised.exception, "code", None), "refused")

    def test_syn_13_nothing_lacking_for_a_request_never_made(self):
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        remote.send(bytes([NOTHING_LACKING]) + encode_vint(1_000))
        self.assert_closed(peer)

    def test_syn_46_messages_before_an_author_message(self):
        """All messages but batches and heads are valid, and the author message may follow later."""
        good, to_target = self.member()
        good.add_text(0, 0, "something to ask for")
        good.wait_synced(to_target)
        peer = self.peer("late", self.session)
        remote = self.join(peer)
        author = authors.Author(peer.identity.key, self.session)
        for message in (
            messages.encode_profile("late"),
            messages.encode_report(messages.Report(bytes(8), 0, [])),
            bytes([messages.APPLICATION]) + b"hello",
            b"\x80",
            b"\xff and more",
            messages.encode_request(1, DotSet()),
        ):
            remote.send(message)
        event = peer.events.wait("resource", 20)
        self.assertEqual(messages.parse_answer_name(event["name"])[:2], (base32(self.session), 1))
        remote.send(bytes([AUTHOR]) + author.introduction())
        peer.events.wait("message", 20, where=lambda e: e["message"][0] == messages.REQUEST)
        self.assertEqual(remote.state, "connected")

    def test_syn_45_datagrams_that_do_not_decode(self):
        for data in (b"", b"\x03", b"\x01\x00\x02", b"\x02", b"\x02" + bytes(9)):
            with self.subTest(data=data):
                peer = self.peer("liar", self.session)
                remote = self.join(peer)
                remote.send_datagram(b"\x80 is skipped")
                remote.send_datagram(data)
                self.assert_closed(peer)
                peer.leave()

    # Authors

    def test_aut_4_a_viewer_does_not_write(self):
        peer = self.liar(role=authors.VIEWER)
        before = self.digest()
        self.join(peer)
        peer.add_text(0, 0, "look at me")
        self.assert_closed(peer)
        self.assertEqual(self.digest(), before)

    def test_aut_5_a_record_of_another(self):
        good, _ = self.member()
        peer = self.liar()
        remote = self.join(peer)
        remote.send(bytes([AUTHOR]) + good.author.introduction())
        self.assert_closed(peer)

    def test_aut_5_what_another_sent_once(self):
        """Sends another member's author message and batch, byte for byte, on its own link."""
        good, to_target = self.member()
        introduction = bytes([AUTHOR]) + good.author.introduction()
        writer = authors.LinkWriter()
        batch = writer.encode(good.board_incarnation, good.sequence + 1, 1 << 40, [CREATE])
        good.commit([CREATE])
        good.wait_synced(to_target)
        before = self.digest()
        peer = self.liar()
        remote = self.join(peer)
        remote.send(introduction)
        # The author message alone is reason enough to close the link, so the close may come earlier.
        with contextlib.suppress(LinkBroken):
            remote.send(bytes([BATCH]) + batch)
        self.assert_closed(peer)
        self.assertEqual(self.digest(), before)

    def test_aut_1_records_that_do_not_hold(self):
        key, other = Identity().key, Identity().key
        granted = authors.make_record(key, self.session, os.urandom(16), granter=other)
        plain = authors.make_record(key, self.session, os.urandom(16))
        elsewhere = authors.make_record(key, os.urandom(16), os.urandom(16))
        for record in (plain[:-1] + b"\0", granted[:-1] + b"\0", elsewhere, plain, bytes(600)):
            with self.subTest(record=record[:4]):
                peer = self.liar()
                remote = self.join(peer)
                end = bytes(33 + 64)
                remote.send(bytes([AUTHOR]) + encode_vint(len(record)) + record + end)
                self.assert_closed(peer)
                peer.leave()

    def test_aut_7_heads_that_are_not_so(self):
        for what in ("another hash", "a later one", "by another", "a byte too many"):
            with self.subTest(what):
                peer = self.liar()
                peer.is_honest = False
                remote = self.join(peer)
                peer.add_text(0, 0, what)
                author = peer.author
                sequence, chain, key = author.sequence, author.chain, author.key
                if what == "another hash":
                    chain = bytes(32)
                elif what == "a later one":
                    sequence += 1
                elif what == "by another":
                    key = Identity().key
                text = authors.head_text(self.session, author.incarnation, sequence, chain)
                head = encode_vint(sequence) + chain + authors.sign(key, text)
                head += b"\0" * (what == "a byte too many")
                remote.send(bytes([HEAD]) + head)
                self.assert_closed(peer)
                peer.leave()

    def test_aut_7_a_batch_left_out(self):
        """The next batch takes the sequence numbers of the omitted batch; the head reveals that."""
        peer = self.liar()
        peer.is_honest = False
        remote = self.join(peer)
        peer.wait_synced(remote)
        peer.author.write(1 << 40, [CREATE])
        batch = self.raw_batch(peer, remote, 1 << 40, [CREATE, CREATE])
        peer.author.write(1 << 40, [CREATE, CREATE])
        remote.send(batch)
        remote.send(bytes([HEAD]) + peer.author.head())
        self.assert_closed(peer)

    # Floods

    def test_syn_28_more_names_than_a_link_has(self):
        peer = self.liar()
        remote = self.join(peer)
        text = peer.add_text(0, 0, "names")
        peer.is_honest = False

        def names(first, count):
            return [
                (text, 40, None, cells.DOT, Dot(1_000_000 + number, 1))
                for number in range(first, first + count)
            ]

        for number in range(16):
            operations = names(4_096 * number, 4_096)
            # Hold the lock, because the peer answers and reports on its own thread.
            with peer.condition:
                batch = self.raw_batch(peer, remote, (1 << 40) + (number << 20), operations)
                peer.state.apply(
                    codec.decode_batch(peer.author.write((1 << 40) + (number << 20), operations))
                )
                remote.send(batch)
        peer.wait_synced(remote, 60)
        remote.send(self.raw_batch(peer, remote, 1 << 50, names(65_536, 1)))
        self.assert_closed(peer)

    def test_aut_5_many_incarnations(self):
        """Each incarnation writes once, and the board has everything that they wrote."""
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        for number in range(100):
            with peer.condition:
                peer._send_heads()
                peer.author = Author(peer.identity.key, self.session)
                peer.records[peer.board_incarnation] = peer.author.record
                peer._introduce(remote, peer._replica(remote))
            peer.add_text(number, 0, str(number))
        peer.wait_synced(remote, 30)
        self.assertEqual(self.digest(), peer.digest())

    # Equivocation

    def test_syn_42_one_who_says_different_things_to_two(self):
        good, to_target = self.member()
        shared = good.add_text(0, 0, "shared")
        good.wait_synced(to_target)
        peer = self.liar()
        peer.is_honest = False
        self.join(peer)
        peer.wait_until(
            lambda: all(
                other in peer.remotes and peer.remotes[other].control and peer.is_synced(peer.remotes[other])
                for other in (self.target_id, good.id)
            ),
            20,
        )
        with peer.condition:
            sent = [
                (
                    remote,
                    self.raw_batch(
                        peer,
                        remote,
                        1 << 60,
                        [CREATE, (shared, cells.ANGLE, None, cells.UNSIGNED, 100 + which)]
                        if which
                        else [(shared, cells.ANGLE, None, cells.UNSIGNED, 7), (shared, 40, None, cells.UNSIGNED, 9)],
                    ),
                )
                for which, remote in enumerate(
                    (peer.remotes[self.target_id], peer.remotes[good.id])
                )
            ]
        for remote, message in sent:
            remote.send(message, wait=True)
        peer.leave()
        self.assertEqual(good.events.wait("diverged", 20)["remote"].peer_id, self.target_id)
        good.wait_until(lambda: self.is_same(good), 30)
        self.assertEqual(self.digest(), good.digest())

    def is_same(self, good):
        return self.digest() == good.digest()


class BoardAgainstPython(BoardAttacks, InteropCase):
    def setUp(self):
        self.host = self.peer("host", kind=BoardPeer)
        self.host.add_text(1, 1, "here before")
        self.address, self.session = self.host.address, self.host.session
        self.target_id = self.host.id

    def digest(self):
        return self.host.digest()

    def write(self, words):
        self.host.add_text(0, 0, words)

    def wait_refused(self):
        self.host.events.wait("answer-refused", 20)


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built")
class BoardAgainstSwift(BoardAttacks, InteropCase):
    def setUp(self):
        storage = self.directory() / "data"
        storage.mkdir(mode=0o700)
        self.program = Program(
            "host", "target", directory=storage, options=("--admit", "anyone")
        )
        self.addCleanup(self.program.stop)
        self.program.ready()
        self.program.do("text", at=[1, 1], text="here before")
        self.address = self.program.address
        self.session = wire.parse_base32(self.program.board, 16)
        self.target_id = wire.parse_base32(self.program.peer, 32)

    def digest(self):
        return self.program.digest()

    def write(self, words):
        self.program.do("text", at=[0, 0], text=words)

    def wait_refused(self):
        self.program.events.wait("warning", 20, code="unrecorded-authors")

    def assert_all_can_write(self, known):
        """Expects that the program's edits reach a newcomer, and that the program needed at most one new incarnation."""
        for words in ("still", "here"):
            self.program.do("text", at=[0, 0], text=words)
        good, _ = self.member()
        self.assertEqual(good.digest(), self.digest())
        texts = [shown.get("text") for shown in self.program.objects()]
        self.assertTrue({"still", "here"} <= set(texts), texts)
        mine = [i for i, r in good.records.items() if r.member == self.target_id]
        self.assertLessEqual(len(mine), known + 1)
        good.leave()

    def test_brd_39_a_claim_of_all_that_a_connected_author_will_write(self):
        peer = self.liar(with_future_dots)
        remote = self.join(peer)
        peer.wait_until(lambda: peer._replica(remote).answered_to > 0, 20)
        self.assertTrue(any(r.member == self.target_id for r in peer.records.values()))
        self.assert_all_can_write(1)
        peer.leave()

    def test_brd_39_a_purge_of_what_a_connected_author_never_wrote(self):
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        incarnation = next(i for i, r in peer.records.items() if r.member == self.target_id)
        peer.commit([(Dot(incarnation, 2**40), cells.PURGE, None, cells.NONE, None)])
        # The program refuses the purge, or accepts the purge and begins a new incarnation once.
        peer.wait_until(lambda: not remote.control or peer.is_synced(remote), 20)
        self.assert_all_can_write(1)
        peer.leave()

    def test_brd_22_a_member_that_selects_everything_again_and_again(self):
        for number in range(3):
            self.program.do("text", at=[9 * number, 0], text=str(number))
        peer = self.liar()
        remote = self.join(peer)
        peer.wait_synced(remote)
        name = base32(peer.identity.peer_id)
        shown = [thing["id"] for thing in self.program.objects()]

        def select_all():
            selections = [
                (identifier, cells.SELECTION, None, cells.BYTES, peer.identity.peer_id)
                for identifier in list(peer.state.objects)
            ]
            peer.commit(selections)
            peer.wait_synced(remote)

        select_all()
        self.program.events.wait("selected", 20, peer=name)
        for verb, arguments in (("move", {"to": [5, 5]}), ("select", {}), ("delete", {}), ("lock", {})):
            with self.assertRaises(Failed) as failure:
                self.program.do(verb, id=shown[0], **arguments)
            self.assertEqual(failure.exception.code, "held")
        self.program.do("take", ids=shown)
        for _ in range(3):
            select_all()
            self.program.do("move", id=shown[0], to=[5, 5])
            self.program.do("select", id=shown[1])
        self.program.do("delete", ids=shown)
        peer.wait_synced(remote)
        self.assertEqual(self.digest(), peer.digest())

    def test_what_a_member_made_is_removed_after_it_left(self):
        before = self.digest()
        peer = self.liar()
        remote = self.join(peer)
        peer.commit([CREATE] * 3000)
        peer.wait_synced(remote)
        name = base32(peer.identity.peer_id)
        peer.leave()
        self.program.events.wait("left", 20, peer=name)
        self.assertEqual(self.program.do("purge", author=name)["objects"], 3000)
        self.assertEqual(len(self.program.objects()), 1)
        good, _ = self.member()
        self.assertEqual(good.digest(), self.digest())
        self.assertEqual(before, self.digest())
        good.leave()


if __name__ == "__main__":
    unittest.main()
