"""Checks of the page for browser guests: what a guest drew or typed stays on the board, and large boards are drawn."""

import contextlib
import json

import browser
from browser import CONTROL

ALT = 1
TOOL = "return whiteboard.ui.tool"
#: Ends the page like a phone that stops a tab: without an event for the page.
STOP = "whiteboard.board.close = whiteboard.board.suspend = () => {}"
#: Adds a photo of one color.
PHOTO = """
const canvas = document.createElement("canvas");
Object.assign(canvas, { width: 40, height: 40 });
canvas.getContext("2d").fillRect(0, 0, 40, 40);
canvas.toBlob((blob) => whiteboard.ui.addPhotos([new File([blob], "photo.png", { type: "image/png" })]), "image/png");
"""
PASTE = """
const clipboardData = new DataTransfer();
clipboardData.setData("text/plain", arguments[0]);
document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
"""
#: Lets the board refuse the points of a stroke from the third call on.
REFUSE_POINTS = """
const done = arguments[0], { board } = whiteboard, { extendStroke } = board;
let calls = 0;
import("/errors.mjs").then(({ BoardError }) => {
  board.extendStroke = (...words) => {
    calls += 1;
    if (calls > 2) throw new BoardError("too-long");
    extendStroke.apply(board, words);
  };
  done();
});
"""
#: Moves the eraser along a path with many points in one frame, over everything between y = 100 and y = 500.
ERASE = """
const [count, step] = arguments, { ui, board } = whiteboard, { erase } = board;
const sizes = [];
board.erase = (points, radius) => { sizes.push(points.length); return erase.call(board, points, radius); };
const mouse = { pointerType: "mouse" };
ui.tools.down([300, 300], mouse);
for (let index = 0; index < count; index += 100) {
  ui.tools.move(Array.from({ length: 100 }, (_, one) => [300 + (index + one) * step % 400, 100 + (index + one) * step % 397]), mouse);
}
ui.tools.up([300, 300], mouse);
delete board.erase;
return sizes;
"""
FAIL_TO_STORE_LINK = """
const { put } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (...words) {
  if (this.name === "links") throw new DOMException("The object could not be cloned.", "DataCloneError");
  return put.apply(this, words);
};
"""
#: Draws photos that cover each other, until no further photo is decoded. Returns the number of decoded photos, the
#: largest number of pixels at a time, and the longest sides of the pictures. Pictures are not real, so that this takes
#: no memory.
DRAW_PHOTOS = """
const [count, side, zoom, done] = arguments;
const real = createImageBitmap;
const open = new Set(), sides = new Set();
let decoded = 0, most = 0, isDirty = false;
globalThis.createImageBitmap = async (_, { resizeWidth = side, resizeHeight = side } = {}) => {
  decoded += 1;
  const picture = { width: resizeWidth, height: resizeHeight, close: () => open.delete(picture) };
  open.add(picture);
  sides.add(Math.max(resizeWidth, resizeHeight));
  most = Math.max(most, [...open].reduce((sum, { width, height }) => sum + width * height, 0));
  return picture;
};
import("/files.mjs").then(async ({ Photos }) => {
  const board = Object.assign(new EventTarget(), { photo: async () => new Blob(["photo"]) });
  const photos = new Photos(board, () => { isDirty = true; }, () => zoom);
  const objects = Array.from({ length: count }, (_, index) => ({ sha256: String(index), pixelSize: [side, side], size: [200, 200], scale: 1 }));
  const draw = () => objects.filter((object) => photos.get(object)).length;
  let shown = draw();
  let rounds = 0;
  // Each of these pauses is long enough to decode one photo, which takes a few promises.
  const pause = () => new Promise((resume) => setTimeout(resume));
  do {
    isDirty = false;
    await pause();
    shown = draw();
    rounds += 1;
  } while (isDirty && rounds < 300);
  const isEndless = isDirty;
  photos.viewChanged();
  if (shown < count) while (!isDirty) await pause();
  globalThis.createImageBitmap = real;
  done({ decoded, most, sides: [...sides], shown, isEndless, isReloaded: isDirty });
});
"""
#: Another member holds an object before the user interface opens; returns whether a new user interface shows this.
SHOW_HOLDER = """
const done = arguments[0], { board } = whiteboard;
import("/ui.mjs").then(({ UI }) => {
  const [id] = board.order;
  board.objects.set(id, { ...board.objects.get(id), selectedBy: "ab".repeat(32) });
  const ui = new UI(board);
  const frame = () => new Promise((resume) => requestAnimationFrame(resume));
  frame().then(frame).then(frame).then(() => {
    const { canvas } = ui.live;
    done(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value, index) => index % 4 === 3 && value));
  });
});
"""
#: Holds all signatures until `release` is called, so that the events of later edits wait. Selects an object, which needs a
#: signature.
HOLD_SIGNATURES = """
const { board } = whiteboard, { subtle } = crypto, held = [];
subtle.sign = (...words) => new Promise((resume) => held.push(resume)).then(() => SubtleCrypto.prototype.sign.apply(subtle, words));
Object.assign(globalThis, { held, release: () => { delete subtle.sign; for (const resume of held) resume(); } });
board.select(arguments[0]);
"""
#: Counts the texts that the editor has written.
COUNT_WRITES = """
const { board } = whiteboard;
globalThis.writes = 0;
for (const name of ["createText", "setText"]) board[name] = (...words) => { writes += 1; return Object.getPrototypeOf(board)[name].apply(board, words); };
"""
FIELD = "const field = document.querySelector('#board textarea'); return field && [field.value, field.selectionStart]"
#: Gives a game on the board another name, and saves a picture of it.
RENAME_GAME = """
const [name, done] = arguments, { board, ui } = whiteboard, [id] = board.order;
board.objects.set(id, { ...board.objects.get(id), game: name, view: { notJudged: true } });
import("/files.mjs").then(({ picture }) => picture(ui, "svg", [id])).then((blob) => blob.text()).then(done, (error) => done(String(error)));
"""
#: Returns the texts for the end of a connection with a code.
TEXTS_OF_CODE = """
const [code, done] = arguments;
import("/errors.mjs").then(({ BoardError, interruption, refusal }) =>
  done([refusal({ code, message: "" })[0], interruption({ connection: "offline", code, message: "" })[0], new BoardError(code).message]))
  .catch((error) => done(String(error)));
"""
#: A connection rejects a member that has a route. Then the route ends, time passes, and MEMBERS names the member. Returns the
#: messages to the relay, the reported events, and the close of a link whose gateway was rejected.
REJECT = """
const done = arguments[0], fill = (count, byte) => new Uint8Array(count).fill(byte);
(async () => {
  const [{ Connection }, frames, { base32, hex }, { LinkEnded }] = await Promise.all(["connection", "frames", "ids", "weblink"].map((name) => import(`/${name}.mjs`)));
  const sent = [], events = [], closed = [], { now } = performance;
  const link = {
    gateway: fill(32, 1), isOpen: true, bufferedBytes: 0, readAt: 0, sentAt: now.call(performance),
    send(type, payload) { if (type === frames.FRAME.message) sent.push(hex(payload.slice(2))); },
    read: () => new Promise((resume, end) => Object.assign(link, { resume, end })),
    close(...reason) { closed.push(reason); link.end(new LinkEnded(...reason)); }, fail() {}, abort() {},
  };
  const member = (incarnation) => ({ peer: base32(fill(32, 3)), name: "Eve", incarnation: base32(fill(8, incarnation)), addresses: [], port: 0, role: "member" });
  const connection = new Connection(link, { identity: { id: fill(32, 2) }, board: fill(16, 9), emit: ({ kind, member }) => events.push(`${kind} ${member.slice(0, 2)}`) },
    { name: "Host", sessionName: "", isRelay: true, passes: { copies: 5000, bytes: 1e9 }, host: "01", members: [member(7)] });
  const ended = connection.run(), pause = () => new Promise((resume) => setTimeout(resume));
  let number = 0;
  const receive = async (type, payload) => { link.resume({ type, payload }); await pause(); };
  const relay = (...parts) => receive(frames.FRAME.message, frames.join(frames.vint(number += 1), 11, ...parts));
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  await pause();
  await relay(16, 0, json(member(7)));
  connection.reject("03".repeat(32), "A rule.");
  await relay(17, 0, 0);
  performance.now = () => now.call(performance) + 10_000;
  await receive(frames.FRAME.members, json({ members: [member(7)] }));
  const count = sent.length;
  await receive(frames.FRAME.members, json({ members: [member(8)] }));
  performance.now = now;
  connection.reject("01".repeat(32), "A rule.");
  const end = await ended;
  return { sent: sent.slice(0, count), again: sent.slice(count), events, closed, end };
})().then(done, (error) => done(String(error.stack)));
"""
HAS_INK = """[...document.querySelectorAll("#tiles canvas")].some((canvas) =>
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value, index) => index % 4 === 3 && value))"""


