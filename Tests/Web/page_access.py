"""Checks of the page for users of a keyboard or a screen reader: names, roles, focus order, contrast, and a diagram without a pointer."""

import browser
from browser import CONTROL, SHIFT
from page_arranging import SELECTED, board_objects
from page_drawing import nodes
from page_forms import clear, form, object_of, settle

SAID = "return document.querySelector('#said').textContent.trim()"
#: Returns the texts whose contrast is too low: the words, the ratio and the colors (WCAG 2.1, 1.4.3).
CONTRAST = """
const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
const luminance = (color) => color.slice(0, 3).map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
const behind = (element) => {
  if (!element) return [255, 255, 255, 1];
  const own = parse(getComputedStyle(element).backgroundColor);
  return own[3] === 1 ? own : own[3] ? over(own, behind(element.parentElement)) : behind(element.parentElement);
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const words = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join(" ").trim(), style = getComputedStyle(element);
  const box = element.getBoundingClientRect(), isDisabled = element.closest(":disabled"), isHidden = style.visibility === "hidden" || element.closest("[aria-hidden=true]");
  if (!words || !element.checkVisibility?.() || box.width < 2 || style.clipPath !== "none" || isDisabled || isHidden) continue;
  let opacity = 1;
  for (let one = element; one; one = one.parentElement) opacity *= Number(getComputedStyle(one).opacity);
  const ground = behind(element), color = parse(style.color), shown = over([...color.slice(0, 3), color[3] * opacity], ground);
  const [low, high] = [luminance(shown), luminance(ground)].sort((one, other) => one - other), ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
  const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  if (ratio < least) found.push([words.slice(0, 40), Math.round(ratio * 100) / 100, style.color, String(ground)]);
}
return found;
"""
#: Sets the background of the board as another member does.
BACKGROUND = "((background) => { const { board } = whiteboard; board.settings = { ...board.settings, background }; board.dispatchEvent(new Event('settings')); })("
#: The roles of elements that a user can operate.
ROLES = {"button", "menuitem", "textbox", "searchbox", "link", "application", "checkbox", "combobox"}


def check_states(page, checks):
    """Names, roles and contrast in all panels, menus and dialogs."""
    check = checks.check
    id = form(page, "rectangle", [0, 0], size=[160, 80], text="Login server")
    page.run("whiteboard.board.sendChat('hello'); whiteboard.ui.tools.select.set([])")
    click = lambda selector: lambda: page.click(selector)
    run = lambda script: lambda: page.run(script)
    close_sheet = run("whiteboard.ui.sheet.close()")
    escape = lambda: page.key("Escape")
    states = [
        ("the board", run(""), run("")), ("the menu", click("#menu"), escape),
        ("the selection and its style", lambda: (page.run("whiteboard.ui.setTool('select'); whiteboard.ui.tools.select.set([arguments[0]])", id), page.run("whiteboard.ui.toolbar.openStyle()")), escape),
        ("the context menu", run("whiteboard.ui.menu.open([500, 300], true)"), escape), ("the search", run("whiteboard.ui.finder.open()"), escape),
        ("the shortcuts", lambda: page.key("?", SHIFT), escape), ("the chat", click("#chat"), close_sheet), ("the people", click("#people"), close_sheet),
        ("the objects", run("whiteboard.ui.sheet.toggle(whiteboard.ui.panels.list)"), close_sheet), ("the connection", click("#state"), escape),
        ("the color of the pen", lambda: (page.run("whiteboard.ui.setTool('pen')"), page.click("#tools .swatch")), click("#tools .swatch")),
        ("the empty board", lambda: (clear(page), page.wait("document.querySelector('#welcome').checkVisibility()")), run("")),
        ("an empty board with a gray background", run(BACKGROUND + "'#767676ff')"), run(BACKGROUND + "null)")),
    ]
    for what, enter, leave in states:
        page.run("whiteboard.ui.boardElement.focus()")
        enter()
        page.driver.execute_async_script("setTimeout(arguments[0], 250)")
        found = [node for node in nodes(page) if node["properties"].get("focusable") and node["role"]["value"] not in ("RootWebArea", "generic", "dialog")]
        unnamed = [node["role"]["value"] for node in found if not node.get("name", {}).get("value", "").strip()]
        roles = {node["role"]["value"] for node in found}
        check(f"{what}: everything that has the focus has a name and a role", found and not unnamed and roles <= ROLES, (unnamed, roles - ROLES, len(found)))
        low = page.run(CONTRAST)
        check(f"{what}: all texts have enough contrast", not low, low)
        leave()
        settle(page)


