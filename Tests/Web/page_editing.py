"""Checks of the page for browser guests: what a guest drew or typed stays on the board, and large boards are drawn."""

import contextlib

import browser

#: Ends the page like a phone that stops a tab: without an event for the page.
STOP = "whiteboard.board.close = whiteboard.board.suspend = () => {}"


def check(address, checks):
    with open_page(address, False) as page:
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