def check(address, checks):
    with open_page(address, False) as page:
        check_copies(page, checks)
        check_strokes(page, checks)
        check_texts(page, checks)
        check_late_events(page, checks)
        check_erasing(page, checks)
        check_photos(page, checks)
        check_reload(page, checks)
        check_holders(page, checks)
    with open_page(address, False) as page:
        check_roles(page, checks)
        check_held(page, checks)
        check_compositions(page, checks)
        check_hostile(page, checks)
    with open_page(address, False) as page:
        check_large_view(page, checks)
    with open_page(address, True) as page:
        check_touches(page, checks)
    check_storage(address, checks)


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
    page.drag([(330 + step * 20, 200) for step in range(6)], ALT)
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
    places = []
    for _ in range(2):
        page.run("whiteboard.ui.tools.select.set([arguments[0]]); whiteboard.ui.boardElement.focus()", objects(page)[0]["id"])
        page.key("d", CONTROL)
        places.append([round(one - first, 3) for one, first in zip(objects(page)[-1]["centerPosition"], original)])
    check("copies are moved as by the command of the programs, each to a free place", places == [[20, 20], [40, 40]], places)
    clear(page)


def check_strokes(page, checks):
    """A stroke is kept if something else happens while it is drawn."""
    check = checks.check
    for what, script, kind in [("a photo that is added", PHOTO, "photo"), ("a text that is pasted", PASTE, "text")]:
        page.run("whiteboard.ui.setTool('pen')")
        mouse(page, "mousePressed", 300, 300)
        for step in range(10):
            mouse(page, "mouseMoved", 300 + step * 10, 300)
        page.run(script, "pasted")
        page.wait(f"[...whiteboard.board.objects.values()].some(({{ type }}) => type === '{kind}')")
        for step in range(10, 20):
            mouse(page, "mouseMoved", 300 + step * 10, 300)
        mouse(page, "mouseReleased", 500, 300)
        strokes = [one for one in objects(page) if one["type"] == "drawing"]
        check(f"{what} does not end a stroke", len(strokes) == 1 and strokes[0]["isFinished"] and len(strokes[0]["points"]) > 15
              and page.run(TOOL) == "pen", strokes)
        clear(page)
    page.run("whiteboard.ui.editText(null, whiteboard.ui.camera.center)")
    page.type("still typing")
    page.run(PHOTO)
    page.wait("[...whiteboard.board.objects.values()].some(({ type }) => type === 'photo')")
    check("a photo that is added does not end typing", page.run("return document.activeElement.tagName") == "TEXTAREA")
    page.key("Escape")
    clear(page)

    page.run("whiteboard.ui.setTool('pen')")
    page.driver.execute_async_script(REFUSE_POINTS)
    page.drag([(300 + step * 10, 300) for step in range(10)])
    page.run("delete whiteboard.board.extendStroke")
    strokes = objects(page)
    check("a stroke with too many points is kept", len(strokes) == 1 and strokes[0]["isFinished"], strokes)
    clear(page)


