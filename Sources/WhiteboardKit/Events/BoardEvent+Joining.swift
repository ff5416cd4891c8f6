import PeerCore

extension BoardEvent {
  /// One step of an attempt to join a board.
  package struct Joining: Encodable, Sendable, Equatable {
    /// The step.
    package var step: Step
    /// The address that the program dials, if there is one.
    package var address: String?
    /// The peer that the program dials, if it is known.
    package var peer: String?
    /// The display name of the peer, if one was announced or sent.
    package var name: UntrustedText?
    /// The name of the board to join, if one was given or announced.
    package var boardName: UntrustedText?

    package init(
      step: Step,
      address: String? = nil,
      peer: String? = nil,
      name: UntrustedText? = nil,
      boardName: UntrustedText? = nil
    ) {
      self.step = step
      self.address = address
      self.peer = peer
      self.name = name
      self.boardName = boardName
    }

    /// The steps of an attempt to join, in their usual order.
    package enum Step: String, Encodable, Sendable {
      /// The program searches for the board on this network.
      case searching
      /// The program dials an address.
      case connecting
      /// The connection was accepted, and the peer has not answered yet.
      case awaitingAnswer = "awaiting-answer"
      /// The program proves that it knows the code.
      case provingCode = "proving-code"
      /// The user of the other program must accept the request.
      case awaitingAcceptance = "awaiting-acceptance"
    }
  }

  /// The local replica has everything that at least one other member has.
  package struct CaughtUp: Encodable, Sendable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: UntrustedText
    /// The number of objects on the board now.
    package var objects: Int
  }

  /// The sync state of a member.
  package struct SyncedMember: Encodable, Sendable, Equatable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: UntrustedText
    /// The state of the link, for a member that is not synced.
    package var state: PeerState.State?
    /// False if the connected member has no board to compare, for example because it runs another program.
    package var hasBoard: Bool?
  }
}
