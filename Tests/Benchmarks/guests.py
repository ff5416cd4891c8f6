"""Measures a board with many browser guests on one host, and opens the page on a phone-size screen.

The host is the real program. Each guest is a complete board as in the page: a replica in a WebAssembly instance of its
own, a key, and a WebSocket to the host under the machine's LAN name. Only the drawing on the screen is omitted. A headless
Chromium runs the guests in a few pages. Some guests draw all the time; the others wait for the finished strokes. At the
end, all boards must be equal.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

from bench import ROOT, quantile
from results import Row, Work, most

RESOURCES = ROOT / "Sources" / "FrontEnds" / "WhiteboardWeb" / "Resources"
LAN_NAME = f"{socket.gethostname().split('.')[0].lower()}.local"
# A person draws 20 points at 60 Hz, and then moves the pen to the next stroke.
POINTS, FRAME, PAUSES = 20, 1000 / 60, (150, 350)

JOIN = """
const [fragment, count, done] = arguments;
(async () => {
  const [{ Board }, { parseFragment, codeKeyBytes }] = await Promise.all([import("/board.mjs"), import("/weblink.mjs")]);
  const module = globalThis.replica ??= await WebAssembly.compileStreaming(fetch("/whiteboard.wasm"));
  const { board, secret } = parseFragment(fragment);
  const codeKey = await crypto.subtle.importKey(
    "raw", await codeKeyBytes(secret, board), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  globalThis.guests = [];
  await Promise.all(Array.from({ length: count }, async () => {
    const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
    const guest = await Board.open({
      origin: location.origin, board, keys, codeKey, name: "Guest", module, storage: null, transport: "websocket",
    });
    const seen = {}, problems = [];
    guest.addEventListener("objects", ({ detail: { changed } }) => {
      const now = Date.now();
      for (const id of changed) if (guest.objects.get(id)?.isFinished) seen[id] ??= now;
    });
    guest.addEventListener("notice", ({ detail }) => problems.push(JSON.stringify(detail)));
    guest.addEventListener("state", () => {
      const { connection, code, failure } = guest.state;
      if (connection !== "open" && connection !== "connecting") problems.push(`${connection} ${code} ${failure ?? ""}`);
    });
    guests.push({ guest, seen, problems, ended: {} });
    while (!guest.state.isSynced) await new Promise((resolve) => setTimeout(resolve, 20));
  }));
})().then(() => done(document.hidden ? "the page is hidden" : null), (error) => done(String(error.stack)));
"""

# Draws until the time has passed. `Date.now` is the same clock in all pages.
DRAW = """
const [index, seconds, points, frame, pauses] = arguments;
const { guest, ended } = guests[index];
const until = performance.now() + seconds * 1000;
let id, step = 0, place = [0, 0], due = performance.now();
const next = () => {
  if (step === 0) {
    if (due >= until) return;
    place = [Math.random() * 2000 - 1000, Math.random() * 2000 - 1000];
    id = guest.beginStroke();
  }
  place = [place[0] + Math.random() * 20, place[1] + Math.random() * 20 - 10];
  guest.showPresence({ cursor: place });
  guest.extendStroke(id, [place]);
  due += frame;
  if (++step === points) {
    guest.endStroke(id);
    ended[id] = Date.now();
    step = 0;
    due += pauses[0] + Math.random() * (pauses[1] - pauses[0]);
  }
  setTimeout(next, due - performance.now());
};
next();
"""

# Draws complete strokes, slowly enough for the limits of the host.
FILL = """
const [count, points, done] = arguments;
const { guest } = guests[0];
let left = count;
const next = () => {
  for (let some = Math.min(left, 25); some > 0; some--, left--) {
    let place = [Math.random() * 2000 - 1000, Math.random() * 2000 - 1000];
    guest.createDrawing(Array.from({ length: points }, () => place = [place[0] + Math.random() * 20, place[1] + Math.random() * 20 - 10]));
  }
  if (left) setTimeout(next, 50);
  else done();
};
next();
"""

# Runs before the scripts of the page: sets the name, and notes the time when the board is ready.
WATCH = """
localStorage.setItem("whiteboard.name", JSON.stringify("Mia"));
globalThis.times = {};
let value;
Object.defineProperty(globalThis, "whiteboard", {
  get: () => value,
  set(now) {
    value = now;
    times.ready = performance.now();
    const note = () => { if (value.board.state.isSynced) times.synced ??= performance.now(); };
    value.board.addEventListener("state", note);
    value.board.addEventListener("objects", ({ detail: { changed } }) => {
      if ([...changed].some((id) => value.board.objects.get(id)?.author === value.board.me.id)) times.drawn ??= performance.now();
    });
    note();
  },
});
"""


def free_port():
    """A port that no program uses now."""
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        return taken.getsockname()[1]


class Host:
    """The real host, driven by its JSON lines."""

    def __init__(self, program, folder, guests):
        self.events = []
        self.changed = threading.Condition()
        words = ["run", "-", "--host", "bench", "--web", "--web-port", str(free_port()), "--listen", "0.0.0.0:0", "--json", "--keep-going", "--as", "Host",
                 "--no-announce", "--max-peers", str(max(64, guests + 8)), "--data-dir", folder]
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        links = self.event("invited", code=None)["links"]
        self.link = next(link for link in links if link.startswith(f"https://{LAN_NAME}:"))
        self.origin, self.fragment = self.link.split("/#")
        self.fragment = f"#{self.fragment}"

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()

    def event(self, kind, since=0, **keys):
        end = time.monotonic() + 30
        with self.changed:
            while True:
                for event in self.events[since:]:
                    if event["event"] == kind and all(event.get(key) == value for key, value in keys.items()):
                        return event
                if time.monotonic() > end or self.process.poll() is not None:
                    raise TimeoutError(f"no event {kind}; the last ones: {self.events[-3:]}")
                self.changed.wait(0.5)

    @property
    def digest(self):
        since = len(self.events)
        self.process.stdin.write('{"verb": "digest"}\n')
        self.process.stdin.flush()
        return self.event("digest", since)["digest"]

    @property
    def memory(self):
        """The resident and the anonymous memory in MB. The anonymous memory does not include the program file, which is
        mapped."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        field = lambda name: int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) / 1000
        return field("Rss"), field("Anonymous")

    @property
    def seconds(self):
        return processor_seconds(self.process.pid)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def processor_seconds(pid):
    """The processor time of a process."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descendants(pid):
    """The ids of a process and of all processes that it started."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            pass  # The process has ended.
    found = [pid]
    for parent in found:
        found += [child for child, its_parent in parents.items() if its_parent == parent]
    return found


def chromium(*words):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--ignore-certificate-errors",
                 "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
                 "--disable-backgrounding-occluded-windows", f"--host-resolver-rules=MAP {LAN_NAME} 127.0.0.1", *words):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.set_script_timeout(120)
    return driver


