"""Gives the checker hand-made bad histories. One assertion must reject each of them."""

import copy
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checker  # noqa: E402
from history import MAKERS  # noqa: E402

IDS = {1: "a" * 52, 2: "b" * 52, 3: "c" * 52}


def life(number, peer, how="join", end="quit", status=0, **more):
    """A run that began at second 0, joined the other two peers, and ended normally."""
    events = [{"event": "ready", "when": 0.5, "peer": IDS[peer]}]
    for other in sorted(IDS):
        if other != peer:
            events.append({"event": "peer-state", "when": 0.9, "peer": IDS[other], "state": "connected"})
            events.append({"event": "joined", "when": 1.0, "peer": IDS[other]})
            events.append({"event": "peer-found", "when": 1.1, "peer": IDS[other]})
    return {
        "peer": peer, "number": number, "how": how, "started": 0.0, "ended": 40.0, "end": end, "status": status,
        "events": events, "id": IDS[peer], "notEvents": [], "errors": [],
        "resources": {"memory": 80 << 20, "descriptors": 40}, **more,
    }


def command(n, peer, verb, issued, answer="done", life=None, **keys):
    """A command that was answered at once: `done`, a code of `error`, or None."""
    if answer == "done":
        answer = {"event": "done", "changed": True, "verb": verb}
        if verb in MAKERS:
            answer["id"] = f"{n}-x"
    elif isinstance(answer, str):
        answer = {"event": "error", "code": answer}
    return {
        "n": n, "peer": peer, "life": peer - 1 if life is None else life, "verb": verb, "keys": keys, "request": f"r{n}",
        "issued": issued, "answer": answer, "answered": None if answer is None else issued + 0.01,
    }


def text(n, words, at, color=None):
    one = {"id": f"{n}-x", "type": "text", "text": words, "centerPosition": at}
    return {**one, "color": color} if color else one


def box(n, form, words, at, size):
    return {**text(n, words, at), "type": "drawing", "form": form, "size": size, "lineWidth": 2}


def data(when, sender, words):
    return {"event": "data", "when": when, "from": IDS[sender], "text": words}


