"""Tests `whiteboard-replay record --wire-only` in the session of a Python peer without a board, and checks the file
against recording.md."""

import hashlib
import subprocess
import unittest

from program import BINARY
from support import InteropCase
from whiteboard_peer.links import make_link
from whiteboard_peer.recording import Recording

REPLAY = BINARY.with_name("whiteboard-replay")


@unittest.skipUnless(REPLAY.exists(), "whiteboard-replay is not built")
class Recorder(InteropCase):
    def test_rec_13_what_comes_in_a_session_of_any_program_is_recorded(self):
        host = self.peer("host")
        file = self.directory() / "session.whiteboard"
        link = make_link(host.address, host.session, host.id)
        recorder = subprocess.Popen(
            [str(REPLAY), "record", link, "--wire-only", "-o", str(file)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )
        self.addCleanup(recorder.kill)
        remote = host.events.wait("connected", 30)["remote"]
        self.assertEqual(remote.name, "recorder")
        messages = [b"\x00no board at all", b"", bytes(range(256)) * 1000]
        for message in messages:
            remote.send(message, wait=True)
        host.wait_until(lambda: remote.udp_works, 10)
        remote.send_datagram(b"quick")
        path = self.file(70_000)
        remote.send_resource('{"id":"7"}', path).wait()
        stream = remote.open_stream("talk")
        stream.write(b"abc" * 10_000)
        stream.finish()
        self.assertEqual(stream.read_all(), b"", "a recorder says nothing")
        recorder.stdin.write("mark here\nstatus\nstop\n")
        recorder.stdin.flush()
        said, complaints = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 0, complaints)
        self.assertIn("present: host", said)
        self.assertRegex(said, r"host \([a-z2-7]{8}\) joined\n")
        self.assertEqual(host.events.wait("closed")["code"], "left")

        recording = Recording(file)
        self.assertEqual((recording.board, recording.steps), (host.session, []))
        kinds = {entry["kind"] for entry in recording.traffic}
        self.assertEqual(recording.traffic[0]["kind"], 0)
        self.assertEqual(recording.traffic[1] | {"time": 0}, {"time": 0, "kind": 1, "peers": [host.id.hex()], "text": "host"})

        def of(kind):
            return [entry for entry in recording.traffic if entry["kind"] == kind]

        self.assertEqual([entry["bytes"] for entry in of(4)], [message.hex() for message in messages])
        self.assertIn(b"quick".hex(), [entry["bytes"] for entry in of(6)])
        (resource,), (ended,) = of(8), of(10)
        self.assertEqual((resource["text"], resource["size"]), ('{"id":"7"}', 70_000))
        self.assertEqual((ended["number"], ended["text"]), (resource["number"], ""))
        (opened,) = of(11)
        heard = b"".join(bytes.fromhex(entry["bytes"]) for entry in of(13) if entry["number"] == opened["number"])
        self.assertEqual(hashlib.sha256(heard).digest(), hashlib.sha256(b"abc" * 10_000).digest())
        self.assertEqual({15, 16} - kinds, set(), "both ends of the stream")
        self.assertGreaterEqual(recording.end, recording.traffic[-1]["time"], "the recording lasts until it is stopped")
        told = subprocess.run([str(REPLAY), "log", "--wire", str(file)], capture_output=True, encoding="utf-8")
        self.assertIn('resource 1, 70000 bytes, "{"id":"7"}"', told.stdout)


if __name__ == "__main__":
    unittest.main()
