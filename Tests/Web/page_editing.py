"""Checks of the page for browser guests: what a guest drew or typed stays on the board, and large boards are drawn."""

import contextlib

import browser
from browser import CONTROL

ALT = 1
#: Ends the page like a phone that stops a tab: without an event for the page.
STOP = "whiteboard.board.close = whiteboard.board.suspend = () => {}"


def check(address, checks):
    with open_page(address, False) as page:
        check_copies(page, checks)
        check_reload(page, checks)


@contextlib.contextmanager
def open_page(address, is_phone):
    page = browser.Page(address, is_phone)
    try:
        page.open()
        yield page
    finally:
        page.close()


def objects(page):
    """Returns all objects, from bottom to top."""
    return page.run("const { board } = whiteboard; return board.order.map((id) => ({ ...board.objects.get(id) }))")


def top(page):
    return objects(page)[-1]


def clear(page):
    """Deletes all objects, and ends the selection."""
    page.run("const { board, ui } = whiteboard; ui.tools.select.set([]); if (board.objects.size) board.remove([...board.objects.keys()])")


def hidden(page):
    """Returns the number of objects that are not on the tiles, after the next frames."""
    page.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")
    return page.run("return whiteboard.board.objects.size - whiteboard.ui.scene.items.length")


def mouse(page, kind, x, y):
    page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)


def check_copies(page, checks):
    """Alt and the mouse drag copies of the selection."""
    check = checks.check
    page.run("document.querySelector('#board').focus()")
    page.key("r")
    page.drag([(300, 200), (350, 250), (500, 320)])
    original = top(page)["centerPosition"]
    hidden(page)
    page.drag([(300 + step * 20, 200) for step in range(6)], ALT)
    found = objects(page)
    check("Alt and a drag move a copy", len(found) == 2 and found[0]["centerPosition"] == original
          and abs(found[1]["centerPosition"][0] - original[0] - 100) < 4, [one["centerPosition"] for one in found])
    check("the copy is shown", hidden(page) == 0, hidden(page))
    page.key("l")
    page.drag([(600, 400), (650, 420), (700, 480)])
    page.key("z", CONTROL)
    check("a line after that is its own undo step", len(objects(page)) == 2, len(objects(page)))
    page.key("z", CONTROL)
    check("a copy and its drag are one undo step", [one["centerPosition"] for one in objects(page)] == [original], objects(page))
    clear(page)


def check_reload(page, checks):
    """After a reload, other members can change what the guest had selected."""
    check = checks.check
    page.key("r")
    page.drag([(300, 200), (350, 250), (500, 320)])
    shape = top(page)
    page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
    page.run(STOP)
    reload(page)
    found = top(page)
    check("nothing is selected after the tab was stopped", shape["selectedBy"] and found["id"] == shape["id"] and not found.get("selectedBy"), found)
    check("there is nothing to undo", not page.run("return whiteboard.board.canUndo"))
    page.run("whiteboard.ui.goTo(whiteboard.board.order.at(-1))")
    selected = top(page).get("selectedBy")
    page.driver.execute_async_script("const done = arguments[0]; whiteboard.board.close().then(done)")
    check("nothing is selected after the board was closed", selected and not top(page).get("selectedBy"), (selected, top(page)))
    reload(page)


def reload(page):
    page.driver.refresh()
    page.wait("globalThis.whiteboard?.board.members.size && whiteboard.board.state.isSynced")
