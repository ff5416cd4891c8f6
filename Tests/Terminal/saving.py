"""Scenes of unsaved work: the warning on every screen, and leaving."""

import os
import pathlib
import signal
import subprocess

from screens import PROGRAM, Screen, ink

FULL = " NOT SAVED: disk full"


def disk(size="400k"):
    """Mounts a small disk for the data of the programs; it is removed with the scene's private mounts."""
    point = pathlib.Path("/run/whiteboard-disk")
    point.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", point], check=True)
    return point


def fill(point):
    subprocess.run(["dd", "if=/dev/zero", f"of={point}/ballast", "bs=1k"], capture_output=True)


def problem(lines):
    """Whether the first line says NOT SAVED, and no line says that all is saved."""
    return lines[0].startswith(FULL) and not any("saved;" in line or "Everything is saved" in line for line in lines)


def is_framed(lines):
    """Whether a menu or a box covers the board."""
    return any("└" in line for line in lines)


def objects(file, directory):
    """Opens a board again by name or file, and returns the number of its objects."""
    done = subprocess.run(
        [PROGRAM, "run", "--host", str(file), "--no-announce", "--data-dir", str(directory)],
        input="objects\nquit\n", capture_output=True, text=True, timeout=60,
    )
    return next(line for line in done.stdout.splitlines() if line.endswith(("objects", "object")))


def draw_six(ada):
    for n in range(6):
        ada.drag((4 + 2 * n, 4), (5 + 2 * n, 6), (6 + 2 * n, 8))
    ada.wait(ink(slice(1, 11)))


def a_full_disk_is_told_of_on_every_screen_and_leaving_asks(directory):
    data = disk()
    ada = Screen("ada", directory, "host sprint --no-announce", columns=120, rows=40, WHITEBOARD_DATA_DIR=str(data))
    ada.wait("only you")
    ada.wait("saved; no other members")
    fill(data)
    draw_six(ada)
    for columns, rows in ((120, 40), (80, 24), (40, 12)):
        ada.resize(columns, rows)
        # The messages at the bottom disappear, and the problem stays.
        ada.wait(lambda lines: problem(lines) and lines[rows - 1].startswith(f"{FULL}; no other"), 25)
        for key in ("Space", "?", "J"):
            ada.key(key)
            ada.wait(lambda lines: problem(lines) and is_framed(lines))
            ada.key("Escape")
            ada.wait(lambda lines: problem(lines) and not is_framed(lines))
    ada.resize(80, 24)
    red = ada.tmux("capture-pane", "-e", "-p", "-t", "ada").split("\n")[0]
    assert "48;2;154;51;36m NOT SAVED: disk full" in red, f"it is red: {red!r}"
    for leave in ("q", ":quit\r"):
        ada.send(leave)
        ada.wait("Quitting now loses the last changes.")
        ada.key("Escape")
        ada.wait(lambda lines: not any("Quitting now" in line for line in lines))
    os.kill(ada.process, signal.SIGTERM)
    ada.wait("Quitting now loses the last changes.")
    copy = pathlib.Path(directory, "copy.whiteboard")
    ada.type("s")
    ada.wait(":save-as")
    ada.type(str(copy))
    ada.key("Enter")
    ada.wait(lambda lines: lines[0].startswith(f"{FULL} ") and "save-as FILE" not in lines[0])
    # Work would no longer be lost, so the request to end takes effect.
    ada.wait(lambda lines: any("the copy was saved" in line for line in lines))
    ada.type("q")
    ada.wait("EXIT 74")
    ada.wait("NOT SAVED: disk full.")
    assert objects(copy, f"{directory}/other") == "6 objects", "all objects are in the copy"


def a_disk_with_room_again_is_written_to_by_itself(directory):
    data = disk()
    ada = Screen("ada", directory, "host sprint --no-announce", columns=80, rows=24, WHITEBOARD_DATA_DIR=str(data))
    ada.wait("saved; no other members")
    fill(data)
    draw_six(ada)
    ada.wait(problem)
    ada.type("q")
    ada.wait("Quitting now loses the last changes.")
    ada.type("r")
    ada.wait(lambda lines: problem(lines) and any("Quitting now" in line for line in lines))
    (data / "ballast").unlink()
    # The program ends on its own once everything is saved.
    ada.wait("EXIT 0", 25)
    assert objects("sprint", data) == "6 objects", "all objects are in the file"


def who_leaves_anyway_reads_in_the_lobby_what_was_lost(directory):
    data = disk()
    ada = Screen("ada", directory, columns=80, rows=24, WHITEBOARD_DATA_DIR=str(data))
    ada.wait("boards nearby")
    ada.type("n")
    ada.wait("saved; no other members")
    fill(data)
    draw_six(ada)
    ada.type("q")
    ada.wait("Quitting now loses the last changes.")
    ada.type("x")
    ada.wait(lambda lines: lines[0].startswith(FULL) and any("your boards" in line for line in lines))
    ada.key("Down")
    ada.wait(lambda lines: lines[0].startswith(FULL))
    ada.type("q")
    ada.wait("EXIT 0")


def lines_say_it_too_and_ask_whoever_quits(directory):
    data = disk()
    ada = Screen(
        "ada", directory, "host sprint --no-announce --accessible", columns=120, rows=40, WHITEBOARD_DATA_DIR=str(data)
    )
    ada.wait("sprint")
    fill(data)
    ada.type("text 0,0 words")
    ada.key("Enter")
    ada.wait("! NOT SAVED: disk full.")
    for leave in ("quit", None):
        ada.tmux("clear-history", "-t", "ada")
        if leave:
            ada.type(leave)
            ada.key("Enter")
        else:
            ada.key("C-c")
        ada.wait("! NOT SAVED: disk full: quitting now loses the last changes.")
    (data / "ballast").unlink()
    ada.type("save")
    ada.key("Enter")
    ada.wait("- saved: everything is on disk")
    ada.type("quit")
    ada.key("Enter")
    ada.wait("EXIT 0")
    assert objects("sprint", data) == "1 object", "the object is in the file"


SCENES = [
    a_full_disk_is_told_of_on_every_screen_and_leaving_asks,
    a_disk_with_room_again_is_written_to_by_itself,
    who_leaves_anyway_reads_in_the_lobby_what_was_lost,
    lines_say_it_too_and_ask_whoever_quits,
]
