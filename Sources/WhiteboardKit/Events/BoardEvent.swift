/// One thing that happened, as a line of output tells it.
///
/// The payloads are what `--json` writes, key for key; ``EventLine`` adds `v` and `event`. Text of
/// other people's is in them as it came: JSON escapes it, and the human form cleans it.
package enum BoardEvent: Sendable {
  /// We can be reached.
  case ready(Ready)
  /// A board was found nearby.
  case peerFound(FoundBoard)
  /// What a board nearby announces changed.
  case peerUpdated(FoundBoard)
  /// A board is no longer nearby.
  case peerLost(LostBoard)
  /// The link to a peer is in another state.
  case peerState(PeerState)
  /// An attempt to join a board took a step.
  case joining(Joining)
  /// This replica has the board of a member.
  case caughtUp(CaughtUp)
  /// Somebody asks to join, or we do.
  case invitation(Invitation)
  /// A peer is in the session.
  case joined(Joined)
  /// A peer is out of the session.
  case left(Left)
  /// The host removed us from the board.
  case removed(Removed)
  /// A relay carries the board from now on.
  case carried(Carried)
  /// An object appeared.
  case objectAdded(ObjectAdded)
  /// An object changed in something other than its selection.
  case objectChanged(ObjectChanged)
  /// An object was deleted.
  case objectRemoved(ObjectRemoved)
  /// An object was taken in hand, or let go.
  case selected(Selected)
  /// Somebody said something.
  case chat(Chat)
  /// The settings of the board are not as they were.
  case settingChanged(SettingChanged)
  /// A member goes by another name or icon, or the answer to `profile`.
  case profile(Profile)
  /// The answer to `invite`.
  case invited(Invited)
  /// What somebody may do on the board, which somebody owns.
  case role(Role)
  /// A message for the program came.
  case data(Received)
  /// A member offers a file, and `accept` or `decline` answers.
  case resourceOffered(ResourceOffered)
  /// A resource began to move.
  case resourceStarted(ResourceStarted)
  /// A resource went on; at most ten times a second.
  case resourceProgress(ResourceProgress)
  /// A resource ended.
  case resourceFinished(ResourceFinished)
  /// A byte stream is open.
  case streamOpened(StreamOpened)
  /// Bytes of a stream came.
  case streamData(StreamData)
  /// A byte stream is over.
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
  /// The save state: some of the work is not on disk, or all of it is again; also the answer to
  /// `save`.
  case saveState(Saving)
  /// The answer to `checkpoints`.
  case checkpoints(Checkpoints)
  /// The answer to `diff`.
  case diff(Diff)
  /// The answer to `peers`.
  case peers(Peers)
  /// A verb was carried out.
  case done(Done)
  /// A verb was not carried out.
  case error(Failure)
  /// Something worth knowing.
  case note(Remark)
  /// Something to look at.
  case warning(Remark)

  /// The value of `event`.
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
    case .carried: "carried"
    case .objectAdded: "object-added"
    case .objectChanged: "object-changed"
    case .objectRemoved: "object-removed"
    case .selected: "selected"
    case .chat: "chat"
    case .settingChanged: "setting-changed"
    case .profile: "profile"
    case .invited: "invited"
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

  /// The other keys of the event's line of JSON, besides `v` and `event`.
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
    case .carried(let payload): payload
    case .objectAdded(let payload): payload
    case .objectChanged(let payload): payload
    case .objectRemoved(let payload): payload
    case .selected(let payload): payload
    case .chat(let payload): payload
    case .settingChanged(let payload): payload
    case .profile(let payload): payload
    case .invited(let payload): payload
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
