"""Scenes of frames, links and diagrams."""

from screens import BRAILLE, Screen, pair


def command(screen, line):
    """Types a command in the prompt, and waits until the prompt is closed."""
    screen.type(f":{line}")
    screen.key("Enter")
    screen.wait(lambda lines: not any(shown.startswith(f":{line[:4]}") for shown in lines))


def a_presentation_is_followed_by_another_member(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    for x, name in ((4000, "Goals"), (8000, "Plan")):
        command(ada, f'frame {x},0 size=640,320 label={name}')
        command(ada, f'text {x},0 "about {name}"')
    ben.wait("2 people")
    ben.type("f")
    ben.wait("following ada")
    ada.type("F")

    def only(name, other):
        def holds(lines):
            text = "\n".join(line[:74] for line in lines)
            return f"about {name}" in text and f"about {other}" not in text

        holds.__doc__ = f"the frame {name} alone"
        return holds

    ada.wait("frame 1 of 2: Goals")
    for one in (ada, ben):
        one.wait(only("Goals", "Plan"))
    ada.key("Space")
    ada.wait("frame 2 of 2: Plan")
    for one in (ada, ben):
        one.wait(only("Plan", "Goals"))
    ada.key("Left")
    for one in (ada, ben):
        one.wait(only("Goals", "Plan"))
    ada.key("Escape")
    ada.wait(lambda lines: not any("frame 1 of 2" in line for line in lines))


def a_link_is_shown_before_it_is_opened(directory):
    ada = Screen("ada", directory, "host sprint --no-announce")
    ada.wait("only you")
    command(ada, "rect 0,0 label=Docs as=docs")
    command(ada, "link docs https://example.org/guide?a=b")
    ada.wait("↗")
    ada.key("Tab")
    ada.wait("arrows move")
    ada.type("O")
    ada.wait("Open this link in your browser?")
    ada.wait("https://example.org/guide?a=b")
    ada.key("Escape")
    ada.wait(lambda lines: not any("Open this link" in line for line in lines))
    ada.type("O")
    ada.wait("https://example.org/guide?a=b")
    # Without a screen, there is no browser, so the link is copied instead.
    ada.key("Enter")
    ada.wait("copied")


def the_end_of_an_arrow_moves_with_its_box(directory):
    ada, ben = pair(directory)
    ada.wait("2 people")
    boxes = (("Login", 3), ("Server", 28), ("Store", 53))
    for name, x in boxes:
        ada.type("r")
        ada.drag((x, 10), (x + 7, 12), (x + 15, 14))
        ada.key("Enter")
        ada.wait("Enter done")
        ada.type(name)
        ada.key("Enter")
        for one in (ada, ben):
            one.wait(name)
    for x in (18, 43):
        ada.type("a")
        ada.drag((x, 12), (x + 5, 12), (x + 11, 12))
    ada.type("v")

    def inked(rows, columns):
        def holds(lines):
            return all(any(BRAILLE.match(sign) for sign in lines[y].ljust(100)[columns]) for y in rows)

        holds.__doc__ = f"ink in the rows {rows}"
        return holds

    between = slice(20, 27)
    for one in (ada, ben):
        one.wait(inked([12], between))
        one.wait(inked([12], slice(45, 52)))
    # One drag moves the box in the middle, and with it the ends of both arrows.
    ada.drag((35, 12), (35, 15), (35, 20))
    ada.key("Escape")
    ada.send("^[O")
    for one in (ada, ben):
        one.wait(lambda lines: "Server" in lines[20])
        one.wait(inked(range(14, 19), between))
        one.wait(inked(range(14, 19), slice(45, 52)))


SCENES = [
    a_presentation_is_followed_by_another_member,
    a_link_is_shown_before_it_is_opened,
    the_end_of_an_arrow_moves_with_its_box,
]
