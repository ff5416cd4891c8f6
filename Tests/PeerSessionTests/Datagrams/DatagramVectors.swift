import Foundation

/// The parts of `Protocol/Vectors/session.json` about keys and packets.
struct DatagramVectors: Decodable {
  struct Keys: Decodable, Sendable {
    var secret: String
    var direction: String
    var epoch: UInt8
    var idInfo: String
    var keyInfo: String
    var ivInfo: String
    var id: String
    var key: String
    var iv: String
  }
  struct Packet: Decodable, Sendable {
    var name: String
    var secret: String
    var direction: String
    var epoch: UInt8
    var counter: String
    var plaintext: String
    var nonce: String
    var packet: String
  }
  struct BadPacket: Decodable, Sendable {
    var name: String
    var secret: String
    var packet: String
    var error: String
  }
  struct Packets: Decodable, Sendable {
    var valid: [Packet]
    var invalid: [BadPacket]
  }
  struct Datagrams: Decodable, Sendable {
    var keys: [Keys]
    var packets: Packets
  }
  private struct File: Decodable { var datagrams: Datagrams }

  static let all: Datagrams = {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appending(path: "Protocol/Vectors/session.json")
    do { return try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).datagrams } catch {
      preconditionFailure("\(file.path()) cannot be read: \(error)")
    }
  }()

  static func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    precondition(digits.count == hex.count && digits.count % 2 == 0, "not hex: \(hex)")
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
