"""Judges a history by the output of the programs. Its functions are pure; each returns the violations that it found.

`assertions` names all of these functions. Each function has tests in test_checker.py with a history that it must
reject.
"""

import collections
import json
import math

from history import BOXES, MAKERS, History, outcome

NEVER_SHOWN = ("path", "selectedBy", "game", "isAssetAvailable")  # keys of an object that are a local view
CONNECTED_WITHIN = 10.0  # seconds after the network is healed, or after an announcement is visible
VISIBLE_WITHIN = 20.0  # seconds to the first announcement after the network is healed, or after the start
AGREED_WITHIN = 10.0  # seconds from the first look at the digests to equal digests
MEMORY = 400 << 20
DESCRIPTORS = 150
FILE_SIZE = 24 << 20
SILENT_FOR = {"suspect": 2.5, "reconnecting": 7}  # limits in seconds after the last sign of life (LIV)
FINAL = ("not-known", "no-such-session", "not-admitted", "wrong-code", "locked-out", "protocol-error", "full")

# For each reason of `left`, the faults that may cause it.
WITHOUT_CAUSE = {"left": ("goodbye",), "shutting-down": ("goodbye",), "restarted": ("start",)}

Violation = collections.namedtuple("Violation", "assertion detail")


def check(value):
    """Returns all violations of a history."""
    history = History(value)
    found = []
    for assertion in ASSERTIONS:
        found += assertion(history)
    if any(violation.assertion == "digests-differ" for violation in found):
        # If only one member lacks an object, the object was not undone: it did not arrive at that member.
        found = [
            violation._replace(assertion="acknowledged-lost") if violation.assertion == "undo-of-others" else violation
            for violation in found
        ]
    return found


# --- The board -------------------------------------------------------------------------------


class Field:
    """The values that a cell with one writer may have."""

    def __init__(self, initial):
        self.sure = initial
        self.recent = []  # values written by commands without a clear answer in the current life
        self.ever = []  # values written by such commands in earlier lives: each may come back at any time

    def attempt(self, value):
        self.recent.append(value)

    def set(self, value):
        self.sure, self.recent = value, []

    def life_ended(self):
        self.ever += self.recent
        self.recent = []

    def allows(self, value):
        return value == self.sure or value in self.recent or value in self.ever

    @property
    def values(self):
        return [self.sure, *self.recent, *self.ever]


