"""Browsers that join boards as guests: Chromium, each with a network of its own, and WebKit."""

import base64
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.actions import interaction
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.webkitgtk.options import Options as WebKitOptions

import browser
import overrides
from programs import LAN_NAME, Network, PATIENCE, free_port, until

BOARD = "globalThis.whiteboard?.board"
CHIP = "document.querySelector('#state-text').textContent"
#: The same fonts on each machine.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>{}/fonts</cachedir>
<alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<match target="pattern"><edit name="family" mode="append" binding="strong"><string>DejaVu Sans</string></edit></match></fontconfig>"""
#: WebSockets fail, as in a browser that does not trust the certificate.
NO_WEBSOCKET = """
globalThis.WebSocket = class {
  readyState = 3;
  bufferedAmount = 0;
  constructor() { setTimeout(() => this.onclose?.({})); }
  send() {}
  close() {}
};
"""
#: WebSockets neither open nor fail, as behind a proxy that swallows them.
STUCK_WEBSOCKET = """
globalThis.WebSocket = class {
  readyState = 0;
  bufferedAmount = 0;
  send() {}
  close() {}
};
"""


class BoardPage:
    """The page of a board in a browser that WebDriver controls: `driver`."""

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition, seconds=20):
        """Waits until a JavaScript expression is true."""
        def shown():
            return (f"{self.name} waited for: {condition}\nThe page shows: {self.run('return document.body.innerText')[:400]}\n"
                    f"The board: {self.run(f'return JSON.stringify({BOARD}?.state)')}\n" + "\n".join(self.messages()))
        def holds():
            try:
                return self.run(f"return Boolean({condition})")
            except JavascriptException:
                # An element of the condition is not there yet.
                return False
        until(holds, shown, seconds)

    def visit(self, link):
        """Opens a link, even if only its fragment differs from that of the page."""
        self.driver.get("about:blank")
        self.driver.get(link)

    def enter_name(self):
        """Types the name on the screen of the first visit."""
        self.wait("document.querySelector('#screen input')?.offsetParent")
        self.driver.find_element("css selector", "#screen input").send_keys(self.name)
        self.driver.find_element("css selector", "#screen button.primary").click()

    def join(self, link, is_first=True):
        """Opens a link and waits for the board."""
        self.visit(link)
        if is_first:
            self.enter_name()
        self.wait_open()

    def wait_open(self, seconds=30):
        self.wait(f"{BOARD}?.state.connection === 'open' && whiteboard.board.state.isSynced", seconds)

    def wait_offline(self):
        self.wait(f"{BOARD}.state.connection !== 'open'")

    def wait_object(self, id):
        self.wait(f"{BOARD}?.objects.has({json.dumps(id)})")

    def screen(self, title, seconds=20):
        """Waits for a screen with this title; returns its text."""
        self.wait(f"document.querySelector('#screen h1')?.textContent === {json.dumps(title)} && !document.querySelector('#screen').hidden", seconds)
        return self.run("return document.querySelector('#screen').innerText")

    def reason(self):
        """Opens the dialog about the connection; returns its text."""
        self.run("document.querySelector('dialog')?.close()")
        self.click("#state")
        return self.run("return document.querySelector('dialog').innerText")

    @property
    def digest(self):
        return self.run(f"return {BOARD}?.digest")

    @property
    def peer(self):
        """The id of this guest as native peers write it."""
        member = self.run("return whiteboard.board.me.id")
        return base64.b32encode(bytes.fromhex(member)).decode().lower().rstrip("=")

    def edit(self, script, *arguments):
        """Runs a script with the board, to make changes that would need many touches."""
        return self.run(f"const board = whiteboard.board; {script}", *arguments)

    def objects(self):
        """The objects by id."""
        return {shown["id"]: shown for shown in self.run("return [...whiteboard.board.objects.values()]")}

    def place(self, id):
        """The position of the center of an object on the screen."""
        return self.run("const { board, ui } = whiteboard; return ui.camera.toScreen(board.objects.get(arguments[0]).centerPosition)", id)

    def tool(self, name):
        self.run("whiteboard.ui.setTool(arguments[0])", name)

    def show(self, *ids):
        """Selects exactly these objects."""
        self.run("const { ui } = whiteboard; ui.setTool('select'); ui.tools.select.set(arguments[0])", list(ids))

    def photo_hash(self, sha256):
        """The hash of the bytes that the page has for a photo."""
        return self.driver.execute_async_script(
            "const done = arguments[1];"
            "whiteboard.board.photo(arguments[0]).then((blob) => blob.arrayBuffer())"
            ".then((bytes) => crypto.subtle.digest('SHA-256', bytes)).then((hash) => done("
            "Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')), (error) => done(String(error)))",
            sha256)

    def messages(self):
        """The errors that the browser reported; an empty list if it does not report errors."""
        return []


class Guest(BoardPage, browser.Page):
    """A Chromium that opens the page by the LAN name, on a phone or a desktop screen.

    It reaches the port through a proxy. With `host` instead of `port`, it is on a host of the LAN rig. `trusts` is
    the certificate of an authority to install; with `warns`, the browser has no such certificate, and shows its
    warning. `script` runs at the start of each page."""

    def __init__(
        self,
        folder,
        name,
        port=None,
        host=None,
        is_phone=True,
        is_dark=False,
        trusts=None,
        warns=False,
        script=None,
        page=None,
        disk=None,
    ):
        self.name, self.network = name, Network(port) if port else None
        #: Whether failing requests are normal, because the network or the host fails.
        self.expects_errors = False
        folder.mkdir(parents=True, exist_ok=True)
        words = [
            f"--user-data-dir={folder}/profile", "--lang=en-US", "--font-render-hinting=none", "--force-color-profile=srgb",
        ]
        binary = None
        if host:
            # The driver is not on the host, so it reaches the browser through a pipe. Without an address, the browser would
            # wait for a page from the Internet.
            words.append("--remote-debugging-pipe")
            binary = folder / "chromium"
            binary.write_text(f'#!/bin/sh\nexec nsenter -t {host.first} -n -- /usr/bin/chromium "$@" about:blank\n')
            binary.chmod(0o755)
        else:
            words.append(f"--host-resolver-rules=MAP {LAN_NAME} 127.0.0.1:{self.network.proxy_port}")
        if trusts:
            trust(folder, trusts)
        elif not warns:
            words.append("--ignore-certificate-errors")
        if page:
            # Chromium does not know the network from which a replaced page comes, and would refuse its requests.
            words.append("--disable-features=LocalNetworkAccessChecks")
        (folder / "fonts.conf").write_text(FONTS.format(folder))
        environment = {
            **os.environ, "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC", "FONTCONFIG_FILE": str(folder / "fonts.conf"),
        }
        driver = small_disk(folder, disk) if disk else browser.DRIVER
        super().__init__(
            None, is_phone, is_dark, words=words, environment=environment, binary=binary, driver=driver
        )
        self.driver.set_page_load_timeout(30 * PATIENCE)
        self.driver.set_script_timeout(30 * PATIENCE)
        self.page, self.script = page, script
        self._prepare_tab()

    def _prepare_tab(self):
        if self.page:
            overrides.serve(self.driver, self.page)
        if self.script:
            self.command("Page.addScriptToEvaluateOnNewDocument", source=self.script)

    def open_tab(self):
        """Opens another tab of the same browser, which gets the input from now on; returns its handle."""
        self.driver.switch_to.new_window("tab")
        self._prepare_tab()
        return self.driver.current_window_handle

    def requests(self):
        """The starts of the requests with which this page sent bytes, in milliseconds since the page was loaded."""
        return self.run(r"return performance.getEntriesByType('resource').filter(({ name }) => /\/link\/[a-z2-7]{26}$/.test(name)).map(({ startTime }) => startTime)")

    def messages(self):
        found = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]
        if self.expects_errors:
            found = [
                entry for entry in found
                if entry["source"] != "network" and "WebSocket connection to" not in entry["message"] and "net::ERR_" not in entry["message"]
            ]
        return [entry["message"] for entry in found]

    def close(self):
        super().close()
        if self.network:
            self.network.close()


def trust(folder, certificate):
    """Installs the certificate of an authority for the browser of this home, as a person does on a computer."""
    store = folder / ".pki" / "nssdb"
    store.mkdir(parents=True)
    (folder / "authority.crt").write_bytes(certificate)
    subprocess.run(["certutil", "-N", "-d", f"sql:{store}", "--empty-password"], check=True)
    subprocess.run(["certutil", "-A", "-d", f"sql:{store}", "-n", "whiteboard", "-t", "C,,", "-i", folder / "authority.crt"], check=True)


def small_disk(folder, size):
    """Returns a program that starts Chromium's driver with its own disk for the profile; `size` is as for `mount`."""
    (folder / "profile").mkdir()
    program = folder / "driver"
    program.write_text(
        "#!/bin/sh\n"
        f"exec unshare -Urm sh -c 'mount -t tmpfs -o size={size} tmpfs \"$0\" && exec {browser.DRIVER} \"$@\"' '{folder}/profile' \"$@\"\n")
    program.chmod(0o755)
    return program


