"""The checks of `page` for what the page draws, and for the panels that change it.

`page` calls `check_drawing`. Each check opens the page in a browser of its own."""

import re

import browser

#: Functions for the scripts below. `until` waits for a condition in frames, and throws after ten seconds.
TOOLS = """
const { ui, board } = whiteboard, { scene, camera } = ui;
const frame = () => new Promise(requestAnimationFrame);
const until = async (what, isTrue) => {
  for (const end = performance.now() + 10_000; !await isTrue(); await frame()) if (performance.now() > end) throw new Error(`${what} did not happen`);
};
/** Returns the pixels of a canvas. Reading from the canvas itself can change how the browser draws on it. */
const pixelsOf = (canvas) => {
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return context.getImageData(0, 0, copy.width, copy.height);
};
"""

IS_OPEN = "globalThis.whiteboard?.board.members.size && whiteboard.board.state.isSynced"


def script(page, body, *arguments):
    """Runs an asynchronous function in the page, and returns its result."""
    result = page.driver.execute_async_script(
        "const done = arguments[arguments.length - 1], values = [...arguments];"
        f"(async ([...given]) => {{ {TOOLS} {body} }})(values).then((value) => done({{ value }}), (error) => done({{ error: `${{error.stack}}` }}));",
        *arguments)
    if "error" in result:
        raise AssertionError(result["error"])
    return result["value"]


#: Adds objects of all kinds. The texts have letters that are wider or higher than the letters of the font.
OBJECTS = """
const { result: photo } = await (async () => {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 60, height: 90 });
  const context = canvas.getContext("2d");
  context.fillStyle = "#c04030";
  context.fillRect(0, 0, 60, 60);
  context.fillStyle = "#3050c0";
  context.fillRect(20, 20, 40, 70);
  const blob = await new Promise((made) => canvas.toBlob(made, "image/png"));
  return { result: await board.createPhoto(blob, [40, -60]) };
})();
for (const game of ["wordle", "connect-four"]) board.createGame(game, [game === "wordle" ? -220 : 200, 100]);
await otherMember.call("setName", "Wolfeschlegelsteinhausenberger");
const four = board.objects.get(board.order.at(-1)).id;
board.play(four, "4");
await until("the game at the other member", async () => !(await otherMember.call("play", four, "4")).error);
await until("the other member's move", () => board.objects.get(four).view.turn === board.me.id);
board.play(four, "4");
const texts = ["Hello\\nsecond line", "שלום abc 123\\nעולם", "漢字かな交じり文", "e\\u0301a\\u0300o\\u0302\\u0308 yjg|", "WWWWW ~ mmmm", "👩‍👩‍👧 🎉 ok", "﷽ ﷺ wide", "ẤẾỖ ÅÄÖ ṩ"];
texts.forEach((text, index) => board.createText(text, [-250 + 120 * (index % 5), -150 + 70 * Math.floor(index / 5)], { color: ["#e8601cff", null, "#3b8fd980"][index % 3] }));
for (const [index, shape] of ["line", "rectangle", "ellipse", "arrow"].entries()) {
  board.createShape(shape, [-200 + 90 * index, 10], [-130 + 90 * index, 60], { lineWidth: [2, 5, 12, 20][index], color: "#1fae84ff", text: ["", "ÅÄÖ yjg", "", "next"][index] });
}
for (let index = 0; index < 8; index += 1) {
  board.createDrawing(Array.from({ length: 30 }, (_, step) => [-240 + 60 * index + 25 * Math.sin(step / (2 + index % 3)), -20 + 3 * step, ...(index % 2 ? [0.1 + step / 34] : [])]),
    { lineWidth: [2, 5, 8, 20][index % 4], color: ["#9a7be0ff", "#56b4e960", null][index % 3] });
}
await until("the photo", () => scene.items.length === board.objects.size && ui.looks.photo(board.objects.get(photo)));
"""

