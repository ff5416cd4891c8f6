import PeerSession
import PeerWire

/// Something that a relay bounds, and what happens beyond it: what `config check` tells of.
package struct RelayBound: Encodable, Sendable {
  /// The bounded quantity.
  package let what: String
  /// How much of it there may be.
  package let limit: String
  /// The behavior beyond the limit.
  package let then: String

  private init(_ what: String, _ limit: String, _ then: String) {
    self.what = what
    self.limit = limit
    self.then = then
  }

  /// Everything that a relay bounds, in the words of `Protocol/session.md`, 10.
  ///
  /// - Parameters:
  ///   - limits: What its operator set for boards.
  ///   - passing: What its operator set for members.
  /// - Returns: A bound a row.
  package static func all(
    _ limits: RelayConfiguration.Limits,
    _ passing: RelayLimits
  ) -> [RelayBound] {
    let isOpen = limits.boards == .any
    let retention =
      switch limits.retention {
      case .auto: isOpen ? "\(BoardRetention.daysOfStrangers) days if a stranger made it" : "stays"
      case .never: "stays"
      case .days(let days): "\(days) days"
      }
    return [
      RelayBound("boards", "\(limits.maximumBoards)", "no further one is made or taken"),
      RelayBound(
        "boards of one stranger",
        isOpen ? "\(limits.maximumBoardsPerHost)" : "none are taken",
        "no further one is taken"
      ),
      RelayBound(
        "boards of strangers at one address",
        isOpen ? "\(limits.maximumBoardsPerAddress)" : "none are taken",
        "no further one is taken"
      ),
      RelayBound(
        "boards of all strangers",
        isOpen
          ? "as long as there are fewer than \(limits.boardsForStrangers) boards"
          : "none are taken",
        "the last \(limits.maximumBoards - limits.boardsForStrangers) are for the operator and allowed peers"
      ),
      RelayBound(
        "people on a board",
        "\(limits.maximumPeople)",
        "the next is told that it is full"
      ),
      RelayBound(
        "the file of a board",
        "\(limits.maximumBoardMegabytes) MB",
        "its history is dropped; one that stays larger is served no more"
      ),
      RelayBound(
        "a board without a visitor",
        retention,
        "it is removed, unless it is pinned"
      ),
      RelayBound(
        "copies made for a member",
        "\(passing.rate.copies) a second",
        "it is read more slowly; after 10 s without a pause it is dropped: too-fast"
      ),
      RelayBound(
        "bytes copied for a member",
        "\(passing.rate.bytes >> 20) MB a second",
        "as above; datagrams beyond it are dropped"
      ),
      RelayBound(
        "waiting for a member",
        "\(passing.queuedBytes >> 20) MB",
        "it is cut off from the others and catches up by a snapshot: overrun"
      ),
      RelayBound("a member that acknowledges nothing", "30 s", "it is dropped: too-slow"),
      RelayBound(
        "connections short of admission",
        "\(Limits.pendingConnectionsPerAddress) of an address, \(Limits.pendingConnections) in all",
        "further ones are closed: busy"
      ),
      RelayBound(
        "wrong codes",
        "\(Limits.wrongProofs) of an address or a key",
        "both are locked out for 60 s"
      ),
      RelayBound("bulk links of a member", "\(Limits.bulkLinks)", "further ones are closed: busy"),
      RelayBound("streams of a member", "\(Limits.streams)", "further ones are refused: busy"),
      RelayBound(
        "transfers of a member",
        "\(Limits.resources)",
        "further ones wait for their turn"
      ),
      RelayBound("tunnels of a board", "\(Limits.tunnels)", "further ones are closed: busy"),
    ]
  }
}
