"""Tests the example `bot.py` with the real `whiteboard-peer`."""

import pathlib
import subprocess
import sys
import unittest

from test_against_swift import CODE, SwiftCase
from whiteboard_peer.events import PATIENCE

GREETING = "Hello! Write: bot, draw"
BOT = pathlib.Path(__file__).with_name("bot.py")


class Bot(SwiftCase):
    def bot(self, *arguments):
        """Starts the bot, and ends it after the test."""
        bot = subprocess.Popen(
            [sys.executable, "-B", str(BOT), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.addCleanup(bot.stdout.close)
        self.addCleanup(bot.wait)
        self.addCleanup(bot.kill)
        return bot

    def said(self, host, text):
        return host.events.wait("chat", 30, where=lambda event: event["text"] == text)

    def test_it_joins_by_a_link_answers_and_draws_until_the_host_leaves(self):
        host = self.swift_host("code")
        bot = self.bot(host.link)
        joined = host.events.wait("joined", 60, name="bot")
        greeting = self.said(host, GREETING)
        self.assertEqual(greeting["peer"], joined["peer"])
        host.do("say", text="not for the b o t, draw")
        host.do("say", text="Bot, are you there?")
        self.said(host, "You said: are you there?")
        self.assertEqual(host.objects(), [])
        host.do("say", text="bot, draw")
        self.said(host, "Here is a circle.")
        (drawing,) = host.objects()
        self.assertEqual((drawing["type"], len(drawing["points"])), ("drawing", 61))
        self.assertEqual(host.stop(), 0)
        self.assertEqual(bot.wait(30 * PATIENCE), 0, bot.stdout.read())

    def test_it_joins_at_an_address_with_a_code(self):
        host = self.swift_host("code", code=CODE)
        self.bot("127.0.0.1:%d" % host.address[1], CODE)
        host.events.wait("joined", 60, name="bot")
        # The bot answers the lines that follow its greeting.
        self.said(host, GREETING)
        host.do("say", text="bot, hello")
        self.said(host, "You said: hello")

    def test_it_does_not_join_at_an_address_without_a_code(self):
        bot = self.bot("127.0.0.1:1")
        self.assertNotEqual(bot.wait(30 * PATIENCE), 0)
        self.assertIn("a code is needed", bot.stdout.read())


if __name__ == "__main__":
    unittest.main()
