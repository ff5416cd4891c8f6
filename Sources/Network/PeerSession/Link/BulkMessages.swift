import PeerCore
import PeerDiscovery
import PeerWire

extension Control {
  /// The listener's request for bulk links, which the dialler then dials (8.1).
  struct BulkRequest: ControlPayload {
    static let frameType = FrameType.bulkRequest
    static let counts = 1...8

    var count: Int
    /// The member at the far end, if the links are legs of a tunnel (11.6).
    var route: PeerID?

    init(count: Int, route: PeerID? = nil) {
      self.count = count
      self.route = route
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      count = try container.integer(.count, in: Self.counts)
      route = try container.decodeIfPresent(PeerID.self, forKey: .route)
    }
  }

  /// The side that starts resources and streams on a bulk link (BLK-2).
  enum Opener: String, Codable, Sendable {
    case dialler
    case listener
  }

  /// The first frame of a bulk link (8.1).
  struct Attach: ControlPayload {
    static let frameType = FrameType.attach

    var session: SessionID
    var incarnation: SessionIncarnation
    var opener: Opener
    var proof: ProofBytes
    /// The member at the far end, if the link is a leg of a tunnel (11.6).
    var route: PeerID?
  }

  /// The listener's answer to a valid ATTACH (8.1).
  struct Attached: ControlPayload { static let frameType = FrameType.attached }

  /// A sender's offer of a resource (8.2).
  struct ResourceOffer: ControlPayload {
    static let frameType = FrameType.resourceOffer

    var id: TransferID
    /// The name: 0 to 16,384 bytes without NUL.
    ///
    /// It is opaque and never used as a path.
    var name: UntrustedText
    var size: Int
    /// The file's modification time in ms since 1970.
    var modified: Int?

    init(id: TransferID, name: UntrustedText, size: Int, modified: Int?) {
      self.id = id
      self.name = name
      self.size = size
      self.modified = modified
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case name
      case size
      case modified
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      name = UntrustedText(try container.text(.name, bytes: 0...Limits.resourceName))
      size = try container.integer(.size, in: 0...maximumControlInteger)
      modified =
        try container.isPresent(.modified)
        ? try container.integer(.modified, in: -maximumControlInteger...maximumControlInteger) : nil
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(name.raw, forKey: .name)
      try container.encode(size, forKey: .size)
      try container.encodeIfPresent(modified, forKey: .modified)
    }
  }

  /// The receiver's acceptance, with the offset to resume from (8.2).
  struct ResourceAccept: ControlPayload {
    static let frameType = FrameType.resourceAccept

    var id: TransferID
    var offset: Int
    /// The hex SHA-256 of the receiver's first `offset` bytes; present only if `offset` is not 0.
    var prefix: String?

    init(id: TransferID, offset: Int, prefix: String?) {
      self.id = id
      self.offset = offset
      self.prefix = prefix
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      offset = try container.integer(.offset, in: 0...maximumControlInteger)
      prefix = offset > 0 ? try container.sha256(.prefix) : nil
    }
  }

  /// The start of a transfer, with the offset at which the sender begins (RES-2).
  struct ResourceStart: ControlPayload {
    static let frameType = FrameType.resourceStart

    var id: TransferID
    var offset: Int

    init(id: TransferID, offset: Int) {
      self.id = id
      self.offset = offset
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      offset = try container.integer(.offset, in: 0...maximumControlInteger)
    }
  }

  /// The end of a resource's bytes, with the hash of all bytes that were sent (8.2).
  struct ResourceEnd: ControlPayload {
    static let frameType = FrameType.resourceEnd

    var id: TransferID
    /// The SHA-256 hash, as 64 lower-case hexadecimal digits.
    var sha256: String

    init(id: TransferID, sha256: String) {
      self.id = id
      self.sha256 = sha256
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      sha256 = try container.sha256(.sha256)
    }
  }

  /// The receiver's confirmation that it has received and verified the whole resource (8.2).
  struct ResourceDone: ControlPayload {
    static let frameType = FrameType.resourceDone
    var id: TransferID
  }

  /// The reason why a transfer ended (8.2); an unknown code is treated as `cancelled`.
  enum ResourceCode: String, Codable, Sendable, CaseIterable {
    case cancelled
    case refused
    case busy
    case sourceChanged = "source-changed"
    case sourceUnreadable = "source-unreadable"
    case diskFull = "disk-full"
    case quota
    case hashMismatch = "hash-mismatch"
    case sizeMismatch = "size-mismatch"
    case ioError = "io-error"

    init(from decoder: any Decoder) throws {
      self = ResourceCode(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .cancelled
    }
  }

  /// The end of an incomplete transfer (RES-4).
  struct ResourceCancel: ControlPayload {
    static let frameType = FrameType.resourceCancel

    var id: TransferID
    var code: ResourceCode
    var message: UntrustedText

    /// Creates a payload; `message` is truncated to 512 bytes at a character boundary.
    init(id: TransferID, code: ResourceCode, message: String) {
      self.id = id
      self.code = code
      self.message = .explanation(message)
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case code
      case message
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      code = try container.decode(ResourceCode.self, forKey: .code)
      message = UntrustedText(try container.text(.message, bytes: 0...Control.explanation))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(code, forKey: .code)
      try container.encode(message.raw, forKey: .message)
    }
  }

  /// The start of a byte stream (8.3).
  struct StreamOpen: ControlPayload {
    static let frameType = FrameType.streamOpen

    var id: TransferID
    /// The name: 0 to 1,024 bytes without NUL.
    var name: UntrustedText

    init(id: TransferID, name: UntrustedText) {
      self.id = id
      self.name = name
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case name
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      name = UntrustedText(try container.text(.name, bytes: 0...Limits.streamName))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(name.raw, forKey: .name)
    }
  }

  /// The reset of a stream, which ends both directions immediately (8.3).
  struct StreamReset: ControlPayload {
    static let frameType = FrameType.streamReset

    var id: TransferID
    var code: UInt32
    var message: UntrustedText

    /// Creates a payload; `message` is truncated to 512 bytes at a character boundary.
    init(id: TransferID, code: UInt32, message: String) {
      self.id = id
      self.code = code
      self.message = .explanation(message)
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case code
      case message
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(TransferID.self, forKey: .id)
      code = UInt32(try container.integer(.code, in: 0...Int(UInt32.max)))
      message = UntrustedText(try container.text(.message, bytes: 0...Control.explanation))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encode(code, forKey: .code)
      try container.encode(message.raw, forKey: .message)
    }
  }
}
