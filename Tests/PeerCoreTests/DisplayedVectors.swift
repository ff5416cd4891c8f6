import Foundation
import Testing

/// The displayed texts of `Protocol/Vectors/discovery.json`.
struct DisplayedVectors: Decodable {
  struct Displayed: Decodable, Sendable, CustomTestStringConvertible {
    let text: String
    let width: Int
    let displayed: String

    var testDescription: String { "\(text.debugDescription) in \(width)" }
  }

  let displayed: [Displayed]

  static let all: [Displayed] = {
    // Tests/PeerCoreTests/DisplayedVectors.swift -> Protocol/Vectors/discovery.json
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("Protocol/Vectors/discovery.json")
    do { return try JSONDecoder().decode(Self.self, from: Data(contentsOf: file)).displayed } catch {
      fatalError("the vectors cannot be read: \(error)")
    }
  }()
}
