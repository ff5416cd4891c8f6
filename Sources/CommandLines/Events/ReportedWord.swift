import WhiteboardKit

/// A status word in the output of the programs, such as `saved`, with its guarantee to the user.
///
/// The manual prints all status words. `Protocol/README.md` has the same table with the tests.
package struct ReportedWord: Sendable {
  /// The word, as events and answers spell it.
  package let word: String
  /// The guarantee at the time when the word is reported.
  package let meaning: String
  /// The faults that the guarantee survives, or its limits.
  package let limits: String
  /// The tests that verify the guarantee: names of suites, and paths in the repository.
  package let tests: [String]

  /// All reported words.
  package static let all = [
    ReportedWord(
      word: "done",
      meaning: "The change is on the board and in the board's file.",
      limits: "Survives kill -9. After a power cut the last second may be lost.",
      tests: ["SavingTests", "Tests/Interop/test_saving.py", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "ok: ...",
      meaning:
        "In line mode, ok means the same as done: the command named in the line succeeded.",
      limits: "The same limits as for done.",
      tests: ["SavingTests", "EventLineTests"]
    ),
    ReportedWord(
      word: "done (send)",
      meaning: "The program of every recipient has the message, even if it came through a relay.",
      limits:
        "Survives broken links. A recipient that is killed immediately may not have read the message. "
        + "With --unreliable, it only means that the message was handed to the network.",
      tests: ["SendingTests", "DeliveryTests", "RelayDeliveryTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "undelivered",
      meaning: "The named recipients did not confirm the message and will not.",
      limits: "A recipient may have received it even so. The message is not sent again.",
      tests: ["SendingTests", "MessageDeliveriesTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "delivered",
      meaning: "The receiver has the whole file, and the file matches its hash.",
      limits: "Survives broken links: the transfer continues unless the peer is lost.",
      tests: ["ResourceTests", "Tests/LAN"]
    ),
    ReportedWord(
      word: "not-saved",
      meaning: "The change is on the board and sent to the others, but not on this disk.",
      limits: "The program keeps trying, and reports when everything is saved.",
      tests: ["SavingTests", "Tests/Interop/test_saving.py"]
    ),
    ReportedWord(
      word: "saved",
      meaning: "Every change, photo and member that this program knows of is on this disk.",
      limits: "Survives kill -9. The removal of the file is noticed within 5 s.",
      tests: [
        "PersistenceQueueTests", "SavingTests", "Tests/Terminal/saving.py",
        "Tests/Interop/test_saving.py",
      ]
    ),
    ReportedWord(
      word: "synced",
      meaning:
        "The board is now equal to the board of each named member, and at least one member is named.",
      limits: "Members that are not connected are listed as not synced.",
      tests: ["CatchUpTests", "DivergenceCheckTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "caught-up",
      meaning: "Everything that the named member had when it answered is on this board.",
      limits: "Changes that the member makes later follow immediately.",
      tests: ["CatchUpTests"]
    ),
    ReportedWord(
      word: "whole, ok",
      meaning: "Every byte of the file and of the WAL file was read and checked.",
      limits: "Later damage is not covered.",
      tests: [
        "DamagedFileTests", "WriteAheadLogTests", "Tests/Interop/test_damaged_file.py",
        "Tests/Chaos",
      ]
    ),
    ReportedWord(
      word: "suspect, reconnecting",
      meaning:
        "No data arrived from the peer for 2 s (suspect) or 6 s (reconnecting). Messages to it are kept.",
      limits: "The next report about the peer is connected or left.",
      tests: ["Tests/LAN"]
    ),
    ReportedWord(
      word: "lost",
      meaning: "By the local clock, the peer was unreachable for the time of --lost-after (60 s).",
      limits:
        "A lost member that discovery shows again is connected within 10 s. Other lost members are dialed less "
        + "and less often, for an hour.",
      tests: ["DeliveryTests", "Tests/Chaos"]
    ),
    ReportedWord(
      word: "reset",
      meaning:
        "The peer, or the relay in between, gave up on the connection before this program did.",
      limits: "Messages that were not confirmed are reported as undelivered.",
      tests: ["DeliveryTests", "Tests/Interop"]
    ),
    ReportedWord(
      word: "left",
      meaning: "The peer left the session, for the reported reason.",
      limits:
        "A peer that returns is connected again, whichever side restarted, unless the host removed it (kicked).",
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
