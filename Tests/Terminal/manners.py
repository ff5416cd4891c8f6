"""Scenes of the program and its terminal."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time
import unicodedata

from screens import PATIENCE, PROGRAM, Failed, Screen, alive, board_link, ink, pair


def a_killed_peer_is_told_of_and_the_terminal_is_given_back(directory):
    ada, ben = pair(directory)
    ben.wait("2 people")
    ada.drag((10, 10), (40, 14))
    ben.wait(ink())
    assert ada.flag("alternate_on") == "1" and ada.flag("mouse_any_flag") == "1", "the program shows its own screen"
    os.kill(ada.process, 11)
    ada.wait("EXIT 139")
    ada.wait("All saved changes are in")
    assert (ada.flag("alternate_on"), ada.flag("mouse_any_flag"), ada.flag("cursor_flag")) == ("0", "0", "1")
    ben.wait("ada unreachable for", 20)
    ben.wait(ink())


def a_terminal_of_any_size_shows_the_board(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ada.drag((10, 10), (40, 14))
    ada.wait(ink())
    ada.resize(40, 12)
    ada.wait(lambda lines: len(lines) >= 12 and "sprint" in lines[0] and "│" not in "".join(lines[:12]))
    ada.wait(ink(slice(1, 11)))
    ada.resize(100, 28)
    ada.wait(lambda lines: any("│ people" in line for line in lines))
    ada.wait(ink())


def a_terminal_that_is_small_or_changes_all_the_time_shows_the_board(directory):
    ada = Screen("ada", directory, "host sprint --no-announce", columns=40, rows=12)
    ada.wait(lambda lines: "sprint" in lines[0])
    ada.drag((5, 4), (30, 8))
    ada.wait(ink(slice(1, 11)))
    ada.resize(20, 5)
    ada.wait(lambda lines: "sprint" in lines[0] and len(lines) <= 6)
    for turn in range(40):
        ada.resize(20 + turn * 37 % 150, 3 + turn * 17 % 50)
    ada.resize(100, 28)
    ada.wait(lambda lines: any("│ people" in line for line in lines))
    ada.wait(ink())
    tiny = Screen("tiny", directory, "host tiny --no-announce", columns=20, rows=5)
    tiny.wait(lambda lines: "tiny" in lines[0])
    tiny.type("q")
    tiny.wait("EXIT 0")


def a_missing_or_silent_daemon_delays_no_screen(directory):
    none = Screen("cy", directory, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={directory}/none")
    none.wait("D-Bus is not running")
    none.key("n")
    none.wait("only you", 2)
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(f"{directory}/bus")
        bus.listen()
        ada = Screen("ada", directory, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={directory}/bus")
        ada.wait("boards nearby")
        for key, screen in (("n", "only you"), ("q", "boards nearby"), ("n", "only you")):
            ada.key(key)
            # The end of a search waits up to 3 s for a daemon that has answered before.
            ada.wait(screen, 2)
        ada.wait("does not answer")
        ada.key("Escape")
        # A key directly after Escape would be read as Alt with that key.
        ada.wait(lambda lines: not any("does not answer" in line for line in lines))
        ada.key("q")
        ada.wait("boards nearby", 2)
        ada.key("q")
        ada.wait("EXIT 0", 2)


def given_back(screen):
    """Whether a terminal is in the same state as before the program."""
    return [screen.flag(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag")] == ["0", "0", "1"]


def stopped(process):
    """Whether a process is stopped by a signal."""
    return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def who_stops_the_program_has_the_shell_and_comes_back(directory):
    ada = Screen("ada", directory, "host sprint --no-announce", in_shell=True)
    ada.wait("only you")
    ada.drag((10, 10), (40, 14))
    ada.wait(ink())
    ada.type(":suspend")
    ada.key("Enter")
    ada.wait("Stopped")
    ada.wait_until(lambda: given_back(ada), "a terminal that is given back")
    ada.type("echo $((6 * 7)) is the shell")
    ada.key("Enter")
    ada.wait("42 is the shell")
    # The program can neither draw nor read in the background.
    ada.type("clear; bg; sleep 1; jobs; echo $((7 * 9)) still")
    ada.key("Enter")
    ada.wait("63 still")
    assert any("Stopped" in line for line in ada.lines), "the program is stopped again"
    ada.type("clear; fg")
    ada.key("Enter")
    ada.wait(ink())
    # Another process stops and continues the program.
    program = ada.process
    os.kill(program, signal.SIGSTOP)
    ada.wait_until(lambda: stopped(program), "a stopped program")
    ada.key("Enter")
    os.kill(program, signal.SIGCONT)
    ada.type("echo $((5 * 5)) is the shell")
    ada.key("Enter")
    ada.wait("25 is the shell")
    ada.wait_until(lambda: stopped(program), "a program that is stopped again in the background")
    ada.type("fg; echo EXIT $?")
    ada.key("Enter")
    ada.wait(ink())
    assert ada.flag("alternate_on") == "1" and ada.flag("mouse_any_flag") == "1", "the program shows its own screen again"
    ada.type("q")
    ada.wait("EXIT 0")
    assert given_back(ada), "the terminal is restored again"


def a_signal_ends_it_well_and_the_board_is_kept(directory):
    for turn, sent in enumerate((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)):
        name = f"ada{turn}"
        ada = Screen(name, directory, "host sprint --no-announce", WHITEBOARD_DATA_DIR=f"{directory}/ada")
        ada.wait("only you")
        if turn:
            ada.wait(ink())
        else:
            ada.drag((10, 10), (40, 14))
            ada.wait(ink())
            ada.wait("saved")
        os.kill(ada.process, sent)
        ada.wait("EXIT 0")
        assert given_back(ada), sent.name
    # The terminal itself closes.
    last = Screen("last", directory, "host sprint --no-announce", WHITEBOARD_DATA_DIR=f"{directory}/ada")
    last.wait(ink())
    program = last.process
    ada.tmux("kill-session", "-t", "last")
    ada.wait_until(lambda: not alive(program), "the end of a program without a terminal")
    again = Screen("again", directory, "host sprint --no-announce", WHITEBOARD_DATA_DIR=f"{directory}/ada")
    again.wait(ink())


def nothing_that_others_write_reaches_the_terminal(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    link = board_link(ada)
    title = ada.flag("pane_title")
    bad = "\x1b]0;TITLE\x07\x1b[5;5H\x1b[?1049l\x9b2J\u202egnp\u2066\u200f\r\n\t\x08\x7f漢字\U0001f468\u200d\U0001f469e\u0301"
    verbs = [
        {"verb": "profile", "name": f"E{bad}"}, {"verb": "say", "text": f"said {bad}"},
        {"verb": "text", "at": [-200, -100], "text": f"text {bad}"}, {"verb": "set", "title": f"t{bad}"},
        {"verb": "game", "game": "wordle", "at": [0, 100]}, {"verb": "say", "text": "that was all"}, {"verb": "wait", "seconds": 0},
    ]
    done = subprocess.run(
        [PROGRAM, "run", "--join", link, "--keep-going", "--as", "eve" + bad.replace("\r\n", "").replace("\0", "")],
        input="\n".join(json.dumps(verb) for verb in verbs) + "\n", capture_output=True, text=True,
        timeout=60 * PATIENCE, env={**os.environ, "WHITEBOARD_DATA_DIR": f"{directory}/eve"},
    )
    said = done.stdout + done.stderr
    assert "\x1b" not in said and "\x9b" not in said and "\u202e" not in said, "no control character reaches the sender's terminal"
    for one in (ada, ben):
        one.wait(lambda lines: "thatwasall" in "".join(line[75:] for line in lines).replace(" ", ""))
        one.wait("text ")
        one.wait("WORDLE")
        assert one.flag("pane_title") == title and "TITLE" not in one.flag("pane_title"), "the title is as it was"
        assert one.flag("alternate_on") == "1", "the screen is"
        lines = one.lines
        shown = "\n".join(lines)
        assert not any(sign in shown for sign in "\u202e\u2066\u200f\x9b\x1b"), "nothing turns the line"
        # The first row is the title, and the second row has the tools.
        for y in range(2, 27):
            assert column(lines[y], 74) in "│", f"row {y} is as wide as all: {lines[y]}"


def column(line, wanted):
    """Returns the character in a column of a line, in which some characters are two columns wide."""
    at, before = 0, ""
    for sign in line:
        if at == wanted:
            return sign
        if not unicodedata.combining(sign) and "\u200d" not in (sign, before):
            at += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        before = sign
    return ""


def a_demo_draws_with_whoever_looks_and_leaves_nothing(directory):
    left = f"{directory}/left"
    os.mkdir(left)
    ben = Screen("ben", directory, "demo", TMPDIR=left)
    ben.wait("2 people", 30)
    ben.wait(ink(), 30)
    ben.wait(lambda lines: any("Ada" in line for line in lines))
    ben.drag((10, 20), (40, 24))
    ben.type("q")
    ben.wait("EXIT 0")
    assert given_back(ben)
    assert os.listdir(left) == [], os.listdir(left)


def without_colours_or_a_screen_it_says_the_same(directory):
    plain = Screen("plain", directory, "host sprint --no-announce", NO_COLOR="1")
    plain.wait("only you")
    plain.type("3")
    plain.drag((10, 10), (40, 14))
    plain.wait(ink())
    shown = plain.tmux("capture-pane", "-p", "-e", "-t", "plain")
    assert not re.search(r"\x1b\[[0-9;]*\b([349][0-7]|10[0-7]|[34]8)\b", shown), "no colour is set"
    for name, arguments, environment in (
        ("dumb", "", {"TERM": "dumb"}), ("spoken", "--accessible", {}), ("asked", "", {"ACCESSIBLE": "1"}),
    ):
        lines = Screen(name, directory, f"host sprint --no-announce {arguments}", **environment)
        lines.wait("sprint")
        assert given_back(lines), "the terminal mode is unchanged"
        lines.type("text 0,0 hello as=word")
        lines.key("Enter")
        lines.wait("+ text")
        lines.type("quit")
        lines.key("Enter")
        lines.wait("EXIT 0")


class Bare:
    """A terminal that only passes bytes on."""

    def __init__(self, directory, *arguments):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(WHITEBOARD_DATA_DIR=f"{directory}/bare", TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(PROGRAM, [PROGRAM, *arguments])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 28, 100, 0, 0))
        self.written = b""

    def wait(self, text, answers=b"", within=15):
        """Waits until the program writes a text, and sends answers to all output."""
        deadline = time.monotonic() + within * PATIENCE
        while text not in self.written:
            if time.monotonic() > deadline:
                raise Failed(f"not written: {text}; but {self.written[-2000:]}")
            self.read(answers)

    def read(self, answers=b""):
        if select.select([self.terminal], [], [], 0.2)[0]:
            try:
                self.written += os.read(self.terminal, 65536)
            except OSError:
                return False
            if answers:
                os.write(self.terminal, answers)
        return True

    def leave(self, within=15):
        """Asks the program to end, repeatedly, until it restores the screen; returns its status.

        The repetition is needed because a Ctrl-C may only end an incomplete sequence. After the restore, it would be a
        signal."""
        deadline, asked = time.monotonic() + within * PATIENCE, 0.0
        while time.monotonic() < deadline:
            if time.monotonic() > asked + 1 and b"\x1b[?1049l" not in self.written:
                os.write(self.terminal, b"\x03")
                asked = time.monotonic()
            self.read()
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
        raise Failed(f"it does not end: {self.written[-2000:]}")


def a_terminal_that_answers_nothing_or_nonsense_is_drawn_on(directory):
    silent = Bare(directory, "host", "sprint", "--no-announce")
    silent.wait("only you".encode())
    silent.wait(b"Drag to draw")
    os.write(silent.terminal, b"\x1b[<0;11;11M\x1b[<32;41;15M\x1b[<0;41;15m")
    silent.wait("\u2809".encode()[:2])
    assert silent.leave() == 0
    assert silent.written.rindex(b"\x1b[?1049l") > silent.written.rindex(b"\x1b[?1049h"), "the screen is given back"
    nonsense = (
        b"\x1b[?99999999999c\x1b[?1016;1$y\x1b[6;0;0t\x1b[6;9999999;1t\x1b[4;1;1t\x1b]11;rgb:g/g/g\x07\x1b[<0;0;0M\x1b[<35;9999999;9999999M"
        b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c\x1bP\xff\xfe\x1b\\\x1b[9;9u\x9b\x80" + b"\x1b]" + b"z" * 5000
    )
    loud = Bare(directory, "host", "loud", "--no-announce")
    loud.wait(b"only you", nonsense)
    assert loud.leave() == 0


SCENES = [
    a_killed_peer_is_told_of_and_the_terminal_is_given_back,
    a_terminal_of_any_size_shows_the_board,
    a_missing_or_silent_daemon_delays_no_screen,
    a_terminal_that_is_small_or_changes_all_the_time_shows_the_board,
    who_stops_the_program_has_the_shell_and_comes_back,
    a_signal_ends_it_well_and_the_board_is_kept,
    nothing_that_others_write_reaches_the_terminal,
    a_demo_draws_with_whoever_looks_and_leaves_nothing,
    without_colours_or_a_screen_it_says_the_same,
    a_terminal_that_answers_nothing_or_nonsense_is_drawn_on,
]