#: Makes edits by both members. After each edit, compares the tiles with those of a new scene, which draws everything. After
#: every few edits, also compares the tiles of a slow scene. The slow scene has more objects, and its tiles are incomplete
#: while the members edit.
DAMAGE = """
const [seed, zooms] = given, { Scene } = await import("./canvas.mjs");
let state = seed;
const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
const pick = (list) => list[Math.floor(random() * list.length)];
const own = (method, ...values) => {
  try { return { result: board[method](...values) }; } catch (error) { return { error: error.message }; }
};
const other = async (method, ...values) => {
  const report = await otherMember.call(method, ...values);
  await until("the edit of the other member", () => board.digest === report.digest);
  return report;
};
const words = ["Hello", "שלום", "漢字", "ÅẤ", "W", "👩‍👩‍👧", "123", "\\n", " "];
const corner = () => [(random() - 0.5) * 500, (random() - 0.5) * 300];
const edits = {
  move: (id) => ["move", [id], [(random() - 0.5) * 120, (random() - 0.5) * 120]],
  rotate: (id) => ["rotate", [id], random() * 6],
  resize: (id) => ["scale", [id], board.objects.get(id).scale > 1 ? 0.4 + random() / 2 : 1 + random()],
  remove: (id) => ["remove", [id]],
  "remove from below": () => ["remove", [board.order[0]]],
  erase: () => { const [x, y] = corner(); return ["erase", [[x, y], [x + 60 * random(), y + 60], [x - 60, y + 90]], 6 + 10 * random()]; },
  color: (id) => ["restyle", [id], { color: pick(["#e8601cff", "#3b8fd970", "#ffffffff", null]) }],
  width: (id) => ["restyle", [id], { lineWidth: pick([2, 5, 12, 20]) }],
  style: (id) => ["restyle", [id], pick([{ fill: "#a5d8ff80" }, { fill: "#1971c2ff" }, { fill: null }, { lineStyle: "dashed" }, { opacity: 0.5 }, { textSize: 32 }, { isBold: true }, { isCurved: true }, { lineEnd: "triangle" }])],
  size: () => { const one = pick([...board.objects.values()].filter(({ form, points }) => form && !points)); return one && ["resize", one.id, [20 + 100 * random(), 20 + 60 * random()], corner()]; },
  text: () => { const one = pick([...board.objects.values()].filter(({ type, form }) => type === "text" || form)); return one && ["setText", one.id, Array.from({ length: 1 + random() * 6 }, () => pick(words)).join("") + "."]; },
  front: (id) => ["bringToFront", [id]], back: (id) => ["sendToBack", [id]], forward: (id) => ["bringForward", [id]], backward: (id) => ["sendBackward", [id]],
  duplicate: (id) => ["duplicate", [id], [40, 25]],
  draw: () => { const [x, y] = corner(); return ["createDrawing", Array.from({ length: 12 }, (_, step) => [x + step * 6, y + 30 * random()]), { lineWidth: pick([2, 8, 20]) }]; },
  undo: () => ["undo"], redo: () => ["redo"],
};
const kinds = Object.keys(edits);

/** Returns the pixels of the tiles of a scene, by their place. */
const pixels = (scene) => {
  while (scene.frame(performance.now()));
  const levels = [...scene.host.children];
  return new Map([...levels.at(-1).children].map((tile) => [tile.style.transform, pixelsOf(tile)]));
};
/**
 * Returns the part of 8 by 8 pixels that differs most. Browsers draw the edges of a clipped line a little differently, so
 * a value that lies between those of the neighbors in the other picture is not different.
 */
const difference = (scene) => {
  const reference = new Scene(document.createElement("div"), scene.board, camera, ui.looks, scene.isShown);
  const [tiles, expected] = [pixels(scene), pixels(reference)];
  const found = { sum: tiles.size === expected.size ? 0 : Infinity };
  // The color of a transparent pixel is not visible.
  const value = (data, index, channel) => data[index + channel] * (channel < 3 ? data[index + 3] / 255 : 1);
  const outside = (one, other, index, channel, width) => {
    let [least, most] = [255, 0];
    for (const row of [-width, 0, width]) for (const column of [-1, 0, 1]) {
      const near = other[index + 4 * (row + column) + 3] === undefined ? 0 : value(other, index + 4 * (row + column), channel);
      [least, most] = [Math.min(least, near), Math.max(most, near)];
    }
    const own = value(one, index, channel);
    return Math.max(least - own, own - most, 0);
  };
  for (const [tile, { data, width, height }] of expected) {
    const shown = tiles.get(tile)?.data ?? data, columns = Math.ceil(width / 8), sums = new Float64Array(columns * Math.ceil(height / 8));
    for (let index = 0; index < data.length; index += 4) {
      let by = 0;
      for (let channel = 0; channel < 4; channel += 1) {
        if (data[index + channel] === shown[index + channel]) continue;
        by = Math.max(by, outside(data, shown, index, channel, width), outside(shown, data, index, channel, width));
      }
      if (by > 4) sums[Math.floor(index / 4 / width / 8) * columns + Math.floor(index / 4 % width / 8)] += by;
    }
    const sum = Math.max(...sums), at = sums.indexOf(sum);
    if (sum > found.sum) Object.assign(found, { sum, tile, x: at % columns * 8, y: Math.floor(at / columns) * 8 });
  }
  return found;
};

const done = {}, found = [];
let largest = 0;
/** Compares the tiles after an edit; reports a difference once, and then draws the tiles again. */
const compare = async (edit, scene = ui.scene) => {
  await frame();
  const { sum, ...where } = difference(scene);
  largest = Math.max(largest, sum);
  if (sum < 150) return;
  found.push({ ...edit, sum, ...where });
  scene.reset();
  pixels(scene);
};
const view = async (zoom) => {
  Object.assign(camera, { zoom, x: -camera.width / 2 / zoom + random(), y: -camera.height / 2 / zoom + random() });
  scene.reset();
  ui.schedule();
  await frame();
  pixels(scene);
};

// The words of a text and of a game may not fit in their box, next to which another tile begins.
const { shapeOf } = await import("./geometry.mjs");
await view(1);
const side = devicePixelRatio > 1.5 ? 256 : 512;
const game = [...board.objects.values()].find((object) => object.game === "connect-four").id;
for (const id of [...board.order].filter((id) => id === game || board.objects.get(id).type === "text")) {
  const { right, bottom } = shapeOf(board.objects.get(id)).bounds, text = board.objects.get(id).text;
  for (const way of [[camera.x + side - right - 7.5, 0], [0, camera.y + side - bottom - 7.5], [5, 6]]) {
    board.move([id], way);
    await compare({ kind: "at the border of a tile", text });
  }
}

// When an object is removed, a part of its pixels may belong to the line next to it.
await view(0.3);
const pairs = Array.from({ length: 80 }, (_, index) => {
  const [x, y] = [-1900 + 380 * (index % 10) + 6.1 * index, -900 + 130 * Math.floor(index / 10)];
  return [x, x + 6 + index / 16].map((left) => board.createShape("line", [left, y], [left, y + 100], { lineWidth: 2 }));
});
await frame();
pixels(scene);
for (const [first] of pairs) {
  board.remove([first]);
  await frame();
  pixels(scene);
}
await compare({ kind: "next to a line" });
board.remove(pairs.map(([, second]) => second));

const marks = Array.from({ length: 200 }, (_, index) => [String(index), {
  id: String(index), type: "drawing", centerPosition: [-250 + 25 * (index % 20), -150 + 30 * Math.floor(index / 20)], scale: 1, angle: 0, lineWidth: 2, color: null,
  size: [10, 10], points: [[-5, -5], [5, 5]],
}]);
const slowBoard = {
  get objects() { return new Map([...marks, ...board.objects]); },
  get order() { return [...marks.map(([id]) => id), ...board.order]; },
};
const slow = new Scene(document.createElement("div"), slowBoard, camera, ui.looks, scene.isShown);
for (const name of ["invalidate", "objectsChanged"]) {
  const original = scene[name];
  scene[name] = (ids) => {
    slow[name](ids);
    original.call(scene, ids);
  };
}
let slowTime = 1e9, incomplete = 0;
/** Draws one frame of the slow scene. Frames that seem to take a second have few objects. */
const drawSlowly = () => slow.frame(slowTime += 1000);

for (const zoom of zooms) {
  await view(zoom);
  slow.reset();
  for (let index = 0; index < 2 * kinds.length && found.length < 5; index += 1) {
    // The members take turns after all kinds, so that a redo follows the undo of the same member.
    const kind = kinds[index % kinds.length], who = ["this", "other"][Math.floor(index / kinds.length) % 2];
    const id = pick(board.order), before = board.objects.get(id), command = edits[kind](id);
    if (!command) continue;
    const { error } = await (who === "this" ? own : other)(...command);
    if (!error) done[`${kind} by ${who}`] = 1 + (done[`${kind} by ${who}`] ?? 0);
    const edit = { zoom, index, kind, who, type: before?.type, text: before?.text, command: JSON.stringify(command).slice(0, 200) };
    await compare(edit);
    if (drawSlowly()) incomplete += 1;
    if (index % 6 < 5) continue;
    await compare({ ...edit, isSlow: true }, slow);
    slow.reset();
    drawSlowly();
  }
}
return { done, found, largest, incomplete, kinds: kinds.length };
"""


def check_damage(page, checks, seed, zooms):
    """The tiles after each edit are the same as tiles that are drawn again as a whole."""
    page.driver.set_script_timeout(300)
    script(page, OBJECTS)
    result = script(page, DAMAGE, seed, zooms)
    print(f"      edits with seed {seed}: {sum(result['done'].values())}, largest difference: {result['largest']:.0f}", flush=True)
    checks.check("the damaged parts of tiles are drawn like whole tiles", not result["found"], result["found"])
    checks.check("both members made edits of all kinds", len(result["done"]) == 2 * result["kinds"], result["done"])
    checks.check("they made edits while tiles were incomplete", result["incomplete"] > 10, result["incomplete"])


