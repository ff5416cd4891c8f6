"""Reads a history: the runs of the processes, their commands and the faults, by peer and by time."""

import collections

# The `error` answers after which a command has no effect. After any other error, it may have an effect.
REFUSED = {
    "syntax", "unknown-verb", "missing-argument", "bad-argument", "unknown-argument", "no-such-object", "ambiguous",
    "wrong-kind", "held", "locked", "viewer", "nothing-to-undo", "nothing-to-redo", "no-such-peer", "not-connected",
    "line-too-long", "too-big", "not-synced",
}


BOXES = ("rect", "ellipse", "diamond", "note")
# The commands that create an object.
MAKERS = ("text", "stroke", *BOXES, "arrow")


class History:
    """A history as `world.py` writes it, with the queries that the checker needs."""

    def __init__(self, value):
        self.value = value
        self.schedule = value["schedule"]
        self.lost_after = self.schedule["lostAfter"]
        self.lives, self.commands = value["lives"], value["commands"]
        self.faults, self.final, self.probes = value["faults"], value["final"], value["probes"]
        self.healed = value["healed"]
        self.by_life = collections.defaultdict(list)
        for command in self.commands:
            self.by_life[command["life"]].append(command)
        self.place = {command["n"]: place for place, command in enumerate(self.commands)}  # in the order they were issued
        self.ids = {}
        for life in self.lives:
            if life["id"]:
                self.ids.setdefault(life["peer"], life["id"])
        self.peer_of = {id: peer for peer, id in self.ids.items()}
        for life in value.get("relayLives", []):
            self.peer_of[life["id"]] = 0

        # Work that peers did alone may exist only on their own disks.
        self.gone = {peer for peer in self.schedule.get("away", ()) if str(peer) not in self.final["digests"]}

    def outcome(self, command):
        """The known effect of a command on the other boards: `done`, `refused`, or `maybe`."""
        result = outcome(command)
        return "maybe" if result == "done" and command["peer"] in self.gone else result

    def life(self, number):
        return next(life for life in self.lives if life["number"] == number)

    def lives_of(self, peer):
        return [life for life in self.lives if life["peer"] == peer]

    def name(self, id):
        """The short name of a peer, such as `p2`, for its id."""
        peer = self.peer_of.get(id)
        return id if peer is None else "the relay" if peer == 0 else f"p{peer}"

    def slack(self, begin, end):
        """How much slower than an idle machine this machine was between two times.

        Returns a factor and seconds: the slowdown of a reference process, and its greatest delay.
        """
        samples = [one for one in self.value.get("machine", []) if begin - 1 <= one[0] <= end + 1]
        if not samples:
            return 1.0, 0.0
        slow = sorted(one[2] for one in samples)
        return max(1.0, slow[len(slow) * 9 // 10]), max(one[1] for one in samples)

    def allowed(self, seconds, begin):
        """The time limit on this machine for work that takes at most `seconds` on an idle machine."""
        factor, late = self.slack(begin, begin + seconds)
        return seconds * factor + late

    def kills(self, peer):
        """The times at which a peer's process was killed, or was stopped, if it was killed while stopped."""
        times, stopped_at = [], None
        for fault in self.faults:
            if fault.get("peer") != peer:
                continue
            if fault["do"] == "stop":
                stopped_at = fault["at"]
            elif fault["do"] == "continue":
                stopped_at = None
            elif fault["do"] == "kill":
                times.append(fault["at"] if stopped_at is None else stopped_at)
                stopped_at = None
        return times

    def stopped(self, peer, begin, end):
        """The number of seconds for which a peer's process was stopped between two times."""
        total, since = 0.0, None
        for fault in self.faults:
            if fault.get("peer") != peer:
                continue
            if fault["do"] == "stop":
                since = fault["at"]
            elif fault["do"] in ("continue", "kill") and since is not None:
                total += max(0.0, min(fault["at"], end) - max(since, begin))
                since = None
        if since is not None:
            total += max(0.0, end - max(since, begin))
        return total


def outcome(command):
    """The known outcome of a command: `done`, `refused`, or `maybe`."""
    answer = command["answer"]
    if answer is None:
        return "maybe"
    if answer["event"] == "done":
        return "done"
    return "refused" if answer.get("code") in REFUSED else "maybe"
