"""Scenes of panels, messages and the list of the lobby."""

import pathlib
import random
import re
import struct
import subprocess

from screens import PROGRAM, Screen, ink, pair

SIZES = ((120, 40), (80, 24), (40, 12))


def closed(lines):
    """no box over the board"""
    return not any("└" in line for line in lines)


def every_answer_opens_a_panel_that_scrolls_at_any_size(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    # Ben must be in the list of peers and in the chat.
    for n in range(40):
        ada.type(f":text 0,{n * 9 - 180} \"note {n}\"")
        ada.key("Enter")
    ben.wait("note 39")
    ben.type("cwhere are we?")
    ben.key("Enter")
    for columns, rows in SIZES:
        ada.resize(columns, rows)
        ada.wait(lambda lines: len(lines) >= rows and "sprint" in lines[0])
        for command, title, first, last in (
            ("objects", "Objects", "40 objects", "note 39"), ("help", "Commands", "text X,Y", "request=ID"),
            ("peers", "People", "1 peer connected", "ben ("), ("help text", "Commands", "text X,Y", "JSON keys"),
        ):
            ada.type(f":{command}")
            ada.key("Enter")
            lines = ada.wait(lambda lines: any(title in line for line in lines[:2]) and any(first in line for line in lines))
            assert not any(r"\n  " in line for line in lines), lines
            ada.key("End")
            ada.wait(lambda lines: any(last in line for line in lines))
            ada.key("Home")
            ada.wait(lambda lines: any(re.search(r" 1–\d+ of \d+ ", line) for line in lines))
            ada.type("q")
            ada.wait(closed)
        ada.type("C")
        ada.wait(lambda lines: any("ben: where are we?" in line for line in lines) and "Chat" in lines[1])
        ada.key("Escape")
        ada.wait(closed)
        for title in ("Draw", "Look around", "Select and change", "People, chat and games", "Board and program"):
            ada.key("?")
            ada.wait(lambda lines: "Keys" in lines[1])
            for _ in range(20):
                lines = ada.lines
                if any(title in line for line in lines):
                    break
                ada.key("PageDown")
                ada.wait(lambda now: now != lines)
            ada.wait(title)
            ada.key("Escape")
            ada.wait(closed)


def who_misses_a_chat_line_on_a_small_terminal_reads_it_later(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ada.resize(80, 24)
    ada.wait(lambda lines: not any("│ people" in line for line in lines))
    ben.wait("2 people")
    ben.type("care you there?")
    ben.key("Enter")
    ada.wait("ben: are you there?")
    ada.wait(lambda lines: "1 new in chat: C" in lines[0] and not any("are you there?" in line for line in lines), 20)
    ada.key("Space")
    ada.wait("read the chat")
    ada.type("C")
    ada.wait("ben: are you there?")
    ada.type("cyes")
    ada.key("Enter")
    ben.wait("ada: yes")
    ada.wait("ada: yes")
    ada.key("Escape")
    ada.wait(lambda lines: "new in chat" not in lines[0])


def a_message_that_is_too_long_for_its_line_is_read_in_a_box(directory):
    ada = Screen("ada", directory, "host sprint --no-announce", columns=40, rows=12)
    ada.wait(lambda lines: "sprint" in lines[0])
    ada.type("X/no/such/directory/with/a/long/name/plan.png")
    ada.key("Enter")
    lines = ada.wait("Esc closes")
    inner = "".join(line.strip("│ ") for line in lines if line.startswith("│"))
    assert inner.replace(" ", "").endswith("plan.png)"), inner
    ada.key("Escape")
    ada.wait(closed)
    ada.type(f"X{directory}/plan.svg")
    ada.key("Enter")
    ada.wait(lambda _: pathlib.Path(directory, "plan.svg").exists())
    ada.wait("Exported")


def control_z_suspends_everywhere_where_a_shell_can_continue_it(directory):
    ada = Screen("ada", directory, "--no-announce", in_shell=True)
    ada.wait("boards nearby")

    def stop_and_return(seen):
        ada.key("C-z")
        ada.wait("Stopped")
        assert ada.flag("alternate_on") == "0", "the terminal is given back"
        ada.type("clear; fg")
        ada.key("Enter")
        ada.wait(seen)
        assert ada.flag("alternate_on") == "1", "the program shows its own screen again"

    stop_and_return("boards nearby")
    ada.type("n")
    ada.wait("only you")
    ada.drag((10, 10), (40, 14))
    ada.wait(ink())
    stop_and_return(ink())
    ada.type("?")
    ada.wait("Look around")
    stop_and_return("Look around")
    ada.key("Escape")
    ada.wait(closed)
    ada.type("chalf a word")
    ada.wait("say: half a word")
    stop_and_return("say: half a word")
    ada.key("Escape")
    ada.wait(lambda lines: not any("say:" in line for line in lines))
    ada.type("u")
    ada.wait("Undone: drawing")
    # If no shell could continue the program, it is not suspended.
    ben = Screen("ben", directory, "--no-announce")
    ben.wait("boards nearby")
    ben.key("C-z")
    ben.wait("Cannot suspend")
    ben.type("n")
    ben.wait("only you")
    ben.key("C-z")
    ben.wait("Cannot suspend")
    ben.drag((10, 10), (40, 14))
    ben.wait(ink())


def a_game_says_whose_turn_it_is_and_a_pointer_that_rests_fades(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ada.type("W")
    ada.wait("a seat is free")
    ben.wait("a seat is free")
    # The prompt for the first move is already open.
    ada.wait("column, 1 to 7:")
    ada.type("4")
    ada.key("Enter")
    ada.wait("a seat is free")
    ben.wait(lambda lines: any("●" in line for line in lines[2:26]))
    ben.type("W")
    ben.wait("column, 1 to 7:")
    ben.type("3")
    ben.key("Enter")
    ada.wait("Your turn in Connect Four: W plays")
    ada.wait(lambda lines: "Your turn: W" in lines[0] and any("Your turn" in line[:74] for line in lines[2:]))
    ben.wait("ada's turn")
    assert "Your turn" not in "".join(ben.lines), ben.lines
    # While a pointer moves, it shows the name of its member.
    ben.send("^[<35;60;20M")
    ada.wait(lambda lines: "ben" in lines[20][:74])
    ada.wait(lambda lines: "ben" not in lines[20][:74], 20)
    ada.wait(lambda lines: not any("▲" in line for line in lines), 40)
    ben.send("^[<35;62;20M")
    ada.wait(lambda lines: "ben" in lines[20][:74])


def the_list_of_the_lobby_scrolls_by_home_and_end(directory):
    made = [f"board{n:02}" for n in range(24)]
    for name in made:
        subprocess.run(
            [PROGRAM, "run", "--host", name, "--no-announce", "--data-dir", f"{directory}/ada"],
            input="quit\n", capture_output=True, text=True, timeout=60, check=True,
        )
    ada = Screen("ada", directory, columns=40, rows=12)
    ada.wait("your boards")
    assert not any(made[0] in line for line in ada.lines), "the oldest is the last"
    ada.key("End")
    ada.wait(made[0])
    ada.key("Home")
    ada.wait(made[-1])
    ada.key("PageDown", "PageDown")
    ada.wait(lambda lines: not any(made[-1] in line for line in lines))
    ada.key("End", "Enter")
    ada.wait(lambda lines: made[0] in lines[0] and "only you" in lines[0])


def flip_a_bit(path):
    """Flips one bit in the middle of the log of a board whose host was killed."""
    log = pathlib.Path(f"{path}-wal")
    data = bytearray(log.read_bytes())
    committed = struct.unpack_from("=I", pathlib.Path(f"{path}-shm").read_bytes(), 16)[0]
    assert committed > 10, committed
    at = 32 + committed // 2 * (4096 + 24) + 24 + random.Random(16).randrange(4096)
    data[at] ^= 4
    log.write_bytes(data)


def a_damaged_board_is_marked_in_the_lobby_and_opening_it_says_what_happened(directory):
    host = subprocess.Popen(
        [PROGRAM, "host", "sprint", "--no-announce", "--json", "--data-dir", f"{directory}/ada"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    for n in range(40):
        host.stdin.write(f'text {n},{n} "note {n}"\n')
        host.stdin.flush()
        # Wait for each answer, so that each text is committed separately.
        next(line for line in host.stdout if '"event":"done"' in line)
    host.kill()
    host.wait()
    host.stdin.close()
    host.stdout.close()
    (path,) = pathlib.Path(directory, "ada", "boards").glob("*.whiteboard")
    flip_a_bit(path)
    ada = Screen("ada", directory, columns=120, rows=40)
    ada.wait(lambda lines: any("sprint  DAMAGED: run whiteboard-peer boards recover" in line for line in lines))
    ada.key("End", "Enter")
    ada.wait("only you")
    ada.wait("Esc closes")
    ada.wait("damaged")
    # All notes are there.
    ada.wait("note 39")
    ada.key("Escape")
    ada.wait(lambda lines: not any("Esc closes" in line for line in lines))
    ada.type("q")
    # A copy of the damaged file stays, and the mark stays until the copy is moved away.
    ada.wait("sprint  DAMAGED")
    ada.resize(40, 12)
    ada.wait("sprint  DAMAGED")


SCENES = [
    every_answer_opens_a_panel_that_scrolls_at_any_size,
    who_misses_a_chat_line_on_a_small_terminal_reads_it_later,
    a_message_that_is_too_long_for_its_line_is_read_in_a_box,
    control_z_suspends_everywhere_where_a_shell_can_continue_it,
    a_game_says_whose_turn_it_is_and_a_pointer_that_rests_fades,
    the_list_of_the_lobby_scrolls_by_home_and_end,
    a_damaged_board_is_marked_in_the_lobby_and_opening_it_says_what_happened,
]
