#!/usr/bin/python3
"""Writes Protocol/Vectors/games.json from the text of Protocol/games.md alone.

This script does not call the Swift code. The moves, and the results of small cases, are written by hand;
the rest is computed here, in the simplest way that the rules allow.

  make_vectors_games.py           writes the file
  make_vectors_games.py --check   compares it, and fails on a difference
"""

import base64
import hashlib
import json
import random

from vector_file import PROTOCOL, write_or_check

TARGET = PROTOCOL / "Vectors" / "games.json"
LIST = (PROTOCOL / "Wordle.txt").read_bytes()
HASH = hashlib.sha256(LIST).digest()
ANSWERS, OTHERS = (part.split() for part in LIST.decode().split("\n\n"))
WORDS = set(ANSWERS) | set(OTHERS)
MASK = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def key(*words):
    h = 0
    for word in (int.from_bytes(b"wordle-1", "big"), *words):
        h = mix(h ^ word)
    return h


def hide(word, *dots):
    s = mix(key(*(part for dot in dots for part in dot)))
    letters = int.from_bytes(word.encode(), "big")
    check = mix(s ^ letters) >> 40
    return ((letters * 2**24 + check) ^ s).to_bytes(8, "big")


def show(data, *dots):
    s = mix(key(*(part for dot in dots for part in dot)))
    if len(data) != 8:
        return None
    letters, check = divmod(int.from_bytes(data, "big") ^ s, 2**24)
    word = letters.to_bytes(5, "big")
    if not all(97 <= b <= 122 for b in word) or check != mix(s ^ letters) >> 40:
        return None
    return word.decode()


def text(dot):
    return f"{dot[1]}-" + base64.b32encode(dot[0].to_bytes(8, "big")).decode().lower().rstrip("=")


def member(number):
    return bytes([number]) * 32


def marks(guess, answer):
    left = [a for a, g in zip(answer, guess) if a != g]
    result = ""
    for g, a in zip(guess, answer):
        if g == a:
            result += "="
        elif g in left:
            left.remove(g)
            result += "~"
        else:
            result += "-"
    return result


# --- folds --------------------------------------------------------------------------------------

GAME = (7, 1)


class Moves:
    """Moves of members. The first incarnation of a member is its number, the second incarnation is 100 more."""

    def __init__(self):
        self.list = []
        self.sequence = {}

    def add(self, who, data, time, second=False):
        incarnation = who + 100 if second else who
        sequence = self.sequence.get(incarnation, 1) + 1
        self.sequence[incarnation] = sequence
        dot = (incarnation, sequence)
        if callable(data):
            data = data(dot)
        self.list.append((time, dot, who, data))

    def guess(self, who, word, time, second=False):
        self.add(who, lambda dot: hide(word, GAME, dot), time, second)

    def json(self):
        return [{"move": text(dot), "time": str(time), "member": member(who).hex(), "hex": data.hex()}
                for time, dot, who, data in self.list]


def wordle(answer, moves):
    rows, won, ignored = {}, [], []
    for time, dot, who, data in sorted(moves.list):
        word = show(data, GAME, dot)
        own = rows.setdefault(who, [])
        if word is None:
            ignored.append([text(dot), "malformed-move"])
        elif len(own) == 6 or answer in own:
            ignored.append([text(dot), "game-over"])
        elif word not in WORDS:
            ignored.append([text(dot), "unknown-word"])
        else:
            own.append(word)
            if word == answer:
                won.append((len(own), time, dot, who))
    return {
        "ignored": ignored,
        "winners": [{"member": member(w[3]).hex(), "tries": w[0]} for w in sorted(won)],
        "rows": [{"member": member(who).hex(), "rows": [[w, marks(w, answer)] for w in own]}
                 for who, own in sorted(rows.items()) if own],
    }


def has_four(cells, column, row):
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for back in range(4):
            four = [(column + (i - back) * right, row + (i - back) * up) for i in range(4)]
            if all(cells.get(p) == cells[(column, row)] for p in four):
                return True
    return False


def connect_four(invited, moves):
    cells, players, ignored, state, winner = {}, [], [], "playing", None
    for _, dot, who, data in sorted(moves.list):
        seats_full = len(players) == 2
        if len(data) != 1 or (data[0] > 6 and data[0] != 255):
            reason = "malformed-move"
        elif state != "playing":
            reason = "game-over"
        elif data[0] == 255:
            reason = None if who in players else "not-a-player"
            if reason is None:
                state = "resigned"
                others = [p for p in players if p != who]
                winner = others[0] if others else None
        elif who not in players and (seats_full or (invited and who not in invited)):
            reason = "not-a-player"
        elif who in players and players.index(who) != len(cells) % 2:
            reason = "not-your-turn"
        elif (data[0], 5) in cells:
            reason = "column-full"
        else:
            reason = None
            if who not in players:
                players.append(who)
            row = sum(1 for c, _ in cells if c == data[0])
            cells[(data[0], row)] = "RY"[players.index(who)]
            if has_four(cells, data[0], row):
                state, winner = "won", who
            elif len(cells) == 42:
                state = "drawn"
        if reason:
            ignored.append([text(dot), reason])
    return {
        "ignored": ignored,
        "winners": [{"member": member(winner).hex()}] if winner else [],
        "state": state,
        "grid": ["".join(cells.get((c, r), ".") for c in range(7)) for r in reversed(range(6))],
    }


