"""Draws schedules from a seed alone: the actions of the peers and their faults.

A schedule is JSON: the start of the peers (`setup`) and a list of `steps`, each with the second at which it runs. A
step that no longer applies (a command for a process that has ended) has no effect, so every subset of the steps is a
schedule too. The shrinker relies on this. Peer 0 is the relay.
"""

import json
import random

from history import BOXES, MAKERS

VERSION = 2
PARTITIONS = (1, 3, 10)
LONG_PARTITIONS = (30, 65)  # seconds; the second duration is longer than the default of --lost-after
STOPS = (1, 2, 5, 10, 20)
RETURNS = (0.1, 0.5, 1, 3, 8)  # seconds between the end of a process and its restart
CLOCKS = (-86400, -3600, -60, 60, 3600, 86400, 20 * 365 * 86400)
FAULTS = {
    "kill": 30, "stop": 12, "unplug": 12, "partition": 16, "cable": 10, "goodbye": 14, "fill": 8, "clock": 8, "outage": 4,
}
COMMANDS = {
    "text": 10, "stroke": 6, "box": 12, "arrow": 8, "move": 12, "resize": 4, "edit": 6, "label": 6, "color": 12, "delete": 3,
    "insert": 8, "shared": 6, "undo": 9, "redo": 1, "say": 10, "send": 12,
}

# The kinds of objects that each command changes, if it changes an object of the same peer.
CHANGED = {
    "move": ("text", "stroke", *BOXES), "delete": MAKERS, "edit": ("text",), "label": BOXES, "resize": BOXES,
}


def draw(seed, relay="random", peers=None, length=None):
    """Returns the schedule of a seed.

    `relay` is `always`, `never` or `random`; `peers` is the number of peers, by default 3 to 6; `length` is the number of
    seconds, by default 10 to 22.
    """
    dice = random.Random(f"whiteboard chaos {VERSION} {seed}")
    count = dice.choices((3, 4, 5, 6), (40, 30, 18, 12))[0]
    with_relay = dice.random() < 0.25
    schedule = {
        "version": VERSION,
        "seed": seed,
        "peers": peers or count,
        "relay": with_relay if relay == "random" else relay == "always",
        "admit": dice.choices(("code", "anyone"), (60, 40))[0],
        "lostAfter": dice.choices((60, 12), (75, 25))[0],
        "disk": dice.random() < 0.3,
        "clock": dice.random() < 0.3,
    }
    count = schedule["peers"]
    schedule["away"] = [dice.randint(1, count)] if dice.random() < 0.2 else []  # peers that do not return
    is_long = dice.random() < 0.1
    late = {peer for peer in range(3, count + 1) if dice.random() < 0.2}
    schedule["setup"] = [
        {"peer": peer, **_first_start(dice, peer, schedule["relay"], late)}
        for peer in range(1, count + 1) if peer not in late
    ]
    usual = dice.uniform(10, 22)
    length = length or usual
    steps = []
    for peer in late:
        steps.append({"at": dice.uniform(1, length), "do": "start", "peer": peer,
                      **_first_start(dice, peer, schedule["relay"], late)})
    for _ in range(max(1, round(dice.randint(2, 6) * length / usual))):
        steps += _fault(dice, schedule, dice.uniform(0.5, length), is_long)
    length = max([length] + [step["at"] + 1 for step in steps])
    steps += _commands(dice, count, length, rate=dice.uniform(1, 5) * count)
    for step in steps:
        step["at"] = round(step["at"], 2)
    schedule["steps"] = sorted(steps, key=lambda step: step["at"])
    return schedule


def _first_start(dice, peer, relay, late):
    if relay:
        return {"how": "join", "through": 0}
    if peer == 1:
        return {"how": "host"}
    return {"how": "join", "through": dice.choice([other for other in range(1, peer) if other not in late])}


def _return(dice, peer, count):
    """Returns the way in which a peer with a copy of the board returns."""
    how = dice.choices(("same", "join", "open"), (60, 25, 15))[0]
    if how == "join":
        return {"how": "join", "through": dice.choice([other for other in range(1, count + 1) if other != peer])}
    return {"how": how}


