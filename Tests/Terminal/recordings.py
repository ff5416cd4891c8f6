"""Scenes that watch recordings, and scenes that make recordings."""

import pathlib
import re

from screens import PROGRAM, ROOT, Screen, ink

REPLAY = pathlib.Path(PROGRAM).with_name("whiteboard-replay")
SAMPLE = ROOT / "Protocol/Vectors/recording.whiteboard"


def shows(text):
    """Whether the screen shows a text."""
    return lambda lines: any(re.search(text, line) for line in lines)


def a_recording_is_watched_paused_stepped_through_and_left(directory):
    eve = Screen("eve", directory, "play", str(SAMPLE), "--speed", "4", program=REPLAY)
    eve.wait(shows(r"0:03\.0"))
    eve.wait(ink())
    eve.key("Home")
    eve.type(" ")
    eve.key("Home")
    eve.wait(shows(r"0:00\.0"))
    for _ in range(12):
        eve.type(".")
    eve.wait(shows(r"12/12|0:03\.0"))
    eve.wait(shows("all alone"))
    eve.type(",")
    eve.wait(lambda lines: not shows("all alone")(lines))
    eve.key("End")
    eve.wait(shows("all alone"))
    eve.resize(60, 16)
    eve.wait(shows("all alone"))
    eve.type("q")
    eve.wait("EXIT 0")
    assert eve.flag("alternate_on") == "0", "the terminal is given back"


def a_board_is_recorded_and_what_was_recorded_is_watched_before_it_is_kept_or_not(directory):
    ada = Screen("ada", directory, "host sprint --admit anyone")
    ada.wait("sprint")
    file = f"{directory}/sprint.whiteboard"
    rec = Screen("rec", directory, "record", "sprint", "-o", file, program=REPLAY)
    rec.wait('recording "sprint"', 30)
    ada.wait("recorder")
    ada.drag((10, 10), (40, 14))
    ada.wait(ink())
    for line, said in (("pause", "paused"), ("resume", "recording  0"), ("mark lunch", 'marked "lunch"'), ("dance", "unknown command .dance")):
        rec.type(line)
        rec.key("Enter")
        rec.wait(shows(said))
    rec.type("stop")
    rec.key("Enter")
    rec.wait("Keep the recording?")
    rec.type("w")
    rec.key("Enter")
    rec.wait(ink())
    rec.type("q")
    rec.wait("Keep the recording?")
    rec.type("n")
    rec.key("Enter")
    rec.wait("the recording was deleted")
    rec.wait("EXIT 0")
    assert not pathlib.Path(file).exists(), "nothing was kept"


def a_recorder_is_admitted_when_its_user_and_the_host_have_compared_words(directory):
    ada = Screen("ada", directory, "host sprint --admit ask --accessible")
    ada.wait("You will be asked")
    file = f"{directory}/sprint.whiteboard"
    rec = Screen("rec", directory, "record", "sprint", "-o", file, program=REPLAY)
    rec.wait("The host must see the words", 30)
    ada.wait("asks to join")
    words = re.search(r"the words (\w+) (\w+) (\w+)", " ".join(rec.lines)).groups()
    assert all(word in " ".join(ada.lines) for word in words), words
    rec.type("y")
    rec.key("Enter")
    rec.wait("Waiting until you are admitted")
    ada.type("accept 1")
    ada.key("Enter")
    rec.wait('recording "sprint"', 30)
    rec.type("stop")
    rec.key("Enter")
    rec.wait("Keep the recording?")
    rec.type("n")
    rec.key("Enter")
    rec.wait("EXIT 0")


SCENES = [
    a_recording_is_watched_paused_stepped_through_and_left,
    a_board_is_recorded_and_what_was_recorded_is_watched_before_it_is_kept_or_not,
    a_recorder_is_admitted_when_its_user_and_the_host_have_compared_words,
]
