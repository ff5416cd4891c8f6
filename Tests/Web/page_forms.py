"""Checks of forms: drawing them with the tools, their labels, sizes, points and styles, with the mouse, touches and keys."""

import os
import pathlib
import re
import tempfile

import browser
from browser import CONTROL, SHIFT
from page_drawing import nodes, script

CAMERA = "whiteboard.ui.camera"


def top(page):
    """Returns the topmost object."""
    return page.run("const { board } = whiteboard; return { ...board.objects.get(board.order.at(-1)) }")


def count(page):
    return page.run("return whiteboard.board.objects.size")


def settle(page):
    """Waits for the next two frames."""
    page.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def clear(page):
    page.run("const { board, ui } = whiteboard; ui.tools.select.set([]); board.remove([...board.order]); ui.setTool('select')"
             "; Object.assign(ui.camera, { zoom: 1, x: -640, y: -400 }); ui.panBy(0, 0)")
    settle(page)


def form(page, kind, center, **more):
    """Adds a form, and selects it."""
    id = page.run("const { board, ui } = whiteboard, id = board.createForm(...arguments); ui.setTool('select'); return id", kind, center, more)
    settle(page)
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", id)
    settle(page)
    return id


def object_of(page, id):
    return page.run("return { ...whiteboard.board.objects.get(arguments[0]) }", id)


def near(one, other, most=1.0):
    return len(one) == len(other) and all(abs(a - b) <= most for a, b in zip(one, other))


