"""A crowd: peers that all edit one board with random commands from a seed, and an oracle for its contents.

Each peer edits its own objects; the oracle knows every field of these objects. All peers edit the shared objects:
each of their fields must have a value that some peer gave it, and every typed and acknowledged word must be in the
text, whole. A command that was sent and not acknowledged (because its program was killed) may or may not have had an
effect."""

import collections

from peers import expect

DELETED = object()


class Field:
    """The possible values of a cell: the last acknowledged value, or any value sent since."""

    def __init__(self, value):
        self.sure, self.maybe = value, []

    def begin(self, value):
        self.maybe.append(value)

    def done(self, value):
        self.sure = value
        self.maybe = self.maybe[self.maybe.index(value) + 1:] if value in self.maybe else self.maybe

    def allows(self, value):
        return value == self.sure or value in self.maybe


class Own:
    """An object that only its creator edits."""

    def __init__(self, id, kind, at):
        self.id, self.kind = id, kind
        self.fields = {"centerPosition": Field(at), "deleted": Field(False)}

    @property
    def is_deleted(self):
        return self.fields["deleted"].maybe[-1] if self.fields["deleted"].maybe else self.fields["deleted"].sure


class Editor:
    """One peer of the crowd: sends commands at a steady pace and records the expected state of its own objects."""

    def __init__(self, crowd, peer, name):
        self.crowd, self.peer, self.name = crowd, peer, name
        self.own, self.pending, self.serial = [], collections.deque(), 0
        self.begun = 0

    def settle(self):
        """Handles the answers that have arrived."""
        while self.pending and self.pending[0][0].answer is not None:
            request, kind, then = self.pending.popleft()
            answer = request.answer
            if answer["event"] == "done":
                self.crowd.done[kind] += 1
                if then:
                    then(answer)
            else:
                self.crowd.refused[(kind, answer.get("code"))] += 1

    def forget(self):
        """Handles the death of the program: unanswered commands may or may not have had an effect."""
        self.settle()
        self.pending.clear()

    def begin(self, kind, verb, then=None, **keys):
        if not self.peer.is_running:
            return  # called for an answer that arrived before the program was killed
        self.pending.append((self.peer.begin(verb, **keys), kind, then))
        self.begun += 1
        self.crowd.begun[kind] += 1

    def number(self):
        return self.crowd.random.randrange(-2000, 2000)

    def point(self):
        return [self.number(), self.number()]

    def change(self, own, field, value, kind, verb, **keys):
        """Changes one of the peer's own objects, and updates the oracle."""
        slot = own.fields.setdefault(field, Field(None))
        slot.begin(value)
        self.begin(kind, verb, lambda _: slot.done(value), id=own.id, **keys)

    def pick(self, *kinds, deleted=False):
        fit = [own for own in self.own if own.is_deleted == deleted and (not kinds or own.kind in kinds)]
        return self.crowd.random.choice(fit) if fit else None

    def made(self, kind, at):
        def then(answer):
            self.own.append(Own(answer["id"], kind, at))
        return then

    # The actions of a user, by kind.

    def text(self):
        at, words = self.point(), f"{self.name} {self.serial}"

        def then(answer):
            self.own.append(Own(answer["id"], "text", at))
            self.own[-1].fields["text"] = Field(words)
        self.begin("text", "text", then, at=at, text=words)

    def stroke(self):
        points = [self.point() for _ in range(self.crowd.random.randrange(6, 12))]
        self.begin("stroke", "stroke", lambda answer: self.own.append(Own(answer["id"], "drawing", None)), points=points)

    def move(self):
        if own := self.pick():
            to = self.point()
            self.change(own, "centerPosition", to, "move", "move", to=to)

    def scale(self):
        if own := self.pick():
            factor = self.crowd.random.randrange(1, 32) / 4
            self.change(own, "scale", factor, "scale", "scale", factor=factor)

    def rotate(self):
        if own := self.pick():
            steps = self.crowd.random.randrange(4096)
            self.change(own, "angle", steps, "rotate", "rotate", degrees=steps * 360 / 4096)

    def edit(self):
        if own := self.pick("text"):
            words = f"{self.name} edits {self.serial}"
            self.change(own, "text", words, "edit", "edit", text=words)

    def color(self):
        if own := self.pick():
            color = f"#{self.crowd.random.randrange(1 << 24):06x}ff"
            self.change(own, "color", color, "color", "color", color=color)

    def width(self):
        if own := self.pick("drawing"):
            width = self.crowd.random.randrange(1, 64)
            self.change(own, "lineWidth", width, "width", "width", width=width)

    def delete(self):
        if own := self.pick():
            self.change(own, "deleted", True, "delete", "delete")

    def undelete(self):
        if own := self.pick(deleted=True):
            self.change(own, "deleted", False, "undelete", "undelete")

    def lock(self):
        """Locks and unlocks an object directly, so that no later command of this peer is refused."""
        if own := self.pick():
            self.begin("lock", "lock", id=own.id)
            self.begin("unlock", "unlock", id=own.id)

    def order(self):
        if own := self.pick():
            self.begin("order", "order", id=own.id, place=self.crowd.random.choice(["front", "back", "forward", "backward"]))

    def group(self):
        one, two = self.pick(), self.pick()
        if one and two and one is not two:
            self.begin("group", "group", lambda answer: self.begin("ungroup", "ungroup", id=answer["id"]), ids=[one.id, two.id])

    def duplicate(self):
        if own := self.pick("text"):
            self.begin("duplicate", "duplicate", lambda answer: self.crowd.copies.update(answer.get("ids") or [answer["id"]]),
                       id=own.id, by=[20, 20])

    def undo(self):
        """Makes a change, undoes it, and redoes it half of the time."""
        own = self.pick()
        if own is None:
            return
        slot = own.fields["centerPosition"]
        before = slot.maybe[-1] if slot.maybe else slot.sure
        if before is None:
            return
        to = self.point()
        self.change(own, "centerPosition", to, "move", "move", to=to)
        slot.begin(before)
        self.begin("undo", "undo", lambda _: slot.done(before))
        if self.crowd.random.random() < 0.5:
            slot.begin(to)
            self.begin("redo", "redo", lambda _: slot.done(to))

    def erase(self):
        """Erases too little to delete a whole stroke, because its creator would not be notified of that."""
        x, y = self.point()
        to = [x + self.crowd.random.randrange(-100, 100), y + self.crowd.random.randrange(-100, 100)]
        self.begin("erase", "erase", points=[[x, y], to], radius=20)

    def select(self):
        if own := self.pick():
            self.begin("select", "select", id=own.id)
            self.begin("deselect", "deselect")

    def say(self):
        words = f"{self.name} says {self.serial}"
        self.begin("say", "say", lambda _: self.crowd.said.add(words), text=words)

    def insert(self):
        """Types into a text that all peers edit; every word must stay whole."""
        word = f"<{self.name}.{self.serial}>"
        self.begin("insert", "insert", lambda _: self.crowd.typed.add(word),
                   id=self.crowd.random.choice(self.crowd.texts), at=0, text=word)

    def shared_move(self):
        id, to = self.crowd.random.choice(self.crowd.shared), self.point()
        self.crowd.given[id].append(to)
        self.begin("move of a shared object", "move", id=id, to=to)

    def play(self):
        if self.crowd.random.random() < 0.5:
            self.begin("play", "play", id=self.crowd.wordle, move=self.crowd.random.choice(self.crowd.words))
        else:
            self.begin("play", "play", id=self.crowd.four, move=str(self.crowd.random.randrange(1, 8)))

    def photo(self):
        if self.crowd.photos:
            at, file = self.point(), self.crowd.photos.pop()
            self.begin("photo", "photo", self.made("photo", at), at=at, file=str(file))

    def set(self):
        title = f"{self.name} {self.serial}"
        self.crowd.titles.add(title)
        self.begin("set", "set", title=title)

    # Rare actions are listed once, common ones several times.
    KINDS = (
        [text, stroke, move, scale, rotate, edit, color, width, delete, undelete] * 2
        + [lock, order, group, duplicate, undo, erase, select, say, insert, shared_move, play, set, photo]
        + [move, shared_move, insert]
    )

    def act(self):
        self.settle()
        self.serial += 1
        kind = self.crowd.random.choice(self.KINDS)
        # A realistic board: at most 40 objects per peer.
        if kind in (Editor.text, Editor.stroke) and len(self.own) - sum(own.is_deleted for own in self.own) > 40:
            kind = Editor.delete
        kind(self)


