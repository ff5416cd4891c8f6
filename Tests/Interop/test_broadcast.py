"""Tests broadcasts (broadcast.md) with the real programs: a host that broadcasts its board, and viewers."""

import hashlib
import os
import signal
import socket
import ssl
import struct
import subprocess
import threading
import urllib.error
import urllib.request

from program import BINARY, Failed, end_with_parent
from test_against_swift import SwiftCase
from whiteboard_peer.events import PATIENCE

WIDTH, HEIGHT = 320, 240
PICTURE = WIDTH * HEIGHT * 3


class Viewer:
    """One process of `whiteboard-peer watch` whose pictures the test reads."""

    def __init__(self, case, board, *options):
        self.directory = case.directory()
        command = [str(BINARY), "watch", board, "--output", "-", "--data-dir", str(self.directory), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent
        )
        case.addCleanup(self.stop)
        self.errors = []
        self._reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self._reader.start()

    def read(self, count, timeout=30):
        """Reads the given number of bytes of pictures."""
        timer = threading.Timer(timeout * PATIENCE, self.process.kill)
        timer.start()
        try:
            data = self.process.stdout.read(count)
        finally:
            timer.cancel()
        if len(data) != count:
            raise AssertionError(f"{len(data)} of {count} bytes; {b''.join(self.errors).decode()}")
        return data

    def ended(self, timeout=30):
        rest = []
        reader = threading.Thread(target=lambda: rest.append(self.process.stdout.read()), daemon=True)
        reader.start()
        status = self.process.wait(timeout * PATIENCE)
        reader.join()
        self._reader.join()
        return status, rest[0]

    def stop(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


def dark(picture):
    """The number of pixels of a raw picture that are not white."""
    return sum(picture[index : index + 3] != b"\xff\xff\xff" for index in range(0, len(picture), 3))


def size_of_jpeg(data):
    """The size in the header of a JPEG."""
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9", data[:16]
    offset = 2
    while True:
        marker, length = struct.unpack(">HH", data[offset : offset + 4])
        if marker in (0xFFC0, 0xFFC2):
            height, width = struct.unpack(">HH", data[offset + 5 : offset + 9])
            return width, height
        offset += 2 + length


class Broadcasts(SwiftCase):
    def setUp(self):
        self.host = self.program("host", "Board", admit="anyone", name="Ada")
        self.host.ready()

    def start(self, **options):
        options = {"size": f"{WIDTH}x{HEIGHT}", "fps": 30, "region": [0, 0, WIDTH, HEIGHT], **options}
        self.host.do("broadcast", action="start", **options)

    def raw(self, *options):
        return Viewer(self, self.host.link, "--codec", "raw", *options)

    def square(self, x, y):
        self.host.do("rect", at=[x, y], size=[40, 40], fill="#000000")

    def test_cst_8_a_viewer_sees_the_board_and_each_change(self):
        self.start()
        viewer = self.raw()
        self.assertEqual(dark(viewer.read(PICTURE)), 0)
        self.square(100, 100)
        first = viewer.read(PICTURE)
        self.assertGreater(dark(first), 30 * 30)
        # The center of the square is black, and the corner of the picture is white.
        middle = 3 * (100 * WIDTH + 100)
        self.assertEqual(first[middle : middle + 3], b"\0\0\0")
        self.square(200, 100)
        self.assertGreater(dark(viewer.read(PICTURE)), 2 * 30 * 30)
        self.host.events.wait("note", 30, code="broadcast", message="the broadcast has 1 viewer")
        self.host.do("broadcast", action="finish")
        self.assertEqual(viewer.ended(), (0, b""))

    def test_cst_11_a_viewer_waits_for_a_broadcast_and_ends_with_it(self):
        viewer = self.raw()
        self.host.events.wait("joined", 30)
        self.start()
        viewer.read(PICTURE)
        self.host.do("broadcast", action="pause")
        self.square(100, 100)
        self.host.do("broadcast", action="resume")
        self.assertGreater(dark(viewer.read(PICTURE)), 0)
        with self.assertRaises(Failed):
            self.start()
        self.host.do("broadcast", action="finish")
        self.assertEqual(viewer.ended(), (0, b""))
        with self.assertRaises(Failed):
            self.host.do("broadcast", action="pause")

    def test_cst_3_jpeg_and_png_files(self):
        self.start()
        self.square(100, 100)
        for codec in ("jpeg", "png"):
            viewer = Viewer(self, self.host.link, "--codec", codec, "--count", "1")
            status, data = viewer.ended()
            self.assertEqual(status, 0)
            if codec == "jpeg":
                self.assertEqual(size_of_jpeg(data), (WIDTH, HEIGHT))
            else:
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(struct.unpack(">II", data[16:24]), (WIDTH, HEIGHT))

    def test_cst_7_a_stopped_viewer_delays_no_other_viewer(self):
        self.start()
        stopped, viewer = self.raw(), self.raw()
        for each in (stopped, viewer):
            each.read(PICTURE)
        stopped.process.send_signal(signal.SIGSTOP)
        for index in range(20):
            self.square(20 + 14 * index, 60)
            # Each change arrives although the other viewer reads nothing.
            self.assertGreater(dark(viewer.read(PICTURE)), 0)
        stopped.process.send_signal(signal.SIGCONT)
        # The viewer that was stopped gets the newest picture, and few of the pictures in between.
        for _ in range(5):
            last = stopped.read(PICTURE)
            if last[3 * (60 * WIDTH + 286) :][:3] == b"\0\0\0":
                break
        else:
            self.fail("the viewer that was stopped did not get the newest picture within 5 pictures")

    def test_watch_ends_with_the_status_of_join(self):
        host = self.program("host", "Locked", admit="code", code="borrow-good-adjust-boil", name="Ben")
        host.ready()
        link = host.link.partition("#")[0]
        for target in (link, f"{link}#boil-adjust-good-borrow"):
            for command in (["watch", target, "--output", "-"], ["join", target, "--json"]):
                done = subprocess.run(
                    [str(BINARY), *command, "--data-dir", str(self.directory())],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * PATIENCE,
                )
                self.assertEqual(done.returncode, 77, (command, done.stderr))
        missing = subprocess.run(
            [str(BINARY), "watch", "no such board", "--wait", "0", "--output", "-", "--data-dir", str(self.directory())],
            capture_output=True, text=True, timeout=60 * PATIENCE,
        )
        self.assertEqual(missing.returncode, 75, missing.stderr)

    def test_a_viewer_without_a_user_cannot_compare_words(self):
        host = self.program("host", "Asking", admit="ask", name="Ben")
        port = host.ready()["port"]
        done = subprocess.run(
            [str(BINARY), "watch", f"127.0.0.1:{port}", "--output", "-", "--data-dir", str(self.directory())],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * PATIENCE,
        )
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("You must compare words with the host", done.stderr)
        self.assertNotIn("prove", done.stderr)

    def test_a_viewer_that_is_removed_says_so(self):
        self.start()
        viewer = self.raw()
        viewer.read(PICTURE)
        self.host.do("kick", target=self.host.events.wait("joined", 30)["peer"], reason="enough")
        status, rest = viewer.ended()
        self.assertEqual((status, rest), (77, b""))
        self.assertIn(b"removed you from this board: enough", b"".join(viewer.errors))

    def test_pictures_for_programs_on_this_computer(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        other = self.program(
            "broadcast", "Other", admit="anyone", name="Ben",
            options=["--size", f"{WIDTH}x{HEIGHT}", "--http", f"127.0.0.1:{port}"],
        )
        other.ready()
        for is_again in (False, True):
            if is_again:
                other.do("broadcast", action="finish")
                other.do("broadcast", action="start", size=f"{WIDTH}x{HEIGHT}")
            while not other.events.wait("note", 30, code="broadcast")["message"].startswith("pictures:"):
                pass
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/still", timeout=30) as answer:
            self.assertEqual(answer.headers["Content-Type"], "image/jpeg")
            self.assertEqual(answer.headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(size_of_jpeg(answer.read()), (WIDTH, HEIGHT))
        for name in ("board.example", "[::1].board.example", "127.0.0.1.board.example"):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/still", headers={"Host": name})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            self.assertEqual(refused.exception.code, 421, name)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as stream:
            self.assertIn("multipart/x-mixed-replace", stream.headers["Content-Type"])
            for step in range(3):
                self.assertEqual(size_of_jpeg(self.part(stream)), (WIDTH, HEIGHT))
                other.do("stroke", points=[[0, step * 10], [100, step * 10 + 5]])
        # Clients that close an idle stream make room for others: the server has at most 32 connections.
        for _ in range(2):
            streams = [urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) for _ in range(20)]
            for stream in streams:
                # Browsers show a part when the next one begins, so the last picture is repeated.
                previous, last = self.part(stream), self.part(stream)
                while last != previous:
                    previous, last = last, self.part(stream)
                stream.close()

    def test_the_address_for_programs_needs_a_port(self):
        for address in ("0.0.0.0", "localhost", "::1", "[::1]", "127.0.0.1:0", "127.0.0.1:65536"):
            done = subprocess.run(
                [str(BINARY), "broadcast", "Other", "--http", address, "--data-dir", str(self.directory())],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * PATIENCE,
            )
            self.assertEqual(done.returncode, 64, address)
            self.assertIn("--http must be an address with a port, like 127.0.0.1:8080", done.stderr)

    def test_cst_17_pictures_for_other_computers(self):
        with socket.socket() as free:
            free.bind(("0.0.0.0", 0))
            port = free.getsockname()[1]
        other = self.program(
            "broadcast", "Other", admit="anyone", name="Ben",
            options=["--size", f"{WIDTH}x{HEIGHT}", "--http", f"0.0.0.0:{port}", "--log-level", "trace"],
        )
        other.ready()
        links = []
        for is_again in (False, True):
            if is_again:
                other.do("broadcast", action="finish")
                other.do("broadcast", action="start", size=f"{WIDTH}x{HEIGHT}")
            while not (note := other.events.wait("note", 30, code="broadcast")).get("links"):
                pass
            links.append(note["links"][0])
            self.assertRegex(links[-1], rf"^https://[^/]+:{port}/[a-z2-7]{{26}}/$")
            self.assertEqual(note["message"], f"pictures: {links[-1]}")
        self.assertNotEqual(*links)
        # The certificate is that of the gateway for browsers.
        trusting = ssl.create_default_context(cafile=other.directory / "web-authority.pem")
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(
            ssl.get_server_certificate(("127.0.0.1", port), timeout=30)
        )).hexdigest()
        self.assertEqual(note["fingerprint"].replace(":", "").lower(), digest)

        def get(url):
            return urllib.request.urlopen(url, timeout=30, context=trusting)

        with get(links[1] + "still") as answer:
            self.assertEqual(answer.headers["Content-Type"], "image/jpeg")
            self.assertEqual(size_of_jpeg(answer.read()), (WIDTH, HEIGHT))
        origin, _, secret = links[1].rstrip("/").rpartition("/")
        for path in ("/", "/still", f"/{links[0].rstrip('/').rpartition('/')[2]}/still", f"/{secret[:-1]}/", "/favicon.ico"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                get(origin + path)
            self.assertEqual(refused.exception.code, 404, path)
        with self.assertRaises(OSError):
            urllib.request.urlopen(links[1].replace("https:", "http:"), timeout=30)
        with get(links[1]) as stream:
            self.assertIn("multipart/x-mixed-replace", stream.headers["Content-Type"])
            for step in range(3):
                self.assertEqual(size_of_jpeg(self.part(stream)), (WIDTH, HEIGHT))
                other.do("stroke", points=[[0, step * 10], [100, step * 10 + 5]])
            other.do("broadcast", action="finish")
            # The stream ends, and so does the server.
            while line := stream.readline():
                self.assertNotIn(b"404", line[:16])
        with self.assertRaises(urllib.error.URLError):
            get(links[1] + "still")
        for link in links:
            secret = link.rstrip("/").rpartition("/")[2]
            self.assertNotIn(secret, other.log)
            self.assertEqual([b'"links":' in line for line in other.lines if secret.encode() in line], [True])

    def test_cst_18_only_the_owner_shows_an_owned_board_to_other_computers(self):
        host = self.program("host", "Owned", admit="code", name="Ben", options=["--owned"])
        host.ready()
        done = subprocess.run(
            [
                str(BINARY), "broadcast", host.link, "--http", "0.0.0.0:8443", "--json", "--data-dir", str(self.directory()),
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * PATIENCE,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("only the owner of the board can show it", done.stderr)
        self.assertNotIn("https:", done.stdout)

    def part(self, stream):
        """The picture in the next part of a stream."""
        self.assertEqual(stream.readline(), b"--picture\r\n")
        self.assertEqual(stream.readline(), b"Content-Type: image/jpeg\r\n")
        length = int(stream.readline().split(b":")[1])
        self.assertEqual(stream.readline(), b"\r\n")
        picture = stream.read(length)
        self.assertEqual(stream.readline(), b"\r\n")
        return picture
