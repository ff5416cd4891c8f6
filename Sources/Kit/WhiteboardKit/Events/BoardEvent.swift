import PeerCore
import Whiteboard
import WhiteboardSync

/// An event of a board, which programs print as a line.
///
/// The payloads have the keys of the `--json` output. Text from other peers is
/// `UntrustedText`. The JSON output contains the text unchanged, apart from JSON escapes.
package enum BoardEvent: Sendable {
  /// The board is open, and other peers can join it.
  case ready(Ready)
  case peerFound(FoundBoard)
  case peerUpdated(FoundBoard)
  case peerLost(LostBoard)
  case peerState(PeerState)
  case joining(Joining)
  /// The local replica has everything that another member has.
  case caughtUp(CaughtUp)
  case invitation(Invitation)
  case joined(Joined)
  case left(Left)
  case removed(Removed)
  /// The way in which the local peer admits newcomers changed.
  case admission(Admission)
  case carried(Carried)
  case objectAdded(ObjectChange)
  case objectChanged(ObjectChange)
  case objectRemoved(ObjectRemoved)
  case selected(Selected)
  case chat(Chat)
  case settingChanged(SettingChanged)
  /// A member changed its name or icon; also the answer to `profile`.
  case profile(Profile)
  case invited(Invited)
  /// Browsers can now join the board, or can no longer join; also the answer to `web`.
  case web(Web)
  case role(Role)
  /// An application message arrived.
  case data(Received)
  /// A member offers a file; `accept` or `decline` answers the offer.
  case resourceOffered(ResourceOffered)
  case resourceStarted(ResourceStarted)
  /// A resource transfer made progress; emitted at most ten times a second.
  case resourceProgress(ResourceProgress)
  case resourceFinished(ResourceFinished)
  case streamOpened(StreamOpened)
  case streamData(StreamData)
  case streamClosed(StreamClosed)
  case digest(Digest)
  case objects(ObjectList)
  case object(Shown)
  case found(Found)
  case chatHistory(ChatHistory)
  case settings(Settings)
  /// The save state changed: some work is not saved on disk, or all work is saved again. Also the answer to `save`.
  case saveState(Saving)
  case checkpoints(Checkpoints)
  case diff(Diff)
  case peers(Peers)
  case done(Done)
  case error(CommandError)
  case note(Remark)
  case warning(Remark)
}

extension BoardEvent {
  /// The save state: whether the work on the board is on disk.
  package struct Saving: Sendable {
    /// `saved`, `saving`, `not-saved` or `off`.
    package var state: String
    /// The code of the cause, if some work is not saved.
    package var cause: String?
    package var message: String?
    /// Another file that contains all of the work, if there is one.
    package var copy: String?
    package var request: RequestMark?

    init(_ state: SaveState, request: RequestMark? = nil) {
      self.state =
        switch state {
        case .off: "off"
        case .saved: "saved"
        case .saving: "saving"
        case .notSaved: "not-saved"
        }
      cause = state.problem?.cause.rawValue
      message = state.problem?.message
      copy = state.problem?.copy
      self.request = request
      shown = state
    }

    package let shown: SaveState
  }
}

extension BoardEvent {
  package struct Joining: Sendable, Equatable {
    package var step: Step
    /// The address that the program dials, if there is one.
    package var address: String?
    /// The peer that the program dials, if it is known.
    package var peer: String?
    /// The display name of the peer, if one was announced or sent.
    package var name: UntrustedText?
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

    package enum Step: String, Sendable {
      case searching
      /// The program dials an address.
      case connecting
      /// The connection was accepted, and the peer has not answered yet.
      case awaitingAnswer = "awaiting-answer"
      case provingCode = "proving-code"
      /// The user of the other program must accept the request.
      case awaitingAcceptance = "awaiting-acceptance"
    }
  }

  package struct CaughtUp: Sendable {
    package var peer: String
    package var name: UntrustedText
    package var objects: Int
  }

  package struct SyncedMember: Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    /// The state of the link, for a member that is not synced.
    package var state: PeerState.State?
    /// False if the connected member has no board to compare, for example because it runs another program.
    package var hasBoard: Bool?
  }
}

/// `member` is the name of the member with its id prefix, safe to display.
extension BoardEvent.Remark {
  /// Returns the warning that the boards of a member and of the local peer differ although both have the same changes.
  static func diverged(from member: String) -> Self {
    Self(
      code: "diverged",
      message: "The boards here and at \(member) differed although both had received the same "
        + "changes. They are being made equal again."
    )
  }

  /// Returns the warning that the board has no room for the changes of a member.
  static func boardFull(for member: String) -> Self {
    Self(
      code: "board-full",
      message: "There is no room here for some changes by \(member): the board is full, or an "
        + "author has written the most that one author may write. Purge deleted objects on either "
        + "side. The missing data then arrives within a minute."
    )
  }

  /// Returns the warning that some photos of an author exceed the limits, and are not requested.
  static func photosLeftOut(of author: String) -> Self {
    Self(
      code: "photos-left-out",
      message: "Some photos of \(author) are not requested: the photos of one author may have "
        + "\(BoardLimits.photoBytesPerAuthor >> 20) MiB on a board, and all photos "
        + "\(BoardLimits.photoBytesOfBoard >> 30) GiB. If photos are purged, others are requested within a minute."
    )
  }

  /// Returns the warning that the copy of a member contains authors without a signed record.
  static func unrecordedAuthors(in member: String) -> Self {
    Self(
      code: "unrecorded-authors",
      message: "\(member)'s copy of the board names authors without a signed record, "
        + "so it was not merged. If an earlier version saved that copy, \(member) "
        + "can repair it by closing the board and opening it again with this version. "
        + "Otherwise \(member) may be trying to fill the board; remove that peer with `kick`."
    )
  }

  /// Returns the warning that a member deleted objects that the local user had changed in the meantime.
  static func deletedUnseen(_ ids: [ObjectID], by author: String?) -> Self {
    let what = ids.count == 1 ? "an object" : "\(ids.count) objects"
    var names = ids.prefix(4).map(\.description).joined(separator: ", ")
    if ids.count > 4 { names += ", …" }
    let end =
      author == nil
      ? "Purged objects cannot be restored." : "Restore \(ids.count == 1 ? "it" : "them") with `undelete`."
    return Self(
      code: "deleted-meanwhile",
      message: "Before your changes arrived, \(author ?? "another member") "
        + "\(author == nil ? "purged" : "deleted") \(what) that you changed: \(names). \(end)"
    )
  }

  /// Returns the warning that a member broke the rules of the board.
  static func violation(by member: String, _ error: ReplicaError) -> Self {
    Self(code: error.code, message: "\(member) sent data that breaks the rules of the board, and was disconnected.")
  }
}
