"""Checks of a board with many objects, of photos and drawings of other programs, and of members who type at the same time."""

import browser
from browser import CONTROL, SHIFT
from page_arranging import DROP, PASTE, board_objects, element, pasted, toasts
from page_drawing import script
from page_forms import clear, count, near, object_of

#: More objects than one command could affect in earlier versions: labeled boxes, and half as many arrows.
FORMS = 2800
#: A picture that is red on the left, blue on the right, and green in its upper left corner, if it is rotated as its
#: orientation in the file demands.
TURNED = {
    "png": "iVBORw0KGgoAAAANSUhEUgAAAFAAAAB4CAIAAADqjOKhAAAAGmVYSWZNTQAqAAAACAABARIAAwAAAAEABgAAAAAAANZnS2kAAAC5SURBVHic7dtBDcNADADBu+Ar3IIIrJC4tNJ6BoDlld/ea91rkuvfC/ya4DrBdYLrBNcJrhNcJ7hOcJ3gOsF1gusE1wmuE1wnuE5wneA6wXWC6wTXCa4TXCe4TnCd4DrBdYLrBNcJrtuzPg8HXlhwneA6wXWC6wTXCa4TXCe4TnCd4DrBdYLrBNcJrhNcJ7huXPBe32Oz7s+xUe8Zd2HBdYLrBNcJrhNcJ7hOcJ3gOsF1gusE140LfgAaZARGd38rGwAAAABJRU5ErkJggg==",
    "webp": "UklGRnIAAABXRUJQVlA4WAoAAAAIAAAATwAAdwAAVlA4TDEAAAAvT8AdABcwtGLBZFj5X2GJBZNh5X+FNf/BnWEwE4CMkoSUUwG2K6L/E4B3ldPtqLIBAEVYSUYaAAAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAA=",
}
#: Counts the paths and the lines of text that are painted from now on.
COUNT = """
globalThis.painted = 0;
for (const name of ["fill", "stroke", "fillText"]) {
  const original = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...values) {
    painted += 1;
    return original.apply(this, values);
  };
}
"""


def check_many(page, checks):
    """A board of thousands of objects paints only what becomes visible, and all of it can be changed at once."""
    check, total = checks.check, FORMS * 3 // 2
    page.wait(f"whiteboard.board.objects.size === {total}", 120)
    page.driver.set_script_timeout(120)
    page.run(COUNT)
    rested = script(page, """
      ui.setTool("select");
      Object.assign(camera, { zoom: 1, x: 2000, y: 2000 });
      ui.panBy(0, 0);
      await until("the tiles", () => !scene.frame(performance.now()));
      await frame();
      painted = 0;
      for (let index = 0; index < 10; index += 1) { ui.drawLive(); await frame(); }
      return painted;""")
    check("a view that rests paints nothing", rested == 0, rested)
    moved = script(page, """
      painted = 0;
      for (let index = 0; index < 128; index += 1) { ui.panBy(-8, 0); await frame(); }
      await until("the tiles", () => !scene.frame(performance.now()));
      return painted;""")
    # A screen of 1,280 by 800 pixels has about 45 boxes of 3 parts and 22 arrows of 2 parts. Parts at borders are on several
    # tiles.
    check("a view that moves paints the objects that become visible", 50 < moved < 1000, moved)
    one = script(page, """
      const [x, y] = camera.center, distance = ({ object: { centerPosition: [u, v] } }) => Math.hypot(u - x, v - y);
      const id = scene.items.filter(({ object }) => object.form === "rectangle").sort((one, other) => distance(one) - distance(other))[0].id;
      painted = 0;
      board.move([id], [10, 10]);
      await until("the change", () => painted);
      await frame(); await frame();
      return painted;""")
    check("a change paints its neighborhood", 0 < one < 100, one)
    page.key("a", CONTROL)
    page.wait(f"whiteboard.ui.tools.select.selection.size === {total}", 60)
    check("all objects are selected", toasts(page) == "", toasts(page))
    before = page.run("return whiteboard.board.objects.get(whiteboard.board.order[0]).centerPosition")
    page.key("ArrowRight", SHIFT)
    after = page.run("return whiteboard.board.objects.get(whiteboard.board.order[0]).centerPosition")
    check("all are moved", near(after, [before[0] + 20, before[1]]), (before, after))
    page.key("Delete")
    page.wait("whiteboard.board.objects.size === 0", 60)
    page.run("whiteboard.ui.undo()")
    page.wait(f"whiteboard.board.objects.size === {total}", 60)
    check("all are deleted, and restored by one undo step", toasts(page) == "", toasts(page))
    page.driver.set_script_timeout(30)


