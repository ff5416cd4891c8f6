"""A board that a full-screen terminal hosts, and two browsers draw on."""

import pathlib
import re
import sys

from programs import LAN_NAME, free_port, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Terminal"))
from screens import Screen, ink  # noqa: E402


class Host(Screen):
    """The host's terminal; its board is compared with those of the browsers."""

    @property
    def digest(self):
        self.type(":digest")
        self.key("Enter")
        found = re.compile(r"\b[0-9a-f]{64}\b")
        lines = self.wait(lambda lines: any(found.search(line) for line in lines))
        # Otherwise, the box would take the first key of the next command.
        self.press_until("Escape", lambda lines: not any(found.search(line) for line in lines))
        return next(found.search(line)[0] for line in lines if found.search(line))

    def browser_link(self):
        """Returns the fragment of the link in the box that `J` opens."""
        self.type("J")
        lines = self.wait("In a browser, for example on a phone:")
        self.key("Escape")
        inner = [line.split("│")[1] for line in lines if line.count("│") >= 2]
        at = next(row for row, line in enumerate(inner) if "In a browser" in line)
        # The QR code is beside the link, which may need two lines.
        text = "".join(re.sub("[█▀▄ ]", "", line) for line in inner[at + 1 : at + 3])
        return re.search(r"#([a-z2-7]{26}\.[a-z2-7]{26})", text)[1]


def terminal(scene):
    """A full-screen terminal hosts a board; two browsers join by the link on its screen."""
    Host.socket = str(scene.folder / "tmux")
    scene.everything.callback(Host.end_all)
    port, config = free_port(), scene.folder / "no-config"
    config.touch()
    host = Host(
        "Anna", scene.folder, "host standup --web --no-announce --admit code --as Anna", f"--web-port {port} --config {config}",
        f"--listen 0.0.0.0:{free_port()}", columns=130, rows=45, program=scene.options.peer)
    host.wait("only you")
    link = f"https://{LAN_NAME}:{port}/#{host.browser_link()}"
    phone, desk = scene.guest("Phone", port), scene.guest("Desk", port, is_phone=False)
    for guest in (phone, desk):
        guest.join(link)
    host.wait("3 people")
    phone.swipe([(100 + step * 5, 400 + step % 9 * 8) for step in range(40)])
    desk.tool("pen")
    desk.drag([(400 + step * 8, 420 + step % 7 * 9) for step in range(40)])
    host.wait(ink(slice(1, 43)))
    host.drag(*[(x, 8 + x % 5) for x in range(20, 60)])
    for guest in (phone, desk):
        until(lambda: len(guest.objects()) == 3, lambda: guest.objects())
    host.type("cHello from the terminal")
    host.key("Enter")
    # An Escape would change the meaning of a key that follows within 30 ms.
    host.wait(lambda lines: not any("say: " in line for line in lines))
    phone.wait("whiteboard.board.chat.some(({ text }) => text === 'Hello from the terminal')")
    phone.edit("board.sendChat(arguments[0])", "hi")
    host.wait("Phone: hi")
    scene.check("strokes and chat of a terminal and two browsers are on all screens", True)
    scene.equal("a terminal and two browsers", host, phone, desk)
    scene.no_errors()
    host.key("q")
    for guest in (phone, desk):
        guest.screen("The host closed the board")
    scene.check("the browsers show that the host closed the board", True)