class Expected:
    """The objects that must be on the board, and those that may be, found by running the commands of each life in
    order."""

    def __init__(self, history):
        self.history = history
        self.objects = {}  # number of the creating command: {field: Field}
        self.words = {}  # word of the shared text: "done" or "maybe"
        self.moves = [None]  # possible positions of the shared object
        self.undone_by = collections.defaultdict(set)  # number of an object: peers that undid something on it
        self.undoers = set()
        # Each field has one writer, so only the order of each peer's own lives matters.
        for command in history.commands:
            if command["verb"] in MAKERS:
                self._make(command)
        for peer in sorted({life["peer"] for life in history.lives}):
            for life in history.lives_of(peer):
                self._live(life)
                for fields in self.objects.values():
                    for field in fields.values():
                        if field is not None and field.writer == peer:
                            field.life_ended()

    def _field(self, initial, writer):
        field = Field(initial)
        field.writer = writer
        return field

    def _make(self, command):
        n, peer, keys, verb = (command[key] for key in ("n", "peer", "keys", "verb"))
        count = self.history.schedule["peers"]
        made = {"exists": False}
        if verb == "arrow":
            made.update(startBinding=keys["from"], endBinding=keys["to"])
        else:
            made["centerPosition"] = _center(keys)
        if verb in BOXES:
            made["size"] = [200, 200 if verb == "note" else 100]
        if verb not in ("stroke", "arrow"):
            made["text"] = keys.get("text", keys.get("label"))
        self.objects[n] = {name: self._field(value, peer) for name, value in made.items()}
        # The next peer changes the colors of texts and boxes.
        painter = peer if "color" in keys else peer % count + 1
        self.objects[n]["color"] = self._field(_color(keys.get("color")), painter)

    def _live(self, life):
        undo, redo, is_sure = [], [], True
        for command in self.history.by_life[life["number"]]:
            result = self.history.outcome(command)
            if result == "refused":
                continue
            verb = command["verb"]
            if verb in ("undo", "redo"):
                is_sure = self._take_back(command, result, *((undo, redo) if verb == "undo" else (redo, undo)), is_sure)
                continue
            changes = self._changes(command)
            if changes is None:
                continue
            if result == "done" and (command["answer"] or {}).get("changed") is False:
                continue
            step = [(field, field.sure, value, n) for n, field, value in changes]
            for field, _, value, _ in step:
                field.set(value) if result == "done" else field.attempt(value)
            if verb == "insert":
                self.words[command["keys"]["text"]] = result
            if result == "done":
                undo.append((verb, step, command))
                redo.clear()
            else:
                is_sure = False

    def _changes(self, command):
        """The fields that a command writes: (object, field, value)."""
        verb, keys, n = command["verb"], command["keys"], command["n"]
        if verb in MAKERS:
            return [(n, self.objects[n]["exists"], True)]
        if verb not in ("move", "resize", "edit", "label", "color", "delete", "insert"):
            return None
        made = self.of(keys["id"])
        if verb == "insert":
            return []
        if made == 1 and verb == "move":
            self.moves.append(keys["to"])
            return []
        if made is None:
            return None
        name, value = {
            "move": ("centerPosition", keys.get("to")), "edit": ("text", keys.get("text")),
            "label": ("text", keys.get("text")), "resize": ("size", keys.get("size")),
            "color": ("color", _color(keys.get("color"))), "delete": ("exists", False),
        }[verb]
        return [(made, self.objects[made][name], value)]

    def _take_back(self, command, result, stack, other, is_sure):
        """Applies `undo` or `redo`; returns whether the undo and redo stacks are still known."""
        forward = command["verb"] == "redo"
        self.undoers.add(command["peer"])
        answer = command["answer"] or {}
        is_last = not answer.get("skipped") and not answer.get("skippedSteps")
        if result == "done" and is_sure and answer.get("changed", True) and is_last and stack:
            verb, step, made_by = stack.pop()
            if verb == "insert":  # inserts within a second are one step, so the number of undone inserts is unknown
                self._doubt_words(command["life"])
                is_sure = False
            for field, before, after, n in step:
                field.set(after if forward else before)
                self.undone_by[n].add(command["peer"])
            other.append((verb, step, made_by))
            return is_sure
        # It is unknown which command was undone, so any command of this life may have been undone.
        for _, step, _ in stack + other:
            for field, before, after, n in step:
                field.ever += [before, after]
                self.undone_by[n].add(command["peer"])
        self._doubt_words(command["life"])
        for made in self.history.by_life[command["life"]]:
            for n, field, value in (outcome(made) != "refused" and self._changes(made)) or []:
                field.ever += [value, field.sure]
        return False

    def _doubt_words(self, life):
        for command in self.history.by_life[life]:
            if command["verb"] == "insert" and command["keys"]["text"] in self.words:
                self.words[command["keys"]["text"]] = "maybe"

    def of(self, id):
        """Returns the command that created an object."""
        if not hasattr(self, "_by_id"):
            self._by_id = {
                command["answer"]["id"]: command["n"] for command in self.history.commands
                if command["verb"] in MAKERS and outcome(command) == "done"
            }
        return self._by_id.get(id)

    def id_of(self, n):
        return next((id for id, made in self._by_id.items() if made == n), None)


def _center(keys):
    if "at" in keys:
        return keys["at"]
    (a, b), (c, d) = keys["points"]
    return [(a + c) / 2, (b + d) / 2]


def _color(text):
    return text and text + "ff"


def board_is_what_was_commanded(history):
    """Every acknowledged command is on every board, every object has a command, and undo affects only own work."""
    expected = Expected(history)
    expected.of("")
    found = []
    for peer, objects in sorted(history.final["objects"].items()):
        if objects is None:
            continue
        shown = {one["id"]: one for one in objects}
        found += _compare(history, expected, f"p{peer}", shown)
    return found


