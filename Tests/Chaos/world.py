"""Plays one schedule with the real programs on a network of namespaces, and records their output.

This module does not judge: `play` returns the history, a JSON value that `checker.py` reads. `Tests/LAN` has the rig
and the class that drives a process with `--json`.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "LAN"))
import lan  # noqa: E402
import peers  # noqa: E402
import relays  # noqa: E402
from history import BOXES, MAKERS  # noqa: E402

BOARD = "Team"
DISK = "6m"  # size of a data directory that can be filled
CONNECTED_WATCH = 30  # seconds to wait until all members of a healed network are connected
AGREE_WATCH = 20
BACKLOG = 200  # pending commands per process; the driver must never block on a process's pipe

# Sleeps 50 ms and computes briefly, four times a second. Prints how much later and slower this is than on an idle
# machine.
REFERENCE = """
import sys, time
while True:
    before = time.monotonic(); time.sleep(0.05); late = time.monotonic() - before - 0.05
    wall, spent = time.monotonic(), time.process_time()
    while time.process_time() - spent < 0.004: pass
    print(time.monotonic(), late, (time.monotonic() - wall) / (time.process_time() - spent), flush=True)
    time.sleep(0.2)
"""


class Life:
    """One run of one peer's process, from its start to its end."""

    def __init__(self, number, peer, how, process, started):
        self.number, self.peer, self.how, self.process = number, peer, how, process
        self.started, self.ended, self.end = started, None, None
        self.is_stopped = self.is_member_at_the_end = False
        self.requests = []
        self.resources = {}


