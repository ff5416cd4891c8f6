"""Tests the real program on disks that are full, broken, read-only or removed.

The program must not report unsaved work as saved, must save it when it can, and must be able to save a complete copy
elsewhere.
"""

import array
import errno
import fcntl
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import termios
import time
import unittest

from pictures import png
from program import BINARY, Failed, Program, end_with_parent
from support import InteropCase
from whiteboard_peer.events import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
RELAY = BINARY.with_name("whiteboard-relay")


@unittest.skipUnless(BINARY.exists(), "whiteboard-peer is not built")
class SavingCase(InteropCase):
    def program(self, *arguments, directory, **options):
        program = Program(*arguments, directory=directory, **options)
        self.addCleanup(program.stop)
        return program

    def objects_in(self, file):
        """Returns the number of objects on a copy when it is opened."""
        program = self.program("host", str(file), directory=self.directory() / "other")
        program.ready()
        count = len(program.objects())
        self.assertEqual(program.stop(), 0)
        checked = subprocess.run([BINARY, "boards", "verify", file], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return count

    def refuse(self, program, verb, **arguments):
        """Runs a command that must be answered with `not-saved`, and returns the message."""
        with self.assertRaises(Failed) as failure:
            program.do(verb, **arguments)
        self.assertEqual(failure.exception.code, "not-saved", failure.exception)
        return str(failure.exception)

    def draw(self, program, count):
        """Draws strokes, each of which must be answered with `not-saved`."""
        for row in range(count):
            self.refuse(program, "stroke", points=[[0, row * 9], [50, row * 9]])

    def state(self, program):
        """Returns the program's save state; the `save` command also tries to save again."""
        mark = program.begin("save")
        event = program.events.wait("save-state", 30, request=mark)
        try:
            program.finish(mark)
            self.assertEqual(event["state"], "saved")
        except Failed as failure:
            self.assertEqual((failure.code, event["state"]), ("not-saved", "not-saved"))
        return event

    def rescue(self, program, objects):
        """Saves a copy elsewhere, and opens it."""
        copy = self.directory() / "copy.whiteboard"
        program.do("save-as", file=str(copy))
        self.assertEqual(self.objects_in(copy), objects)

    def goes_through(self, program, cause, mend, before=0):
        """Draws six strokes on a failing disk, and then repairs the disk."""
        self.draw(program, 6)
        began = program.events.wait("save-state", 10, state="not-saved")
        self.assertEqual(began["cause"], cause)
        self.assertEqual(self.state(program)["cause"], cause)
        self.assertEqual(len(program.objects()), before + 6, "they are on the board")
        self.rescue(program, before + 6)
        mend()
        # The program saves without a command.
        program.events.wait("save-state", 30, state="saved")
        self.assertEqual(self.state(program)["state"], "saved")
        program.do("stroke", points=[[0, 0], [9, 9]])
        self.assertEqual(program.stop(), 0)


class FailingDisk(SavingCase):
    """A preloaded library makes writes fail; reads succeed."""

    def setUp(self):
        self.place = self.directory()
        self.data = self.place / "data"
        self.data.mkdir(mode=0o700)
        self.fault = self.place / "error"
        library = self.place / "failing_disk.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing_disk.c", "-ldl"], check=True
        )
        self.preload = {
            "LD_PRELOAD": str(library), "FAILING_DISK_DIRECTORY": str(self.data) + "/",
            "FAILING_DISK_ERROR": str(self.fault),
        }

    def fail(self, number):
        beside = self.place / "error.part"
        beside.write_text(str(number))
        beside.rename(self.fault)

    def start(self, *arguments):
        return self.program(*arguments, directory=self.data, environment=self.preload)

    def causes(self, number, cause):
        program = self.start("host", "sprint")
        program.ready()
        program.do("text", at=[0, 0], text="before")
        self.fail(number)
        self.goes_through(program, cause, self.fault.unlink, before=1)
        again = self.start("host", "sprint")
        again.ready()
        self.assertEqual(len(again.objects()), 8)

    def test_a_disk_error(self):
        self.causes(errno.EIO, "io-error")

    def test_a_disk_that_became_read_only(self):
        self.causes(errno.EROFS, "read-only")

    def test_a_quota_that_is_used_up(self):
        self.causes(errno.EDQUOT, "quota")

    def test_quit_is_refused_while_it_would_lose_work_and_ends_the_program_later(self):
        program = self.start("host", "sprint")
        program.ready()
        self.fail(errno.EIO)
        self.draw(program, 1)
        self.assertIn("quit anyway", self.refuse(program, "quit"))
        # At the end of its input, the program waits until everything is on disk.
        program.process.stdin.close()
        self.fault.unlink()
        program.events.wait("save-state", 30, state="saved")
        self.assertEqual(program.ended(30), 0)
        again = self.start("host", "sprint")
        again.ready()
        self.assertEqual(len(again.objects()), 1)

    def test_a_signal_ends_a_stroke_with_all_points_and_each_command_with_an_answer(self):
        program = self.start("host", "sprint")
        program.ready()
        drawn = program.begin("stroke", points=[[step, step] for step in range(100)], over=60)
        program.events.wait("object-added", 30)
        late = [program.begin("text", at=[0, row], text="late") for row in range(5)]
        # The program has read these lines when none of their bytes is left in the pipe.
        left = array.array("i", [1])
        while left[0]:
            fcntl.ioctl(program.process.stdin, termios.FIONREAD, left)
        program.process.send_signal(signal.SIGTERM)
        program.finish(drawn)
        for mark in late:
            with self.assertRaises(Failed) as failure:
                program.finish(mark)
            self.assertEqual(failure.exception.code, "ending")
        self.assertEqual(program.ended(30), 0)
        again = self.start("host", "sprint")
        again.ready()
        stroke, = again.objects()
        self.assertEqual((len(stroke["points"]), stroke["isFinished"]), (100, True))

    def test_a_photo_and_a_checkpoint_are_not_done_on_a_failing_disk(self):
        photo = self.place / "sun.png"
        program = self.start("host", "sprint")
        program.ready()
        photo.write_bytes(png(1, 1))
        self.fail(errno.EIO)
        with self.assertRaises(Failed) as failure:
            program.do("photo", at=[0, 0], file=str(photo))
        self.assertIn(failure.exception.code, ("file-unwritable", "not-saved"))
        self.refuse(program, "text", at=[0, 0], text="words")
        self.refuse(program, "checkpoint", name="one")
        self.refuse(program, "say", text="hello")
        self.refuse(program, "undo")
        self.fault.unlink()
        program.events.wait("save-state", 30, state="saved")
        program.do("photo", at=[0, 0], file=str(photo))
        program.do("checkpoint", name="one")

    def test_a_script_whose_work_is_not_saved_fails_cause_first(self):
        program = self.start("host", "sprint")
        program.ready()
        self.assertEqual(program.stop(), 0)
        run = subprocess.Popen(
            [BINARY, "run", "--host", "sprint", "--keep-going", "--data-dir", self.data, "--listen", "127.0.0.1:0",
             "--no-announce"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=end_with_parent, env={**os.environ, **self.preload},
        )
        self.addCleanup(run.kill)
        run.stdin.write("text 0,0 before\n")
        run.stdin.flush()
        for line in run.stdout:
            if line.startswith("ok: "):
                break
        self.fail(errno.EIO)
        said, complaints = run.communicate("text 0,9 later\n", timeout=60)
        self.assertEqual(run.returncode, 74, complaints)
        self.assertIn("! NOT SAVED: disk error. ", said)
        self.assertRegex(complaints.splitlines()[-1], r"^whiteboard-peer: NOT SAVED: disk error\. ")

    def test_a_relay_is_not_ready_while_a_board_is_not_saved_and_recovers(self):
        if not RELAY.exists():
            self.skipTest("whiteboard-relay is not built")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        log = open(self.place / "relay.log", "wb")
        self.addCleanup(log.close)
        relay = subprocess.Popen(
            [RELAY, "serve", "--data-dir", self.data, "--listen", "127.0.0.1:0", "--http", f"127.0.0.1:{port}",
             "--no-announce"],
            preexec_fn=end_with_parent, stdout=log, stderr=log, env={**os.environ, **self.preload},
        )
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)

        def ask(path):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                return answer.status, answer.read().decode()
            except OSError:
                return None, ""
            finally:
                connection.close()

        def until(holds, what):
            deadline = time.monotonic() + 30 * PATIENCE
            while not holds():
                self.assertLess(time.monotonic(), deadline, f"{what}: {ask('/readyz')}")
                self.assertIsNone(relay.poll(), "the relay runs")
                time.sleep(0.05)

        until(lambda: ask("/readyz")[0] == 200, "ready")
        made = subprocess.run(
            [RELAY, "boards", "create", "sprint", "--json", "--data-dir", self.data], capture_output=True, text=True, check=True
        )
        link = json.loads(made.stdout.splitlines()[-1])["link"]
        member = self.program("join", link, directory=self.directory() / "member")
        member.ready()
        member.do("wait", peers=1, timeout=30)
        self.fail(errno.EDQUOT)
        member.do("text", at=[0, 0], text="words")
        until(lambda: ask("/readyz")[0] == 503, "not ready")
        self.assertIn("NOT SAVED: disk quota used up (1 board)", ask("/readyz")[1])
        self.assertIn("whiteboard_boards_unsaved 1", ask("/metrics")[1])
        until(lambda: "not-saved" in (self.place / "relay.log").read_text(), "a log line")
        self.fault.unlink()
        until(lambda: ask("/readyz")[0] == 200, "ready again")
        self.assertIn("whiteboard_boards_unsaved 0", ask("/metrics")[1])
        until(lambda: "saved-again" in (self.place / "relay.log").read_text(), "a log line")


