"""Tests the file of a program that was killed while drawing, with one flipped bit in its log (REC-16 to REC-18)."""

import json
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import unittest

from program import BINARY, Program
from support import InteropCase

REPLAY = BINARY.with_name("whiteboard-replay")
FRAME = 24 + 4096


@unittest.skipUnless(BINARY.exists() and REPLAY.exists(), "whiteboard-peer or whiteboard-replay is not built")
class DamagedFile(InteropCase):
    def setUp(self):
        self.home = self.directory()
        self.data = self.home / "data"
        self.data.mkdir(mode=0o700)

    def run_program(self, program, *arguments, status=0):
        """Runs a command until it ends, and returns its standard output."""
        done = subprocess.run(
            [str(program), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), "LC_ALL": "C.UTF-8"}, encoding="utf-8",
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def boards(self, *arguments, status=0):
        output = self.run_program(BINARY, "boards", *arguments, "--json", "--data-dir", self.data, status=status)
        return [json.loads(line) for line in output.splitlines()]

    def killed(self, count):
        """Returns the file of a host that was killed while writing, after the given number of acknowledged texts."""
        host = Program("host", "sketch", directory=self.data)
        self.addCleanup(host.stop)
        host.ready()
        for number in range(count):
            host.do("text", at=[number, number], text=f"note {number}")
        for number in range(10):
            host.begin("text", at=[number, -10], text=f"late note {number}")
        host.process.kill()
        host.process.wait()
        (path,) = (self.data / "boards").glob("*.whiteboard")
        return path

    def damage(self, path, bits):
        """Flips bits in the content of the middle committed frame, and returns the log from before."""
        log = pathlib.Path(f"{path}-wal")
        data = bytearray(log.read_bytes())
        committed = struct.unpack_from("=I", pathlib.Path(f"{path}-shm").read_bytes(), 16)[0]
        self.assertGreater(committed, 10)
        generator = random.Random(16)
        start = 32 + (committed // 2) * FRAME + 24
        for _ in range(bits):
            data[start + generator.randrange(4096)] ^= 1 << generator.randrange(8)
        log.write_bytes(data)
        return bytes(data)

    def test_a_flipped_bit_is_told_everywhere_and_costs_nothing(self):
        path = self.killed(40)
        log = self.damage(path, 1)
        # Reading reports the damage, and changes nothing.
        (listed,) = self.boards()
        self.assertIn("boards recover", listed["damage"])
        self.assertIn("board-damage", {line["event"] for line in self.boards("verify", path, status=1)})
        self.assertIn("NOT OK", self.run_program(REPLAY, "verify", path, status=65))
        self.assertEqual(pathlib.Path(f"{path}-wal").read_bytes(), log)
        early = self.home / "early.whiteboard"
        self.boards("recover", path, "-o", early)
        # Opening reports the damage, keeps the damaged file, and gives all changes.
        again = Program("host", "sketch", directory=self.data)
        self.addCleanup(again.stop)
        again.ready()
        warning = again.events.wait("warning", 10, code="document-damaged")
        self.assertIn(f"{path}.damaged-1", warning["message"])
        objects = len(again.objects())
        self.assertGreaterEqual(objects, 40)
        again.stop()
        self.assertEqual(pathlib.Path(f"{path}.damaged-1-wal").read_bytes(), log)
        (listed,) = self.boards()
        self.assertIn("damaged-1", listed["damage"])
        late = self.home / "late.whiteboard"
        self.run_program(BINARY, "boards", "recover", path, "-o", late, "--data-dir", self.data)
        for file in (path, early, late):
            self.boards("verify", file)
            self.assertEqual(self.run_program(REPLAY, "verify", file)[:2], "ok")
            (shown,) = [line for line in self.boards("show", file) if line["event"] == "objects"]
            self.assertEqual(len(shown["objects"]), objects)

    def test_a_log_without_its_index_is_never_called_intact(self):
        path = self.killed(20)
        log, index = pathlib.Path(f"{path}-wal"), pathlib.Path(f"{path}-shm")
        data = log.read_bytes()
        frames = (len(data) - 32) // FRAME
        index.unlink()
        for count in sorted({1, 2, frames // 3, frames // 2, frames - 1, frames}):
            log.write_bytes(data[:32 + count * FRAME])
            lines = self.boards("verify", path, status=1)
            self.assertNotIn("intact", json.dumps(lines))
            self.assertFalse(index.exists(), "the check created the index")
            self.assertEqual(log.read_bytes(), data[:32 + count * FRAME])

    def test_the_advice_of_a_recovery_can_be_pasted(self):
        path = self.killed(1)
        trap = self.home / "trap"
        name = path.with_name(f"it's $(touch {trap.name}) `touch {trap.name}`\x1b.whiteboard")
        for end in ("", "-wal", "-shm"):
            pathlib.Path(f"{path}{end}").rename(f"{name}{end}")
        (done,) = [line for line in self.boards("recover", name) if line["event"] == "board-recovered"]
        command = done["message"].split("elsewhere: " if "elsewhere: " in done["message"] else "somewhere else: ")[1]
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir()
        command = command.split(", then move")[0].replace("SOME-OTHER-DIRECTORY", str(elsewhere))
        subprocess.run(["bash", "-c", command], cwd=self.home, check=True)
        self.assertFalse(trap.exists() or (path.parent / trap.name).exists())
        self.assertIn(name.name, [file.name for file in elsewhere.iterdir()])

    def test_damage_that_cannot_be_corrected_is_told_and_what_is_left_is_recovered(self):
        path = self.killed(40)
        log = self.damage(path, 400)
        self.boards("verify", path, status=1)
        self.run_program(REPLAY, "verify", path, status=65)
        again = Program("host", "sketch", directory=self.data)
        self.addCleanup(again.stop)
        again.ready()
        again.events.wait("warning", 10, code="document-damaged")
        again.do("text", at=[0, 0], text="later")
        again.stop()
        self.assertEqual(pathlib.Path(f"{path}.damaged-1-wal").read_bytes(), log)
        saved = self.home / "saved.whiteboard"
        self.run_program(BINARY, "boards", "recover", path, "-o", saved, "--data-dir", self.data, status=1)
        self.boards("verify", saved)
        self.assertEqual(self.run_program(REPLAY, "verify", saved)[:2], "ok")

    def cut(self, pages):
        """Returns the file of a board of 40 texts, cut to some of its pages."""
        path = self.killed(40)
        database = sqlite3.connect(path)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")
        database.close()
        with open(path, "r+b") as file:
            file.truncate(pages * 4096)
        return path

    def test_the_list_shows_as_many_objects_as_the_recovered_board_has(self):
        for pages in range(4, 13):
            with self.subTest(pages=pages):
                shutil.rmtree(self.data)
                self.data.mkdir(mode=0o700)
                path = self.cut(pages)
                target = path.with_name(f"{path.stem}-recovered.whiteboard")
                done = subprocess.run(
                    [BINARY, "boards", "recover", "sketch", "--data-dir", self.data], capture_output=True, text=True
                )
                if not target.exists():
                    self.assertEqual(done.returncode, 65)
                    self.assertIn("no board data can be read from it; move it somewhere else", done.stderr)
                    continue
                self.assertIn("Use this file from now on, and move the damaged file somewhere else", done.stdout)
                shown = self.boards("show", target)[0]["count"]
                self.assertIn(f"The board has {shown} object", done.stdout)
                listed = {board["path"]: board for board in self.boards("list")}
                self.assertEqual(listed[str(target)]["objects"], shown)
                if "error" in listed[str(path)]:
                    # The damaged file's name cannot be read; the recovered file has the name.
                    self.assertIn(str(target), listed[str(path)]["damage"])
                    self.assertEqual(self.boards("show", "sketch")[0]["count"], shown)
                    self.boards("verify", "sketch")

    def test_a_board_whose_name_cannot_be_read_is_found_by_its_file_name(self):
        path = self.killed(1)
        path.write_bytes(bytes(8192))
        done = subprocess.run(
            [BINARY, "boards", "verify", "sketch", "--data-dir", self.data], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 65)
        self.assertIn(str(path), done.stderr)


if __name__ == "__main__":
    unittest.main()
