"""Checks of frames and presentations, and of the links, votes and comments of objects."""

import base64

import browser
from browser import CONTROL, SHIFT
from page_access import CONTRAST
from page_arranging import ACTIONS, SELECTED, act, board_objects, toasts
from page_drawing import script
from page_forms import clear, form, near, object_of, settle

#: Counts the pixels of a picture near the edges of the presented frame that do not have the color of the paper.
EDGES = """
const [picture, done] = arguments, image = new Image();
image.onload = () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const { left, top, right, bottom } = document.querySelector("#stage").getBoundingClientRect(), paper = context.getImageData(2, 2, 1, 1).data.join();
  const near = (value, edge) => Math.abs(value - edge) < 5;
  let count = 0;
  for (let y = Math.floor(top) - 4; y < bottom + 4; y += 1) for (let x = Math.floor(left) - 4; x < right + 4; x += 1) {
    if (!(near(x, left) || near(x, right) || near(y, top) || near(y, bottom)) || x < 0 || y < 0 || x >= image.width || y >= image.height) continue;
    count += context.getImageData(x, y, 1, 1).data.join() !== paper;
  }
  done(count);
};
image.src = `data:image/png;base64,${picture}`;
"""
BADGES = "return [...document.querySelectorAll('.badges:not([hidden]) .badge')].map(({ ariaLabel, textContent }) => [ariaLabel, textContent])"


def check_frames(page, checks):
    """Frames are drawn and named, move their objects, and are presented."""
    check = checks.check
    clear(page)
    page.key("f")
    page.drag([(340, 250), (500, 400), (640, 550)])
    page.type("First step")
    page.key("Escape")
    (frame,) = board_objects(page)
    check("the tool draws a frame, whose name is typed", frame["form"] == "frame" and frame["text"] == "First step" and near(frame["size"], [300, 300]), frame)
    inner = form(page, "rectangle", [-150, 0], size=[100, 60], fill="#a5d8ffff", text="in it")
    outer = form(page, "ellipse", [200, 0], size=[100, 60])
    check("objects belong to the frame in which they are", object_of(page, inner).get("frame") == frame["id"] and "frame" not in object_of(page, outer), object_of(page, inner))
    page.run("whiteboard.ui.tools.select.set([])")
    settle(page)
    check("the inside of a frame does not hit it", page.run("return whiteboard.ui.objectAt([400, 500])") is None)
    page.drag([(340, 500), (360, 480), (380, 460)], CONTROL)
    settle(page)
    moved = object_of(page, inner)["centerPosition"]
    check("a frame moves its objects", near(moved, [-110, -40]) and near(object_of(page, outer)["centerPosition"], [200, 0]), (moved, object_of(page, frame["id"])))
    page.run("whiteboard.ui.undo()")
    check("as one undo step", near(object_of(page, inner)["centerPosition"], [-150, 0]) and near(object_of(page, frame["id"])["centerPosition"], frame["centerPosition"]))
    page.run("whiteboard.ui.tools.select.set([])")
    settle(page)
    page.drag([(360, 300), (500, 420), (620, 530)])
    check("a selection rectangle inside a frame selects its objects", page.run(SELECTED) == [inner], page.run(SELECTED))
    empty = form(page, "rectangle", [0, 300], size=[100, 60])
    around = form(page, "frame", [0, 300], size=[200, 120], text="Around it")
    page.run("whiteboard.ui.tools.select.set([])")
    at = lambda x, y: page.run("return whiteboard.ui.formAround(whiteboard.ui.camera.toScreen(arguments))?.id", x, y)
    check("an empty form in a frame that is in front of it is hit before the frame", at(0, 300) == empty and at(90, 300) == around, (at(0, 300), at(90, 300)))
    script(page, "board.remove([given[0], given[1]])", empty, around)
    second = form(page, "frame", [1000, 0], size=[600, 340], text="Second step")
    page.run("whiteboard.ui.tools.select.set([])")
    page.click("#menu")
    page.run("[...document.querySelectorAll('#menu-items button')].find(({ textContent }) => textContent === 'Present the frames').click()")
    settle(page)
    number = lambda: page.run("return document.querySelector('#presenting span').textContent")
    center = lambda: page.run("return whiteboard.ui.camera.center")
    check("a presentation begins with the first frame", number() == "1 of 2" and near(center(), [-150, 0], 30), (number(), center()))
    check("and shows nothing else", page.run("return getComputedStyle(document.querySelector('#tools')).display") == "none")
    checks.picture(page, "presenting")
    page.key("ArrowRight")
    settle(page)
    check("the next frame is shown, and announced", number() == "2 of 2" and near(center(), [1000, 0], 30) and "Second step" in page.run("return document.querySelector('#said').textContent"), (number(), center()))
    page.driver.execute_async_script("setTimeout(arguments[0], 500)")
    # The bar has a shadow.
    page.run("document.querySelector('#presenting').style.visibility = 'hidden'")
    seen = page.driver.execute_async_script(EDGES, base64.b64encode(page.picture()).decode())
    page.run("document.querySelector('#presenting').style.visibility = ''")
    check("the line of the frame is not shown", seen == 0, seen)
    page.key("ArrowRight")
    check("the last frame stays", number() == "2 of 2", number())
    page.key("Escape")
    check("Escape ends the presentation", page.run("return document.querySelector('#presenting').hidden && whiteboard.ui.tool") == "select")
    page.run("whiteboard.ui.fit()")
    checks.picture(page, "frames")
    check("a frame is described", page.run("return import('/access.mjs').then(({ described }) => described(whiteboard.board.objects.get(arguments[0]), whiteboard.board))", second).startswith("frame labeled Second step"))