def wordle_games():
    setup = bytes([1]) + HASH + hide("crane", GAME)
    cases = []

    def case(name, fill):
        moves = Moves()
        fill(moves)
        cases.append({"name": name, "game": "wordle", "object": text(GAME), "setup": setup.hex(),
                      "moves": moves.json(), **wordle("crane", moves)})

    def ties(m):
        m.guess(1, "slate", 10)
        m.guess(2, "slate", 11)
        m.guess(2, "crane", 30)
        m.guess(1, "crane", 30)
        m.guess(3, "crane", 99)

    def too_many(m):
        for time, word in enumerate(["slate", "slate", "among", "zebra", "house", "trace", "crane"]):
            m.guess(1, word, 100 + time, second=time % 2 == 1)
        m.guess(2, "crane", 50)
        m.guess(2, "slate", 51)

    def nonsense(m):
        m.guess(1, "qqqqq", 1)
        m.add(1, b"", 2)
        m.add(1, bytes(8), 3)
        m.add(1, b"crane" + bytes(3), 4)
        m.add(1, lambda dot: hide("slate", GAME, (dot[0], dot[1] + 1)), 5)
        m.add(1, lambda dot: hide("slate", GAME, dot) + b"\0", 6)
        m.guess(1, "CRANE", 7)
        m.guess(1, "slate", 8)

    case("ties are settled by the stamp of the winning move", ties)
    case("six tries, over two incarnations, and none after a win", too_many)
    case("what makes no sense uses no try", nonsense)
    case("nobody has guessed", lambda m: None)
    for seed in range(4):
        rng = random.Random(seed)

        def some(m):
            for _ in range(60):
                who = rng.randint(1, 5)
                word = rng.choice(["crane", "slate", "house", "qzxqz", "among", "nacre", "eerie"])
                m.guess(who, word, rng.randint(1, 40), second=rng.random() < 0.3)
        case(f"many members, seed {seed}", some)
    return cases


def connect_four_games():
    cases = []

    def case(name, columns, invited=None, moves=None):
        if moves is None:
            moves = Moves()
            for time, (who, column) in enumerate(columns):
                moves.add(who, bytes([column]), 10 + time)
        setup = bytes([1]) + b"".join(member(i) for i in invited or [])
        cases.append({"name": name, "game": "connect-four", "object": text(GAME),
                      "setup": setup.hex(), "moves": moves.json(), **connect_four(invited, moves)})

    def turns(*columns):
        return [(1 + i % 2, c) for i, c in enumerate(columns)]

    case("nobody has moved", [])
    case("level", turns(0, 0, 1, 1, 2, 2, 3, 3))
    case("upright", turns(0, 1, 0, 1, 0, 1, 0))
    case("slanting up", turns(0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3))
    case("slanting down", turns(6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3))
    case("a fourth in the middle, five in all", turns(0, 0, 1, 1, 3, 3, 4, 4, 2))
    case("no four around an edge", turns(5, 0, 6, 1, 0, 5, 1, 6))
    case("turns, spectators and full columns",
         [(1, 3), (1, 3), (3, 200), (2, 3), (3, 0), (2, 1), (1, 3), (2, 3), (1, 3), (2, 3), (1, 3), (1, 0)])
    case("a spectator cannot resign", [(1, 3), (2, 3), (3, 255), (1, 3)])
    case("a player resigns out of turn", [(1, 3), (2, 3), (2, 255), (1, 3)])
    case("red resigns before anyone sits down", [(1, 3), (1, 255), (2, 3)])
    case("only those who are named may play", [(3, 0), (1, 0), (3, 1), (2, 1)], invited=[2, 1])
    order = draw_order()
    case("a full grid", turns(*order))
    for seed in range(8):
        rng = random.Random(1000 + seed)
        moves = Moves()
        for _ in range(80):
            data = bytes([rng.choice([0, 1, 2, 3, 4, 5, 6, 6, 5, 1, 7 if rng.random() < 0.1 else 2])])
            moves.add(rng.choice([1, 1, 2, 2, 3]), data, rng.randint(1, 60), second=rng.random() < 0.3)
        case(f"anything at all, seed {seed}", None, invited=[1, 2] if seed % 3 == 0 else None,
             moves=moves)
    return cases


def draw_order():
    """Moves of a game that fills the grid without four in a row, found by random tries."""
    rng = random.Random(4)
    while True:
        cells, order = {}, []
        while len(order) < 42:
            free = [c for c in range(7) if (c, 5) not in cells]
            rng.shuffle(free)
            for column in free:
                row = sum(1 for c, _ in cells if c == column)
                cells[(column, row)] = len(order) % 2
                if not has_four(cells, column, row):
                    order.append(column)
                    break
                del cells[(column, row)]
            else:
                break
        if len(order) == 42:
            return order


