"""Checks of finding, and of the menu, the clipboard and the guides with which objects are arranged."""

import base64
import json

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
    page.driver.execute_async_script("const [id, done] = arguments; otherMember.call('select', [id]).then(done)", label)
    page.wait(f"whiteboard.board.isHeld({json.dumps(label)})")
    page.run("document.querySelector('#toasts').replaceChildren()")
    page.key("f", CONTROL)
    for words in ("the", "the l", "the login"):
        search(page, words)
    shown = page.run("return whiteboard.ui.camera.toScreen(whiteboard.board.objects.get(arguments[0]).centerPosition)", label)
    holds = page.run("return [whiteboard.board.isHeld(arguments[0]), document.querySelector('#toasts').textContent]", label)
    check("an object that another member has selected is shown, and not taken", near(shown, [640, 400]) and holds == [True, ""] and page.run(SELECTED) == [], (shown, holds))
    page.key("Escape")
    page.driver.execute_async_script("const [id, done] = arguments; otherMember.call('deselect', [id]).then(done)", label)
    page.wait(f"!whiteboard.board.isHeld({json.dumps(label)})")
    search(page, "nothing like this")
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
    check("arrow keys choose an action", page.run("return document.activeElement.querySelector('span').textContent") == "Copy", page.run(ACTIONS))
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
    page.run("whiteboard.ui.tools.select.set([])")
    page.swipe([(195, 400)])
    page.tap("#selection .opens button")
    for part, label in [("Order", "Bring to the front"), ("Group", "Ungroup")]:
        selector = f"#selection .part[aria-label='{part}'] [aria-label='{label}']"
        page.run("document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })", selector)
        page.tap(selector)
    check("order and groups are changed in the style panel", not object_of(page, ids[0])["groups"], object_of(page, ids[0]))
    page.tap("#selection .opens button")
    page.run("whiteboard.ui.setTool('pen')")
    before = count(page)
    page.touch("touchStart", (100, 600))
    page.driver.execute_async_script("setTimeout(arguments[0], 700)")
    page.touch("touchMove", (200, 640))
    page.touch("touchEnd")
    check("with the pen, a finger that rests still draws", count(page) == before + 1 and not page.run(ACTIONS), count(page))


def check_small_view(page, checks):
    """In a small view, new texts and labels are at least 12 CSS pixels high."""
    clear(page)
    for zoom in (0.25, 0.6, 1, 2):
        page.run("const { ui } = whiteboard; ui.zoomBy(arguments[0] / ui.camera.zoom); ui.setTool('text')", zoom)
        page.swipe([(150, 500)])
        size = page.run("const { fontSize, transform } = getComputedStyle(document.activeElement); return parseFloat(fontSize) * new DOMMatrix(transform).a")
        page.type("word")
        page.key("Escape")
        text = board_objects(page)[-1]
        letters = text.get("textSize", 16) * zoom * 13.3 / 16
        checks.check(f"a new text is large enough at {zoom:.0%}", size >= 12 and letters >= 12 and (zoom < 1 or "textSize" not in text), (size, text))
        place = page.run("const { camera } = whiteboard.ui, o = whiteboard.board.objects.get(arguments[0]); return camera.toScreen([o.centerPosition[0] - o.size[0] / 2, o.centerPosition[1]])", text["id"])
        checks.check("its letters begin where the finger was", near(place, [150, 500], 2), (place, text))
        page.run("whiteboard.ui.setTool('note')")
        page.swipe([(195, 300)])
        note = board_objects(page)[-1]
        checks.check("a note too", note["form"] == "note" and note.get("textSize", 16) * zoom * 13.3 / 16 >= 12, note)
        page.key("Escape")
        page.run("whiteboard.ui.tools.select.set([])")
    checks.picture(page, "phone-small")
    clear(page)


#: Pastes or drops: the types of a clipboard with their texts, or files `[name, type, text]`.
PASTE = """
const clipboardData = new DataTransfer();
for (const [type, text] of Object.entries(arguments[0])) clipboardData.setData(type, text);
document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
"""
DROP = """
const dataTransfer = new DataTransfer(), board = document.querySelector("#board");
for (const [name, type, text] of arguments[0]) dataTransfer.items.add(new File([text], name, { type }));
for (const kind of ["dragover", "drop"]) board.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true, clientX: 500, clientY: 300 }));
"""
#: Returns the data that a copy of the selection puts on the clipboard.
COPY = """
const clipboardData = new DataTransfer();
document.body.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
return Object.fromEntries([...clipboardData.types].map((type) => [type, clipboardData.getData(type)]));
"""