#: Draws a scene with a thousand lines in frames with few objects, while one object moves before each frame. Returns the number
#: of frames until the tiles are complete, or until the level of another zoom is shown; null if that takes too long.
MOVES = """
const [place, size, changesZoom] = given, { Camera, Scene } = await import("./canvas.mjs");
const drawing = (id, centerPosition, side) => [id, {
  id, type: "drawing", centerPosition, scale: 1, angle: 0, lineWidth: 2, color: null, size: [side, side], points: [[-side / 2, -side / 2], [side / 2, side / 2]],
}];
const objects = new Map(Array.from({ length: 1000 }, (_, index) => drawing(String(index), [20 + 30 * (index % 25), 20 + 19 * Math.floor(index / 25)], 20)));
objects.set(...drawing("moved", place, size));
const view = Object.assign(new Camera(), { width: 800, height: 800 });
const slow = new Scene(document.createElement("div"), { objects, order: [...objects.keys()] }, view, ui.looks, () => true);
let now = 0;
if (changesZoom) {
  while (slow.frame(now += 1000));
  view.zoomTo(0.7);
}
for (let frames = 1; frames < 1000; frames += 1) {
  const moved = objects.get("moved"), [x, y] = moved.centerPosition;
  objects.set("moved", { ...moved, centerPosition: [x + (frames % 2 ? 1 : -1), y] });
  slow.invalidate(["moved"]);
  const hasWork = slow.frame(now += 1000), levels = [...slow.host.children];
  if (changesZoom ? frames > 2 && levels.length === 1 && !levels[0].hidden : !hasWork) return frames;
}
return null;
"""


def check_progress(page, checks):
    """Tiles are drawn although another member changes objects all the time."""
    check = checks.check
    for what, place, size, changes_zoom in [
        ("outside the view", [5000, 5000], 20, False), ("in the view", [300, 300], 20, False), ("in the view, after zooming", [300, 300], 20, True),
        ("that covers all tiles, after zooming", [400, 400], 800, True),
    ]:
        frames = script(page, MOVES, place, size, changes_zoom)
        check(f"tiles are drawn while a member moves an object {what}", frames, frames)
    found = script(page, """
      const ids = [0, 1, 2].map((index) => board.createDrawing([[100 * index, 0], [100 * index + 50, 50]]));
      await until("the lines", () => scene.items.length === 3);
      const { items } = scene;
      await otherMember.call("select", [ids[1]]);
      await until("the selection", () => board.objects.get(ids[1]).selectedBy);
      await frame();
      const { selectedBy } = scene.items[1].object;
      return [items === scene.items, selectedBy === [...board.members.keys()][0]];""")
    check("a selection changes no tile", found == [True, True], found)


#: Functions for strokes of the other member.
STROKES = """
const begin = async (...points) => {
  const { result: id } = await otherMember.call("beginStroke");
  await otherMember.call("extendStroke", id, points);
  await until("the stroke of the other member", () => board.objects.get(id)?.points.length);
  return id;
};
const isOnTiles = (id) => scene.items.some((item) => item.id === id);
const frames = async () => { await frame(); await frame(); };
"""


def check_unfinished(page, checks):
    """Strokes that a member did not finish, or that were changed meanwhile."""
    check = checks.check
    found = script(page, STROKES + """
      const first = await begin([0, 0], [50, 20]), other = await begin([0, 60], [50, 80]);
      await frames();
      const found = [[isOnTiles(first), isOnTiles(other)]];
      await until("an abandoned stroke on the tiles", () => isOnTiles(first) && isOnTiles(other));
      let previews = 0;
      board.addEventListener("previews", () => previews += 1);
      const third = await begin([0, 120], [50, 140]);
      for (let step = 0; step < 8; step += 1) {
        await otherMember.call("extendStroke", third, [[60 + step, 150 + 5 * step]]);
        await frames();
        found.push([isOnTiles(first), isOnTiles(other), isOnTiles(third)]);
      }
      await otherMember.call("extendStroke", first, [[90, 90]]);
      await until("the continued stroke on the live layer", () => !isOnTiles(first));
      found.push([isOnTiles(other), previews > 0]);
      return found;""")
    check("a stroke is on the live layer while a member draws it", found[0] == [False, False], found)
    check("an abandoned stroke stays on the tiles while a member draws another", found[1:9] == [[True, True, False]] * 8, found)
    check("only a stroke that is continued is on the live layer again", found[9] == [True, True], found)
    found = script(page, STROKES + """
      const ids = [await begin([0, 200], [50, 220], [90, 200]), await begin([0, 260], [50, 280], [90, 260]), await begin([0, 320], [50, 340], [90, 320])];
      await frames();
      const before = ids.map(isOnTiles);
      // The board refuses this while the author is present, but another member may not have met the author.
      [{ scale: 2 }, { angle: 1 }, { erased: [[0.5, 1]] }].forEach((change, index) => board.objects.set(ids[index], { ...board.objects.get(ids[index]), ...change }));
      board.dispatchEvent(new CustomEvent("objects", { detail: { changed: new Set(ids), removed: new Set() } }));
      await frames();
      return [before, ids.map(isOnTiles)];""")
    check("tiles show a stroke that is scaled, rotated or erased before its end", found == [[False] * 3, [True] * 3], found)
    found = script(page, STROKES + """
      const ids = await Promise.all(Array.from({ length: 130 }, (_, index) => begin([5 * index, 400], [5 * index, 430])));
      await frames();
      return ids.filter((id) => !isOnTiles(id)).length;""")
    check("at most 100 strokes are on the live layer", 0 < found <= 100, found)


def check_leaving(page, checks):
    """A page that is closed, or goes to the back/forward cache, while the user draws."""
    check = checks.check
    strokes = lambda: page.run("return [...whiteboard.board.objects.values()].map(({ isFinished, points }) => [isFinished, points.length])")
    def mouse(kind, x, y):
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    def draw(y):
        mouse("mousePressed", 300, y)
        for step in range(1, 25):
            mouse("mouseMoved", 300 + step * 10, y)
    def is_kept(stroke):
        return stroke[0] is True and stroke[1] >= 25
    page.run("whiteboard.ui.setTool('pen')")
    draw(300)
    sent = script(page, """
      let sent = null;
      const { send } = otherMember;
      otherMember.send = (...message) => { sent = board.digest; send.apply(otherMember, message); };
      dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
      delete otherMember.send;
      return sent === board.digest;""")
    check("the end of the stroke is sent at once", sent)
    mouse("mouseMoved", 600, 600)
    found = strokes()
    check("a stroke ends when the page is hidden", len(found) == 1 and is_kept(found[0]), found)
    mouse("mouseReleased", 600, 600)
    draw(400)
    mouse("mouseReleased", 540, 400)
    found = strokes()
    check("the user can draw again in a page that comes back", len(found) == 2 and is_kept(found[1]), found)
    page.run("""
      document.querySelector("#board").dispatchEvent(new PointerEvent("pointerdown",
        { pointerId: 99, pointerType: "touch", clientX: 500, clientY: 200, button: 0, buttons: 1, bubbles: true, isPrimary: true }));
      dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));""")
    draw(500)
    mouse("mouseReleased", 540, 500)
    found = strokes()
    check("a finger that was down when the page was hidden is forgotten", len(found) == 3 and is_kept(found[2]), found)


