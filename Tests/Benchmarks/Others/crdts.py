#!/usr/bin/python3
"""Runs the work of `board-bench` with other CRDTs and prints the figures as JSON: crdts.py pycrdt|loro ROW

Four replicas create 10,000 objects of 8 properties in a map of maps. Then they make 200,000 position updates in turn,
and a receiving replica merges each one. Rows: `alone` and `batched` (50 per update), `shuffled`, `snapshot` (the bytes,
and the time to load them into an empty document), `catch-up` of 20,000 updates. The time is processor time, as in
`board-bench`. Neither CRDT signs or chains anything.
"""

import json
import random
import sys
import time

REPLICAS, OBJECTS, UPDATES, SIDE = 4, 10_000, 200_000, 64_000


def timed(body):
    """The processor seconds that a function takes, and its result."""
    began = time.process_time()
    result = body()
    return time.process_time() - began, result


def properties(number):
    """The 8 properties of an object."""
    return {"kind": 1, "position": [random.randrange(SIDE), random.randrange(SIDE)], "size": [12800, 3200],
            "scale": 65536, "angle": random.randrange(4096), "z": bytes([0x80, number >> 8 & 255, number & 255]),
            "color": random.randrange(1 << 24), "lineWidth": 320}


class Yjs:
    """pycrdt: Yjs in Rust."""

    def __init__(self):
        import pycrdt
        self.pycrdt = pycrdt
        self.replica = pycrdt.Doc()
        self.objects = self.replica.get("objects", type=pycrdt.Map)
        self.sent = []
        self.subscription = self.replica.observe(lambda event: self.sent.append(event.update))

    def fork(self):
        """Returns another replica with the same state."""
        other = Yjs()
        other.replica.apply_update(self.replica.get_update())
        return other

    def version(self):
        return self.replica.get_state()

    def since(self, version):
        return self.replica.get_update(version)

    def everything(self):
        return self.replica.get_update()

    def merge(self, update):
        self.replica.apply_update(update)

    def create(self, numbers):
        with self.replica.transaction():
            for number in numbers:
                self.objects[str(number)] = self.pycrdt.Map(properties(number))

    def move(self, moves):
        """Moves objects, and returns the update."""
        self.sent.clear()
        with self.replica.transaction():
            for number, place in moves:
                self.objects[str(number)]["position"] = place
        return self.sent[-1]


class Loro:
    """loro, in Rust."""

    def __init__(self):
        import loro
        self.loro = loro
        self.replica = loro.LoroDoc()
        self.objects = self.replica.get_map("objects")

    def fork(self):
        """Returns another replica with the same state."""
        other = Loro()
        other.replica.import_(self.everything())
        return other

    def version(self):
        return self.replica.oplog_vv

    def since(self, version):
        return self.replica.export(self.loro.ExportMode.Updates(version))

    def everything(self):
        return self.replica.export(self.loro.ExportMode.Snapshot())

    def merge(self, update):
        self.replica.import_(update)

    def create(self, numbers):
        for number in numbers:
            entry = self.objects.insert_container(str(number), self.loro.LoroMap())
            for key, value in properties(number).items():
                entry.insert(key, value)
        self.replica.commit()

    def move(self, moves):
        """Moves objects, and returns the update."""
        before = self.version()
        for number, place in moves:
            self.objects.get(str(number)).container.insert("position", place)
        self.replica.commit()
        return self.since(before)


def board(kind):
    """Returns four replicas that all have all objects."""
    replicas = [kind() for _ in range(REPLICAS)]
    for index, replica in enumerate(replicas):
        replica.create(range(index, OBJECTS, REPLICAS))
    for replica in replicas:
        for other in replicas:
            if other is not replica:
                replica.merge(other.everything())
    return replicas


def updates(replicas, size):
    """The updates of all replicas in turn, as messages."""
    result = []
    for number in range(UPDATES // size):
        result.append(replicas[number % REPLICAS].move(
            [(chosen, [random.randrange(SIDE), random.randrange(SIDE)])
             for chosen in random.sample(range(OBJECTS), size)]))
    return result


def receiving(kind, size, mixed=False):
    """Measures how fast a replica merges updates one by one."""
    replicas = board(kind)
    receiver = replicas[0].fork()
    messages = updates(replicas, size)
    if mixed:
        random.shuffle(messages)
    seconds, _ = timed(lambda: [receiver.merge(message) for message in messages])
    return {"rate": len(messages) * size / seconds,
            "bytes": sum(map(len, messages)) / (len(messages) * size)}


def worked(kind):
    """A replica that has everything, and a replica that lacks the last 20,000 updates."""
    replicas = board(kind)
    receiver = replicas[0].fork()
    messages = updates(replicas, 50)
    late = None
    for number, message in enumerate(messages):
        if number == len(messages) - 400:
            late = receiver.fork()
        receiver.merge(message)
    return receiver, late


def main(name, row):
    """Measures one row and prints its figures."""
    random.seed(1)
    kind = {"pycrdt": Yjs, "loro": Loro}[name]
    if row in ("alone", "batched"):
        figures = receiving(kind, 1 if row == "alone" else 50)
    elif row == "shuffled":
        figures = receiving(kind, 1, mixed=True)
    elif row == "snapshot":
        bytes_ = worked(kind)[0].everything()
        empty = kind()

        def load():
            empty.merge(bytes_)
            # loro decodes objects when they are read, so read all of them.
            return len(empty.objects.get_deep_value() if name == "loro" else empty.objects.to_py())

        seconds, count = timed(load)
        assert count == OBJECTS
        figures = {"bytes": len(bytes_), "time": seconds * 1000}
    else:
        ahead, late = worked(kind)
        version = late.version()

        def catch_up():
            answer = ahead.since(version)
            late.merge(answer)
            return len(answer)

        seconds, count = timed(catch_up)
        figures = {"bytes": count, "time": seconds * 1000}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
