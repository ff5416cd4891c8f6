"""Tests that the running programs of one user share the user's settings: name, icon and hidden authors."""

import json
import subprocess
import unittest

from program import BINARY, Program
from support import InteropCase


@unittest.skipUnless(BINARY.exists(), f"{BINARY.name} is not built")
class PersonalSettings(InteropCase):
    def setUp(self):
        self.data = self.directory() / "data"
        self.data.mkdir(mode=0o700)

    def program(self, *arguments, directory=None, **options):
        program = Program(*arguments, directory=directory or self.data, **options)
        self.addCleanup(program.stop)
        program.ready()
        return program

    def change(self, program, setting):
        """Returns whether the program uses the change, the old and the new value."""
        event = program.events.wait("personal-setting", 20, setting=setting)
        return event["applied"], event.get("old"), event.get("new")

    def test_other_running_programs_use_a_changed_setting_and_report_both_values(self):
        first = self.program("host", "one", name=None)
        second = self.program("host", "two", name=None)
        named = self.program("host", "three", name="Guest")
        (self.data.parent / "ben").mkdir(mode=0o700)
        ben = self.program("join", second.link, directory=self.data.parent / "ben", name="Ben")
        second.events.wait("joined", peer=ben.peer)
        # In one program, the user sets a name and an icon.
        first.do("profile", name="Zoe", icon="ghost")
        self.assertEqual(self.change(second, "name"), (True, None, "Zoe"))
        self.assertEqual(self.change(second, "icon"), (True, None, "👻"))
        self.assertEqual(self.change(named, "name"), (False, None, "Zoe"))
        self.assertEqual(self.change(named, "icon"), (True, None, "👻"))
        ben.events.wait("profile", peer=second.peer, name="Zoe", icon="👻")
        # A program without a board changes them again.
        done = subprocess.run(
            [str(BINARY), "profile", "--name", "Ann", "--icon", "none", "--data-dir", str(self.data), "--json"],
            capture_output=True, encoding="utf-8", timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["event"], told["name"], told.get("icon"), told["peer"]), ("profile", "Ann", None, first.peer))
        # The first change that the first program reports is not its own.
        for program in (first, second):
            self.assertEqual(self.change(program, "name"), (True, "Zoe", "Ann"))
            self.assertEqual(self.change(program, "icon"), (True, "👻", None))
            mark = program.begin("profile")
            shown = program.events.wait("profile", request=mark)
            self.assertEqual((shown["name"], shown.get("icon")), ("Ann", None))
        ben.events.wait("profile", peer=second.peer, name="Ann")
        # Hidden authors are shared too.
        second.do("hide", target=ben.peer)
        self.assertEqual(self.change(first, "hidden"), (True, None, ben.peer))
        first.do("unhide", target=ben.peer)
        self.assertEqual(self.change(second, "hidden"), (True, ben.peer, None))

    def test_a_limit_of_the_settings_is_reported_before_it_is_reached(self):
        crowd = [f"{letter}{second}" + "a" * 50 for letter in "abcdefghijklmnop" for second in "abcdefghijklmnop"]
        (self.data / "settings.json").write_text(json.dumps({"hidden": " ".join(crowd[:229])}), "utf-8")
        program = self.program("host", "one", name=None)
        (self.data.parent / "ben").mkdir(mode=0o700)
        ben = self.program("join", program.link, directory=self.data.parent / "ben", name="Ben")
        program.events.wait("joined", peer=ben.peer)
        program.do("hide", target=ben.peer)
        self.assertEqual([note for note in program.events.all("note") if note["code"] == "settings-nearly-full"], [])
        program.do("unhide", target=ben.peer)
        (self.data / "settings.json").write_text(json.dumps({"hidden": " ".join(crowd[:230])}), "utf-8")
        program.events.wait("personal-setting", where=lambda event: len(event["new"].split()) == 230)
        program.do("hide", target=ben.peer)
        note = program.events.wait("note", code="settings-nearly-full")
        self.assertIn("You hide 231 of at most 256 authors.", note["message"])
        stored = json.loads((self.data / "settings.json").read_text("utf-8"))["hidden"].split()
        self.assertEqual(set(stored), {*crowd[:230], ben.peer})


if __name__ == "__main__":
    unittest.main()
