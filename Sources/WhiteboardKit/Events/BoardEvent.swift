/// An event of a board, which programs print as a line.
///
/// The payloads have the keys of the `--json` output; ``EventLine`` adds `v` and `event`. Text from other peers is
/// `UntrustedText`. The JSON output contains the text unchanged, apart from JSON escapes.
package enum BoardEvent: Sendable {
  /// The board is open, and other peers can join it.
  case ready(Ready)
  /// A board was found nearby.
  case peerFound(FoundBoard)
  /// The announcement of a nearby board changed.
  case peerUpdated(FoundBoard)
  /// A board is no longer announced nearby.
  case peerLost(LostBoard)
  /// The state of the link to a peer changed.
  case peerState(PeerState)
  /// An attempt to join a board made progress.
  case joining(Joining)
  /// The local replica has everything that another member has.
  case caughtUp(CaughtUp)
  /// A peer asks to join, or the local peer asks another one.
  case invitation(Invitation)
  /// A peer joined the session.
  case joined(Joined)
  /// A peer left the session.
  case left(Left)
  /// The host removed the local member from the board.
  case removed(Removed)
  /// The way in which the local peer admits newcomers changed.
  case admission(Admission)
  /// A relay now serves the board.
  case carried(Carried)
  /// An object was added.
  case objectAdded(ObjectAdded)
  /// An object changed, apart from its selection.
  case objectChanged(ObjectChanged)
  /// An object was deleted.
  case objectRemoved(ObjectRemoved)
  /// An object was selected or deselected.
  case selected(Selected)
  /// A line was added to the chat.
  case chat(Chat)
  /// The settings of the board changed.
  case settingChanged(SettingChanged)
  /// A member changed its name or icon; also the answer to `profile`.
  case profile(Profile)
  /// The answer to `invite`.
  case invited(Invited)
  /// Browsers can now join the board, or can no longer join; also the answer to `web`.
  case web(Web)
  /// The role of a member on an owned board.
  case role(Role)
  /// An application message arrived.
  case data(Received)
  /// A member offers a file; `accept` or `decline` answers the offer.
  case resourceOffered(ResourceOffered)
  /// A resource transfer started.
  case resourceStarted(ResourceStarted)
  /// A resource transfer made progress; emitted at most ten times a second.
  case resourceProgress(ResourceProgress)
  /// A resource transfer ended.
  case resourceFinished(ResourceFinished)
  /// A byte stream was opened.
  case streamOpened(StreamOpened)
  /// Bytes of a stream arrived.
  case streamData(StreamData)
  /// A byte stream ended.
  case streamClosed(StreamClosed)
  /// The answer to `digest`.
  case digest(Digest)
  /// The answer to `objects`.
  case objects(Objects)
  /// The answer to `show`.
  case object(Shown)
  /// The answer to `find`.
  case found(Found)
  /// The answer to `chat`.
  case chatHistory(ChatHistory)
  /// The answer to `settings`.
  case settings(Settings)
  /// The save state changed: some work is not saved on disk, or all work is saved again. Also the answer to `save`.
  case saveState(Saving)
  /// The answer to `checkpoints`.
  case checkpoints(Checkpoints)
  /// The answer to `diff`.
  case diff(Diff)
  /// The answer to `peers`.
  case peers(Peers)
  /// A command succeeded.
  case done(Done)
  /// A command failed.
  case error(Failure)
  /// A note for the user.
  case note(Remark)
  /// A warning for the user.
  case warning(Remark)

  /// The value of the key `event` in the JSON output.
  package var name: String {
    switch self {
    case .ready: "ready"
    case .peerFound: "peer-found"
    case .peerUpdated: "peer-updated"
    case .peerLost: "peer-lost"
    case .peerState: "peer-state"
    case .joining: "joining"
    case .caughtUp: "caught-up"
    case .invitation: "invitation"
    case .joined: "joined"
    case .left: "left"
    case .removed: "removed"
    case .admission: "admission"
    case .carried: "carried"
    case .objectAdded: "object-added"
    case .objectChanged: "object-changed"
    case .objectRemoved: "object-removed"
    case .selected: "selected"
    case .chat: "chat"
    case .settingChanged: "setting-changed"
    case .profile: "profile"
    case .invited: "invited"
    case .web: "web"
    case .role: "role"
    case .data: "data"
    case .resourceOffered: "resource-offered"
    case .resourceStarted: "resource-started"
    case .resourceProgress: "resource-progress"
    case .resourceFinished: "resource-finished"
    case .streamOpened: "stream-opened"
    case .streamData: "stream-data"
    case .streamClosed: "stream-closed"
    case .digest: "digest"
    case .objects: "objects"
    case .object: "object"
    case .found: "found"
    case .chatHistory: "chat-history"
    case .settings: "settings"
    case .saveState: "save-state"
    case .checkpoints: "checkpoints"
    case .diff: "diff"
    case .peers: "peers"
    case .done: "done"
    case .error: "error"
    case .note: "note"
    case .warning: "warning"
    }
  }

  /// The keys of the JSON output besides `v` and `event`.
  package var payload: any Encodable & Sendable {
    switch self {
    case .ready(let payload): payload
    case .peerFound(let payload), .peerUpdated(let payload): payload
    case .peerLost(let payload): payload
    case .peerState(let payload): payload
    case .joining(let payload): payload
    case .caughtUp(let payload): payload
    case .invitation(let payload): payload
    case .joined(let payload): payload
    case .left(let payload): payload
    case .removed(let payload): payload
    case .admission(let payload): payload
    case .carried(let payload): payload
    case .objectAdded(let payload): payload
    case .objectChanged(let payload): payload
    case .objectRemoved(let payload): payload
    case .selected(let payload): payload
    case .chat(let payload): payload
    case .settingChanged(let payload): payload
    case .profile(let payload): payload
    case .invited(let payload): payload
    case .web(let payload): payload
    case .role(let payload): payload
    case .data(let payload): payload
    case .resourceOffered(let payload): payload
    case .resourceStarted(let payload): payload
    case .resourceProgress(let payload): payload
    case .resourceFinished(let payload): payload
    case .streamOpened(let payload): payload
    case .streamData(let payload): payload
    case .streamClosed(let payload): payload
    case .digest(let payload): payload
    case .objects(let payload): payload
    case .object(let payload): payload
    case .found(let payload): payload
    case .chatHistory(let payload): payload
    case .settings(let payload): payload
    case .saveState(let payload): payload
    case .checkpoints(let payload): payload
    case .diff(let payload): payload
    case .peers(let payload): payload
    case .done(let payload): payload
    case .error(let payload): payload
    case .note(let payload), .warning(let payload): payload
    }
  }
}
