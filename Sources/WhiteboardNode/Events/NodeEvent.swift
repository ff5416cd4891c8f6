/// One thing that happened, as a line of output tells it.
///
/// The payloads are what `--json` writes, key for key; ``EventLine`` adds `v` and `event`. Text of
/// other people's is in them as it came: JSON escapes it, and the human form cleans it.
package enum NodeEvent: Sendable {
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
  /// Somebody asks to join, or we do.
  case invitation(Invitation)
  /// A peer is in the session.
  case joined(Joined)
  /// A peer is out of the session.
  case left(Left)
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
  /// A message for the program came.
  case data(Received)
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
    case .invitation: "invitation"
    case .joined: "joined"
    case .left: "left"
    case .objectAdded: "object-added"
    case .objectChanged: "object-changed"
    case .objectRemoved: "object-removed"
    case .selected: "selected"
    case .chat: "chat"
    case .data: "data"
    case .resourceStarted: "resource-started"
    case .resourceProgress: "resource-progress"
    case .resourceFinished: "resource-finished"
    case .streamOpened: "stream-opened"
    case .streamData: "stream-data"
    case .streamClosed: "stream-closed"
    case .digest: "digest"
    case .objects: "objects"
    case .peers: "peers"
    case .done: "done"
    case .error: "error"
    case .note: "note"
    case .warning: "warning"
    }
  }

  /// What goes beside `v` and `event` in the line.
  var payload: any Encodable & Sendable {
    switch self {
    case .ready(let payload): payload
    case .peerFound(let payload), .peerUpdated(let payload): payload
    case .peerLost(let payload): payload
    case .peerState(let payload): payload
    case .invitation(let payload): payload
    case .joined(let payload): payload
    case .left(let payload): payload
    case .objectAdded(let payload): payload
    case .objectChanged(let payload): payload
    case .objectRemoved(let payload): payload
    case .selected(let payload): payload
    case .chat(let payload): payload
    case .data(let payload): payload
    case .resourceStarted(let payload): payload
    case .resourceProgress(let payload): payload
    case .resourceFinished(let payload): payload
    case .streamOpened(let payload): payload
    case .streamData(let payload): payload
    case .streamClosed(let payload): payload
    case .digest(let payload): payload
    case .objects(let payload): payload
    case .peers(let payload): payload
    case .done(let payload): payload
    case .error(let payload): payload
    case .note(let payload), .warning(let payload): payload
    }
  }
}

/// Which way something goes.
package enum Direction: String, Encodable, Sendable {
  /// To us.
  case incoming
  /// From us.
  case outgoing
}

extension NodeEvent {
  /// We can be reached, and this is how.
  package struct Ready: Encodable, Sendable {
    /// Our peer id.
    package var peer: String
    /// The name we go by.
    package var name: String
    /// Where we listen, as `HOST:PORT`, likeliest first.
    package var addresses: [String]
    /// The port we listen on.
    package var port: Int
    /// The id of the board.
    package var board: String
    /// The name of the board.
    package var boardName: String
    /// Who is let in: `ask`, `code`, `known` or `anyone`.
    package var admit: String
    /// The code that lets one in, where there is one.
    package var code: String?
    /// What another program joins by.
    package var link: String
    /// Whether the board is announced on the network.
    package var announced: Bool
  }

  /// A board seen nearby; what discovery says proves nothing.
  package struct FoundBoard: Encodable, Sendable {
    /// The peer id as announced, or the start of it.
    package var peer: String
    /// The name of the peer as announced.
    package var name: String
    /// The id of the board as announced.
    package var board: String?
    /// The name of the board as announced.
    package var boardName: String?
    /// Where to reach it.
    package var addresses: [String]
    /// How many are there, as announced.
    package var participants: Int?
    /// `member` or `relay`, as announced.
    package var role: String?
  }

  /// A board seen before that is gone from discovery.
  package struct LostBoard: Encodable, Sendable {
    /// The peer id as announced, or the start of it.
    package var peer: String
    /// The name of the peer as announced.
    package var name: String
    /// The id of the board as announced.
    package var board: String?
  }

