"""Measures how smoothly the page for browser guests draws a full board.

A headless Chromium shows a board with 5,000 strokes of 60 points, on a phone screen with three pixels per point, or on a
desktop. Another member, whose board runs in a worker, draws all the time. In the rows about forms, the board has 10,000
labeled boxes and 5,000 arrows, of which 500 are bound to the first box. Chromium slows down the page's thread by a factor
of 4, except in the rows that say so. It paints without a GPU, so a real device should be faster.
"""

import sys
import time

from bench import Missing, ROOT, quantile
from results import Row, Work, least, most

RECORD = """
globalThis.frames = [];
let last = performance.now();
const record = () => {
  const now = performance.now();
  frames.push(now - last);
  last = now;
  requestAnimationFrame(record);
};
requestAnimationFrame(record);
"""


def frames(page, name, action):
    """The frames per second, and the 99th percentile of the ms per frame, while an action runs."""
    page.run("frames.length = 0")
    action()
    times = page.run("return frames")[1:]
    return {name: 1000 * len(times) / sum(times), f"{name}99": quantile(times, 0.99)}


def shown(is_phone, forms=0):
    """Shows a board, and measures the frames of some actions."""

    def measure(bench):
        try:
            sys.path.insert(0, str(ROOT / "Tests" / "Web"))
            import browser
        except ImportError as error:
            raise Missing(str(error)) from None
        count, strokes = bench.of(forms), 0 if forms else bench.of(5000)
        server = browser.serve(browser.wasm(None, bench.directory))
        page = browser.Page(f"http://127.0.0.1:{server.server_port}", is_phone=is_phone)
        try:
            page.open(strokes=strokes, forms=count if forms else 0)
            page.wait(f"whiteboard.board.objects.size >= {strokes + (count + count // 2 if forms else 0)}", 120)
            page.command("Emulation.setCPUThrottlingRate", rate=4)
            page.run(RECORD)
            page.run("whiteboard.ui.zoomBy(1 / whiteboard.ui.camera.zoom)")
            time.sleep(bench.seconds(4))
            found = frames(page, "nothing", lambda: time.sleep(bench.seconds(3)))
            if forms:
                return found | move_forms(bench, page)
            page.run("otherMember.draw(true)")
            found |= frames(page, "other", lambda: time.sleep(bench.seconds(5)))
            if is_phone:
                rows = [[(60 + step * 3, 300 + row * 60 + step % 7) for step in range(60)] for row in range(4)]
                found |= frames(page, "both", lambda: [page.swipe(row) for row in rows])
                found |= frames(page, "move", lambda: page.pinch(
                    [((150, 300 + step * 4), (250, 300 + step * 4)) for step in range(60)]))
                found |= frames(page, "zoom", lambda: page.pinch([((150 - step, 400), (250 + step, 400)) for step in range(60)]))
            else:
                found |= frames(page, "move", lambda: [page.wheel(600, 400, 20) for _ in range(60)])
                found |= frames(page, "zoom", lambda: [page.wheel(600, 400, -5, browser.CONTROL) for _ in range(60)])
            return found | frames(page, "sharp", lambda: time.sleep(bench.seconds(2)))
        finally:
            page.close()
            server.shutdown()

    return measure


#: Moves the board by some pixels in each frame, in a square, so that new parts of the board become visible all the time.
PAN = """
const [step, count, done] = arguments, turns = [[-1, 0], [0, -1], [1, 0], [0, 1]];
let index = 0;
const move = () => {
  if (index === count) return done();
  const [x, y] = turns[Math.floor(4 * index / count)];
  whiteboard.ui.panBy(x * step, y * step);
  index += 1;
  requestAnimationFrame(move);
};
requestAnimationFrame(move);
"""
#: Drags an object, and records how long each move of the pointer and its frame take: the handling of the move, the functions that the page
#: runs in the frame, and everything after them until the frame is painted. As browsers do, the pointer moves before the functions of the frame
#: run. Also records the time from frame to frame, which is longer than usual if other work of the page delays a frame.
DRAG = """
const [id, count, done] = arguments, { board, ui } = whiteboard, times = [], frames = [], request = requestAnimationFrame.bind(globalThis);
const start = ui.camera.toScreen(board.objects.get(id).centerPosition), event = { pointerType: "mouse" };
let index = 0, work = 0, last = null, ended = null;
globalThis.requestAnimationFrame = (body) => request((now) => {
  const began = performance.now();
  body(now);
  work += performance.now() - began;
});
ui.setTool("select");
ui.tools.select.set([id]);
ui.tools.down(start, event);
// A message that is sent in a frame arrives after it.
const { port1, port2 } = new MessageChannel();
port1.onmessage = () => {
  const began = performance.now(), turn = 6.28 * index / count;
  if (ended !== null) times.push(work + began - ended);
  if (index === count) {
    ui.tools.up(start, event);
    globalThis.requestAnimationFrame = request;
    return done({ times, frames });
  }
  ui.tools.move([[start[0] + 90 * Math.sin(turn), start[1] + 90 * (1 - Math.cos(turn))]], event);
  work = performance.now() - began;
  index += 1;
  request((now) => {
    if (last !== null) frames.push(now - last);
    last = now;
    ended = performance.now();
    port2.postMessage(null);
  });
};
port2.postMessage(null);
"""


