import PeerCore
import PeerDiscovery
import PeerWire

// The messages about the members of a session (5).

extension Control {
  /// One peer of a session, as another peer describes it (5.1). A ROUTE message has the same payload (11.2).
  struct Member: ControlPayload {
    static let frameType = FrameType.message

    var peer = PeerID.none
    /// The display name, 1 to 64 bytes; not verified.
    var name = UntrustedText("")
    var incarnation = SessionIncarnation.unknown
    var port = 0
    var addresses: [String] = []
    var role = Role.member
    /// Whether the peer joined from a browser, through the sender or another relay (WEB-56).
    var isGuest = false

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("peer", &peer, .id)
      try fields.required("name", &name, .text(1...Limits.displayName))
      try fields.required("incarnation", &incarnation, .id)
      try fields.required("port", &port, .integer(in: 0...65_535))
      try fields.required("addresses", &addresses, .addresses)
      try fields.required("role", &role, .word(or: .member))
      try fields.optional("guest", &isGuest, .flag, unless: false)
    }
  }

  struct Members: ControlPayload {
    static let frameType = FrameType.members

    /// The members in this frame, at most 256; see ``split(_:)``.
    var members: [Member] = []
    /// A ticket for the receiver (TCK-4).
    var ticket: Ticket?
    /// How the host admits newcomers (MEM-17); `nil` if the sender does not state it, or names an unknown mode.
    var admission: AdmissionMode?
    /// The host's code; present only if `admission` is `code`.
    var code: JoinCode?
    /// The topology that the host or a relay states (RLY-18).
    var topology: SessionTopology?
    /// The relays that a relay recommends to the host (RLY-22).
    var relays: [RecommendedRelay]?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("members", &members, .list(of: .object, maximum: Limits.members))
      try fields.optional("ticket", &ticket, .object)
      try fields.terms(&admission, &code)
      try fields.word("topology", &topology)
      try fields.optional("relays", &relays, .list(of: .object, maximum: RecommendedRelay.maximum))
    }
  }

  /// A relay that another relay recommends to the host (RLY-22).
  struct RecommendedRelay: ControlObject, Equatable {
    static let maximum = 16

    var peer = PeerID.none
    var port = 0
    var addresses: [String] = []

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("peer", &peer, .id)
      try fields.required("port", &port, .integer(in: 1...65_535))
      try fields.required("addresses", &addresses, .addresses)
    }
  }

  /// An admission mode, as the host names it to members (MEM-17).
  enum AdmissionMode: String, Sendable {
    case ask
    case code
    case known
    case anyone
  }

  struct Kick: ControlPayload {
    static let frameType = FrameType.kick

    private(set) var peer = PeerID.none
    private(set) var reason = UntrustedText("")
    /// The host's signature, which makes the removal valid on every link (MEM-11).
    var signature: KickSignature?

    init() {}

    /// `reason` is truncated to 512 bytes.
    init(peer: PeerID, reason: String, signature: KickSignature? = nil) {
      self.peer = peer
      self.reason = .explanation(reason)
      self.signature = signature
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("peer", &peer, .id)
      try fields.required("reason", &reason, .text(0...Control.explanation))
      if fields.isReading { signature = fields.has("key") || fields.has("signature") ? KickSignature() : nil }
      try signature?.list(&fields)
    }
  }

  struct Addresses: ControlPayload {
    static let frameType = FrameType.addresses

    var port = 0
    var addresses: [String] = []

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("port", &port, .integer(in: 0...65_535))
      try fields.required("addresses", &addresses, .addresses)
    }
  }
}

extension Control.Member {
  init(peer: PeerID, _ introduction: Control.Introduction) {
    self.init(
      peer: peer,
      name: introduction.name,
      incarnation: introduction.incarnation,
      port: introduction.port,
      addresses: introduction.addresses,
      role: introduction.role
    )
  }
}

extension ControlFields {
  /// The host's mode and code (MEM-17); an unknown mode is ignored.
  mutating func terms(_ admission: inout Control.AdmissionMode?, _ code: inout JoinCode?) throws(ControlMessageError) {
    try word("admission", &admission)
    try optional("code", &code, .code)
  }

  /// An optional word; an unknown word is ignored.
  mutating func word<Value: RawRepresentable<String>>(_ key: String, _ value: inout Value?) throws(ControlMessageError)
  {
    var word = value?.rawValue
    try optional(key, &word, .string({ $0 }, { $0 }))
    value = word.flatMap(Value.init)
  }
}

extension Control.Members {
  static func split(_ members: [Control.Member]) -> [Control.Members] {
    var result: [Control.Members] = []
    var room = 0
    for member in members {
      // The size includes the enclosing braces once for each member, so the size is an upper bound.
      let size = Control.Members(members: [member]).encoded().count
      if room < size || result.last?.members.count == Limits.members {
        result.append(Control.Members(members: []))
        room = Limits.framePayload - 16
      }
      result[result.count - 1].members.append(member)
      room -= size
    }
    return result
  }
}