class Lateness:
    """The delay of a timer in an idle process during the measurement, which the machine itself adds."""

    def __enter__(self):
        self.times, self.is_over = [], False
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        return self

    def _run(self):
        while not self.is_over:
            due = time.monotonic() + 0.02
            time.sleep(0.02)
            self.times.append((time.monotonic() - due) * 1000)

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


class Guests:
    """Browser guests in a few pages of one Chromium."""

    def __init__(self, host, count, pages):
        self.host = host
        self.driver = chromium()
        self.pages = []
        for number in range(pages):
            if number:
                self.driver.switch_to.new_window("window")
            self.driver.get(f"{host.origin}/icon.svg")
            self.pages.append(self.driver.current_window_handle)
            share = count * (number + 1) // pages - count * number // pages
            problem = self.driver.execute_async_script(JOIN, host.fragment, share)
            if problem:
                raise RuntimeError(problem)

    def fill(self, count):
        """Lets one guest draw a number of complete strokes."""
        self.driver.execute_async_script(FILL, count, POINTS)
        self.wait_equal()

    def each(self, script, *arguments):
        """Runs a script in each page, and returns the results."""
        results = []
        for page in self.pages:
            self.driver.switch_to.window(page)
            results.append(self.driver.execute_script(script, *arguments))
        return results

    def wait_equal(self, seconds=60):
        """Waits until all boards are equal."""
        end = time.monotonic() + seconds
        while True:
            digests = {digest for page in self.each("return guests.map(({ guest }) => guest.digest)") for digest in page}
            if digests == {self.host.digest}:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"the boards differ: {len(digests)} digests; " + str(self.problems()))
            time.sleep(0.2)

    def problems(self):
        return [problem for page in self.each("return guests.flatMap(({ problems }) => problems)") for problem in page]

    def draw(self, count, seconds):
        """Lets one guest in each of the first pages draw. Returns how many arrivals are missing, and the latency of each stroke
        at each other guest."""
        for page in self.pages[:count]:
            self.driver.switch_to.window(page)
            self.driver.execute_script(DRAW, 0, seconds, POINTS, FRAME, PAUSES)
        time.sleep(seconds + 2)
        ended, guests = {}, []
        for page in self.each("return guests.map(({ seen, ended }) => ({ seen, ended }))"):
            for guest in page:
                ended.update(guest["ended"])
                guests.append(guest)
        pairs = [(guest["seen"].get(id), at) for id, at in ended.items() for guest in guests if id not in guest["ended"]]
        lost = sum(seen is None for seen, _ in pairs)
        return lost, [seen - at for seen, at in pairs if seen is not None]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A guest that vanishes stays a member for a while, which would affect the next measurement.
        try:
            for page in self.pages:
                self.driver.switch_to.window(page)
                self.driver.execute_async_script("Promise.all(guests.map(({ guest }) => guest.close())).then(arguments[0])")
            time.sleep(0.5)
        finally:
            self.driver.quit()


