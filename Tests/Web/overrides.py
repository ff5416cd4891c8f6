"""Files of the page from a directory, in place of those in the programs."""

import base64
import json
import pathlib
import subprocess
import threading
import urllib.parse
import urllib.request

import trio
import trio_websocket

from browser import TYPES


def serve(driver, folder):
    """Lets the open tab of a browser load files from the folder, if they are there."""
    address = driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
    with urllib.request.urlopen(f"http://{address}/json") as answer:
        tab = next(target for target in json.load(answer) if target["id"] == driver.current_window_handle)
    is_ready = threading.Event()
    threading.Thread(target=trio.run, args=(_serve, tab["webSocketDebuggerUrl"], pathlib.Path(folder), is_ready), daemon=True).start()
    if not is_ready.wait(10):
        raise TimeoutError("the browser does not let this program replace files")


async def _serve(address, folder, is_ready):
    try:
        async with trio_websocket.open_websocket_url(address, max_message_size=1 << 26) as socket:
            number = 0

            async def send(method, **parameters):
                nonlocal number
                number += 1
                await socket.send_message(json.dumps({"id": number, "method": method, "params": parameters}))

            await send("Network.enable")
            await send("Network.setBypassServiceWorker", bypass=True)
            await send("Fetch.enable", patterns=[{"urlPattern": "https://*", "requestStage": "Request"}])
            while True:
                message = json.loads(await socket.get_message())
                if message.get("id") == 3:
                    is_ready.set()
                if message.get("method") == "Fetch.requestPaused":
                    await _answer(send, message["params"], folder)
    except (trio_websocket.ConnectionClosed, OSError):
        # The browser has ended.
        pass


async def _answer(send, paused, folder):
    name = urllib.parse.urlsplit(paused["request"]["url"]).path.removeprefix("/") or "index.html"
    path, packed = folder / name, folder / f"{name}.br"
    if paused["request"]["method"] != "GET" or "/" in name or not (path.is_file() or packed.is_file()):
        await send("Fetch.continueRequest", requestId=paused["requestId"])
        return
    headers = [{"name": "Content-Type", "value": TYPES.get(path.suffix, "application/octet-stream")}]
    body = path.read_bytes() if path.is_file() else subprocess.run(["brotli", "-dc", packed], capture_output=True, check=True).stdout
    await send("Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200, responseHeaders=headers,
               body=base64.b64encode(body).decode())