def toasts(page):
    return page.run("return [...document.querySelectorAll('#toasts > *')].map((one) => one.textContent).join(' | ')")


def element(id, kind, **more):
    """An element of Excalidraw with what all elements have."""
    return {"id": id, "type": kind, "x": 0, "y": 0, "width": 100, "height": 60, "angle": 0, "strokeColor": "#1e1e1e", "backgroundColor": "transparent", "fillStyle": "solid",
            "strokeWidth": 2, "strokeStyle": "solid", "roughness": 0, "opacity": 100, "groupIds": [], "frameId": None, "roundness": None, "isDeleted": False, "boundElements": None,
            "link": None, "locked": False, **more}


def board_objects(page):
    return page.run("const { board } = whiteboard; return board.order.map((id) => ({ ...board.objects.get(id) }))")


def pasted(page, count, script, *arguments):
    page.run("whiteboard.ui.tools.select.set([]); document.querySelector('#toasts').replaceChildren()")
    page.run(script, *arguments)
    page.wait(f"whiteboard.board.objects.size === {count}")
    settle(page)
    return board_objects(page)


def check_excalidraw(page, checks):
    """Drawings of Excalidraw are pasted and dropped, and copies can be pasted there."""
    check = checks.check
    clear(page)
    label = {**element("t", "text", x=120, width=60, height=25, text="Login server", originalText="Login server", fontSize=20, fontFamily=5, textAlign="center", verticalAlign="middle"), "containerId": "a"}
    drawing = {"type": "excalidraw/clipboard", "elements": [
        element("a", "rectangle", backgroundColor="#a5d8ff", strokeStyle="dashed", groupIds=["g"], roughness=1, boundElements=[{"type": "text", "id": "t"}]), label,
        element("b", "ellipse", x=300, y=100, strokeColor="tomato", opacity=50, groupIds=["g"], link="https://example.org/"),
        element("c", "arrow", x=104, y=30, width=200, height=100, points=[[0, 0], [200, 100]], startBinding={"elementId": "a", "focus": 0, "gap": 4}, endBinding={"elementId": "b", "fixedPoint": [0.5, 0.5], "mode": "orbit"},
                endArrowhead="triangle", startArrowhead=None),
        element("d", "freedraw", x=10, y=200, points=[[0, 0], [20, 30], [60, 10]], pressures=[0.2, 0.5, 1], simulatePressure=False, strokeWidth=1),
        element("e", "embeddable"), element("f", "rectangle", isDeleted=True),
    ], "files": {}}
    objects = pasted(page, 4, PASTE, {"text/plain": json.dumps(drawing)})
    box, oval, arrow, ink = objects
    shown = toasts(page)
    check("a shape has its fill, its dashes and its label", box["form"] == "rectangle" and box["fill"] == "#a5d8ffff" and box["lineStyle"] == "dashed" and box["text"] == "Login server"
          and box["typeface"] == "hand" and box["textSize"] == 25 and near(box["size"], [100, 60]), box)
    check("colors and opacity", oval["form"] == "ellipse" and oval["color"] == "#ff6347ff" and oval["link"] == "https://example.org/" and abs(oval["opacity"] - 0.5) < 0.01, oval)
    check("shapes are a group", box["groups"] == oval["groups"] and len(box["groups"]) == 1, (box["groups"], oval["groups"]))
    check("an arrow is bound to both shapes", arrow["form"] == "arrow" and arrow.get("startBinding", {}).get("id") == box["id"] and arrow.get("endBinding", {}).get("id") == oval["id"] and arrow["lineEnd"] == "triangle", arrow)
    check("ink has its pressure", len(ink["points"]) == 3 and ink["pressure"] == [51, 128, 255] and ink["lineWidth"] == 4.25, ink)
    check("a message says what was added, changed and lost", "4 objects were added" in shown and "“embeddable” were left out (1)" in shown and "ketchy lines became plain (1)" in shown, shown)
    checks.picture(page, "paste-excalidraw")
    check("the drawing is in the middle and selected", len(page.run(SELECTED)) == 4)
    page.run("whiteboard.ui.undo()")
    check("pasting is one undo step", count(page) == 0, count(page))
    page.run("whiteboard.ui.undo(true)")
    page.run("whiteboard.ui.tools.select.set(whiteboard.board.order)")
    copied = json.loads(page.run(COPY)["text/plain"])
    kinds = [one["type"] for one in copied["elements"]]
    again = {one["id"]: one for one in copied["elements"]}
    check("a copy is a drawing of Excalidraw", copied["type"] == "excalidraw/clipboard" and kinds == ["rectangle", "text", "ellipse", "arrow", "freedraw"], kinds)
    line = again[arrow["id"]]
    check("with its labels, bindings and styles", again[f"{box['id']}-label"]["containerId"] == box["id"] and line["endBinding"]["elementId"] == oval["id"] and line["endArrowhead"] == "triangle"
          and again[box["id"]]["backgroundColor"] == "#a5d8ff" and again[box["id"]]["strokeStyle"] == "dashed" and {"type": "arrow", "id": line["id"]} in again[box["id"]]["boundElements"], copied["elements"])
    del copied["whiteboard"]
    clear(page)
    objects = pasted(page, 4, PASTE, {"text/plain": json.dumps(copied)})
    keys = ("form", "size", "fill", "lineStyle", "text", "typeface", "textSize", "color", "opacity", "points", "lineWidth", "lineEnd")
    same = [[one.get(key) == before.get(key) for key in keys] for one, before in zip(objects, [box, oval, arrow, ink])]
    check("objects pasted from there are the same", all(map(all, same)), [(one, before) for one, before in zip(objects, [box, oval, arrow, ink])])
    clear(page)
    infinite = json.dumps({"type": "excalidraw-api/clipboard", "elements": [
        {"type": "rectangle", "id": "a", "x": 0, "y": 0, "label": {"text": "Start"}}, {"type": "ellipse", "id": "b", "x": 300, "y": 0},
        {"type": "arrow", "x": 100, "y": 50, "width": 200, "start": {"id": "a"}, "end": {"id": "b"}},
        {"type": "rectangle", "x": "infinite", "y": 0}, {"type": "line", "x": 0, "y": 0, "points": None},
    ]}).replace('"infinite"', "1e999")
    box, oval, arrow = pasted(page, 3, PASTE, {"text/plain": infinite})
    check("elements of the programming interface have sizes, labels and bound ends", box["text"] == "Start" and near(oval["size"], [100, 100])
          and arrow.get("startBinding", {}).get("id") == box["id"] and arrow.get("endBinding", {}).get("id") == oval["id"], (box, oval, arrow))
    shown = toasts(page)
    check("damaged elements are left out with a message", "lements without a position were left out (1)" in shown and "ines without points were left out (1)" in shown, shown)
    clear(page)
    objects = pasted(page, 1, PASTE, {"text/plain": json.dumps([element("x", "diamond", y=500, locked=True)])})
    check("elements without a document are pasted", objects[0]["form"] == "diamond" and objects[0]["isLocked"], objects)
    page.run("const { board } = whiteboard; board.setLocked(board.order, false)")
    clear(page)
    title = {**element("t", "text", x=10, y=5, width=80, height=25, text="Title", fontSize=20, textAlign="center", verticalAlign="top"), "containerId": "a"}
    drawing = [element("a", "rectangle", height=200, backgroundColor="#a5d8ff", fillStyle="hachure"), title,
               element("f", "freedraw", x=200, points=[[0, 0], [50, 80], [90, 10], [1, 2]], backgroundColor="#ffc9c9")]
    box, words, curve = pasted(page, 3, PASTE, {"text/plain": json.dumps(drawing)})
    page.wait("document.querySelector('#toasts').textContent")
    shown = toasts(page)
    check("a text at the top of a shape stays there, in a group with it", not box.get("text") and words["type"] == "text" and words["groups"] == box["groups"] != [] and words["centerPosition"][1] < box["centerPosition"][1] - 60, (box, words))
    check("a pattern becomes translucent, and a filled freehand line a curve", box["fill"] == "#a5d8ff7f" and curve["form"] == "line" and curve["isCurved"] and curve["fill"] == "#ffc9c9ff", (box, curve))
    check("a message says so", "translucent (1)" in shown and "became curves (1)" in shown, shown)
    clear(page)
    label = {**element("t", "text", x=10, y=20, width=80, height=25, text="Rust backend", originalText="Rust backend", fontSize=16, textAlign="center", verticalAlign="middle"), "containerId": "w"}
    (wide,) = pasted(page, 1, PASTE, {"text/plain": json.dumps([element("w", "rectangle", width=116), label])})
    page.wait("document.querySelector('#toasts').textContent")
    check("letters that are wider on a board become smaller, so that their rows fit", near([wide["textSize"]], [100 * 2 / 12], 0.1) and "letters became a little smaller, so that their rows fit (1)" in toasts(page).lower(), (wide, toasts(page)))
    clear(page)


