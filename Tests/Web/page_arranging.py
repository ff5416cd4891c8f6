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
    time = page.run("""const field = document.querySelector('#find input'), times = [0, 1, 2, 3, 4].map((number) => {
        const start = performance.now();
        field.value = `NOTE 199${number + 5}`;
        field.dispatchEvent(new Event('input'));
        return performance.now() - start;
      });
      return Math.min(...times)""")
    check("one of 2,000 notes is found in less than 0.2 s", time < 200 and found(page) == "1 of 1", (time, found(page)))
    page.key("Escape")
    clear(page)


#: The labels of the actions in the menu.
ACTIONS = "return [...document.querySelectorAll('.context.open button')].map((button) => button.ariaLabel || button.querySelector('span').textContent)"


def act(page, label):
    """Presses an action of the open menu."""
    page.run("[...document.querySelectorAll('.context.open button')].find((button) => (button.ariaLabel || button.querySelector('span').textContent).startsWith(arguments[0])).click()", label)
    settle(page)


def check_menu(page, checks):
    """A right click opens a menu with the actions for the object under the pointer."""
    check = checks.check
    clear(page)
    one, other = (form(page, "rectangle", [x, 0], size=[100, 60], fill="#ffc9c9ff") for x in (-150, 150))
    page.run("const { ui } = whiteboard; ui.tools.select.set([]); ui.setTool('pen')")
    page.right_click(490, 400)
    settle(page)
    labels = page.run(ACTIONS)
    check("a right click selects the object under it, and opens its menu", page.run(SELECTED) == [one] and {"Duplicate", "Bring to the front", "Delete", "Lock", "Select all"} <= set(labels)
          and "Group" not in labels, (page.run(SELECTED), labels))
    checks.picture(page, "menu-object")
    act(page, "Lock")
    check("its actions work, and close it", object_of(page, one)["isLocked"] and not page.run(ACTIONS), object_of(page, one))
    page.right_click(490, 400)
    settle(page)
    labels = page.run(ACTIONS)
    check("a locked object can be unlocked", "Unlock" in labels and "Delete" not in labels and "Duplicate" not in labels, labels)
    act(page, "Unlock")
    page.right_click(900, 650)
    settle(page)
    check("a right click on the empty board selects nothing", not page.run(SELECTED) and "Show all objects" in page.run(ACTIONS), (page.run(SELECTED), page.run(ACTIONS)))
    act(page, "Select all")
    check("everything is selected", sorted(page.run(SELECTED)) == sorted([one, other]))
    page.right_click(640, 400)
    settle(page)
    labels = page.run(ACTIONS)
    check("a right click between selected objects keeps the selection", len(page.run(SELECTED)) == 2 and "Group" in labels and any("Align left" in label for label in labels), labels)
    checks.picture(page, "menu-several")
    act(page, "Group")
    page.right_click(640, 400)
    settle(page)
    check("objects are grouped, and can be ungrouped", object_of(page, one)["groups"] == object_of(page, other)["groups"] != [] and "Ungroup" in page.run(ACTIONS), object_of(page, one))
    act(page, "Ungroup")
    page.run("whiteboard.ui.boardElement.focus()")
    page.run("whiteboard.ui.boardElement.dispatchEvent(new PointerEvent('contextmenu', { bubbles: true, cancelable: true, button: 0 }))")
    check("the key of the menu opens it with the focus", page.run("return document.activeElement.closest('.context') !== null"))
    page.key("ArrowDown")
    check("arrow keys choose an action", page.run("return document.activeElement.querySelector('span').textContent") == "Duplicate", page.run(ACTIONS))
    page.key("Escape")
    check("Escape closes it", not page.run(ACTIONS) and page.run("return document.activeElement.id") == "board")
    page.right_click(1270, 790)
    settle(page)
    box = page.run("const { left, top, right, bottom } = document.querySelector('.context').getBoundingClientRect(); return [left, top, innerWidth - right, innerHeight - bottom]")
    check("the menu is on the screen", min(box) >= 0, box)
    page.key("Escape")