def check_photos(page, checks):
    """Photos of other members are turned as their files say, and a drawing can contain WebP."""
    check = checks.check
    clear(page)
    for kind, text in TURNED.items():
        colors = script(page, """
          const bytes = Uint8Array.from(atob(given[0]), (letter) => letter.charCodeAt(0));
          let id;
          // Boards have no WebP, so this page converts it.
          if (given[1] === "webp") {
            await ui.addPhotos([new File([bytes], "photo.webp", { type: "image/webp" })], [0, 0]);
            id = board.order.at(-1);
          } else ({ result: id } = await otherMember.call("createPhoto", bytes, [0, 0]));
          await until("the photo", () => board.objects.get(id) && ui.photos.get(board.objects.get(id)));
          const object = board.objects.get(id), bitmap = ui.photos.get(object), canvas = document.createElement("canvas"), context = canvas.getContext("2d", { willReadFrequently: true });
          Object.assign(canvas, { width: 120, height: 80 });
          context.drawImage(bitmap, 0, 0, 120, 80);
          const color = (x, y) => {
            const [r, g, b] = context.getImageData(x, y, 1, 1).data;
            return r > 150 && r > g && r > b ? "red" : b > 150 ? "blue" : g > 100 ? "green" : "other";
          };
          board.remove([id]);
          return { size: object.size, colors: [color(4, 4), color(30, 60), color(90, 40)] };""", text, kind)
        check(f"a photo is turned as its file says: {kind}", isinstance(colors, dict) and colors["colors"] == ["green", "red", "blue"] and near([colors["size"][0] / colors["size"][1]], [1.5], 0.01), colors)
    clear(page)
    page.driver.execute_script(PASTE, {"text/plain": script(page, """
      const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 30 });
      canvas.getContext("2d").fillRect(0, 0, 20, 30);
      const picture = { ...given[0], fileId: "f", status: "saved", scale: [1, 1] };
      return JSON.stringify({ type: "excalidraw", version: 2, elements: [picture], files: { f: { id: "f", mimeType: "image/webp", created: 0, dataURL: canvas.toDataURL("image/webp") } } });""",
        element("p", "image", width=200, height=150))})
    page.wait("whiteboard.board.objects.size === 1")
    (photo,) = board_objects(page)
    check("the WebP of a drawing becomes a photo", photo["type"] == "photo" and near(photo["size"], [200, 150]) and "left out" not in toasts(page), (photo, toasts(page)))
    clear(page)


def check_typists(page, checks):
    """Two members type in the same label; both keep their letters."""
    check = checks.check
    clear(page)
    id = page.run("return whiteboard.board.createForm('rectangle', [0, 0], { size: [300, 100], text: '-' })")
    page.run("whiteboard.ui.setTool('select'); whiteboard.ui.editText(arguments[0])", id)
    for index in range(6):
        page.type("p")
        script(page, """
          const { result } = await otherMember.call("setText", given[0], "q".repeat(given[1]) + "-" + "p".repeat(given[1]), "q".repeat(given[1] - 1) + "-" + "p".repeat(given[1]));""", id, index + 1)
    page.key("Escape")
    page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
    text = object_of(page, id)["text"]
    check("both keep their letters", text.count("p") == text.count("q") == 6 and len(text) == 13, text)


