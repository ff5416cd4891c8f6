import PeerDiscovery
import PeerWire

/// The JSON payloads of `Protocol/session.md`, one type for each.
enum Control {
  /// The lowest and highest version this program speaks (HEL-1).
  static let versions = VersionRange(lowest: 1, highest: 1)
  /// Bytes in the `message` of CLOSE and in other explanations (3.6).
  static let explanation = 512
}

extension Control {
  /// The last frame of a link that is closed on purpose (3.6).
  struct Close: ControlPayload {
    static let frameType = FrameType.close

    /// A code that this version does not know has become `internal-error`.
    var code: CloseCode
    var message: UntrustedText

    /// Creates a payload, cutting `message` to 512 bytes between characters.
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
  /// The longest prefix of whole characters that takes at most `limit` bytes.
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
  /// Words of ours for people there, as the protocol takes them: at most 512 bytes, without NUL.
  static func explanation(_ words: String) -> UntrustedText {
    UntrustedText(words.filter { $0 != "\0" }.prefix(bytes: Control.explanation))
  }

  /// Words of the other side for people here, made harmless and whole.
  var explanation: String { displayed(width: Control.explanation) }

  /// The name of a session as the protocol takes it: at most 128 bytes, without NUL.
  static func sessionName(_ name: String) -> UntrustedText {
    UntrustedText(name.filter { $0 != "\0" }.prefix(bytes: Limits.sessionName))
  }
}
