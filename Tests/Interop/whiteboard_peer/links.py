"""Join links: whiteboard://HOST:PORT/BOARD-ID?peer=PEER-ID&pass=PASS#CODE (README.md 2.3)."""

import typing
import urllib.parse

from .wire import base32, parse_base32


DEFAULT_PORT = 26_273


class JoinLink(typing.NamedTuple):
    """The parts of a join link; None for each part that the link lacks."""

    address: tuple
    session: bytes
    peer: bytes | None
    code: str | None
    link_pass: bytes | None


def parse_link(link):
    """Returns the parts of a join link."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme != "whiteboard":
        raise ValueError("not a whiteboard link")
    query = urllib.parse.parse_qs(parts.query)
    peer, link_pass = query.get("peer", [None])[0], query.get("pass", [None])[0]
    return JoinLink(
        (parts.hostname, parts.port or DEFAULT_PORT),
        parse_base32(parts.path.lstrip("/"), 16),
        parse_base32(peer, 32) if peer else None,
        urllib.parse.unquote(parts.fragment) or None,
        parse_base32(link_pass, 16) if link_pass else None,
    )


def make_link(address, session, peer=None, code=None):
    link = f"whiteboard://{address[0]}:{address[1]}/{base32(session)}"
    if peer:
        link += f"?peer={base32(peer)}"
    return link + (f"#{code}" if code else "")
