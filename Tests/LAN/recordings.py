"""Scenarios of recordings: by the members, whose own files are recordings, and by a recorder that only views the board.

WHITEBOARD_RECORDED_FOR is the number of seconds in which the crowd draws, WHITEBOARD_RECORDINGS the directory for the
recordings.
"""

import os
import re
import shutil
import time

import lan
import peers
from crowd import Crowd
from peers import expect
from runner import scenario

RECORDED_FOR = float(os.environ.get("WHITEBOARD_RECORDED_FOR", "20"))
VERBS_A_SECOND = 8  # commands of each peer
WORDS = ("crane", "slate", "audio", "house")


def program():
    """The `whiteboard-replay` beside the `whiteboard-peer` under test."""
    return peers.program().with_name("whiteboard-replay")


@scenario(5, limit=180 + RECORDED_FOR * 2)
def four_who_draw_with_loss_and_one_who_looks_on_record_one_board(scene):
    team = scene.team(4)
    crowd = Crowd(scene.random)
    editors = [crowd.add(peer, peer.host.name) for peer in team]
    crowd.furnish(team[0], [scene.photo(f"photo{n}.png", 24, 18) for n in range(4)], WORDS)
    scene.agree(*team, within=20)
    recorded = scene.files / "recorded.whiteboard"
    recorder = scene.h5.start(program(), "record", "Team", "-o", recorded, "--presence")
    recorder.wait_line("recording \"Team\"", 30)
    for peer in team:
        peer.wait("joined", 20, where=lambda event: event.get("name") == "recorder")
    for host in scene.rig.hosts:
        host.cable(loss=0.025, delay=15, seed=scene.seed + host.number)
    began, paused = time.monotonic(), [RECORDED_FOR / 3, RECORDED_FOR / 2]
    while (elapsed := time.monotonic() - began) < RECORDED_FOR:
        if paused and elapsed > paused[0]:
            recorder.write("pause" if len(paused) == 2 else "resume")
            paused.pop(0)
        for editor in editors:
            for _ in range(min(int(elapsed * VERBS_A_SECOND) - editor.begun, 20)):
                if len(editor.pending) < 200:
                    editor.act()
        with lan.news:
            lan.news.wait(0.02)
    lan.until(crowd.settled, 60, "every verb to be answered")
    # A leaving member deselects its objects, and the other members would record that.
    for peer in team:
        peer.do("deselect")
    board = scene.agree(*team, within=60)
    crowd.check(board)
    recorder.write("mark end")
    recorder.wait_line('marked "end"', 20)
    digest, = {peer.digest() for peer in team}
    # Wait until the recorder has the last edits too; it answers no commands.
    lan.until(lambda: recorder_has(scene, recorded, digest), 30, "the recorder to have the whole board")
    recorder.write("stop")
    expect(recorder.popen.wait(20 * lan.PATIENCE) == 0, "the recorder ends well")
    expect(any("paused" in line for _, line in recorder.output), "the recorder was paused")
    for peer in team:
        peer.leave()
    files = [recorded] + [file for peer in team for file in sorted((peer.data_dir / "boards").glob("*.whiteboard"))]
    if kept := os.environ.get("WHITEBOARD_RECORDINGS"):
        for number, file in enumerate(files):
            shutil.copy(file, f"{kept}/{number}.whiteboard")
    expect(len(files) == 5, f"five recordings: {files}")
    # Every member's presence is recorded, with the member's name.
    traffic = scene.h5.run(program(), "log", "--wire", recorded).stdout
    for peer in team:
        name = peer.host.name
        expect(re.search(rf"<- {name} \(\w+\)  datagram", traffic), f"{name} in {traffic[:2000]}")
    verified = scene.h5.run(program(), "verify", *files, "--seed", scene.seed, within=120, check=False)
    print(verified.stdout)
    expect(verified.stdout.count("ok  ") == 5 and "5 recordings end with the same board" in verified.stdout, verified.stdout)
    expect(set(re.findall(r"digest ([0-9a-f]{64})", verified.stdout)) == {digest}, f"the recordings have the digest of the peers: {digest}")
    # The host's recording is complete, because it received only batches.
    acted = scene.h5.run(
        program(), "run", files[1], "--peers", 5, "--net", "loss=5%,delay=20ms+-10,kill=B@2s..5s", "--seed", scene.seed,
        within=120,
    )
    print(acted.stdout)


def recorder_has(scene, file, digest):
    """Whether the recording so far ends with the board of a digest."""
    told = scene.h5.run(program(), "info", file, "--json", check=False).stdout
    return f'"digest":"{digest}"' in told
