import PeerCore
import PeerDiscovery
import PeerWire

package enum Control {
  /// The versions of the protocol that this library supports.
  package static let versions = VersionRange(lowest: 1, highest: 2)
  /// The maximum number of bytes in the `message` of CLOSE and of similar frames (3.6).
  static let explanation = 512
}

extension Control {
  struct Close: ControlPayload {
    static let frameType = FrameType.close

    /// An unknown code is treated as `internal-error`.
    private(set) var code = CloseCode.internalError
    private(set) var message = UntrustedText("")

    init() {}

    /// `message` is truncated to 512 bytes.
    init(_ code: CloseCode, _ message: String) {
      self.code = code
      self.message = .explanation(message)
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("code", &code, .string({ CloseCode(received: $0) }, \.rawValue))
      try fields.required("message", &message, .text(0...Control.explanation))
    }
  }
}

extension String {
  /// Returns the longest prefix of whole code points with at most `limit` bytes.
  func prefix(bytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var result = ""
    var room = limit
    for scalar in unicodeScalars {
      room -= UTF8.width(scalar)
      guard room >= 0 else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}

extension UntrustedText {
  /// Returns text for the other peer's user, limited as the protocol requires: at most 512 bytes, without NUL.
  static func explanation(_ words: String) -> UntrustedText {
    UntrustedText(words.filter { $0 != "\0" }.prefix(bytes: Control.explanation))
  }

  var explanation: String { displayed(width: Control.explanation) }

  /// Returns a session name as the protocol requires: at most 128 bytes, without NUL.
  static func sessionName(_ name: String) -> UntrustedText {
    UntrustedText(name.filter { $0 != "\0" }.prefix(bytes: Limits.sessionName))
  }
}

/// A violation of the protocol by the other side, which receives the close code and the message.
struct LinkViolation: Error, Equatable, Sendable {
  var code: CloseCode
  var message: String

  static func protocolError(_ message: String) -> LinkViolation {
    LinkViolation(code: .protocolError, message: message)
  }

  static func unexpected(_ type: FrameType) -> LinkViolation { .protocolError(CloseMessage.unexpected(type)) }
}

extension LinkViolation {
  init(_ error: FrameError) {
    switch error {
    case .malformedLength: self.init(code: .protocolError, message: "A frame's length is malformed.")
    case .tooLarge(let length, let limit):
      self.init(code: .tooLarge, message: "A frame of \(length) bytes is longer than the limit of \(limit).")
    case .unknownType(let type):
      let number = String(type, radix: 16)
      self.init(code: .unknownFrame, message: "The frame type 0x\(number) is unknown.")
    }
  }
}

/// The sentences for users in CLOSE frames (3.6). The message of a CLOSE is one of these sentences, text written by a
/// user, or empty. Programs read the close code instead.
enum CloseMessage {
  static func invalid(_ type: FrameType, _ error: ControlMessageError) -> String {
    let fault =
      switch error {
      case .notJSON: "it is not a JSON object within the limits"
      case .missing(let key): "the key \"\(key)\" is missing"
      case .wrongType(let key): "the value of \"\(key)\" has the wrong type"
      case .outOfRange(let key): "the value of \"\(key)\" is out of range"
      }
    return "The \(type.name) frame is not valid: \(fault)."
  }

  static func full(_ maximum: Int) -> String { "It holds at most \(maximum) \(maximum == 1 ? "peer" : "peers")." }

  static func unexpected(_ type: FrameType) -> String { "A \(type.name) frame is not allowed at this point." }

  static func invalid(_ error: MessagePart.DecodingError) -> String {
    let fault =
      switch error {
      case .malformed: "its header is cut off, or contains a malformed number"
      case .unknownFlags(let flags): "it has the unknown flags \(flags)"
      case .zeroSequence: "its number is 0"
      case .tooLarge(let bytes): "a message of \(bytes) bytes exceeds the limit"
      case .empty: "it is empty"
      }
    return "The \(FrameType.message.name) frame is not valid: \(fault)."
  }

  static func invalid(_ error: MessageAssembler.AssemblyError) -> String {
    let fault =
      switch error {
      case .skipped(let expected, let found): "its number is \(found), but must be \(expected)"
      case .unexpectedFirst: "a message begins before the previous one ended"
      case .missingFirst: "it continues a message that has not begun"
      case .tooManyBytes: "the message is longer than announced"
      case .tooFewBytes: "the message is shorter than announced"
      }
    return "The \(FrameType.message.name) frame is not valid: \(fault)."
  }

  static func invalid(_ error: RelayMessage.DecodingError) -> String {
    let fault =
      switch error {
      case .unknownKind(let kind?): "it has the unknown kind \(kind)"
      case .unknownKind(nil): "it is empty"
      case .malformed: "its header is malformed"
      }
    return "The relay message is not valid: \(fault)."
  }

  /// Describes a relay message that decodes but breaks a rule for routes (11.4).
  static func invalidRoute(_ error: any Error) -> String {
    switch error {
    case RelayedPeers.Violation.number(let number):
      "The relay message is not valid: its route number \(number) is not allowed here."
    case RelayedPeers.Violation.peer: "The relay message is not valid: that peer cannot have a new route."
    case RouteTable.Violation.tooManyWishes: "The relay message is not valid: it requests too many peers."
    default: "The relay message is not valid."
    }
  }
}

extension FrameType {
  /// The name of the frame type in the specification, such as `CODE-PROOF`.
  var name: String {
    "\(self)".reduce(into: "") { name, letter in
      if letter.isUppercase { name += "-" }
      name += letter.uppercased()
    }
  }
}