def check_touches(page, checks):
    """The system can take away a touch, and a second finger can begin a pinch."""
    check = checks.check
    page.touch("touchStart", (100, 300))
    for step in range(20):
        page.touch("touchMove", (100 + step * 6, 300))
    page.touch("touchCancel")
    found = objects(page)
    check("a stroke whose touch is cancelled is kept", len(found) == 1 and found[0]["isFinished"] and len(found[0]["points"]) > 10, found)
    check("a cancelled stroke is on the board", hidden(page) == 0, hidden(page))
    page.touch("touchStart", (100, 400))
    for step in range(5):
        page.touch("touchMove", (100 + step * 6, 400))
    page.touch("touchStart", (124, 400), (250, 500))
    page.touch("touchMove", (110, 400), (270, 500))
    page.touch("touchEnd")
    check("a stroke that becomes a pinch is removed", len(objects(page)) == 1, objects(page))


def check_texts(page, checks):
    """Words that the board refuses are not lost."""
    check = checks.check
    page.run("const { board, ui } = whiteboard; ui.editText(board.createText('first', ui.camera.center))")
    page.type(" and more")
    page.run("const { board } = whiteboard; board.setLocked(board.order, true)")
    page.key("Escape")
    texts = sorted(one["text"] for one in objects(page))
    check("words for a text that was locked become a new text", len(texts) == 2 and "first and more" in texts, texts)
    check("after that, no text is being edited", not page.run("return document.querySelector('#board textarea')"))
    page.run("const { board } = whiteboard; for (const id of board.order) board.setLocked([id], false)")
    clear(page)

    page.run("whiteboard.ui.editText(null, whiteboard.ui.camera.center)")
    page.type("x" * 9000)
    page.key("Escape")
    length = page.run("return document.querySelector('#board textarea')?.value.length")
    check("a text that is too long stays in its field", length == 9000 and not objects(page), (length, objects(page)))
    page.key("p")
    page.drag([(300 + step * 10, 200) for step in range(10)])
    page.key("z", CONTROL)
    page.drag([(300 + step * 10, 250) for step in range(10)])
    page.drag([(300 + step * 10, 260) for step in range(10)])
    page.key("z", CONTROL)
    check("its field does not combine undo steps", len(objects(page)) == 1, objects(page))
    clear(page)
    page.run("const field = document.querySelector('#board textarea'); field?.focus(); field?.select()")
    page.type("short")
    page.key("Escape")
    texts = [one["text"] for one in objects(page)]
    check("a shorter text is saved", texts == ["short"] and not page.run("return document.querySelector('#board textarea')"), texts)
    clear(page)


