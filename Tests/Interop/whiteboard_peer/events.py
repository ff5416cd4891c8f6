"""A log of events, on which tests can wait."""

import os
import threading
import time

# The factor for all time limits, for machines that are shared with other work.
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))


class EventLog:
    def __init__(self):
        self._condition = threading.Condition()
        self._count = 0
        # Events by kind, each with its overall position.
        self._events = {}

    def add(self, kind, /, **fields):
        with self._condition:
            self._count += 1
            self._events.setdefault(kind, []).append((self._count, {"event": kind, **fields}))
            self._condition.notify_all()

    def wait(self, kind, timeout=15, where=lambda event: True, **fields):
        """Waits for the first event of that kind whose fields match, and removes it."""
        return self.wait_any((kind,), timeout, where, **fields)

    def wait_any(self, kinds, timeout=15, where=lambda event: True, **fields):
        deadline = time.monotonic() + timeout * PATIENCE
        with self._condition:
            while True:
                found = []
                for kind in kinds:
                    for index, (place, event) in enumerate(self._events.get(kind, [])):
                        if all(event.get(k) == v for k, v in fields.items()) and where(event):
                            found.append((place, kind, index))
                            break
                if found:
                    _, kind, index = min(found)
                    return self._events[kind].pop(index)[1]
                left = deadline - time.monotonic()
                if left <= 0:
                    events = sorted(
                        (pair for kind in self._events.values() for pair in kind[-12:]), key=lambda pair: pair[0]
                    )
                    seen = [str(event)[:300] for _, event in events[-12:]]
                    raise TimeoutError(f"no {kinds} {fields} in {timeout} s; last events: {seen}")
                self._condition.wait(left)

    def all(self, kind):
        """Returns every event of that kind that was not removed."""
        with self._condition:
            return [event for _, event in self._events.get(kind, [])]