class MissingDisk(SavingCase):
    """Tests removed directories, and disks of a few hundred kilobytes in private mounts of the program."""

    def test_a_directory_that_is_removed_and_made_again(self):
        data = self.directory() / "data"
        program = self.program("host", "sprint", directory=data)
        program.ready()
        program.do("text", at=[0, 0], text="before")
        shutil.rmtree(data / "boards")
        self.goes_through(program, "removed", lambda: (data / "boards").mkdir(0o700), before=1)
        again = self.program("host", "sprint", directory=data)
        again.ready()
        self.assertEqual(len(again.objects()), 8, "the earlier objects are there too")

    def mounted(self, size, board=None, prepare="true", words=("host", "sprint")):
        """Returns the disk and a program whose data directory is on it.

        The disk starts with a copy of the data directory `board`, changed by the command `prepare`.
        """
        point = self.directory() / "disk"
        point.mkdir(mode=0o700)
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
        copy = f'cp -a "{board}/." "$0"' if board else "true"
        mount = f'mount -t tmpfs -o size={size},mode=700 tmpfs "$0" && {copy} && {{ {prepare}; }} && exec "$@"'
        program = self.program(
            *words, directory=point, under=[*unshare, "sh", "-c", mount, str(point)]
        )
        program.ready()
        return point, program

    @staticmethod
    def inside(program, *command):
        """Runs a command in the program's mount namespace."""
        enter = ["nsenter", f"--target={program.process.pid}", "--mount"]
        if os.geteuid() != 0:
            enter += ["--user", "--preserve-credentials"]
        return subprocess.run([*enter, *command], capture_output=True, text=True)

    FULL = 'dd if=/dev/zero of="$0"/ballast bs=1k 2>/dev/null || true'
    READ_ONLY = 'mount -o remount,ro "$0"'

    def board(self, kill=False):
        """A data directory with a board of two texts."""
        data = self.directory() / "data"
        program = self.program("host", "sprint", directory=data)
        program.ready()
        for row in range(2):
            program.do("text", at=[0, row * 9], text="before")
        if kill:
            program.process.kill()
            program.process.wait()
        else:
            self.assertEqual(program.stop(), 0)
        return data

    def opens_to_look(self, prepare, cause, kill=False):
        """An existing board opens on a disk that accepts no data, and quits without an error if it is not changed."""
        disk, program = self.mounted("900k", self.board(kill), prepare)
        if cause:
            self.assertEqual(program.events.wait("save-state", 10, state="not-saved")["cause"], cause)
        self.assertEqual(len(program.objects()), 2)
        drawing = self.directory() / "board.svg"
        program.do("export", file=str(drawing))
        self.assertIn("before", drawing.read_text())
        doctor = self.inside(program, str(BINARY), "doctor", "--data-dir", str(disk))
        self.assertEqual(doctor.returncode, 1)
        self.assertIn("FAULT data: Nothing can be saved in", doctor.stdout)
        self.assertEqual(program.stop(), 0, "nothing was changed, so nothing is lost")

    def is_saved_later(self, prepare, cause, mend):
        """A board that was opened on a disk that accepts no data is saved once the disk accepts data."""
        disk, program = self.mounted("900k", self.board(), prepare)
        self.goes_through(program, cause, lambda: self.inside(program, *mend, str(disk)), before=2)

    def test_a_board_opens_on_a_full_disk(self):
        self.opens_to_look(self.FULL, "disk-full")

    def test_a_board_opens_on_a_read_only_disk(self):
        self.opens_to_look(self.READ_ONLY, "read-only")

    def test_a_board_that_was_open_at_a_power_cut_opens_on_a_full_disk(self):
        # The log exists already, so opening the board needs no space.
        self.opens_to_look(self.FULL, None, kill=True)

    def test_a_board_that_was_open_at_a_power_cut_opens_on_a_read_only_disk(self):
        self.opens_to_look(self.READ_ONLY, "read-only", kill=True)

    def test_a_board_that_was_opened_on_a_full_disk_is_saved_when_there_is_room(self):
        self.is_saved_later(self.FULL, "disk-full", ["sh", "-c", 'rm "$0"/ballast'])

    def test_a_board_that_was_opened_on_a_read_only_disk_is_saved_when_it_is_writable(self):
        self.is_saved_later(self.READ_ONLY, "read-only", ["mount", "-o", "remount,rw"])

    def test_a_full_disk(self):
        disk, program = self.mounted("400k")
        self.inside(program, "dd", "if=/dev/zero", f"of={disk}/ballast", "bs=1k")
        self.goes_through(program, "disk-full", lambda: self.inside(program, "rm", f"{disk}/ballast"))

    def test_a_board_that_does_not_fit_on_the_disk_arrives_when_there_is_room(self):
        host = self.program("host", "sprint", directory=self.directory() / "host", options=("--admit", "anyone"))
        host.ready()
        words = [f"{random.Random(row).getrandbits(2_000):x}" for row in range(2_500)]
        objects = [
            {"id": f"{row + 1}-aaaaaaaaaaaaa", "type": "text", "text": text, "size": [200, 50], "scale": 1, "angle": 0,
             "color": "#112233ff", "centerPosition": [row, 0]} for row, text in enumerate(words)
        ]
        board = {"format": "whiteboard-board", "version": 1, "board": {"name": "b"}, "chat": [], "assets": {}, "objects": objects}
        drawing = self.directory() / "board.json"
        drawing.write_text(json.dumps(board), "utf-8")
        host.do("import", file=str(drawing))
        disk, guest = self.mounted("700k", words=("join", host.link))
        guest.events.wait("warning", 30, code="no-space")
        self.inside(guest, "mount", "-o", "remount,size=64m", disk)
        guest.events.wait("caught-up", 60)
        self.assertEqual(len(guest.objects()), len(words))
        self.assertEqual(guest.stop(), 0)

    def test_a_full_disk_at_the_end(self):
        disk, program = self.mounted("400k")
        self.inside(program, "dd", "if=/dev/zero", f"of={disk}/ballast", "bs=1k")
        self.draw(program, 6)
        self.assertEqual(program.stop(), 74)
        said = pathlib.Path(f"{disk}.log").read_text()
        self.assertRegex(said.splitlines()[-1], r"^whiteboard-peer: NOT SAVED: disk full\. ")

    def test_a_disk_that_is_unmounted(self):
        disk, program = self.mounted("4m")
        program.do("text", at=[0, 0], text="before")
        self.assertEqual(self.inside(program, "umount", "--lazy", disk).returncode, 0)
        self.draw(program, 6)
        self.assertEqual(program.events.wait("save-state", 10, state="not-saved")["cause"], "removed")
        # Files written below the mount point would be hidden when the disk is mounted again.
        self.inside(program, "mkdir", "-p", f"{disk}/boards")
        self.assertEqual(self.state(program)["cause"], "removed")
        self.rescue(program, 7)
        self.assertEqual(program.stop(), 74)

    def test_a_directory_that_is_gone_is_noticed_although_nothing_is_drawn(self):
        data = self.directory() / "data"
        program = self.program("host", "sprint", directory=data)
        program.ready()
        shutil.rmtree(data)
        began = program.events.wait("save-state", 30, state="not-saved")
        self.assertEqual(began["cause"], "removed")
        program.process.send_signal(signal.SIGHUP)
        self.assertEqual(program.ended(30), 74)


if __name__ == "__main__":
    unittest.main()