# --- the file -----------------------------------------------------------------------------------


def setups():
    good = bytes([1]) + HASH + hide("crane", GAME)
    cases = [
        ("a word of the list", "wordle", good, None),
        ("no bytes", "wordle", b"", "malformed-setup"),
        ("a byte short", "wordle", good[:-1], "malformed-setup"),
        ("a byte long", "wordle", good + b"\0", "malformed-setup"),
        ("another version", "wordle", b"\2" + good[1:], "malformed-setup"),
        ("another list", "wordle", good[:1] + bytes(32) + good[33:], "foreign-list"),
        ("an answer in clear", "wordle", good[:33] + b"crane" + bytes(3), "malformed-setup"),
        ("the answer of another game", "wordle", good[:33] + hide("crane", (7, 2)), "malformed-setup"),
        ("an answer that is no word", "wordle", good[:33] + hide("zzzzz", GAME), "malformed-setup"),
        ("an answer with capitals", "wordle", good[:33] + hide("CRANE", GAME), "malformed-setup"),
        ("for anyone", "connect-four", b"\1", None),
        ("for two", "connect-four", b"\1" + member(1) + member(2), None),
        ("for one", "connect-four", b"\1" + member(1), "malformed-setup"),
        ("for one and the same", "connect-four", b"\1" + member(1) * 2, "malformed-setup"),
        ("for three", "connect-four", b"\1" + member(1) + member(2) + member(3), "malformed-setup"),
        ("no version", "connect-four", b"", "malformed-setup"),
        ("another version of it", "connect-four", b"\0", "malformed-setup"),
        ("a game from elsewhere", "chess", b"\1", "unknown-game"),
    ]
    return [{"name": name, "game": game, "object": text(GAME), "setup": setup.hex(), "error": error}
            for name, game, setup, error in cases]


def hidden():
    rows = []
    for obj, dot, word in [((1, 1), None, "crane"), ((7, 1), None, "zebra"), ((2**64 - 1, 2**48 - 1), None, "aback"),
                           ((1, 1), (1, 2), "crane"), ((1, 1), (1, 3), "crane"), ((1, 1), (2**63, 2**48 - 1), "house")]:
        dots = [obj] + ([dot] if dot else [])
        data = hide(word, *dots)
        assert show(data, *dots) == word
        rows.append({"object": text(obj), "move": text(dot) if dot else None, "word": word,
                     "key": str(key(*(p for d in dots for p in d))), "hex": data.hex()})
    return rows


def garbage():
    good = hide("crane", GAME)
    flipped = [bytes(b ^ (1 << bit % 8) if i == bit // 8 else b for i, b in enumerate(good)) for bit in range(64)]
    rows = [b"", good[:7], good + b"\0", bytes(8), b"crane\0\0\0", hide("CRANE", GAME), *flipped]
    assert all(show(row, GAME) is None for row in rows)
    return [{"object": text(GAME), "hex": row.hex()} for row in rows]


def marks_table():
    by_hand = [
        ("crane", "crane", "====="), ("slate", "crane", "--=-="), ("eerie", "crane", "--~-="),
        ("allay", "label", "~~~--"), ("label", "allay", "~~--~"), ("speed", "abide", "--~-~"),
        ("speed", "erase", "~-~~-"), ("speed", "steal", "=-=--"), ("speed", "crepe", "-~=~-"),
        ("geese", "eerie", "-=~-="), ("eerie", "geese", "~=--="), ("llama", "hello", "~~---"),
        ("hello", "llama", "--~~-"), ("sassy", "asses", "~~=~-"), ("tests", "steal", "~~~--"),
        ("mamma", "gamma", "-===="), ("abbey", "babes", "~~==-"), ("bobby", "abbey", "~-=-="),
    ]
    return by_hand


def vectors():
    table = marks_table()
    for guess, answer, expected in table:
        if marks(guess, answer) != expected:
            raise SystemExit(f"by hand {guess} {answer} {expected}, computed {marks(guess, answer)}")
    return {
        "list": {"sha256": HASH.hex(), "answers": len(ANSWERS), "others": len(OTHERS)},
        "hidden": hidden(),
        "garbage": garbage(),
        "setups": setups(),
        "marks": [{"guess": g, "answer": a, "marks": m} for g, a, m in table],
        "games": wordle_games() + connect_four_games(),
    }


def main():
    groups = []
    for name, group in vectors().items():
        rows = group if isinstance(group, list) else None
        body = json.dumps(group) if rows is None else (
            "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
        groups.append(f"{json.dumps(name)}: {body}")
    content = "{\n" + ",\n".join(groups) + "\n}\n"
    write_or_check({TARGET: content})


if __name__ == "__main__":
    main()