def check_frames(page, checks):
    """The frames of objects that other members selected."""
    found = script(page, """
      const ids = Array.from({ length: 250 }, (_, index) => board.createDrawing([[20 * (index % 25), 20 * Math.floor(index / 25)], [20 * (index % 25) + 10, 20 * Math.floor(index / 25) + 10]]));
      ui.fit();
      await until("the lines", () => scene.items.length === 250);
      const { roundRect } = CanvasRenderingContext2D.prototype;
      let sizes = [];
      CanvasRenderingContext2D.prototype.roundRect = function (x, y, width, height, radius) {
        if (this.canvas.id === "live") sizes.push([width, height]);
        roundRect.call(this, x, y, width, height, radius);
      };
      const drawn = async () => {
        ui.schedule();
        await frame();
        await frame();
        sizes = [];
        ui.schedule();
        await frame();
        return [...sizes];
      };
      const selected = async (ids) => {
        await otherMember.call("deselect");
        await otherMember.call("select", ids);
        await until("the selection", () => [...board.objects.values()].filter(({ selectedBy }) => selectedBy).length === ids.length);
        return drawn();
      };
      const few = await selected(ids.slice(0, 150)), many = await selected(ids);
      ui.panBy(0, 10_000);
      return { few: few.length, many, outside: (await drawn()).length };""")
    check = checks.check
    check("each object that a member selected has a frame", found["few"] == 150, found)
    check("many objects that a member selected have one frame", len(found["many"]) == 1 and found["many"][0][0] > 480 and found["many"][0][1] > 180, found)
    check("objects outside the view have no frame", found["outside"] == 0, found)


def check_style(page, checks):
    """A color and a width, which are chosen by touch."""
    check = checks.check
    box = script(page, """
      const id = board.createDrawing([[-60, -80], [60, 0]], { lineWidth: 5 });
      ui.fit();
      ui.finishTool([id]);
      return id;""")
    style = lambda: page.run("const { color, lineWidth } = whiteboard.board.objects.get(arguments[0]); return [color, lineWidth]", box)
    page.tap("#tools .swatch")
    page.tap(".popup.open [aria-label=Red]")
    check("a color changes the selected object", style() == ["#e8601cff", 5], style())
    page.tap(".popup.open [aria-label=Thick]")
    check("a width changes the selected object", style() == ["#e8601cff", 12], style())
    pressed = page.run("return [...document.querySelectorAll('.popup.open [aria-pressed=true]')].map(({ ariaLabel }) => ariaLabel)")
    check("the panel shows the color and the width", pressed == ["Red", "Thick"], pressed)
    page.swipe([(60, 700)])
    check("a tap outside closes the panel", not page.run("return document.querySelector('.popup.open')"))
    def draws(what):
        page.run("whiteboard.ui.setTool('pen')")
        page.swipe([(100 + step * 4, 650) for step in range(20)])
        found = page.run("const { board } = whiteboard, { color, lineWidth } = board.objects.get(board.order.at(-1)); return [color, lineWidth]")
        check(what, found == ["#e8601cff", 12], found)
    draws("the next stroke has the color and the width")
    page.driver.refresh()
    page.wait(IS_OPEN)
    draws("after a reload, strokes still have them")


def check_theme(page, checks):
    """The theme item of the menu, by touch."""
    check = checks.check
    script(page, "board.createShape('line', [0, -20], [0, 20], { lineWidth: 12 }); ui.fit()")
    shown = """
      const { theme } = document.documentElement.dataset, pixels = new Set();
      while (scene.frame(performance.now()));
      for (const tile of document.querySelectorAll("#tiles canvas")) {
        const { data } = pixelsOf(tile);
        for (let index = 0; index < data.length; index += 4) if (data[index + 3] === 255) pixels.add(data[index]);
      }
      return [theme, getComputedStyle(document.body).backgroundColor, [...pixels]];"""
    def choose(label):
        page.tap("#menu")
        items = page.run("return [...document.querySelectorAll('#menu-items .item')].map(({ textContent }) => textContent)")
        check(f"the menu shows “{label}”", label in items, items)
        page.run("const item = [...document.querySelectorAll('#menu-items .item')].find(({ textContent }) => textContent === arguments[0]); item.id = 'chosen'", label)
        page.tap("#chosen")
    def reload():
        page.driver.refresh()
        page.wait(IS_OPEN)
    light = script(page, shown)
    choose("Colors: same as system")
    dark = script(page, shown)
    check("the dark theme has a dark paper and a light line", [light[0], light[2], dark[0], dark[2]] == ["light", [0], "dark", [255]] and light[1] != dark[1], (light, dark))
    reload()
    check("the dark theme survives a reload", script(page, "return document.documentElement.dataset.theme") == "dark")
    choose("Colors: dark")
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    reload()
    check("the light theme survives a reload on a dark system", script(page, "return document.documentElement.dataset.theme") == "light")
    choose("Colors: light")
    check("the theme can follow the system again", script(page, "return document.documentElement.dataset.theme") == "dark")
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    page.wait("document.documentElement.dataset.theme === 'light'")


FOCUS = "const { ariaLabel, textContent } = document.activeElement; return ariaLabel || textContent"


