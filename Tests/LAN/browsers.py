"""Scenarios of browsers, each on a host of its own. Tests/Web has the other tests of the page.

The browsers open the address of the host's machine, and their frames cross the same cables as those of native peers.
"""

import contextlib
import sys
import time

import lan
from peers import expect, for_seconds
from runner import scenario

CUT_FOR = 20.0  # how long a browser has no cable
CHIP = "document.querySelector('#state-text').textContent"


@contextlib.contextmanager
def browsers(scene):
    """Returns a function that starts a Chromium on a host, with the options of `Guest`; ends all of them afterwards."""
    # Only these scenarios need Selenium.
    sys.path.append(str(lan.HERE.parent / "Web"))
    from guest import Guest
    from programs import Late

    with contextlib.ExitStack() as everything:
        def start(host, name, **more):
            guest = Guest(scene.files / name, name, host=host, **more)
            everything.callback(guest.close)
            return guest

        try:
            yield start
        except Late as error:
            raise lan.Late(str(error)) from error


def web_link(peer, host):
    """The link for browsers that contains the address of the host, not its name."""
    links = peer.wait("invited", 15, where=lambda event: any("https:" in link for link in event.get("links", [])))["links"]
    found = [link for link in links if link.startswith(f"https://{host.address}:")]
    expect(len(found) == 1, f"one link with the address {host.address}: {links}")
    return found[0]


def are_equal(natives, guests, within=20):
    """Waits until all boards are equal; returns the texts of all objects."""
    digests = {}

    def equal():
        digests.update({peer: peer.digest() for peer in natives}, **{guest.name: guest.digest for guest in guests})
        return len(set(digests.values())) == 1

    lan.until(equal, within, lambda: f"the boards to be equal: {[(str(key), value) for key, value in digests.items()]}")
    return {one.get("text") for one in natives[0].objects().values()}


def write(natives, guests, when):
    """Adds a text at each member; returns the texts."""
    for peer in natives:
        peer.do("text", at=[0, 0], text=f"{peer.host.name} {when}")
    for guest in guests:
        guest.edit("board.createText(arguments[0], [0, 0])", f"{guest.name} {when}")
    return {f"{name} {when}" for name in [*(peer.host.name for peer in natives), *(guest.name for guest in guests)]}


@scenario(4, limit=180, alone=True)
def two_browsers_and_two_native_peers_merge_after_a_cut_cable_and_a_killed_host(scene):
    host = scene.host(scene.h1, "Team", "--web", data="host")
    for machine in scene.rig.hosts:
        machine.cable(loss=0.01, delay=5, jitter=2, seed=machine.number)
    member = scene.join(scene.h2, "Team", to=host)
    natives = [host, member]
    link = web_link(host, scene.h1)
    with browsers(scene) as start:
        phone, desk = guests = [start(scene.h3, "Phone"), start(scene.h4, "Desk", is_phone=False)]
        for guest in guests:
            guest.join(link)
            for peer in natives:
                peer.wait("joined", 15, name=guest.name)
        expect(phone.run("return location.hostname") == scene.h1.address, "the page comes from the address of h1")

        phone.tool("pen")
        phone.swipe([(60 + step * 6, 300 + step % 9 * 6) for step in range(40)])
        desk.tool("pen")
        desk.drag([(300 + step * 8, 400 + step % 7 * 5) for step in range(40)])
        for number, peer in enumerate(natives):
            peer.do("stroke", points=[[number * 50, 0], [number * 50 + 40, 30], [number * 50, 60]])
        are_equal(natives, guests)
        strokes = [one for one in host.objects().values() if one["type"] == "drawing" and len(one["points"]) > 2]
        expect(len(strokes) == 4, f"everyone drew a stroke: {strokes}")

        for guest in guests:
            guest.expects_errors = True
        scene.h3.unplug()
        began = time.monotonic()
        phone.wait_offline()
        texts, rounds = set(), 0
        while time.monotonic() - began < CUT_FOR:
            rounds += 1
            texts |= write(natives, guests, f"without the cable, {rounds}")
            for_seconds(2, *natives)
        phone.wait(f"{CHIP} === 'Offline: {rounds} changes not sent yet'")
        seen = are_equal(natives, [desk])
        expect(seen & texts == {text for text in texts if not text.startswith("Phone")}, f"the other peers have all texts except the phone's: {seen}")
        expect(phone.digest != desk.digest, "the phone's board differs")
        scene.h3.plug()
        seen = are_equal(natives, guests, 60)
        expect(texts <= seen, f"everything was merged: {texts - seen} are missing")
        phone.wait(f"{CHIP} === 'Synced'", 30)

        host.kill()
        for guest in guests:
            guest.wait_offline()
        texts |= write([member], guests, "without the host")
        again = scene.host(scene.h1, "Team", "--web", data="host")
        natives = [again, member]
        for guest in guests:
            guest.wait_open(60)
        texts |= write(natives, guests, "with the host again")
        seen = are_equal(natives, guests, 60)
        expect(texts <= seen, f"everything is there: {texts - seen} are missing")
        messages = {guest.name: guest.messages() for guest in guests}
        expect(not any(messages.values()), f"the browsers reported errors: {messages}")