def _compare(history, expected, where, shown):
    found = []
    by_mark = {}
    for id, one in shown.items():
        by_mark.setdefault(expected.of(id) if expected.of(id) is not None else _mark(one), []).append(id)
    for n, fields in sorted(expected.objects.items()):
        command = next(command for command in history.commands if command["n"] == n)
        author = f"p{command['peer']}"
        ids = by_mark.pop(n, [])
        if len(ids) > 1:
            found.append(Violation("twice", f"c{n} of {author} is {len(ids)} objects at {where}"))
        one = shown.get(ids[0]) if ids else None
        exists = fields["exists"]
        if one is None:
            if not exists.allows(False):
                others = expected.undone_by[n] - {command["peer"]}
                name = "undo-of-others" if others else "acknowledged-lost"
                found.append(Violation(name, f"c{n} ({command['verb']} by {author}, {ids or expected.id_of(n)}) is not at {where}"))
            continue
        if not exists.allows(True):
            found.append(Violation("from-nowhere", f"c{n} of {author} is at {where}, though it was deleted or never made"))
            continue
        if n in (0, 1):
            continue
        for name, field in fields.items():
            value = one.get(name)
            if name.endswith("Binding"):
                value = value and value["id"]
            if name != "exists" and not field.allows(value):
                undone = expected.undone_by[n] - {field.writer}
                kind = "undo-of-others" if undone else "acknowledged-lost"
                found.append(Violation(
                    kind, f"{name} of c{n} by {author} is {value} at {where}, not one of {field.values}"
                    + (f"; {sorted(undone)} took something back" if undone else "")))
    for mark, ids in by_mark.items():
        found.append(Violation("from-nowhere", f"{where} has {ids} ({mark}), which no peer made: {json.dumps(shown[ids[0]])[:200]}"))
    return found + _compare_shared(expected, where, shown)


def _mark(one):
    """Returns the unanswered command that created an object; the object's contents identify the command."""
    text, color = one.get("text"), one.get("color")
    if text is not None and text[:1] == "c":
        number = text[1:].split(" ")[0]
        if number.isdigit():
            return int(number)
    if one.get("type") == "drawing" and color:
        return int(color[1:7], 16)
    return f"unknown {one.get('type')}"


def _compare_shared(expected, where, shown):
    found = []
    grown, moved = (shown.get(expected.id_of(n)) for n in (0, 1))
    if grown is not None:
        words = [word + ">" for word in grown.get("text", "").split(">")[:-1]]
        if "".join(words) != grown.get("text", ""):
            found.append(Violation("torn-word", f"{where}: {grown['text']!r}"))
        counts = collections.Counter(words)
        for word, result in expected.words.items():
            if counts[word] > 1 or counts[word] == 0 and result == "done":
                found.append(Violation("acknowledged-lost" if counts[word] == 0 else "twice",
                                       f"the word {word} is {counts[word]} times in the text at {where}"))
        for word in counts.keys() - expected.words.keys():
            found.append(Violation("from-nowhere", f"no peer wrote {word} into the text at {where}"))
    if moved is not None:
        first = next((one["keys"]["at"] for one in expected.history.commands if one["n"] == 1), None)
        if moved["centerPosition"] not in expected.moves + [first]:
            found.append(Violation("from-nowhere", f"no peer moved the shared object to {moved['centerPosition']}, where it is at {where}"))
    return found


def bound_ends_lie_at_their_boxes(history):
    """Each end of an arrow lies where the arrow meets the box to which it is bound (BRD-52)."""
    found = []
    for peer, objects in sorted(history.final["objects"].items()):
        shown = {one["id"]: one for one in objects or ()}
        for one in shown.values():
            sides = [shown.get(one.get(key, {}).get("id")) for key in ("startBinding", "endBinding")]
            if one.get("form") != "arrow" or None in sides:
                continue
            ends = [[a + b for a, b in zip(one["centerPosition"], point)] for point in one["points"]]
            for end, box, other in zip(ends, sides, sides[::-1]):
                if not _is_at(end, box, other["centerPosition"], one["lineWidth"]):
                    found.append(Violation("loose-end", f"{one['id']} ends at {end} at p{peer}, beside {box['id']}"))
    return found


