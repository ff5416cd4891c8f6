import WhiteboardRendering

extension NodeEvent {
  /// One step of an attempt to join a board.
  package struct Joining: Encodable, Sendable, Equatable {
    /// The step.
    package var step: Step
    /// The address that is dialled, if there is one.
    package var address: String?
    /// The peer that is dialled, if it is known.
    package var peer: String?
    /// Its display name, if one was announced or sent.
    package var name: String?
    /// The name of the board to join, if one was given or announced.
    package var boardName: String?

    package init(
      step: Step,
      address: String? = nil,
      peer: String? = nil,
      name: String? = nil,
      boardName: String? = nil
    ) {
      self.step = step
      self.address = address
      self.peer = peer
      self.name = name
      self.boardName = boardName
    }

    /// The steps, in their usual order.
    package enum Step: String, Encodable, Sendable {
      /// The program searches for the board on this network.
      case searching
      /// An address is dialled.
      case connecting
      /// The connection was accepted, and there is no answer yet.
      case awaitingAnswer = "awaiting-answer"
      /// The program sends a proof of the code.
      case provingCode = "proving-code"
      /// The user of the other program is asked.
      case awaitingAcceptance = "awaiting-acceptance"
    }
  }

  /// This replica has the board of at least one member.
  package struct CaughtUp: Encodable, Sendable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: String
    /// The number of objects on the board now.
    package var objects: Int
  }

  /// A member, and the comparison of its board with the local one.
  package struct SyncedMember: Encodable, Sendable, Equatable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: String
    /// The state of the link, for a member that is not synced.
    package var state: PeerState.State?
    /// False for a connected member that has no board to compare, such as another program.
    package var hasBoard: Bool?
  }
}

/// Lines about joining and catching up.
extension EventText {
  static func joiningLine(_ joining: NodeEvent.Joining) -> String? {
    switch joining.step {
    case .searching:
      joining.boardName.map { "looking for \(TerminalText.quoted($0)) on this network" }
        ?? "looking for a board on this network"
    case .connecting:
      // If the peer is unknown, the line about its state shows the address already.
      joining.peer == nil ? nil : "trying \(address(joining))"
    case .awaitingAnswer: "\(address(joining)) accepted the connection; waiting for an answer"
    case .provingCode: "proving the code"
    case .awaitingAcceptance: "waiting for \(name(joining)) to accept"
    }
  }

  static func caughtUpLine(_ member: NodeEvent.CaughtUp) -> String {
    "up to date with \(shortName(member.name, member.peer)): "
      + count(member.objects, "object")
  }

  /// Returns the sync line, such as `synced with ada, ben; not synced with cy (reconnecting)`.
  static func syncLine(
    _ synced: [NodeEvent.SyncedMember],
    _ others: [NodeEvent.SyncedMember]
  ) -> String {
    let lists = [
      synced.isEmpty ? nil : "synced with \(names(synced))",
      others.isEmpty ? nil : "not synced with \(names(others))",
    ]
    return lists.compactMap { $0 }.joined(separator: "; ")
  }

  private static func names(_ members: [NodeEvent.SyncedMember]) -> String {
    members.map { member in
      let isShared = members.count { $0.name == member.name } > 1
      let name =
        isShared ? person(member.name, member.peer) : shortName(member.name, member.peer)
      return difference(member).map { "\(name) (\($0))" } ?? name
    }
    .joined(separator: ", ")
  }

  private static func difference(_ member: NodeEvent.SyncedMember) -> String? {
    guard member.hasBoard != false else { return "no board" }
    return switch member.state {
    case nil: nil
    case .connected, .suspect: "still different"
    case .connecting, .reconnecting, .lost: member.state?.rawValue
    }
  }

  /// Returns the display name alone, for lines that need no proof of identity; the id prefix if
  /// there is none.
  package static func shortName(_ name: String, _ peer: String) -> String {
    name.isEmpty ? person("", peer) : TerminalText.cleaned(name, limit: 64)
  }

  private static func name(_ joining: NodeEvent.Joining) -> String {
    shortName(joining.name ?? "", joining.peer ?? "the host")
  }

  private static func address(_ joining: NodeEvent.Joining) -> String {
    TerminalText.cleaned(joining.address ?? "", limit: 128)
  }
}