def check_list(page, checks):
    """The list of objects, with keys alone."""
    check = checks.check
    script(page, """
      for (let index = 0; index < 120; index += 1) board.createDrawing([[index * 10, 0], [index * 10 + 5, 30]]);
      board.createGame("wordle", [300, 300]);
      const text = await otherMember.call("createText", "Agenda\\nfor Monday", [900, 900]);
      await until("the text of the other member", () => scene.items.some(({ id }) => id === text.result));
      board.setLocked([board.order[0]], true);
      await until("the lock", () => scene.items[0].object.isLocked);
      ui.boardElement.focus();""")
    page.key("Tab")
    page.key("Enter")
    page.key("Enter")
    page.key("Tab")
    names = page.run("return [...document.querySelectorAll('.objects .grow')].map(({ ariaLabel }) => ariaLabel)")
    check("the list opens by keys", page.run(FOCUS) == names[0], page.run(FOCUS))
    check("the names say what an object is and who made it", names[:3] == [
        "Go to Text: Agenda\nfor Monday, by \u2068Anna\u2069", "Go to Game: Wordle, by \u2068you\u2069", "Go to Drawing, by \u2068you\u2069"], names[:3])
    page.key("Enter")
    found = script(page, """
      const [id] = ui.tools.select.selection, [x, y] = camera.toScreen(board.objects.get(id).centerPosition);
      return [board.objects.get(id).text, Math.round(x - camera.width / 2), Math.round(y - camera.height / 2)]""")
    check("Enter goes to an object", found == ["Agenda\nfor Monday", 0, 0], found)
    page.key("Tab")
    check("Tab leads to the button that deletes it", page.run(FOCUS).startswith("Delete Text: Agenda"), page.run(FOCUS))
    page.key("Enter")
    page.wait("document.querySelectorAll('.objects .grow')[0].ariaLabel.startsWith('Go to Game')")
    check("the object is deleted", page.run("return whiteboard.board.objects.size") == 121)
    check("the focus is on the next object", page.run(FOCUS).startswith("Go to Game: Wordle"), page.run(FOCUS))
    rows = lambda: page.run("return document.querySelectorAll('.objects li').length")
    check("the list begins with 100 objects", rows() == 100, rows())
    page.run("document.querySelector('.objects + button').focus()")
    page.key("Enter")
    check("“Show more” shows the others", rows() == 121 and not page.run("return document.querySelector('.objects + button')"), rows())
    last = page.run("return document.activeElement === document.querySelectorAll('.objects li')[100].querySelector('button')")
    check("the focus is on the first of them", last, page.run(FOCUS))
    locked = page.run("return document.querySelector('.objects li:last-child .grow').ariaLabel")
    check("the name of a locked object says so", locked.endswith("locked"), locked)
    left = script(page, """
      ui.sheet.close();
      board.remove([board.order.at(-1)]);
      ui.sheet.toggle(ui.panels.list);
      return document.querySelector(".objects")?.children.length && document.querySelector("#sheet .note").textContent;""")
    check("the list opens at the moment when an object is deleted", left == "120 objects, topmost first", left)


def check_follow(page, checks):
    """Following the view of another member, and the laser pointer of the member."""
    check = checks.check
    center = "Math.round(whiteboard.ui.camera.center[0]) === {} && Math.round(whiteboard.ui.camera.center[1]) === {}"
    def shows(x, y):
        script(page, "await otherMember.call('showPresence', { viewport: { center: [given[0], given[1]], width: 500, height: 400 } })", x, y)
    def follow():
        page.run("whiteboard.ui.sheet.close()")
        page.click("#people")
        page.wait("[...document.querySelectorAll('.members button')].some(({ textContent }) => textContent === 'Follow')")
        page.run("[...document.querySelectorAll('.members button')].find(({ textContent }) => textContent === 'Follow').click()")
    def waits(what, condition):
        try:
            page.wait(condition, 5)
            check(what, True)
        except TimeoutError:
            check(what, False, page.run("return [whiteboard.ui.camera.center, document.querySelector('#following').textContent]"))
    ended = "document.querySelector('#following').hidden && whiteboard.ui.followed === null"
    shows(2000, 1000)
    follow()
    waits("following shows the view of the member", center.format(2000, 1000))
    check("the page says whom it follows", "Anna" in page.run("const { hidden, textContent } = document.querySelector('#following'); return hidden ? '' : textContent"))
    shows(-3000, 500)
    waits("the view moves with the member", center.format(-3000, 500))
    zoom = page.run("const { camera } = whiteboard.ui; return [camera.width / camera.zoom, camera.height / camera.zoom]")
    check("the whole view of the member is visible", zoom[0] >= 499 and zoom[1] >= 399 and min(zoom[0] - 500, zoom[1] - 400) < 2, zoom)
    page.wheel(600, 400, 100)
    waits("an own move ends it", ended)
    own = page.run("return whiteboard.ui.camera.center")
    shows(50, 60)
    page.wait("[...whiteboard.board.members.values()][0].viewport.center[0] === 50")
    check("the view stays after that", page.run("return whiteboard.ui.camera.center") == own)
    follow()
    waits("following again shows the newest view", center.format(50, 60))
    page.run("""
      const { board } = whiteboard, { showPresence } = board;
      globalThis.views = [];
      board.showPresence = (presence) => { views.push(presence.viewport.width); showPresence.call(board, presence); };""")
    page.run("whiteboard.ui.showPresence({ cursor: [1, 1] })")
    page.wait("views.length")
    before = page.run("return views[0]")
    script(page, "await otherMember.call('showPresence', { viewport: { center: [50, 60], width: 5000, height: 4000 } })")
    page.wait("whiteboard.ui.camera.width / whiteboard.ui.camera.zoom > 4999")
    page.run("whiteboard.ui.showPresence({ cursor: [2, 2] })")
    script(page, "await frame(); await frame()")
    views = page.run("return views")
    check("others do not get the view while it follows a member", len(views) > 1 and set(views) == {before}, views)
    page.run("document.querySelector('#following button').click()")
    waits("“Stop” ends it", ended)
    script(page, "await frame(); await frame()")
    views = page.run("return views")
    check("after that, others get the view again", views[-1] > 4999, views)
    follow()
    page.wait("whiteboard.ui.followed")
    page.run("whiteboard.ui.fit()")
    waits("showing all objects ends it", ended)
    follow()
    page.wait("whiteboard.ui.followed")

    red = """
      const found = async () => {
        await frame();
        const { data } = pixelsOf(document.querySelector("#live"));
        return data.some((value, index) => index % 4 === 0 && value > 200 && data[index + 1] < 120 && data[index + 3] > 40);
      };"""
    script(page, red + """
      if (await found()) throw new Error("the live layer is red before the laser");
      for (let step = 0; step < 8; step += 1) {
        await otherMember.call("showPresence", { cursor: [40 + 4 * step, 60], pointer: "laser", viewport: { center: [50, 60], width: 500, height: 400 } });
        await frame();
      }
      await until("the laser pointer", found);""")
    check("the laser pointer of the member is shown", page.run("return document.querySelector('.pointer.laser span').textContent") == "Anna")
    script(page, red + "await until('the end of the trail', async () => !await found());")
    check("its trail fades", True)
    page.run("otherMember.report({ kind: 'left', member: [...whiteboard.board.members.keys()][0] })")
    waits("when the member leaves, following ends", ended)
    check("the pointer of the member disappears", page.run("return document.querySelectorAll('.pointer').length") == 0)


def nodes(page):
    """Returns the nodes of the accessibility tree, with the properties of each as a dictionary."""
    found = page.command("Accessibility.getFullAXTree")["nodes"]
    for node in found:
        node["properties"] = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
    return [node for node in found if not node["ignored"]]


