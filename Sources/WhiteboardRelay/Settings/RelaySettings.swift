import Logging
import PeerSession
import WhiteboardNode

/// Which boards a relay takes from others.
package enum BoardsTaken: String, CaseIterable, Sendable {
  /// Anybody's.
  case any
  /// Those of the peers that are allowed.
  case allowList = "allow-list"
  /// Nobody's: it serves those that were made here.
  case none
}

/// How log lines are written.
package enum LogStyle: String, CaseIterable, Sendable {
  /// As journald wants them where standard error is the journal, else as text.
  case auto
  /// A line of words.
  case text
  /// One JSON object a line.
  case json
}

extension SettingKey<String> {
  /// What the relay calls itself.
  package static let relayName = SettingKey(
    "name",
    "What the relay is called",
    allowed: "a name",
    standard: .words("the name of the machine"),
    flag: "--name",
    parse: name
  )
}

extension SettingKey<BoardsTaken> {
  /// Which boards it takes from others.
  package static let boards = SettingKey(
    "boards",
    "Whose boards are taken",
    standard: .value("allow-list")
  )
}

extension SettingKey<Logger.Level> {
  /// How much a relay logs: nobody looks at its screen.
  package static let relayLogLevel = SettingKey(
    "log-level",
    "How much is logged",
    standard: .value("notice")
  )
}

extension SettingKey<LogStyle> {
  /// How log lines are written.
  package static let logFormat = SettingKey(
    "log-format",
    "How log lines are written",
    standard: .value("auto")
  )
}

extension SettingKey<[PeerID]> {
  /// Whose boards are taken.
  package static let allow = SettingKey(
    "allow",
    "Whose boards are taken under allow-list, by their ids; under any, these peers are exempt from the limits for strangers",
    allowed: "peer ids of 52 characters with commas between them",
    standard: .words("nobody's")
  ) { text throws(SettingFault) in
    var peers: [PeerID] = []
    for part in text.split(separator: ",") {
      let id = part.filter { !$0.isWhitespace }
      guard let peer = PeerID(text: id) else { throw SettingFault() }
      peers.append(peer)
    }
    return peers
  }
}

/// Where health and metrics are served, if anywhere.
package enum HealthPlace: Equatable, Sendable {
  /// At this address.
  case at(PeerAddress)
  /// Nowhere.
  case nowhere

  /// Where they are served when nobody says.
  package static let standard = HealthPlace.at(PeerAddress(host: "127.0.0.1", port: 26_274))
}

extension SettingKey<HealthPlace> {
  /// Where health and metrics are told.
  package static let http = SettingKey(
    "http",
    "Where /healthz, /readyz and /metrics are served",
    allowed: "ADDR:PORT, or none",
    standard: .value("127.0.0.1:26274")
  ) { text throws(SettingFault) in
    text == "none" ? .nowhere : .at(try PeerAddress(listening: text))
  }
}

extension SettingKey<Int> {
  /// How many boards there may be.
  package static let maximumBoards = count(
    "max-boards",
    "How many boards there may be",
    in: 1...10_000,
    standard: 100
  )
  /// How many boards a stranger may have.
  package static let maximumBoardsPerHost = count(
    "max-boards-per-host",
    "How many boards of one peer are taken under boards = any",
    in: 1...10_000,
    standard: 8
  )
  /// How many boards all strangers at one address may have.
  package static let maximumBoardsPerAddress = count(
    "max-boards-per-address",
    "How many boards of peers at one IP address (IPv6: one /64) are taken under boards = any",
    in: 1...10_000,
    standard: 16
  )
  /// How many boards no stranger gets.
  package static let reservedBoards = SettingKey(
    "reserved-boards",
    "How many of max-boards are not given to strangers under boards = any",
    allowed: "a number from 0 to 10000, less than max-boards",
    standard: .words("a tenth of max-boards"),
    parse: number(in: 0...10_000)
  )
  /// How many people may be on a board.
  package static let maximumPeople = count(
    "max-people",
    "How many may be on a board, the relay counted",
    in: 2...256,
    standard: 128
  )
  /// How large the file of a board may be.
  package static let maximumBoardMegabytes = count(
    "max-board-mb",
    "How many megabytes the file of a board may have",
    in: 1...1_000_000,
    standard: 1_024
  )
  /// How many copies are made for one member.
  package static let maximumCopies = count(
    "max-copies",
    "How many copies a second are made of what one member sends, one for each other that gets it",
    in: 100...10_000_000,
    standard: RelayRate().copies
  )
  /// How many bytes are copied for one member.
  package static let maximumCopiedMegabytes = count(
    "max-copied-mb",
    "How many megabytes a second are copied for one member",
    in: 1...10_000,
    standard: RelayRate().bytes >> 20
  )
  /// How much waits for a member that does not read.
  package static let maximumWaitingMegabytes = count(
    "max-waiting-mb",
    "How many megabytes from others wait for a member that does not read",
    in: 1...1_024,
    standard: RelayLimits().queuedBytes >> 20
  )

  private static func count(
    _ name: String,
    _ summary: String,
    in range: ClosedRange<Int>,
    standard: Int
  ) -> SettingKey<Int> {
    SettingKey(
      name,
      summary,
      allowed: "a number from \(range.lowerBound) to \(range.upperBound)",
      standard: .value("\(standard)"),
      parse: number(in: range)
    )
  }

  private static func number(
    in range: ClosedRange<Int>
  ) -> @Sendable (String) throws(SettingFault) -> Int {
    { text throws(SettingFault) in
      guard let number = Int(text), range.contains(number) else { throw SettingFault() }
      return number
    }
  }
}

/// How long a board that is not pinned stays without a visitor.
package enum BoardRetention: Equatable, Sendable {
  /// A board of a stranger stays for ``daysOfStrangers``, and every other board for ever.
  case auto
  /// Every board stays.
  case never
  /// Every board stays for so many days.
  case days(Int)

  /// The days that a board of a stranger stays if the operator sets nothing.
  package static let daysOfStrangers = 90
}

extension SettingKey<BoardRetention> {
  /// How long a board without a visitor is kept.
  package static let retain = SettingKey(
    "retain",
    "After how many days without a visitor a board that is not pinned is removed; auto is "
      + "\(BoardRetention.daysOfStrangers) days for boards taken from strangers under boards = any, else never",
    allowed: "a number of days from 1 to 36500, auto, or never",
    standard: .value("auto")
  ) { text throws(SettingFault) in
    switch text {
    case "auto": return .auto
    case "never": return .never
    default:
      guard let days = Int(text), (1...36_500).contains(days) else { throw SettingFault() }
      return .days(days)
    }
  }
}

extension SettingEntry {
  /// The settings of a relay.
  package static let ofRelay: [SettingEntry] = [
    SettingKey.relayName.entry, SettingKey.dataDirectory.entry, SettingKey.listen.entry,
    SettingKey.interface.entry, SettingKey.announce.entry, SettingKey.http.entry,
    SettingKey.boards.entry, SettingKey.allow.entry, SettingKey.maximumBoards.entry,
    SettingKey.maximumBoardsPerHost.entry, SettingKey.maximumBoardsPerAddress.entry,
    SettingKey.reservedBoards.entry, SettingKey.maximumPeople.entry,
    SettingKey.maximumBoardMegabytes.entry,
    SettingKey.maximumCopies.entry, SettingKey.maximumCopiedMegabytes.entry,
    SettingKey.maximumWaitingMegabytes.entry, SettingKey.retain.entry, SettingKey.lostAfter.entry,
    SettingKey.relayLogLevel.entry,
    SettingKey.logFormat.entry,
  ]
}
