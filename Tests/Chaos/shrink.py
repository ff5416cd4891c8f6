"""Looks for a shorter schedule that fails in the same way, by delta debugging over its steps.

The programs are not deterministic, so a shorter schedule may pass by chance, but it never fails by chance.
The number of tries is limited.
"""

# The priority of assertions while shrinking. The most specific violation must stay.
WEIGHT = {
    "crash": 9, "not-connected": 9, "undo-of-others": 8, "acknowledged-lost": 8, "from-nowhere": 7, "twice": 7, "message-twice": 7, "message-order": 7,
    "chat-lost": 6, "chat-twice": 6, "chat-order": 6, "file-damaged": 6, "late-connection": 4,
    "digests-differ": 3, "files-differ": 2, "message-lost": 2,
}


def shrink(schedule, fails, tries, width=1):
    """Returns the shortest schedule found.

    `fails(schedules)` plays up to `width` schedules side by side, and returns for each whether it fails in the same way.
    """
    best = schedule
    chunks = 2
    while tries > 0 and len(best["steps"]) > 1:
        candidates = list(_candidates(best, chunks))
        better = None
        while candidates and tries > 0 and better is None:
            batch = candidates[: min(width, tries)]
            candidates = candidates[len(batch):]
            tries -= len(batch)
            better = next((value for value, failed in zip(batch, fails(batch)) if failed), None)
        if better is not None:
            best, chunks = better, max(2, chunks - 1)
        elif chunks >= len(_parts(best)):
            break
        else:
            chunks = min(len(_parts(best)), chunks * 2)
    return best


def _parts(schedule):
    """The steps in groups that are dropped together: ten commands each, and each fault with its end."""
    commands = [step for step in schedule["steps"] if step["do"] == "command"]
    parts = [commands[start:start + 10] for start in range(0, len(commands), 10)]
    faults = [step for step in schedule["steps"] if step["do"] != "command"]
    by_peer = {}
    for step in faults:
        group = {"continue": "stop", "plug": "unplug", "mend": "partition", "drain": "fill"}.get(step["do"], step["do"])
        by_peer.setdefault((group, step.get("peer")), []).append(step)
    return parts + list(by_peer.values())


def _candidates(schedule, chunks):
    """Shorter schedules, shortest first: without any command, and without one of the chunks."""
    if chunks == 2 and any(step["do"] == "command" for step in schedule["steps"]):
        yield _without(schedule, [step for step in schedule["steps"] if step["do"] == "command"])
    parts = _parts(schedule)
    chunks = min(chunks, len(parts))
    size = max(1, -(-len(parts) // chunks))
    for start in range(0, len(parts), size):
        chunk = [step for part in parts[start:start + size] for step in part]
        if len(chunk) < len(schedule["steps"]):
            yield _without(schedule, chunk)


def _without(schedule, steps):
    dropped = {id(step) for step in steps}
    return {**schedule, "steps": [step for step in schedule["steps"] if id(step) not in dropped]}