def check_covered_frame(page, checks):
    """A photo that is as large as its frame, such as a page of a PDF, does not hide the line of the frame."""
    clear(page)
    lines = script(page, """
      const canvas = Object.assign(document.createElement("canvas"), { width: 200, height: 300 });
      Object.assign(canvas.getContext("2d"), { fillStyle: "#ffffff" }).fillRect(0, 0, 200, 300);
      const bytes = new Uint8Array(await (await new Promise((done) => canvas.toBlob(done))).arrayBuffer());
      board.createForm("frame", [0, 0], { size: [200, 300], color: "#ff0000ff" });
      const photo = await board.createPhoto(bytes, [0, 0]);
      board.resize(photo, [200, 300], [0, 0]);
      await until("the photo", () => board.objects.get(photo) && ui.photos.get(board.objects.get(photo)));
      const found = [];
      for (const zoom of [1, 0.55, 0.13]) {
        Object.assign(camera, { zoom, x: -320.3 / zoom, y: -300.7 / zoom });
        ui.panBy(0, 0);
        await new Promise((done) => setTimeout(done, 300));
        await until("the tiles", () => !scene.frame(performance.now()));
        // The most red pixel across each side of the frame; white pixels have no red that others lack.
        const tiles = [...document.querySelectorAll("#tiles .level:not([hidden]) canvas")].map((tile) => ({ box: tile.getBoundingClientRect(), image: pixelsOf(tile) }));
        const redness = (x, y) => Math.max(...tiles.map(({ box, image: { data, width } }) => {
          const at = [x - box.left, y - box.top].map(Math.floor);
          if (at[0] < 0 || at[1] < 0 || at[0] >= box.width || at[1] >= box.height) return 0;
          const [red, green, , alpha] = data.subarray(4 * (at[0] + at[1] * width));
          return (red - green) * alpha / 255;
        }));
        for (const [x, y] of [[-100, 30], [100, 30], [20, -150], [20, 150]]) {
          const [left, top] = camera.toScreen([x, y]);
          found.push(Math.max(...[-2, -1, 0, 1, 2].map((step) => Math.abs(x) === 100 ? redness(left + step, top) : redness(left, top + step))));
        }
      }
      return found.map(Math.round);""")
    checks.check("a photo in a frame of its size hides no side of the frame", isinstance(lines, list) and min(lines) > 85, lines)
    clear(page)


