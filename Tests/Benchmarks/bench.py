"""What every measurement uses: the built programs, directories, and processes that print figures."""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OTHERS = pathlib.Path(__file__).resolve().parent / "Others"


class Missing(Exception):
    """Something that a measurement needs is not installed or not built."""


class Bench:
    """The surroundings of one measurement. `directory` is for this measurement only; `shared` is the same for all
    measurements of a run."""

    def __init__(self, programs, directory, shared, is_quick):
        self.programs, self.directory, self.shared, self.is_quick = programs, directory, shared, is_quick

    def program(self, name):
        """Returns the path of a built program, or raises `Missing`."""
        nested = OTHERS.parent / ".build" / "release"
        for path in (self.programs / name, nested / name):
            if path.exists():
                return path
        raise Missing(f"{name} is not built in {self.programs}")

    def of(self, count, least=1):
        """The size of a piece of work, or a small part of it with --quick."""
        return max(least, count // 100) if self.is_quick else count

    def few(self, count):
        """A number of peers or guests, or at most three with --quick."""
        return min(count, 3) if self.is_quick else count

    def seconds(self, count):
        """A time in seconds, or a short time with --quick."""
        return min(count, 1) if self.is_quick else count

    def compiled(self, name, *libraries):
        """Compiles a C program of `Others`, and returns its path."""
        program = self.directory / name
        built = subprocess.run(["cc", "-O2", OTHERS / f"{name}.c", "-o", program, *(f"-l{library}" for library in libraries)],
                               capture_output=True, text=True)
        if built.returncode:
            raise Missing(f"{name}.c does not compile: {built.stderr.strip().splitlines()[0]}")
        return program


def output(*words):
    """Runs a program, and returns its output."""
    return subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True).stdout


def figures(*words):
    """Runs a program that prints figures as JSON, and returns the figures."""
    return json.loads(output(*words))


def quantile(values, share):
    """A quantile of unsorted values."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]