#: Answers requests for a link in place of a host. The second argument is the role that the host refuses.
INVITE = """
const { board } = whiteboard, [isOwned, refused, qr] = arguments;
board.isOwned = isOwned;
board.invitation = async (role) => {
  if (role === refused) throw Object.assign(new Error("Ask the host for a link."), { isFinal: true });
  if (refused === "all") throw new Error("The host cannot be reached now.");
  return { link: `https://192.168.1.5:26443/#${role}`, qr, expires: "2030-01-02T03:04:05.000Z" };
};
document.querySelector("#menu").click();
[...document.querySelectorAll("#menu-items button")].find(({ textContent }) => textContent === "Invite people").click();
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 21 21"><path d="M0 0h21v21h-21z"/></svg>'
DIALOG = "document.querySelector('dialog')"


def check_invitation(page, checks):
    """The dialog with a link for others: keyboard, screen reader, errors, and the width of the screen."""
    check = checks.check
    status = lambda: page.run(f"return {DIALOG}.querySelector('[role=status]').textContent")
    page.run(INVITE, True, "viewer", SVG)
    page.wait(f"{DIALOG}.querySelector('img.qr').naturalWidth > 0")
    check("the dialog shows the QR code, the link, the role and the time", page.run(f"return {DIALOG}.querySelector('input').value").endswith("#editor") and "edit this board" in status() and "2030" in status(), status())
    page.wait("!document.getAnimations().length")
    low = page.run(CONTRAST)
    check("the invitation: all texts have enough contrast", not low, low)
    wide = page.run(f"const {{ left, right }} = {DIALOG}.getBoundingClientRect(); return [...{DIALOG}.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().width && (one.getBoundingClientRect().right > right || one.getBoundingClientRect().left < left)).map((one) => one.outerHTML.slice(0, 80))")
    check("the invitation fits its dialog", not wide, wide)
    names = []
    for _ in range(6):
        page.key("Tab")
        names.append(page.run("return document.activeElement.ariaLabel ?? document.activeElement.textContent"))
    in_order = [name for name in names if name in ("Can edit", "View only", "Link", "Copy the link")]
    check("Tab reaches the roles, the link and its button", in_order[:4] == ["Can edit", "View only", "Link", "Copy the link"], names)
    checks.picture(page, "invitation")
    page.run(f"{DIALOG}.querySelector('[data-role=viewer]').click()")
    page.wait(f"{DIALOG}.querySelector('.shared').hidden")
    check("a refusal says what to do, and shows no earlier link", "Ask the host" in status() and "invite web once" in page.run(f"return {DIALOG}.innerText") and "Try again" not in page.run(f"return {DIALOG}.innerText"), status())
    check("the chosen role is pressed", page.run(f"return {DIALOG}.querySelector('[aria-pressed=true]').textContent") == "View only")
    page.key("Escape")
    page.run(INVITE, False, "all", SVG)
    page.wait(f"{DIALOG}?.innerText.includes('Try again')")
    check("without the host, the user can try again", "cannot be reached" in status() and page.run(f"return {DIALOG}.querySelector('.roles').hidden"), status())
    page.run("whiteboard.board.invitation = async () => ({ link: 'https://192.168.1.5:26443/#again' })")
    page.run(f"[...{DIALOG}.querySelectorAll('button')].find(({{ textContent }}) => textContent === 'Try again').click()")
    page.wait(f"!{DIALOG}.querySelector('.shared').hidden")
    check("a link without a QR code is shown", page.run(f"return {DIALOG}.querySelector('img.qr').hidden") and "join and edit" in status(), status())
    page.key("Escape")
    check("Escape closes the dialog", page.run(f"return !{DIALOG}"))
    page.run(INVITE, False, None, SVG)
    # The browser reports the end of the dialog later, when another dialog may be open.
    check("a dialog is gone as soon as it is closed", page.run(f"{DIALOG}.querySelector('header button').click(); return !{DIALOG}"))


def check_order(page, checks):
    """Tab reaches each control once, in the order of the page, and shows where the focus is."""
    page.run("whiteboard.ui.tools.select.set([]); whiteboard.ui.setTool('pen'); whiteboard.ui.boardElement.focus()")
    seen = []
    for _ in range(60):
        page.key("Tab")
        name, is_shown, is_in = page.run("""const one = document.activeElement, style = getComputedStyle(one), { left, top, right, bottom } = one.getBoundingClientRect();
          if (one === document.body) return ["", true, true];
          return [one.id === 'board' ? 'board' : one.ariaLabel ?? one.textContent, style.outlineStyle !== 'none' || style.boxShadow !== 'none', left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight]""")
        if name in ("board", "") or name in [before for before, *_ in seen]:
            break
        seen.append((name, is_shown, is_in))
    names = [name for name, *_ in seen]
    wanted = ["Menu", "Undo", "Chat", "Select", "Pen", "Rectangle", "Zoom out", "Zoom in"]
    places = [next((index for index, name in enumerate(names) if name.startswith(one)), -1) for one in wanted if one != "Undo"]
    checks.check("Tab goes from the bar to the tools to the zoom", places == sorted(places) and places[0] >= 0, names)
    checks.check("the focus is always visible and on the screen", all(shown and inside for _, shown, inside in seen) and len(seen) > 15, [one for one in seen if not all(one[1:])])


def check_keyboard(page, checks):
    """A diagram is made, changed and read without a pointer."""
    check = checks.check
    clear(page)
    page.run("whiteboard.ui.boardElement.focus()")
    page.key("Tab")
    page.run("whiteboard.ui.boardElement.focus()")
    page.key("r")
    check("a tool is announced", page.run(SAID) == "Rectangle", page.run(SAID))
    page.key("Enter")
    page.key("Enter")
    page.type("Login server")
    page.key("Escape")
    (box,) = board_objects(page)
    check("Enter adds a form, and its label", box["form"] == "rectangle" and box["text"] == "Login server", box)
    check("the object is selected and described", page.run(SELECTED) == [box["id"]] and page.run(SAID) == "rectangle labeled Login server", page.run(SAID))
    for _ in range(10):
        page.key("ArrowLeft", SHIFT)
    page.key("ArrowRight", CONTROL)
    moved = object_of(page, box["id"])
    check("arrow keys move and resize it", moved["centerPosition"][0] == box["centerPosition"][0] - 199 and moved["size"][0] == box["size"][0] + 2, moved)
    page.wait("document.querySelector('#said').textContent.startsWith('at ')")
    check("its new place and size are announced", page.run(SAID) == f"at {round(moved['centerPosition'][0])}, {round(moved['centerPosition'][1])}; 202 by 100", page.run(SAID))
    page.key("o")
    page.key("Enter")
    page.key("Enter")
    page.type("Database")
    page.key("Escape")
    other = board_objects(page)[1]
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", box["id"])
    page.key("c")
    page.key("Tab")
    check("Tab selects the next object", page.run(SELECTED) == [other["id"]], (page.run(SELECTED), page.run(SAID)))
    page.key("c")
    arrow = board_objects(page)[-1]
    check("C connects both objects", arrow.get("startBinding", {}).get("id") == box["id"] and arrow.get("endBinding", {}).get("id") == other["id"], arrow)
    check("the arrow is described", page.run(SAID) == "arrow, from Login server, to Database", page.run(SAID))
    page.run("whiteboard.ui.tools.select.set([arguments[0]])", box["id"])
    check("connections are described", page.run(SAID) == "rectangle labeled Login server, connected to Database", page.run(SAID))
    page.run("whiteboard.ui.tools.select.set([])")
    page.key("t")
    page.key("Enter")
    page.type("a title")
    page.key("Escape")
    check("Enter with the text tool adds a text", board_objects(page)[-1].get("text") == "a title", board_objects(page)[-1])
    page.key("Enter")
    for _ in range(5):
        page.key("Tab")
    check("after the last object, Tab leaves the board", page.run("return document.activeElement.id !== 'board'") and not page.run(SELECTED), page.run(SELECTED))


def check_growing(page, checks):
    """Twelve boxes with labels and fourteen connectors take at most 45 actions."""
    check = checks.check
    clear(page)
    actions = 0

    def act(body, *arguments):
        nonlocal actions
        actions += 1
        body(*arguments)

    page.run("whiteboard.ui.boardElement.focus()")
    act(page.key, "r")
    act(page.drag, [(200, 200), (240, 230), (300, 250)])
    act(page.key, "Enter")
    act(page.type, "box 0")
    ways = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"]
    for number, way in enumerate(ways, 1):
        act(page.key, way, browser.ALT)
        act(page.type, f"box {number}")
    act(page.key, "Escape")
    settle(page)
    boxes = [one for one in board_objects(page) if one["form"] == "rectangle"]
    check("forms are added beside each other", [one.get("text") for one in boxes] == [f"box {number}" for number in range(12)], boxes)
    page.run("whiteboard.ui.fit()")
    settle(page)
    for start, end in [(0, 7), (1, 6), (2, 5)]:
        act(page.key, "a")
        places = [page.run("return whiteboard.ui.camera.toScreen(whiteboard.board.objects.get(arguments[0]).centerPosition)", boxes[index]["id"]) for index in (start, end)]
        act(page.drag, [places[0], [(one + other) / 2 for one, other in zip(*places)], places[1]])
        settle(page)
    arrows = [one for one in board_objects(page) if one["form"] == "arrow"]
    bound = {(one.get("startBinding", {}).get("id"), one.get("endBinding", {}).get("id")) for one in arrows}
    wanted = {(boxes[start]["id"], boxes[end]["id"]) for start, end in [*((number, number + 1) for number in range(11)), (0, 7), (1, 6), (2, 5)]}
    check("twelve boxes and fourteen connectors take at most 45 actions", bound == wanted and actions <= 45, (actions, len(bound), bound - wanted))
    page.run("whiteboard.ui.tools.select.set([])")
    checks.picture(page, "diagram")
    before = len(board_objects(page))
    page.run("whiteboard.ui.undo(); whiteboard.ui.undo(); whiteboard.ui.undo()")
    check("each connector is an undo step", len(board_objects(page)) == before - 3, len(board_objects(page)))


def check_access(address, checks):
    for is_phone, is_dark, bodies in [(False, False, [check_states, check_invitation, check_order, check_keyboard, check_growing]), (False, True, [check_states, check_invitation]), (True, False, [check_states, check_invitation])]:
        page = browser.Page(address, is_phone, is_dark=is_dark)
        try:
            page.open()
            for body in bodies:
                body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()
