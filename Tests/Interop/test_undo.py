"""Tests undo between two real programs: an undo takes back only what its user did, and the boards stay equal."""

from program import Failed
from test_against_swift import SwiftCase


class UndoOfMembers(SwiftCase):
    def setUp(self):
        self.ada = self.program("host", "Board", admit="anyone", name="Ada")
        self.ada.ready()
        self.ben = self.program("join", self.ada.link, name="Ben")
        self.ben.events.wait("caught-up", 30)

    def sync(self):
        """Waits until both have the same board, and returns it."""
        for program in (self.ada, self.ben):
            program.do("wait", synced=True)
        self.assertEqual(self.ada.digest(), self.ben.digest())
        return {one["id"]: one for one in self.ada.objects()}

    def refused(self, program, verb, code, **arguments):
        """Checks that a command fails with a code, and returns its message."""
        with self.assertRaises(Failed) as caught:
            program.do(verb, **arguments)
        self.assertEqual(caught.exception.code, code)
        return str(caught.exception)

    def test_undo_takes_back_only_what_its_user_did(self):
        ada, ben = self.ada, self.ben
        minutes = ben.do("text", at=[0, 0], text="minutes of the meeting")["id"]
        for step in range(5):
            ada.do("stroke", points=[[step * 10, 50], [step * 10 + 5, 60]])
        self.assertEqual(len(self.sync()), 6)
        for _ in range(5):
            ada.do("undo")
        self.refused(ada, "undo", "nothing-to-undo")
        self.assertEqual(list(self.sync()), [minutes])

    def test_undo_keeps_the_words_and_edits_of_others(self):
        ada, ben = self.ada, self.ben
        text = ada.do("text", at=[0, 0], text="first")["id"]
        self.sync()
        ben.do("edit", id=text, text="first and Ben")
        ben.do("color", id=text, color="#ff0000")
        ben.do("move", id=text, to=[100, 100])
        self.sync()
        self.assertIn("others changed the object", self.refused(ada, "undo", "nothing-to-undo"))
        shown = self.sync()[text]
        self.assertEqual((shown["text"], shown["color"], shown["centerPosition"]), ("first and Ben", "#ff0000ff", [100, 100]))
        ada.do("move", id=text, to=[0, 0])
        self.sync()
        ben.do("move", id=text, to=[55, 55])
        self.sync()
        self.assertIn("others changed the same values", self.refused(ada, "undo", "nothing-to-undo"))
        self.assertEqual(self.sync()[text]["centerPosition"], [55, 55])

    def test_a_deletion_is_undone_by_its_author_and_edits_of_the_deleted_object_are_explained(self):
        text = self.ada.do("text", at=[0, 0], text="words")["id"]
        self.sync()
        self.ada.do("delete", id=text)
        self.sync()
        self.assertIn("undelete", self.refused(self.ben, "edit", "no-such-object", id=text, text="late"))
        self.refused(self.ben, "undo", "nothing-to-undo")
        self.ada.do("undo")
        self.assertEqual(self.sync()[text]["text"], "words")

    def test_what_another_member_selected_or_locked_is_refused(self):
        text = self.ada.do("text", at=[0, 0], text="words")["id"]
        self.ada.do("select", id=text)
        self.sync()
        self.refused(self.ben, "move", "held", id=text, to=[9, 9])
        self.assertIn("Ada", self.refused(self.ben, "delete", "held", id=text))
        self.ada.do("deselect")
        self.ada.do("lock", id=text)
        self.sync()
        self.refused(self.ben, "delete", "locked", id=text)
        self.ben.do("unlock", id=text)
        self.assertFalse(self.sync()[text].get("isLocked"))

    def test_two_erase_the_same_stroke_and_type_at_the_same_place(self):
        ada, ben = self.ada, self.ben
        stroke = ada.do("stroke", points=[[0, 200], [300, 200]], width=6)["id"]
        text = ada.do("text", at=[0, 0], text="hello world")["id"]
        self.sync()
        for program, x in [(ada, 100), (ben, 200)]:
            program.do("erase", points=[[x, 200]], radius=20)
        self.assertEqual(len(self.sync()[stroke]["erased"]), 2)
        ada.do("undo")
        ((start, end),) = self.sync()[stroke]["erased"]
        self.assertTrue(0.5 < start < 2 / 3 < end < 0.8, (start, end))
        marks = [(program, program.begin("insert", id=text, at=5, text=words)) for program, words in [(ada, " dear"), (ben, " big")]]
        for program, mark in marks:
            program.finish(mark)
        self.assertIn(self.sync()[text]["text"], ("hello dear big world", "hello big dear world"))
        ada.do("undo")
        self.assertEqual(self.sync()[text]["text"], "hello big world")

    def test_two_reorder_and_one_deletes_from_a_group(self):
        ada, ben = self.ada, self.ben
        ids = [ada.do("stroke", points=[[0, y], [10, y + 10]])["id"] for y in (0, 50, 100)]
        self.sync()
        marks = [(program, program.begin("order", id=id, place="front")) for program, id in zip((ada, ben), ids)]
        for program, mark in marks:
            program.finish(mark)
        order = list(self.sync())
        self.assertEqual(order, [one["id"] for one in ben.objects()])
        self.assertEqual(order[0], ids[2])
        ada.do("group", ids=ids[:2])
        self.sync()
        ben.do("delete", id=ids[0])
        self.sync()
        ada.do("undo")
        ben.do("undo")
        shown = self.sync()
        self.assertEqual(set(shown), set(ids))
        self.assertFalse(any(one.get("groups") for one in shown.values()), shown)