def check_references(page, checks):
    """Votes, comments and links are shown at objects."""
    check = checks.check
    clear(page)
    id = form(page, "note", [0, 0], size=[160, 120], text="Ship it")

    def menu(label):
        page.right_click(640, 400)
        settle(page)
        act(page, label)

    menu("Vote 👍")
    check("a vote is shown at the object", page.run(BADGES) == [["👍 1: \u2068Mia\u2069", "👍1"]], page.run(BADGES))
    below = form(page, "note", [0, 140], size=[160, 120], text="Next")
    settle(page)
    top, bottom = page.run("const { top, bottom } = document.querySelector('.badge').getBoundingClientRect(); return [top, bottom]")
    edges = page.run("return [whiteboard.ui.camera.toScreen([0, 60])[1], whiteboard.ui.camera.toScreen([0, 80])[1]]")
    check("the votes do not cover a note close below", top < edges[0] < bottom <= edges[1], (top, bottom, edges))
    page.run("whiteboard.board.remove([arguments[0]])", below)
    script(page, "await otherMember.call('vote', given[0], '👍', true); await until('the vote', () => board.objects.get(given[0]).votes[0].members.length === 2)", id)
    settle(page)
    check("votes of others are counted", page.run(BADGES)[0][1] == "👍2", page.run(BADGES))
    page.run("document.querySelector('.badge').click()")
    settle(page)
    check("a click withdraws the own vote", page.run(BADGES)[0][1] == "👍1" and page.run("return document.querySelector('.badge').ariaPressed") == "false", page.run(BADGES))
    menu("Comment…")
    page.type("When?")
    page.key("Enter")
    page.wait("whiteboard.board.chat.length > 0 && document.querySelector('.chat .about')")
    line = page.run("return whiteboard.board.chat.at(-1)")
    shown = page.run("return document.querySelector('.chat li:last-child').innerText")
    check("a comment is a chat line about the object", line["about"] == id and line["text"] == "When?" and "About note labeled Ship it" in shown, (line, shown))
    check("comments are counted at the object", ["1 comment", "1"] in page.run(BADGES), page.run(BADGES))
    # Lines and panels appear with an animation.
    page.driver.execute_async_script("setTimeout(arguments[0], 400)")
    low = page.run(CONTRAST)
    check("comments have enough contrast", not low, low)
    checks.picture(page, "votes-and-comments")
    page.run("[...document.querySelectorAll('.chat .about button')].find(({ textContent }) => textContent === 'Resolve').click()")
    settle(page)
    check("a comment is resolved", page.run("return whiteboard.board.chat.at(-1).isResolved") and "1 comment" not in str(page.run(BADGES)), page.run(BADGES))
    page.run("whiteboard.ui.sheet.close(); whiteboard.ui.tools.select.set([arguments[0]]); whiteboard.ui.boardElement.focus()", id)
    page.key("k", CONTROL)
    page.type("http://example.org")
    page.key("Enter")
    check("a link without https is refused", "must begin with https" in toasts(page) and page.run("return document.querySelector('dialog') !== null"), toasts(page))
    page.run("document.querySelector('dialog input').value = ''")
    page.type(f"#{id}")
    page.key("Enter")
    page.wait("!document.querySelector('dialog')")
    check("a link to an object is set", object_of(page, id).get("link") == f"#{id}", object_of(page, id))
    page.key("k", CONTROL)
    page.run("document.querySelector('dialog input').value = ''")
    page.type("https://Mia:secret@example.org")
    page.key("Enter")
    check("a link with a password is refused, and the message does not repeat it", "user name or password" in toasts(page) and "secret" not in toasts(page), toasts(page))
    page.run("document.querySelector('dialog input').value = ''")
    page.type("HTTPS://bücher.example/Käse und Brot")
    page.key("Enter")
    page.wait("!document.querySelector('dialog')")
    check("an address is written as browsers do", object_of(page, id).get("link") == "https://xn--bcher-kva.example/K%C3%A4se%20und%20Brot", object_of(page, id))
    page.key("k", CONTROL)
    page.run("document.querySelector('dialog input').value = ''")
    page.type("example.org/page")
    page.key("Enter")
    page.wait("!document.querySelector('dialog')")
    check("an address without https:// gets it", object_of(page, id).get("link") == "https://example.org/page", object_of(page, id))
    page.run("[...document.querySelectorAll('.badge')].find(({ ariaLabel }) => ariaLabel.startsWith('Link')).click()")
    anchor = page.run("const one = document.querySelector('dialog a'); return [one.href, one.rel, one.target, document.querySelector('dialog').innerText.includes('https://example.org/page')]")
    check("a link is shown before it is opened, without access to this page", anchor == ["https://example.org/page", "noopener noreferrer", "_blank", True], anchor)
    checks.picture(page, "link")
    page.key("Escape")
    other = form(page, "rectangle", [3000, 0], size=[100, 60])
    page.run("whiteboard.board.setLink([arguments[0]], '#' + arguments[1])", id, other)
    settle(page)
    page.run("whiteboard.ui.goTo(arguments[0])", id)
    settle(page)
    page.run("[...document.querySelectorAll('.badge')].find(({ ariaLabel }) => ariaLabel.startsWith('Link')).click()")
    check("a link to an object shows it", page.run(SELECTED) == [other], page.run(SELECTED))