def move_forms(bench, page):
    """Moves a board of forms at three zoom factors, and drags the first box."""
    found = {}
    pan = lambda step, count: page.driver.execute_async_script(PAN, step, bench.of(count, 20))
    for name, zoom in (("at100", 1), ("at25", 0.25)):
        page.run("const { ui } = whiteboard; ui.fit(); ui.zoomBy(arguments[0] / ui.camera.zoom)", zoom)
        time.sleep(bench.seconds(3))
        found |= frames(page, name, lambda: pan(8, 300))
    page.run("whiteboard.ui.fit()")
    time.sleep(bench.seconds(5))
    found |= frames(page, "all", lambda: pan(8, 240))
    page.run("const { ui } = whiteboard; ui.reveal(arguments[0]); ui.zoomBy(0.5 / ui.camera.zoom)", first(page))
    time.sleep(bench.seconds(3))
    for name, rate in (("drag", 4), ("drag-full", 1)):
        page.command("Emulation.setCPUThrottlingRate", rate=rate)
        dragged = page.driver.execute_async_script(DRAG, first(page), bench.of(240, 20))
        times, gaps = dragged["times"], dragged["frames"]
        found |= {name: quantile(times, 0.5), f"{name}99": quantile(times, 0.99), f"{name}-frame99": quantile(gaps, 0.99)}
        time.sleep(bench.seconds(3))
    return found


def first(page):
    """The id of the first box."""
    return page.run("return [...whiteboard.board.objects.values()].find(({ text }) => text === 'Step 0').id")


ACTIONS = {"nothing": "nothing happens", "other": "another member draws", "both": "both draw", "move": "the board moves",
           "zoom": "the board zooms", "sharp": "the tiles become sharp", "at100": "the board moves at 100 %",
           "at25": "the board moves at 25 %", "all": "the board moves with all objects in view"}


def rows(where, *names, rate=None):
    """The frames per second, with a goal, and the 99th percentile of a frame for each action."""
    return tuple(row for name in names for row in (
        Row(name, f"{where}, {ACTIONS[name]}: frames per second",
            least(rate) if rate and name not in ("sharp", "nothing") else None,
            "Painting and compositing without a GPU take about 60 % of the time (2026-11-26)."),
        Row(f"{name}99", f"{where}, {ACTIONS[name]}: ms per frame, p99")))


WORKS = (
    Work("page-phone", 40, shown(True), rows("phone", "nothing", "other", "both", "move", "zoom", "sharp", rate=60)),
    Work("page-desktop", 28, shown(False), rows("desktop", "nothing", "other", "move", "zoom", "sharp")),
    Work("page-forms", 45, shown(False, 10_000), rows("desktop with 10,000 forms", "at100", "at25", "all", rate=30) + (
        Row("drag", "drag of a box with 500 arrows: ms for a move and its frame, p50"),
        Row("drag99", "drag of a box with 500 arrows: ms for a move and its frame, p99"),
        Row("drag-frame99", "drag of a box with 500 arrows: ms from frame to frame, p99"),
        Row("drag-full", "the same drag, page not slowed down: ms for a move and its frame, p50"),
        Row("drag-full99", "the same drag, page not slowed down: ms for a move and its frame, p99", most(16),
            "Chromium paints without a GPU on the same cores, which takes most of the time."),
        Row("drag-full-frame99", "the same drag, page not slowed down: ms from frame to frame, p99"))),
)