def check_names(page, checks):
    """The names of everything that can have the focus, in all panels and dialogs."""
    check = checks.check
    text = script(page, """
      const text = board.createText("Hello", [0, 0]);
      board.sendChat("Hello");
      await otherMember.call("showPresence", { viewport: { center: [0, 0], width: 500, height: 400 } });
      await until("the view of the member", () => [...board.members.values()][0].viewport);
      for (let index = 0; index < 101; index += 1) board.createDrawing([[index, 0], [index, 30]]);
      await frame();
      ui.fit();
      return text;""")
    opens = {
        "the board": "", "the menu": "$('#menu').click()", "the selection": "$('#menu').click(); ui.goTo(text)",
        "the style panel": "ui.setTool('pen'); $('.swatch').click()", "the style panel of the eraser": "ui.setTool('eraser')",
        "the shapes": "$('.swatch').click(); for (const one of document.querySelectorAll('.opener')) one.click()",
        "the chat": "for (const one of document.querySelectorAll('.opener')) one.click(); $('#chat').click()", "the people": "$('#people').click()",
        "the list": "ui.sheet.toggle(ui.panels.list)", "following": "ui.sheet.close(); ui.follow([...board.members.keys()][0])",
        "a text": "ui.follow(null); ui.editText(text)", "the help": "ui.stopTyping(); dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))",
        "the connection": "$('#state').click()", "the name": "ui.askName()", "Wordle": "ui.addGame('wordle')", "Connect Four": "ui.addGame('connect-four')",
    }
    for what, action in opens.items():
        page.run("document.querySelector('dialog')?.close()")
        script(page, f"const $ = (name) => document.querySelector(name), [text] = given; {action}; await frame(); await frame()", text)
        found = [node for node in nodes(page) if node["properties"].get("focusable") and node["role"]["value"] not in ("RootWebArea", "generic")]
        nameless = [page.command("DOM.describeNode", backendNodeId=node["backendDOMNodeId"])["node"] for node in found if not node.get("name", {}).get("value", "").strip()]
        roles = {node["role"]["value"] for node in found}
        check(f"all of {what} has names", len(found) > 1 and "button" in roles and not nameless, (roles, [(node["localName"], node.get("attributes")) for node in nameless]))
    page.run("document.querySelector('dialog').close()")

    def announced(words):
        found = nodes(page)
        children = {node["nodeId"]: node.get("childIds", []) for node in found}
        def words_in(id):
            node = next((node for node in found if node["nodeId"] == id), None)
            return (node["name"]["value"] if node and node["role"]["value"] == "StaticText" else "") + " ".join(map(words_in, children.get(id, [])))
        return any(node["properties"].get("live") == "polite" and words in words_in(node["nodeId"]) for node in found)
    page.run("otherMember.report({ kind: 'state', state: 'offline' })")
    page.wait("document.querySelector('#state-text').textContent.startsWith('Offline')")
    check("a live region announces that the page is offline", announced("Offline"))
    page.run("otherMember.report({ kind: 'state', state: 'open' })")
    page.wait("document.querySelector('#state-text').textContent === 'Synced'")
    check("a live region announces that it is synced again", announced("Synced"))
    script(page, "board.dispatchEvent(new CustomEvent('notice', { detail: { code: 'full' } }))")
    check("a live region announces a message", announced("The board is full."))


#: Saves the board as PNG and SVG, and compares both pictures in parts of 8 by 8 pixels.
EXPORT = OBJECTS.replace("[40, -60]", "[340, -60]") + """
for (const id of board.order.filter((_, index) => index % 3 === 0)) board.rotate([id], 0.4);
await frame();
const blobs = [], create = URL.createObjectURL;
URL.createObjectURL = (blob) => (blobs.push(blob), create.call(URL, blob));
for (const kind of ["PNG", "SVG"]) {
  document.querySelector("#menu").click();
  [...document.querySelectorAll(".item")].find((item) => item.textContent === `Save board as ${kind}`).click();
  await until(`the ${kind}`, () => blobs.length === (kind === "PNG" ? 1 : 2));
}
const drawn = async (blob, height = 0) => {
  const image = new Image();
  image.src = create.call(URL, blob);
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: given[0], height: height || 8 * Math.round(given[0] * image.naturalHeight / image.naturalWidth / 8) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return { data: pixelsOf(canvas).data, height: canvas.height, ratio: image.naturalWidth / image.naturalHeight };
};
const png = await drawn(blobs[0]), svg = await drawn(blobs[1], png.height), columns = given[0] / 8;
const sums = (data) => {
  const sums = new Float64Array(columns * Math.ceil(png.height / 8) * 3);
  for (let index = 0; index < data.length; index += 1) {
    if (index % 4 === 3) continue;
    const pixel = Math.floor(index / 4);
    sums[3 * (Math.floor(pixel / given[0] / 8) * columns + Math.floor(pixel % given[0] / 8)) + index % 4] += data[index] / 64;
  }
  return sums;
};
const [one, other] = [sums(png.data), sums(svg.data)];
const differences = [...one].map((value, index) => Math.abs(value - other[index])), worst = Math.max(...differences), at = Math.floor(differences.indexOf(worst) / 3);
return {
  ratios: [png.ratio, svg.ratio], worst, at: [at % columns * 8, Math.floor(at / columns) * 8], ink: [...one].filter((value) => value < 240).length,
  mean: differences.reduce((sum, value) => sum + value, 0) / differences.length, svg: await blobs[1].text(),
};
"""


def check_export(page, checks):
    """The PNG and the SVG of a board with objects of all kinds show the same."""
    check = checks.check
    found = script(page, EXPORT, 800)
    text = found.pop("svg")
    print(f"      largest difference of PNG and SVG: {found['worst']:.0f}, on average {found['mean']:.2f}", flush=True)
    check("the SVG and the PNG have the same proportions", abs(found["ratios"][0] / found["ratios"][1] - 1) < 0.01, found)
    check("the SVG and the PNG show the same", found["ink"] > 500 and found["worst"] < 30 and found["mean"] < 0.6, found)
    references = re.findall(r"""(?:href|src)="(?!data:image/)[^"]*|url\([^)]*|<(?:script|style|foreignObject)|@import""", text)
    check("the SVG contains the photo, and refers to no other file", "data:image/png;base64," in text and not references, references)
    check("the SVG has the directions of texts", text.count('direction="rtl"') > 1, text.count('direction="rtl"'))


#: Returns the least and the greatest value of red, green and blue in the middle row of a picture.
COLORS = """
const image = new Image();
image.src = `data:image/png;base64,${given[0]}`;
await image.decode();
const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
canvas.getContext("2d").drawImage(image, 0, 0);
const { data, width, height } = pixelsOf(canvas), row = Math.floor(height / 2);
return [0, 1, 2].map((channel) => {
  const values = Array.from({ length: width }, (_, x) => data[4 * (row * width + x) + channel]);
  return [Math.min(...values), Math.max(...values)];
});
"""