  /// How the link to a peer is.
  package struct PeerState: Encodable, Sendable {
    /// The peer; nil while we dial an address and do not know whose it is.
    package var peer: String?
    /// Its name; empty before it said one.
    package var name: String
    /// How the link is.
    package var state: State
    /// The address we dial, where we do not know whose it is.
    package var address: String?

    /// The states of a link.
    package enum State: String, Encodable, Sendable {
      /// Being dialled for the first time.
      case connecting
      /// Heard lately.
      case connected
      /// Silent for a moment.
      case suspect
      /// The link is broken and dialled again.
      case reconnecting
      /// Given up.
      case lost
    }
  }

  /// Somebody asks to join, or we do.
  package struct Invitation: Encodable, Sendable {
    /// What `accept` and `decline` take.
    package var id: String
    /// The other side.
    package var peer: String
    /// Its name.
    package var name: String
    /// The words that both screens show.
    package var words: String?
    /// Who asks.
    package var direction: Direction
    /// Whether nothing goes on before `accept` or `decline`.
    package var mustAnswer: Bool
    /// When it is over, RFC 3339.
    package var deadline: String?
    /// Why to look twice.
    package var warning: String?
  }

  /// A peer is part of the session now.
  package struct Joined: Encodable, Sendable {
    /// The peer.
    package var peer: String
    /// Its name.
    package var name: String
  }

  /// A peer is no longer part of the session.
  package struct Left: Encodable, Sendable {
    /// The peer.
    package var peer: String
    /// Its name.
    package var name: String
    /// Why, in one word, such as `left`, `lost`, `kicked`, `shutting-down`.
    package var reason: String
    /// The other side's words for it, if it gave any.
    package var message: String?
  }

