import WhiteboardRendering

extension NodeEvent {
  /// One step of an attempt to join a board.
  package struct Joining: Encodable, Sendable, Equatable {
    /// Which step.
    package var step: Step
    /// The address that is dialled, where there is one.
    package var address: String?
    /// The peer that is dialled, where it is known.
    package var peer: String?
    /// Its name, where one was announced or sent.
    package var name: String?
    /// The name of the board that is looked for, where one was given or announced.
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
      /// The board is looked for on this network.
      case searching
      /// An address is dialled.
      case connecting
      /// The connection is accepted and nothing was answered yet.
      case awaitingAnswer = "awaiting-answer"
      /// The peer is sent a proof of the code.
      case provingCode = "proving-code"
      /// The person at the other end is asked.
      case awaitingAcceptance = "awaiting-acceptance"
    }
  }

  /// The board is here as at least one member has it.
  package struct CaughtUp: Encodable, Sendable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: String
    /// How many objects are on the board now.
    package var objects: Int
  }

  /// A member, and how its board compares with ours.
  package struct SyncedMember: Encodable, Sendable, Equatable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: String
    /// How the link is, of a member that is not synced.
    package var state: PeerState.State?
    /// False of a connected member that has no board to compare, such as another program.
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
      // Without a peer the line about its state names the address.
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

  /// How boards compare, such as `synced with ada, ben; not synced with cy (reconnecting)`.
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

  /// A name by itself, for lines in which it proves nothing; the start of the id where there is none.
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