class World:
    """The rig, the processes and the faults of one schedule."""

    def __init__(self, rig, schedule):
        self.rig, self.schedule = rig, schedule
        self.zero = time.monotonic()
        self.lives, self.current, self.links, self.starts = [], {}, {}, {}
        self.commands, self.made, self.faults, self.probes, self.verified = [], {}, [], [], []
        self.relay = self.relay_board = None
        self.relay_lives = []
        self.machine = []
        self.island, self.unplugged = set(), set()
        commands = (step for step in schedule["steps"] if step["do"] == "command")
        self.boxes = {step["n"] for step in commands if step["verb"] in BOXES}
        for step in schedule["setup"] + [step for step in schedule["steps"] if step["do"] == "start"]:
            if step["peer"] and step["how"] in ("host", "join"):
                self.starts.setdefault(step["peer"], {"how": step["how"], "through": step.get("through")})

    def now(self):
        return round(time.monotonic() - self.zero, 4)

    def host(self, peer):
        return self.rig.hosts[peer - 1 if peer else self.schedule["peers"]]

    def data(self, peer):
        return self.host(peer).home / "data"

    # The whole

    def play(self):
        """Runs everything and returns the history."""
        watch = subprocess.Popen([sys.executable, "-c", REFERENCE], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read_reference, args=(watch,), daemon=True).start()
        self._prepare_hosts()
        self._set_up()
        began = self.now()
        for step in self.schedule["steps"]:
            time.sleep(max(0, began + step["at"] - self.now()))
            self._apply(step)
        steps_end = self.now()
        self._drain(4)
        self._probe("faults", timeout=2)
        healed = self._heal()
        connected = self._watch_connections()
        is_whole = all(one["since"] is not None for one in connected)
        unanswered = self._drain(15)
        self._probe("healed", timeout=20 if is_whole else 5)
        final = self._final_state(AGREE_WATCH if is_whole else 3)
        self._quit()
        final["files"] = self._verify_files()
        watch.kill()
        watch.wait()
        return {
            "schedule": self.schedule, "began": began, "stepsEnd": steps_end, "healed": healed,
            "lives": [self._life(life) for life in self.lives],
            "relayLives": self.relay_lives,
            "commands": [self._command(command) for command in self.commands],
            "faults": self.faults, "probes": self.probes, "connected": connected, "unanswered": unanswered,
            "verified": self.verified, "final": final, "machine": self.machine,
        }

    def _read_reference(self, watch):
        for line in watch.stdout:
            when, late, slow = map(float, line.split())
            self.machine.append([round(when - self.zero, 3), round(late, 4), round(slow, 3)])

    def _life(self, life):
        process = life.process
        events = [{**event, "when": round(event["when"] - self.zero, 4)} for event in process.events]
        return {
            "peer": life.peer, "number": life.number, "how": life.how, "started": life.started,
            "ended": life.ended, "end": life.end, "status": process.popen.poll(), "events": events,
            "id": next((event["peer"] for event in events if event["event"] == "ready"), None),
            "notEvents": process.not_events[:5], "resources": life.resources,
            "errors": [line for _, line in process.errors][-60:],
        }

    def _command(self, command):
        life = command.pop("of")
        answer = life.process.answers.get(command["request"])
        answered = None if answer is None else round(answer["when"] - self.zero, 4)
        return {**command, "answer": answer, "answered": answered}

    # Beginning

    def _prepare_hosts(self):
        for peer in range(1, self.schedule["peers"] + 1):
            directory = self.data(peer)
            directory.mkdir()
            if self.schedule["disk"]:
                # A mount in the host's own namespace disappears with the host.
                self.host(peer).run("mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "tmpfs", directory)
            if self.schedule["clock"]:
                self._set_clock(peer, 0)

    def _set_up(self):
        if self.schedule["relay"]:
            self._start_relay()
            self.relay_board = self.relay.create(BOARD, "--admit", self.schedule["admit"])
            self.links[0] = self.relay_board["link"]
        for step in self.schedule["setup"]:
            life = self._start(step["peer"], step)
            if life:
                self._await_start(life, 20)

    def _await_start(self, life, within):
        """Waits until a process is ready and, unless it hosts, has joined; returns whether that happened."""
        needed = {"ready"} if life.how in ("host", "open") else {"ready", "joined"}

        def come():
            kinds = {event["event"] for event in life.process.events}
            return needed <= kinds or not life.process.is_running

        with contextlib.suppress(lan.Late):
            lan.until(come, within, "a start")
        return life.process.is_running and needed <= {event["event"] for event in life.process.events}

    def _start_relay(self):
        # `home/relay` stays the same when the relay restarts.
        self.relay = relays.start(
            None, self.host(0), "--lost-after", str(self.schedule["lostAfter"]), data="relay", wait=False
        )
        with contextlib.suppress(lan.Late, peers.Wrong):
            self.relay_lives.append({"started": self.now(), "ended": None, "end": None, "id": self.relay.id})

    def _start(self, peer, step):
        """Starts a peer that is not running; returns None if it cannot be started."""
        running = self.current.get(peer)
        if running and running.process.is_running:
            return None
        if running and running.ended is None:
            self._ended(running, "itself")
        first = self.starts[peer]
        step = first if step["how"] == "same" else step
        how = step["how"]
        file = next(self.data(peer).glob("boards/*.whiteboard"), None)
        if how == "open" and file is None:
            how, step = first["how"], first
        if how == "host":
            words = ["host", BOARD, "--admit", self.schedule["admit"]]
        elif how == "open":
            words = ["host", str(file), "--admit", self.schedule["admit"]]
        else:
            link = self._link_of(step.get("through"), peer)
            if link is None:
                return None
            words = ["join", link, "--wait", "20", "--admit", self.schedule["admit"]]
        more = {}
        if self.schedule["clock"]:
            more = {"LD_PRELOAD": str(clock_library()), "WHITEBOARD_CHAOS_CLOCK": str(self._clock_file(peer))}
        process = self.host(peer).start(
            peers.program(), *words, "--json", "--data-dir", self.data(peer), "--as", f"p{peer}",
            "--lost-after", str(self.schedule["lostAfter"]), "--accept-files",
            name=f"p{peer}.{len(self.lives)}", kind=peers.Peer, **more,
        )
        life = Life(len(self.lives), peer, how, process, self.now())
        self.lives.append(life)
        self.current[peer] = life
        self._note("start", peer=peer, life=life.number, how=how, through=step.get("through"))
        return life

    def _link_of(self, through, peer):
        """The link of the peer to join through, or of another peer if that peer never had a link."""
        for life in self.lives:
            ready = next((event for event in life.process.events if event["event"] == "ready"), None)
            if ready:
                self.links[life.peer] = ready["link"]
        others = [through] + [other for other in sorted(self.links) if other != peer]
        return next((self.links[other] for other in others if other in self.links and other != peer), None)

    # Steps

    def _note(self, kind, **fields):
        self.faults.append({"at": self.now(), "do": kind, **fields})

    def _apply(self, step):
        kind = step["do"]
        if kind == "command":
            self._do(step)
        elif kind == "start":
            if step["peer"] == 0:
                if self.schedule["relay"] and not self.relay.is_running:
                    self._start_relay()
                    self._note("start", peer=0)
            elif step["peer"] in self.current or step["how"] in ("host", "join"):
                self._start(step["peer"], step)
        elif kind in ("kill", "goodbye", "stop", "continue") and step["peer"] == 0:
            self._strike_relay(kind)
        elif kind in ("kill", "goodbye", "stop", "continue"):
            self._strike(kind, step)
        elif kind == "partition":
            self.island |= set(step["island"])
            self.rig.partition(*(self.host(peer) for peer in step["island"] if peer or self.schedule["relay"]))
            self._note(kind, island=step["island"])
        elif kind == "mend":
            self.island.clear()
            for host in self.rig.hosts:
                host._move_port(f"br{host.subnet}")
            self._note(kind)
        elif kind in ("unplug", "plug"):
            getattr(self.host(step["peer"]), kind)()
            self._note(kind, peer=step["peer"])
        elif kind == "cable":
            quality = {key: step[key] for key in ("loss", "delay", "jitter") if key in step}
            self.host(step["peer"]).cable(**quality, **({"seed": self.schedule["seed"]} if quality else {}))
            self._note(kind, peer=step["peer"], **quality)
        elif kind in ("fill", "drain"):
            self._fill(step["peer"], kind == "fill")
        elif kind == "clock":
            if self.schedule["clock"]:
                self._set_clock(step["peer"], step["offset"])
                self._note(kind, peer=step["peer"], offset=step["offset"])
        elif kind == "verify":
            self._verify_dead(step["peer"])

    def _do(self, step):
        life = self.current.get(step["peer"])
        if not life or not life.process.is_running or life.end:
            return
        waiting = sum(life.process.answers.get(request) is None for request in life.requests[-BACKLOG:])
        if waiting >= BACKLOG:
            return
        verb, keys = step["verb"], self._keys(step)
        if keys is None:
            return
        with contextlib.suppress(lan.RigError):
            self._begin(life, verb, step["n"], keys)

    def _begin(self, life, verb, n, keys):
        issued = self.now()
        request = life.process.begin(verb, **keys)
        life.requests.append(request.mark)
        self.commands.append({
            "n": n, "peer": life.peer, "life": life.number, "verb": verb, "keys": keys,
            "request": request.mark, "issued": issued, "of": life,
        })
        if verb in MAKERS:
            self.made[n] = (life, request.mark)

    def _keys(self, step):
        """The keys of a command, with contents that identify it later; None if the command does not apply."""
        n, verb = step["n"], step["verb"]
        at = [n * 7 % 1999 - 1000, n * 13 % 1777 - 900]
        if verb == "text":
            return {"at": at, "text": "" if n == 0 else f"c{n}"}
        if verb in BOXES:
            return {"at": at, "label": "" if n == 0 else f"c{n}"}
        if verb == "arrow":
            ends = {side: self._box(step[side]) for side in ("from", "to")}
            is_apart = None not in ends.values() and ends["from"] != ends["to"]
            return {**ends, "color": f"#{n:06x}"} if is_apart else None
        if verb == "stroke":
            return {"points": [at, [at[0] + 20, at[1] + 20]], "color": f"#{n:06x}"}
        if verb == "say":
            return {"text": f"c{n}"}
        if verb == "send":
            if step["to"] == 0:
                return {"text": f"m{n}"}
            life = self._known(step["to"])
            return {"text": f"m{n}", "to": life} if life else None
        if verb in ("undo", "redo"):
            return {}
        id = self._made(step["object"])
        if id is None:
            return None
        keys = {"id": id}
        if verb == "move":
            keys["to"] = at
        elif verb == "resize":
            keys["size"] = [160 + n % 7 * 30, 100 + n % 5 * 20]
        elif verb in ("edit", "label"):
            keys["text"] = f"c{step['object']} e{n}"
        elif verb == "color":
            keys["color"] = f"#{n:06x}"
        elif verb == "insert":
            keys.update(at=0, text=f"<{n}>")
        return keys

    def _made(self, n):
        """The id of the object that a command created; None if it is not known to have created one."""
        made = self.made.get(n)
        answer = made and made[0].process.answers.get(made[1])
        return answer["id"] if answer and answer["event"] == "done" else None

    def _box(self, n):
        """The id of the box that this command created; if that is unknown, the id of the latest known box before it."""
        before = sorted((one for one in self.made if one <= n and one in self.boxes), reverse=True)
        return next((id for one in before if (id := self._made(one))), None)

    def _known(self, peer):
        """The id of a peer, as its program printed it."""
        for life in self.lives:
            if life.peer == peer:
                for event in life.process.events:
                    if event["event"] == "ready":
                        return event["peer"]
        return None

    # Faults

    def _strike(self, kind, step):
        life = self.current.get(step["peer"])
        if not life or not life.process.is_running:
            return
        with contextlib.suppress(lan.RigError, ProcessLookupError, lan.Late):
            if kind == "kill":
                self._sample(life)
                self._ended(life, "kill")
                self._note(kind, peer=life.peer, life=life.number)
                life.process.send_signal(signal.SIGKILL)
                life.process.popen.send_signal(signal.SIGCONT)  # `nsenter` stops itself when its child is stopped
                life.process.wait_end(5)
                life.ended = self.now()
            elif kind == "stop":
                life.process.send_signal(signal.SIGSTOP)
                life.is_stopped = True
                self._note(kind, peer=life.peer, life=life.number)
            elif kind == "continue":
                go_on(life.process)
                life.is_stopped = False
                self._note(kind, peer=life.peer, life=life.number)
            else:
                self._sample(life)
                self._goodbye(life, step["by"])

    def _goodbye(self, life, by):
        self._ended(life, by)
        self._note("goodbye", peer=life.peer, life=life.number, by=by)
        if by == "term":
            life.process.send_signal(signal.SIGTERM)
            return
        if by == "leave":
            life.process.begin("leave")
        life.process.begin("quit")

    def _ended(self, life, end):
        life.end, life.ended = end, self.now()

    def _strike_relay(self, kind):
        if not self.schedule["relay"]:
            return
        numbers = {"kill": signal.SIGKILL, "goodbye": signal.SIGTERM, "stop": signal.SIGSTOP}
        if self.relay.is_running:
            with contextlib.suppress(lan.RigError, ProcessLookupError):
                if kind == "continue":
                    go_on(self.relay)
                else:
                    self.relay.send_signal(numbers[kind])
            self._note(kind, peer=0)
            if kind in ("kill", "goodbye") and self.relay_lives:
                self.relay_lives[-1].update(ended=self.now(), end=kind)

    def _fill(self, peer, is_full):
        if not self.schedule["disk"]:
            return
        ballast = self.data(peer) / "ballast"
        if is_full:
            self.host(peer).run("dd", "if=/dev/zero", f"of={ballast}", "bs=4k", check=False)
        else:
            self.host(peer).run("rm", "-f", ballast)
        self._note("fill" if is_full else "drain", peer=peer)

    def _clock_file(self, peer):
        return self.host(peer).directory / "clock"

    def _set_clock(self, peer, seconds):
        file = self._clock_file(peer)
        with file.open("r+b" if file.exists() else "wb") as out:  # written in place, because the program has mapped the file
            out.write(struct.pack("=q", seconds))

    def _verify_dead(self, peer):
        """Returns the programs' verdict on the file of a dead process, before any program repairs it."""
        life = self.current.get(peer)
        if not life or life.process.is_running:
            return
        # Verify a copy, so that the file does not change.
        copy = self.host(peer).directory / f"copy{len(self.verified)}"
        shutil.copytree(f"/proc/{self.host(peer).first}/root{self.data(peer)}", copy)
        self.verified.append({"at": self.now(), "life": life.number, **self._verify(peer, copy)})
        shutil.rmtree(copy)

    def _verify(self, peer, directory):
        """The result of `boards verify` for the only board of a data directory."""
        root = pathlib.Path(f"/proc/{self.host(peer).first}/root")
        inside = pathlib.Path(str(directory))
        files = list((root / str(inside).lstrip("/")).glob("boards/*.whiteboard"))
        if len(files) != 1:
            return {"peer": peer, "status": None, "replay": None, "output": [], "files": [file.name for file in files]}
        file = inside / "boards" / files[0].name
        done = self.host(peer).run(
            peers.program(), "boards", "verify", file, "--json", "--data-dir", inside, check=False, within=60
        )
        replayed = self.host(peer).run(replay_program(), "verify", file, check=False, within=60)
        return {
            "peer": peer, "status": done.returncode, "replay": replayed.returncode, "output": done.stdout.splitlines()[:20],
            "errors": done.stderr.splitlines()[-20:], "files": [files[0].name],
        }

    # The end

    def _heal(self):
        """Ends every fault and starts every dead process; returns the time at which the network was healed."""
        for life in self.current.values():
            if life.is_stopped and life.process.is_running:
                self._strike("continue", {"peer": life.peer})
        if self.schedule["relay"] and self.relay.is_running:
            self._strike_relay("continue")
        self.rig.heal()
        for peer in range(1, self.schedule["peers"] + 1):
            self._fill(peer, False)
        healed = self.now()
        self._note("heal")
        if self.schedule["relay"]:
            with contextlib.suppress(lan.Late):
                if self.relay_lives and self.relay_lives[-1]["end"]:
                    self.relay.wait_end(15)
            if not self.relay.is_running:
                self._start_relay()
                self._note("start", peer=0)
        for life in list(self.current.values()):
            if life.end and life.process.is_running:  # the process is still saying goodbye
                with contextlib.suppress(lan.Late):
                    life.process.wait_end(15)
        self._start_the_dead()
        return healed

    def _start_the_dead(self):
        dead = [
            peer for peer in sorted(self.starts)
            if peer not in self.schedule.get("away", ())
            and (peer in self.current and not self.current[peer].process.is_running
            or peer not in self.current and any(
                step["do"] == "start" and step["peer"] == peer for step in self.schedule["steps"]))
        ]
        # Start the peers first that do not need another peer.
        dead.sort(key=lambda peer: self.starts[peer]["how"] != "host")
        for peer in dead:
            for _ in range(3):
                through = self.starts[peer].get("through")
                alive = [other for other, life in self.current.items() if other != peer and life.process.is_running]
                if self.schedule["relay"]:
                    alive.append(0)
                step = {"how": "same"}
                if self.starts[peer]["how"] == "join" and through not in alive:
                    step = {"how": "join", "through": min(alive)} if alive else {"how": "open"}
                life = self._start(peer, step)
                if life and self._await_start(life, 20 if life.how == "join" else 10):
                    break
                if life and life.process.is_running:
                    break
                # The program ended; the peer that it joins may still be starting, or connecting to its relay.
                time.sleep(1)

    def _members(self):
        return {
            peer: life for peer, life in sorted(self.current.items())
            if life.process.is_running and not life.is_stopped and not life.end
        }

    def _ask_all(self, verb, within, of=None, **keys):
        """Asks every member at once; returns the answers, with None for each that did not arrive in time."""
        asked = {}
        for peer, life in self._members().items():
            with contextlib.suppress(lan.RigError):
                asked[peer] = (life, life.process.begin(verb, **keys))
        with contextlib.suppress(lan.Late):
            lan.until(
                lambda: all(request.answer or not life.process.is_running for life, request in asked.values()),
                within, verb,
            )
        found = {}
        for peer, (life, request) in asked.items():
            events = life.process.seen(of, request=request.mark) if of else [request.answer]
            found[peer] = events[-1] if events and events[-1] else None
        return found

    def _watch_connections(self):
        """Waits until all members are connected with each other; returns the time since which each pair is
        connected."""
        ids = {peer: self._known(peer) for peer in self._members()}
        by_id = {id: peer for peer, id in ids.items()}
        relay = self.relay_lives[-1]["id"] if self.relay_lives else None
        if relay:
            by_id[relay] = 0
        since, deadline = {}, self.now() + CONNECTED_WATCH * lan.PATIENCE
        while True:
            answers = self._ask_all("peers", 3, of="peers")
            seen = {
                (peer, by_id[entry["peer"]])
                for peer, answer in answers.items() if answer
                for entry in answer["peers"] if entry["state"] == "connected" and entry["peer"] in by_id
            }
            now, whole = self.now(), True
            everyone = sorted(answers)
            pairs = [(a, b) for a in everyone for b in everyone if a < b]
            pairs += [(0, b) for b in everyone] if relay else []
            for pair in pairs:
                if (pair in seen or pair[0] == 0) and pair[::-1] in seen:
                    since.setdefault(pair, now)
                else:
                    since.pop(pair, None)
                    whole = False
            if whole or now > deadline:
                return [{"pair": list(pair), "since": since.get(pair)} for pair in pairs]
            time.sleep(0.25)

    def _drain(self, within):
        """Waits until every command of a running process is answered; returns the unanswered commands."""

        def open_commands():
            return [
                command for command in self.commands
                if command["of"].process.is_running and not command["of"].is_stopped and not command["of"].end
                and command["of"].process.answers.get(command["request"]) is None
            ]

        with contextlib.suppress(lan.Late):
            lan.until(lambda: not open_commands(), within, "answers")
        return [command["n"] for command in open_commands()]

    def _digests(self):
        return {
            peer: answer and answer["digest"] for peer, answer in self._ask_all("digest", 5, of="digest").items()
        }

    def _probe(self, name, timeout):
        """Asks every member whether it is synced, and for the digests before and after."""
        before = self._digests()
        at = self.now()
        answers = self._ask_all("wait", timeout + 8, synced=True, timeout=timeout)
        # A program that could not save tries again later, and answers `not-saved` until then.
        while any(answer and answer.get("code") == "not-saved" for answer in answers.values()) and self.now() < at + timeout:
            time.sleep(1)
            answers = self._ask_all("wait", timeout + 8, synced=True, timeout=timeout)
        self.probes.append({
            "name": name, "at": at, "before": before, "answers": answers, "after": self._digests(), "ended": self.now(),
        })

    def _final_state(self, within):
        began, agreed = self.now(), None
        deadline = began + within * lan.PATIENCE
        while True:
            digests = self._digests()
            if len(set(digests.values())) == 1:
                agreed = self.now()
                break
            if self.now() > deadline:
                break
            time.sleep(0.3)
        objects = self._ask_all("objects", 10, of="objects")
        chats = self._ask_all("chat", 10, of="chat-history")
        for life in self._members().values():
            self._sample(life)
        return {
            "at": began, "agreed": agreed, "digests": digests,
            "objects": {peer: answer and answer["objects"] for peer, answer in objects.items()},
            "chats": {peer: answer and answer["lines"] for peer, answer in chats.items()},
        }

    def _sample(self, life):
        """The memory and the descriptors of a running process."""
        with contextlib.suppress(OSError, lan.RigError, IndexError, ValueError):
            pid = life.process.pid
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            life.resources = {
                "memory": int(status.split("VmHWM:")[1].split()[0]) * 1024,
                "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            }

    def _quit(self):
        for life in self._members().values():
            life.is_member_at_the_end = True
            with contextlib.suppress(lan.RigError):
                self._goodbye(life, "quit")
        for life in self.lives:
            if life.process.is_running:
                try:
                    life.process.wait_end(20)
                except lan.Late:
                    life.end = "hung"
                    with contextlib.suppress(lan.Late):
                        life.process.kill()
            if life.ended is None:
                self._ended(life, "itself")
        if self.relay and self.relay.is_running:
            with contextlib.suppress(lan.Late):
                self.relay_lives[-1]["status"] = self.relay.stop(within=15)

    def _verify_files(self):
        """Returns the programs' verdict on every file, individually and together."""
        each = [self._verify(peer, self.data(peer)) for peer in sorted(self.current)]
        # Copy all files to a place where one program can read them.
        homes = {
            f"p{peer}": (self.host(peer), self.data(peer))
            for peer, life in sorted(self.current.items()) if life.is_member_at_the_end
        }
        if self.schedule["relay"]:
            homes["relay"] = (self.host(0), self.host(0).home / "relay")
        files, sizes = [], {}
        for name, (host, directory) in homes.items():
            boards = pathlib.Path(f"/proc/{host.first}/root{directory}/boards")
            if not boards.is_dir():
                continue
            copy = self.rig.directory / "copies" / name
            shutil.copytree(boards, copy)
            files += sorted(copy.glob("*.whiteboard"))
            sizes |= {f"{name}/{path.name}": path.stat().st_size for path in copy.iterdir() if path.is_file()}
        done = subprocess.run(
            [replay_program(), "verify", *files], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        ) if files else None
        return {
            "each": each, "sizes": sizes,
            "together": done and {
                "status": done.returncode, "output": done.stdout.splitlines()[-30:], "errors": done.stderr.splitlines()[-30:],
            },
        }


def replay_program():
    """The `whiteboard-replay` beside the `whiteboard-peer` under test."""
    return peers.program().with_name("whiteboard-replay")


def go_on(process):
    """Continues a stopped process, and its parent `nsenter`, which stops itself when its child is stopped."""
    process.send_signal(signal.SIGCONT)
    process.popen.send_signal(signal.SIGCONT)


def clock_library():
    """The path of the compiled clock.c; compiled at its first use."""
    library = lan.STATE / "clock.so"
    if not library.exists():
        compiler = next((one for one in ("cc", "gcc", "clang") if shutil.which(one)), None)
        if compiler is None:
            raise lan.RigError("wrong clocks need a C compiler: install gcc or clang")
        lan.command(shutil.which(compiler), "-O2", "-shared", "-fPIC", "-o", library, HERE / "clock.c")
    return library


def play(schedule, out):
    """Plays a schedule inside private namespaces, and writes `history.json` and `log.txt` to a directory."""
    out = pathlib.Path(out)
    count = schedule["peers"] + (1 if schedule["relay"] else 0)
    with lan.Rig(count) as rig:
        world = World(rig, schedule)
        try:
            history = world.play()
            (out / "history.json").write_text(json.dumps(history))
        finally:
            (out / "log.txt").write_text(rig.logs(400))
