"""Prints what the suspended tasks of a Swift process wait for, if a function of this package is among their callers.

  gdb -p PID -batch -x Tests/waiting-tasks.py

A task that waits has no thread, so a list of threads does not show it. This script finds the task objects in memory.
A line is `tasks: COUNT: FUNCTION < CALLER < CALLER ...`. The lines with functions of tests come first.
"""

import collections
import re
import struct
import subprocess

import gdb

# Offsets in a task, in bytes: swift/ABI/Task.h, with 64-bit pointers.
RESUME_FUNCTION, RESUME_CONTEXT, TASK_SIZE = 0x38, 0x40, 0x48
DEEPEST = 40
PIECE = 1 << 24
OURS = re.compile("hiteboard|Peer|Relay|Avahi|Session|CommandLines|Tests")
# Functions of the runtime and of the compiler that say nothing about the cause.
PLUMBING = re.compile(
    r"resume_adapter|future_adapter|reabstraction|^\?$|(Continuation|CancellationHandler|withCancellation)<"
    r"|AsyncStream(\._Storage|\.init)|^(dispatch thunk|protocol witness|thunk|partial apply|completeTask)"
)


def regions(pid):
    """The addresses of the memory that can hold objects, and of the code."""
    data, code = [], []
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as lines:
        for line in lines:
            words = line.split()
            begin, end = (int(number, 16) for number in words[0].split("-"))
            if words[1].startswith("rw") and (len(words) < 6 or words[5] == "[heap]"):
                data.append((begin, end))
            elif words[1][2] == "x":
                code.append((begin, end))
    return data, code


def objects(memory, data, metadata):
    """The addresses of the objects of a type."""
    pattern = struct.pack("<Q", metadata)
    for begin, end in data:
        for at in range(begin, end, PIECE):
            try:
                piece = bytes(memory.read_memory(at, min(PIECE, end - at)))
            except gdb.MemoryError:
                continue
            found = piece.find(pattern)
            while found >= 0:
                if found % 8 == 0:
                    yield at + found
                found = piece.find(pattern, found + 1)


def chain(memory, task, is_code):
    """The function that a task continues with, and the functions that wait for the task; empty if this is not a whole
    task."""
    functions = []
    try:
        fields = bytes(memory.read_memory(task, TASK_SIZE))
        function, context = struct.unpack_from("<QQ", fields, RESUME_FUNCTION)
        while is_code(function) and len(functions) < DEEPEST:
            functions.append(function)
            if context == 0:
                break
            context, function = struct.unpack("<QQ", bytes(memory.read_memory(context, 16)))
    except gdb.MemoryError:
        pass
    return tuple(functions)


def names(addresses):
    """For each address of a function, its symbol, and a readable name."""
    mangled = {}
    for address in addresses:
        said = gdb.execute(f"info symbol {address:#x}", to_string=True)
        mangled[address] = "?" if said.startswith("No symbol") else said.split()[0]
    try:
        told = subprocess.run(
            ["swift", "demangle", "--simplified", "--compact"], input="\n".join(mangled.values()),
            capture_output=True, text=True, timeout=60, check=True,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        told = list(mangled.values())
    readable = {}
    for address, name in zip(mangled, told):
        # The parts of an asynchronous function all have its name.
        name = re.sub(r"^\(\d+\) (await|suspend) resume partial function for ", "", name)
        readable[address] = name.split(" -> ")[0]
    return mangled, readable


def main():
    """Prints the waiting tasks."""
    gdb.execute("set pagination off")
    memory = gdb.selected_inferior()
    metadata = int(gdb.parse_and_eval("*(unsigned long *)&_swift_concurrency_debug_asyncTaskMetadata"))
    data, code = regions(memory.pid)

    def is_code(address):
        return any(begin <= address < end for begin, end in code)

    chains = collections.Counter(chain(memory, task, is_code) for task in objects(memory, data, metadata))
    del chains[()]
    symbols, readable = names({address for functions in chains for address in functions})
    lines = collections.Counter()
    for functions, count in chains.items():
        if not any(OURS.search(symbols[address]) for address in functions):
            continue
        steps = [readable[address] for address in functions]
        steps = [step for step in steps if not PLUMBING.search(step)]
        # The parts of a function follow each other.
        steps = [step for step, before in zip(steps, [""] + steps) if step != before]
        lines[" < ".join(steps)] += count
    for line, count in sorted(lines.items(), key=lambda item: ("Tests." not in item[0], -item[1])):
        print(f"tasks: {count}: {line}")


main()
