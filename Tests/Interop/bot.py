#!/usr/bin/env python3
"""A bot on a board: it draws a circle when a member writes `bot, draw`, and repeats other lines that begin with `bot,`.

Usage: bot.py LINK              joins by a join link
       bot.py HOST:PORT CODE    joins at an address, with the board's code (four words with - between them)
"""

import contextlib
import math
import sys

from whiteboard_peer.joining import join_board, new_lines


def answer(board, words, number):
    if words == "draw":
        turn = [2 * math.pi * step / 60 for step in range(61)]
        board.add_stroke([(140 * number + 60 * math.cos(t), 60 * math.sin(t)) for t in turn], colour=0x1F77B4FF)
        board.say("Here is a circle.")
    else:
        board.say(f"You said: {words}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with contextlib.suppress(KeyboardInterrupt), join_board(*sys.argv[1:], name="bot") as board:
        board.say("Hello! Write: bot, draw")
        for number, (_, text) in enumerate(new_lines(board)):
            called, comma, words = text.partition(",")
            if comma and called.strip().lower() == "bot":
                answer(board, words.strip(), number)


if __name__ == "__main__":
    main()
