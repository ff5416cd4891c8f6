"""Checks the generated parts of the manual pages against the programs, and the links of all pages.

A generated part is a block between two comments. If a table in the code changes, its block fails until it is updated:

    WHITEBOARD_WRITE_PAGES=1 Tests/Interop/run test_manual_pages
"""

import functools
import json
import os
import re
import subprocess
import tempfile
import textwrap
import unittest

from program import BINARY
from support import REPOSITORY

PAGES = REPOSITORY / "Sources" / "FrontEnds" / "WhiteboardPrograms" / "WhiteboardPrograms.docc"
JSON_LINES = REPOSITORY / "Sources" / "Kit" / "CommandLines" / "CommandLines.docc" / "JSONLines.md"
BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n)(.*?)(<!-- end of generated text -->)", re.S)
# Options of nearly all commands, besides the options that set a setting.
SHARED = {"--json", "--version", "--help", "--ephemeral", "--no-color"}
UPDATE = "update it with: WHITEBOARD_WRITE_PAGES=1 Tests/Interop/run test_manual_pages"


def program(name):
    return BINARY.with_name(name)


def output(name, *arguments, given=""):
    """The standard output of a program that runs in an empty home directory."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [str(program(name)), *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment, timeout=60, encoding="utf-8",
    )
    if done.returncode:
        raise AssertionError(f"{name} {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


# MARK: Command lines


def described(name):
    """The description of a program's command line, as its argument parser prints it."""
    return json.loads(output(name, "--experimental-dump-help"))["command"]


def commands(command, path=()):
    """The commands of a program with their paths, in the order of the help."""
    for inner in command.get("subcommands", []):
        if inner["commandName"] != "help" and inner.get("shouldDisplay", True):
            yield (*path, inner["commandName"]), inner
            yield from commands(inner, (*path, inner["commandName"]))