def check_clipboard(page, checks):
    """Copies are pasted on another board as they were."""
    check = checks.check
    clear(page)
    page.run("""const { board } = whiteboard, note = board.createForm("note", [0, 0], { size: [200, 200], text: "call Ben", isBold: true, fill: "#b2f2bbff" });
      const arrow = board.createForm("arrow", [200, 0], { points: [[-150, 0], [150, 0]], connects: true, text: "yes" }), text = board.createText("Grüße", [0, 200], { textSize: 24, isItalic: true });
      board.createDrawing([[300, 300], [340, 340]], { lineWidth: 3 }); board.rotate([note], 0.5); board.group([board.group([note, arrow]), text]);""")
    before = board_objects(page)
    settle(page)
    page.run("whiteboard.ui.selectAll()")
    copied = page.run(COPY)
    # On another board, no object has these ids, and nothing was copied.
    other = copied["text/plain"].replace(before[0]["id"].split("-")[1], "a" * 13)
    page.run("whiteboard.ui.selectAll()")
    clear(page)
    objects = pasted(page, 4, PASTE, {"text/plain": other})
    keys = ("form", "size", "scale", "angle", "fill", "text", "isBold", "isItalic", "textSize", "color", "lineWidth", "type")
    rounded = lambda value: [round(one, 6) for one in value] if isinstance(value, list) else value
    check("all properties are the same", all(rounded(one.get(key)) == rounded(old.get(key)) for one, old in zip(objects, before) for key in keys), (objects, before))
    check("and the binding", objects[1]["startBinding"] == {**before[1]["startBinding"], "id": objects[0]["id"]}, objects[1])
    check("and the groups", len(objects[0]["groups"]) == 2 and objects[0]["groups"] == objects[1]["groups"] and objects[2]["groups"] == objects[0]["groups"][1:], [one.get("groups") for one in objects])
    check("a copy of our own needs no message", toasts(page) == "", toasts(page))
    clear(page)
    form(page, "rectangle", [0, 0], size=[100, 60])
    frame = form(page, "frame", [0, 0], size=[400, 300], text="Plan")
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", frame)
    copied = page.run(COPY)["text/plain"]
    clear(page)
    objects = pasted(page, 2, PASTE, {"text/plain": copied.replace(frame.split("-")[1], "a" * 13)})
    frames = [one["id"] for one in objects if one["form"] == "frame"]
    check("a frame is copied with the objects in it", [one["frame"] for one in objects if one["form"] != "frame"] == frames, objects)
    page.run("whiteboard.ui.tools.select.set([arguments[0]]); whiteboard.ui.duplicate()", frames[0])
    page.wait("whiteboard.board.objects.size === 4")
    check("and duplicated with them", sum(one.get("form") == "frame" for one in board_objects(page)) == 2, board_objects(page))
    clear(page)
    page.run("const { board, ui } = whiteboard; ui.setTool('select'); ui.tools.select.set([board.createText('one', [0, 0], { isBold: true })])")
    copied, ids = page.run(COPY), page.run(SELECTED)
    check("texts are copied as text", copied["text/plain"] == "one" and "one</pre>" in copied["text/html"], copied)
    clear(page)
    objects = pasted(page, 1, PASTE, {"text/plain": "one", "text/html": copied["text/html"].replace(ids[0].split("-")[1], "a" * 13)})
    check("and keep their style", objects[0]["isBold"] and objects[0]["text"] == "one", objects)
    clear(page)
    objects = pasted(page, 1, PASTE, {"text/plain": "plain words\r\nsecond line"})
    check("other text becomes a text", objects[0]["type"] == "text" and objects[0]["text"] == "plain words\nsecond line", objects)
    page.run(PASTE, {"text/plain": "x" * 20000})
    settle(page)
    check("a text that is too long is explained", "in parts" in toasts(page) and count(page) == 1, toasts(page))
    objects = pasted(page, 2, PASTE, {"text/plain": '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><circle cx="30" cy="20" r="15" fill="#c00"/></svg>'})
    check("an SVG becomes a picture", objects[1]["type"] == "photo" and objects[1]["pixelSize"] == [1024, 683], objects)
    page.command("Browser.grantPermissions", origin=page.address, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.run("whiteboard.ui.tools.select.set([whiteboard.board.order[1]]); whiteboard.ui.boardElement.focus()")
    script(page, "await ui.clipboard.copySelection()")
    copied = json.loads(page.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"))
    files = list(copied["files"].values())
    check("a photo is copied with its file", len(files) == 1 and files[0]["dataURL"].startswith("data:image/") and copied["elements"][0]["fileId"] == files[0]["id"], files[:1])
    photo = objects[1]
    page.run("const { board, ui } = whiteboard; ui.tools.select.set([]); board.remove(board.order)")
    objects = pasted(page, 1, PASTE, {"text/plain": json.dumps(copied).replace(photo["id"], "9-" + "a" * 13)})
    check("and pasted with it", objects[0]["type"] == "photo" and objects[0]["size"] == photo["size"], objects)
    form(page, "rectangle", [300, 0], size=[100, 60], fill="#ffc9c9ff")
    page.right_click(940, 400)
    settle(page)
    act(page, "Copy")
    page.wait("navigator.clipboard && true")
    script(page, "await until('the copy', async () => (await navigator.clipboard.readText()).includes('excalidraw'))")
    page.right_click(300, 600)
    settle(page)
    act(page, "Paste")
    page.wait("whiteboard.board.objects.size === 3")
    check("the menu copies and pastes", board_objects(page)[-1]["form"] == "rectangle", board_objects(page))
    page.right_click(640 + 300, 400)
    settle(page)
    act(page, "Cut")
    page.wait("whiteboard.board.objects.size === 2")
    check("the menu cuts", True)


def check_drop(page, checks):
    """Dropped files are added, or a message says what to do instead."""
    check = checks.check
    clear(page)
    drawing = json.dumps({"type": "excalidraw", "version": 2, "elements": [element("a", "rectangle")]})
    for kind in ("application/json", ""):
        objects = pasted(page, 1, DROP, [["drawing.excalidraw", kind, drawing]])
        check("a dropped drawing is added where it was dropped", objects[0]["form"] == "rectangle" and near(objects[0]["centerPosition"], [-140, -100]) and "1 object was added from “drawing.excalidraw”" in toasts(page), (objects, toasts(page)))
        clear(page)
    library = json.dumps({"type": "excalidrawlib", "version": 2, "libraryItems": [{"elements": [element("a", "rectangle"), element("b", "ellipse")]}, {"elements": [element("a", "diamond")]}]})
    objects = pasted(page, 3, DROP, [["shapes.excalidrawlib", "", library]])
    check("the items of a library are side by side, each as a group", objects[0]["groups"] == objects[1]["groups"] != [] and objects[2]["centerPosition"][0] - objects[0]["centerPosition"][0] == 140, objects)
    clear(page)
    own = json.dumps({"format": "whiteboard-board", "version": 1, "board": {}, "chat": [], "assets": {}, "objects": [
        {"id": "1-aaaaaaaaaaaaa", "type": "drawing", "form": "diamond", "centerPosition": [0, 0], "size": [80, 40], "scale": 2, "angle": 0, "zIndex": "80", "text": "own", "lineWidth": 2}]})
    objects = pasted(page, 1, DROP, [["board.json", "application/json", own]])
    check("a board of this program is added", objects[0]["form"] == "diamond" and objects[0]["scale"] == 2 and objects[0]["text"] == "own", objects)
    clear(page)
    objects = pasted(page, 1, DROP, [["notes.txt", "text/plain", "hello note"]])
    check("a text file becomes a text", objects[0]["text"] == "hello note" and "“notes.txt” was added as a text." in toasts(page), (objects, toasts(page)))
    clear(page)
    objects = pasted(page, 1, DROP, [["pic.svg", "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><circle cx="30" cy="20" r="15" fill="#c00"/></svg>']])
    check("an SVG file becomes a picture", objects[0]["type"] == "photo", objects)
    clear(page)
    for ending, kind in [("png", "image/png"), ("svg", "image/svg+xml")]:
        path = browser.ROOT / "Tests" / "WhiteboardKitTests" / "Files" / "Cases" / f"scene.excalidraw.{ending}"
        page.run("document.querySelector('#toasts').replaceChildren()")
        script(page, """
          const bytes = Uint8Array.from(atob(given[2]), (letter) => letter.charCodeAt(0));
          await ui.clipboard.addFiles([new File([bytes], given[0], { type: given[1] })]);""", path.name, kind, base64.b64encode(path.read_bytes()).decode())
        objects = board_objects(page)
        check(f"the drawing in a picture is found: {ending}", objects and all(one["type"] != "photo" for one in objects) and f"from “{path.name}”" in toasts(page), (objects, toasts(page)))
        clear(page)
    good = '{"type":"ellipse","id":"e","x":0,"y":0,"width":50,"height":50}'
    for name, elements, expected in [
        ("no-id", '{"type":"rectangle","x":0,"y":0,"width":50,"height":50}', 2),
        ("text-5", '{"type":"text","id":"t","x":0,"y":0,"width":50,"height":50,"text":5}', 1),
        ("groups-5", '{"type":"rectangle","id":"g","x":0,"y":0,"width":50,"height":50,"groupIds":5}', 1),
        ("frame-5", '{"type":"frame","id":"f","x":0,"y":0,"width":50,"height":50,"name":5}', 2),
    ]:
        page.run(DROP, [[f"{name}.excalidraw", "", f'{{"type":"excalidraw","elements":[{elements},{good}]}}']])
        page.wait("document.querySelector('#toasts').textContent")
        check(f"a damaged element leaves the others: {name}", count(page) == expected, (count(page), toasts(page)))
        clear(page)
        page.run("document.querySelector('#toasts').replaceChildren()")
    page.run(DROP, [["items.excalidrawlib", "", f'{{"type":"excalidrawlib","version":2,"libraryItems":[{{"id":"1","elements":[{good}]}},{{"id":"4"}},7]}}']])
    page.wait("document.querySelector('#toasts').textContent")
    check("a damaged item of a library leaves the others", count(page) == 1, (count(page), toasts(page)))
    clear(page)
    for name, kind, text, words in [
        ("doc.pdf", "application/pdf", "%PDF-1.4", "cannot open PDF files"), ("tool.zip", "application/zip", "PK\0\0", "The page can add pictures, drawings"),
        ("broken.excalidraw", "", "{", "damaged"), ("other.json", "application/json", '{"a":1}', "not a drawing"),
    ]:
        page.run("document.querySelector('#toasts').replaceChildren()")
        page.run(DROP, [[name, kind, text]])
        page.wait("document.querySelector('#toasts').textContent")
        check(f"the page says what to do with {name}", words in toasts(page) and f"“{name}” was not added" in toasts(page) and count(page) == 0, toasts(page))


def check_guides(page, checks):
    """Objects snap to edges and centers of near objects, and to the grid; Ctrl turns this off."""
    check = checks.check
    clear(page)
    form(page, "rectangle", [0, -150], size=[200, 80], fill="#ffc9c9ff")
    moved = form(page, "rectangle", [50, 50], size=[100, 60], fill="#a5d8ffff")

    def drag(points, modifiers=0):
        """Drags without lifting, so that the guides are still visible."""
        for index, (x, y) in enumerate(points):
            page.command("Input.dispatchMouseEvent", type="mouseMoved" if index else "mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1, modifiers=modifiers)

    def lift(x, y, modifiers=0):
        page.command("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1, modifiers=modifiers)
        settle(page)

    drag([(690, 450), (680, 470), (687, 490)])
    settle(page)
    checks.picture(page, "guides")
    lift(687, 490)
    check("the right sides meet", near(object_of(page, moved)["centerPosition"], [50, 90], 0.1), object_of(page, moved))
    drag([(690, 490), (660, 470), (643, 490)])
    lift(643, 490)
    check("the centers meet", near(object_of(page, moved)["centerPosition"], [0, 90], 0.1), object_of(page, moved))
    drag([(640, 490), (660, 470), (643, 490)], CONTROL)
    lift(643, 490, CONTROL)
    check("Ctrl turns guides off", near(object_of(page, moved)["centerPosition"], [3, 90], 0.1), object_of(page, moved))
    # The handle is outside of the object by the margin of the frame.
    drag([(699, 490), (720, 490), (742, 490)])
    settle(page)
    lift(742, 490)
    check("a side that is resized snaps", near([object_of(page, moved)["centerPosition"][0] + object_of(page, moved)["size"][0] / 2], [100], 0.1), object_of(page, moved))
    page.run("const { ui } = whiteboard; ui.looks.grid = 50; ui.scene.reset(); ui.schedule()")
    page.run("const { board } = whiteboard; board.remove([board.order[0]]); board.resize(board.order[0], [100, 60], [3, 88])")
    settle(page)
    drag([(643, 488), (660, 470), (693, 520)])
    settle(page)
    checks.picture(page, "grid")
    lift(693, 520)
    check("objects snap to the grid", near(object_of(page, moved)["centerPosition"], [50, 120], 0.1), object_of(page, moved))
    page.run("const { ui } = whiteboard; ui.looks.grid = null; ui.scene.reset()")


def check_lasso(page, checks):
    """Alt and a drag on the empty board select with a loop."""
    clear(page)
    ids = [form(page, "rectangle", [x, y], size=[60, 60]) for x, y in [(-200, 0), (0, 0), (200, 0), (0, 150)]]
    ink = page.run("return whiteboard.board.createDrawing([[-60, 80], [-100, 100], [-140, 80]])")
    page.run("whiteboard.ui.tools.select.set([])")
    settle(page)
    # A loop around the first two boxes and the stroke, but not around the box below.
    page.drag([(380, 340), (540, 320), (700, 340), (720, 450), (600, 440), (580, 530), (480, 540), (380, 460)], browser.ALT)
    settle(page)
    checks.check("a loop selects the objects inside it", sorted(page.run(SELECTED)) == sorted([*ids[:2], ink]), (page.run(SELECTED), ids, ink))
    page.right_click(1000, 650)
    settle(page)
    act(page, "Select with a loop")
    for kind, x, y in [("mousePressed", 790, 330), ("mouseMoved", 900, 340), ("mouseMoved", 890, 470), ("mouseMoved", 780, 460)]:
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    settle(page)
    checks.picture(page, "lasso")
    page.command("Input.dispatchMouseEvent", type="mouseReleased", x=780, y=460, button="left", clickCount=1)
    checks.check("the menu also starts a loop", page.run(SELECTED) == [ids[2]], page.run(SELECTED))


def check_marker(page, checks):
    """The highlighter draws wide translucent lines behind texts and lines, and above photos and fills."""
    check = checks.check
    clear(page)
    page.run("whiteboard.board.createText('important words', [0, 0], { textSize: 24 })")
    page.key("m")
    page.drag([(540 + 20 * step, 400) for step in range(11)])
    settle(page)
    order = board_objects(page)
    check("the highlighter draws behind a text", order[0]["type"] == "drawing" and order[0]["lineWidth"] == 20 and order[0]["color"] == "#f0e44266", order)
    page.run("whiteboard.ui.undo()")
    check("as one undo step", count(page) == 1, count(page))
    page.run("whiteboard.ui.undo(true); whiteboard.board.createForm('note', [0, 150], { size: [200, 100], text: 'a note' })")
    settle(page)
    page.drag([(580 + 20 * step, 550) for step in range(7)])
    settle(page)
    check("but above a fill", board_objects(page)[-1]["type"] == "drawing", board_objects(page))
    page.click("#tools .swatch")
    shown = page.run("return [...document.querySelectorAll('#tools .words button')].map(({ textContent, ariaPressed }) => [textContent, ariaPressed])")
    check("the panel of the pen shows the highlighter", shown == [["Pen", "false"], ["Highlighter", "true"]], shown)
    checks.picture(page, "marker")
    page.click("#tools .swatch")
    page.key("p")
    check("P is the pen again", page.run("return !whiteboard.ui.isMarker && whiteboard.ui.tool") == "pen")


def check_arranging(address, checks):
    for is_phone, bodies in [(False, [check_find, check_menu, check_align]), (False, [check_excalidraw, check_clipboard, check_drop]), (False, [check_guides, check_lasso, check_marker]), (True, [check_long_press, check_small_view])]:
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
