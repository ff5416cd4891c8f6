"""Checks of finding, and of the menu, the clipboard and the guides with which objects are arranged."""

import browser
from browser import CONTROL, SHIFT
from page_drawing import script
from page_forms import clear, count, form, near, object_of, settle

SELECTED = "return [...whiteboard.ui.tools.select.selection]"
#: Adds notes in rows of 50 in one undo step; the numbers are in the labels.
NOTES = """
board.beginStep();
for (let index = 0; index < given[0]; index += 1) board.createForm("note", [index % 50 * 220, Math.floor(index / 50) * 220], { size: [200, 200], text: `note ${index}` });
board.endStep();
await until("the notes", () => scene.items.length >= given[0]);
"""


def found(page):
    return page.run("return document.querySelector('#find small').textContent")


def search(page, words):
    page.run("const field = document.querySelector('#find input'); field.value = arguments[0]; field.dispatchEvent(new Event('input'))", words)


def check_find(page, checks):
    """Ctrl+F and / find texts, labels, chat lines and names."""
    check = checks.check
    clear(page)
    text = page.run("return whiteboard.board.createText('Grüße an Mia', [4000, 3000])")
    label = form(page, "ellipse", [-5000, 100], size=[160, 80], text="The login server")
    page.run("const { board, ui } = whiteboard; board.sendChat('Who restarts the login?'); ui.tools.select.set([]); ui.setTool('pen'); ui.boardElement.focus()")
    page.key("f", CONTROL)
    check("Ctrl+F opens the search", page.run("return document.activeElement.closest('#find') !== null"))
    page.type("LOGIN")
    settle(page)
    shown = page.run("return whiteboard.ui.camera.toScreen(whiteboard.board.objects.get(arguments[0]).centerPosition)", label)
    check("the first result is selected and in the middle", page.run(SELECTED) == [label] and near(shown, [640, 400]) and found(page) == "1 of 2", (page.run(SELECTED), shown, found(page)))
    checks.picture(page, "find")
    page.key("Enter")
    marked = lambda: page.run("return document.querySelector('.found')?.textContent ?? ''")
    check("Enter shows the next result, a chat line", "Who restarts" in marked() and found(page) == "2 of 2", (marked(), found(page)))
    check("the search still has the focus", page.run("return document.activeElement.closest('#find') !== null"))
    page.key("Enter", SHIFT)
    check("Shift+Enter goes back", found(page) == "1 of 2", found(page))
    search(page, "gruße")
    check("accents do not matter, and the text is selected", page.run(SELECTED) == [text], (page.run(SELECTED), found(page)))
    search(page, "mia")
    page.key("Enter", SHIFT)
    check("names are found", "Mia" in marked() and page.run("return document.querySelector('#sheet h2').textContent") == "People", (marked(), found(page)))
    search(page, "nothing like this")
    check("words that are not there are reported", found(page) == "Not found", found(page))
    page.key("Escape")
    check("Escape closes the search", page.run("return document.querySelector('#find').hidden && document.activeElement.id") == "board")
    page.run("whiteboard.ui.sheet.close()")
    page.key("/")
    check("/ opens it too, with the last words", page.run("return document.activeElement.value") == "nothing like this")
    page.key("Escape")
    clear(page)
    script(page, NOTES, 2000)
    page.key("f", CONTROL)
    time = page.run("""const field = document.querySelector('#find input'), start = performance.now(); field.value = 'NOTE 1999'
      field.dispatchEvent(new Event('input')); return performance.now() - start""")
    check("one of 2,000 notes is found in less than 0.2 s", time < 200 and found(page) == "1 of 1", (time, found(page)))
    page.key("Escape")
    clear(page)


def check_arranging(address, checks):
    for is_phone, bodies in [(False, [check_find])]:
        page = browser.Page(address, is_phone)
        try:
            page.open()
            for body in bodies:
                body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()
