"""Runs the page for browser guests in a headless Chromium, and sends input to it."""

import base64
import http.server
import json
import pathlib
import subprocess
import threading
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESOURCES = ROOT / "Sources" / "FrontEnds" / "WhiteboardWeb" / "Resources"
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'"
)
TYPES = {
    ".html": "text/html; charset=utf-8", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
    ".wasm": "application/wasm", ".webmanifest": "application/manifest+json", ".json": "application/json",
}
FINGERPRINT = ":".join(["4F"] * 32)
LINK = f"#{'a' * 26}.{'ba' * 13}"
ALT, CONTROL, SHIFT = 1, 2, 8
DRIVER = "/usr/bin/chromedriver"


def wasm(path, folder):
    """Returns the path of the replica; if none is given, unpacks the stored replica into the folder."""
    if path:
        return pathlib.Path(path)
    output = pathlib.Path(folder) / "whiteboard.wasm"
    subprocess.run(["brotli", "-d", RESOURCES / "whiteboard.wasm.br", "-o", output], check=True)
    return output


def serve(wasm):
    """Serves the page, with a session whose only other member runs in a worker (`Member`).

    While `is_newer` is set, the server answers no request for the page, and other files are from another version. If
    `has_authority` is not set, the certificate is the host's own. While `needs_brotli` is set, the browser must accept Brotli."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            name = self.path[1:].split("?")[0] or "index.html"
            paths = [HERE / "Member" / name, RESOURCES / name, HERE / name]
            path = wasm if name == "whiteboard.wasm" else next((path for path in paths if path.is_file()), None)
            if self.server.is_newer:
                if name == "index.html":
                    self.close_connection = True
                    return
                path = HERE / "boards.html"
            about = json.dumps({"authority": self.server.has_authority, "fingerprint": FINGERPRINT}).encode()
            body = about if name == "about.json" else path.read_bytes() if path and "/" not in name else None
            is_refused = self.server.needs_brotli and path == wasm and "br" not in self.headers.get("Accept-Encoding", "")
            self.send_response(406 if is_refused else 200 if body is not None else 404)
            self.send_header("Content-Type", TYPES.get(pathlib.Path(name).suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        is_newer = needs_brotli = False
        has_authority = True

        def handle_error(self, *_):
            """Ignores errors, because a page that is closed breaks its connections."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Page:
    """One page in a browser of its own, on a phone or on a desktop."""

    def __init__(
        self, address, is_phone, is_dark=False, downloads=None, words=(), environment=None, binary=None, driver=DRIVER
    ):
        options = webdriver.ChromeOptions()
        if binary:
            options.binary_location = str(binary)
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", *words):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.address = address
        self.driver = webdriver.Chrome(options=options, service=Service(str(driver), env=environment))
        width, height, scale = (390, 844, 3) if is_phone else (1280, 800, 1)
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=is_phone)
        if is_phone:
            self.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        if downloads:
            self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, seconds=20):
        """Waits until a JavaScript expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition}\n" + "\n".join(self.log()))
            time.sleep(0.05)

    def open(self, name="Mia", fragment=LINK, strokes=0, forms=0):
        """Opens the board with a name, and with another member that has drawn strokes, or forms with half as many arrows."""
        self.driver.get(self.address + "/icon.svg")
        self.run("localStorage.setItem('whiteboard.name', JSON.stringify(arguments[0]))", name)
        self.run("Object.entries(arguments[0]).forEach(([key, value]) => sessionStorage.setItem(key, value))", {"strokes": strokes, "forms": forms})
        self.driver.get(f"{self.address}/{fragment}")
        self.wait("globalThis.whiteboard?.board.members.size && whiteboard.board.state.isSynced", 120)

    def log(self):
        """Returns the log messages of the browser, except those about the icon."""
        return [entry["message"] for entry in self.driver.get_log("browser") if "favicon" not in entry["message"]]

    def picture(self):
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    # Input

    def touch(self, kind, *points, **more):
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.command("Input.dispatchTouchEvent", type=kind, touchPoints=fingers, **more)

    def pen(self, kind, x, y, force, **more):
        """Presses, moves or lifts a pen; the force is from 0 to 1."""
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, force=force, pointerType="pen", button="left", buttons=1, clickCount=1, **more)

    def swipe(self, points):
        """Moves one finger along the points; one point is a tap."""
        self.touch("touchStart", points[0])
        for point in points[1:]:
            self.touch("touchMove", point)
        self.touch("touchEnd")

    def pinch(self, steps):
        """Moves two fingers; each step has both positions."""
        self.touch("touchStart", steps[0][0])
        self.touch("touchStart", *steps[0])
        for step in steps[1:]:
            self.touch("touchMove", *step)
        self.touch("touchEnd")

    def tap(self, selector):
        """Taps an element, and waits for its click. Right after a swipe, Chromium may take a tap for the end of the swipe,
        on a busy machine even later; then the tap is repeated, as a person would do."""
        self.run("const { dataset } = document.documentElement; delete dataset.clicked;"
                 "document.querySelector(arguments[0]).addEventListener('click', () => { dataset.clicked = ''; },"
                 " { once: true, capture: true })", selector)
        time.sleep(0.3)
        for attempt in range(3):
            self.swipe([self.center(selector)])
            try:
                return self.wait("'clicked' in document.documentElement.dataset", 3 if attempt < 2 else 20)
            except TimeoutError:
                if attempt == 2:
                    raise

    def center(self, selector):
        return self.run(
            "const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [left + width / 2, top + height / 2]", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def drag(self, points, modifiers=0):
        """Drags the mouse along the points; one point is a click."""
        def send(kind, x, y, **more):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, modifiers=modifiers, **more)
        send("mousePressed", *points[0], buttons=1)
        for point in points[1:]:
            send("mouseMoved", *point, buttons=1)
        send("mouseReleased", *points[-1])

    def right_click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="right", buttons=2, clickCount=1)

    def wheel(self, x, y, delta, modifiers=0):
        self.command("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta, modifiers=modifiers)

    def key(self, key, modifiers=0, code="", commands=()):
        """Presses a key; `commands` are the editing commands of the browser for the key, such as "copy"."""
        text = {"text": key} if len(key) == 1 and not modifiers & (ALT | CONTROL) else {}
        if key == "Enter":
            text = {"text": "\r"}
        number = {"Enter": 13, "Backspace": 8, "Escape": 27, "Delete": 46}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            more = {**text, "commands": list(commands)} if kind == "keyDown" else {}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers, code=code, windowsVirtualKeyCode=number, **more)

    def type(self, text):
        """Inserts text as an input method does."""
        self.command("Input.insertText", text=text)

    def close(self):
        self.driver.quit()