def double_click(page, place):
    for clicks in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            page.command("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=clicks, buttons=1)
    settle(page)


def undone(page, checks, what, id, before):
    """Checks that an edit is one undo step, and can be repeated."""
    after = object_of(page, id)
    page.run("whiteboard.ui.undo()")
    found = object_of(page, id)
    same = {key: found.get(key) for key in before if key not in ("selectedBy", "updatedAt")}
    checks.check(f"{what} is one undo step", same == {key: before[key] for key in same}, (before, found))
    page.run("whiteboard.ui.undo(true)")
    found = object_of(page, id)
    checks.check(f"{what} is done again", all(found.get(key) == after.get(key) for key in ("size", "points", "text", "fill")), (after, found))


def check_tools(page, checks):
    """Each tool draws its form with the mouse; a small form stays exact."""
    check = checks.check
    clear(page)
    for key, kind in [("r", "rectangle"), ("o", "ellipse"), ("d", "diamond"), ("l", "line"), ("a", "arrow"), ("3", "diamond")]:
        page.key(key)
        page.drag([(300, 300), (340, 320), (400, 350)])
        drawn = top(page)
        size = [102, 52] if kind in ("line", "arrow") else [100, 50]
        check(f"the key {key} and the mouse draw: {kind}", drawn["form"] == kind and near(drawn["size"], size) and drawn["lineWidth"] == 2
              and near(drawn["centerPosition"], [-290, -75]) and drawn.get("points", "none") == ([[-50, -25], [50, 25]] if size[0] > 100 else "none"), drawn)
        page.run("whiteboard.ui.undo()")
        check(f"{kind} is one undo step", count(page) == 0, count(page))
    for side in (10, 14, 17, 20, 30):
        page.key("r")
        page.drag([(300, 300), (300 + side // 2, 300 + side // 2), (300 + side, 300 + side)])
        drawn = top(page)
        check(f"a square of {side} units is exact", drawn["form"] == "rectangle" and drawn["size"] == [side, side], drawn)
        clear(page)
    page.key("r")
    page.drag([(300, 300), (340, 310), (400, 330)], SHIFT)
    check("Shift draws a square", near(top(page)["size"], [100, 100]), top(page))
    clear(page)
    page.key("n")
    page.drag([(500, 400)])
    page.type("call Ben")
    page.key("Escape")
    note = top(page)
    check("a click with the note tool adds a note, and its label is typed", note["form"] == "note" and note["size"] == [200, 200]
          and note["text"] == "call Ben" and near(note["centerPosition"], [-140, 0]), note)
    checks.picture(page, "forms-note")


def check_labels(page, checks):
    """A label is edited in place, also by two members, and makes its form higher."""
    check = checks.check
    clear(page)
    id = form(page, "rectangle", [0, 0], size=[160, 60])
    page.run("whiteboard.ui.tools.select.set([])")
    double_click(page, (640, 400))
    check("a double click in an empty form edits its label", page.run("return document.activeElement.ariaLabel") == "Label of the rectangle")
    page.type("Login")
    page.wait("[...whiteboard.board.objects.values()][0].text === 'Login'")
    field = page.run("const { left, right, top, bottom } = document.activeElement.getBoundingClientRect(); return [(left + right) / 2, (top + bottom) / 2]")
    check("the field is in the middle of the form", near(field, [640, 400], 3), field)
    page.run("document.activeElement.setSelectionRange(0, 0)")
    page.type("The ")
    page.key("Escape")
    check("the label is on the board", object_of(page, id)["text"] == "The Login" and object_of(page, id)["centerPosition"] == [0, 0], object_of(page, id))
    page.run("whiteboard.ui.undo()")
    check("typing a label is one undo step", not object_of(page, id).get("text") and count(page) == 1, object_of(page, id))
    page.run("whiteboard.ui.undo(true)")
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", id)
    page.key("Enter")
    check("Enter edits the label", page.run("return document.activeElement.value") == "The Login")
    page.type(" server that answers all of the requests of the other members")
    page.key("Escape")
    shape = script(page, "const { shapeOf } = await import('./geometry.mjs'); return shapeOf(board.objects.get(given[0]))", id)
    object = object_of(page, id)
    check("a long label makes the form higher, and is not stored in its size", shape["label"]["height"] + 16 == shape["height"] > 60 and object["size"] == [160, 60]
          and all(len(line) <= 18 for line in shape["label"]["lines"]), shape)
    page.key("Enter", code="Enter")
    page.run("whiteboard.ui.tools.select.set([arguments[0]]); whiteboard.ui.editText(arguments[0])", id)
    page.run("document.activeElement.value = ''; document.activeElement.dispatchEvent(new Event('input'))")
    page.key("Escape")
    check("a form without a label stays", count(page) == 1 and not object_of(page, id).get("text"), object_of(page, id))
    arrow = form(page, "arrow", [0, 150], points=[[-80, 0], [80, 0]])
    page.key("Enter")
    page.type("yes")
    page.key("Escape")
    check("an arrow has a label", object_of(page, arrow)["text"] == "yes", object_of(page, arrow))
    checks.picture(page, "forms-labels")
    page.run("whiteboard.ui.sheet.toggle(whiteboard.ui.panels.list)")
    names = page.run("return [...document.querySelectorAll('.objects .grow')].map(({ ariaLabel }) => ariaLabel)")
    names = [name.replace("\u2068", "").replace("\u2069", "") for name in names]
    check("the list names forms and their labels", names == ["Go to Arrow: yes, by you", "Go to Rectangle, by you"], names)
    page.run("whiteboard.ui.sheet.close()")


def check_sizes(page, checks):
    """Sides and corners of a form are dragged; the line width stays."""
    check = checks.check
    clear(page)
    id = form(page, "ellipse", [0, 0], size=[160, 100], lineWidth=3)
    before = object_of(page, id)
    page.drag([(726, 400), (756, 410), (776, 420)])
    wider = object_of(page, id)
    check("a side makes a form wider", near(wider["size"], [210, 100]) and near(wider["centerPosition"], [25, 0]) and wider["scale"] == 1 and wider["lineWidth"] == 3, wider)
    undone(page, checks, "the new width", id, before)
    before = object_of(page, id)
    settle(page)
    page.drag([(776, 456), (780, 470), (786, 506)], 0)
    larger = object_of(page, id)
    check("a corner changes both", near(larger["size"], [220, 150]) and near(larger["centerPosition"], [30, 25]), larger)
    undone(page, checks, "the new size", id, before)
    settle(page)
    page.drag([(786, 506), (800, 506), (896, 506)], SHIFT)
    check("Shift keeps the proportions", near([object_of(page, id)["size"][0] / object_of(page, id)["size"][1]], [220 / 150], 0.02), object_of(page, id))
    before = object_of(page, id)["size"]
    page.key("ArrowRight", browser.CONTROL)
    check("Ctrl+Right makes the form wider", near(object_of(page, id)["size"], [before[0] + 2, before[1]]), object_of(page, id))
    page.run("const { board } = whiteboard; board.rotate(arguments[0], Math.PI / 2); board.resize(arguments[0], [100, 100], [0, 0])", id)
    settle(page)
    page.drag([(640, 456), (640, 470), (640, 496)])
    turned = object_of(page, id)
    check("the side of a turned form follows the pointer", near(turned["size"], [140, 100], 1.5) and near(turned["centerPosition"], [0, 20], 1.5), turned)
    clear(page)
    text = page.run("const { board } = whiteboard; return board.createText('one two three four five', [0, 0])")
    settle(page)
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", text)
    settle(page)
    shape = lambda: script(page, """
      const { shapeOf } = await import("./geometry.mjs"), object = board.objects.get(given[0]), { bounds: { left, right, top, bottom }, lines } = shapeOf(object);
      return { lines, scale: object.scale, left, top, edge: camera.toScreen([right, (top + bottom) / 2]) };""", text)
    before, object = shape(), object_of(page, text)
    x, y = before["edge"]
    page.drag([(x + 6, y), (x - 20, y), (x - 94, y)])
    after = shape()
    check("the side of a text changes where it wraps", len(after["lines"]) > len(before["lines"]) == 1 and after["scale"] == 1
          and near([after["left"], after["top"]], [before["left"], before["top"]]), (before, after))
    undone(page, checks, "the new width of a text", text, object)


def check_points(page, checks):
    """Points of a line are moved, added and removed with the mouse."""
    check = checks.check
    clear(page)
    id = form(page, "arrow", [0, 0], points=[[-100, 0], [100, 0]])
    before = object_of(page, id)
    page.drag([(740, 400), (750, 420), (760, 460)])
    moved = object_of(page, id)
    places = lambda: script(page, "const { shown } = await import('./geometry.mjs'), o = board.objects.get(given[0]); return o.points.map((point) => shown(o, point))", id)
    check("an end is dragged", near(sum(places(), []), [-100, 0, 120, 60]), (moved, places()))
    undone(page, checks, "the moved end", id, before)
    before = object_of(page, id)
    settle(page)
    page.drag([(650, 430), (640, 400), (640, 340)])
    check("dragging the middle adds a point", near(sum(places(), []), [-100, 0, 0, -60, 120, 60]), places())
    undone(page, checks, "the new point", id, before)
    before = object_of(page, id)
    settle(page)
    page.drag([(640, 340), (700, 400), (758, 458)])
    check("a point that is dropped on its neighbor is removed", near(sum(places(), []), [-100, 0, 120, 60]), places())
    undone(page, checks, "the removed point", id, before)


def check_connectors(page, checks):
    """An arrow that is drawn from object to object stays connected when the objects are moved."""
    check = checks.check
    clear(page)
    boxes = [form(page, "rectangle", [x, 0], size=[100, 60]) for x in (-200, 200)]
    page.key("a")
    page.drag([(440, 400), (640, 410), (840, 400)])
    arrow = top(page)
    places = lambda: sum(script(page, "const { shown } = await import('./geometry.mjs'), o = board.objects.get(given[0]); return o.points.map((point) => shown(o, point))", arrow["id"]), [])
    bound = [arrow.get("startBinding", {}).get("id"), arrow.get("endBinding", {}).get("id")]
    check("an arrow is bound to both objects and ends at their outlines", bound == boxes and near(places(), [-144, 0, 144, 0]), (arrow, places()))
    script(page, "board.move([given[0]], [0, 100])", boxes[1])
    check("moving an object moves the end", places()[3] > 50 and places()[2] < 200, places())
    page.run("whiteboard.ui.undo()")
    check("and undo moves it back", near(places(), [-144, 0, 144, 0]), places())
    settle(page)
    page.drag([(784, 400), (760, 470), (740, 540)])
    check("an end that is dragged away is free", "endBinding" not in object_of(page, arrow["id"]) and near(places()[2:], [100, 140]), places())
    page.drag([(740, 540), (800, 450), (850, 405)])
    check("and bound again where it is dropped", object_of(page, arrow["id"]).get("endBinding", {}).get("id") == boxes[1], places())
    script(page, "board.remove([given[0]])", boxes[1])
    check("when the object is deleted, the end stays", places()[2] > 100, places())
    page.key("l")
    page.drag([(440, 400), (640, 410), (700, 400)])
    check("a line is not bound", "startBinding" not in top(page), top(page))


#: Fonts as on a Linux computer that moves each letter to a whole pixel.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts</dir><cachedir>{0}/fonts</cachedir></fontconfig>"""
#: How much of the text that is typed is hidden below or beside the field, in CSS pixels of the field.
HIDDEN = "const field = document.activeElement; return [field.scrollHeight - field.clientHeight, field.scrollWidth - field.clientWidth]"


def check_typing(page, checks):
    """A text is wrapped in the same way while it is typed and afterwards, so that all of its letters are visible."""
    check = checks.check
    for zoom in (1, 0.7, 2):
        clear(page)
        page.run("whiteboard.ui.zoomBy(arguments[0])", zoom)
        page.key("t")
        page.drag([(200, 300)])
        page.type("A line of a text that is rather long, and is not wrapped")
        settle(page)
        hidden = page.run(HIDDEN)
        check(f"at a zoom of {zoom}, a long line is completely visible while it is typed", max(hidden) <= 4, hidden)
        page.key("Escape")
    clear(page)
    note = form(page, "note", [0, 0], size=[200, 200])
    page.key("Enter")
    page.type("Words of a label that fill several lines of the note, each up to its end")
    settle(page)
    found = page.run("const field = document.activeElement; return [field.scrollHeight, parseFloat(field.style.lineHeight)]")
    page.key("Escape")
    settle(page)
    rows = object_of(page, note)["rows"]
    check("a label has as many lines while it is typed as afterwards", abs(found[0] / found[1] - len(rows)) < 0.5 and len(rows) > 3, (found, rows))


#: Counts the pixels of the live layer in an area of the screen that have the accent color, or a similar color.
ACCENTED = """
const [left, top, width, height] = arguments, { canvas } = whiteboard.ui.live, frame = canvas.getBoundingClientRect();
const copy = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
copy.fillStyle = whiteboard.ui.accent;
copy.fillRect(0, 0, 1, 1);
const accent = copy.getImageData(0, 0, 1, 1).data;
copy.clearRect(0, 0, 1, 1);
copy.drawImage(canvas, frame.left - left, frame.top - top);
const { data } = copy.getImageData(0, 0, width, height);
let count = 0;
for (let index = 0; index < data.length; index += 4) count += data[index + 3] > 200 && [0, 1, 2].every((part) => Math.abs(data[index + part] - accent[part]) < 24);
return count;
"""


def check_anchors(page, checks):
    """Ends of arrows snap to near objects, and show to which object they will be bound."""
    check = checks.check
    clear(page)
    box, oval = form(page, "rectangle", [-200, 0], size=[100, 60]), form(page, "ellipse", [200, 0], size=[100, 60])
    page.run("whiteboard.ui.tools.select.set([])")
    page.key("a")

    def mouse(kind, x, y, buttons):
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if buttons or kind == "mouseReleased" else "none", clickCount=1, buttons=buttons)
        settle(page)

    def marked(x):
        return page.run(ACCENTED, x - 60, 360, 120, 80)

    mouse("mouseMoved", 640, 300, 0)
    check("nothing is marked far from objects", marked(440) == 0, marked(440))
    mouse("mouseMoved", 498, 400, 0)
    check("the object at the pointer is marked before an arrow begins", marked(440) > 100, marked(440))
    page.key("r")
    settle(page)
    check("another tool marks nothing", marked(440) == 0, marked(440))
    page.key("a")
    mouse("mousePressed", 498, 400, 1)
    mouse("mouseMoved", 640, 400, 1)
    check("the object at the start stays marked", marked(440) > 100 and marked(840) == 0, (marked(440), marked(840)))
    mouse("mouseMoved", 783, 398, 1)
    check("the object at the end is marked, too", marked(440) > 100 and marked(840) > 100, (marked(440), marked(840)))
    checks.picture(page, "forms-anchors")
    mouse("mouseReleased", 783, 398, 0)
    arrow = top(page)
    bound = lambda: [object_of(page, arrow["id"]).get(f"{end}Binding", {}).get("id") for end in ("start", "end")]
    check("an arrow between places beside two objects is bound to both", arrow["form"] == "arrow" and bound() == [box, oval], arrow)
    page.run("whiteboard.ui.tools.select.set([])")
    settle(page)
    check("afterwards, nothing is marked", marked(840) == 0, marked(840))
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", arrow["id"])
    settle(page)
    x, y = script(page, "const { shown } = await import('./geometry.mjs'), o = board.objects.get(given[0]); return camera.toScreen(shown(o, o.points[1]))", arrow["id"])
    page.drag([(x, y), (x + 1, y)])
    check("a click on a bound end changes nothing", bound() == [box, oval] and object_of(page, arrow["id"])["points"] == arrow["points"], object_of(page, arrow["id"]))
    mouse("mousePressed", x, y, 1)
    mouse("mouseMoved", 700, 500, 1)
    check("an end that is dragged away marks nothing", marked(840) == 0 and bound() == [box, None], (marked(840), bound()))
    mouse("mouseMoved", 840, 438, 1)
    check("an end that is dragged near an object marks it", marked(840) > 100, marked(840))
    mouse("mouseReleased", 840, 438, 0)
    check("and is bound to it", bound() == [box, oval], bound())
    page.key("a")
    page.drag([(498, 400), (640, 300), (783, 398)], CONTROL)
    free = top(page)
    check("with Ctrl, an end beside an object stays where it is", free["id"] != arrow["id"] and not {"startBinding", "endBinding"} & set(free), free)
    page.key("a")
    page.drag([(450, 410), (640, 300), (830, 410)], CONTROL)
    free = top(page)
    check("with Ctrl, an end in an object is not bound", near(free["size"], [382, 2]) and not {"startBinding", "endBinding"} & set(free), free)
    page.drag([(450, 410), (440, 405), (430, 400)], CONTROL)
    check("neither is an end that is dragged", "startBinding" not in object_of(page, free["id"]) and near(object_of(page, free["id"])["size"], [402, 12]), object_of(page, free["id"]))
    page.key("a")
    page.drag([(400, 385), (420, 400), (480, 415)])
    inner = top(page)
    check("only one end of an arrow inside an object is bound to it", inner.get("startBinding", {}).get("id") == box and "endBinding" not in inner, inner)


def choose(page, group, label):
    """Presses a button of the style panel."""
    found = page.run("""const group = [...document.querySelectorAll('#selection .part')].find(({ ariaLabel }) => ariaLabel === arguments[0]);
      const button = [...group?.querySelectorAll('button') ?? []].find(({ ariaLabel }) => ariaLabel === arguments[1]);
      button?.click(); return Boolean(button)""", group, label)
    settle(page)
    return found


def check_styles(page, checks):
    """The style panel changes each property, as one undo step, and has names."""
    check = checks.check
    clear(page)
    id = form(page, "rectangle", [0, 0], size=[160, 80], text="words")
    page.run("document.activeElement.blur()")
    page.key("s")
    settle(page)
    check("the key S opens the style panel", page.run("return document.querySelector('#selection .popup').classList.contains('open') && document.activeElement.closest('.popup') !== null"))
    for group, label, key, value in [
        ("Form", "Diamond", "form", "diamond"), ("Fill", "Light blue", "fill", "#a5d8ffff"), ("Color", "Red", "color", "#e8601cff"),
        ("Line width", "Medium", "lineWidth", 8), ("Line", "Dashed line", "lineStyle", "dashed"), ("Text size", "Large text", "textSize", 24),
        ("Letters", "Align right", "alignment", "right"), ("Letters", "Bold", "isBold", True), ("Letters", "Italic", "isItalic", True),
        ("Typeface", "Code", "typeface", "code"), ("Opacity", "50%", "opacity", 0.5),
    ]:
        before = object_of(page, id)
        has = choose(page, group, label)
        found = object_of(page, id).get(key)
        is_equal = abs(found - value) < 0.01 if key == "opacity" and found else found == value
        check(f"the panel sets {group}: {label}", has and is_equal, object_of(page, id))
        pressed = page.run("return [...document.querySelectorAll('#selection .part button')].find(({ dataset }) => dataset.name === arguments[0]).ariaPressed", f"{group} {label}")
        check(f"{label} is pressed", pressed == "true", pressed)
        page.run("whiteboard.board.undo()")
        check(f"{label} is one undo step", object_of(page, id).get(key) == before.get(key), object_of(page, id))
        page.run("whiteboard.board.redo()")
    choose(page, "Fill", "No fill")
    check("the fill is removed", "fill" not in object_of(page, id), object_of(page, id))
    checks.picture(page, "forms-style")
    found = [node for node in nodes(page) if node["properties"].get("focusable") and node["role"]["value"] == "button"]
    check("all buttons of the panel have names", len(found) > 60 and all(node["name"]["value"].strip() for node in found), len(found))
    groups = [node["name"]["value"] for node in nodes(page) if node["role"]["value"] == "group" and node.get("name", {}).get("value")]
    check("the parts of the panel have names", {"Style of the selection", "Form", "Fill", "Color", "Opacity", "Order"} <= set(groups), groups)
    box = page.run("const { left, right, top, bottom } = document.querySelector('#selection .popup').getBoundingClientRect(); return [left, top, innerWidth - right, innerHeight - bottom]")
    check("the panel is on the screen", min(box) >= 0, box)
    page.key("Escape")
    check("Escape closes the panel, and keeps the selection", page.run("return !document.querySelector('#selection .popup').classList.contains('open') && whiteboard.ui.tools.select.selection.size === 1"))
    arrow = form(page, "arrow", [0, 150], points=[[-80, 0], [0, 60], [80, 0]])
    page.click("#selection .opens button")
    for group, label, key, value in [("Start", "Dot", "lineStart", "dot"), ("End", "Triangle", "lineEnd", "triangle"), ("Line", "Curved", "isCurved", True), ("End", "No end mark", "lineEnd", "none")]:
        has = choose(page, group, label)
        check(f"the panel sets {group} of an arrow: {label}", has and object_of(page, arrow).get(key) == value, object_of(page, arrow))
    page.click("#selection .opens button")


def check_short_arrow(page, checks):
    """The label of a short arrow is beside the arrow, and does not hide the head."""
    clear(page)
    id = form(page, "arrow", [0, 0], points=[[-35, 0], [35, 0]], text="request")
    alphas = script(page, """
      const { CanvasPainter, drawObject } = await import("./draw.mjs"), canvas = Object.assign(document.createElement("canvas"), { width: 400, height: 200 });
      const context = canvas.getContext("2d", { willReadFrequently: true }), object = board.objects.get(given[0]);
      context.fillStyle = "#fff";
      context.fillRect(0, 0, 400, 200);
      context.setTransform(4, 0, 0, 4, 200, 100);
      drawObject(new CanvasPainter(context, 4), object, scene.looks);
      const isDark = (x, y) => context.getImageData(200 + 4 * x, 100 + 4 * y, 1, 1).data[0] < 100;
      // The head is 16 units long and wide. The label is 12 units above the line.
      const { data } = context.getImageData(200 - 4 * 28, 100 - 4 * 28, 4 * 56, 4 * 16), letters = data.filter((value, index) => index % 4 === 0 && value < 100);
      return [isDark(25, -5), isDark(25, 5), isDark(30, 0), isDark(0, 0), letters.length > 100];""", id)
    checks.check("the label of a short arrow does not hide its head, and is beside the line", alphas == [True] * 5, alphas)
    at = lambda x, y: page.run("return whiteboard.ui.objectAt([arguments[0], arguments[1]])?.id ?? null", x, y) == id
    checks.check("the label beside a short arrow is hit", at(640, 380) and not at(640, 360), (at(640, 380), at(640, 360)))


def check_hits(page, checks):
    """An empty form is selected at its line only."""
    clear(page)
    for kind in ("rectangle", "ellipse", "diamond"):
        for more, is_solid in [({}, False), ({"fill": "#ffc9c9ff"}, True), ({"text": "x"}, True)]:
            id = form(page, kind, [0, 0], size=[200, 100], **more)
            at = lambda x, y: page.run("return whiteboard.ui.objectAt([arguments[0], arguments[1]])?.id ?? null", x, y) == id
            corner = kind == "rectangle"
            checks.check(f"{kind} with {more or 'nothing'} in it is hit", at(540, 400) and at(620, 400) == is_solid and at(545, 355) == corner and not at(500, 400),
                         [at(540, 400), at(620, 400), at(545, 355), at(500, 400)])
            clear(page)


def check_pictures(page, checks):
    """The SVG has everything that a form has."""
    clear(page)
    form(page, "ellipse", [0, 0], size=[200, 100], fill="#a5d8ff80", lineStyle="dashed", lineWidth=4, text="Label", isItalic=True, opacity=0.5)
    form(page, "arrow", [0, 150], points=[[-80, 0], [0, 60], [80, 0]], isCurved=True, lineEnd="triangle", lineWidth=2)
    text = script(page, "const { picture } = await import('./files.mjs'); return (await picture(ui, 'svg', board.order)).text()")
    wanted = ['stroke-dasharray="12 16"', 'fill-opacity="0.5"', '<g opacity="0.5">', 'font-style="italic"', ">Label</text>", 'text-anchor="middle"', "C"]
    checks.check("the SVG has fill, dashes, opacity, marks and label", all(word in text for word in wanted), text)
    clear(page)
    form(page, "arrow", [0, 0], points=[[-80, 0], [80, 0]], lineStart="triangle", lineEnd="triangle", lineWidth=10)
    text = script(page, "const { picture } = await import('./files.mjs'); return (await picture(ui, 'svg', board.order)).text()")
    line = re.search(r'd="M(-?[\d.]+) 0L(-?[\d.]+) 0" fill="none"', text)
    ends = [float(end) for end in line.groups()] if line else None
    checks.check("a line ends within its triangles, whose tips are sharp", ends and near(ends, [-56, 56], 2) and 'M80 0L32 24' in text and 'stroke-width="10"' in text, (ends, text))


def check_touch(page, checks):
    """A phone: notes, labels, sizes and styles by touch."""
    check = checks.check
    page.run("whiteboard.ui.setTool('select')")
    page.tap("#tools > :nth-child(3) .opener")
    places = page.run("return [...document.querySelectorAll('#tools > :nth-child(3) .items button')].map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])")
    check("all forms are on the screen", len(places) == 6 and all(0 <= left < right <= 390 for left, right in places), places)
    checks.picture(page, "phone-forms")
    page.tap("#tools > :nth-child(3) [aria-label='Note']")
    page.swipe([(195, 300)])
    page.type("milk")
    page.swipe([(195, 650)])
    note = top(page)
    check("a tap adds a note with a label", note.get("form") == "note" and note["text"] == "milk", note)
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", note["id"])
    settle(page)
    page.tap("#selection .opens button")
    box = page.run("const { left, right, top, bottom } = document.querySelector('#selection .popup').getBoundingClientRect(); return [left, top, innerWidth - right, innerHeight - bottom]")
    check("the style panel is on the screen of a phone", min(box) >= 0, box)
    page.tap("#selection .part[aria-label='Fill'] [aria-label='Light green']")
    check("a tap changes the fill", object_of(page, note["id"]).get("fill") == "#b2f2bbff", object_of(page, note["id"]))
    checks.picture(page, "phone-style")
    page.tap("#selection .opens button")


#: Moves an object to which many arrows are bound. Returns the number of drawing calls on tiles in that frame, and in all
#: frames.
FRAMES = """
const [id, done] = arguments, { board } = whiteboard, { prototype } = CanvasRenderingContext2D, { stroke, clearRect } = prototype;
let count = 0;
const counted = (body) => function (...values) { count += Boolean(this.canvas.closest("#tiles") ?? !this.canvas.isConnected); return body.apply(this, values); };
Object.assign(prototype, { stroke: counted(stroke), clearRect: counted(clearRect) });
requestAnimationFrame(() => {
  // The frame of the page begins after this function.
  board.move([id], [40, 0]);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const first = count;
    setTimeout(() => { Object.assign(prototype, { stroke, clearRect }); done([first, count]); }, 1000);
  }));
});
"""


def check_crowd(page, checks):
    """A frame that takes in the changes of many arrows draws no tiles, so that it is not late."""
    clear(page)
    box = form(page, "rectangle", [0, 0], size=[100, 60])
    ends = script(page, """
      for (let index = 0; index < 60; index += 1) {
        const id = board.createForm("arrow", [0, 0], { points: [[0, 0], [250 * Math.cos(index), 250 * Math.sin(index)]] });
        board.bind(id, false, { id: given[0], anchor: [0, 0] });
      }
      return [...board.objects.values()].filter(({ startBinding }) => startBinding?.id === given[0]).length""", box)
    page.run("whiteboard.ui.tools.select.set([])")
    page.driver.execute_async_script("setTimeout(arguments[0], 1000)")
    first, all_frames = page.driver.execute_async_script(FRAMES, box)
    checks.check("the frame of a move with 60 arrows draws no tiles, and later frames do", ends == 60 and first == 0 and all_frames > 60, (ends, first, all_frames))
    clear(page)


#: Binds lines of all kinds to objects of all kinds. Returns the number of bound ends, and the greatest difference between the page and the
#: board in any coordinate or size of the lines, if the page knows only an old position of each bound end.
ENDS = """
const { boundEnds, withEnds } = await import("./geometry.mjs");
let seed = 5;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647, pick = (list) => list[Math.floor(random() * list.length)];
const at = () => [1200 * random() - 600, 700 * random() - 350], turned = (id) => {
  if (random() < 0.4) board.scale(id, 0.5 + 2 * random());
  if (random() < 0.4) board.rotate(id, 6 * random());
  return id;
};
const forms = ["rectangle", "rounded", "ellipse", "diamond", "note", "frame"], labels = ["", "a label that is long enough for rows"];
const targets = Array.from({ length: 30 }, (_, index) => turned(index % 5 === 4 ? board.createText(`some words ${index}`, at())
  : board.createForm(pick(forms), at(), { size: [40 + 200 * random(), 30 + 90 * random()], text: pick(labels), lineWidth: pick([1, 2, 9]) })));
const lines = Array.from({ length: 150 }, () => {
  const points = [at(), at(), ...(random() < 0.3 ? [at(), at()] : [])];
  const id = board.createForm(pick(["line", "arrow"]), at(), { points, text: pick(labels), isCurved: random() < 0.3 || undefined, lineWidth: pick([1, 2, 7]) });
  for (const isEnd of [false, true]) {
    const anchor = random() < 0.5 ? [0, 0] : [1.4 * random() - 0.7, 1.4 * random() - 0.7];
    if (random() < 0.8) board.bind(id, isEnd, { id: pick(targets), anchor, isExact: random() < 0.2 });
  }
  return turned(id);
});
while (board.isReporting) await new Promise((resume) => setTimeout(resume, 5));
const find = (id) => [board.objects.get(id), board.objects.get(id)];
let count = 0, most = 0;
for (const line of lines.map((id) => board.objects.get(id))) {
  const last = line.points.length - 1, isBound = (index) => Boolean((index === 0 && line.startBinding) || (index === last && line.endBinding));
  const old = { ...line, points: line.points.map(([x, y], index) => isBound(index) ? [x + 50, y - 70] : [x, y]) };
  const now = withEnds(old, boundEnds(old, find)), all = ({ points, centerPosition, size }) => [...points.flat(), ...centerPosition, ...size];
  count += line.points.filter((_, index) => isBound(index)).length;
  all(line).forEach((value, index) => { most = Math.max(most, Math.abs(value - all(now)[index])); });
}
return [count, most];
"""
#: Drags the first object, to which arrows from the others are bound. After each move of the pointer and its frame, tests which layers have
#: ink in the middle between the first and the last object, where the arrow is. Repeats this test during two seconds after the drop.
FOLLOWING = """
const [first, last, steps] = given, event = { pointerType: "mouse" };
const start = camera.toScreen(board.objects.get(first).centerPosition), end = camera.toScreen(board.objects.get(last).centerPosition);
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const seen = ([x, y]) => ["#live", "#tiles canvas"].map((layer) => [...document.querySelectorAll(layer)].some((canvas) => {
  const { left, top, width } = canvas.getBoundingClientRect(), scale = canvas.width / width;
  probe.clearRect(0, 0, 3, 3);
  probe.drawImage(canvas, Math.round((x - left) * scale) - 1, Math.round((y - top) * scale) - 1, 3, 3, 0, 0, 3, 3);
  return probe.getImageData(0, 0, 3, 3).data.some(Boolean);
}));
const between = ([x, y]) => [(x + end[0]) / 2, (y + end[1]) / 2], during = [], after = [];
ui.tools.down(start, event);
let place;
for (let step = 1; step <= steps; step += 1) {
  place = [start[0] + 4 * step, start[1] - 9 * step];
  ui.tools.move([place], event);
  await frame();
  during.push(seen(between(place)));
}
const complete = async () => { do await frame(); while (!ui.isComplete); };
await complete();
const middle = [seen(between(place)), seen(between(start))];
ui.tools.up(place, event);
const began = performance.now();
while (performance.now() - began < 2000 && (ui.tools.select.dropped || !after.length)) {
  await frame();
  after.push(seen(between(place)));
}
await complete();
return { during, middle, after, end: seen(between(place)), from: board.objects.get(first).centerPosition };
"""


def check_following(page, checks):
    """While an object is dragged, the arrows that are bound to it follow in each frame, even many arrows."""
    check = checks.check
    clear(page)
    count, most = script(page, ENDS)
    check("bound ends are where the board reports them", count > 150 and most < 1e-6, (count, most))
    clear(page)
    box = form(page, "rectangle", [-300, 100], size=[100, 60], fill="#a5d8ffff")
    far = script(page, """
      let other;
      // The board reports the changes of at most 64 lines at once; the last arrow is far from the others.
      for (let index = 0; index < 100; index += 1) {
        const at = index < 99 ? [-500, 60 + index] : [300, 100];
        other = board.createForm("rectangle", at, { size: [40, 20] });
        const arrow = board.createForm("arrow", at, { points: [[0, 0], [10, 10]] });
        [given[0], other].forEach((id, end) => board.bind(arrow, end === 1, { id, anchor: [0, 0] }));
      }
      while (board.isReporting) await new Promise((resume) => setTimeout(resume, 5));
      return other""", box)
    page.run("whiteboard.ui.tools.select.set([])")
    settle(page)
    found = script(page, FOLLOWING, box, far, 20)
    check("the last arrow follows in each frame of a drag", all(live for live, _ in found["during"]) and len(found["during"]) == 20, found["during"])
    check("the tiles do not show it then", found["middle"] == [[True, False], [False, False]], found["middle"])
    check("after the drop, it is seen in each frame", all(live or tiles for live, tiles in found["after"]) and found["after"], found["after"])
    check("in the end, only the tiles show it", found["end"] == [False, True], found["end"])
    page.run("whiteboard.ui.undo()")
    check("the drag is one step", object_of(page, box)["centerPosition"] == [-300, 100] and found["from"] != [-300, 100], (object_of(page, box)["centerPosition"], found["from"]))
    clear(page)


#: Returns the area of an object on the screen, and the part of the board that an open panel covers.
COVERED = """
const { board, ui } = whiteboard, { centerPosition: [x, y], size: [width, height] } = board.objects.get(arguments[0]);
const [left, top] = ui.camera.toScreen([x - width / 2, y - height / 2]), [right, bottom] = ui.camera.toScreen([x + width / 2, y + height / 2]);
const cover = document.querySelector(arguments[1]).getBoundingClientRect(), bar = document.querySelector("#top").getBoundingClientRect();
return { object: [left, top, right, bottom], cover: [cover.left, cover.top, cover.right, cover.bottom], view: [0, bar.bottom, innerWidth, innerHeight] };
"""


def check_panels(page, checks):
    """The style panel and the list of objects do not cover the object that they are about."""
    def is_clear(id, selector):
        settle(page)
        found = page.run(COVERED, id, selector)
        (left, top, right, bottom), cover, view = found["object"], found["cover"], found["view"]
        is_covered = left < cover[2] and right > cover[0] and top < cover[3] and bottom > cover[1]
        return not is_covered and left >= view[0] and top >= view[1] and right <= view[2] and bottom <= view[3], found

    clear(page)
    places = {place: form(page, "rectangle", place, size=[120, 60], text="here") for place in [(0, 0), (0, 150), (-60, 250)]}
    for place, id in places.items():
        page.run("Object.assign(whiteboard.ui.camera, { zoom: 1, x: -innerWidth / 2, y: -innerHeight / 2 }); whiteboard.ui.panBy(0, 0); whiteboard.ui.tools.select.set([arguments[0]])", id)
        page.click("#selection .opens button")
        checks.check(f"the style panel does not cover the object at {place}", *is_clear(id, "#selection .popup"))
        page.key("Escape")
    page.run("whiteboard.ui.sheet.toggle(whiteboard.ui.panels.list)")
    for place, id in places.items():
        page.click(f"#sheet [data-id='{id}'] .grow")
        checks.check(f"the list does not cover the object at {place}", *is_clear(id, "#sheet"))
    page.run("whiteboard.ui.sheet.close()")
    for place, id in places.items():
        at = {(0, 0): (340, 0), (0, 150): (340, 150), (-60, 250): (-60, 250)}[place] if page.run("return innerWidth") > 800 else place
        page.run("Object.assign(whiteboard.ui.camera, { zoom: 1, x: -innerWidth / 2, y: -innerHeight / 2 }); whiteboard.ui.panBy(0, 0); const { board } = whiteboard"
                 "; const { centerPosition: [x, y] } = board.objects.get(arguments[0]); board.move([arguments[0]], [arguments[1] - x, arguments[2] - y]); whiteboard.ui.comment(arguments[0])", id, *at)
        checks.check(f"the chat does not cover the object at {at} on which one comments", *is_clear(id, "#sheet"))
        page.run("whiteboard.ui.sheet.close()")
    large = form(page, "rectangle", [0, 0], size=[2000, 2000])
    page.click("#selection .opens button")
    settle(page)
    view = page.run(COVERED, large, "#selection .popup")["object"]
    checks.check("an object that is larger than the screen stays visible", view[0] < 0 and view[1] < 0 and view[2] > 0 and view[3] > 0, view)
    page.key("Escape")
    clear(page)


def check_forms(address, checks):
    with tempfile.TemporaryDirectory() as folder:
        fonts = pathlib.Path(folder) / "fonts.conf"
        fonts.write_text(FONTS.format(folder))
        page = browser.Page(address, False, environment={**os.environ, "FONTCONFIG_FILE": str(fonts)})
        try:
            page.open()
            check_typing(page, checks)
        finally:
            page.close()
    for is_phone, bodies in [
        (False, [check_tools, check_labels, check_sizes, check_points, check_connectors, check_anchors]), (False, [check_styles, check_panels, check_crowd, check_following, check_short_arrow, check_hits, check_pictures]), (True, [check_touch, check_panels]),
    ]:
        page = browser.Page(address, is_phone)
        try:
            page.open()
            for body in bodies:
                body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()
