"""Scenes of joining: the screen while connecting, and boards with a copy on this computer."""

import re
import socket

from screens import BRAILLE, Screen, ink, pair


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
    ada.type("y")
    ben.wait("2 people")


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


SCENES = [
    an_address_that_stays_silent_is_shown_and_nothing_can_be_drawn_meanwhile,
    who_waits_for_a_person_is_told_for_whom,
    a_board_that_one_has_a_copy_of_is_one_entry_and_opens_as_what_is_running,
]
