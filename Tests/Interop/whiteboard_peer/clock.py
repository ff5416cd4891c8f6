"""The clock that assigns times to local operations (BRD-6, BRD-7, BRD-32)."""

import time

DRIFT = 60_000 << 16
LAST_FLOOR = 2**63 - 1 - 4096


def wall_clock():
    return time.time_ns() // 1_000_000


class Clock:
    def __init__(self, wall=wall_clock):
        self.wall, self._last = wall, 0

    def _limit(self):
        return (self.wall() << 16) + DRIFT

    def observe(self, received):
        """Advances to a remote time; ignores a time that is too far ahead (BRD-7)."""
        if received <= self._limit():
            self._last = max(self._last, received)

    def times(self, floors):
        """Returns a time for each operation, later than its floor; None means no floor."""
        limit = self._limit()
        if self._last > limit:
            # The wall clock was ahead, and was set back.
            self._last = 0
        near = [floor + 1 for floor in floors if floor is not None and floor < limit]
        base = max([self._last + 1, self.wall() << 16, *near])
        times = []
        for index, floor in enumerate(floors):
            is_far = floor is not None and floor >= limit
            times.append(floor + 1 if is_far else base + index)
            if not is_far:
                self._last = base + index
        return times


def runs(times):
    """The (first, count) of the runs that fit into one batch, in which times increase by 1."""
    found = []
    for index, at in enumerate(times):
        if found and times[index - 1] + 1 == at:
            found[-1][1] += 1
        else:
            found.append([index, 1])
    return found
