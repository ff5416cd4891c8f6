"""Terminals in tmux with the real program in them, for whatever drives it as a person does.

WHITEBOARD_PEER names the program, else the debug build. What is waited for may take WHITEBOARD_TEST_PATIENCE times
as long."""

import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("WHITEBOARD_PEER", str(ROOT / ".build" / "debug" / "whiteboard-peer"))
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))


class Failed(Exception):
    pass


class Screen:
    """One terminal of the program, in a tmux server that all share."""

    socket = None

    def __init__(self, name, directory, *arguments, columns=100, rows=28):
        self.name, self.directory = name, directory
        environment = {
            "WHITEBOARD_DATA_DIR": f"{directory}/{name}", "USER": name, "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8",
        }
        words = " ".join(f"{key}={value}" for key, value in environment.items())
        command = f"env {words} {PROGRAM} {' '.join(arguments)}; echo EXIT $?; exec cat"
        self.tmux("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), command)

    @classmethod
    def tmux(cls, *words):
        done = subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", "-S", cls.socket, *words], capture_output=True, text=True, timeout=60,
            encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        if done.returncode:
            raise Failed(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    @property
    def lines(self):
        return self.tmux("capture-pane", "-p", "-t", self.name).split("\n")

    def wait(self, what, within=15):
        """Waits until a line holds a text, or all lines fulfil a condition."""
        holds = what if callable(what) else lambda lines: any(what in line for line in lines)
        deadline = time.monotonic() + within * PATIENCE
        while True:
            lines = self.lines
            if holds(lines):
                return lines
            if time.monotonic() > deadline:
                shown = "\n".join(line.rstrip() for line in lines)
                raise Failed(f"{self.name} does not show {what.__doc__ if callable(what) else repr(what)}:\n{shown}")
            time.sleep(0.05)

    def type(self, text):
        self.tmux("send-keys", "-t", self.name, "-l", text)

    def key(self, *names):
        for name in names:
            self.tmux("send-keys", "-t", self.name, name)

    def send(self, text):
        """Bytes as a terminal sends them, ^ for Escape."""
        self.tmux("send-keys", "-t", self.name, "-H", *[f"{byte:02x}" for byte in text.replace("^", "\x1b").encode()])

    def drag(self, *cells):
        """Presses the left button at the first cell, and drags it over the others."""
        (x, y), rest = cells[0], cells[1:]
        self.send(f"^[<0;{x + 1};{y + 1}M")
        for x, y in rest:
            self.send(f"^[<32;{x + 1};{y + 1}M")
        self.send(f"^[<0;{x + 1};{y + 1}m")

    def flag(self, name):
        return self.tmux("display", "-p", "-t", self.name, f"#{{{name}}}").strip()

    @property
    def process(self):
        """The program's own process."""
        shell = self.flag("pane_pid")
        return int(subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True).stdout.split()[0])
