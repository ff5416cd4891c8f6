"""A log of what happened, to wait on."""

import os
import threading
import time

# A machine that others use too takes longer over everything: what is waited for may come so much later.
PATIENCE = float(os.environ.get("WHITEBOARD_TEST_PATIENCE", "1"))


class EventLog:
    def __init__(self):
        self._condition = threading.Condition()
        self._events = []

    def add(self, kind, **fields):
        with self._condition:
            self._events.append({"event": kind, **fields})
            self._condition.notify_all()

    def wait(self, kind, timeout=15, where=lambda event: True, **fields):
        """Takes the first event of that kind whose fields match; it is not returned twice."""
        return self.wait_any((kind,), timeout, where, **fields)

    def wait_any(self, kinds, timeout=15, where=lambda event: True, **fields):
        deadline = time.monotonic() + timeout * PATIENCE
        with self._condition:
            while True:
                for index, event in enumerate(self._events):
                    if (
                        event["event"] in kinds
                        and all(event.get(k) == v for k, v in fields.items())
                        and where(event)
                    ):
                        return self._events.pop(index)
                left = deadline - time.monotonic()
                if left <= 0:
                    seen = [str(e)[:300] for e in self._events[-12:]]
                    raise TimeoutError(f"no {kinds} {fields} in {timeout} s; last events: {seen}")
                self._condition.wait(left)

    def all(self, kind):
        """Every event of that kind that nobody took."""
        with self._condition:
            return [e for e in self._events if e["event"] == kind]
