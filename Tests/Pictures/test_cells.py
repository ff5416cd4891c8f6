"""Tests of the drawing of terminals: python3 -m unittest discover -s Tests/Pictures"""

import unittest
import xml.etree.ElementTree as tree

import cells


def elements(screen, name):
    root = tree.fromstring(cells.svg(screen, 20, 2, "<title>"))
    return [one for one in root.iter() if one.tag == "{http://www.w3.org/2000/svg}" + name]


class CellsTests(unittest.TestCase):
    def test_words_stay_words_where_they_are_in_their_colours(self):
        found = elements("\x1b[1;38;2;255;0;16mred <&>\x1b[0m  so  plain", "text")
        self.assertEqual([one.text for one in found], ["red <&>", "so", "plain"])
        self.assertEqual([one.get("fill") for one in found], ["#ff0010", cells.INK, cells.INK])
        self.assertEqual([one.get("font-weight") for one in found], ["bold", None, None])
        self.assertEqual([one.get("x") for one in found], [str(x * cells.WIDTH) for x in (0, 9, 13)])

    def test_wide_and_combining_characters_take_the_columns_they_take(self):
        found = elements("漢\x1b[31me\u0301\x1b[39mx", "text")
        self.assertEqual([one.text for one in found], ["漢", "e\u0301", "x"])
        self.assertEqual([int(one.get("x")) // cells.WIDTH for one in found], [0, 2, 3])

    def test_what_is_reversed_has_the_colours_the_other_way_round(self):
        (word,) = elements("\x1b[7;32mx", "text")
        self.assertEqual(word.get("fill"), cells.PAPER)
        self.assertEqual(elements("\x1b[7;32mx", "rect")[1].get("fill"), cells.SIXTEEN[2])

    def test_dots_lines_and_blocks_are_drawn(self):
        self.assertEqual(elements("⣿─▀", "text"), [])
        lines, dots = sorted(one.get("d").count("M") for one in elements("⣿─", "path"))
        self.assertEqual((lines, dots), (2, 8))
        self.assertEqual(elements("\x1b[48;5;21m▀", "rect")[1].get("fill"), "#0000ff")


if __name__ == "__main__":
    unittest.main()