def check_late_events(page, checks):
    """The events of edits wait while WebCrypto signs."""
    check = checks.check
    page.run("document.querySelector('#board').focus(); whiteboard.ui.setTool('select')")
    text, box = page.run("const { board, ui } = whiteboard; return [board.createText('one', ui.camera.toBoard([300, 300])), board.createShape('rectangle', [0, 0], [9, 9])]")
    found = lambda: page.run("return { ...whiteboard.board.objects.get(arguments[0]) }", text)
    pending = lambda: page.run("return whiteboard.board.state.pending")
    field = lambda: page.run(FIELD)
    page.run(COUNT_WRITES)

    def hold():
        page.run("whiteboard.board.deselect()")
        page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
        page.run(HOLD_SIGNATURES, box)
        page.wait("held.length")
        page.run("writes = 0")

    def left(one):
        """Returns the left side of the text."""
        return page.driver.execute_async_script(
            "const [id, done] = arguments; import('/geometry.mjs').then(({ shapeOf }) => done(shapeOf(whiteboard.board.objects.get(id)).bounds.left))", one)

    before = left(text)
    page.run("whiteboard.ui.editText(arguments[0])", text)
    hold()
    page.type(" two")
    page.wait("writes >= 1")
    check("a written text whose event is late stays in the field", field() == ["one two", 7], field())
    check("it is a change that is not sent", found()["text"] == "one" and pending() == 1, (found()["text"], pending()))
    page.type(" three")
    check("the next letters follow it", field() == ["one two three", 13], field())
    page.key("Escape")
    page.run("release()")
    page.wait("whiteboard.board.state.isSynced")
    check("then the board has the whole text", found()["text"] == "one two three", found()["text"])
    check("its left side does not move", abs(left(text) - before) < 0.1, (left(text), before))
    page.key("z", CONTROL)
    check("this is one undo step", found()["text"] == "one", found()["text"])

    page.run("whiteboard.board.setText(arguments[0], '')", text)
    page.run("whiteboard.ui.editText(arguments[0])", text)
    hold()
    page.command("Input.imeSetComposition", text="again", selectionStart=5, selectionEnd=5)
    page.type("again")
    hidden(page)
    page.key("Escape")
    page.run("release()")
    page.wait("whiteboard.board.state.isSynced")
    check("letters that are added to an empty text are not deleted", found().get("text") == "again", found())
    for what, more, expected in [("is completed", lambda: page.type(" text"), ["a new text"]), ("is emptied", lambda: [page.key("Backspace") for _ in "a new"], [])]:
        page.run("whiteboard.ui.editText(null, [400, 400])")
        hold()
        page.type("a new")
        page.wait("writes >= 1")
        more()
        page.key("Escape")
        page.run("release()")
        page.wait("whiteboard.board.state.isSynced")
        texts = [one["text"] for one in objects(page) if one["type"] == "text" and one["id"] != text]
        check(f"a new text whose event is late {what}", texts == expected, texts)
        page.run("const { board } = whiteboard; for (const id of board.order.filter((id) => !arguments[0].includes(id))) board.remove([id])", [text, box])
    hold()
    page.run("whiteboard.board.erase([[90000, 90000]], 1); whiteboard.board.setText(arguments[0], 'again'); whiteboard.board.setLocked([arguments[0]], false)", text)
    check("edits without an effect are not counted as changes", pending() == 0, pending())
    page.run("release()")
    page.wait("whiteboard.board.state.isSynced")

    hold()
    page.run("whiteboard.ui.addGame('connect-four')")
    check("a game whose event is late is a change that is not sent", pending() == 1, pending())
    page.run("release()")
    try:
        page.wait("document.querySelector('dialog')", 3)
        check("its dialog opens when the event arrives", True)
    except TimeoutError as error:
        check("its dialog opens when the event arrives", False, error)
    page.run("document.querySelector('dialog')?.close()")
    hold()
    page.run("whiteboard.board.undo()")
    check("an undo step whose events are late is a change that is not sent", pending() == 1, pending())
    page.run("release(); delete whiteboard.board.setText; delete whiteboard.board.createText; whiteboard.board.deselect()")
    clear(page)


