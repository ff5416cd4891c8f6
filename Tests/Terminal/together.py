"""Scenes of two people who draw together."""

import re
import time

from screens import BRAILLE, Screen, drawn, ink, pair


def who_finds_a_board_in_the_lobby_draws_with_its_host(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ben.wait("2 people")
    ada.drag(*[(x, 5 + x % 7) for x in range(10, 50)])
    ada.wait(ink())
    ben.wait(ink())
    ben.type("t")
    ben.send("^[<0;30;20M")
    ben.wait("Alt+Enter new line")
    ben.type("hello 漢字")
    ben.key("Enter")
    ben.send("^[<35;10;24M")
    for one in (ada, ben):
        one.wait("hello 漢字")
    ada.wait(lambda lines: "▲" in lines[23] and "ben" in lines[24])
    ada.type("cis it you?")
    ada.key("Enter")
    ben.wait("ada: is it you?")
    ada.wait(lambda lines: "saved; synced with 1" in "\n".join(lines))
    ben.key("q")
    ben.wait("boards nearby")
    ben.key("q")
    ben.wait("EXIT 0")
    ada.wait("only you")


def a_board_that_admits_by_a_code_asks_for_it(directory):
    ada, ben = pair(directory, admit="code")
    ben.wait("join code (four words)")
    ada.type("J")
    lines = ada.wait("Join code: ")
    code = re.search(r"Join code: ([a-z-]+)", "\n".join(lines))[1]
    ada.key("Escape")
    ben.type("no-such-code-here")
    ben.key("Enter")
    ben.wait("is not a word of a join code")
    ben.wait("join code (four words)")
    ben.type(code)
    ben.key("Enter")
    ben.wait("2 people")


def who_asks_to_join_is_let_in_by_a_key_when_both_see_the_same_words(directory):
    ada, ben = pair(directory, admit="ask")
    shown = []
    for one, question in ((ada, "asks to join"), (ben, "Joining ada")):
        one.wait(question)
        lines = one.wait("Both screens must show these words")
        at = next(y for y, line in enumerate(lines) if "Both screens" in line)
        shown.append(lines[at + 2].split("│")[1].split())
        one.wait("left to answer")
    assert shown[0] == shown[1] and len(shown[0]) == 3, f"the same words: {shown}"
    ben.type("y")
    ada.type("y")
    for one in (ada, ben):
        one.wait("2 people")


def the_guest_may_compare_the_words_long_after_the_host_has_accepted(directory):
    ada, ben = pair(directory, admit="ask")
    answer_late(ada, ben, "has compared the verification words")


def the_host_may_accept_long_after_the_guest_has_compared_the_words(directory):
    ada, ben = pair(directory, admit="ask")
    answer_late(ben, ada, "left to accept")


def answer_late(early, late, waiting):
    """Answers the second question later than an open link may be silent (6 s)."""
    for one in (early, late):
        one.wait("left to answer")
    early.type("y")
    early.wait(waiting)
    time.sleep(8)
    late.wait("left to answer")
    late.type("y")
    for one in (early, late):
        one.wait("2 people")


def two_who_type_in_one_text_keep_both(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ada.type("t")
    ada.send("^[<0;30;12M")
    ada.wait("Alt+Enter new line")
    ada.type("middle")
    ben.wait("middle")
    # Ben types at the beginning while Ada types at the end.
    ben.type("t")
    ben.send("^[<0;30;12M")
    ben.wait("Alt+Enter new line")
    ben.key("Home")
    for letter in range(4):
        ben.type("left"[letter])
        ada.type("gone"[letter])
    for one in (ada, ben):
        one.wait("leftmiddlegone")
    ada.key("Enter")
    ben.key("Escape")
    assert ada.lines[11] == ben.lines[11], "the same on both"
    # The typed text is one step, and an undo removes only Ada's own characters.
    ada.wait(lambda lines: "saved; synced with 1" in lines[27])
    ada.type("u")
    for one in (ada, ben):
        one.wait(lambda lines: any("left" in line for line in lines) and not any("gone" in line for line in lines))


def everything_is_done_by_keys_and_the_other_sees_it(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")

    def places(lines):
        return [y for y, line in enumerate(lines[:27]) if "word" in line[:74]]

    def both_show(holds, what):
        holds.__doc__ = what
        for one in (ada, ben):
            one.wait(holds)
        return places(ben.lines)

    ada.type("t; ")
    ada.wait("Alt+Enter new line")
    ada.type("word")
    ada.key("Enter")
    ada.type(";p")
    [row] = both_show(lambda lines: len(places(lines)) == 1, "a word")
    ada.key("Tab")
    ada.wait("arrows move")
    # Ben's screen shows which member selected the object.
    ben.wait(lambda lines: any("ada" in line[:74] for line in lines))
    ada.key("C-Down", "C-Down", "C-Down")
    both_show(lambda lines: places(lines) == [row + 3], "a word three rows further down")
    ada.type("......")
    both_show(lambda lines: any("word ↻90" in line for line in lines[:27]), "a word that stands on its end")
    ada.type("uuuuuu")
    both_show(
        lambda lines: places(lines) == [row + 3] and not any("↻" in line for line in lines[:27]),
        "a word that lies again",
    )
    ada.type("d")
    ada.key("Escape")
    # A key directly after Escape would be read as Alt with that key.
    ada.wait(lambda lines: not any("■" in line for line in lines))
    two = both_show(lambda lines: len(places(lines)) == 2, "two words")
    ada.key("C-a")
    ada.wait("arrows move")
    ada.type("g")
    ada.key("C-Up", "C-Up", "C-Up")
    ada.key("Escape")
    moved = [y - 3 for y in two]
    both_show(lambda lines: places(lines) == moved, "two words that moved together")
    ada.key("C-a")
    ada.wait("arrows move")
    ada.type("x")
    both_show(lambda lines: places(lines) == [], "no word")
    ada.type("u")
    ada.wait("arrows move")
    ada.key("Escape")
    both_show(lambda lines: places(lines) == moved, "what was taken back")


def who_follows_sees_the_same_part(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ada.drag(*[(x, 5 + x % 7) for x in range(10, 50, 2)])
    # No pointer covers the drawing.
    ada.send("^[O")
    ben.wait(ink())
    ada.type("f")
    ada.wait("following ben")

    def cells(screen):
        """The cells with ink. Positions are rounded to whole units, so the dots in a cell may differ."""
        return [[sign != " " for sign in line] for line in drawn(screen.lines)]

    before = cells(ben)
    ben.key("Right", "Right", "Down")
    ben.type("+")
    ada.wait("125%")
    ada.wait_until(lambda: cells(ben) != before and cells(ada) == cells(ben), "what ben sees")
    ada.key("Left")
    ada.wait("no longer following ben")
    ben.type("-")
    ben.wait("100%")
    ada.wait("125%")


def a_laser_is_seen_by_the_other(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    ben.wait("2 people")
    ben.type("k")
    for x in range(10, 20):
        ben.send(f"^[<35;{x + 1};10M")
    ada.wait(lambda lines: "✶" in lines[9] and "ben" in lines[10])
    ben.type("p")
    ben.send("^[<35;30;12M")
    ada.wait(lambda lines: "▲" in lines[11])


def the_menu_opens_by_the_right_button_and_by_space(directory):
    ada = Screen("ada", directory, "host sprint --no-announce")
    ada.wait("only you")
    ada.type(" ")
    ada.wait("show everything")
    ada.key("Down", "Down", "Enter")
    ada.wait(lambda lines: "select " in lines[0] and not any("show everything" in line for line in lines))
    ada.type("p")
    ada.drag((10, 10), (40, 10))
    ada.wait(ink())
    count = sum(len(BRAILLE.findall(line)) for line in ada.lines)
    ada.send("^[<2;21;11M^[<2;21;11m")
    lines = ada.wait("to the front")
    y = next(y for y, line in enumerate(lines) if "duplicate" in line)
    x = lines[y].index("duplicate")
    ada.send(f"^[<0;{x + 1};{y + 1}M^[<0;{x + 1};{y + 1}m")
    ada.wait(lambda lines: not any("to the front" in line for line in lines))
    ada.key("Escape")
    ada.wait(lambda lines: sum(len(BRAILLE.findall(line)) for line in lines) > count + 10)


SCENES = [
    who_finds_a_board_in_the_lobby_draws_with_its_host,
    a_board_that_admits_by_a_code_asks_for_it,
    who_asks_to_join_is_let_in_by_a_key_when_both_see_the_same_words,
    the_guest_may_compare_the_words_long_after_the_host_has_accepted,
    the_host_may_accept_long_after_the_guest_has_compared_the_words,
    two_who_type_in_one_text_keep_both,
    everything_is_done_by_keys_and_the_other_sees_it,
    who_follows_sees_the_same_part,
    a_laser_is_seen_by_the_other,
    the_menu_opens_by_the_right_button_and_by_space,
]
