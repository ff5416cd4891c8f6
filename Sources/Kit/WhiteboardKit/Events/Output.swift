import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

extension SharedBoard {
  /// The output that a board passes to its sink, in order. Programs print it as lines of text or JSON.
  package enum Output: Sendable {
    case change(Change, ChangeDetails)
    case news(News)
    case answer(Answer, to: RequestMark? = nil)
  }

  package struct ChangeDetails: Sendable {
    /// The member that made the change, or that the change is about. The value is set even for ``Change/Author/me``,
    /// which has no id.
    package var member: MemberID?
    /// The name in the member's handshake, by which commands find the member; nil if the member was never connected.
    package var name: UntrustedText?
    package var isHidden = false
    /// The data of the added or changed object that readers do not know yet.
    package var object: ReportedObject?
    package var keys: [String]?
    /// The member through which a new member is reached; nil if the new member is reached directly.
    package var route: (member: MemberID, name: UntrustedText)?
    package var departure: Departure?
    package var count: Int?

    package struct Departure: Sendable {
      /// The reason, in one word, such as `left`, `lost`, `kicked` or `shutting-down`.
      package var reason: String
      package var message: UntrustedText?
      /// The number of `send` messages that the peer did not confirm; the answer to each of them is an error.
      package var undelivered: Int
      /// Whether the peer is the host and removed the local member; ``News/removed(_:)`` also reports the removal.
      package var removedUs = false
    }
  }

  /// The answer to a command: its result, then a confirmation that the command ran, or the reason why the command did
  /// not run.
  package enum Answer: Sendable {
    case digest(String, objects: Int)
    case objects(ListedObjects)
    case object(ReportedObject)
    /// The objects in an area. A search for words also finds lines of the chat and members.
    case found([ReportedObject], chat: [ChatLine]? = nil, members: [SyncedMember]? = nil)
    case chat([ChatLine])
    case settings(BoardSettings)
    /// The checkpoints of the board, oldest first, with their times in milliseconds since 1970.
    case checkpoints([(name: String, time: UInt64)])
    /// The differences of objects between two versions, with the keys `change`, `id`, `type`, `before` and `after`; the
    /// later version is nil for the current board.
    case diff(from: String, to: String?, [JSONTree])
    case peers([PeerDescription], connected: Int)
    case saving(SaveState)
    /// News that a command with a request id caused: a profile, a code or link, or whether browsers can join.
    case news(News)
    case help(String)
    case done(CommandName, CommandOutcome)
    case error(CommandError)
  }

  package struct PeerDescription: Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    package var state: News.PeerState.State
    package var address: String?
    /// The id of the peer through which this peer is reached; nil if this peer is reached directly.
    package var through: String?
    package var throughName: UntrustedText?
    /// The role of the peer on an owned board: `editor`, `viewer` or `relay`.
    package var role: String?
    package var admittedBy: String?
    package var admittedByName: UntrustedText?
  }

  package struct SyncedMember: Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    /// The state of the link, for a member that is not synced.
    package var state: News.PeerState.State?
    /// False if the connected member has no board to compare, for example because it runs another program.
    package var hasBoard: Bool?
  }
}

extension SharedBoard.ChangeDetails {
  package init(of member: MemberID, _ name: UntrustedText) { self.init(member: member, name: name) }
}