def check_seams(page, checks):
    """Each pixel is drawn once, even at the edges of tiles and while the tiles are scaled."""
    script(page, """
      board.createDrawing([[-2000, 0], [2000, 0]], { lineWidth: 60, color: "#3b8fd980" });
      // A stroke with different pressures, and one of many points, consist of several paths.
      board.createDrawing(Array.from({ length: 400 }, (_, index) => [index * 10 - 2000, 100]), { lineWidth: 60, color: "#3b8fd980" });
      board.createDrawing(Array.from({ length: 400 }, (_, index) => [index * 10 - 2000, 200, 0.97 + 0.03 * (index % 2)]), { lineWidth: 60, color: "#3b8fd980" });
      Object.assign(camera, { zoom: 1, x: -640.3, y: -400.7 });
      ui.panBy(0, 0);
      await until("the tiles", () => !scene.frame(performance.now()) && document.querySelectorAll("#tiles canvas").length > 4);""")
    for what, change in [("at rest", ""), ("after moving", "ui.panBy(33.4, 21.7);"), ("while they are scaled", "ui.zoomBy(1.37, [600, 400]);")]:
        for y in (0, 100, 200):
            row = script(page, f"{change if y == 0 else ''} await frame(); await frame(); return camera.toScreen([0, given[0]])[1]", y)
            clip = {"x": 0, "y": round(row) - 2, "width": 1280, "height": 5, "scale": 1}
            colors = script(page, COLORS, page.command("Page.captureScreenshot", format="png", clip=clip)["data"])
            is_even = all(greatest - least <= 2 for least, greatest in colors) and colors[0][0] < 200
            checks.check(f"a transparent line at {y} has one color {what}", is_even, colors)


def check_dense(page, checks):
    """A stroke that crosses itself thousands of times is drawn in steps, and without the parts that add nothing visible."""
    page.driver.set_script_timeout(120)
    found = script(page, """
      const { inkLines, PathData } = await import("./geometry.mjs"), { CanvasPainter } = await import("./draw.mjs");
      let seed = 1;
      const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
      const points = Array.from({ length: 65_536 }, () => [1000 * random() - 500, 600 * random() - 300]);
      const lines = (points, most) => inkLines({ points, lineWidth: 5 }, () => new PathData(), most);
      const pieces = lines(points, 64).map(({ path }) => path.data.split(/[LQ]/).length - 1);
      // A line of as many points that does not cross itself is drawn completely.
      const long = Array.from({ length: 65_536 }, (_, index) => [index % 256 * 6, Math.floor(index / 256) * 12]);
      const all = lines(long, 64).reduce((sum, { path }) => sum + path.data.split(/[LQ]/).length - 1, 0);
      const { error } = await otherMember.call("createDrawing", points, { lineWidth: 5, color: "#3b8fd980" });
      await until("the stroke", () => board.objects.get(board.order.at(-1))?.points.length === 65_536);
      let steps = 0;
      const { inkInSteps } = CanvasPainter.prototype;
      CanvasPainter.prototype.inkInSteps = function* (...given) { for (const step of inkInSteps.apply(this, given)) { steps += 1; yield step; } };
      scene.reset();
      ui.fit();
      await until("the tiles", () => !scene.frame(performance.now()) && document.querySelector("#tiles canvas"));
      const canvas = [...document.querySelectorAll("#tiles canvas")][0], { data } = pixelsOf(canvas);
      const inks = new Map();
      for (let index = 3; index < data.length; index += 4) inks.set(data[index], (inks.get(data[index]) ?? 0) + 1);
      const [alpha, share] = [...inks].filter(([alpha]) => alpha).sort((a, b) => b[1] - a[1])[0];
      const id = board.order.at(-1), shown = () => scene.items.find((item) => item.id === id).object;
      let last = shown(), changes = 0;
      const began = performance.now();
      for (let width = 6; width < 12; width += 1) {
        await otherMember.call("restyle", [id], { lineWidth: width });
        await until("the width", () => board.objects.get(id).lineWidth === width);
        await frame();
        if (shown() !== last) changes += 1;
        last = shown();
      }
      const most = 2 + (performance.now() - began) / 1000;
      await until("the last width on the tiles", () => shown().lineWidth === 11);
      return { changes, most, error, pieces: pieces.reduce((a, b) => a + b), most: Math.max(...pieces), all, steps, alpha, share: share / data.length * 4 };""")
    check = checks.check
    check("a dense stroke loses the parts that add nothing", found["pieces"] < 8192 and found["all"] >= 65_535, found)
    check("a path has a limited number of pieces", found["most"] <= 64, found)
    check("a long stroke is drawn in steps", found["steps"] > 20, found)
    check("changes of a long stroke are drawn once in a while", 0 < found["changes"] <= found["most"], found)
    check("a dense transparent stroke has one opacity", found["alpha"] == 128 and found["share"] > 0.3, found)


def check_grid(page, checks):
    """The grid is on the board and in its pictures, and the background too."""
    check = checks.check
    found = script(page, """
      const { picture } = await import("./files.mjs");
      board.createDrawing([[0, 0], [300, 200]], { lineWidth: 2 });
      const count = async () => {
        ui.zoomBy(1 / camera.zoom);
        ui.scene.reset();
        ui.schedule();
        await until("the tiles", () => !scene.frame(performance.now()) && document.querySelector("#tiles canvas"));
        return [...document.querySelectorAll("#tiles canvas")].reduce((sum, canvas) => sum + pixelsOf(canvas).data.filter((value, index) => index % 4 === 3 && value).length, 0);
      };
      const svg = async () => (await picture(ui, "svg", board.order)).text();
      const before = [await count(), (await svg()).includes('opacity="0.15"')];
      board.settings = { ...board.settings, grid: 50, background: "#203040ff" };
      board.dispatchEvent(new CustomEvent("settings", { detail: board.settings }));
      const after = [await count(), (await svg()).includes('opacity="0.15"')];
      board.settings = { ...board.settings, grid: 1 / 64 };
      board.dispatchEvent(new CustomEvent("settings", { detail: board.settings }));
      return [before, after, await count(), getComputedStyle(document.documentElement).getPropertyValue("--paper"), (await svg()).length];""")
    check("a grid is on the board and in an SVG", found[0][1] is False and found[1][1] is True and found[1][0] > found[0][0] + 10_000, found)
    check("a narrow grid shows only some of its lines", 2 * found[1][0] < found[2] < 400_000 and found[4] < 100_000, found)
    check("the board has its background", found[3] == "#203040", found)


def check_corners(page, checks):
    """Corners that were drawn stay, and lines drawn by hand are smooth (`InkTurn`)."""
    found = script(page, """
      const { inkLines, PathData } = await import("./geometry.mjs");
      const square = (side) => [[0, 0], [side, 0], [side, side], [0, side], [0, 0]];
      const circle = Array.from({ length: 65 }, (_, step) => [10 + 10 * Math.cos(step / 32 * Math.PI), 10 + 10 * Math.sin(step / 32 * Math.PI)]);
      const bends = (points) => inkLines({ points, lineWidth: 2 }, () => new PathData()).map(({ path }) => path.data.split("Q").length - 1);
      const stairs = Array.from({ length: 12 }, (_, index) => [8 * Math.ceil(index / 2), 16 * Math.floor(index / 2)]);
      return [[4, 10, 16, 18, 30].map((side) => bends(square(side))[0]), bends(stairs)[0], bends(circle)[0]];""")
    checks.check("small rectangles have corners, stairs of cells and ellipses do not", found == [[0] * 5, 10, 63], found)