def _is_at(end, box, source, line_width):
    """Whether an end that aims at the center of a box from `source` lies where it should."""
    border = 0 if box["form"] == "note" else box["lineWidth"] / 2
    half = [value / 2 + 4 + line_width / 2 + border for value in box["size"]]

    def reach(place):
        """How far a place is on the way from the center (0) to the outline (1)."""
        x, y = (abs(a - b) / h for a, b, h in zip(place, box["centerPosition"], half))
        return math.hypot(x, y) if box["form"] == "ellipse" else x + y if box["form"] == "diamond" else max(x, y)

    (x, y), (u, v) = ([a - b for a, b in zip(place, box["centerPosition"])] for place in (end, source))
    if reach(source) <= 1:
        return math.hypot(x, y) < 1e-6
    is_on_the_way = abs(x * v - y * u) < 1e-6 * math.hypot(u, v) and x * u + y * v > 0
    return is_on_the_way and abs(reach(end) - 1) < 1e-9


def chat_is_whole_and_in_order(history):
    """Chat lines appear exactly once, in their author's order, and the same everywhere."""
    found = []
    said = {command["keys"]["text"]: command for command in history.commands if command["verb"] == "say"}
    for peer, lines in sorted(history.final["chats"].items()):
        if lines is None:
            continue
        where, texts = f"p{peer}", collections.Counter(line["text"] for line in lines)
        for text, command in said.items():
            result = history.outcome(command)
            if result == "done" and texts[text] == 0:
                found.append(Violation("chat-lost", f"{text} of p{command['peer']} is not at {where}"))
            if result == "refused" and texts[text]:
                found.append(Violation("from-nowhere", f"the line {text} was refused and is at {where}"))
        for text, count in texts.items():
            if text not in said:
                found.append(Violation("from-nowhere", f"no peer said {text!r}, which is in the chat at {where}"))
            elif count > 1:
                found.append(Violation("chat-twice", f"{text} is {count} times at {where}"))
        numbers = collections.defaultdict(list)
        for line in lines:
            numbers[line["peer"]].append(line["text"])
        for author, texts in numbers.items():
            issued = [history.place[said[text]["n"]] for text in texts if text in said]
            if any(history.ids.get(said[text]["peer"]) != author for text in texts if text in said):
                found.append(Violation("from-nowhere", f"{where} shows lines of others as those of {history.name(author)}"))
            if issued != sorted(issued):
                found.append(Violation("chat-order", f"{where} shows the lines of {history.name(author)} as {' '.join(texts)}"))
    orders = {peer: [line["id"] for line in lines] for peer, lines in history.final["chats"].items() if lines is not None}
    if len({tuple(order) for order in orders.values()}) > 1 and len({frozenset(order) for order in orders.values()}) == 1:
        found.append(Violation("chat-order", "members show the same lines in different orders"))
    for life in history.lives:
        again = [id for id, count in collections.Counter(
            event["id"] for event in life["events"] if event["event"] == "chat").items() if count > 1]
        if again:
            found.append(Violation("chat-twice", f"p{life['peer']} printed {again} more than once"))
    return found


# --- Messages --------------------------------------------------------------------------------


def messages_arrive_once_in_order_or_are_reported(history):
    """A `send` that was answered `done` arrived at all recipients, no message arrives twice, and the order is kept."""
    found = []
    sent = {command["keys"]["text"]: command for command in history.commands if command["verb"] == "send"}
    received = collections.Counter()  # (message, recipient)
    for life in history.lives:
        orders = collections.defaultdict(list)
        for event in life["events"]:
            if event["event"] != "data":
                continue
            command = sent.get(event.get("text"))
            if command is None or history.ids.get(command["peer"]) != event["from"]:
                found.append(Violation("from-nowhere", f"p{life['peer']} got {event.get('text')!r}, which no peer sent"))
                continue
            if outcome(command) == "refused":
                found.append(Violation("from-nowhere", f"p{life['peer']} got {event['text']}, which was refused"))
            received[event["text"], life["peer"]] += 1
            orders[command["life"]].append(command["n"])
        for sender, numbers in orders.items():
            if numbers != sorted(numbers, key=history.place.get):
                found.append(Violation("message-order", f"p{life['peer']} got {numbers} from p{history.life(sender)['peer']}"))
    for (text, peer), count in received.items():
        if count > 1:
            found.append(Violation("message-twice", f"p{peer} got {text} {count} times"))
    for command, peer, is_excused in missing_messages(history):
        if not is_excused:
            found.append(Violation(
                "message-lost", f"{command['keys']['text']} of p{command['peer']} to p{peer} was answered "
                f"{_brief(command['answer'])} at {command['answered']} and never came"))
    return found


