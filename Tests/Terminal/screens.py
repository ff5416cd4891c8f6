"""A terminal with the real program, and checks of its screen."""

import contextlib
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("WHITEBOARD_PEER", str(ROOT / ".build" / "debug" / "whiteboard-peer"))
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))
BRAILLE = re.compile("[\u2801-\u28ff]")


def alive(process):
    try:
        with open(f"/proc/{process}/stat") as status:
            return status.read().split(") ")[1][0] != "Z"
    except OSError:
        return False


class Failed(Exception):
    pass


class Screen:
    """One terminal with the program, in a tmux server that all terminals share."""

    socket = None

    def __init__(self, name, directory, *arguments, columns=100, rows=28, in_shell=False, program=PROGRAM, **environment):
        self.name, self.directory, self.typed = name, directory, ""
        environment = {
            "WHITEBOARD_DATA_DIR": f"{directory}/{name}", "USER": name, "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8",
            **environment,
        }
        words = " ".join(f"{key}={value}" for key, value in environment.items())
        program = f"env {words} {program} {' '.join(arguments)}"
        command = "env PS1='shell: ' bash --norc -i" if in_shell else f"{program}; echo EXIT $?; exec cat"
        self.tmux("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), command)
        if in_shell:
            self.wait("shell:")
            self.type(f"clear; {program}; echo EXIT $?")
            self.key("Enter")

    @classmethod
    def tmux(cls, *words):
        done = subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", "-S", cls.socket, *words], capture_output=True, text=True, timeout=60,
            encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        if done.returncode:
            raise Failed(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    @classmethod
    def end_all(cls):
        """Closes the terminals, and waits until their programs have written their files and ended."""
        try:
            shells = cls.tmux("list-panes", "-a", "-F", "#{pane_pid}").split()
        except Failed:
            return  # all terminals are closed already
        found = subprocess.run(["pgrep", "-P", ",".join(shells)], capture_output=True, text=True).stdout.split()
        cls.tmux("kill-server")
        deadline = time.monotonic() + 10 * PATIENCE
        while any(alive(process) for process in found) and time.monotonic() < deadline:
            time.sleep(0.05)

    @property
    def lines(self):
        return self.tmux("capture-pane", "-p", "-t", self.name).split("\n")

    def wait(self, what, within=15):
        """Waits until a line contains a text, or the lines satisfy a condition."""
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
        self.typed = text

    def key(self, *names):
        # If a program reads a line together with its end, the program treats both as a paste. So wait until the program
        # has read the line.
        if names[0] == "Enter" and len(self.typed) > 3:
            with contextlib.suppress(Failed):
                self.wait(lambda lines: self.typed[-3:].replace(" ", "") in "".join(lines).replace(" ", ""), 2)
        self.typed = ""
        for name in names:
            self.tmux("send-keys", "-t", self.name, name)

    def press_until(self, name, what):
        """Presses a key again and again until a condition holds.

        A box ignores the keys of its first second, and nothing on the screen shows when that second is over.
        """
        for _ in range(3):
            self.key(name)
            with contextlib.suppress(Failed):
                return self.wait(what, 1.2)
        self.key(name)
        return self.wait(what)

    def send(self, text):
        """Sends bytes as a terminal does; ^ stands for Escape."""
        self.tmux("send-keys", "-t", self.name, "-H", *[f"{byte:02x}" for byte in text.replace("^", "\x1b").encode()])

    def drag(self, *cells):
        """Presses the left button at the first cell, and drags it over the others."""
        (x, y), rest = cells[0], cells[1:]
        self.send(f"^[<0;{x + 1};{y + 1}M")
        for x, y in rest:
            self.send(f"^[<32;{x + 1};{y + 1}M")
        self.send(f"^[<0;{x + 1};{y + 1}m")

    def wait_for(self, name, value, within=15):
        """Waits until a variable of tmux has a value."""
        self.wait_until(lambda: self.flag(name) == value, f"{name} is {value}", within)

    def wait_until(self, holds, what, within=15):
        """Waits until a condition holds that does not depend only on this screen."""

        def check(_):
            return holds()

        check.__doc__ = what
        return self.wait(check, within)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", self.name, "-x", str(columns), "-y", str(rows))

    def flag(self, name):
        return self.tmux("display", "-p", "-t", self.name, f"#{{{name}}}").strip()

    @property
    def process(self):
        """The process of the program itself."""
        shell = self.flag("pane_pid")
        found = subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True).stdout.split()
        if not found:
            raise Failed(f"the program of {self.name} has ended")
        return int(found[0])


def ink(area=slice(1, 27)):
    """A condition: the screen shows drawn lines."""

    def holds(lines):
        return sum(len(BRAILLE.findall(line)) for line in lines[area]) > 5

    holds.__doc__ = "a drawn line"
    return holds


def drawn(lines, width=74):
    """The drawn lines on the visible part of the board, without anything else."""
    return ["".join(sign if BRAILLE.match(sign) else " " for sign in line.ljust(width)[:width]) for line in lines[1:27]]


def pair(directory, admit="anyone"):
    """Starts Ada, who creates a board in the lobby, and Ben, who finds it there."""
    os.environ["WHITEBOARD_ADMIT"] = admit
    ada = Screen("ada", directory)
    ada.wait("boards nearby")
    ada.type("N")
    ada.wait("name of the new board")
    ada.key("C-u")
    ada.type("sprint")
    ada.key("Enter")
    ada.wait("only you")
    ben = Screen("ben", directory)
    ben.wait("sprint")
    ben.key("Enter")
    return ada, ben


def board_link(host):
    """Returns the link of the board from the host's invitation."""
    host.type("J")
    lines = host.wait("whiteboard://")
    host.key("Escape")
    inner = [line.split("│")[1].strip() for line in lines if line.count("│") >= 2]
    at = next(y for y, line in enumerate(inner) if "whiteboard://" in line)
    # The QR code may be beside the link.
    text = re.sub("[█▀▄ ]", "", "".join(inner[at:]))
    return re.search(r"whiteboard://[^'\s]+", text)[0]