def good():
    """A history without violations: three peers with texts, a move, a color by another peer, an undo, chat and
    messages."""
    commands = [
        command(0, 1, "text", 2.0, at=[0, 0], text=""),
        command(1, 1, "text", 2.1, at=[5, 5], text="c1"),
        command(2, 1, "text", 2.2, at=[7, 7], text="c2"),
        command(3, 2, "text", 2.3, at=[8, 8], text="c3"),
        command(4, 2, "color", 3.0, id="2-x", color="#000004"),
        command(5, 1, "move", 3.5, id="2-x", to=[70, 70]),
        command(6, 1, "move", 4.0, id="2-x", to=[71, 71]),
        command(7, 1, "undo", 4.5),
        command(8, 3, "insert", 5.0, id="0-x", at=0, text="<8>"),
        command(9, 3, "stroke", 5.1, points=[[0, 0], [10, 10]], color="#000009"),
        command(10, 1, "say", 6.0, text="c10"),
        command(11, 1, "say", 6.1, text="c11"),
        command(12, 2, "say", 6.2, text="c12"),
        command(13, 1, "send", 7.0, text="m13", to=IDS[2]),
        command(14, 1, "send", 7.1, text="m14", to=IDS[2]),
        command(15, 2, "send", 7.2, text="m15"),
        command(16, 3, "move", 7.3, id="1-x", to=[9, 9]),
        command(17, 2, "rect", 7.4, at=[0, 0], label="c17"),
        command(18, 2, "ellipse", 7.4, at=[400, 9], label="c18"),
        command(19, 3, "arrow", 7.5, **{"from": "17-x"}, to="18-x", color="#000013"),
        command(20, 2, "label", 7.6, id="17-x", text="c17 e20"),
        command(21, 2, "resize", 7.7, id="18-x", size=[160, 100]),
        command(22, 2, "move", 7.8, id="18-x", to=[400, 0]),
    ]
    lives = [life(0, 1, "host"), life(1, 2), life(2, 3)]
    lives[1]["events"] += [data(7.05, 1, "m13"), data(7.15, 1, "m14")]
    lives[0]["events"] += [data(7.25, 2, "m15")]
    lives[2]["events"] += [data(7.25, 2, "m15")]
    board = [
        text(0, "<8>", [0, 0]), text(1, "c1", [9, 9]), text(2, "c2", [70, 70], "#000004ff"), text(3, "c3", [8, 8]),
        {"id": "9-x", "type": "drawing", "centerPosition": [5, 5], "color": "#000009ff"},
        box(17, "rectangle", "c17 e20", [0, 0], [200, 100]), box(18, "ellipse", "c18", [400, 0], [160, 100]),
        {
            "id": "19-x", "type": "drawing", "form": "arrow", "color": "#000013ff", "lineWidth": 2,
            "centerPosition": [210, 0], "points": [[-104, 0], [104, 0]],
            "startBinding": {"id": "17-x"}, "endBinding": {"id": "18-x"},
        },
    ]
    chat = [{"id": f"{n}-x", "peer": IDS[peer], "text": f"c{n}"} for n, peer in ((10, 1), (11, 1), (12, 2))]
    each = [{"peer": peer, "status": 0, "output": [], "errors": [], "files": ["team.whiteboard"]} for peer in IDS]
    answers = {str(peer): {"event": "done"} for peer in IDS}
    digests = {str(peer): "d1" for peer in IDS}
    return {
        "schedule": {"peers": 3, "lostAfter": 60, "relay": False, "away": []}, "began": 1.5, "stepsEnd": 10.0, "healed": 12.0,
        "lives": lives, "relayLives": [], "commands": commands, "faults": [], "verified": [], "unanswered": [],
        "probes": [{"name": "faults", "before": digests, "answers": answers, "after": dict(digests)}],
        "connected": [{"pair": list(pair), "since": 12.5} for pair in ((1, 2), (1, 3), (2, 3))],
        "final": {
            "at": 13.0, "agreed": 13.1, "digests": dict(digests),
            "objects": {str(peer): copy.deepcopy(board) for peer in IDS},
            "chats": {str(peer): copy.deepcopy(chat) for peer in IDS},
            "files": {"each": each, "sizes": {"p1/team.whiteboard": 40960}, "together": {"status": 0, "output": [], "errors": []}},
        },
        "machine": [[at / 2, 0.0, 1.0] for at in range(100)],
    }


