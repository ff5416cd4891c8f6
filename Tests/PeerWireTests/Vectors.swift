import Foundation
import Testing

/// `Protocol/Vectors/session.json`, read once.
struct SessionVectors: Decodable {
  struct Groups<Valid: Decodable & Sendable>: Decodable, Sendable {
    var valid: [Valid]
    var invalid: [Invalid]
  }

  struct Invalid: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var hex: String?
    var text: String?
    var limit: Int?
    var error: String
    var testDescription: String { name }
    var bytes: [UInt8] { unhex(hex ?? "") }
  }

  struct Integer: Decodable, Sendable {
    var value: String
    var hex: String
  }

  struct Identifier: Decodable, Sendable {
    var hex: String
    var text: String
  }

  struct Frames: Decodable, Sendable {
    var types: [FrameTypeVector]
    var heads: Groups<FrameHead>
    var streams: [FrameStream]
  }

  struct FrameTypeVector: Decodable, Sendable {
    var type: String
    var number: UInt8
  }

  struct FrameHead: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var limit: Int
    var hex: String
    var type: String?
    var length: Int
    var testDescription: String { name }
  }

  struct FrameStream: Decodable, Sendable, CustomTestStringConvertible {
    struct Frame: Decodable, Sendable, Equatable {
      var type: String?
      var payload: String
    }
    var name: String
    var limit: Int
    var hex: String
    var frames: [Frame]
    var error: String?
    var incomplete: Bool?
    var testDescription: String { name }
  }

  struct Control: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var hex: String
    var testDescription: String { name }
  }

  struct Close: Decodable, Sendable {
    var code: String
    var redial: String
    var treatedAs: String?
  }

  struct Part: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var hex: String
    var sequence: String
    var first: Bool
    var last: Bool
    var acknowledge: Bool
    var relays: Bool
    var bytes: String
    var total: Int?
    var testDescription: String { name }
  }

  struct Sequence: Decodable, Sendable, CustomTestStringConvertible {
    struct Step: Decodable, Sendable {
      var hex: String
      var outcome: String
      var message: String?
      var error: String?
    }
    var name: String
    var steps: [Step]
    var testDescription: String { name }
  }

  struct Acknowledged: Decodable, Sendable {
    var hex: String
    var sequence: String
  }

  struct Relayed: Decodable, Sendable, CustomTestStringConvertible {
    var name: String
    var hex: String
    var kind: UInt8
    var peer: String?
    var incarnation: String?
    var route: UInt8?
    var routes: [UInt8]?
    var token: String?
    var end: UInt8?
    var payload: String
    var testDescription: String { name }
  }

  struct Datagrams: Decodable, Sendable {
    struct Packet: Decodable, Sendable, CustomTestStringConvertible {
      var name: String
      var epoch: UInt8
      var counter: String
      var plaintext: String
      var associatedData: String
      var packet: String
      var testDescription: String { name }
    }
    struct BadPacket: Decodable, Sendable, CustomTestStringConvertible {
      var name: String
      var packet: String
      var error: String
      var testDescription: String { name }
    }
    struct Packets: Decodable, Sendable {
      var valid: [Packet]
      var invalid: [BadPacket]
    }
    struct Content: Decodable, Sendable, CustomTestStringConvertible {
      var name: String
      var hex: String
      var kind: String
      var id: UInt32?
      var index: UInt8?
      var count: UInt8?
      var bytes: String
      var testDescription: String { name }
    }
    struct Cut: Decodable, Sendable {
      struct Packet: Decodable, Sendable {
        var head: String
        var plaintextLength: Int
      }
      var length: Int
      var id: UInt32
      var packets: [Packet]
    }
    struct Cuts: Decodable, Sendable { var valid: [Cut] }
    struct Assembly: Decodable, Sendable, CustomTestStringConvertible {
      struct Step: Decodable, Sendable {
        var hex: String
        var milliseconds: UInt64
        var outcome: String
      }
      var name: String
      var steps: [Step]
      var testDescription: String { name }
    }
    struct Replay: Decodable, Sendable, CustomTestStringConvertible {
      struct Step: Decodable, Sendable {
        var counter: String
        var taken: Bool
      }
      var name: String
      var steps: [Step]
      var testDescription: String { name }
    }
    var packets: Packets
    var contents: Groups<Content>
    var cuts: Cuts
    var assembly: [Assembly]
    var replay: [Replay]
  }

  var vint: Groups<Integer>
  var base32: Groups<Identifier>
  var frames: Frames
  var control: Groups<Control>
  var closeCodes: [Close]
  var messageParts: Groups<Part>
  var messageSequences: [Sequence]
  var acknowledgements: Groups<Acknowledged>
  var datagrams: Datagrams
  var relayMessages: Groups<Relayed>

  static let all: SessionVectors = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appending(path: "Protocol/Vectors/session.json")
    do { return try JSONDecoder().decode(SessionVectors.self, from: Data(contentsOf: file)) } catch {
      preconditionFailure("\(file.path()) cannot be read: \(error)")
    }
  }()
}

/// Decodes hexadecimal text with two digits per byte.
func unhex(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  precondition(digits.count == text.count && digits.count % 2 == 0, "not hex: \(text)")
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func hex(_ bytes: some Swift.Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// Returns the name of an error case as the vectors write it: `tooLarge(length: 5)` is `too-large`.
func name(of error: any Error) -> String {
  var text = ""
  var wasUpper = false
  for character in String(describing: error).prefix(while: { $0 != "(" }) {
    if character.isUppercase && !wasUpper { text += "-" }
    wasUpper = character.isUppercase
    text += character.lowercased()
  }
  return text
}
