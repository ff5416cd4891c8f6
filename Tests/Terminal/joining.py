"""Scenes of joining: the screen while connecting, and boards with a local copy."""

import os
import re
import socket
import subprocess

from screens import BRAILLE, PROGRAM, Screen, board_link, ink, pair


def an_address_that_stays_silent_is_shown_and_nothing_can_be_drawn_meanwhile(directory):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        sizes = [(120, 40), (80, 24), (40, 12)]
        for columns, rows in sizes:
            name = f"ben{columns}"
            ben = Screen(name, directory, "join", address, columns=columns, rows=rows)
            ben.wait(f"Connecting to {address}")
            ben.wait("Connected; waiting for an answer.")
            ben.wait("Esc or q cancels")
            ben.drag((5, 5), (15, 7), (25, 6))
            ben.type("t")
            assert not any(BRAILLE.search(line) for line in ben.lines), "nothing is drawn"
            if (columns, rows) == sizes[-1]:
                lines = ben.wait("EXIT 69", 25)
                said = "".join(line.ljust(columns) for line in lines).replace("\n", "")
                assert "accepted the connection" in said and "Check the address" in said, said
            else:
                ben.key("Escape")
                ben.wait("EXIT 0")


def who_waits_for_a_person_is_told_for_whom(directory):
    ada, ben = pair(directory, admit="ask")
    ben.wait("Both screens must show these words")
    ben.type("y")
    ben.wait("Waiting for ada to accept.")
    ada.wait("asks to join")
    assert words(ada) == words(ben), "ada can still compare the words"
    ada.type("y")
    ben.wait("2 people")


def who_joins_by_a_link_sees_the_words_that_the_host_can_compare(directory):
    ada = Screen("ada", directory, "host sprint", WHITEBOARD_ADMIT="ask")
    ada.wait("only you")
    ben = Screen("ben", directory, "join", f"'{board_link(ada)}'")
    ben.wait("Waiting for ada to accept.")
    ada.wait("asks to join")
    assert words(ada) == words(ben)
    ada.type("y")
    ben.wait("2 people")


def words(screen):
    """Waits for the three words that two users compare; returns them."""
    lines = screen.wait("Both screens must show these words")
    at = next(y for y, line in enumerate(lines) if "Both screens" in line)
    line = lines[at + 2]
    # A question is in a box.
    found = (line.split("│")[1] if "│" in line else line).split()
    assert len(found) == 3, f"three words: {found}"
    return found


def a_board_that_one_has_a_copy_of_is_one_entry_and_opens_as_what_is_running(directory):
    ada, ben = pair(directory)
    ben.wait("2 people")
    ada.drag(*[(x, 5 + x % 7) for x in range(10, 50)])
    ben.wait(ink())
    ben.key("q")
    ben.wait("yours, ada is on it")
    ada.wait("only you")
    lines = ben.lines
    assert sum("sprint" in line for line in lines) == 1, lines
    ada.type("t")
    ada.send("^[<0;30;20M")
    ada.wait("Alt+Enter new line")
    ada.type("meanwhile")
    ada.key("Enter")
    ben.key("Enter")
    ben.wait("2 people")
    ben.wait("meanwhile")
    ada.wait("2 people")
    ben.key("q")
    ben.wait("yours, ada is on it")
    ada.key("q")
    lines = ben.wait(lambda lines: any(re.search(r"sprint  \d+ object", line) for line in lines))
    assert not any("is on it" in line for line in lines), lines


def a_question_disappears_when_the_guest_gives_up(directory):
    ada, ben = pair(directory, admit="ask")
    ada.wait("asks to join")
    ada.wait("A always admit ben")
    ben.key("Escape")
    ada.wait("no longer asks to join")
    assert not any("always admit" in line for line in ada.lines), ada.lines
    ada.type("y")
    ada.type(":accept ben")
    ada.key("Enter")
    ada.wait("nothing left to answer")


def who_is_removed_sees_by_whom_and_why_and_decides_what_becomes_of_the_copy(directory):
    ada, ben = pair(directory)
    ben.wait("2 people")
    ben.drag(*[(x, 5 + x % 7) for x in range(10, 50)])
    ada.wait(ink())
    ada.type(':kick ben "too loud"')
    ada.key("Enter")
    ben.wait("ada removed you from this board: too loud. Your copy is kept.")
    ben.wait("continue with your own copy")

    def only_views(lines):
        """the board without the box"""
        text = "\n".join(lines)
        return "ada removed you; read-only" in text and "your own copy" not in text

    ben.press_until("Enter", only_views)
    ben.wait(ink())
    ben.type(':text 0,0 "more"')
    ben.key("Enter")
    ben.wait("read-only: ada removed you")
    ben.key("q")
    ben.wait("yours, ada is on it")
    # The board refuses Ben, so his local copy opens instead.
    ben.key("Enter")
    ben.wait("ada removed you from this board: too loud. Your copy is kept.")
    ben.press_until("c", "This is your own copy now.")
    ben.type(':text 0,0 "more"')
    ben.key("Enter")
    ben.wait("more")
    ben.wait(ink())


def lists_have_one_line_for_a_board_whoever_announces_it(directory):
    ada, ben = pair(directory)
    ben.wait("2 people")

    def lines(name, *arguments):
        environment = {**os.environ, "WHITEBOARD_DATA_DIR": f"{directory}/{name}"}
        return subprocess.run(
            [PROGRAM, *arguments], env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()

    found = lines("cy", "nearby", "--timeout", "3")
    assert len(found) == 1, found
    assert re.search('^nearby: "sprint" by ada and ben, 2 people there, at ', found[0]), found
    own = lines("ben", "nearby", "--timeout", "3")
    assert len(own) == 1 and own[0].startswith('nearby: "sprint": yours, ada and ben are on it'), own
    kept = lines("ben", "boards", "--nearby")
    assert len(kept) == 2 and "  ada and ben are on it  " in kept[1], kept
    ben.key("q")
    ben.wait("yours, ada is on it")
    kept = lines("ben", "boards", "--nearby")
    assert len(kept) == 2 and "  ada is on it  " in kept[1], kept
    ada.key("q")
    ada.wait("boards nearby")
    kept = lines("ben", "boards", "--nearby")
    assert len(kept) == 2 and "on it" not in kept[1], kept


SCENES = [
    lists_have_one_line_for_a_board_whoever_announces_it,
    a_question_disappears_when_the_guest_gives_up,
    who_is_removed_sees_by_whom_and_why_and_decides_what_becomes_of_the_copy,
    an_address_that_stays_silent_is_shown_and_nothing_can_be_drawn_meanwhile,
    who_waits_for_a_person_is_told_for_whom,
    who_joins_by_a_link_sees_the_words_that_the_host_can_compare,
    a_board_that_one_has_a_copy_of_is_one_entry_and_opens_as_what_is_running,
]
