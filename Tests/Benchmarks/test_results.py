"""Tests the page of results, its history and its plots."""

import unittest
import xml.etree.ElementTree

import results
from results import HERE, Findings, Row, Work, least, most

ABOUT = {"began": "2026-11-29T12:00:00", "commit": "aaaaaaaa", "cpu": "CPU", "cores": 2, "system": "Linux 6", "load": 0.5, "runs": 3}
WORK = Work("trip", 1, None, (Row("p50", "trip, ms", most(2, "floor"), "The trip is long."), Row("rate", "trips", least(10))),
            {"floor": None})


def findings(*trips, floor=1.0):
    found = Findings()
    for trip in trips:
        found.add(WORK, HERE, {"p50": trip, "rate": 10}, 0.25)
    found.add(WORK, "floor", {"p50": floor}, 0.25)
    return found


def page(found, history=()):
    return results.page({"Trips": (WORK,)}, found, history, ABOUT, [("a row", most(3))])


class PageTests(unittest.TestCase):
    def test_a_row_has_the_median_the_range_the_goal_and_the_floor(self):
        self.assertIn("| trip, ms | 2 | 1 .. 9 | 3 | 0.2 | ≤ 2 x floor | floor 1 | - |", page(findings(1, 9, 2)))

    def test_only_a_missed_goal_has_its_note(self):
        self.assertNotIn("The trip is long.", page(findings(2)))
        text = page(findings(2.1))
        self.assertIn("≤ 2 x floor ✗", text)
        self.assertIn("- trip, ms: The trip is long.", text)
        self.assertNotIn("≥ 10 ✗", text)

    def test_a_goal_without_its_reference_is_neither_met_nor_missed(self):
        self.assertIsNone(most(2, "floor").is_met("trip.p50", {"trip.p50": 5}))
        self.assertEqual(str(least(1_000_000)), "≥ 1,000,000")
        self.assertIs(most(2, "empty.p50").is_met("trip.p50", {"trip.p50": 5, "empty.p50": 2}), False)

    def test_a_row_without_figures_is_listed_with_the_reason_and_its_earlier_figure(self):
        found = Findings()
        found.problems["trip"] = "needs root"
        text = page(found, [{"began": "1", "commit": "bbbb", "medians": {"trip.p50": 7}}])
        self.assertIn("| trip, ms | - | - | 0 | - | ≤ 2 x floor | - | 7 (bbbb) |", text)
        self.assertIn("- trip: needs root", text)
        self.assertIn("- a row: goal ≤ 3", text)

    def test_a_later_write_of_the_same_run_replaces_its_entry(self):
        history = results.record([{"began": "1", "medians": {}}], ABOUT, findings(1))
        history = results.record(history, ABOUT, findings(1, 3))
        self.assertEqual([entry["began"] for entry in history], ["1", ABOUT["began"]])
        self.assertEqual(history[1]["medians"], {"trip.p50": 2, "trip.p50 floor": 1, "trip.rate": 10})


class PlotTests(unittest.TestCase):
    def test_the_greatest_value_is_at_the_right_and_below_the_ceiling(self):
        medians = {"stroke-30.author": 10, "stroke-120.author": 40, "stroke-480.author": 200}
        drawn = xml.etree.ElementTree.fromstring(results.plot("points", medians))
        dots = drawn.findall("{http://www.w3.org/2000/svg}circle")
        places = [(float(dot.get("cx")) - results.LEFT, float(dot.get("cy")) - results.TOP) for dot in dots]
        self.assertEqual(places[-1], (results.WIDTH, 0))
        self.assertAlmostEqual(places[1][0], results.WIDTH / 4, 1)
        self.assertAlmostEqual(places[1][1], results.HEIGHT * 0.8, 1)

    def test_the_ceiling_is_not_below_the_value(self):
        self.assertEqual([results.ceiling(value) for value in (0, 0.03, 1, 4.1, 51, 100)], [1, 0.05, 1, 5, 100, 100])

    def test_without_figures_there_is_no_plot(self):
        self.assertIsNone(results.plot("peers", {"stroke-30.author": 10}))


if __name__ == "__main__":
    unittest.main()
