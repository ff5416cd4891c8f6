#!/usr/bin/python3
"""Stores, reads and seeks the hour of `replay-bench` with loro: history.py [CHANGES] [merged]

Four people in turn drag, draw, type and move ten objects at once, as in Replay/main.swift. Each change is a commit with
its own time in milliseconds; with `merged`, loro merges the times of neighboring changes, which is its default.
loro has no file format: its snapshot with the whole history stands for the file. It has no digests and no signatures.
Prints lines of a Markdown table.
"""

import random
import resource
import sys
import time

import loro

PEOPLE = 4
SEEKING = 120  # seconds, after which there are no further seeks


class Hour:
    """One document that four peers write in turn."""

    def __init__(self, wanted, merged):
        self.doc = loro.LoroDoc()
        if not merged:
            self.doc.set_change_merge_interval(0)
        self.wanted, self.changes = wanted, 0
        self.objects, self.texts = [], []
        self.places = []
        self.board = self.doc.get_map("objects")

    def commit(self):
        self.changes += 1
        self.doc.set_next_commit_timestamp(1_700_000_000_000 + self.changes * 3_600_000 // self.wanted)
        self.doc.commit()
        if self.changes % 100 == 0:
            self.places.append(self.doc.oplog_frontiers)

    def new(self):
        entry = self.board.insert_container(f"{self.doc.peer_id}-{self.changes}", loro.LoroMap())
        self.objects.append(entry)
        return entry

    def move(self, entry, x, y):
        entry.insert("position", [x, y])

    def act(self):
        kind = 9 if len(self.objects) < 10 else random.randrange(10)
        if kind < 4:
            entry = random.choice(self.objects)
            for step in range(30):
                self.move(entry, random.randrange(9), step)
                self.commit()
        elif kind < 6:
            entry = self.new()
            entry.insert("position", [0, 0])
            ink = entry.insert_container("ink", loro.LoroList())
            self.commit()
            for _ in range(5):
                # A chunk stores each point as 4 bytes. A separate value for each point would need many times the space.
                ink.push(random.randbytes(12 * 4))
                self.commit()
            entry.insert("isFinished", True)
            self.commit()
        elif kind < 8 and self.texts:
            text = random.choice(self.texts)
            if text.len_unicode < 500:
                for letter in reversed("hello "):
                    text.insert(0, letter)
                    self.commit()
        elif kind == 8:
            for entry in random.sample(self.objects, 10):
                self.move(entry, random.randrange(9), 4)
            self.commit()
        else:
            entry = self.new()
            entry.insert("position", [random.randrange(2000), random.randrange(2000)])
            text = entry.insert_container("text", loro.LoroText())
            text.insert(0, "new")
            self.texts.append(text)
            self.commit()

    def make(self):
        number = 0
        while self.changes < self.wanted:
            self.doc.peer_id = number % PEOPLE + 1
            number += 1
            self.act()


def timed(body):
    began = time.perf_counter()
    result = body()
    return time.perf_counter() - began, result


def main(wanted="900000", merged=""):
    random.seed(1)
    hour = Hour(int(wanted), merged == "merged")
    making, _ = timed(hour.make)
    bytes_ = hour.doc.export(loro.ExportMode.Snapshot())
    print(f"{hour.changes} changes in {making:.1f} s", file=sys.stderr)
    print(f"| bytes a change | {len(bytes_) / hour.changes:.1f} |")
    doc = loro.LoroDoc()
    seconds, _ = timed(lambda: (doc.import_(bytes_), doc.get_deep_value()))
    print(f"| read, ms | {seconds * 1000:.0f} |")
    updates = hour.doc.export(loro.ExportMode.Updates(loro.VersionVector()))
    other = loro.LoroDoc()
    seconds, _ = timed(lambda: (other.import_(updates), other.get_deep_value()))
    print(f"| every change applied to an empty document, changes a second | {hour.changes / seconds:,.0f} |")
    times = []
    while len(times) < 100 and sum(times) < SEEKING:
        place = random.choice(hour.places)
        times.append(timed(lambda: doc.checkout(place))[0])
    times.sort()
    half, worst = times[len(times) // 2] * 1000, times[-1] * 1000
    print(f"| seek anywhere, ms: half / worst of {len(times)} | {half:.1f} / {worst:.1f} |")
    print(f"| memory at most, MB | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