def check_erasing(page, checks):
    """The eraser for parts of lines can be used for a long time."""
    check = checks.check
    draw = "const { board, ui } = whiteboard; board.createDrawing([200, 800].map((x) => ui.camera.toBoard([x, 300])), { lineWidth: 5 })"
    page.run(draw)
    page.run("whiteboard.ui.setErasing(true); whiteboard.ui.setTool('eraser')")
    sizes = page.run(ERASE, 12_000, 7)
    check("a long erasure erases", top(page).get("erased"), sizes)
    page.key("z", CONTROL)
    check("a long erasure is one undo step", len(objects(page)) == 1 and not top(page).get("erased"), objects(page))
    sizes = page.run(ERASE, 12_000, 0.05)
    check("points that are close together are left out", sizes and sum(sizes) < 1000, sizes)
    page.run("whiteboard.ui.setErasing(false); whiteboard.ui.setTool('select')")
    clear(page)


def check_photos(page, checks):
    check = checks.check
    result = page.driver.execute_async_script(DRAW_PHOTOS, 61, 2048, 8)
    check("photos that cover each other are decoded a few times only", not result["isEndless"] and result["decoded"] < 200, result)
    check("decoded photos take at most 128 MB", 0 < result["most"] <= (32 << 20) + 2048 * 2048, result)
    check("photos that were removed are loaded again when the view has changed", result["isReloaded"], result)
    result = page.driver.execute_async_script(DRAW_PHOTOS, 61, 2048, 1)
    check("small photos are decoded in a small size", result["shown"] == 61 and max(result["sides"]) == 256, result)


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


def check_holders(page, checks):
    page.run("whiteboard.board.createDrawing([[0, 0], [100, 50]])")
    checks.check("after a reload, objects that others selected have a frame", page.driver.execute_async_script(SHOW_HOLDER))


def check_roles(page, checks):
    """A member whose role changes has the tools of the new role."""
    clear(page)
    def tool(role):
        return page.run("whiteboard.board.me.role = arguments[0]; whiteboard.board.dispatchEvent(new CustomEvent('state')); return whiteboard.ui.tool", role)
    page.run("whiteboard.ui.setTool('eraser')")
    shown = [tool(role) for role in ("viewer", "editor")]
    checks.check("a viewer gets the hand, and an editor the pen", shown == ["hand", "pen"], shown)