def opening(host, throttling):
    """Opens the link in a new browser, and draws as soon as the board is ready. Returns the times, in ms."""
    driver = chromium()
    try:
        command = driver.execute_cdp_cmd
        command("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True})
        command("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
        command("Emulation.setCPUThrottlingRate", {"rate": throttling})
        command("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        driver.get(host.link)
        wait(driver, "times.ready")
        for kind, points in (("touchStart", [(150, 400)]), *(("touchMove", [(150 + 4 * step, 400)]) for step in range(1, 20)), ("touchEnd", [])):
            command("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})
        wait(driver, "times.drawn && times.synced")
        times = driver.execute_script("return times")
        # A page that is closed leaves the session immediately. A page that vanishes with its browser would stay a
        # member for a while.
        driver.switch_to.new_window("tab")
        blank, page = driver.current_window_handle, driver.window_handles[0]
        driver.switch_to.window(page)
        driver.close()
        driver.switch_to.window(blank)
        time.sleep(0.5)
        return times
    finally:
        driver.quit()


def wait(driver, condition, seconds=60):
    end = time.monotonic() + seconds
    while not driver.execute_script(f"return Boolean({condition})"):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.01)


def sizes(host):
    """The bytes of the text files with gzip and of the replica with brotli, as the host sends them."""
    # Python cannot resolve the LAN name; the host checks only the header.
    address = host.origin.replace(LAN_NAME, "127.0.0.1")
    context = ssl._create_unverified_context()

    def size(name):
        headers = {"Host": host.origin.removeprefix("https://"), "Accept-Encoding": "gzip, br"}
        with urllib.request.urlopen(urllib.request.Request(f"{address}/{name}", headers=headers), context=context) as answer:
            return len(answer.read())

    texts = [path.name for path in RESOURCES.iterdir() if path.suffix != ".br"]
    return sum(map(size, texts)), size("whiteboard.wasm")

PAGES, DRAWING, THROTTLING = 4, 2, 4


@contextlib.contextmanager
def hosted(bench, guests):
    """A host that ends with the block."""
    host = Host(bench.program("whiteboard-peer"), bench.directory, guests)
    try:
        yield host
    finally:
        host.stop()


def guests(count, strokes=0):
    """Lets two of some guests draw for 15 seconds on a board that has some strokes."""

    def measure(bench):
        number = bench.few(count)
        with hosted(bench, number) as host:
            if strokes:
                with Guests(host, 1, 1) as filling:
                    filling.fill(bench.of(strokes))
            time.sleep(bench.seconds(2))
            empty = host.memory
            with Guests(host, number, bench.few(PAGES)) as joining:
                joining.wait_equal()
                time.sleep(bench.seconds(5))
                joined = host.memory
                browser = descendants(joining.driver.service.process.pid)
                used = lambda: (host.seconds, sum(map(processor_seconds, browser)))
                before, began = used(), time.monotonic()
                with Lateness() as lateness:
                    lost, times = joining.draw(min(DRAWING, len(joining.pages)), bench.seconds(15))
                wall = time.monotonic() - began
                cores = [(after - start) / wall for after, start in zip(used(), before)]
                joining.wait_equal()
                drawn, problems = host.memory, joining.problems()
        if lost or problems:
            raise RuntimeError(f"{lost} strokes did not arrive; problems: {problems}")
        return {"p50": quantile(times, 0.5), "p99": quantile(times, 0.99), "late": quantile(lateness.times, 0.99),
                "empty": empty[0], "joined": (joined[0] - empty[0]) / number, "drawn": (drawn[0] - empty[0]) / number,
                "host": cores[0], "browser": cores[1]}

    return measure


def opened(bench):
    """Opens the link once; also gets the sizes of the files."""
    with hosted(bench, 1) as host:
        times = opening(host, THROTTLING)
        text, wasm = sizes(host)
    return {"ready": times["ready"], "drawn": times["drawn"], "synced": times["synced"], "text": text, "wasm": wasm}


def rows(count, strokes=0):
    """The rows of a board with guests."""
    at = f"{count} guests" + (f", {strokes:,} strokes on the board" if strokes else "")
    return (
        Row("p50", f"{at}: from a stroke's end to another guest's board, p50, ms"),
        Row("p99", f"{at}: from a stroke's end to another guest's board, p99, ms", most(150),
            "In most late arrivals, the main thread of a page was stalled, because other programs used both cores."),
        Row("late", f"{at}: delay of a timer in an idle process meanwhile, p99, ms"),
        Row("empty", f"{at}: memory of the host before they join, MB"),
        Row("joined", f"{at}: additional memory of the host for each, MB", most(2)),
        Row("drawn", f"{at}: additional memory of the host for each after the drawing, MB", most(2)),
        Row("host", f"{at}: processor time while two draw, cores of the host"),
        Row("browser", f"{at}: processor time while two draw, cores of the browser with all guests"))


GROWN = "The goal was set before forms, labels, connectors, frames, votes and comments were added. CI limits the size."
PHONE = "from opening the link on a phone-size page, 4 times slower, until"
WORKS = (
    Work("opening", 8, opened, (
        Row("ready", f"{PHONE} the board is ready, ms"),
        Row("drawn", f"{PHONE} the first stroke is on the board, ms", most(3000),
            "Reading and compiling the scripts and the WebAssembly takes most of it on the slowed thread."),
        Row("synced", f"{PHONE} the board is synced, ms"),
        Row("text", "all text files of the page with gzip, bytes", most(100_000), GROWN),
        Row("wasm", "the WebAssembly module with brotli, bytes", most(300_000), GROWN))),
    Work("guests-8", 33, guests(8), rows(8)), Work("guests-32", 40, guests(32), rows(32)),
    Work("guests-32-strokes", 55, guests(32, 5000), rows(32, 5000)),
)