  /// There is a new object on the board.
  package struct ObjectAdded: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The whole object.
    package var object: ObjectDescription
    /// Who did it.
    package var by: String?
  }

  /// An object on the board is not as it was.
  package struct ObjectChanged: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The keys of `object` that changed.
    package var changed: [String]
    /// The whole object.
    package var object: ObjectDescription
    /// Who did it.
    package var by: String?
  }

  /// An object is no longer on the board.
  package struct ObjectRemoved: Encodable, Sendable {
    /// Which.
    package var id: String
    /// Who did it.
    package var by: String?
  }

  /// An object has been taken in hand, or let go.
  package struct Selected: Encodable, Sendable {
    /// Which.
    package var id: String
    /// Who has it now; nobody when absent.
    package var peer: String?
    /// The name of who has it.
    package var name: String?
    /// Whether it was we who had it, and somebody else won it.
    package var lostByUs: Bool?
  }

  /// Somebody said something.
  package struct Chat: Encodable, Sendable {
    /// The id of the line.
    package var id: String
    /// Who.
    package var peer: String
    /// The name of who.
    package var name: String
    /// What.
    package var text: String
    /// When, RFC 3339.
    package var at: String
  }

  /// A message came that is for the program, not for the board.
  package struct Received: Encodable, Sendable {
    /// From whom.
    package var from: String
    /// The name of whom.
    package var name: String
    /// Whether it came in order and exactly once.
    package var reliable: Bool
    /// How many bytes it has.
    package var size: Int
    /// The bytes.
    package var base64: String
    /// The bytes as text, where they are UTF-8.
    package var text: String?
  }

  /// A resource is on its way.
  package struct ResourceStarted: Encodable, Sendable {
    /// What `cancel` takes.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the resource.
    package var name: String
    /// How many bytes it has.
    package var size: UInt64
  }

  /// A resource is so far across.
  package struct ResourceProgress: Encodable, Sendable {
    /// Which transfer.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// How many bytes are across.
    package var bytes: UInt64
    /// How many bytes it has.
    package var size: UInt64
  }

  /// A resource is here whole, or there whole, or will not be.
  package struct ResourceFinished: Encodable, Sendable {
    /// Which transfer.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the resource.
    package var name: String
    /// How it ended.
    package var outcome: Outcome
    /// Where it lies here, received or sent from.
    package var path: String?
    /// How many bytes it has.
    package var size: UInt64?
    /// Its SHA-256, in lower-case hexadecimal.
    package var sha256: String?
    /// Why it failed.
    package var message: String?

    /// How a transfer ends.
    package enum Outcome: String, Encodable, Sendable {
      /// It is whole where it was to go.
      case delivered
      /// It was stopped, here or there.
      case cancelled
      /// It could not be done.
      case failed
    }
  }

  /// A byte stream is open.
  package struct StreamOpened: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// Which way its bytes go.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the stream.
    package var name: String
  }

  /// Bytes of a stream came.
  package struct StreamData: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// From whom.
    package var peer: String
    /// Where in the stream the bytes stand.
    package var offset: UInt64
    /// The bytes, at most 48 KiB of them.
    package var base64: String

    /// The most bytes in one line.
    package static let maximumLength = 48 * 1024
  }

  /// A byte stream is over.
  package struct StreamClosed: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// Which way its bytes went.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the stream.
    package var name: String
    /// How it ended.
    package var outcome: ResourceFinished.Outcome
    /// How many bytes went through.
    package var size: UInt64
    /// Why it failed.
    package var message: String?
  }

  /// The digest of the board.
  package struct Digest: Encodable, Sendable {
    /// In lower-case hexadecimal.
    package var digest: String
    /// How many objects are on the board.
    package var objects: Int
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The objects on the board.
  package struct Objects: Encodable, Sendable {
    /// How many.
    package var count: Int
    /// Each of them, from back to front.
    package var objects: [ObjectDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The peers of the session, ourselves aside.
  package struct Peers: Encodable, Sendable {
    /// How many are connected.
    package var count: Int
    /// Each of them.
    package var peers: [PeerDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// A verb has been carried out.
  package struct Done: Encodable, Sendable {
    /// Which verb.
    package var verb: String
    /// The mark of the line.
    package var request: RequestMark?
    /// The new object, or the one that was changed.
    package var id: String?
    /// The transfers or streams it made.
    package var transfers: [String]?
    /// Whether it changed the board, where that is what it is for; not written.
    package var hasChanged = true

    private enum CodingKeys: String, CodingKey {
      case verb, request, id, transfers
    }
  }

  /// A verb has not been carried out, or a line could not be read.
  package struct Failure: Encodable, Sendable {
    /// The kind of failure.
    package var code: String
    /// What went wrong and what to do.
    package var message: String
    /// Which verb.
    package var verb: String?
    /// The mark of the line.
    package var request: RequestMark?
    /// Which line of a script.
    package var line: Int?
  }

  /// Something worth knowing.
  package struct Remark: Encodable, Sendable {
    /// The kind, for programs.
    package var code: String
    /// In words.
    package var message: String
  }

  /// One object as lines of output tell it (BRD-19).
  package struct ObjectDescription: Encodable, Sendable, Equatable {
    /// Which.
    package var id: String
    /// `text`, `drawing` or `photo`.
    package var type: String
    /// The centre, board units.
    package var centerPosition: [Double]
    /// Width and height, unscaled.
    package var size: [Double]
    /// 1 is as it was made.
    package var scale: Double
    /// Radians clockwise.
    package var angle: Double
    /// Who is present and has it in hand.
    package var selectedBy: String?
    /// What lies over what: hexadecimal, higher in front.
    package var zIndex: String
    /// When it was last changed, RFC 3339.
    package var updatedAt: String
    /// The colour, `#rrggbbaa`, where it has one of its own.
    package var color: String?
    /// The words of a text.
    package var text: String?
    /// The points of a drawing, relative to its centre, neither scaled nor turned.
    package var points: [[Double]]?
    /// The width of a drawing's line.
    package var lineWidth: Double?
    /// Whether a drawing's author has finished it.
    package var isFinished: Bool?
    /// The photo's bytes, by SHA-256.
    package var sha256: String?
    /// The photo's format.
    package var format: String?
    /// How many bytes the photo has.
    package var byteCount: Int?
    /// The photo's width and height in pixels.
    package var pixelSize: [Int]?
    /// Whether the photo's bytes are here.
    package var isAssetAvailable: Bool?
    /// Where the photo's bytes lie, once they are here.
    package var path: String?
  }

  /// One peer as lines of output tell it.
  package struct PeerDescription: Encodable, Sendable, Equatable {
    /// Its id.
    package var peer: String
    /// Its name.
    package var name: String
    /// How the link is.
    package var state: PeerState.State
    /// Where it is reached.
    package var address: String?
  }
}

extension RequestMark: Encodable {
  /// Encodes the mark as the word or number it came as.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .word(let word): try container.encode(word)
    case .number(let number): try container.encode(number)
    }
  }
}

extension NodeEvent {
  /// The answer to a verb that failed.
  package static func error(_ error: VerbError) -> NodeEvent {
    .error(
      Failure(
        code: error.code.rawValue,
        message: error.message,
        verb: error.verb,
        request: error.request,
        line: error.line
      )
    )
  }
}