def check_flips(page, checks):
    """Objects are mirrored; photos also show their mirrored picture."""
    check = checks.check
    clear(page)
    arrow = form(page, "arrow", [0, 0], points=[[-100, -50], [0, 50], [100, 0]])
    page.key("H", SHIFT, "KeyH")
    points = script(page, "const { shown } = await import('./geometry.mjs'), o = board.objects.get(given[0]); return o.points.map((point) => shown(o, point))", arrow)
    check("an arrow is mirrored", near(sum(points, []), [100, -50, 0, 50, -100, 0]), points)
    page.key("V", SHIFT, "KeyV")
    points = script(page, "const { shown } = await import('./geometry.mjs'), o = board.objects.get(given[0]); return o.points.map((point) => shown(o, point))", arrow)
    check("and turned upside down", near(sum(points, []), [100, 50, 0, -50, -100, 0]), points)
    clear(page)
    photo = script(page, """
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: 200, height: 100 });
      const context = canvas.getContext("2d");
      context.fillStyle = "#ff0000";
      context.fillRect(0, 0, 100, 100);
      context.fillStyle = "#0000ff";
      context.fillRect(100, 0, 100, 100);
      const id = await board.createPhoto(await new Promise((made) => canvas.toBlob(made, "image/png")), [0, 0]);
      ui.setTool("select");
      ui.tools.select.set([id]);
      await until("the photo", () => ui.photos.get(board.objects.get(id)));
      return id;""")
    color = lambda x, y: script(page, """
      await frame(); await frame();
      const { picture } = await import("./files.mjs"), bitmap = await createImageBitmap(await picture(ui, "png", board.order)), canvas = document.createElement("canvas");
      Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const [r, g, b] = context.getImageData(given[0] * bitmap.width, given[1] * bitmap.height, 1, 1).data;
      return r > 200 ? (b > 200 ? "white" : "red") : b > 200 ? "blue" : "other";""", x, y)
    check("the photo is shown", color(0.3, 0.5) == "red" and color(0.7, 0.5) == "blue")
    page.key("H", SHIFT, "KeyH")
    check("a photo is mirrored", color(0.3, 0.5) == "blue" and color(0.7, 0.5) == "red", object_of(page, photo))
    page.run("whiteboard.board.crop(arguments[0], [0, 0, 0.5, 1])", photo)
    settle(page)
    check("a part of a photo is shown", color(0.3, 0.5) == color(0.7, 0.5) == "red" and near(object_of(page, photo)["size"], [100, 100]), object_of(page, photo))
    page.run("whiteboard.board.crop(arguments[0], [0, 0, 1, 1])", photo)
    settle(page)
    before = object_of(page, photo)
    check("the whole photo is shown again", near(before["size"], [200, 100]) and "crop" not in before, before)
    page.right_click(640, 400)
    settle(page)
    act(page, "Crop")
    # The handle at the left side of the frame, six pixels outside of the photo; the photo is mirrored.
    page.drag([(534, 400), (560, 405), (584, 410)], CONTROL)
    after = object_of(page, photo)
    check("the handles crop the photo", near(after["size"], [150, 100]) and near(after["centerPosition"], [25, 0]) and near(after["crop"], [0, 0, 0.75, 1], 0.01), after)
    page.run("whiteboard.ui.undo()")
    check("as one undo step", near(object_of(page, photo)["size"], [200, 100]), object_of(page, photo))
    page.run("whiteboard.board.crop(arguments[0], [0, 0, 0.5, 1])", photo)
    settle(page)
    svg = script(page, "const { picture } = await import('./files.mjs'); return (await picture(ui, 'svg', board.order)).text()")
    check("the SVG has the part, mirrored", 'viewBox="0 0 500' in svg and "scale(-1 1)" in svg, svg[:600])


def check_frames_and_more(address, checks):
    page = browser.Page(address, False)
    try:
        page.open()
        for body in [check_frames, check_covered_frame, check_references, check_flips]:
            body(page, checks)
        errors = page.log()
        checks.check("no error", not errors, errors)
    finally:
        page.close()
