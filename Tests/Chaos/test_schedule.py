"""Tests that schedules depend only on their seeds, and that the shrinker finds the relevant steps."""

import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import schedule  # noqa: E402
import shrink  # noqa: E402


class Schedules(unittest.TestCase):
    def test_a_seed_gives_one_schedule(self):
        for seed in range(20):
            self.assertEqual(schedule.text(schedule.draw(seed)), schedule.text(schedule.draw(seed)))
        self.assertNotEqual(schedule.draw(1), schedule.draw(2))

    def test_a_schedule_is_read_as_it_was_written(self):
        for seed in range(20):
            drawn = schedule.draw(seed)
            self.assertEqual(json.loads(schedule.text(drawn)), drawn)

    def test_every_fault_and_every_command_is_drawn(self):
        steps = [step for seed in range(300) for step in schedule.draw(seed)["steps"]]
        self.assertEqual({step["do"] for step in steps} & set(schedule.BEGINNINGS), set(schedule.BEGINNINGS))
        verbs = {step["verb"] for step in steps if step["do"] == "command"}
        self.assertEqual(verbs, set(schedule.COMMANDS) - {"shared", "box"} | set(schedule.BOXES))
        self.assertTrue({30, 65} <= {round(b - a) for a, b in _partitions()})

    def test_steps_are_in_order_and_commands_have_their_own_numbers(self):
        for seed in range(50):
            steps = schedule.draw(seed)["steps"]
            self.assertEqual([step["at"] for step in steps], sorted(step["at"] for step in steps))
            numbers = [step["n"] for step in steps if step["do"] == "command"]
            self.assertEqual(len(numbers), len(set(numbers)))

    def test_the_cases_are_schedules(self):
        for file in (HERE / "cases").glob("*.json"):
            value = json.loads(file.read_text())
            self.assertEqual(schedule.text(value), file.read_text(), file)
            self.assertEqual(value["steps"], sorted(value["steps"], key=lambda step: step["at"]), file)


def _partitions():
    for seed in range(400):
        begun = None
        for step in schedule.draw(seed)["steps"]:
            if step["do"] == "partition":
                begun = step["at"]
            elif step["do"] == "mend" and begun is not None:
                yield begun, step["at"]
                begun = None


class Shrinking(unittest.TestCase):
    def test_only_the_faults_that_matter_remain(self):
        drawn = schedule.draw(17)
        matters = [step for step in drawn["steps"] if step["do"] not in ("command", "continue", "plug", "mend")][:2]
        tried = []

        def fails(values):
            tried.extend(values)
            return [all(step in value["steps"] for step in matters) for value in values]

        shorter = shrink.shrink(drawn, fails, tries=60, width=3)
        self.assertTrue(all(step in shorter["steps"] for step in matters))
        self.assertLess(len(shorter["steps"]), 8)
        self.assertLessEqual(len(tried), 60)

    def test_the_number_of_tries_is_bounded(self):
        tried = []
        shorter = shrink.shrink(schedule.draw(3), lambda values: tried.extend(values) or [False] * len(values), tries=5, width=2)
        self.assertEqual(len(tried), 5)
        self.assertEqual(shorter, schedule.draw(3))


if __name__ == "__main__":
    unittest.main()
