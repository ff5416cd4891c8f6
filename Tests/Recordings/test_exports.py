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
import shutil
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

    def draw(self, name, *commands):
        """Runs commands on a board, and makes a recording in which each command takes place 20 s after the one before."""
        subprocess.run([PROGRAM.with_name("whiteboard-peer"), "run", "--host", "drawn", "-", "--as", "Ada",
                        "--no-announce", "--listen", "127.0.0.1:0"], input="\n".join(commands) + "\n", cwd=self.folder,
                       env=self.environment, capture_output=True, text=True, timeout=60, check=True)
        self.run_program("export", "drawn", "-o", "drawn.jsonl")
        lines = [json.loads(line) for line in (self.folder / "drawn.jsonl").read_text("utf-8").splitlines()]
        # The names of the members are left out, so that only the chat has names.
        lines = [line for line in lines if not {"person", "digest", "end"} & set(line)]
        steps = [line for line in lines if "step" in line]
        self.assertGreater(len(steps), 1)
        for number, step in enumerate(steps):
            step["time"] = steps[0]["time"] + number * 20_000
        (self.folder / "drawn.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        self.run_program("import", "drawn.jsonl", "-o", name)
        (self.folder / "drawn.jsonl").unlink()
        shutil.rmtree(self.folder / "whiteboard")

    def delays(self, name):
        return [int(delay) for delay in self.header(name, "delay").split()]

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
        delays = [self.delays(name) for name in ("film.gif", "film.webp")]
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
            return sum(self.delays(name))

        seconds = json.loads(self.run_program("info", LONG, "--json"))["seconds"]
        whole = duration("whole.gif", "--pauses")
        self.assertLess(abs(whole - seconds * 1000), 1_600)
        self.assertLess(abs(duration("fast.gif", "--pauses", "--speed", "4") - seconds * 250), 1_600)
        self.assertLess(duration("cut.gif", "--longest-pause", "0.2"), whole)
        self.export(LONG, "slow.gif", "--size", "64x48", "--fps", "2")
        self.assertGreaterEqual(min(self.delays("slow.gif")), 500)

    def test_only_changes_that_can_be_seen_end_a_pause(self):
        self.draw("board.whiteboard", 'text 0,0 "one"', "lock 1", "unlock 1", "vote 1 heart", 'text 900,0 "two"', "lock 1")
        self.export("board.whiteboard", "film.gif")
        self.assertEqual(self.delays("film.gif"), [2_000, 2_000])
        # In a region that the second text does not touch, nothing changes after the first text.
        self.export("board.whiteboard", "part.gif", "--region", "-100,-100,300,200")
        self.assertEqual(self.delays("part.gif"), [2_000])
        # A film that is wider than the region shows the second text too.
        self.export("board.whiteboard", "wide.gif", "--region", "-100,-100,300,200", "--size", "1200x100")
        self.assertEqual(self.delays("wide.gif"), [2_000, 2_000])

    def test_a_long_pause_is_kept_if_the_user_wants_it(self):
        self.draw("board.whiteboard", *[f'text 0,{place} "{place}"' for place in range(0, 80, 2)])
        self.export("board.whiteboard", "film.gif", "--speed", "0.1", "--pauses", "--size", "64x48", "--region", "0,0,9,1")
        self.assertEqual(sum(self.delays("film.gif")), 39 * 200_000)

    def test_a_film_shows_the_newest_name_of_a_player(self):
        self.draw("board.whiteboard", "game wordle 0,0", "play 1 crane", 'say "hello"', "profile name=Bob", 'say "bye"')
        self.export("board.whiteboard", "film.webp", "--region", "-300,-300,600,600", "--size", "600x600")
        self.export("board.whiteboard", "end.png", "--region", "-300,-300,600,600", "--scale", "1")
        last = int(self.header("film.webp", "n-pages")) - 1
        self.assertTrue(self.pixels(f"film.webp[page={last}]") == self.pixels("end.png"))

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
        duration = sum(self.delays("film.gif"))
        self.assertEqual(int(length), duration * 5 // 1000 * 64 * 48 * 4)
        # The errors fill the pipe before the pixels are read.
        (self.folder / "ffmpeg").write_text(
            f"#!{sys.executable}\nimport sys\nfor _ in range(4_000): print('a warning with 50 letters' * 2, file=sys.stderr)\n"
            "sys.stdin.buffer.read()\nsys.exit('the disk is broken')\n", "utf-8")
        self.assertIn("ffmpeg could not write the film: the disk is broken",
                      self.export(SAMPLE, "other.mp4", "--size", "64x48", status=73))
        # The film is larger than a pipe.
        (self.folder / "ffmpeg").write_text(f"#!{sys.executable}\nimport sys\nsys.stdin.buffer.read(1_000)\n", "utf-8")
        self.assertIn("ffmpeg ended before the film was complete",
                      self.export(SAMPLE, "other.mp4", "--size", "640x480", status=73))
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

    def test_a_file_is_written_through_a_symbolic_link(self):
        (self.folder / "link.gif").symlink_to("film.gif")
        self.export(SAMPLE, "link.gif", "--size", "64x48")
        self.assertTrue((self.folder / "film.gif").read_bytes().startswith(b"GIF89a"))
        self.assertIn("already exists", self.export(SAMPLE, "link.gif", status=73))
        self.export(SAMPLE, "link.gif", "--force", "--size", "32x32")
        self.assertTrue((self.folder / "link.gif").is_symlink())
        self.assertEqual(self.header("film.gif", "width"), "32")
        shutil.copy(SAMPLE, self.folder / "mine.whiteboard")
        before = (self.folder / "mine.whiteboard").read_bytes()
        for name in ("board.gif", "board.svg"):
            (self.folder / name).symlink_to("mine.whiteboard")
            self.assertIn("leads to the file of a board", self.export("mine.whiteboard", name, "--force", status=73))
        self.assertEqual((self.folder / "mine.whiteboard").read_bytes(), before)
        (self.folder / "loop.gif").symlink_to("loop.gif")
        self.assertIn("cannot be written", self.export(SAMPLE, "loop.gif", "--force", status=73))

    def test_a_film_is_at_most_a_day_long(self):
        self.run_program("export", SAMPLE, "-o", "lines.jsonl")
        lines = [json.loads(line) for line in (self.folder / "lines.jsonl").read_text("utf-8").splitlines()]
        last = [line["time"] for line in lines if "step" in line][-1]
        for line in lines:
            if line.get("time", 0) >= last:
                line["time"] += 90_000_000
        (self.folder / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        self.run_program("import", "lines.jsonl", "-o", "long.whiteboard")
        said = self.export("long.whiteboard", "film.gif", "--size", "64x48", "--pauses", status=64)
        self.assertIn("at most 24 hours", said)
        self.export("long.whiteboard", "film.gif", "--size", "64x48")

    def test_a_second_signal_leaves_no_file(self):
        # The program waits, because this ffmpeg reads only one byte.
        (self.folder / "ffmpeg").write_text(
            f"#!{sys.executable}\nimport os, select\npoll = select.poll()\npoll.register(0, 0)\n"
            "os.read(0, 1)\nopen('started', 'w').close()\npoll.poll()\n", "utf-8")
        (self.folder / "ffmpeg").chmod(0o755)
        self.environment["PATH"] = str(self.folder)
        with subprocess.Popen([PROGRAM, "export", LONG, "-o", "film.mp4"], cwd=self.folder, env=self.environment) as program:
            end = time.monotonic() + 60
            while not (self.folder / "started").exists():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            self.assertEqual(len(list(self.folder.glob("*.part"))), 1)
            program.send_signal(signal.SIGINT)
            program.send_signal(signal.SIGTERM)
            program.wait(timeout=60)
        self.assertIn(program.returncode, (128 + signal.SIGINT, 128 + signal.SIGTERM))
        self.assertEqual(list(self.folder.glob("film*")), [])

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
        from selenium.webdriver.common.keys import Keys

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
        # Before the first use, the page shows the end and a large button.
        wait("document.getElementById('message').hidden && !document.getElementById('start').hidden")
        wait(f"{ink} > 500")
        last = driver.execute_script(f"return {ink}")
        self.assertTrue(driver.find_element("id", "clock").text.startswith("0:00 / "))
        driver.find_element("id", "start").click()
        wait("document.getElementById('start').hidden && document.getElementById('play').ariaLabel === 'Pause'")
        # The keys do the same for the page and for the slider.
        slider = driver.find_element("id", "time")
        for place in (driver.find_element("tag name", "body"), slider):
            place.send_keys(" ")
            wait("document.getElementById('play').ariaLabel === 'Play'")
            place.send_keys(Keys.END)
            wait(f"{ink} === {last}")
            at = float(slider.get_property("value"))
            place.send_keys(Keys.ARROW_LEFT)
            wait(f"Number(document.getElementById('time').value) === {at} - 5000")
            place.send_keys(Keys.ARROW_RIGHT)
            wait(f"{ink} === {last}")
            place.send_keys(" ")
            wait("document.getElementById('play').ariaLabel === 'Pause'")
        slider.send_keys(" ")
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

        # A board can be so large that all of it is seen only at a very small zoom.
        self.draw("far.whiteboard", *[f"rect {x},0 size=90000,90000 fill=#000000" for x in (0, 2_000_000)])
        self.export("far.whiteboard", "far.html")
        driver.get((self.folder / "far.html").as_uri())
        wait("!document.getElementById('start').hidden")
        wait(f"{ink} > 1500")


class Traffic(Case):
    def python(self):
        """A Python with the package mcap, which is installed at its first use."""
        version = "1.6.0"
        directory = ROOT / ".build" / f"mcap-{version}"
        python = directory / "bin" / "python"
        if not (directory / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", directory], check=True, capture_output=True)
            subprocess.run([python, "-m", "pip", "install", "-q", f"mcap=={version}"], check=True, capture_output=True)
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

    def test_a_recording_is_listed_once(self):
        self.recordings()
        (self.folder / "folder").mkdir()
        (self.folder / "folder/link.whiteboard").symlink_to("../one.whiteboard")
        said = self.run_program("list", "--json", ".", "one.whiteboard", "folder/../two.whiteboard", self.folder, "folder")
        self.assertEqual([json.loads(line)["file"] for line in said.splitlines()],
                         [f"{self.folder}/one.whiteboard", f"{self.folder}/two.whiteboard"])

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

    def test_a_link_to_a_recording_is_not_deleted(self):
        self.recordings()
        (self.folder / "link.whiteboard").symlink_to("one.whiteboard")
        self.assertIn("link.whiteboard\" is a symbolic link to \"one.whiteboard\"",
                      self.run_program("delete", "link.whiteboard", "--yes", status=64))
        self.assertTrue((self.folder / "one.whiteboard").exists())
        self.assertTrue((self.folder / "link.whiteboard").is_symlink())

    def test_an_interrupted_deletion_is_completed(self):
        (self.folder / "one.whiteboard-wal").write_bytes(b"changes")
        self.run_program("delete", "one.whiteboard", "--yes")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
