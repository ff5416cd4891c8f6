"""Joins a board for a program, for example `bot.py`."""

import socket
import tempfile

from . import views
from .board import BoardPeer
from .links import JoinLink, parse_link
from .session import ANY_SESSION
from .tls import Identity


def join_board(invitation, code=None, *, name="python", identity=None, kind=BoardPeer):
    """Joins a board, and waits until its contents have arrived.

    `invitation` is a join link, or HOST:PORT with the code of the board. Without a link that names the host's key, only
    a code proves that the host is the right one (ADM-1). Files of other members are refused.

    Returns the peer; leave the board with its method `leave`.
    """
    if "://" in invitation:
        link = parse_link(invitation)
    else:
        host, _, port = invitation.rpartition(":")
        link = JoinLink((host, int(port)), ANY_SESSION, None, None, None)
    code = code or link.code
    if link.peer is None and not code:
        raise ValueError("the host's key is not known: a code is needed")
    folder = tempfile.TemporaryDirectory(prefix="whiteboard-python-")
    board = kind(
        identity or Identity(), name, link.session, address=local_address(link.address), resource_directory=folder.name
    )
    # The folder is removed when the peer is no longer referenced.
    board.folder = folder
    board.accept_resource = board.is_requested
    try:
        board.wait_synced(board.join_patiently(link.address, link.peer, code=code))
    except BaseException:
        board.leave()
        raise
    return board


def local_address(target):
    """Returns the local IPv4 address from which packets to a target leave."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(target)
        return probe.getsockname()[0]


def new_lines(board):
    """Yields (author, text) of each chat line that other members write from now on, until no member is left."""

    def lines():
        entries = views.chat_entries(board.state, board.records)
        return {identifier: (author, text) for _, identifier, author, text in entries if author != board.id}

    def is_alone():
        return not any(remote.delivery for remote in board.remotes.values())

    with board.condition:
        seen = set(lines())
    while True:
        with board.condition:
            board.condition.wait_for(lambda: lines().keys() - seen or is_alone())
            new = {identifier: line for identifier, line in lines().items() if identifier not in seen}
        if not new:
            return
        seen.update(new)
        yield from new.values()
