import Foundation

@testable import PeerSession

/// `Protocol/Vectors/admission.json`, which `Tests/Interop/make_admission_vectors.py` computes.
struct AdmissionVectors: Decodable {
  struct Peer: Decodable {
    var name: String
    var privateKey: String
    var spki: Hex
    var peerID: Hex
    var text: String
  }

  struct Exporter: Decodable {
    var name: String
    var keyLogLine: String
    var secret: Hex
    var label: String
    var length: Int
    var output: Hex
  }

  struct Words: Decodable {
    var bytes: Hex
    var words: [String]
  }

  struct TypedCodes: Decodable {
    struct Valid: Decodable {
      var typed: String
      var code: String
    }
    struct Invalid: Decodable {
      var typed: String
      var error: String
      var word: String?
      var nearest: String?
    }
    var valid: [Valid]
    var invalid: [Invalid]
  }

  struct CodeProof: Decodable {
    struct Proof: Decodable {
      var input: Hex
      var proof: Hex
    }
    var code: String
    var session: Hex
    var dialler: Hex
    var listener: Hex
    var binding: Hex
    var stretched: Hex
    var joiner: Proof
    var host: Proof

    enum CodingKeys: String, CodingKey {
      case code
      case session
      case dialler
      case listener
      case binding
      case stretched = "K"
      case joiner
      case host
    }
  }

  struct ShortWords: Decodable {
    var name: String
    var binding: Hex
    var nonceD: Hex
    var nonceL: Hex
    var session: Hex
    var dialler: Hex
    var listener: Hex
    var commit: Hex
    var secret: Hex
    var words: [String]

    enum CodingKeys: String, CodingKey {
      case name
      case binding
      case nonceD
      case nonceL
      case session
      case dialler
      case listener
      case commit
      case secret = "S"
      case words
    }
  }

  struct TicketCase: Decodable {
    var name: String
    var expected: String
    var session: Hex
    var dialler: Hex
    var admitterIsKnown: Bool
    var knownAdmitters: [PeerID]?
    var input: Hex
    var ticket: Ticket
  }

  struct NamedSession: Decodable {
    var name: String
    var session: Hex
    var peer: Hex
    var isNamed: Bool
  }

  var peers: [Peer]
  var exporter: [Exporter]
  var words: [Words]
  var typedCodes: TypedCodes
  var codeProof: [CodeProof]
  var shortWords: [ShortWords]
  var tickets: [TicketCase]
  var namedSessions: [NamedSession]

  static let all: AdmissionVectors = {
    do {
      return try JSONDecoder().decode(
        AdmissionVectors.self,
        from: Data(contentsOf: protocolFile("Vectors/admission.json"))
      )
    } catch { preconditionFailure("Protocol/Vectors/admission.json: \(error)") }
  }()

  static func protocolFile(_ path: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Protocol").appending(path: path)
  }
}

struct Hex: Decodable {
  var bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = Array(try container.decode(String.self))
    guard text.count.isMultiple(of: 2) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "odd")
    }
    bytes = try stride(from: 0, to: text.count, by: 2).map { index in
      guard let byte = UInt8(String(text[index...index + 1]), radix: 16) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hex")
      }
      return byte
    }
  }
}

extension Ticket: Decodable {
  private struct Fields: Codable {
    var admitter: String
    var key: String
    var signature: String
    var right: String?
    var via: [Fields]?
  }

  /// Reads a ticket.
  public init(from decoder: any Decoder) throws {
    self = try Ticket.decode(Array(JSONEncoder().encode(Fields(from: decoder))))
  }
}