def missing_messages(history):
    """The confirmed messages that their receivers did not print: (command, peer, whether the message is excused).

    A message is excused if its receiver was killed before it could print what it had confirmed.
    """
    came = {
        (event.get("text"), life["peer"]) for life in history.lives for event in life["events"] if event["event"] == "data"
    }
    for command in history.commands:
        if command["verb"] != "send" or command["answer"] is None:
            continue
        undelivered = _undelivered(history, command)
        for peer in _recipients(history, command):
            if peer not in undelivered and (command["keys"]["text"], peer) not in came:
                until = command["answered"] + history.allowed(1, command["answered"])
                yield command, peer, any(command["issued"] - 0.1 <= at <= until for at in history.kills(peer))


def _undelivered(history, command):
    """The peers in an `undelivered` answer; after any other error, all recipients."""
    answer = command["answer"]
    if answer["event"] == "done":
        return set()
    if answer.get("code") != "undelivered":
        return set(history.ids)
    return {history.peer_of.get(one["peer"]) for one in answer["undelivered"]}


def _recipients(history, command):
    """The certain recipients of a message: the peers that it names, or else all peers that were joined from its issue
    to its answer."""
    to = command["keys"].get("to")
    if to:
        return [history.peer_of[to]] if to in history.peer_of else []
    joined = {}
    for event in history.life(command["life"])["events"]:
        if event["event"] not in ("joined", "left"):
            continue
        if event["when"] <= command["issued"] - 0.05:
            joined[event["peer"]] = event["event"] == "joined"
        elif event["when"] <= command["answered"] + 0.05:
            joined[event["peer"]] = False
    return [history.peer_of[id] for id, is_in in joined.items() if is_in and history.peer_of.get(id)]


def _recipients_there(history, command):
    """Whether all possible recipients of a message are running at the end, and connected with its sender."""
    to, sender = command["keys"].get("to"), command["peer"]
    peers = ({history.peer_of.get(to)} if to else set(history.ids)) - {sender}
    apart = {peer for one in history.value["connected"] if one["since"] is None and sender in one["pair"] for peer in one["pair"]}
    return peers <= {int(peer) for peer in history.final["digests"]} - apart


def _brief(answer):
    return answer["event"] if answer["event"] == "done" else f"error {answer.get('code')}"


# --- The end ---------------------------------------------------------------------------------


def all_boards_are_one(history):
    """All digests, object lists and chats are equal at the end."""
    digests = history.final["digests"]
    found = []
    silent = sorted(peer for peer, digest in digests.items() if digest is None)
    if silent:
        found.append(Violation("unanswered", f"{silent} did not print their digest"))
    known = {peer: digest for peer, digest in digests.items() if digest}
    if len(set(known.values())) > 1:
        found.append(Violation("digests-differ", " ".join(f"p{peer}:{digest[:8]}" for peer, digest in sorted(known.items()))))
    boards = {
        peer: {one["id"]: {key: value for key, value in one.items() if key not in NEVER_SHOWN} for one in objects}
        for peer, objects in history.final["objects"].items() if objects is not None
    }
    first = next(iter(sorted(boards)), None)
    for peer in sorted(boards):
        if boards[peer] != boards[first]:
            keys = [id for id in boards[first].keys() | boards[peer].keys() if boards[first].get(id) != boards[peer].get(id)]
            found.append(Violation("objects-differ", f"p{first} and p{peer} differ in {sorted(keys)[:8]}"))
    chats = {peer: {line["id"] for line in lines} for peer, lines in history.final["chats"].items() if lines is not None}
    if len({frozenset(ids) for ids in chats.values()}) > 1:
        found.append(Violation("chats-differ", str({peer: len(ids) for peer, ids in chats.items()})))
    agreed, began = history.final["agreed"], history.final["at"]
    if agreed is not None and agreed - began > history.allowed(AGREED_WITHIN, began):
        found.append(Violation("late-agreement", f"digests were equal only {agreed - began:.1f} s after all were connected"))
    return found


