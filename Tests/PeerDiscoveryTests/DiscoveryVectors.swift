import Foundation
import Testing

/// The contents of `Protocol/Vectors/discovery.json`.
struct DiscoveryVectors: Decodable, Sendable {
  struct ValidRecord: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let hex: String
    let version: UInt16
    let peer: String
    let session: String
    let incarnation: String
    let role: String
    let boardName: String
    let hostName: String
    let participants: UInt16?
    let extra: [[String?]]
    let canonical: Bool?

    var testDescription: String { name }
  }

  struct InvalidRecord: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let hex: String
    let error: String

    var testDescription: String { name }
  }

  struct InvalidName: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let error: String

    var testDescription: String { name.debugDescription }
  }

  struct Records: Decodable, Sendable {
    let valid: [ValidRecord]
    let invalid: [InvalidRecord]
  }

  struct ServiceTypes: Decodable, Sendable {
    struct Valid: Decodable, Sendable {
      let name: String
      let text: String
    }
    let valid: [Valid]
    let invalid: [InvalidName]
  }

  struct InstanceNames: Decodable, Sendable {
    struct Made: Decodable, Sendable {
      let peer: String
      let session: String
      let name: String
    }
    let made: [Made]
    let valid: [String]
    let invalid: [InvalidName]
  }

  let txt: Records
  let serviceTypes: ServiceTypes
  let instanceNames: InstanceNames

  static let all: DiscoveryVectors = {
    // Tests/PeerDiscoveryTests/DiscoveryVectors.swift -> Protocol/Vectors/discovery.json
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("Protocol/Vectors/discovery.json")
    do { return try JSONDecoder().decode(DiscoveryVectors.self, from: Data(contentsOf: file)) } catch {
      fatalError("the vectors cannot be read: \(error)")
    }
  }()
}

/// Decodes the hexadecimal text of a vector; throws if the vector is malformed.
func bytes(hex: String) throws -> [UInt8] {
  let digits = Array(hex.utf8)
  try #require(digits.count.isMultiple(of: 2))
  return try stride(from: 0, to: digits.count, by: 2).map {
    try #require(UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16))
  }
}
