"""Tests the films, the share page and the MCAP file that `whiteboard-replay export` writes, and the list of recordings.

    WHITEBOARD_REPLAY=PROGRAM python3 -m unittest test_exports

Other programs read the files: libvips the films, a headless Chromium the page, and the reference reader from PyPI the
MCAP file.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = pathlib.Path(os.environ.get("WHITEBOARD_REPLAY", ROOT / ".build/tests/release/whiteboard-replay")).resolve()
SAMPLE = ROOT / "Protocol/Vectors/recording.whiteboard"
TRAFFIC = ROOT / "Protocol/Vectors/recording-traffic.whiteboard"
LONG = HERE / "four-on-a-lan.whiteboard"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="whiteboard-recordings-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "HOME": folder.name, "XDG_DATA_HOME": folder.name, "LC_ALL": "C.UTF-8"}

    def run_program(self, *words, status=0, **more):
        ended = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=300, check=False, **more)
        self.assertEqual(ended.returncode, status, ended.stderr)
        return ended.stdout + ended.stderr

    def export(self, recording, name, *words, **more):
        said = self.run_program("export", recording, "-o", name, *words, **more)
        self.assertEqual(list(self.folder.glob("*.part")), [], "no incomplete file is left")
        return said

    def header(self, name, field):
        return subprocess.run(["vipsheader", "-f", field, f"{self.folder}/{name}"], capture_output=True, text=True,
                              check=True).stdout.strip()

    def pixels(self, name):
        """The red, green and blue values of the pixels of a picture, as libvips reads them."""
        colors, target = self.folder / "pixels.v", self.folder / "pixels.raw"
        subprocess.run(["vips", "extract_band", f"{self.folder}/{name}", colors, "0", "--n", "3"], check=True)
        subprocess.run(["vips", "rawsave", colors, target], check=True)
        return target.read_bytes()


class Films(Case):
    def test_the_first_and_the_last_frame_of_a_webp_equal_pictures_of_these_times(self):
        region = ("--region", "-150,-150,600,600")
        self.export(SAMPLE, "film.webp", *region, "--size", "1200x1200")
        pages = int(self.header("film.webp", "n-pages"))
        self.assertGreater(pages, 3)
        self.export(SAMPLE, "end.png", *region, "--scale", "2")
        end = self.pixels("end.png")
        self.assertEqual(len(end), 1200 * 1200 * 3)
        self.assertTrue(self.pixels(f"film.webp[page={pages - 1}]") == end)
        self.assertFalse(self.pixels("film.webp[page=0]") == end)

    def test_a_gif_has_the_frames_of_the_webp_and_almost_their_colors(self):
        for name in ("film.webp", "film.gif"):
            self.export(LONG, name, "--region", "-2000,-1500,4000,3000", "--size", "400x300", "--speed", "2")
        self.assertEqual(self.header("film.gif", "n-pages"), self.header("film.webp", "n-pages"))
        delays = [[int(delay) for delay in self.header(name, "delay").split()] for name in ("film.gif", "film.webp")]
        self.assertEqual(*delays)
        last = len(delays[0]) - 1
        one, other = (self.pixels(f"{name}[page={last}]") for name in ("film.gif", "film.webp"))
        self.assertEqual(len(one), len(other))
        difference = sum(abs(left - right) for left, right in zip(one, other)) / len(one)
        # The recording has photos of noise, for which 255 colors are few.
        self.assertLess(difference, 5)

    def test_pauses_are_cut_and_the_speed_and_the_rate_are_as_given(self):
        def duration(name, *words):
            self.export(LONG, name, "--size", "64x48", *words)
            return sum(int(delay) for delay in self.header(name, "delay").split())

        seconds = json.loads(self.run_program("info", LONG, "--json"))["seconds"]
        whole = duration("whole.gif", "--pauses")
        self.assertLess(abs(whole - seconds * 1000), 1_600)
        self.assertLess(abs(duration("fast.gif", "--pauses", "--speed", "4") - seconds * 250), 1_600)
        self.assertLess(duration("cut.gif", "--longest-pause", "0.2"), whole)
        self.export(LONG, "slow.gif", "--size", "64x48", "--fps", "2")
        self.assertGreaterEqual(min(int(delay) for delay in self.header("slow.gif", "delay").split()), 500)

    def test_an_mp4_is_written_by_ffmpeg(self):
        self.environment["PATH"] = str(self.folder)
        said = self.export(SAMPLE, "film.mp4", status=71)
        self.assertIn("the program ffmpeg is missing; install the Debian package ffmpeg", said)
        (self.folder / "ffmpeg").write_text(
            f"#!{sys.executable}\nimport sys, pathlib\nbytes = sys.stdin.buffer.read()\n"
            "pathlib.Path(sys.argv[-1]).write_text(f'{len(bytes)}\\n' + '\\n'.join(sys.argv[1:]))\n", "utf-8")
        (self.folder / "ffmpeg").chmod(0o755)
        self.export(SAMPLE, "film.mp4", "--size", "64x48", "--fps", "5")
        length, *words = (self.folder / "film.mp4").read_text("utf-8").splitlines()
        self.assertIn("64x48", words)
        self.export(SAMPLE, "film.gif", "--size", "64x48", "--fps", "5")
        duration = sum(int(delay) for delay in self.header("film.gif", "delay").split())
        self.assertEqual(int(length), duration * 5 // 1000 * 64 * 48 * 4)
        (self.folder / "ffmpeg").write_text("#!/bin/sh\necho 'the disk is broken' >&2\nexit 1\n", "utf-8")
        self.assertIn("ffmpeg could not write the film: the disk is broken",
                      self.export(SAMPLE, "other.mp4", "--size", "64x48", status=73))
        self.assertFalse((self.folder / "other.mp4").exists())

    def test_errors_say_what_to_do_and_leave_no_file(self):
        (self.folder / "there.gif").write_bytes(b"mine")
        self.assertIn("already exists; add --force", self.export(SAMPLE, "there.gif", status=73))
        self.assertEqual((self.folder / "there.gif").read_bytes(), b"mine")
        self.export(SAMPLE, "there.gif", "--force")
        self.assertTrue((self.folder / "there.gif").read_bytes().startswith(b"GIF89a"))
        self.assertIn("must end in one of", self.export(SAMPLE, "film.avi", status=64))
        self.assertIn("from 16x16 to 4096x4096", self.export(SAMPLE, "film.gif", "--size", "9x9", status=64))
        self.assertIn("whole recording", self.export(SAMPLE, "film.gif", "--at", "1", status=64))
        lines = self.folder / "empty.jsonl"
        lines.write_text('{"recording":1,"board":"825e07c3df4548cbdcb04085615a50f2","name":"empty"}\n', "utf-8")
        self.run_program("import", lines, "-o", "empty.whiteboard")
        for name in ("film.gif", "page.html"):
            self.assertIn("the recording is empty", self.export("empty.whiteboard", name, status=65))
        self.assertIn("no traffic", self.export(LONG, "film.mcap", status=65))

        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

        self.assertIn("film.webp cannot be written: File too large",
                      self.export(LONG, "film.webp", status=73, preexec_fn=small_disk))
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"there.gif", "empty.jsonl", "empty.whiteboard"})

    def test_an_interrupted_export_leaves_no_file(self):
        with subprocess.Popen([PROGRAM, "export", LONG, "-o", "film.gif", "--size", "2000x2000"], cwd=self.folder,
                              env=self.environment, stderr=subprocess.PIPE, text=True) as program:
            end = time.monotonic() + 60
            while not any(path.stat().st_size for path in self.folder.glob("*.part")):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            program.send_signal(signal.SIGINT)
            said = program.communicate(timeout=60)[1]
        self.assertEqual(program.returncode, 1, said)
        self.assertIn("interrupted; no file was written", said)
        self.assertEqual(list(self.folder.iterdir()), [])


class Pages(Case):
    def test_a_share_page_plays_from_a_disk_without_a_network(self):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self.export(LONG, "board.html")
        page = self.folder / "board.html"
        self.assertIsNone(re.search(r'(src|href)="(?!data:)', page.read_text("utf-8")), "nothing else is loaded")
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=800,600"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.addCleanup(driver.quit)
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                               {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        driver.get(page.as_uri())

        def wait(condition):
            end = time.monotonic() + 30
            while not driver.execute_script(f"return Boolean({condition})"):
                self.assertLess(time.monotonic(), end, f"{condition}\n{driver.get_log('browser')}")
                time.sleep(0.05)

        ink = """(() => {
            const canvas = document.getElementById("canvas"), { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let at = 0; at < data.length; at += 4) if (data[at] + data[at + 1] + data[at + 2] < 700) count += 1;
            return count;
        })()"""
        wait("document.getElementById('message').hidden")
        wait(f"{ink} === 0")
        driver.execute_script("const time = document.getElementById('time'); time.value = time.max; time.dispatchEvent(new Event('input'))")
        wait(f"{ink} > 500")
        last = driver.execute_script(f"return {ink}")
        driver.execute_script("document.getElementById('time').value = 0; document.getElementById('time').dispatchEvent(new Event('input'))")
        wait(f"{ink} === 0")
        driver.execute_script("document.getElementById('speed').value = '16'; document.getElementById('play').click()")
        wait("document.getElementById('play').ariaLabel === 'Play' && Number(document.getElementById('time').value) > 0")
        wait(f"{ink} === {last}")
        driver.execute_script("document.getElementById('in').click()")
        wait(f"{ink} !== {last}")
        driver.execute_script("document.getElementById('fit').click()")
        wait(f"{ink} === {last}")
        self.assertEqual([entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"], [])


class Traffic(Case):
    def python(self):
        """A Python with the package mcap, which is installed at its first use."""
        directory = ROOT / ".build" / "mcap"
        python = directory / "bin" / "python"
        if not (directory / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", directory], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "mcap"], check=True, capture_output=True)
            (directory / "done").touch()
        return python

    def test_the_reference_reader_reads_the_traffic(self):
        self.export(TRAFFIC, "traffic.mcap")
        script = (
            "import json, sys\nfrom mcap.reader import make_reader\n"
            "reader = make_reader(open(sys.argv[1], 'rb'))\nsummary = reader.get_summary()\n"
            "messages = [(channel.topic, message.log_time, json.loads(message.data)) for _, channel, message in reader.iter_messages(log_time_order=False)]\n"
            "print(json.dumps([summary.statistics.message_count, messages, [schema.name for schema in summary.schemas.values()]]))\n"
        )
        read = subprocess.run([self.python(), "-c", script, self.folder / "traffic.mcap"], capture_output=True, text=True, check=False)
        self.assertEqual(read.returncode, 0, read.stderr)
        count, messages, schemas = json.loads(read.stdout)
        self.assertEqual(schemas, ["whiteboard.TrafficEntry"])
        entries = [json.loads(line) for line in self.run_program("log", TRAFFIC, "--wire", "--json").splitlines()]
        self.assertEqual((count, len(messages)), (len(entries), len(entries)))
        self.assertGreater(count, 10)
        by_time = sorted(messages, key=lambda message: message[1])
        for (topic, _, content), entry in zip(by_time, sorted(entries, key=lambda entry: entry["time"])):
            self.assertEqual(topic, "/" + content["kind"])
            self.assertEqual((content["kind"], content["peers"]), (entry["kind"], entry["peers"]))
            self.assertEqual(content.get("text"), entry.get("text"))


class Library(Case):
    def recordings(self):
        for name, source in (("one", SAMPLE), ("two", LONG)):
            (self.folder / f"{name}.whiteboard").write_bytes(source.read_bytes())

    def test_recordings_are_listed_with_duration_and_size(self):
        self.assertIn("No recordings found", self.run_program("list"))
        self.recordings()
        head, *lines = self.run_program("list").splitlines()
        self.assertEqual(head.split(), ["NAME", "DURATION", "SIZE", "OBJECTS", "BEGAN", "FILE"])
        self.assertEqual([line.split()[-1] for line in lines], ["one.whiteboard", "two.whiteboard"])
        first, second = map(json.loads, self.run_program("list", "--json", self.folder).splitlines())
        self.assertEqual(second["bytes"], LONG.stat().st_size)
        info = json.loads(self.run_program("info", LONG, "--json"))
        self.assertEqual((second["ms"], second["objects"]), (round(info["seconds"] * 1000), info["objects"]))
        (self.folder / "bad.whiteboard").write_bytes(b"not a recording")
        said = self.run_program("list", status=65)
        self.assertIn("two.whiteboard", said)
        self.assertIn("bad.whiteboard", said)

    def on_a_terminal(self, words, answers):
        """Runs the program on a terminal. When it has printed a key of `answers`, the answer is typed."""
        pid, end = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(PROGRAM, [str(PROGRAM), *map(str, words)], {**self.environment, "TERM": "xterm"})
        said, answers = b"", dict(answers)
        deadline = time.monotonic() + 60
        with contextlib.suppress(OSError):
            while time.monotonic() < deadline:
                if not select.select([end], [], [], 1)[0]:
                    continue
                more = os.read(end, 65_536)
                if not more:
                    break
                said += more
                for question in [question for question in answers if question in said]:
                    os.write(end, answers.pop(question))
        os.close(end)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said

    def test_a_terminal_that_shows_pictures_gets_thumbnails(self):
        self.recordings()
        question = b"\x1b[c"
        for answer, picture in ((b"\x1b_Gi=31;OK\x1b\\\x1b[?62c", b"\x1b_Ga=T,f=100"), (b"\x1b[?62;4;22c", b"\x1bP"), (b"\x1b[?62;22c", None)):
            status, said = self.on_a_terminal(["list"], {question: answer})
            self.assertEqual(status, 0, said)
            self.assertIn(b"two.whiteboard", said)
            rest = said.split(question, 1)[1]
            if picture:
                self.assertEqual(rest.count(picture), 2, "a picture for each recording")
            else:
                self.assertNotIn(b"\x1b_G", rest)
                self.assertNotIn(b"\x1bP", rest)
        status, said = self.on_a_terminal(["list", "--no-pictures"], {})
        self.assertEqual((status, said.count(b"\x1b")), (0, 0))

    def test_a_recording_is_deleted_only_after_a_confirmation(self):
        self.recordings()
        one, two = self.folder / "one.whiteboard", self.folder / "two.whiteboard"
        self.assertIn("requires --yes", self.run_program("delete", "one.whiteboard", status=64))
        self.assertTrue(one.exists())
        status, said = self.on_a_terminal(["delete", "one.whiteboard"], {b"[n]o: ": b"n\n"})
        self.assertEqual(status, 1, said)
        self.assertTrue(one.exists())
        status, said = self.on_a_terminal(["delete", "one.whiteboard"], {b"[n]o: ": b"y\n"})
        self.assertEqual(status, 0, said)
        self.assertFalse(one.exists())
        with open(f"{two}-lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("already open in another", self.run_program("delete", "two.whiteboard", "--yes", status=75))
        self.assertTrue(two.exists())
        self.run_program("delete", "two.whiteboard", "--yes")
        self.assertEqual(list(self.folder.glob("*.whiteboard*")), [])
        self.assertIn("there is no file", self.run_program("delete", "two.whiteboard", "--yes", status=66))


if __name__ == "__main__":
    unittest.main()