def check_align(page, checks):
    """Objects and groups are aligned and distributed, as one undo step; connectors follow."""
    check = checks.check
    clear(page)
    places, sizes = [[-200, -80], [10, 40], [90, -10], [260, 70]], [[100, 60], [40, 40], [60, 90], [80, 30]]
    ids = [form(page, "rectangle", place, size=size) for place, size in zip(places, sizes)]
    arrow = page.run("return whiteboard.board.createForm('arrow', [-95, -20], { points: [[-105, -60], [105, 60]], connects: true })")
    page.run("whiteboard.board.group(arguments[0])", ids[1:3])
    page.run("whiteboard.ui.tools.select.set(arguments[0])", [*ids, arrow])
    settle(page)
    centers = lambda: [object_of(page, id)["centerPosition"] for id in ids]
    page.click("#selection .opens button")
    has = page.run("const one = document.querySelector(\"#selection [data-name='Align Align left']\"); one?.click(); return Boolean(one)")
    expected = [[-200, -80], [-230, 40], [-150, -10], [-210, 70]]
    check("the style panel aligns objects; a group stays together", has and all(near(*pair) for pair in zip(centers(), expected)), centers())
    page.run("whiteboard.ui.undo()")
    check("aligning is one undo step", centers() == places, centers())
    page.run("document.querySelector(\"#selection [data-name='Align Distribute horizontally']\").click()")
    # From -250 to 300 there are 100, 130 and 80 units of objects, and two gaps of 120.
    check("gaps are equal", all(near(*pair) for pair in zip(centers(), [[-200, -80], [-10, 40], [70, -10], [260, 70]])), centers())
    checks.picture(page, "align")
    page.run("whiteboard.ui.undo()")
    check("distributing is one undo step", centers() == places, centers())
    start = object_of(page, arrow)
    check("a connector is still bound", "startBinding" in start and "endBinding" in start, start)
    page.key("Escape")
    clear(page)
    script(page, NOTES, 4200)
    page.run("whiteboard.ui.selectAll()")
    page.key("a", browser.ALT, "KeyA")
    left = page.run("return new Set([...whiteboard.board.objects.values()].map(({ centerPosition: [x] }) => x)).size")
    check("more than 4,096 objects are aligned", left == 1, left)
    page.run("whiteboard.ui.undo()")
    left = page.run("return new Set([...whiteboard.board.objects.values()].map(({ centerPosition: [x] }) => x)).size")
    check("as one undo step", left == 50, left)


def check_long_press(page, checks):
    """On a phone, a finger that does not move opens the menu."""
    check = checks.check
    clear(page)
    page.run("Object.assign(whiteboard.ui.camera, { x: -195, y: -400 }); whiteboard.ui.panBy(0, 0)")
    ids = [form(page, "rectangle", [0, y], size=[150, 60], fill="#ffc9c9ff") for y in (-120, 0)]
    page.run("whiteboard.ui.tools.select.set([])")
    page.touch("touchStart", (195, 400))
    page.wait("document.querySelector('.context.open')", 5)
    page.touch("touchEnd")
    settle(page)
    check("a long press opens the menu of the object", page.run(SELECTED) == [ids[1]] and "Delete" in page.run(ACTIONS), (page.run(SELECTED), page.run(ACTIONS)))
    checks.picture(page, "phone-menu")
    act(page, "Select all")
    page.touch("touchStart", (195, 400))
    page.wait("document.querySelector('.context.open')", 5)
    page.touch("touchEnd")
    check("a long press on the selection keeps it, and the lifted finger chooses nothing", len(page.run(SELECTED)) == 2 and "Group" in page.run(ACTIONS), page.run(ACTIONS))
    act(page, "Group")
    check("objects are grouped by touch", object_of(page, ids[0])["groups"] == object_of(page, ids[1])["groups"] != [], object_of(page, ids[0]))
    page.run("whiteboard.ui.setTool('pen')")
    before = count(page)
    page.touch("touchStart", (100, 600))
    page.driver.execute_async_script("setTimeout(arguments[0], 700)")
    page.touch("touchMove", (200, 640))
    page.touch("touchEnd")
    check("with the pen, a finger that rests still draws", count(page) == before + 1 and not page.run(ACTIONS), count(page))


def check_arranging(address, checks):
    for is_phone, bodies in [(False, [check_find, check_menu, check_align]), (True, [check_long_press])]:
        page = browser.Page(address, is_phone)
        try:
            page.open()
            page.driver.set_script_timeout(200)
            for body in bodies:
                body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()