def files_are_whole(history):
    """Every file verifies, even right after a SIGKILL, and all files end in one board."""
    found = []
    for one in history.value["verified"]:
        if one["status"] not in (0, None) or one["replay"] not in (0, None):
            found.append(Violation(
                "file-damaged", f"p{one['peer']} after SIGKILL: {one['status']} {one['output'][:3]} {one['errors'][-2:]}, "
                f"whiteboard-replay verify: {one['replay']}"))
    for one in history.final["files"]["each"]:
        is_away = one["peer"] in history.schedule.get("away", ()) and str(one["peer"]) not in history.final["digests"]
        if one["status"] is None and not (is_away and not one["files"]):
            found.append(Violation("files-differ", f"p{one['peer']} has {one['files']}, not one board"))
        elif one["status"] not in (0, None):
            found.append(Violation("file-damaged", f"p{one['peer']}: {one['status']} {one['output'][:3]} {one['errors'][-2:]}"))
    together = history.final["files"]["together"]
    if together and together["status"] != 0:
        found.append(Violation("files-differ", f"{together['status']} {together['output'][-6:]} {together['errors'][-3:]}"))
    return found


def use_is_bounded(history):
    """Memory, descriptors and files stay within bounds."""
    found = []
    for life in history.lives:
        use = life["resources"]
        if use.get("memory", 0) > MEMORY:
            found.append(Violation("memory", f"p{life['peer']} used {use['memory'] >> 20} MiB"))
        if use.get("descriptors", 0) > DESCRIPTORS:
            found.append(Violation("descriptors", f"p{life['peer']} has {use['descriptors']} descriptors"))
    for path, size in history.final["files"]["sizes"].items():
        if size > FILE_SIZE:
            found.append(Violation("file-size", f"{path} has {size >> 20} MiB"))
    return found


# --- Membership ------------------------------------------------------------------------------


def nobody_is_lost_early(history):
    """No peer is reported lost earlier than --lost-after after its last sign of life, no member is refused permanently,
    and no peer is reported to have left without a cause."""
    found = []
    for life in history.lives:
        silent_since = {}
        for event in life["events"]:
            kind, about, state = event["event"], event.get("peer") or event.get("from"), event.get("state")
            is_lost = kind == "left" and event.get("reason") == "lost" or kind == "peer-state" and state == "lost"
            if is_lost and about in silent_since:
                # A suspended program receives nothing during that time.
                began = silent_since[about]
                silent = event["when"] - began + history.stopped(life["peer"], began - history.lost_after, began)
                if silent < history.lost_after - 1:
                    found.append(Violation(
                        "lost-early", f"p{life['peer']} reported {history.name(about)} lost at {event['when']}, "
                        f"{silent:.1f} s after it was last heard"))
            elif kind in ("joined", "data") or kind == "peer-state" and state == "connected":
                silent_since[about] = event["when"]
            elif kind == "peer-state" and state in SILENT_FOR:
                since = silent_since.get(about, 0)
                silent_since[about] = max(since, event["when"] - SILENT_FOR[state])
            reason = event.get("reason") if kind == "left" else None
            if reason in WITHOUT_CAUSE and history.peer_of.get(about) is not None:
                peer, kinds = history.peer_of[about], WITHOUT_CAUSE[reason]
                causes = [fault["at"] for fault in history.faults if fault["do"] in kinds and fault["peer"] == peer]
                causes += [one["started"] for one in history.lives_of(peer) if one["end"] == "itself"]
                if reason == "restarted" and peer == 0:
                    causes = [one["started"] for one in history.value["relayLives"]]
                if len([at for at in causes if at <= event["when"] + 0.1]) < (2 if reason == "restarted" else 1):
                    found.append(Violation("false-left", f"p{life['peer']} reported at {event['when']} that {history.name(about)} {reason}"))
            if kind == "left" and event.get("reason") in FINAL:
                found.append(Violation(
                    "refused", f"p{life['peer']} was refused by, or refused, {history.name(about)} with {event['reason']}"))
    return found