class Checker(unittest.TestCase):
    def setUp(self):
        self.history = good()

    def everywhere(self, change):
        """Changes the list of objects of every member."""
        for objects in self.history["final"]["objects"].values():
            change(objects)

    def names(self):
        return sorted({violation.assertion for violation in checker.check(self.history)})

    def expect(self, *names):
        self.assertEqual(self.names(), sorted(names), checker.check(self.history))

    def replace(self, n, **more):
        """Gives a command another answer."""
        for place, one in enumerate(self.history["commands"]):
            if one["n"] == n:
                self.history["commands"][place] = {**one, **more}

    def test_a_good_history_passes(self):
        self.expect()

    # The board

    def test_an_acknowledged_object_that_is_missing(self):
        self.everywhere(lambda objects: objects.pop(3))
        self.expect("acknowledged-lost")

    def test_an_acknowledged_object_that_is_missing_at_one_member(self):
        self.history["final"]["objects"]["3"].pop(3)
        self.expect("acknowledged-lost", "objects-differ")

    def test_an_object_whose_command_was_not_answered_may_be_missing_or_there(self):
        self.replace(3, answer=None, answered=None)
        self.expect()
        self.everywhere(lambda objects: objects.pop(3))
        self.expect()

    def test_work_of_a_member_that_stays_away_may_be_missing(self):
        self.everywhere(lambda objects: objects.pop(3))
        self.chats(lambda lines: lines.pop(2))
        self.history["schedule"]["away"] = [2]
        for key in ("digests", "objects", "chats"):
            self.history["final"][key].pop("2")
        self.expect()

    def test_a_refused_object_that_is_there(self):
        self.replace(3, answer={"event": "error", "code": "bad-argument"})
        self.expect("from-nowhere")

    def test_an_object_that_was_not_saved_may_be_missing(self):
        self.replace(3, answer={"event": "error", "code": "not-saved"})
        self.everywhere(lambda objects: objects.pop(3))
        self.expect()

    def test_an_object_that_nobody_made(self):
        self.everywhere(lambda objects: objects.append(text(99, "c99", [1, 1])))
        self.expect("from-nowhere")

    def test_an_object_that_is_there_twice(self):
        self.everywhere(lambda objects: objects.append({**text(3, "c3", [8, 8]), "id": "77-x"}))
        self.expect("twice")

    def test_an_acknowledged_move_that_is_missing(self):
        self.history["commands"] = [one for one in self.history["commands"] if one["n"] != 7]
        self.expect("acknowledged-lost")

    def test_an_undo_that_took_back_too_much(self):
        self.everywhere(lambda objects: objects[2].update(centerPosition=[7, 7]))
        self.expect("acknowledged-lost")

    def test_a_delete_that_came_undone(self):
        self.history["commands"].append(command(20, 2, "delete", 8.0, id="3-x"))
        self.expect("from-nowhere")

    def test_an_undo_that_removed_the_work_of_another_author(self):
        self.everywhere(lambda objects: objects[2].pop("color"))
        self.expect("undo-of-others")

    def test_work_that_did_not_come_to_one_member_was_not_undone(self):
        self.history["final"]["objects"]["3"][2].pop("color")
        self.history["final"]["digests"]["3"] = "d2"
        self.expect("acknowledged-lost", "digests-differ", "objects-differ")

    def test_a_color_that_is_missing_though_nobody_undid_anything(self):
        self.history["commands"] = [one for one in self.history["commands"] if one["n"] not in (6, 7)]
        self.everywhere(lambda objects: objects[2].pop("color"))
        self.expect("acknowledged-lost")

    def test_an_undo_without_an_answer_may_have_happened(self):
        self.replace(7, answer=None, answered=None)
        for place in ([70, 70], [71, 71]):
            self.everywhere(lambda objects: objects[2].update(centerPosition=place))
            self.expect()
        self.everywhere(lambda objects: objects[2].update(centerPosition=[1, 2]))
        self.expect("acknowledged-lost")

    def test_a_redo_that_did_nothing(self):
        self.history["commands"].append(command(20, 1, "redo", 8.0))
        self.expect("acknowledged-lost")

    def test_a_word_that_is_missing(self):
        self.everywhere(lambda objects: objects[0].update(text=""))
        self.expect("acknowledged-lost")

    def test_a_word_that_is_there_twice(self):
        self.everywhere(lambda objects: objects[0].update(text="<8><8>"))
        self.expect("twice")

    def test_a_word_that_nobody_wrote(self):
        self.everywhere(lambda objects: objects[0].update(text="<9><8>"))
        self.expect("from-nowhere")

    def test_a_word_that_is_torn(self):
        self.everywhere(lambda objects: objects[0].update(text="<8>x"))
        self.expect("torn-word")

    def test_a_shared_object_where_nobody_moved_it(self):
        self.everywhere(lambda objects: objects[1].update(centerPosition=[3, 3]))
        self.expect("from-nowhere")

    def test_a_label_and_a_size_that_are_missing(self):
        for change in ({"text": "c17"}, {"size": [160, 100]}):
            with self.subTest(change):
                self.setUp()
                self.everywhere(lambda objects: objects[5].update(change))
                self.assertIn("acknowledged-lost", self.names())

    def test_an_arrow_that_is_bound_to_another_box(self):
        self.everywhere(lambda objects: objects[7].update(endBinding={"id": "17-x"}))
        self.assertIn("acknowledged-lost", self.names())

    def test_an_end_that_did_not_follow_its_box(self):
        self.everywhere(lambda objects: objects[7].update(points=[[-104, 0], [105, 0]]))
        self.expect("loose-end")
        self.everywhere(lambda objects: objects[7].update(points=[[-104, 0], [104, 1]]))
        self.expect("loose-end")

    def test_an_arrow_between_boxes_that_cover_each_other(self):
        self.replace(22, keys={"id": "18-x", "to": [10, 0]})
        self.everywhere(lambda objects: objects[6].update(centerPosition=[10, 0]))
        self.expect("loose-end")
        self.everywhere(lambda objects: objects[7].update(centerPosition=[5, 0], points=[[-5, 0], [5, 0]]))
        self.expect()

    # The chat

    def chats(self, change):
        for lines in self.history["final"]["chats"].values():
            change(lines)

    def test_a_line_that_is_missing(self):
        self.chats(lambda lines: lines.pop(0))
        self.expect("chat-lost")

    def test_a_line_that_is_there_twice(self):
        self.chats(lambda lines: lines.append(lines[2]))
        self.expect("chat-twice")

    def test_a_line_that_is_printed_twice(self):
        self.history["lives"][1]["events"] += [{"event": "chat", "id": "10-x", "when": 6.5}] * 2
        self.expect("chat-twice")

    def test_lines_that_are_not_in_the_order_of_their_author(self):
        self.chats(lambda lines: lines.insert(0, lines.pop(1)))
        self.expect("chat-order")

    def test_lines_in_another_order_at_one_member(self):
        lines = self.history["final"]["chats"]["2"]
        lines.insert(0, lines.pop(2))
        self.expect("chat-order")

    def test_a_line_that_nobody_said(self):
        self.chats(lambda lines: lines.append({"id": "99-x", "peer": IDS[1], "text": "c99"}))
        self.expect("from-nowhere")

    def test_a_line_under_the_name_of_another(self):
        self.chats(lambda lines: lines[2].update(peer=IDS[3]))
        self.expect("from-nowhere")

    def test_a_line_that_one_member_lacks(self):
        self.history["final"]["chats"]["2"].pop(0)
        self.expect("chat-lost", "chats-differ")

    # Messages

    def messages(self, peer):
        return [event for event in self.history["lives"][peer - 1]["events"] if event["event"] == "data"]

    def drop(self, peer, words):
        events = self.history["lives"][peer - 1]["events"]
        events[:] = [event for event in events if event.get("text") != words]

    def test_a_message_that_was_done_and_never_came(self):
        self.drop(2, "m13")
        self.expect("message-lost")

    def test_a_message_to_all_that_did_not_come_to_one(self):
        self.drop(3, "m15")
        self.expect("message-lost")

    def test_a_message_that_was_reported_undelivered_may_be_missing(self):
        self.drop(2, "m13")
        self.replace(13, answer={"event": "error", "code": "undelivered", "undelivered": [{"peer": IDS[2]}]})
        self.expect()

    def test_a_message_that_was_reported_undelivered_to_another_peer(self):
        self.drop(3, "m15")
        self.replace(15, answer={"event": "error", "code": "undelivered", "undelivered": [{"peer": IDS[1]}]})
        self.expect("message-lost")

    def test_a_message_that_came_twice(self):
        self.history["lives"][1]["events"].append(data(8.0, 1, "m14"))
        self.expect("message-twice")

    def test_messages_in_another_order(self):
        first, second = self.messages(2)
        first["text"], second["text"] = "m14", "m13"
        self.expect("message-order")

    def test_a_message_that_nobody_sent(self):
        self.history["lives"][1]["events"].append(data(8.0, 1, "m99"))
        self.expect("from-nowhere")

    def test_a_message_to_a_member_that_was_killed_before_it_could_print_it(self):
        self.drop(2, "m14")
        self.history["faults"].append({"at": 7.11, "do": "kill", "peer": 2})
        self.expect()
        self.history["faults"][0]["at"] = 9.0
        self.expect("message-lost")
        self.history["faults"].insert(0, {"at": 7.11, "do": "stop", "peer": 2})
        self.expect()

    def test_a_message_to_all_does_not_concern_one_who_joined_later(self):
        self.drop(3, "m15")
        for event in self.history["lives"][1]["events"]:
            if event["event"] == "joined" and event["peer"] == IDS[3]:
                event["when"] = 9.0
        self.expect()

    # The end

    def test_digests_that_differ(self):
        self.history["final"]["digests"]["2"] = "d2"
        self.expect("digests-differ")

    def test_a_member_that_does_not_print_its_digest(self):
        self.history["final"]["digests"]["2"] = None
        self.expect("unanswered")

    def test_boards_that_differ_in_a_key_that_no_command_set(self):
        self.history["final"]["objects"]["2"][2]["zIndex"] = "81"
        self.expect("objects-differ")

    def test_digests_that_are_equal_too_late(self):
        self.history["final"]["agreed"] = 26.0
        self.expect("late-agreement")

    def test_a_damaged_file(self):
        self.history["final"]["files"]["each"][1]["status"] = 1
        self.expect("file-damaged")

    def test_a_file_that_is_damaged_after_a_kill(self):
        for status, replay in ((1, 0), (0, 65)):
            self.history["verified"] = [{"peer": 2, "status": status, "replay": replay, "output": [], "errors": []}]
            self.expect("file-damaged")

    def test_a_member_without_a_file(self):
        self.history["final"]["files"]["each"][1].update(status=None, files=[])
        self.expect("files-differ")

    def test_one_who_never_joined_and_stays_away_needs_no_file(self):
        self.history["schedule"]["away"] = [2]
        for key in ("digests", "objects", "chats"):
            self.history["final"][key].pop("2")
        self.history["final"]["files"]["each"][1].update(status=None, files=[])
        self.expect()

    def test_files_that_do_not_end_in_one_board(self):
        self.history["final"]["files"]["together"]["status"] = 65
        self.expect("files-differ")

    def test_too_much_memory_too_many_descriptors_and_a_large_file(self):
        self.history["lives"][0]["resources"] = {"memory": 1 << 30, "descriptors": 1000}
        self.history["final"]["files"]["sizes"]["p1/team.whiteboard"] = 1 << 30
        self.expect("descriptors", "file-size", "memory")

    # Membership

    def reconnect(self, first, second, at):
        """Makes two peers lose each other at second 11 and find each other again."""
        for peer, other in ((first, second), (second, first)):
            self.history["lives"][peer - 1]["events"] += [
                {"event": "peer-state", "when": 11.0, "peer": IDS[other], "state": "reconnecting"},
                {"event": "peer-state", "when": at, "peer": IDS[other], "state": "connected"},
            ]
        pair = next(one for one in self.history["connected"] if one["pair"] == [first, second])
        pair["since"] = at + 0.2

    def test_a_member_that_is_lost_too_early(self):
        for event in (
            {"event": "peer-state", "when": 30.0, "peer": IDS[2], "state": "lost"},
            {"event": "left", "when": 30.0, "peer": IDS[2], "reason": "lost"},
        ):
            self.history = good()
            self.history["lives"][0]["events"].append(event)
            self.expect("lost-early")

    def test_a_member_that_is_lost_too_early_after_it_was_suspect(self):
        self.history["lives"][0]["events"] += [
            {"event": "peer-state", "when": 50.0, "peer": IDS[2], "state": "suspect"},
            {"event": "left", "when": 68.0, "peer": IDS[2], "reason": "lost"},
        ]
        self.expect("lost-early")

    def test_a_program_that_stood_still_heard_nothing_for_longer(self):
        self.history["schedule"]["lostAfter"] = 12
        self.history["lives"][0]["events"] += [
            {"event": "peer-state", "when": 30.0, "peer": IDS[2], "state": "suspect"},
            {"event": "left", "when": 30.1, "peer": IDS[2], "reason": "lost"},
        ]
        self.expect("lost-early")
        self.history["faults"] += [{"at": 10, "do": "stop", "peer": 1}, {"at": 29.9, "do": "continue", "peer": 1}]
        self.expect()

    def test_a_member_that_is_lost_in_time(self):
        self.history["lives"][0]["events"].append({"event": "left", "when": 68.0, "peer": IDS[2], "reason": "lost"})
        self.expect()

    def test_a_member_that_is_finally_refused(self):
        self.history["lives"][0]["events"].append({"event": "left", "when": 8.0, "peer": IDS[2], "reason": "not-known"})
        self.expect("refused")

    def test_a_member_that_is_said_to_have_left_and_did_not(self):
        for reason in ("left", "shutting-down", "restarted"):
            self.history = good()
            self.history["faults"] += [{"at": 0.1, "do": "start", "peer": 2}]
            self.history["lives"][0]["events"].append({"event": "left", "when": 9.0, "peer": IDS[2], "reason": reason})
            self.expect("false-left")
            self.history["faults"] += [{"at": 8.0, "do": "goodbye", "peer": 2}, {"at": 8.5, "do": "start", "peer": 2}]
            self.expect()

    def test_a_pair_that_is_not_connected(self):
        self.history["connected"][0]["since"] = None
        self.expect("not-connected")

    def test_a_pair_that_is_connected_too_late(self):
        self.reconnect(1, 2, 23.0)
        self.expect("late-connection")

    def test_a_pair_that_was_connected_before_the_driver_looked(self):
        self.reconnect(1, 2, 13.0)
        self.history["connected"][0]["since"] = 40.0
        self.expect()

    def test_a_pair_of_which_one_side_is_connected_too_late(self):
        self.reconnect(1, 2, 13.0)
        self.history["lives"][1]["events"][-1]["when"] = 23.0
        self.history["connected"][0]["since"] = 23.2
        self.expect("late-connection")

    def test_a_slow_machine_widens_the_limit(self):
        self.reconnect(1, 2, 23.0)
        self.history["machine"] = [[at / 2, 0.1, 2.0] for at in range(100)]
        self.expect()

    def test_the_limit_runs_from_the_announcement(self):
        self.reconnect(1, 2, 23.0)
        for peer, other in ((1, 2), (2, 1)):
            for event in self.history["lives"][peer - 1]["events"]:
                if event["event"] == "peer-found" and event["peer"] == IDS[other]:
                    event["when"] = 15.0
        self.expect()

    def test_a_pair_that_never_sees_an_announcement_has_a_limit_too(self):
        self.reconnect(1, 2, 60.0)
        for one in self.history["lives"]:
            one["events"] = [event for event in one["events"] if event["event"] != "peer-found"]
        self.expect("late-connection")

    def test_synced_while_the_boards_differ(self):
        for moment in ("before", "after"):
            self.history["probes"][0][moment] = {"1": "d1", "2": "d1", "3": "d2"}
        self.expect("synced-while-different")

    def test_synced_with_those_that_are_named(self):
        for moment in ("before", "after"):
            self.history["probes"][0][moment] = {"1": "d1", "2": "d1", "3": "d2"}
        answers = self.history["probes"][0]["answers"]
        answers["1"], answers["2"] = ({"event": "done", "synced": [{"peer": IDS[other]}]} for other in (2, 1))
        answers["3"] = {"event": "error", "code": "timed-out"}
        self.expect()
        answers["3"] = {"event": "done", "synced": [{"peer": IDS[1]}]}
        self.expect("synced-while-different")

    def test_never_synced_in_a_healed_network(self):
        probe = copy.deepcopy(self.history["probes"][0])
        probe["name"], probe["answers"]["2"] = "healed", {"event": "error", "code": "timed-out"}
        self.history["probes"].append(probe)
        self.expect("not-synced")

    def test_synced_with_nobody(self):
        self.history["probes"][0]["answers"]["1"] = {"event": "done", "synced": []}
        self.expect("synced-alone")

    def test_nothing_is_said_of_synced_while_boards_change(self):
        self.history["probes"][0]["before"] = {"1": "d1", "2": "d0", "3": "d0"}
        self.expect()

    # The programs

    def test_a_command_that_is_never_answered(self):
        self.replace(3, answer=None, answered=None)
        self.history["unanswered"] = [3]
        self.expect("unanswered")

    def test_a_message_to_a_member_that_is_away_may_wait(self):
        self.replace(13, answer=None, answered=None)
        self.history["unanswered"] = [13]
        self.expect("unanswered")
        self.history["schedule"]["away"] = [2]
        for key in ("digests", "objects", "chats"):
            self.history["final"][key].pop("2")
        self.expect()

    def test_a_message_to_a_member_that_is_not_connected_may_wait(self):
        self.replace(13, answer=None, answered=None)
        self.history["unanswered"] = [13]
        self.history["connected"][0]["since"] = None
        self.expect("not-connected")

    def test_a_line_that_is_no_event(self):
        self.history["lives"][0]["notEvents"] = ["hello"]
        self.expect("not-an-event")

    def test_a_crash(self):
        self.history["lives"][0]["errors"] = ["x.swift:1: Fatal error: index out of range"]
        self.expect("crash")

    def test_a_warning_that_boards_diverged(self):
        self.history["lives"][0]["events"].append({"event": "warning", "code": "diverged", "when": 9.0})
        self.expect("diverged")

    def test_a_process_that_does_not_end(self):
        self.history["lives"][0]["end"] = "hung"
        self.expect("hung")

    def test_a_goodbye_with_a_bad_status(self):
        self.history["lives"][0]["status"] = 1
        self.expect("ended-badly")

    def test_a_goodbye_to_a_process_that_could_not_join(self):
        self.history["lives"].append(life(3, 2, status=69) | {"id": None, "events": []})
        self.expect()
        self.history["lives"][3]["status"] = 1
        self.expect("ended-badly")

    def test_a_process_that_ends_by_itself(self):
        self.history["lives"][1].update(end="itself", status=69)
        self.expect("ended-by-itself")

    def test_a_process_that_ends_by_itself_because_it_is_not_admitted(self):
        self.history["lives"].insert(1, life(9, 2, end="itself", status=77, events=[{"event": "warning", "when": 1}]))
        self.expect("ended-by-itself")

    def test_a_process_that_finds_nobody_may_end(self):
        self.history["lives"].insert(1, life(9, 2, end="itself", status=75, events=[{"event": "warning", "when": 1}]))
        self.expect()

    def test_a_member_that_cannot_return(self):
        for key in ("digests", "objects", "chats"):
            self.history["final"][key].pop("2")
        self.expect("cannot-return")
        self.history["schedule"]["away"] = [2]
        self.expect()

    def test_a_relay_with_a_bad_status(self):
        self.history["relayLives"].append({"id": "r" * 52, "started": 0, "ended": 1, "end": None, "status": 1})
        self.expect("ended-badly")

    def test_every_assertion_has_a_test(self):
        source = (pathlib.Path(__file__).parent / "checker.py").read_text()
        import re
        used = set(re.findall(r'Violation\(\s*"([a-z-]+)"', source)) | {"undo-of-others", "acknowledged-lost", "twice"}
        mine = pathlib.Path(__file__).read_text()
        self.assertEqual([name for name in sorted(used) if f'"{name}"' not in mine.split("class Checker")[1]], [])


if __name__ == "__main__":
    unittest.main()
