"""Tests the first join of `whiteboard-peer` to a listener that cannot admit it at once (session.md, 3.6)."""

import time
import unittest

from test_against_swift import SwiftCase
from whiteboard_peer.board import BoardPeer
from whiteboard_peer.links import make_link
from whiteboard_peer.session import Violation

SILENT = "silent"


class SlowHost(BoardPeer):
    """A host that answers the first HELLOs with a close code, or not at all."""

    def __init__(self, *arguments, answers=(), **options):
        self.answers = list(answers)
        self.hellos = []
        super().__init__(*arguments, **options)

    def _welcome(self, link, theirs):
        self.hellos.append(time.monotonic())
        if not self.answers:
            return super()._welcome(link, theirs)
        answer = self.answers.pop(0)
        if answer == SILENT:
            # The other side gives up.
            link.read_frame(30)
            return None
        raise Violation(answer, "")


class FirstJoin(SwiftCase):
    def joined(self, *answers):
        """Returns the program after it joined a host that first gave these answers."""
        self.host = self.peer("host", kind=SlowHost, answers=answers)
        program = self.program("join", make_link(self.host.address, self.host.session, self.host.id))
        program.events.wait("joined", 60, peer=self.host.identity.text)
        self.assertEqual(len(self.host.hellos), len(answers) + 1)
        return program

    def test_liv_3_a_listener_that_does_not_answer_hello_is_dialed_again(self):
        program = self.joined(SILENT)
        (warning,) = [w for w in program.events.all("warning") if w["code"] == "retrying"]
        self.assertNotIn("invitation", warning["message"])

    def test_cls_4_a_busy_listener_is_dialed_again_with_growing_waits(self):
        self.joined("busy", "busy", "busy")
        waits = [after - before for before, after in zip(self.host.hellos, self.host.hellos[1:])]
        for wait, least in zip(waits, (0.2, 0.5, 1)):
            self.assertGreaterEqual(wait, least)

    def test_cls_4_a_code_that_is_not_known_is_an_internal_error_and_dialed_again(self):
        self.joined("no-such-code", "internal-error")

    def test_cls_4_a_listener_that_takes_no_codes_now_is_dialed_again(self):
        self.joined("locked-out")

    def test_hel_7_a_code_for_a_board_that_asks_its_host_gets_advice(self):
        host = self.program("host", "Board", admit="ask")
        link = host.ready()["link"]
        for target in ("{}:{}".format(*host.address), link.split("?")[0]):
            guest = self.program("join", target, code="zebra-acid-acid-zebra")
            self.assertEqual(guest.ended(60), 77)
            self.assertIn("Join again without the code, and compare the words", guest.log)
            self.assertNotIn("did not prove", guest.log)

    def test_cls_4_a_definite_answer_is_final(self):
        for code in ("full", "not-known", "declined", "no-such-session"):
            with self.subTest(code):
                host = self.peer("host", kind=SlowHost, answers=[code] * 9)
                program = self.program("join", make_link(host.address, host.session, host.id))
                self.assertNotEqual(program.ended(30), 0)
                self.assertEqual(len(host.hellos), 1)
                self.assertNotIn("invitation was withdrawn", program.log)

    def test_quit_ends_a_program_that_still_joins(self):
        """Without `anyway`, the commands before `quit` run first. With `anyway`, the answers say that these commands
        cannot run."""
        for first, quitting in ((None, {}), ("objects", {"anyway": True})):
            with self.subTest(first=first):
                host = self.peer("host", kind=SlowHost, answers=[SILENT] * 9)
                program = self.program("join", make_link(host.address, host.session, host.id))
                program.events.wait("joining", 30, step="connecting")
                mark = first and program.begin(first)
                program.begin("quit", **quitting)
                self.assertEqual(program.ended(5), 0)
                if mark:
                    program.events.wait("error", 5, request=mark)


if __name__ == "__main__":
    unittest.main()