#: Returns the columns and the rows of a picture that have ink.
INK = """
const image = new Image();
image.src = `data:image/png;base64,${given[0]}`;
await image.decode();
const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
canvas.getContext("2d").drawImage(image, 0, 0);
const { data, width } = pixelsOf(canvas), columns = new Set(), rows = new Set();
for (let index = 0; index < data.length; index += 4) if (data[index] < 128) { columns.add(index / 4 % width); rows.add(Math.floor(index / 4 / width)); }
return [columns, rows].map((found) => [...found].sort((a, b) => a - b));
"""


def check_right_to_left(page, checks):
    """A text with letters in both directions is at the same place in the field and on the canvas."""
    check = checks.check
    id = script(page, """
      const id = board.createText(given[0], [0, 0]);
      Object.assign(camera, { zoom: 2, x: -camera.width / 4, y: -camera.height / 4 });
      ui.zoomBy(1);
      await until("the tiles", () => scene.items.length === 1);
      ui.editText(id);
      document.activeElement.style.caretColor = "transparent";
      await frame();
      return id;""", "שלום abc 123\nעולם XY")
    clip = {"x": 440, "y": 300, "width": 400, "height": 200, "scale": 1}
    def ink():
        script(page, "await frame(); await frame()")
        return script(page, INK, page.command("Page.captureScreenshot", format="png", clip=clip)["data"])
    field = ink()
    script(page, "ui.stopTyping(); await frame(); while (scene.frame(performance.now())); ui.tools.select.set([])")
    canvas = ink()
    check("the text is the same", page.run("return whiteboard.board.objects.get(arguments[0]).text", id) == "שלום abc 123\nעולם XY")
    for name, one, other in [("columns", field[0], canvas[0]), ("rows", field[1], canvas[1])]:
        ends = [(found[0], found[-1], len(found)) if found else None for found in (one, other)]
        differing = [at for at in set(one) ^ set(other) if not {at - 2, at - 1, at + 1, at + 2} & (set(one) & set(other))]
        check(f"a text in both directions has ink in the same {name} while it is edited", len(one) > 20 and abs(ends[0][0] - ends[1][0]) <= 3
              and abs(ends[0][1] - ends[1][1]) <= 3 and len(differing) <= 6, (ends, differing))


#: Draws white and plain objects on filled shapes, and returns the colors of their middles, before and after the shapes are moved.
CONTRAST = """
const blue = board.createForm("rectangle", [0, 0], { size: [400, 300], fill: "#1971c2ff", color: "#ffffffff", lineWidth: 12 });
const bar = (center, more) => board.createForm("line", center, { points: [[-40, 0], [40, 0]], lineWidth: 12, ...more });
const [white, plain] = [bar([0, -100], { color: "#ffffffff" }), bar([0, -60])], out = bar([190, 60], { color: "#ffffffff" });
const text = board.createText("█████", [0, 0], { color: "#ffffffff", textSize: 32 });
const ink = board.createDrawing([[-40, 100], [40, 100]], { lineWidth: 12, color: "#ffffffff" });
const label = board.createForm("rectangle", [-400, 0], { size: [200, 100], fill: "#000000ff", text: "█████", textSize: 32 });
const colors = async () => {
  const shown = [white, plain, text, ink, label, out].map((id) => camera.toScreen(board.objects.get(id).centerPosition));
  const edge = camera.toScreen(board.objects.get(blue).centerPosition);
  return [...shown, [edge[0], edge[1] - 150 * camera.zoom]];
};
Object.assign(camera, { zoom: 1, x: -640, y: -400 });
ui.panBy(0, 0);
await until("the tiles", () => !scene.frame(performance.now()));
const first = await colors();
globalThis.shapes = { blue, all: [blue, white, plain, text, ink], places: colors };
return first;
"""


def check_contrast(page, checks):
    """Colors are compared with the fills below an object, as in the pictures that the programs save."""
    def seen(places):
        image = page.command("Page.captureScreenshot", format="png")["data"]
        return script(page, """
          const image = new Image();
          image.src = `data:image/png;base64,${given[0]}`;
          await image.decode();
          const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
          canvas.getContext("2d").drawImage(image, 0, 0);
          const { data, width } = pixelsOf(canvas);
          return given[1].map(([x, y]) => data[4 * (Math.round(y) * width + Math.round(x))]);""", image, places)

    def words(values):
        return ["white" if value > 250 else "black" if value < 5 else value for value in values]

    places = script(page, CONTRAST)
    found = words(seen(places))
    checks.check("white stays white on a fill, and on the paper it is black", found == ["white", "black", "white", "white", "white", "black", "white"], found)
    svg = script(page, "const { picture } = await import('./files.mjs'); return (await picture(ui, 'svg', board.order)).text()")
    checks.check("so it is in a saved picture", svg.count('stroke="#ffffff"') == 3 and svg.count('fill="#ffffff"') == 3, svg)
    # If all objects are dragged together, the colors stay.
    script(page, "ui.setTool('select'); ui.tools.select.set(shapes.all); await frame()")
    start = places[2]
    for kind, (x, y) in [("mousePressed", start), ("mouseMoved", (start[0] + 20, start[1] + 130)), ("mouseMoved", (start[0] + 20, start[1] + 150))]:
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1, modifiers=browser.CONTROL)
    script(page, "await frame(); await frame()")
    found = words(seen([(x + 20, y + 150) for x, y in places[:4]]))
    checks.check("colors stay while objects are dragged", found == ["white", "black", "white", "white"], found)
    page.command("Input.dispatchMouseEvent", type="mouseReleased", x=start[0] + 20, y=start[1] + 150, button="left", clickCount=1)
    script(page, "board.move([shapes.blue], [0, 2000]); ui.tools.select.set([]); await until('the tiles', () => !scene.frame(performance.now()))")
    found = words(seen(script(page, "return shapes.places()"))[:4])
    checks.check("without the fill, they are black", found == ["black"] * 4, found)


def opened(address, is_phone, checks, *bodies, **options):
    """Opens a page for each of the checks, and checks that the browser logged no error."""
    for body in bodies:
        page = browser.Page(address, is_phone, **options)
        try:
            page.open()
            body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()


def check_drawing(address, checks, seed):
    opened(address, True, checks, check_style, check_theme, check_names)
    opened(address, False, checks, check_list, check_follow, check_names, check_export, check_right_to_left)
    opened(address, False, checks, check_seams, check_dense, check_grid, check_corners, check_contrast)
    opened(address, False, checks, check_progress, check_unfinished, check_leaving, check_frames)
    opened(address, True, checks, lambda page, checks: check_damage(page, checks, seed, [1, 0.06]))
    opened(address, False, checks, lambda page, checks: check_damage(page, checks, seed, [1, 0.3, 2.7, 0.06]))