class Crowd:
    """All peers, the objects that they share, and the known state of the shared objects."""

    def __init__(self, random):
        self.random = random
        self.editors = []
        self.begun, self.done, self.refused = collections.Counter(), collections.Counter(), collections.Counter()
        self.copies, self.said, self.typed, self.titles = set(), set(), set(), set()
        self.given = collections.defaultdict(list)
        self.shared, self.texts, self.words, self.photos = [], [], [], []
        self.wordle = self.four = None

    def add(self, peer, name):
        self.editors.append(Editor(self, peer, name))
        return self.editors[-1]

    def furnish(self, peer, photos, words):
        """Creates the shared objects."""
        self.photos, self.words = list(photos), list(words)
        for n in range(5):
            at = [n * 10, 0]
            id = peer.do("text", at=at, text=f"shared {n}")["id"]
            self.shared.append(id)
            self.given[id].append(at)
        self.texts = [peer.do("text", at=[0, 100 + n], text="")["id"] for n in range(2)]
        self.wordle = peer.do("game", game="wordle", at=[500, 500])["id"]
        self.four = peer.do("game", game="connect-four", at=[700, 500])["id"]

    def settled(self):
        """Whether every command was answered."""
        for editor in self.editors:
            editor.settle()
        return all(not editor.pending for editor in self.editors)

    def check(self, board):
        """Compares a board with the oracle."""
        for editor in self.editors:
            for own in editor.own:
                fields, shown = own.fields, board.get(own.id)
                if shown is None:
                    expect(fields["deleted"].allows(True), f"{own.id} of {editor.name} is missing: {own.kind}")
                    continue
                expect(fields["deleted"].allows(False), f"{own.id} of {editor.name} is deleted and there")
                for key, field in fields.items():
                    if key == "deleted" or field.sure is None and not field.maybe:
                        continue
                    value = shown.get(key)
                    if key == "angle":
                        value = round(value / 6.283185307179586 * 4096) % 4096
                    if field.sure is None and key == "centerPosition":
                        continue  # the center of a stroke that was never moved depends on its points
                    expect(field.sure is None or field.allows(value),
                           f"{key} of {own.id} of {editor.name} is {value}, not {field.sure} or {field.maybe}")
        for id in self.shared:
            expect(board[id]["centerPosition"] in self.given[id], f"{id} is at a position that no peer gave it: {board[id]}")
        text = "".join(board[id]["text"] for id in self.texts)
        missing = [word for word in self.typed if word not in text]
        expect(not missing, f"{len(missing)} of {len(self.typed)} typed words are missing or torn: {missing[:5]}")
        lost = [id for id in self.copies if id not in board]
        expect(not lost, f"{len(lost)} copies are missing: {lost[:5]}")