def healed_network_is_connected(history):
    """All members that can see each other are connected within 10 s of the heal."""
    found = []
    for start, one in connection_times(history):
        a, b = one["pair"]
        pair = f"{'the relay' if a == 0 else f'p{a}'} and p{b}"
        limit = history.allowed(CONNECTED_WITHIN, start)
        if one["since"] is None:
            found.append(Violation("not-connected", f"{pair} are not connected {history.final['at'] - start:.1f} s after they could be"))
        elif one["since"] - start > limit:
            found.append(Violation("late-connection", f"{pair} took {one['since'] - start:.1f} s, {limit:.1f} s allowed"))
    return found


def connection_times(history):
    """For each pair: the earliest time at which it could connect, and the time since which it was connected.

    In the history, `since` is the time at which the driver looked. The events give the first connected moment more
    precisely.
    """
    result = []
    for one in history.value["connected"]:
        a, b = one["pair"]
        ready = [history.healed]
        for peer in (a, b):
            lives = history.lives_of(peer) if peer else history.value["relayLives"]
            if lives:
                ready.append(lives[-1]["started"] if peer == 0 else _ready(lives[-1]))
        ready = max(ready)
        visible = [_visible(history, *pair, ready) for pair in ((a, b), (b, a)) if pair[0]]
        visible = min((at for at in visible if at is not None), default=ready + VISIBLE_WITHIN)
        start = max(ready, min(visible, ready + VISIBLE_WITHIN))
        if one["since"] is not None:
            one = {**one, "since": min(one["since"], _first_connected(history, a, b, ready))}
        result.append((start, one))
    return result


def _first_connected(history, a, b, after):
    """The first moment at which both peers reported that they were connected."""
    views = [_connected_spans(history, *pair) for pair in ((a, b), (b, a)) if pair[0]]
    begins = [after] + [begin for view in views for begin, _ in view]
    return min((
        at for at in begins
        if at >= after and all(any(begin <= at < end for begin, end in view) for view in views)
    ), default=float("inf"))


def _connected_spans(history, viewer, other):
    """The intervals in which the last life of a peer reported another peer as connected."""
    id = next((id for id, peer in history.peer_of.items() if peer == other), None)
    spans, since = [], None
    for event in history.lives_of(viewer)[-1]["events"]:
        if event.get("peer") != id or event["event"] not in ("peer-state", "joined", "left"):
            continue
        is_in = event["event"] == "joined" or event.get("state") in ("connected", "suspect")
        if is_in and since is None:
            since = event["when"]
        elif not is_in and since is not None:
            spans.append((since, event["when"]))
            since = None
    return spans + ([(since, float("inf"))] if since is not None else [])


def _ready(life):
    return next((event["when"] for event in life["events"] if event["event"] == "ready"), life["started"])


def _visible(history, viewer, other, ready):
    """The time at which a peer's announcement became visible to another peer; `ready` if it was visible earlier."""
    id = next((id for id, peer in history.peer_of.items() if peer == other), None)
    visible_since = None
    for event in history.lives_of(viewer)[-1]["events"]:
        if event.get("peer") != id:
            continue
        if event["event"] in ("peer-found", "peer-updated") and visible_since is None:
            visible_since = event["when"]
        elif event["event"] == "peer-lost":
            visible_since = None
        if visible_since is not None and event["when"] > ready:
            break
    return None if visible_since is None else max(visible_since, ready)


