import PeerCore
import PeerDiscovery
import PeerWire

/// The JSON payloads in `Protocol/session.md`, each with its own type.
enum Control {
  /// The lowest and the highest protocol version that this program supports (HEL-1).
  static let versions = VersionRange(lowest: 1, highest: 2)
  /// The maximum number of bytes in the `message` of CLOSE and of similar frames (3.6).
  static let explanation = 512
}

extension Control {
  struct Close: ControlPayload {
    static let frameType = FrameType.close

    /// The close code; an unknown code is treated as `internal-error`.
    var code: CloseCode
    var message: UntrustedText

    /// Creates a payload; `message` is truncated to 512 bytes at a character boundary.
    init(_ code: CloseCode, _ message: String) {
      self.code = code
      self.message = .explanation(message)
    }

    private enum CodingKeys: String, CodingKey {
      case code
      case message
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      code = CloseCode(received: try container.decode(String.self, forKey: .code))
      message = UntrustedText(try container.text(.message, bytes: 0...Control.explanation))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code.rawValue, forKey: .code)
      try container.encode(message.raw, forKey: .message)
    }
  }
}

extension String {
  /// Returns the longest prefix of whole characters with at most `limit` bytes.
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

  /// The other side's text for users, made safe for display.
  var explanation: String { displayed(width: Control.explanation) }

  /// Returns the name of a session, limited as the protocol requires: at most 128 bytes, without NUL.
  static func sessionName(_ name: String) -> UntrustedText {
    UntrustedText(name.filter { $0 != "\0" }.prefix(bytes: Limits.sessionName))
  }
}
