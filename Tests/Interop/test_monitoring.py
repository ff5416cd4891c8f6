"""The dashboard and the alert rules for relays."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.request

from program import BINARY
from support import REPOSITORY

RELAY = BINARY.with_name("whiteboard-relay")
FILES = REPOSITORY / "Tests" / "Packaging"
METRIC = re.compile(r"\b(?:whiteboard|process)_[a-z_]+")


def metrics():
    """The names of the metrics of a relay."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "no-config"
        config.touch()
        relay = subprocess.Popen(
            [str(RELAY), "serve", "--data-dir", folder, "--listen", "127.0.0.1:0", "--http", address, "--no-announce",
             "--config", str(config)],
            stdout=subprocess.PIPE, text=True,
        )
        try:
            # The relay serves the metrics before it prints its state.
            relay.stdout.readline()
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
                return set(re.findall(r"^# HELP (\S+)", answer.read().decode(), re.M))
        finally:
            relay.terminate()
            relay.communicate(timeout=30)


class Monitoring(unittest.TestCase):
    @unittest.skipUnless(RELAY.exists(), "whiteboard-relay is not built")
    def test_each_metric_in_the_dashboard_and_in_the_alerts_exists(self):
        known = metrics()
        self.assertIn("whiteboard_cluster_connected", known)
        dashboard = json.loads((FILES / "dashboard.json").read_text())
        shown = {name for panel in dashboard["panels"] for target in panel["targets"] for name in METRIC.findall(target["expr"])}
        self.assertEqual(shown - known, set())
        # The start time is of no interest in a dashboard.
        self.assertEqual(known - shown, {"process_start_time_seconds"})
        rules = re.findall(r"expr: (.*)", (FILES / "alerts.yml").read_text())
        self.assertEqual({name for rule in rules for name in METRIC.findall(rule)} - known, set())
        self.assertEqual(len(rules), 6)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_the_alerts_fire_when_they_should(self):
        done = subprocess.run(["promtool", "test", "rules", str(FILES / "alerts.test.yml")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