def _fault(dice, schedule, at, is_long):
    count = schedule["peers"]
    kind = dice.choices(list(FAULTS), list(FAULTS.values()))[0]
    if kind == "fill" and not schedule["disk"] or kind == "clock" and not schedule["clock"]:
        kind = "kill"
    first = 0 if schedule["relay"] else 1
    if kind in ("kill", "goodbye"):
        peer = dice.randint(first, count)
        end = {"at": at, "do": kind, "peer": peer}
        if kind == "goodbye":
            end["by"] = dice.choice(("quit", "leave", "term")) if peer else "term"
        steps = [end]
        back = at + dice.choice(RETURNS)
        if kind == "kill" and peer and dice.random() < 0.3:
            steps.append({"at": at + 0.05, "do": "verify", "peer": peer})
        if schedule["clock"] and peer and dice.random() < 0.5:
            steps.append({"at": at + 0.05, "do": "clock", "peer": peer, "offset": dice.choice(CLOCKS)})
        if dice.random() < 0.8:  # the others come back only after the network is healed
            steps.append({"at": back, "do": "start", "peer": peer, **_return(dice, peer, count)})
        return steps
    if kind == "outage":  # all processes are killed at the same time, and return in any order
        steps = [{"at": at, "do": "kill", "peer": peer} for peer in range(first, count + 1)]
        return steps + [
            {"at": at + dice.uniform(0.3, 3), "do": "start", "peer": peer, "how": dice.choice(("same", "same", "open"))}
            for peer in range(first, count + 1)
        ]
    peer = dice.randint(1, count)
    if kind == "stop":
        peer = dice.randint(first, count)
        return _span(at, dice.choice(STOPS), {"do": "stop", "peer": peer}, {"do": "continue", "peer": peer})
    if kind == "unplug":
        span = _span(at, dice.choice(PARTITIONS), {"do": "unplug", "peer": peer}, {"do": "plug", "peer": peer})
        return span[: 1 if dice.random() < 0.2 else 2]  # some last until the network is healed
    if kind == "partition":
        everyone = list(range(first, count + 1))
        island = sorted(dice.sample(everyone, dice.randint(1, len(everyone) - 1)))
        lasts = dice.choice(LONG_PARTITIONS if is_long else PARTITIONS)
        span = _span(at, lasts, {"do": "partition", "island": island}, {"do": "mend"})
        return span[: 1 if dice.random() < 0.2 else 2]
    if kind == "cable":
        quality = {"loss": dice.choice((0, 0.02, 0.1, 0.2)), "delay": dice.choice((5, 40, 150)), "jitter": 3}
        return _span(at, dice.uniform(3, 12), {"do": "cable", "peer": peer, **quality}, {"do": "cable", "peer": peer})
    if kind == "fill":
        return _span(at, dice.uniform(4, 12), {"do": "fill", "peer": peer}, {"do": "drain", "peer": peer})
    return [{"at": at, "do": "clock", "peer": peer, "offset": dice.choice(CLOCKS)}]


def _span(at, lasts, begin, end):
    return [{"at": at, **begin}, {"at": at + lasts, **end}]


def _commands(dice, count, length, rate):
    """Returns the commands of all peers, in order of time."""
    steps, objects, number = [], [], 2
    # Two objects that all peers edit: a text or label that grows, and a text or box that is moved.
    steps.append({"at": 0.0, "do": "command", "peer": 1, "n": 0, "verb": dice.choice(("text", "note"))})
    steps.append({"at": 0.0, "do": "command", "peer": 1, "n": 1, "verb": dice.choice(("text", *BOXES))})
    for _ in range(int(length * rate)):
        at, peer = dice.uniform(0.3, length), dice.randint(1, count)
        steps.append({"at": at, "do": "command", "peer": peer})
    steps.sort(key=lambda step: step["at"])
    undid = set()
    for step in steps[2:]:
        peer = step["peer"]
        own = {verb: [n for n, author, kind in objects if author == peer and kind in of] for verb, of in CHANGED.items()}
        near = [n for n, author, kind in objects if kind in ("text", *BOXES) and author % count + 1 == peer]
        boxes = [n for n, _, kind in objects if kind in BOXES] + [n for n in (1,) if steps[1]["verb"] in BOXES]
        verb = dice.choices(list(COMMANDS), list(COMMANDS.values()))[0]
        if not own.get(verb, True) or verb == "color" and not near:
            verb = "text"
        if verb == "box" or verb == "arrow" and len(boxes) < 2:
            verb = dice.choice(BOXES)
        if peer in undid and dice.random() < 0.4:
            verb = "redo"
        undid.discard(peer)
        if verb == "undo":
            undid.add(peer)
        step.update(n=number, verb=verb)
        number += 1
        if verb in MAKERS:
            objects.append((step["n"], peer, verb))
        if verb == "arrow":
            step["from"], step["to"] = dice.sample(boxes, 2)
        elif verb in own:
            step["object"] = dice.choice(own[verb])
        elif verb == "color":
            step["object"] = dice.choice(near)
        elif verb == "insert":
            step["object"] = 0
        elif verb == "shared":
            step.update(verb="move", object=1)
        elif verb == "send":
            step["to"] = dice.choice([0] + [other for other in range(1, count + 1) if other != peer])
    return steps


# Steps that begin a fault.
BEGINNINGS = ("kill", "stop", "unplug", "partition", "cable", "goodbye", "fill", "clock")


def text(schedule):
    """Returns a schedule as JSON with one step per line."""
    head = {key: value for key, value in schedule.items() if key not in ("setup", "steps")}
    lines = [json.dumps(head)[:-1] + ","]
    for key in ("setup", "steps"):
        rows = ",\n".join("  " + json.dumps(step) for step in schedule[key])
        lines.append(f' "{key}": [\n{rows}\n ]' + ("," if key == "setup" else "\n}"))
    return "\n".join(lines) + "\n"