def synced_is_true(history):
    """`wait synced` is never answered `done` while the members that it names have other digests, and is answered at
    the end."""
    found = []
    for probe in history.probes:
        before, after = probe["before"], probe["after"]
        steady = {
            peer: digest for peer, digest in before.items() if digest is not None and after.get(peer) == digest
        }
        are_connected = probe["name"] == "healed" and all(one["since"] is not None for one in history.value["connected"])
        for peer, answer in probe["answers"].items():
            if are_connected and len(probe["answers"]) > 1 and (not answer or answer["event"] != "done"):
                found.append(Violation("not-synced", f"p{peer} is connected with all, and answered {answer} to `wait synced`"))
            if not answer or answer["event"] != "done" or peer not in steady:
                continue
            named = _named(history, answer)
            if named is not None and not named:
                found.append(Violation("synced-alone", f"p{peer} reported synced, with no member"))
            others = [other for other in steady if str(other) != str(peer) and (named is None or int(other) in named)]
            differ = [other for other in others if steady[other] != steady[peer]]
            if differ:
                found.append(Violation(
                    "synced-while-different", f"in a network with {probe['name']}, p{peer} reported synced with "
                    f"{'all' if named is None else sorted(named)}, and {['p' + str(other) for other in differ]} have other boards"))
    return found


def _named(history, answer):
    """The members that a `done` of `wait synced` names; None if it names none, which means all."""
    members = answer.get("synced")
    return None if members is None else {history.peer_of.get(member["peer"]) for member in members}


# --- The programs ----------------------------------------------------------------------------


def programs_behave(history):
    """Every command of a running process is answered, the output has only events, and processes end only on
    request."""
    found = []
    for n in history.value["unanswered"]:
        command = next(command for command in history.commands if command["n"] == n)
        if command["verb"] == "send" and not _recipients_there(history, command):
            continue  # it is answered when its recipient returns or is lost
        found.append(Violation("unanswered", f"c{n} ({command['verb']}) of p{command['peer']}, issued at {command['issued']}"))
    full = [(fault["at"], fault["peer"]) for fault in history.faults if fault["do"] == "fill"]
    for life in history.lives:
        who = f"p{life['peer']} (life {life['number']}, {life['how']})"
        if life["notEvents"]:
            found.append(Violation("not-an-event", f"{who}: {life['notEvents'][:2]}"))
        crash = [line for line in life["errors"] if "Fatal error" in line or "Crash:" in line or "Precondition" in line]
        if crash:
            found.append(Violation("crash", f"{who}: {crash[:3]}"))
        diverged = [event for event in life["events"] if event["event"] == "warning" and event.get("code") == "diverged"]
        if diverged:
            found.append(Violation("diverged", f"{who}: {diverged[0].get('message')}"))
        end, status = life["end"], life["status"]
        if end == "hung":
            found.append(Violation("hung", f"{who} did not end within 20 s of `quit`"))
        # No program answered at the address where the process tried to join.
        is_alone = life["how"] == "join" and not life["id"] and status in (69, 75)
        is_full = any(peer == life["peer"] for _, peer in full)
        if end in ("quit", "leave", "term") and status != 0 and not is_alone and not is_full:
            found.append(Violation("ended-badly", f"{who} ended with status {status} after {end}: {life['errors'][-2:]}"))
        elif end == "itself" and not is_full:
            joined = any(event["event"] == "joined" for event in life["events"])
            if status == 77 or joined or life["how"] != "join" or status not in (69, 75, 77):
                found.append(Violation("ended-by-itself", f"{who} ended with status {status}: {_last_words(life)}"))
    missing = {life["peer"] for life in history.lives} - {int(peer) for peer in history.final["digests"]}
    for peer in missing - set(history.schedule.get("away", ())):
        found.append(Violation("cannot-return", f"p{peer} could not be started again after the heal: {_last_words(history.lives_of(peer)[-1])}"))
    for life in history.value["relayLives"]:
        if life.get("status") not in (None, 0):
            found.append(Violation("ended-badly", f"the relay ended with status {life['status']}"))
    return found


def _last_words(life):
    said = [event.get("message") or event.get("reason") for event in life["events"] if event["event"] in ("error", "warning", "left")]
    return f"{said[-2:]} {life['errors'][-2:]}"


ASSERTIONS = (
    board_is_what_was_commanded, bound_ends_lie_at_their_boxes, chat_is_whole_and_in_order,
    messages_arrive_once_in_order_or_are_reported, all_boards_are_one, files_are_whole, use_is_bounded,
    nobody_is_lost_early, healed_network_is_connected, synced_is_true, programs_behave,
)
