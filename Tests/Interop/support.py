"""Helpers that the tests share."""

import os
import pathlib
import shutil
import tempfile
import unittest

from whiteboard_peer.session import Peer
from whiteboard_peer.tls import Identity

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


class InteropCase(unittest.TestCase):
    """Creates peers and directories, and removes them after the test."""

    def directory(self):
        path = pathlib.Path(tempfile.mkdtemp(prefix="whiteboard-interop-"))
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def peer(self, name="python", session=None, kind=Peer, **options):
        options.setdefault("resource_directory", self.directory())
        peer = kind(options.pop("identity", None) or Identity(), name, session, **options)
        self.addCleanup(peer.leave)
        return peer

    def file(self, size):
        path = self.directory() / "file"
        path.write_bytes(os.urandom(size))
        return path
