"""Join links: whiteboard://HOST:PORT/BOARD-ID?peer=PEER-ID#CODE."""

import urllib.parse

from whiteboard_peer.wire import base32, parse_base32


def parse_link(link):
    """(address, session id, peer id or None, code or None)."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme != "whiteboard":
        raise ValueError("not a whiteboard link")
    peer = urllib.parse.parse_qs(parts.query).get("peer", [None])[0]
    return (
        (parts.hostname, parts.port),
        parse_base32(parts.path.lstrip("/"), 16),
        parse_base32(peer, 32) if peer else None,
        urllib.parse.unquote(parts.fragment) or None,
    )


def make_link(address, session, peer=None, code=None):
    link = f"whiteboard://{address[0]}:{address[1]}/{base32(session)}"
    if peer:
        link += f"?peer={base32(peer)}"
    return link + (f"#{code}" if code else "")
