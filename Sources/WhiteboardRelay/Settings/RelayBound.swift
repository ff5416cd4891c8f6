import PeerSession
import PeerWire

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
