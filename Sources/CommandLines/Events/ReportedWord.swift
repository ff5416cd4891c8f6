import WhiteboardKit

/// A word with which the programs report the state of the user's work, such as whether it is saved, and its guarantee.
///
/// The manual prints these rows, and `Protocol/README.md` has the same table with the tests.
package struct ReportedWord: Sendable {
  /// The word, as events and answers spell it.
  package let word: String
  /// The guarantee that the word gives at the time of the report.
  package let meaning: String
  /// The faults that the guarantee survives, or its limits.
  package let limits: String
  /// The tests that show the guarantee: suites, and files or directories of the repository.
  package let tests: [String]

  /// All reported words.
  package static let all = [
    ReportedWord(
      word: "done",
      meaning: "The change is on the board and in the board's file.",
      limits: "Survives kill -9. After a power cut the last second may be lost.",
      tests: ["NodeSavingTests", "Tests/Interop/test_saving.py", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "ok: ...",
      meaning: "In line mode: the same as done. The command that follows it succeeded.",
      limits: "The same as for done.",
      tests: ["NodeSavingTests", "EventLineTests"]
    ),
    ReportedWord(
      word: "done (send)",
      meaning: "The process of every recipient holds the message, also behind a relay.",
      limits: "Survives broken links. A recipient that is killed right after may not have read it. "
        + "With --unreliable: the message was given to the network.",
      tests: ["SendingTests", "DeliveryTests", "RelayDeliveryTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "undelivered",
      meaning: "The named recipients did not confirm the message and will not.",
      limits: "They may have received it. The message is not sent again.",
      tests: ["SendingTests", "MessageDeliveriesTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "delivered",
      meaning: "The receiver of a file has all of it, and its hash is right.",
      limits: "Survives broken links: the transfer continues while the peer is not lost.",
      tests: ["ResourceTests", "Tests/LAN"]
    ),
    ReportedWord(
      word: "not-saved",
      meaning: "The change is on the board and sent to the others, but not on this disk.",
      limits: "The program keeps trying, and reports when everything is saved.",
      tests: ["NodeSavingTests", "Tests/Interop/test_saving.py"]
    ),
    ReportedWord(
      word: "saved",
      meaning: "Every change, photo and member that this program knows of is on this disk.",
      limits: "Survives kill -9. A file that is removed is noticed within 5 s.",
      tests: [
        "PersistenceQueueTests", "SavingTests", "Tests/Terminal/saving.py",
        "Tests/Interop/test_saving.py",
      ]
    ),
    ReportedWord(
      word: "synced",
      meaning: "The board equals that of each named member now, and there is at least one.",
      limits: "Members that are not connected are named as not synced.",
      tests: ["CatchUpTests", "DivergenceCheckTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "caught-up",
      meaning: "Everything that the named member had when it answered is on this board.",
      limits: "Later changes follow as they are made.",
      tests: ["CatchUpTests"]
    ),
    ReportedWord(
      word: "whole, ok",
      meaning: "Every byte of the file and of the log beside it was read and checked.",
      limits: "Later damage is not covered.",
      tests: [
        "DamagedFileTests", "WriteAheadLogTests", "Tests/Interop/test_damaged_file.py",
        "Tests/Chaos",
      ]
    ),
    ReportedWord(
      word: "suspect, reconnecting",
      meaning: "No data arrived from the peer for 2 s or 6 s. Messages to it are kept.",
      limits: "The next word is connected or left.",
      tests: ["Tests/LAN"]
    ),
    ReportedWord(
      word: "lost",
      meaning: "The peer was not reachable for --lost-after (60 s) on this side's clock.",
      limits:
        "A member that discovery shows again is connected within 10 s. Other members are dialed less "
        + "and less often, for an hour.",
      tests: ["DeliveryTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "reset",
      meaning: "The peer, or the relay in between, gave up the connection first.",
      limits: "Messages that were not confirmed are reported as undelivered.",
      tests: ["DeliveryTests", "Tests/Interop"]
    ),
    ReportedWord(
      word: "left",
      meaning: "The peer left the session, for the reported reason.",
      limits:
        "It is connected again when it returns, whichever side restarted, unless the host removed it (kicked).",
      tests: ["MembershipModelTests", "Tests/LAN", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "full",
      meaning: "The board holds as many peers as its host allows: 16, or --max-peers.",
      limits: "A relay (--relay auto) supports more peers with less traffic.",
      tests: ["Tests/Interop/test_against_swift.py"]
    ),
  ]

  /// The rows as lines for a page of the manual.
  package static let text: String = all.map { row in
    "  \(row.word)\n      \(row.meaning)\n      \(row.limits)\n      Tests: "
      + row.tests.joined(separator: ", ") + "."
  }.joined(separator: "\n")
}