def check_held(page, checks):
    """An object that another member has selected does not prevent edits of other objects."""
    check = checks.check
    clear(page)
    page.run("document.querySelector('#board').focus(); whiteboard.ui.setTool('select')")
    first, second, held = page.run("const { board, ui } = whiteboard; return [300, 400, 500].map((x) => board.createText('text', ui.camera.toBoard([x, 300])))")
    page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
    page.driver.execute_async_script("const [id, done] = arguments; otherMember.call('select', id).then(done)", held)
    page.wait(f"whiteboard.board.objects.get('{held}').selectedBy === whiteboard.board.members.keys().next().value")
    hidden(page)
    selection = lambda: page.run("return [...whiteboard.ui.tools.select.selection]")
    message = lambda: page.run("const toasts = document.querySelector('#toasts'), text = toasts.textContent; toasts.replaceChildren(); return text")
    message()
    page.drag([(200, 200), (400, 300), (700, 400)])
    check("a box selects the objects that no other member has selected", sorted(selection()) == sorted([first, second]) and not message(), selection())
    page.key("Escape")
    page.key("a", CONTROL)
    check("Ctrl+A also selects these", sorted(selection()) == sorted([first, second]) and not message(), selection())
    page.key("Escape")
    page.drag([(500, 300)])
    shown = message()
    check("a click on an object that another member has selected says so", not selection() and "Anna" in shown, (selection(), shown))
    page.run("whiteboard.ui.setErasing(false); whiteboard.ui.setTool('eraser')")
    page.drag([(480 + step * 10, 300) for step in range(5)])
    shown = message()
    check("erasing only such an object says so", len(objects(page)) == 3 and "Anna" in shown, (len(objects(page)), shown))
    page.drag([(280 + step * 10, 300) for step in range(26)])
    left, shown = [one["id"] for one in objects(page)], message()
    check("the eraser deletes the other objects", left == [held] and not shown, (left, shown))
    free, grouped = page.run("""
      const { board, ui } = whiteboard, ids = [600, 700].map((x) => board.createText('text', ui.camera.toBoard([x, 300])));
      return [ids[0], board.group([ids[1], board.createText('text', ui.camera.toBoard([700, 400]))]) && ids[1]];""")
    page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
    page.driver.execute_async_script("const [id, done] = arguments; otherMember.call('select', id).then(done)", grouped)
    page.wait(f"whiteboard.board.objects.get('{grouped}').selectedBy === whiteboard.board.members.keys().next().value")
    page.run("whiteboard.ui.setTool('select')")
    page.key("a", CONTROL)
    check("a group with an object that another member has selected stays together", selection() == [free] and not message(), selection())
    page.key("Escape")
    page.drag([(700, 400)])
    shown = message()
    check("a click on such a group says so", not selection() and "Anna" in shown, (selection(), shown))
    page.driver.execute_async_script("otherMember.call('deselect').then(arguments[0])")
    page.wait(f"!whiteboard.board.objects.get('{held}').selectedBy")
    page.run("whiteboard.ui.setTool('select')")
    clear(page)


def check_compositions(page, checks):
    """In Safari, the key that ends a composition has the code 229."""
    press = ("const field = document.activeElement, key = { key: arguments[0], keyCode: 229, bubbles: true, cancelable: true };"
             "field.dispatchEvent(new KeyboardEvent('keydown', key))")
    page.click("#chat")
    page.run("document.querySelector('.send textarea').focus()")
    page.type("かな")
    page.run(press, "Enter")
    sent, text = page.run("return [whiteboard.board.chat.length, document.querySelector('.send textarea').value]")
    checks.check("Enter that ends a composition in Safari does not send a message", sent == 0 and text == "かな", (sent, text))
    page.run(press, "Escape")
    checks.check("Escape that ends a composition in Safari does not close the chat", not page.run("return document.querySelector('#sheet').hidden"))
    page.run("document.querySelector('.send textarea').value = ''; whiteboard.ui.sheet.close(); document.querySelector('#board').focus()")
    page.run(press, "r")
    checks.check("a key of a composition in Safari does not choose a tool", page.run(TOOL) == "select", page.run(TOOL))


