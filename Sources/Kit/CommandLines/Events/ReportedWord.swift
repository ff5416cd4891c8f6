import WhiteboardKit

/// A status word in the output of the programs, such as `saved`, and what it guarantees to the user. The manual prints
/// all status words. `Protocol/README.md` has the same table, and names the tests of each guarantee.
package struct ReportedWord: Sendable {
  package let word: String
  package let meaning: String
  /// The faults that the guarantee survives, or the limits of the guarantee.
  package let limits: String

  package static let all = [
    ReportedWord(
      word: "done",
      meaning: "The change is on the board and in the board's file.",
      limits: "Survives kill -9. A power cut can lose the last second of changes."
    ),
    ReportedWord(
      word: "ok: ...",
      meaning: "In line mode, ok means the same as done: the command named in the line succeeded.",
      limits: "The same limits as for done."
    ),
    ReportedWord(
      word: "done (send)",
      meaning: "The program of every recipient has the message, even if it came through a relay.",
      limits: "Survives broken links. A recipient that is killed immediately might not have read the message. "
        + "With --unreliable, done only means that the message was handed to the network."
    ),
    ReportedWord(
      word: "undelivered",
      meaning: "The named recipients did not confirm the message and will not.",
      limits: "A recipient may still have received the message. The message is not sent again."
    ),
    ReportedWord(
      word: "delivered",
      meaning: "The receiver has the whole file, and its hash matches.",
      limits: "Survives broken links: the transfer continues unless the peer is lost."
    ),
    ReportedWord(
      word: "not-saved",
      meaning: "The change is on the board and was sent to the other members, but it is not saved on this disk.",
      limits: "The program keeps trying, and reports when everything is saved."
    ),
    ReportedWord(
      word: "saved",
      meaning: "Every change, photo and member that this program knows of is saved on this disk.",
      limits: "Survives kill -9. If the file is removed, the program notices this within 5 s."
    ),
    ReportedWord(
      word: "synced",
      meaning: "The board is now equal to the board of each named member, and at least one member is named.",
      limits: "Members that are not connected are listed as not synced."
    ),
    ReportedWord(
      word: "caught-up",
      meaning: "Everything that was on the named member's board when that member answered is on this board.",
      limits: "The member sends its later changes as soon as it makes them."
    ),
    ReportedWord(
      word: "whole, ok",
      meaning: "Every byte of the file and of the WAL file was read and checked.",
      limits: "Damage that happens after the check is not detected."
    ),
    ReportedWord(
      word: "suspect, reconnecting",
      meaning:
        "No data has arrived from the peer for 2 s (suspect) or 6 s (reconnecting). Messages to the peer are queued.",
      limits: "The next event about the peer reports that it is connected again, or that it left."
    ),
    ReportedWord(
      word: "lost",
      meaning: "By the local clock, the peer was unreachable for the time set with --lost-after (by default 60 s).",
      limits: "If discovery finds a lost member again, the program connects to it within 10 s. It dials other lost "
        + "members less and less often, for an hour."
    ),
    ReportedWord(
      word: "reset",
      meaning: "The peer, or the relay in between, gave up on the connection before this program did.",
      limits: "Messages that were not confirmed are reported as undelivered."
    ),
    ReportedWord(
      word: "left",
      meaning: "The peer left the session, for the reported reason.",
      limits:
        "If the peer returns, it is connected again, whichever side restarted, unless the host removed it (kicked)."
    ),
    ReportedWord(
      word: "full",
      meaning:
        "The board has as many peers as its host allows: 16, 128 with --topology star, or the number set with --max-peers.",
      limits: "A relay (--relay auto) supports more peers with less traffic."
    ),
  ]

  package static let text: String = all.map { row in
    "  \(row.word)\n      \(row.meaning)\n      \(row.limits)"
  }.joined(separator: "\n")
}