def has_small_disks():
    """Whether this system lets a program without rights mount a disk for itself."""
    return subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0


class WebKit(BoardPage):
    """WebKit, the engine of Safari, in its test browser on a display without a screen."""

    @staticmethod
    def lacking():
        """The names of the programs that are not installed."""
        found = {name: shutil.which(name) for name in ("WebKitWebDriver", "Xvfb")} | {"MiniBrowser": WebKit._mini_browser()}
        return [name for name, path in found.items() if not path]

    @staticmethod
    def _mini_browser():
        return next(iter(sorted(glob.glob("/usr/lib/*/webkit2gtk-4*/MiniBrowser"))), None)

    def __init__(self, folder, name):
        self.name = name
        self.processes = []
        folder.mkdir(parents=True, exist_ok=True)
        reader, writer = os.pipe()
        with (folder / "log").open("wb") as log:
            def start(*words, **more):
                # A session of its own, so that all of its processes can be ended.
                self.processes.append(subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, **more))
            try:
                start("Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x900x24", "-nolisten", "tcp", pass_fds=[writer])
                os.close(writer)
                with os.fdopen(reader) as display:
                    number = display.readline().strip()
                environment = {
                    **os.environ, "DISPLAY": f":{number}", "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "LIBGL_ALWAYS_SOFTWARE": "1",
                    "NO_AT_BRIDGE": "1", "GDK_BACKEND": "x11",
                }
                port = free_port()
                start("WebKitWebDriver", f"--port={port}", env=environment)
                until(lambda: is_there(f"http://127.0.0.1:{port}/status"), "WebKitWebDriver did not start")
                options = WebKitOptions()
                options.binary_location = self._mini_browser()
                options.add_argument("--automation")
                options.set_capability("acceptInsecureCerts", True)
                self.driver = webdriver.Remote(f"http://127.0.0.1:{port}", options=options)
            except BaseException:
                self._end()
                raise
        self.driver.set_script_timeout(30 * PATIENCE)

    def drag(self, points):
        """Drags the mouse along the points."""
        actions = ActionBuilder(self.driver, mouse=PointerInput(interaction.POINTER_MOUSE, "mouse"), duration=10)
        actions.pointer_action.move_to_location(*points[0]).pointer_down()
        for point in points[1:]:
            actions.pointer_action.move_to_location(*point)
        actions.pointer_action.pointer_up()
        actions.perform()

    def picture(self):
        return self.driver.get_screenshot_as_png()

    def close(self):
        try:
            self.driver.quit()
        finally:
            self._end()

    def _end(self):
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def is_there(address):
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False
