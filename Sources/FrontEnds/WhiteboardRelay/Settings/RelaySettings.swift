import CommandLines
import Logging
import PeerSession
import PeerWire
import RelayCluster
import WhiteboardKit

package enum BoardsTaken: String, CaseIterable, Sendable {
  case any
  case allowList = "allow-list"
  /// No boards from other hosts are accepted. The relay serves only the boards that were created on it.
  case none
}

package enum LogStyle: String, CaseIterable, Sendable {
  /// The journald format if standard error is connected to the journal; otherwise, text.
  case auto
  case text, json
}

extension SettingKey<String> {
  package static let relayName = SettingKey(
    "name",
    "The display name of the relay",
    allowed: "a name",
    standard: .words("the host name of the computer"),
    flag: "--name",
    parse: name
  )
  package static let relayDirectory = dataDirectory(
    standard: "$STATE_DIRECTORY, which systemd sets; otherwise $XDG_DATA_HOME/whiteboard/relay or "
      + "~/.local/share/whiteboard/relay"
  )
}

extension SettingKey<BoardsTaken> {
  package static let boards = SettingKey(
    "boards",
    "The peers whose boards are accepted",
    standard: .value("allow-list")
  )
}

extension SettingKey<Logger.Level> {
  /// The default is lower than in other programs, because a relay has no user interface.
  package static let relayLogLevel = SettingKey(
    "log-level",
    "The lowest level of messages to log",
    standard: .value("notice")
  )
}

extension SettingKey<LogStyle> {
  package static let logFormat = SettingKey("log-format", "The format of log lines", standard: .value("auto"))
}