def check_composing(page, checks):
    """Another member edits a label while an input method composes a word in it."""
    clear(page)
    id = page.run("return whiteboard.board.createForm('rectangle', [0, 0], { size: [300, 100], text: '-' })")
    page.run("whiteboard.ui.setTool('select'); whiteboard.ui.editText(arguments[0])", id)
    page.command("Input.imeSetComposition", text="かん", selectionStart=2, selectionEnd=2)
    script(page, "await otherMember.call('setText', given[0], 'Ada:-', '-'); await frame(); await frame()", id)
    page.command("Input.insertText", text="漢")
    page.key("Escape")
    page.wait("whiteboard.board.state.isSynced && !whiteboard.board.state.pending")
    text = object_of(page, id)["text"]
    checks.check("a composed word and the words of another member are kept", "Ada:" in text and "漢" in text and "かん" not in text and text.count("-") == 1, text)


#: A flowchart with everything that the page can read.
CHART = """---
title: Login
---
%% a comment
flowchart TD
    A[Start] --> B{Is it<br>working?}
    B -->|Yes| C(Ship it); B -- No --> D[[Debug]]
    C & D -.-> F[("Database #quot;x#quot;")]
    F ==> A
    F --o G
    subgraph one [Later]
      G ~~~ H
    end
    style A fill:#ff99ff,stroke:#333
    class C red
    classDef red fill:#ffc9c9
    H --> H
    click H href "https://example.org/?a=1" _blank
    !! this is not understood
"""


#: Flowcharts with mistakes or rare features: for each, its labels, the number of its lines, and the words about losses.
UNUSUAL_CHARTS = [
    ("A --> B\nthis line means nothing\nhello world --> A\nC -->\nD[open\nend", ["A", "B"], 1, ["not understood were left out (5)"]),
    ("A --> B\nclass X red\nstyle Y fill:#f00\nclick Z \"https://example.org\"", ["A", "B"], 1, ["boxes that do not exist were left out (3)"]),
    ("%%{\n init: {}\n}%%\nA[\"one\n  two\"] --> B[\"`**bold**\n  next`\"] %% a comment\nB -- \"a -- b\" --> A", ["one\ntwo", "bold\nnext"], 2, ["settings of the chart were left out (1)"]),
    ("A[\"I #9829; &amp; <span style='x'>y</span>, a < b\"] --> C++\nB[fa:fa-car Car] --> done?", ["I ♥ & y, a < b", "C++", "Car", "done?"], 2, ["icons were left out (1)"]),
    ("A e1@--> B\ne1@{ animate: true }\naccDescr {\n several words\n}\nC@{\n  shape: diamond\n  label: \"Sure, why?\"\n}", ["A", "B", "Sure, why?"], 1, ["has nothing for were left out (2)"]),
    ("one --> two\nsubgraph one [First]\nA\nend\nsubgraph two\nB\nend\nB --> one", ["First", "two", "A", "B"], 2, []),
]