def check_hostile(page, checks):
    """Texts of other members that are names of methods, icons that are not emoji, and members that break the rules of the board."""
    check = checks.check
    page.run("whiteboard.ui.addGame('connect-four'); document.querySelector('dialog').close()")
    for name in ("constructor", "toString", "__proto__"):
        svg = page.driver.execute_async_script(RENAME_GAME, name)
        page.run("const { sheet, panels } = whiteboard.ui; sheet.toggle(panels.list)")
        shown = page.run("return document.querySelector('.objects')?.textContent")
        check(f"a game with the name “{name}” is in the list of objects, and in a picture", shown and "Game" in shown and ">Game</text>" in svg, (shown, svg))
        page.run("whiteboard.ui.sheet.close()")
        texts = page.driver.execute_async_script(TEXTS_OF_CODE, name)
        check(f"a connection can end with the code “{name}”", texts == ["Not connected", "The connection ended", "The change was refused."], texts)
    clear(page)

    for icon, expected in [("Host", "H"), ("\ufdfd" * 5, "\ufdfd"), ("a" + "\u0301" * 7, "A\u0301\u0301"), ("\u202e\u200b", "A"), ("😶\u200d🌫\ufe0f", "😶\u200d🌫\ufe0f"), ("👻", "👻")]:
        page.driver.execute_async_script("const [icon, done] = arguments; otherMember.call('setProfile', 'Anna', icon).then(done)", icon)
        page.wait(f"[...whiteboard.board.members.values()][0].icon === {json.dumps(icon)}")
        hidden(page)
        shown, style = page.run("const avatar = document.querySelectorAll('#people .avatar')[1]; return [avatar.textContent, getComputedStyle(avatar).overflow]")
        check(f"the icon {icon!a} is one character", shown == expected and style == "hidden", (ascii(shown), style))

    eve = "e" * 64
    for time in (1, 2):
        page.run("otherMember.report({ kind: 'joined', member: arguments[0], name: 'Eve' })", eve)
        page.run("otherMember.report({ kind: 'message', member: arguments[0], bytes: new Uint8Array([0x7f]), isReliable: true })", eve)
        rejected, members = page.run("return [otherMember.rejected, [...whiteboard.board.members.keys()]]")
        check(f"a member that breaks the rules of the board is disconnected ({time})", rejected == [eve] * time and eve not in members, (rejected, members))
    page.wait("whiteboard.board.state.isSynced")
    result = page.driver.execute_async_script(REJECT)
    check("its route is ended, and it is not reached again", result["sent"] == ["01" + "03" * 32 + "07" * 8, "02" + "03" * 32 + "08", "0300"], result)
    check("then the member has left", result["events"][:3] == ["joined 01", "joined 03", "left 03"], result)
    check("another incarnation of the member is reached", result["again"] == ["01" + "03" * 32 + "08" * 8], result)
    check("the link with a gateway that breaks the rules is closed", result["closed"] == [["protocol-error", "A rule."]] and result["end"]["code"] == "protocol-error", result)


def check_large_view(page, checks):
    """A view needs more tiles than are stored otherwise."""
    page.command("Emulation.setDeviceMetricsOverride", width=7200, height=5200, deviceScaleFactor=0.5, mobile=False)
    page.wait("whiteboard.ui.camera.width === 7200")
    page.run("const { board, ui } = whiteboard; ui.scene.reset(); board.createDrawing([[0, 0], [100, 50]])")
    try:
        page.wait(HAS_INK, 10)
        checks.check("a very large view is drawn", True)
    except TimeoutError as error:
        checks.check("a very large view is drawn", False, error)


def check_storage(address, checks):
    """The board opens although its link cannot be stored."""
    page = browser.Page(address, False)
    try:
        page.driver.get(address + "/icon.svg")
        page.run("localStorage.setItem('whiteboard.name', JSON.stringify('Mia'))")
        page.command("Page.addScriptToEvaluateOnNewDocument", source=FAIL_TO_STORE_LINK)
        page.driver.get(f"{address}/{browser.LINK}")
        page.wait("globalThis.whiteboard?.board.members.size")
        checks.check("the board opens if its link cannot be stored", True)
    except TimeoutError as error:
        checks.check("the board opens if its link cannot be stored", False, error)
    finally:
        page.close()