extension SettingKey<[PeerID]> {
  package static let allow = SettingKey(
    "allow",
    "The peers whose boards are accepted if boards = allow-list; if boards = any, these peers are exempt "
      + "from the limits on other peers' boards",
    allowed: "peer ids of 52 characters, separated by commas",
    standard: .words("none")
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

package enum HealthPlace: Equatable, Sendable {
  case at(PeerAddress)
  case nowhere

  package static let standard = HealthPlace.at(PeerAddress(host: "127.0.0.1", port: 26_274))
}

extension SettingKey<HealthPlace> {
  package static let http = SettingKey(
    "http",
    "The address that serves /healthz, /readyz and /metrics",
    allowed: "ADDR:PORT, or none",
    standard: .value("127.0.0.1:26274")
  ) { text throws(SettingFault) in text == "none" ? .nowhere : .at(try PeerAddress(listening: text)) }
}

extension SettingKey<Int> {
  package static let maximumBoards = count("max-boards", "The maximum number of boards", in: 1...10_000, standard: 100)
  package static let maximumBoardsPerHost = count(
    "max-boards-per-host",
    "The maximum number of boards of one peer, if boards = any",
    in: 1...10_000,
    standard: 8
  )
  package static let maximumBoardsPerAddress = count(
    "max-boards-per-address",
    "The maximum number of boards of peers at one IP address (IPv6: one /64), if boards = any",
    in: 1...10_000,
    standard: 16
  )
  package static let reservedBoards = SettingKey(
    "reserved-boards",
    "The number of boards that are reserved for the operator and allowed peers, if boards = any",
    allowed: "a number from 0 to 10000, less than max-boards",
    standard: .words("a tenth of max-boards"),
    parse: number(in: 0...10_000)
  )
  package static let maximumPeople = count(
    "max-people",
    "The maximum number of peers on a board, including the relay",
    in: 2...256,
    standard: 128
  )
  package static let maximumBoardMegabytes = count(
    "max-board-mb",
    "The maximum size of a board's file in megabytes",
    in: 1...1_000_000,
    standard: 1_024
  )
  package static let maximumCopies = count(
    "max-copies",
    "The maximum number of message copies per second for one sender; a message is copied for each receiver",
    in: 100...10_000_000,
    standard: RelayRate().copies
  )
  package static let maximumCopiedMegabytes = count(
    "max-copied-mb",
    "The maximum number of megabytes per second that the relay copies from one member to others",
    in: 1...10_000,
    standard: RelayRate().bytes >> 20
  )
  package static let maximumWaitingMegabytes = count(
    "max-waiting-mb",
    "The maximum number of megabytes queued for a member that reads too slowly",
    in: 1...1_024,
    standard: RelayLimits().queuedBytes >> 20
  )

  private static func count(_ name: String, _ summary: String, in range: ClosedRange<Int>, standard: Int) -> SettingKey<
    Int
  > {
    SettingKey(
      name,
      summary,
      allowed: "a number from \(range.lowerBound) to \(range.upperBound)",
      standard: .value("\(standard)"),
      parse: number(in: range)
    )
  }

  private static func number(in range: ClosedRange<Int>) -> @Sendable (String) throws(SettingFault) -> Int {
    { text throws(SettingFault) in
      guard let number = Int(text), range.contains(number) else { throw SettingFault() }
      return number
    }
  }
}

extension SettingKey<SessionTopology> {
  package static let relayTopology = SettingKey(
    "topology",
    "How the members of boards are connected whose host chose no topology: each with all others, or each only with the "
      + "relay",
    standard: .value("mesh")
  )
}

/// How long an unpinned board is kept without a visitor.
package enum BoardRetention: Equatable, Sendable {
  /// If the host of a board is not on the allow list, the board is kept for ``daysOfStrangers`` days. Every other board
  /// is kept forever.
  case auto
  case never
  case days(Int)

  package static let daysOfStrangers = 90
}

extension SettingKey<BoardRetention> {
  package static let retain = SettingKey(
    "retain",
    "The number of days without a visitor after which a board that is not pinned is removed; auto means "
      + "\(BoardRetention.daysOfStrangers) days if boards = any and the board's host is not in allow, otherwise never",
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

extension SettingKey<[String]> {
  package static let cluster = SettingKey(
    "cluster",
    "The NATS servers through which this relay finds the other relays of its cluster",
    allowed: "addresses like nats://HOST:PORT or tls://HOST:PORT, separated by commas",
    standard: .words("none")
  ) { text throws(SettingFault) in
    let addresses = text.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
    guard !addresses.isEmpty, addresses.allSatisfy(isNATSAddress) else { throw SettingFault() }
    return addresses
  }

  /// The port may be omitted, and a user with a password may precede the host.
  private static func isNATSAddress(_ text: String) -> Bool {
    guard let scheme = ["nats://", "tls://"].first(where: text.hasPrefix) else { return false }
    let parts = text.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false)
    return parts.last.flatMap { HostPort($0, isInLink: true) } != nil
  }
}

extension SettingKey<String> {
  package static let clusterCredentials = SettingKey(
    "cluster-credentials",
    "The file with the credentials for the NATS servers",
    allowed: "a credentials file of NATS",
    standard: .words("none"),
    parse: nonempty
  )
  package static let clusterAuthorities = SettingKey(
    "cluster-ca",
    "The file with the certificates of the authorities that sign the certificates of the NATS servers",
    allowed: "a PEM file",
    standard: .words("the authorities of the operating system"),
    parse: nonempty
  )
  package static let clusterCertificate = SettingKey(
    "cluster-certificate",
    "The file with the certificate of this relay for the NATS servers; requires cluster-key",
    allowed: "a PEM file",
    standard: .words("none"),
    parse: nonempty
  )
  package static let clusterKey = SettingKey(
    "cluster-key",
    "The file with the private key of cluster-certificate",
    allowed: "a PEM file without a password",
    standard: .words("none"),
    parse: nonempty
  )
}

extension ClusterSettings {
  /// Returns `nil` if the relay belongs to no cluster. Throws if the settings contradict each other, if a file cannot be
  /// used, or if this program was built without libnats.
  package init?(_ settings: Settings, name: String) throws(WhiteboardError) {
    func require(_ needed: String, for key: SettingKey<String>) throws(WhiteboardError) {
      guard let origin = settings.origin(key) else { return }
      if case .flag(let name) = origin { throw WhiteboardError(.usage, "\(name) requires --\(needed)") }
      throw WhiteboardError(.badConfiguration, "\(origin.description): \(key.entry.name) requires \(needed)")
    }
    guard let servers = settings.value(.cluster) else {
      let keys: [SettingKey<String>] = [.clusterCredentials, .clusterAuthorities, .clusterCertificate, .clusterKey]
      for key in keys { try require("cluster", for: key) }
      return nil
    }
    guard Self.isSupported else {
      throw WhiteboardError(.badConfiguration, "`cluster` is set, but this program was built without libnats")
    }
    self.init(servers: servers, name: name)
    credentials = settings.value(.clusterCredentials)
    authorities = settings.value(.clusterAuthorities)
    switch (settings.value(.clusterCertificate), settings.value(.clusterKey)) {
    case (nil, nil): break
    case (let chain?, let key?): certificate = (chain, key)
    case (_?, nil): try require("cluster-key", for: .clusterCertificate)
    case (nil, _?): try require("cluster-certificate", for: .clusterKey)
    }
    do throws(ClusterError) { try check() } catch { throw WhiteboardError(.badConfiguration, error.description) }
  }
}

extension SettingEntry {
  package static let ofRelay: [SettingEntry] = [
    SettingKey.relayName.entry, SettingKey.relayDirectory.entry, SettingKey.listen.entry, SettingKey.interface.entry,
    SettingKey.announce.entry, SettingKey.http.entry, SettingKey.boards.entry, SettingKey.allow.entry,
    SettingKey.maximumBoards.entry, SettingKey.maximumBoardsPerHost.entry, SettingKey.maximumBoardsPerAddress.entry,
    SettingKey.reservedBoards.entry, SettingKey.maximumPeople.entry, SettingKey.relayTopology.entry,
    SettingKey.maximumBoardMegabytes.entry,
    SettingKey.maximumCopies.entry, SettingKey.maximumCopiedMegabytes.entry, SettingKey.maximumWaitingMegabytes.entry,
    SettingKey.retain.entry, SettingKey.lostAfter.entry, SettingKey.web.entry, SettingKey.webInvite.entry,
    SettingKey.webPort.entry, SettingKey.webCertificate.entry, SettingKey.webKey.entry, SettingKey.cluster.entry,
    SettingKey.clusterCredentials.entry, SettingKey.clusterAuthorities.entry, SettingKey.clusterCertificate.entry,
    SettingKey.clusterKey.entry, SettingKey.relayLogLevel.entry, SettingKey.logFormat.entry,
  ]
}

/// A limit of a relay, and the behavior when it is exceeded, as shown by `config check`.
package struct RelayBound: Encodable, Sendable {
  package let what: String
  package let limit: String
  package let then: String

  private init(_ what: String, _ limit: String, _ then: String) {
    self.what = what
    self.limit = limit
    self.then = then
  }

  /// Returns all limits of a relay, in the terms of `Protocol/session.md`, section 10.
  package static func all(_ limits: RelayConfiguration.Limits, _ passing: RelayLimits) -> [RelayBound] {
    let isOpen = limits.boards == .any
    let retention =
      switch limits.retention {
      case .auto:
        isOpen ? "\(BoardRetention.daysOfStrangers) days if a peer that is not in `allow` created the board" : "kept"
      case .never: "kept"
      case .days(let days): "\(days) days"
      }
    return [
      RelayBound("boards", "\(limits.maximumBoards)", "further boards are refused"),
      RelayBound(
        "boards of one peer that is not in `allow`",
        isOpen ? "\(limits.maximumBoardsPerHost)" : "none are accepted",
        "further boards are refused"
      ),
      RelayBound(
        "boards of peers at one address that are not in `allow`",
        isOpen ? "\(limits.maximumBoardsPerAddress)" : "none are accepted",
        "further boards are refused"
      ),
      RelayBound(
        "boards of all peers that are not in `allow`",
        isOpen ? "accepted while there are fewer than \(limits.boardsForStrangers) boards" : "none are accepted",
        "\(limits.maximumBoards - limits.boardsForStrangers) boards are reserved for the operator and allowed peers"
      ), RelayBound("peers on a board", "\(limits.maximumPeople)", "further peers are refused (full)"),
      RelayBound(
        "size of a board's file",
        "\(limits.maximumBoardMegabytes) MB",
        "the board's history is deleted; if that is not enough, the board is no longer served"
      ), RelayBound("time without a visitor to a board", retention, "the board is removed, unless it is pinned"),
      RelayBound(
        "message copies made for a member",
        "\(passing.rate.copies) a second",
        "the relay reads from the member more slowly, and disconnects it if this lasts for 10 s (too-fast)"
      ),
      RelayBound(
        "bytes copied for a member",
        "\(passing.rate.bytes >> 20) MB a second",
        "the relay reads from the member more slowly; datagrams beyond the limit are dropped"
      ),
      RelayBound(
        "data that waits for a member",
        "\(passing.queuedBytes >> 20) MB",
        "the member is disconnected from the others, and catches up with a snapshot (overrun)"
      ), RelayBound("time without an acknowledgement from a member", "30 s", "the member is disconnected (too-slow)"),
      RelayBound(
        "connections before admission",
        "\(Limits.pendingConnectionsPerAddress) from an address, \(Limits.pendingConnections) in total",
        "further connections are closed (busy)"
      ),
      RelayBound(
        "wrong codes",
        "\(Limits.wrongProofs) from an address or a key",
        "the address and the key are locked out for 60 s"
      ), RelayBound("bulk links of a member", "\(Limits.bulkLinks)", "further links are closed (busy)"),
      RelayBound("streams of a member", "\(Limits.streams)", "further streams are refused (busy)"),
      RelayBound("transfers of a member", "\(Limits.resources)", "further transfers wait"),
      RelayBound("tunnels of a board", "\(Limits.tunnels)", "further tunnels are closed (busy)"),
    ]
  }
}
