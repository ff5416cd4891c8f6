"""Runs scenarios, each in its own process and on its own rig, and counts them."""

import argparse
import concurrent.futures
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import traceback

import lan
import peers

_scenarios = {}
LATE = 76  # the exit status of a scenario that missed a deadline


class Skip(Exception):
    """The scenario cannot run here, for a reason that has nothing to do with the programs."""


def scenario(*subnets, limit=90, alone=False, **rig):
    """Declares a scenario: the number of hosts on each subnet (and other arguments of `lan.Rig`), its time limit in
    seconds, and whether it must run alone on the machine."""

    def declare(function):
        function.subnets, function.rig = subnets, rig
        function.limit, function.alone = limit, alone
        function.sentence = function.__name__.replace("_", " ")
        _scenarios[function.__name__] = function
        return function

    return declare


def main():
    if os.environ.get(lan.INSIDE):
        lan.enter()
        return play(_scenarios[sys.argv[1]], int(sys.argv[2]), "--logs" in sys.argv)
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("names", nargs="*", help="play only scenarios whose sentence contains one of these")
    parser.add_argument("--list", action="store_true", help="print the sentences and stop")
    parser.add_argument("--jobs", type=int, default=1, help="how many play side by side (1)")
    parser.add_argument("--repeat", type=int, default=1, help="play each so often (1)")
    parser.add_argument("--seed", type=int, default=None, help="the seed of all random choices")
    parser.add_argument("--logs", action="store_true", help="print what the programs said on success too")
    parser.add_argument("--again", action="store_true", help="play what was late once more, by itself")
    parser.add_argument("--strict", action="store_true", help="what would be skipped is a failure")
    options = parser.parse_args()
    wanted = [name.replace("_", " ").lower() for name in options.names]
    chosen = [
        one for one in _scenarios.values()
        if not wanted or any(name in one.sentence.lower() for name in wanted)
    ]
    if options.list:
        print(*(one.sentence for one in chosen), sep="\n")
        return 0
    if not chosen:
        print("no scenario has such a name", file=sys.stderr)
        return 64
    why = lan.unusable()
    if why is None and peers.program() is None:
        why = "whiteboard-peer is not built; run: swift build -c release"
    if why:
        skipped = len(chosen)
        print(f"the scenarios cannot be played: {why}")
        print(f"0 passed, {skipped} failed" if options.strict else f"0 passed, 0 failed, {skipped} skipped")
        return 1 if options.strict else 0
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"{len(chosen)} scenarios with {peers.program()}, seed {seed}", flush=True)
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    late = []
    began = time.monotonic()
    # The workers live as long as the pool, because a rig ends when the thread that started it ends.
    for alone in (False, True):
        with concurrent.futures.ThreadPoolExecutor(1 if alone else options.jobs) as pool:
            these = [one for one in chosen if one.alone == alone]
            plays = [pool.submit(outside, one, seed, options) for one in these for _ in range(options.repeat)]
            for play_ in concurrent.futures.as_completed(plays):
                outcome = play_.result()
                counts["FAIL" if outcome == "LATE" else outcome] += 1
                if outcome == "LATE":
                    late.append(these[plays.index(play_) // options.repeat])
    # A scenario that missed a deadline may only have lacked time, so run it once more, alone, and print its name. Do
    # not repeat a scenario that failed in another way.
    for one in late if options.again else ():
        if outside(one, seed, options) == "ok":
            counts["FAIL"] -= 1
            counts["ok"] += 1
            print(f"passed only when played again: {one.sentence}")
    if options.strict:
        counts["FAIL"] += counts["skip"]
        counts["skip"] = 0
    skipped = f", {counts['skip']} skipped" if counts["skip"] else ""
    print(f"      {time.monotonic() - began:.1f} s in all")
    print(f"{counts['ok']} passed, {counts['FAIL']} failed{skipped}", flush=True)
    return 1 if counts["FAIL"] else 0


def outside(one, seed, options):
    """Runs one scenario in its own namespaces and prints its outcome."""
    began = time.monotonic()
    words = [sys.argv[0], one.__name__, str(seed), *(["--logs"] if options.logs else [])]
    child = subprocess.Popen(
        lan.namespaces_command(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        env={**os.environ, lan.INSIDE: f"{os.getpid()}-{one.__name__}"},
    )
    try:
        output, _ = child.communicate(timeout=one.limit * lan.PATIENCE + 60)
    except subprocess.TimeoutExpired:
        child.kill()
        output, _ = child.communicate()
        output += "the driver itself hung, and was killed\n"
    outcome = {0: "ok", 75: "skip", LATE: "LATE"}.get(child.returncode, "FAIL")
    text = "".join(f"      {line}\n" for line in output.splitlines())
    print(f"{outcome:<5} {time.monotonic() - began:5.1f} s  {one.sentence}\n{text}", end="", flush=True)
    return outcome


def play(one, seed, logs):
    """Starts the rig, runs the scenario inside, and prints every program's log if it fails."""

    def too_long(*_):
        raise lan.Late(f"the scenario took longer than {one.limit} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(round(one.limit * lan.PATIENCE))
    try:
        with lan.Rig(*one.subnets, **one.rig) as rig:
            scene = peers.Scene(rig, seed)
            try:
                one(scene)
                scene.finish()
            except Skip:
                raise
            except BaseException as error:
                traceback.print_exc(file=sys.stdout)
                print(f"seed {seed}")
                print(rig.logs())
                return LATE if isinstance(error, lan.Late) else 1
            finally:
                signal.alarm(0)
            if logs:
                print(rig.logs(400))
    except Skip as skip:
        print(f"skipped: {skip}")
        return 75
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    return 0
