import PeerCore
import PeerDiscovery
import PeerWire

extension Control {
  struct BulkRequest: ControlPayload {
    static let frameType = FrameType.bulkRequest
    static let counts = 1...8

    var count = 1
    /// The member at the far end, if the links are legs of a tunnel (11.6).
    var route: PeerID?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("count", &count, .integer(in: Self.counts))
      try fields.optional("route", &route, .id)
    }
  }

  /// The side that starts resources and streams on a bulk link (BLK-2).
  enum Opener: String, Sendable {
    case dialler
    case listener
  }

  struct Attach: ControlPayload {
    static let frameType = FrameType.attach

    var session = SessionID.none
    var incarnation = SessionIncarnation.unknown
    var opener = Opener.dialler
    var proof = ProofBytes.none
    /// The member at the far end, if the link is a leg of a tunnel (11.6).
    var route: PeerID?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("session", &session, .id)
      try fields.required("incarnation", &incarnation, .id)
      try fields.required("opener", &opener, .word())
      try fields.required("proof", &proof, .proof)
      try fields.optional("route", &route, .id)
    }
  }

  struct Attached: ControlPayload {
    static let frameType = FrameType.attached

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {}
  }

  struct ResourceOffer: ControlPayload {
    static let frameType = FrameType.resourceOffer

    var id = TransferID.none
    /// The name of the resource: 0 to 16,384 bytes without NUL. The name is opaque, and never used as a path.
    var name = UntrustedText("")
    var size = 0
    /// The file's modification time in ms since 1970.
    var modified: Int?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("name", &name, .text(0...Limits.resourceName))
      try fields.required("size", &size, .integer(in: 0...maximumControlInteger))
      try fields.optional("modified", &modified, .integer(in: -maximumControlInteger...maximumControlInteger))
    }
  }

  struct ResourceAccept: ControlPayload {
    static let frameType = FrameType.resourceAccept

    var id = TransferID.none
    var offset = 0
    /// The hex SHA-256 of the receiver's first `offset` bytes; present only if `offset` is not 0.
    var prefix: String?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("offset", &offset, .integer(in: 0...maximumControlInteger))
      guard offset > 0 else {
        prefix = nil
        return
      }
      var hash = prefix ?? ""
      try fields.required("prefix", &hash, .sha256)
      prefix = hash
    }
  }

  struct ResourceStart: ControlPayload {
    static let frameType = FrameType.resourceStart

    var id = TransferID.none
    var offset = 0

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("offset", &offset, .integer(in: 0...maximumControlInteger))
    }
  }

  struct ResourceEnd: ControlPayload {
    static let frameType = FrameType.resourceEnd

    var id = TransferID.none
    var sha256 = ""

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("sha256", &sha256, .sha256)
    }
  }

  struct ResourceDone: ControlPayload {
    static let frameType = FrameType.resourceDone
    var id = TransferID.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
    }
  }

  /// An unknown code is treated as `cancelled` (8.2).
  enum ResourceCode: String, Sendable, CaseIterable {
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
  }

  struct ResourceCancel: ControlPayload {
    static let frameType = FrameType.resourceCancel

    private(set) var id = TransferID.none
    private(set) var code = ResourceCode.cancelled
    private(set) var message = UntrustedText("")

    init() {}

    /// `message` is truncated to 512 bytes.
    init(id: TransferID, code: ResourceCode, message: String) {
      self.id = id
      self.code = code
      self.message = .explanation(message)
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("code", &code, .word(or: .cancelled))
      try fields.required("message", &message, .text(0...Control.explanation))
    }
  }

  struct StreamOpen: ControlPayload {
    static let frameType = FrameType.streamOpen

    var id = TransferID.none
    /// The name of the stream: 0 to 1,024 bytes without NUL.
    var name = UntrustedText("")

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("name", &name, .text(0...Limits.streamName))
    }
  }

  struct StreamReset: ControlPayload {
    static let frameType = FrameType.streamReset

    private(set) var id = TransferID.none
    private(set) var code: UInt32 = 0
    private(set) var message = UntrustedText("")

    init() {}

    /// `message` is truncated to 512 bytes.
    init(id: TransferID, code: UInt32, message: String) {
      self.id = id
      self.code = code
      self.message = .explanation(message)
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("id", &id, .id)
      try fields.required("code", &code, .integer(in: 0...Int(UInt32.max)))
      try fields.required("message", &message, .text(0...Control.explanation))
    }
  }
}
