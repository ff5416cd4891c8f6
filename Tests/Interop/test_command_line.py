"""Tests the output for other programs: settings, QR codes, manual pages, completions."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import termios
import time
import unittest

from pictures import png
from program import BINARY, Program, end_with_parent
from support import InteropCase
from whiteboard_peer.events import PATIENCE
from whiteboard_peer.recording import checksum

REQUIRED = "WHITEBOARD_INTEROP_REQUIRED" in os.environ
#: Fonts for many scripts, which other tests do not use.
SCRIPT_FONTS = pathlib.Path("/usr/local/share/whiteboard-fonts")
RELAY, REPLAY = BINARY.with_name("whiteboard-relay"), BINARY.with_name("whiteboard-replay")


@unittest.skipUnless(BINARY.exists(), "whiteboard-peer is not built")
class CommandLine(InteropCase):
    def setUp(self):
        self.home = self.directory()
        self.data = self.home / "data"

    def run_program(self, *arguments, status=0, given=None, **environment):
        """Runs a command in its own home until it ends with one of these statuses, and returns its output."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8", **environment}
        done = subprocess.run(
            [str(BINARY), *arguments], input=given or "", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment, timeout=60, encoding="utf-8",
        )
        self.assertIn(done.returncode, status if isinstance(status, tuple) else (status,), done.stderr)
        self.errors = done.stderr
        return done.stdout

    def write_settings(self, text):
        path = self.home / ".config" / "whiteboard" / "config"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def test_a_host_keeps_the_admission_that_it_chose(self):
        def hosted(*options, environment=None):
            program = Program(
                "host", "Plans", directory=self.data, options=options, environment={"HOME": str(self.home), **(environment or {})}
            )
            self.addCleanup(program.stop)
            ready = program.ready()
            program.stop()
            return ready

        self.data.mkdir(mode=0o700)
        # Without a choice, a host without a terminal admits by code.
        first = hosted()
        self.assertEqual(first["admit"], "code")
        for how in ("anyone", "known", "ask"):
            self.assertEqual(hosted("--admit", how)["admit"], how)
            self.assertEqual(hosted()["admit"], how)
        # A setting overrides the stored choice, and is stored too. The code of the board does not change.
        again = hosted(environment={"WHITEBOARD_ADMIT": "code"})
        self.assertEqual((again["admit"], again["code"]), ("code", first["code"]))
        self.assertEqual(hosted("--admit", "anyone")["admit"], "anyone")
        # An import into the board admits no peer, so it stores no choice.
        picture = self.home / "picture.png"
        picture.write_bytes(png(8, 8))
        self.run_program("import", "Plans", str(picture), "--data-dir", str(self.data))
        self.assertEqual(hosted()["admit"], "anyone")
        invitation = json.loads(self.run_program("invite", "Plans", "--json", "--data-dir", str(self.data)))
        self.assertEqual(invitation["admit"], "anyone")
        # A copy that another person receives has no such choice.
        copy = self.home / "copy.whiteboard"
        program = Program("host", "Plans", directory=self.data, environment={"HOME": str(self.home)})
        self.addCleanup(program.stop)
        program.ready()
        program.do("save-as", file=str(copy))
        program.stop()
        with contextlib.closing(sqlite3.connect(copy)) as file:
            self.assertEqual(file.execute("SELECT key FROM meta WHERE key LIKE '%admission'").fetchall(), [])

    def settings(self, *arguments, **environment):
        lines = self.run_program("config", "show", "--json", *arguments, **environment).splitlines()
        return {line.pop("name", None): line for line in map(json.loads, lines)}

    def test_settings_say_where_they_come_from(self):
        path = self.write_settings("# mine\nname = Ada\npen = half\ncolor = 16\n[keys]\nundo = u, ctrl+z\n")
        self.assertEqual(self.run_program("config", "path").strip(), str(path))
        found = self.settings("--pen", "ascii", WHITEBOARD_COLOR="256")
        self.assertEqual((found["name"]["value"], found["name"]["place"]), ("Ada", f"{path}:2"))
        self.assertEqual((found["pen"]["value"], found["pen"]["origin"]), ("ascii", "flag"))
        self.assertEqual((found["color"]["value"], found["color"]["place"]), ("256", "WHITEBOARD_COLOR"))
        self.assertEqual(found["mouse"], {"v": 1, "event": "setting", "origin": "default", "value": "auto"})
        self.assertEqual(found[None]["keys"], ["u", "ctrl+z"])
        # The output is a valid settings file.
        shown = self.run_program("config")
        self.write_settings(shown)
        self.assertEqual(self.run_program("config"), shown)

    def test_a_wrong_setting_names_its_line_and_what_is_allowed(self):
        path = self.write_settings("name = Ada\npen = quill\n")
        self.run_program("boards", status=78)
        self.assertIn(f'{path}:2: pen is one of auto, braille, half, ascii, not "quill"', self.errors)
        self.write_settings("nmae = Ada\n")
        self.run_program("peers", status=78)
        self.assertIn("there is no setting", self.errors)
        self.write_settings("")
        self.run_program("boards", status=78, WHITEBOARD_LISTEN="here")
        self.run_program("host", "--admit", "all", status=64)
        self.run_program("boards", "--config", str(self.home / "none"), status=66)

    def test_an_invitation_is_that_of_the_running_host(self):
        self.run_program("invite", "--data-dir", str(self.data), status=66)
        self.data.mkdir(mode=0o700)
        host = Program("host", "stand up", directory=self.data)
        self.addCleanup(host.stop)
        host.ready()
        # When a command is answered, other programs can already find the open board.
        host.digest()
        told = json.loads(self.run_program("invite", "--json", "--data-dir", str(self.data)))
        self.assertTrue(told["open"])
        self.assertEqual((told["links"], told["code"]), ([host.link], host.code))
        host.process.kill()
        host.process.wait()
        told = json.loads(self.run_program("invite", "stand up", "--json", "--data-dir", str(self.data)))
        self.assertEqual((told["open"], told["code"]), (False, host.code))
        text = self.run_program("invite", "--data-dir", str(self.data))
        self.assertIn("whiteboard-peer host 'stand up'", text)
        self.assertNotIn("\x1b", text)

    @unittest.skipUnless(shutil.which("zbarimg"), "zbarimg is missing: Tests/install")
    def test_the_qr_code_is_the_link(self):
        self.run_program(
            "run", "--host", "standup", "/dev/null", "--data-dir", str(self.data), "--no-announce",
            "--listen", "127.0.0.1:0",
        )
        arguments = ("invite", "standup", "--data-dir", str(self.data), "--qr")
        text = self.run_program(*arguments)
        link = re.search(r"whiteboard://\S+", text)[0]
        rows = [row for row in text.splitlines() if set(row) <= set(" ▀▄█") and len(row) > 20]
        self.assertTrue(rows)
        # Without colors, the characters are the light modules.
        modules = []
        for row in rows:
            modules += [[c in "▀█" for c in row], [c in "▄█" for c in row]]
        picture = self.directory() / "code.pgm"
        scale = 6
        pixels = b"".join(
            bytes(255 if light else 0 for light in row for _ in range(scale)) * scale for row in modules[:-1]
        )
        width, height = len(modules[0]) * scale, (len(modules) - 1) * scale
        picture.write_bytes(b"P5 %d %d 255\n" % (width, height) + pixels)
        read = subprocess.run(
            ["zbarimg", "-q", "--raw", str(picture)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        )
        self.assertEqual(read.stdout.strip(), link)

    def test_the_doctor_looks_at_everything_and_says_what_to_do(self):
        # The findings depend on the machine.
        report = json.loads(self.run_program("doctor", "--json", "--data-dir", str(self.data), status=(0, 1)))
        checks = [finding["check"] for finding in report["findings"]]
        for check in ("interfaces", "multicast", "bus", "daemon", "port", "firewall", "clock", "data", "terminal"):
            self.assertIn(check, checks)
        for finding in report["findings"]:
            if finding["verdict"] == "fault":
                self.assertIn("advice", finding)

    def test_every_page_of_the_manual_is_one(self):
        pages = [[]] + [[name] for name in self.commands()] + [["boards", "show"]]
        for page in pages:
            with self.subTest(page=page):
                path = self.directory() / "page.1"
                path.write_text(self.run_program("manual", *page), "ascii")
                shown = subprocess.run(
                    ["man", "--warnings=all", "-l", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}, encoding="utf-8",
                )
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                for part in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES"):
                    self.assertIn(f"\n{part}\n", re.sub(r".\x08", "", shown.stdout))
        self.run_program("manual", "nothing", status=64)

    def on_terminal(self, *arguments, program=BINARY, columns=80, answer=None, **environment):
        """Runs a command on a terminal until it ends; returns its output and exit status. Answers one question."""
        environment = {"HOME": str(self.home), "LC_ALL": "C.UTF-8", "TERM": "dumb", **environment}
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        done = subprocess.Popen(
            [str(program), *arguments], stdin=child, stdout=child, stderr=child, env=environment,
            start_new_session=True,
        )
        os.close(child)
        shown = b""
        try:
            while piece := os.read(parent, 65536):
                shown += piece
                if answer and shown.endswith(b"[n]o: "):
                    os.write(parent, answer.encode() + b"\n")
                    answer = None
        except OSError:
            pass  # The program ended.
        os.close(parent)
        return shown.decode("utf-8").replace("\r\n", "\n"), done.wait(30)

    def state(self):
        """Everything that the commands below can destroy."""
        boards = [json.loads(line) for line in self.run_program("boards", "list", "--json").splitlines()]
        files = {board["path"]: pathlib.Path(board["path"]).read_bytes() for board in boards}
        return files, self.run_program("peers"), self.run_program("identity")

    def test_commands_that_cannot_be_undone_ask_on_a_terminal(self):
        self.run_program(
            "run", "--host", "plan", "-", "--no-announce", "--listen", "127.0.0.1:0", given='text 0,0 "hi"\n',
        )
        self.run_program("peers", "trust", "a" * 52)
        for words in (["boards", "compact", "plan"], ["boards", "retain", "plan", "30"], ["peers", "forget", "aaaa"],
                      ["identity", "new"], ["boards", "delete", "plan"]):
            with self.subTest(words):
                before = self.state()
                self.run_program(*words, status=64)
                self.assertIn("requires --yes", self.errors)
                for answer in ("n", "", "yesno"):
                    shown, status = self.on_terminal(*words, answer=answer or "\x04")
                    self.assertEqual((status, shown.count("[y]es, [n]o: ")), (1, 1), shown)
                self.assertEqual(self.state(), before)
                shown, status = self.on_terminal(*words, answer="y")
                self.assertEqual(status, 0, shown)
                self.assertNotEqual(self.state(), before)
        self.assertEqual(self.run_program("boards", "list", "--json"), "")
        self.run_program("boards", "delete", "plan", "--yes", status=66)

    def test_scripts_need_no_terminal_for_commands_that_cannot_be_undone(self):
        self.run_program("run", "--host", "plan", "/dev/null", "--no-announce", "--listen", "127.0.0.1:0")
        self.run_program("peers", "trust", "a" * 52)
        for words in (["boards", "compact", "plan"], ["boards", "retain", "plan", "30"], ["peers", "forget", "aaaa"],
                      ["identity", "new"], ["boards", "delete", "plan", "--json"]):
            told = self.run_program(*words, "--yes")
        self.assertEqual(json.loads(told)["event"], "board-deleted")
        self.run_program("boards", "retain", "plan", "forever", status=66)

    @unittest.skipUnless(RELAY.exists(), "whiteboard-relay is not built")
    def test_commands_of_a_relay_that_cannot_be_undone_ask_on_a_terminal(self):
        for words in (["boards", "delete", "plan"], ["boards", "kick", "plan", "ben"], ["boards", "revoke", "plan"], ["compact"]):
            with self.subTest(words):
                words = [*words, "--data-dir", str(self.data)]
                done = subprocess.run([RELAY, *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60)
                self.assertEqual(done.returncode, 64)
                self.assertIn("requires --yes", done.stderr)
                shown, status = self.on_terminal(*words, program=RELAY, answer="n")
                self.assertEqual((status, shown.count("[y]es, [n]o: ")), (1, 1), shown)
                for answer, option in (("y", []), (None, ["--yes"])):
                    shown, status = self.on_terminal(*words, *option, program=RELAY, answer=answer)
                    self.assertEqual(status, 69, "no relay runs: " + shown)

    def test_the_manual_is_shown_by_the_pager_on_a_terminal(self):
        pager = self.home / "pager"
        pager.write_text('#!/bin/sh\necho "PAGED BY $0"\nexec cat\n')
        pager.chmod(0o755)
        shown, status = self.on_terminal("manual", "host", PATH="/usr/bin:/bin", PAGER=str(pager))
        self.assertEqual(status, 0)
        self.assertIn(f"PAGED BY {pager}", shown)
        self.assertIn("\nNAME\n       whiteboard-peer-host - ", shown)
        self.assertNotIn("\n.SH", shown, "macros are for man")
        # Without a pager, or with a missing pager, the text is printed directly.
        for environment in ({"PATH": str(self.home)}, {"PATH": "/usr/bin:/bin", "PAGER": "no-such-pager"}):
            shown, status = self.on_terminal("manual", "host", **environment)
            self.assertEqual(status, 0)
            self.assertIn("\nNAME\n       whiteboard-peer-host - ", shown)

    def test_a_page_fits_the_terminal(self):
        for columns in (120, 80, 40):
            shown, _ = self.on_terminal("manual", "config", columns=columns, PATH=str(self.home))
            # Example lines and terms are not wrapped.
            prose = [line for line in shown.split("\n") if re.match(r" {14}\w", line)]
            self.assertTrue(prose)
            for line in prose:
                self.assertLessEqual(len(line), min(columns, 100), line)

    def test_a_mistyped_command_names_the_one_that_was_meant(self):
        programs = {"relay": RELAY, "replay": REPLAY}
        for words, meant in [
            (["hots", "x"], "host"), (["board"], "boards"), (["boards", "lst"], "boards list"), (["help", "hots"], "host"),
            (["manual", "hots"], "host"), (["peers", "trsut"], "peers trust"),
        ]:
            with self.subTest(words):
                self.run_program(*words, status=64)
                self.assertIn(f"did you mean {meant}?", self.errors)
        self.run_program("text", "0,0", "hi", status=64)
        self.assertIn("a command for an open board", self.errors)
        self.run_program("join", "--cod", "x", status=64)
        self.assertIn("--code", self.errors)
        for name, words, meant in [("relay", ["drian"], "drain"), ("relay", ["boards", "crate"], "boards create"),
                                   ("replay", ["inof", "x"], "info")]:
            if programs[name].exists():
                done = subprocess.run([programs[name], *words], capture_output=True, encoding="utf-8", timeout=60)
                self.assertEqual(done.returncode, 64)
                self.assertIn(f"did you mean {meant}?", done.stderr)

    @unittest.skipUnless(RELAY.exists(), "whiteboard-relay is not built")
    def test_a_relay_checks_its_limits_for_strangers(self):
        def check(*arguments):
            command = [str(RELAY), "config", "check", "--data-dir", str(self.data), "--max-boards", "20", *arguments]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
            return done.returncode, done.stdout + done.stderr

        status, shown = check("--boards", "any", "--max-boards-per-host", "3")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"boards of one peer that is not in `allow` +3 ")
        self.assertRegex(shown, r"fewer than 18 boards")
        self.assertRegex(shown, r"time without a visitor to a board +90 days")
        status, shown = check("--reserved-boards", "20")
        self.assertEqual(status, 78, shown)
        self.assertIn("must be less than max-boards (20)", shown)
        self.assertEqual(check("--max-boards-per-address", "0")[0], 64)

    @unittest.skipUnless(RELAY.exists(), "whiteboard-relay is not built")
    def test_a_relay_whose_output_is_full_serves_and_ends(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, b"#" * 4096)
        os.set_blocking(writer, True)
        command = [str(RELAY), "serve", "--data-dir", str(self.data), "--listen", "127.0.0.1:0"]
        relay = subprocess.Popen(
            [*command, "--http", f"127.0.0.1:{port}", "--no-announce", "--log-level", "trace"],
            preexec_fn=end_with_parent, stdout=writer, stderr=writer,
        )
        self.addCleanup(relay.wait)
        self.addCleanup(relay.kill)
        os.close(writer)
        asking = [str(RELAY), "health", "--http", f"127.0.0.1:{port}"]
        deadline = time.monotonic() + 30 * PATIENCE
        while subprocess.run(asking, capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), deadline, "the relay serves")
            self.assertIsNone(relay.poll(), "the relay runs")
            time.sleep(0.05)
        made = subprocess.run([str(RELAY), "boards", "create", "a", "--data-dir", str(self.data)], capture_output=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        relay.send_signal(signal.SIGTERM)
        self.assertEqual(relay.wait(30 * PATIENCE), 0)

    def test_a_peer_whose_output_nobody_reads_ends_when_it_is_asked_to(self):
        # `boards` reports the board that `host` created.
        for arguments in (
            ["host", "a", "--json"], ["host", "a"], ["nearby", "--watch", "--json"], ["boards", "list", "--watch"],
        ):
            with self.subTest(arguments):
                reader, writer = os.pipe()
                os.set_blocking(writer, False)
                for size in (4096, 1):
                    with self.assertRaises(BlockingIOError):
                        while True:
                            os.write(writer, b"#" * size)
                os.set_blocking(writer, True)
                options = ["--data-dir", str(self.data)]
                if arguments[0] == "host":
                    options += ["--no-announce", "--listen", "127.0.0.1:0"]
                peer = subprocess.Popen(
                    [str(BINARY), *arguments, *options], preexec_fn=end_with_parent, stdin=subprocess.PIPE,
                    stdout=writer, stderr=subprocess.DEVNULL,
                )
                self.addCleanup(peer.wait)
                self.addCleanup(peer.kill)
                os.close(writer)
                deadline = time.monotonic() + 30 * PATIENCE
                if arguments[0] == "host":
                    # The file of the open board appears when the program has begun to serve it.
                    while not list(self.data.glob("open/*.json")):
                        self.assertLess(time.monotonic(), deadline, "the board is open")
                        time.sleep(0.05)
                peer.send_signal(signal.SIGTERM)
                # A program that waits for its reader would wait forever. If `nearby` gets the signal before it has set
                # its handler, the signal ends `nearby` too.
                self.assertIn(peer.wait(20 * PATIENCE), (0, -signal.SIGTERM))
                peer.stdin.close()
                os.close(reader)

    def test_options_may_stand_before_the_command(self):
        path = self.write_settings("name = Ada\n")
        self.assertIn("Ada", self.run_program("--config", str(path), "config"))
        self.assertEqual(self.run_program("--config", str(path), "config", "path").strip(), str(path))
        self.run_program("--data-dir", str(self.data), "boards", "list")
        self.run_program("--data-dir", str(self.data), "bords", status=64)
        if RELAY.exists():
            path = self.home / "relay.conf"
            path.write_text(f"data-dir = {self.data}\nmax-boards = 20\n", "utf-8")
            command = [str(RELAY), "--config", str(path), "config", "check"]
            done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("The settings are valid", done.stdout)

    def test_an_import_makes_a_new_board_if_the_user_wants_it(self):
        photo = self.home / "dot.png"
        photo.write_bytes(png(4, 4))
        self.run_program("import", "plan", str(photo), status=66)
        self.assertIn("to create it, add --new", self.errors)
        self.run_program("import", "plan", str(self.home / "missing.png"), "--new", status=66)
        self.assertIn("missing.png", self.errors)
        self.assertNotIn("plan", self.run_program("boards"))
        broken = self.home / "broken.json"
        broken.write_text("{", "utf-8")
        self.run_program("import", "plan", str(broken), "--new", status=1)
        self.assertIn("it is not valid JSON", self.errors)
        self.assertNotIn("plan", self.run_program("boards"))
        self.run_program("import", "plan", str(photo), "--new")
        self.run_program("import", "plan", str(photo), "--new")
        self.assertIn("plan", self.run_program("boards"))
        drawing = self.home / "plan.svg"
        self.run_program("export", "plan", "-o", str(drawing))
        self.assertIn("<svg", drawing.read_text("utf-8"))

    def test_the_words_of_a_pdf_can_be_searched_and_letters_without_a_font_are_reported(self):
        texts = ["Plan für heute — naïve café", "שלום עולם", "مرحبا بالعالم", "αβγ Привет ∑ ½"]
        drawing = self.home / "texts.excalidraw"
        elements = [{"type": "text", "x": 0, "y": 40 * row, "text": text, "fontFamily": 2} for row, text in enumerate(texts)]
        drawing.write_text(json.dumps({"type": "excalidraw", "version": 2, "elements": elements}), "utf-8")
        self.run_program("import", "plan", str(drawing), "--new")
        page = str(self.home / "plan.pdf")
        self.run_program("export", "plan", "-o", page)
        self.assertEqual(self.errors, "")
        words = subprocess.run(["pdftotext", page, "-"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
        # Versions of poppler disagree about spaces between letters from right to left.
        letters = re.sub(r"[\s\u202a-\u202e]", "", words)
        for text in texts:
            self.assertIn(text.replace(" ", ""), letters)
        fonts = self.home / "fonts.conf"
        fonts.write_text("<fontconfig/>", "utf-8")
        for kind in ["png", "pdf"]:
            self.run_program("export", "plan", "-o", str(self.home / f"bare.{kind}"), FONTCONFIG_FILE=str(fonts))
            self.assertIn('4 rows of text have letters that are in no installed font, such as "Plan', self.errors)
            self.assertGreater((self.home / f"bare.{kind}").stat().st_size, 500)

    @unittest.skipUnless(SCRIPT_FONTS.exists() or REQUIRED, f"the fonts in {SCRIPT_FONTS} are missing: Tests/install")
    def test_letters_of_all_scripts_are_drawn_if_a_font_has_them(self):
        texts = ["日本語の会議メモ 한국어 中文", "שלום עולם", "مرحبا بالعالم", "é (e + U+0301)", "ก็ำ", "क्षि", "∑ ∫ √ → ≤ ½ № ₿ 𝔘𝔫𝔦", "│box│──┼──", "⣿⡇"]
        fonts = self.home / "fonts.conf"
        fonts.write_text(
            "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'><fontconfig><include>/etc/fonts/fonts.conf</include>"
            f"<dir>{SCRIPT_FONTS}</dir><cachedir>{self.home}/cache</cachedir></fontconfig>", "utf-8")
        places = {"FONTCONFIG_FILE": str(fonts)}
        lines = [json.dumps({"verb": "text", "at": [0, 40 * row], "text": text}) for row, text in enumerate([*texts, "🚀👩‍👩‍👧🇫🇷❤️1️⃣👍🏽"])]
        self.run_program("run", "--host", "b", "--no-announce", "--listen", "127.0.0.1:0", "--json", given="\n".join(lines) + "\n")
        for kind in ("png", "pdf"):
            self.run_program("export", "b", "-o", str(self.home / f"b.{kind}"), **places)
            self.assertEqual(self.errors, "")
        words = subprocess.run(["pdftotext", str(self.home / "b.pdf"), "-"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
        # Words that are wrapped, and marks after their letters, are on lines of their own.
        compact = re.sub(r"[\s\u202a-\u202e]", "", words)
        for text in texts:
            self.assertIn(text.replace(" ", ""), compact)
        subprocess.run(["pdftoppm", "-r", "96", "-singlefile", str(self.home / "b.pdf"), str(self.home / "b")], check=True)
        *_, pixels = (self.home / "b.ppm").read_bytes().split(b"\n", 3)
        colored = sum(max(pixels[at:at + 3]) - min(pixels[at:at + 3]) > 60 for at in range(0, len(pixels) - 2, 3))
        self.assertGreater(colored, 300, "emoji have colors")

    def test_the_lobby_is_lines_if_the_user_chose_lines(self):
        shown = self.run_program("--accessible", "--no-announce", given="new plan\ntext 0,0 hi\nquit\n")
        self.assertIn("Boards nearby:", shown)
        self.assertIn("+ text", shown)
        shown = self.run_program("--accessible", given="help\n9\nquit\n")
        self.assertIn("  1  plan", shown)
        self.assertIn("! there is no board or command", shown)
        self.run_program(status=64)
        self.assertIn("USAGE", self.errors)

    def test_a_temporary_peer_needs_no_data_directory(self):
        file = self.home / "file"
        file.write_text("", "utf-8")
        arguments = ["run", "--host", "a", "--no-announce", "--listen", "127.0.0.1:0"]
        places = {"given": "text 0,0 hi\n", "XDG_DATA_HOME": f"{file}/data", "TMPDIR": str(self.home)}
        self.run_program(*arguments, status=(73, 74), **places)
        self.assertIn("ok:", self.run_program(*arguments, "--ephemeral", **places))

    def test_a_script_may_begin_with_a_byte_order_mark(self):
        script = self.home / "script"
        script.write_bytes(b"\xef\xbb\xbftext 0,0 hi\n")
        self.assertIn("ok:", self.run_program("run", str(script), "--host", "a", "--no-announce", "--listen", "127.0.0.1:0"))
        self.run_program("run", "--host", "a", "--no-announce", "--listen", "127.0.0.1:0", given='text 0,0 "a\0b"\n', status=(1, 64, 65))
        self.assertIn("null character", self.errors)
        self.run_program("host", "\u200b\u2060", status=64)
        self.assertIn("cannot be seen", self.errors)

    def test_config_rejects_the_names_of_keys_that_the_program_rejects(self):
        for line, wrong in [("undoo = u", "undoo"), ("undo = ctrl+entr", "ctrl+entr")]:
            path = self.write_settings(f"name = Ada\n[keys]\n{line}\n")
            self.run_program("config", status=78)
            self.assertIn(f"{path}:3: ", self.errors)
            self.assertIn(wrong, self.errors)
        self.write_settings("[keys]\nundoo = u\n")
        self.run_program("config", status=78)
        self.assertIn("did you mean undo?", self.errors)
        self.write_settings("colr = 16\n")
        self.run_program("config", status=78)
        self.assertIn("did you mean color?", self.errors)

    def test_the_thumbnail_of_a_stranger_is_made_again(self):
        script = self.home / "script"
        script.write_text('text 0,0 "drawn"\n')
        self.run_program("run", "--host", "a", str(script), "--as", "Ada", "--no-announce", "--listen", "127.0.0.1:0")
        own = json.loads(self.run_program("boards", "list", "--json"))
        self.assertIn(">drawn</text>", own["thumbnail"])
        stored = own["thumbnail"].replace("</svg>", "<script>alert(1)</script></svg>")
        with contextlib.closing(sqlite3.connect(own["path"])) as file:
            crc = checksum("p", [], [stored.encode()])
            file.execute("UPDATE thumbnail SET picture = ?, crc = ?", [stored, crc])
            file.commit()
        shown = json.loads(self.run_program("boards", "list", "--json"))
        self.assertNotIn("error", shown)
        self.assertEqual(shown["thumbnail"], own["thumbnail"])

    def test_boards_are_a_table_with_names(self):
        for name in ("a", "a much longer name"):
            self.run_program(
                "run", "--host", name, "/dev/null", "--as", "Ada", "--no-announce", "--listen", "127.0.0.1:0",
            )
        script = self.home / "script"
        script.write_text('text 0,0 "hi"\ncheckpoint one\n')
        self.run_program(
            "run", "--host", "a", str(script), "--as", "Ada", "--no-announce", "--listen", "127.0.0.1:0",
        )
        head, *rows = self.run_program("boards").splitlines()
        self.assertEqual(head.split(), ["NAME", "OBJECTS", "PEOPLE", "CHANGED", "BYTES", "FILE"])
        self.assertEqual([row.split('"')[1] for row in rows], ["a", "a much longer name"])
        for row in rows:
            self.assertEqual(row[head.index("FILE"):][:1], "/", "the columns are aligned")
        self.assertEqual(rows[0][head.index("PEOPLE"):].split()[0], "Ada")
        versions = self.run_program("boards", "versions", "a").splitlines()
        self.assertEqual(versions[0].split(), ["NAME", "AT", "BYTES"])
        self.assertTrue(versions[1].startswith('"one"'))
        self.assertEqual(self.run_program("peers").strip(), "You have not met any peers yet.")

    def test_a_photo_that_is_in_the_file_is_shown_as_there(self):
        photo = self.home / "photo.png"
        photo.write_bytes(png(8, 8))
        self.run_program(
            "run", "--host", "c", "-", "--as", "Ada", "--no-announce", "--listen", "127.0.0.1:0",
            given=f'photo 0,0 "{photo}"\n',
        )
        self.assertIn("with its photo", self.run_program("boards", "show", "c"))
        told = json.loads(self.run_program("boards", "show", "c", "--json").splitlines()[0])
        self.assertIs(told["objects"][0]["isAssetAvailable"], True)

    @unittest.skipUnless(REPLAY.exists(), "whiteboard-replay is not built")
    def test_recordings_differ_in_words_or_in_json(self):
        self.run_program(
            "run", "--host", "b", "-", "--as", "Ada", "--no-announce", "--listen", "127.0.0.1:0",
            given='text 0,0 "one" as=t\nwait 0.2\nmove t 10,0\nedit t "two"\n',
        )
        (file,) = (self.home / ".local/share/whiteboard/boards").glob("*.whiteboard")

        def replay(*words, status=0):
            done = subprocess.run([REPLAY, *words], capture_output=True, encoding="utf-8", timeout=60)
            self.assertEqual(done.returncode, status, done.stderr)
            self.errors = done.stderr
            return done.stdout

        self.assertEqual(replay("diff", file, file), "Nothing differs.\n")
        self.assertEqual(replay("diff", file, file, "--json"), "")
        told = replay("diff", file, "--from", "0", status=1)
        self.assertTrue(told.startswith(("+ text ", "~ text ")), told)
        change = json.loads(replay("diff", file, "--from", "0", "--json", status=1).splitlines()[0])
        self.assertEqual(change["type"], "text")
        self.assertEqual(replay("log", "--wire", file), "")
        self.assertIn("not the traffic of the session", self.errors)
        log = replay("log", file).splitlines()
        self.assertEqual(len({line.index("Ada (") for line in log}), 1, "the columns are aligned")

    def commands(self):
        text = self.run_program("help")
        listed = text[text.index("SUBCOMMANDS"):]
        return re.findall(r"(?m)^  (\w+)(?: \(default\))?  ", listed)

    def test_completions_are_scripts_of_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.directory() / shell
            script.write_text(self.run_program("completions", shell), "utf-8")
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", str(script)], stderr=subprocess.PIPE, encoding="utf-8")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.run_program("completions", "csh", status=64)

    @unittest.skipUnless(shutil.which("bash"), "bash is missing")
    def test_the_names_of_boards_complete(self):
        self.run_program(
            "run", "--host", "standup", "/dev/null", "--no-announce", "--listen", "127.0.0.1:0",
        )
        script = self.directory() / "script"
        script.write_text(self.run_program("completions", "bash"), "utf-8")
        asked = (
            f"source {script}; COMP_WORDS=(whiteboard-peer invite st); COMP_CWORD=2; "
            "COMP_LINE='whiteboard-peer invite st'; COMP_POINT=${#COMP_LINE}; "
            "_whiteboard-peer whiteboard-peer st invite; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        path = self.directory()
        (path / "whiteboard-peer").symlink_to(BINARY)
        done = subprocess.run(
            ["bash", "-c", asked], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            env={"PATH": f"{path}:{os.environ['PATH']}", "HOME": str(self.home)}, timeout=60,
        )
        self.assertEqual(done.stdout.split(), ["standup"], done.stderr)