def check_flowcharts(page, checks):
    """Flowcharts of Mermaid are pasted and dropped as shapes and arrows."""
    check = checks.check
    clear(page)
    objects = pasted(page, 16, PASTE, {"text/plain": CHART})
    page.wait("document.querySelector('#toasts').textContent")
    shown = toasts(page)
    nodes = {one["text"]: one for one in objects if one["form"] not in ("arrow", "line")}
    lines = [one for one in objects if one["form"] in ("arrow", "line")]
    forms = {text: one["form"] for text, one in nodes.items()}
    check("a flowchart has its shapes and labels", forms == {
        "Start": "rectangle", "Is it\nworking?": "diamond", "Ship it": "rounded", "Debug": "rectangle", 'Database "x"': "rounded", "G": "rectangle", "H": "rectangle", "Later": "frame"}, forms)
    check("and its colors", nodes["Start"]["fill"] == "#ff99ffff" and nodes["Start"]["color"] == "#333333ff" and nodes["Ship it"]["fill"] == "#ffc9c9ff", nodes)
    check("and its links", nodes["H"].get("link") == "https://example.org/?a=1", nodes["H"])
    names = {one["id"]: text for text, one in nodes.items()}
    ends = {(names[one["startBinding"]["id"]], names[one["endBinding"]["id"]]): one for one in lines}
    yes, back = ends["Is it\nworking?", "Ship it"], ends['Database "x"', "Start"]
    check("lines are bound to the shapes", len(ends) == 8 and yes["text"] == "Yes" and back["lineWidth"] == 4 and ends["Debug", 'Database "x"']["lineStyle"] == "dashed"
          and ends['Database "x"', "G"]["lineEnd"] == "dot" and ends["H", "H"], {ends: one.get("text") for ends, one in ends.items()})
    layers = [nodes[name]["centerPosition"][1] for name in ("Start", "Is it\nworking?", "Ship it", 'Database "x"', "G")]
    check("the layers are below each other", layers == sorted(set(layers)) and near([nodes["Ship it"]["centerPosition"][1]], [nodes["Debug"]["centerPosition"][1]]), layers)
    check("the shapes of a subgraph are in its frame", [name for name, one in nodes.items() if one.get("frame") == nodes["Later"]["id"]] == ["G", "H"], nodes)
    check("a message says what was lost", "16 objects were added" in shown and "not understood" in shown and "similar ones (2)" in shown, shown)
    check("a drawing that fits on the screen does not change the zoom", page.run("return whiteboard.ui.camera.zoom") == 1)
    page.run("whiteboard.ui.tools.select.set([]); whiteboard.ui.fit()")
    checks.picture(page, "paste-mermaid")
    clear(page)
    page.run("whiteboard.ui.zoomBy(4)")
    objects = pasted(page, 16, PASTE, {"text/plain": CHART})
    outside = page.run("""const { board, ui: { camera } } = whiteboard, { left, top, right, bottom } = camera.area;
      return [...board.objects.values()].filter(({ centerPosition: [x, y] }) => x < left || x > right || y < top || y > bottom).length""")
    check("a drawing that is larger than the screen is shown completely", outside == 0, outside)
    for chart, labels, lines, lost in UNUSUAL_CHARTS:
        clear(page)
        page.run("document.querySelector('#toasts').replaceChildren()")
        objects = pasted(page, len(labels) + lines, PASTE, {"text/plain": f"flowchart TD\n{chart}"})
        page.wait("document.querySelector('#toasts').textContent")
        texts = [one["text"] for one in objects if one["form"] not in ("arrow", "line")]
        check(f"a flowchart with mistakes, or with what few have: {labels}", sorted(texts) == sorted(labels) and all(words in toasts(page).lower() for words in lost), (texts, toasts(page)))
    clear(page)
    objects = pasted(page, 16, PASTE, {"text/plain": CHART})
    page.run("whiteboard.ui.undo()")
    check("pasting a flowchart is one undo step", count(page) == 0, count(page))
    objects = pasted(page, 3, DROP, [["chart.mmd", "", "graph LR\n  a --> b"]])
    check("a dropped flowchart goes to the right", objects[0]["centerPosition"][0] < objects[1]["centerPosition"][0] and near([objects[0]["centerPosition"][1]], [objects[1]["centerPosition"][1]]), objects)
    clear(page)
    objects = pasted(page, 1, PASTE, {"text/plain": "graph theory --> is fun"})
    check("other words that begin like a flowchart are a text", objects[0]["type"] == "text", objects)
    clear(page)


def check_cases(address, checks):
    for bodies, forms in [((check_many,), FORMS), ((check_photos, check_flowcharts, check_typists, check_composing), 0)]:
        page = browser.Page(address, False)
        try:
            page.open(forms=forms)
            for body in bodies:
                body(page, checks)
            errors = page.log()
            checks.check("no error", not errors, errors)
        finally:
            page.close()