def names(argument):
    """The names of an option with their dashes."""
    return [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names") or []]


def usage(argument):
    """An argument or option as a user types it."""
    value = argument.get("valueName") or ""
    value = value.upper() if value.islower() else value
    if argument["kind"] == "positional":
        text = value + ("…" if argument["isRepeating"] else "")
        return f"[{text}]" if argument["isOptional"] else text
    return ", ".join(names(argument)) + (f" {value}" if argument["kind"] == "option" else "")


def marked(text):
    """The text with its options as code, unless they are already code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", part) for part in parts[::2]]
    return "`".join(parts)


def filled(text, indent=""):
    """A paragraph in lines of limited length."""
    return textwrap.fill(
        marked(text), 125, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def cell(text):
    """The text in a form that does not end a cell of a table."""
    return text.replace("|", "\\|")


def prose(text):
    """A help text as Markdown: indented lines become code, and lines of capitals become a label."""
    blocks = []
    for paragraph in re.split(r"\n\n+", text):
        lines = paragraph.split("\n")
        # The exit statuses have their own section.
        if lines[0] == "EXIT STATUS":
            break
        while lines:
            is_code = lines[0].startswith(" ")
            count = next((i for i, line in enumerate(lines) if line.startswith(" ") != is_code), len(lines))
            part, lines = lines[:count], lines[count:]
            if is_code:
                blocks.append("```\n" + textwrap.dedent("\n".join(part)) + "\n```")
            elif part[0].isupper() and len(part) == 1:
                blocks.append(f"**{part[0].capitalize()}**")
            else:
                blocks.append(filled(" ".join(part)))
    return "\n\n".join(blocks)


def own_options(command):
    """The options of a command that are neither settings nor shared by nearly all commands."""
    for argument in command.get("arguments", []):
        if argument["kind"] == "positional" or "[WHITEBOARD_" in argument.get("abstract", ""):
            continue
        if argument["shouldDisplay"] and not SHARED & set(names(argument)):
            yield argument


def command_reference(name):
    """A section for each command: its usage, its help text and its own options."""
    sections = []
    for path, command in commands(described(name)):
        # These commands are the same in all programs.
        if name != "whiteboard-peer" and path[0] in ("completions", "manual"):
            continue
        words = [name, *path]
        usual = command.get("subcommands") and re.search(r"^  (\S+) \(default\)", output(name, *path, "--help"), re.M)
        if command.get("subcommands"):
            words.append("[COMMAND]" if usual else "COMMAND")
        options = list(own_options(command))
        if options:
            words.append("[OPTIONS]")
        words += [usage(a) for a in command.get("arguments", []) if a["kind"] == "positional"]
        parts = [f"### {' '.join(path)}", f"`{' '.join(words)}`", filled(command["abstract"])]
        if usual:
            parts[-1] += f" Without COMMAND, `{usual[1]}` is run."
        # The text of `config` explains the settings, which have their own sections.
        if command.get("discussion") and path != ("config",):
            parts.append(prose(command["discussion"]))
        # Two flags with the same text turn one thing on and off, so they share a line.
        rows = {}
        for option in options:
            default = option.get("defaultValue")
            text = option["abstract"] + (f" The default is {default.removesuffix('.0')}." if default else "")
            rows.setdefault(text, []).append(usage(option))
        items = (filled(f"- `{'`, `'.join(terms)}`: {text}", "  ") for text, terms in rows.items())
        parts.append("\n".join(items))
        sections.append("\n\n".join(part for part in parts if part))
    return "\n\n".join(sections) + "\n"


# MARK: Settings


def settings(name):
    """A table of the settings of a program."""
    root = described(name)
    # Each option of a setting: its text without the variables, and its forms.
    options = {}
    for _, command in commands(root):
        for argument in command.get("arguments", []):
            found = re.fullmatch(r"(.*?)\.? \[(WHITEBOARD_\w+).*\]", argument.get("abstract", ""))
            if found:
                options.setdefault(found[2], (found[1], []))[1].append(usage(argument))
    defaults = dict(re.findall(r"^(?:# )?([\w-]+)(?:: default,| =) (.*)$", output(name, "config", "show"), re.M))
    config = next(command for path, command in commands(root) if path == ("config",))
    rows = ["| setting | option and variable | meaning | values |", "|---|---|---|---|"]
    for setting, values, listed in re.findall(r"^  (\S+) is (.*) \[(.*)\]$", config["discussion"], re.M):
        variables = listed.split(", ")[1:]
        text, forms = options[variables[0]]
        meaning = re.split(r"; (?:else|default:?|by default) ", text)[0].removesuffix(": " + values.removeprefix("one of "))
        forms = ", ".join(f"`{cell(form)}`" for form in dict.fromkeys([*forms, *variables]))
        values = f"{values}; default: {defaults[setting]}"
        rows.append(f"| `{setting}` | {forms} | {cell(meaning)} | {cell(values)} |")
    return "\n".join(rows) + "\n"


def exit_statuses(name="whiteboard-peer"):
    """The table of exit statuses."""
    page = manual(name, "EXIT STATUS")
    rows = [map(plain, row) for row in re.findall(r"\.TP\n\\fB(.*)\\fR\n(.*)", page)]
    return "| status | meaning |\n|---|---|\n" + "".join(f"| {status} | {text} |\n" for status, text in rows)


def manual(name, section):
    """A section of a program's manual page, in the macro language of man."""
    return output(name, "manual").split(f'.SH "{section}"\n')[1].split("\n.SH ")[0] + "\n"


def plain(text):
    """A line of the macro language of man as plain text."""
    for macro, character in (("\\(dq", '"'), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~")):
        text = text.replace(macro, character)
    text = re.sub(r"\\\[u([0-9A-F]+)\]", lambda found: chr(int(found[1], 16)), text)
    return text.replace("\\&", "").replace("\\-", "-").replace("\\e", "\\")


def keys():
    """A table of the keys of a board on a terminal, for each heading of the help."""
    lines = [plain(line) for line in manual("whiteboard-peer", "KEYS").splitlines() if not line.startswith(".")]
    tables = []
    for line in lines:
        if not line.startswith(" "):
            tables.append(f"### {line}\n\n| key | action | name in `[keys]` |\n|---|---|---|")
        elif not line.startswith("      "):
            key = line.strip()
        elif not line.startswith("      Name"):
            action = line.strip()
        else:
            name = line.split(": ", 1)[1].removesuffix(".")
            key, name = (" ".join(f"`{cell(word)}`" for word in part.split(", ")) for part in (key, name))
            tables[-1] += f"\n| {key} | {cell(action)} | {name} |"
    return "\n\n".join(tables) + "\n"


# MARK: Commands on a board


def verbs():
    """The names of the commands on a board."""
    return re.findall(r"^  (\S+)", output("whiteboard-peer", "help", "verbs").split("\n\n")[1], re.M)


@functools.cache
def help_on_board():
    """The help of each command on a board, which only an open board prints."""
    with tempfile.TemporaryDirectory(prefix="whiteboard-interop-") as directory:
        return output(
            "whiteboard-peer", "run", "--host", "help", "--ephemeral", "--accessible", "--no-announce",
            "--listen", "127.0.0.1:0", "--data-dir", directory, "-",
            given="".join(f"help {verb}\n" for verb in verbs()),
        )


def board_commands():
    """The usage, the effect and the notes of each command on a board."""
    parts, known = [], set(verbs())
    for line in help_on_board().splitlines():
        if not line.startswith("    ") and line.split(" ")[0] in known:
            parts.append([line])
        elif parts and line.startswith("    ") and not line.startswith("    JSON keys: "):
            parts[-1].append(line.strip())
    # The text is a code block, so that its characters are not read as Markdown.
    blocks = ["\n".join([usage, *("    " + line for line in rest)]) for usage, *rest in parts]
    return "```\n" + "\n".join(blocks) + "\n```\n"


def board_words():
    """The rules for the words of all commands on a board."""
    return "```\n" + output("whiteboard-peer", "help", "verbs").split("\n\n")[-1] + "```\n"


def limits():
    """The limits of a relay with the default settings."""
    rows = output("whiteboard-relay", "config", "check").splitlines()[1:]
    cells = [re.split(r" {2,}", row.strip()) for row in rows]
    table = "".join(f"| {what} | {limit} | {then.removeprefix('then ')} |\n" for what, limit, then in cells)
    return "| resource | default limit | beyond the limit |\n|---|---|---|\n" + table


@unittest.skipUnless(BINARY.exists(), "whiteboard-peer is not built")
class ManualPages(unittest.TestCase):
    def generated(self, name):
        """The present text of a block."""
        return {
            "board-commands": board_commands,
            "board-words": board_words,
            "peer-commands": lambda: command_reference("whiteboard-peer"),
            "relay-commands": lambda: command_reference("whiteboard-relay"),
            "replay-commands": lambda: command_reference("whiteboard-replay"),
            "peer-settings": lambda: settings("whiteboard-peer"),
            "relay-settings": lambda: settings("whiteboard-relay"),
            "relay-limits": limits,
            "exit-statuses": exit_statuses,
            "keys": keys,
        }[name]()

    def test_the_generated_parts_equal_the_tables_of_the_programs(self):
        found = []
        for page in sorted(PAGES.glob("*.md")):
            text = page.read_text("utf-8")
            for opening, name, body, _ in BLOCK.findall(text):
                found.append(name)
                with self.subTest(page=page.name, block=name):
                    wanted = "\n" + self.generated(name) + "\n"
                    if os.environ.get("WHITEBOARD_WRITE_PAGES") == "1":
                        text = text.replace(opening + body, opening + wanted)
                        page.write_text(text, "utf-8")
                    else:
                        self.maxDiff = None
                        self.assertEqual(body, wanted, UPDATE)
        self.assertEqual(len(found), len(set(found)), "a block is on two pages")
        self.assertGreaterEqual(len(found), 10)

    def test_the_page_of_each_program_names_the_others(self):
        names = ["whiteboard-peer", "whiteboard-replay", "whiteboard-relay"]
        for name in names:
            page = output(name, "manual").replace("\\-", "-")
            others = page[page.index("SEE ALSO"):]
            self.assertEqual([f"{other}(1)" in others for other in names], [other != name for other in names], name)

    def test_files_and_choices_complete(self):
        kinds = {"FILE", "DIR", "HOW", "KIND", "CODEC", "PAPER", "LEVEL", "COLORS", "WHOSE", "ROLE"}
        found, missing = 0, []
        for name in ("whiteboard-peer", "whiteboard-relay", "whiteboard-replay"):
            # The other programs do not know the names of the boards.
            wanted = kinds | {"BOARD"} if name == "whiteboard-peer" else kinds
            for path, command in commands(described(name)):
                for argument in command.get("arguments", []):
                    if wanted & set((argument.get("valueName") or "").upper().split("|")):
                        found += 1
                        if "completionKind" not in argument:
                            missing.append(f"{name} {' '.join(path)}: {usage(argument)}")
        self.assertEqual(missing, [])
        self.assertGreater(found, 50)

    def test_the_rows_of_json_input_have_the_keys_of_the_commands(self):
        wanted, verb = {}, None
        for line in help_on_board().splitlines():
            if line.startswith("    JSON keys: "):
                wanted[verb] = set(line.split(": ", 1)[1].split(", ")) - {"verb", "request"}
            elif not line.startswith(" "):
                verb = line.split(" ")[0]
        rows = JSON_LINES.read_text("utf-8").split("## Input\n")[1].strip().split("\n\n")[0].splitlines()[2:]
        documented = {}
        for row in rows:
            named, described = re.split(r"(?<!\\)\|", row.strip("|"), maxsplit=1)
            for verb in re.findall(r"`([\w-]+)`", named):
                documented[verb] = set(re.findall(r"`(\w+)`", described))
        self.assertEqual(sorted(documented), sorted(wanted))
        for verb, keys in wanted.items():
            with self.subTest(verb=verb):
                self.assertEqual(keys - documented[verb], set())


class Links(unittest.TestCase):
    def test_each_link_to_a_file_or_heading_exists(self):
        pages = [REPOSITORY / "README.md", *(REPOSITORY / "Protocol").glob("*.md")]
        for folder in ("Sources", "Tests"):
            pages += [page for page in (REPOSITORY / folder).rglob("*.md") if ".build" not in page.parts]
        wrong = []
        for page in pages:
            text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, heading = link.partition("#")
                target = (page.parent / path).resolve() if path else page
                if not target.exists() or heading and heading not in headings(target):
                    wrong.append(f"{page.relative_to(REPOSITORY)}: {link}")
        self.assertEqual(wrong, [])


def headings(page):
    """The anchors of the headings of a page, as GitHub names them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


if __name__ == "__main__":
    unittest.main()
