"""Checks the documents of the specification: rules in order, existing references, and described vector groups."""

import json
import re
import unittest

from support import REPOSITORY

PROTOCOL = REPOSITORY / "Protocol"
DOCUMENTS = sorted(path for path in PROTOCOL.glob("*.md") if "LICENSE" not in path.name)
# The document that describes the groups of each file.
EXPLAINED = {
    "admission.json": "README.md",
    "board.json": "board.md",
    "broadcast.json": "broadcast.md",
    "discovery.json": "discovery.md",
    "games.json": "games.md",
    "recording.json": "recording.md",
    "recording-more.json": "recording.md",
    "session.json": "README.md",
    "walkthrough.json": "README.md",
    "web.json": "web.md",
}
# Keys that describe a whole file.
OF_A_FILE = {"note", "notation", "specification"}
RULE = r"(?:LNK|FRM|HEL|RSM|DUP|CLS|ADM|MEM|TCK|MSG|DGM|BLK|RES|STR|LIV|RLY|WEB|BRD|SYN|AUT|GAM|DSC|REC|CST)-\d+"
# The start of a rule: a row of a table, a paragraph, or an item of a list.
DEFINED = re.compile(rf"^(?:\| ({RULE}) \||(?:- )?\*\*({RULE})\*\*|## JSON \(({RULE})\))", re.M)


def defined(text):
    return ["".join(match) for match in DEFINED.findall(text)]


class Specification(unittest.TestCase):
    def test_each_rule_is_defined_once(self):
        rules = [rule for path in DOCUMENTS for rule in defined(path.read_text())]
        self.assertGreater(len(rules), 200)
        self.assertEqual(sorted(r for r in set(rules) if rules.count(r) > 1), [])

    def test_each_rule_that_is_named_exists(self):
        rules = {rule for path in DOCUMENTS for rule in defined(path.read_text())}
        files = [*DOCUMENTS]
        for folder in ("Sources", "Tests"):
            for kind in ("*.swift", "*.py", "*.md"):
                # Builds are in hidden folders that contain other projects' sources.
                files += [
                    path for path in (REPOSITORY / folder).rglob(kind)
                    if ".build" not in path.parts and path.is_file()
                ]
        missing = {}
        for path in files:
            for rule in set(re.findall(rf"\b{RULE}\b", path.read_text(errors="replace"))) - rules:
                missing.setdefault(rule, []).append(str(path.relative_to(REPOSITORY)))
        self.assertEqual(missing, {})

    def test_the_tests_of_the_threat_model_quote_its_rules(self):
        model = (PROTOCOL / "README.md").read_text().split("### 6.1 Threat model")[1].split("### 6.2")[0]
        rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", model, re.M)
        rows = [row for row in rows if re.search(RULE, row[1])]
        self.assertGreater(len(rows), 20)
        tests = {}
        for path in (REPOSITORY / "Tests").rglob("*"):
            if path.suffix in (".swift", ".py") and ".build" not in path.parts:
                tests[path.stem] = tests.get(path.stem, "") + path.read_text(errors="replace")
        for claim, rules, named in rows:
            with self.subTest(claim=claim):
                texts = [tests[name] for name in re.findall(r"`(\w+)`", named)]
                self.assertTrue(texts)

                def quotes(text, rule):
                    return f"[{rule}]" in text or f"test_{rule.lower().replace('-', '_')}_" in text

                rules = re.findall(RULE, rules)
                for rule in rules:
                    self.assertTrue(any(quotes(text, rule) for text in texts), f"no test quotes {rule}")
                for text in texts:
                    self.assertTrue(any(quotes(text, rule) for rule in rules), "a test quotes no rule")

    def test_the_rules_of_a_section_stand_in_numeric_order(self):
        for path in DOCUMENTS:
            for section in re.split(r"^#+ ", path.read_text(), flags=re.M):
                last = {}
                for rule in defined(section):
                    series, number = rule.split("-")
                    with self.subTest(document=path.name, rule=rule):
                        self.assertLess(last.get(series, 0), int(number))
                    last[series] = int(number)

    def test_the_rules_of_a_board_stand_in_numeric_order(self):
        for series in ("BRD", "SYN", "AUT"):
            rules = defined((PROTOCOL / "board.md").read_text())
            numbers = [int(rule[4:]) for rule in rules if rule.startswith(series)]
            self.assertEqual(numbers, sorted(numbers))

    def test_each_group_of_vectors_is_named_where_its_file_is_explained(self):
        for name, document in EXPLAINED.items():
            text = (PROTOCOL / document).read_text()
            for group in json.loads((PROTOCOL / "Vectors" / name).read_text()).keys() - OF_A_FILE:
                with self.subTest(file=name, group=group):
                    self.assertTrue(re.search(rf"`{group}(?:\.\w+)?`", text))

    def test_a_number_has_one_name_and_a_link_one_meaning(self):
        for path in DOCUMENTS:
            text = path.read_text()
            with self.subTest(document=path.name):
                # Only the error word `varint` may use the other name.
                others = re.findall(r".*(?:varint(?!`\))|link form).*", text)
                self.assertEqual(others, [])
        for rule in re.split(r"(?=\*\*(?:BRD|SYN|AUT)-\d)", (PROTOCOL / "board.md").read_text())[1:]:
            with self.subTest(rule=rule[2:8]):
                self.assertIsNone(re.search(r"\bon (?:a|that|this|the) link\b", rule))

    def test_a_minimal_peer_needs_at_most_20000_words(self):
        words = 0
        page = (PROTOCOL / "MinimalPeer.md").read_text()
        rows = re.findall(r"^\| `(\w+\.md)` \| (.+) \|$", page, re.M)
        self.assertGreater(len(rows), 3)
        for name, parts in rows:
            text = (PROTOCOL / name).read_text()
            sections = dict(re.findall(r"^##+ ([\d.]*\d)\.? [^\n]*\n(.*?)(?=^#|\Z)", text, re.M | re.S))
            rules = dict(re.findall(rf"^\| ({RULE}) \| ([^\n]*)", text, re.M))
            rules |= dict(re.findall(rf"^\*\*({RULE})\*\*(.*?)(?=^\*\*{RULE}|^#|\Z)", text, re.M | re.S))
            for number in re.findall(r"(?<![\w.-])\d[\d.]*\b", parts.split("; ")[0]):
                self.assertIn(number, sections, name)
                words += len(sections[number].split())
            for rule in re.findall(RULE, parts):
                self.assertIn(rule, rules, name)
                words += len(rules[rule].split())
        self.assertGreater(words, 10_000)
        self.assertLessEqual(words, 20_000)


if __name__ == "__main__":
    unittest.main()
