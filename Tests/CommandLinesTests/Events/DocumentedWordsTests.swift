import Foundation
import PeerCore
import PeerDiscovery
import PeerSession
import Testing

@testable import CommandLines
@testable import WhiteboardKit

/// Checks that the document of JSON lines lists every word of the output.
@Suite struct DocumentedWordsTests {
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "../../../Sources"
  ).path

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(sources)/\(path)", encoding: .utf8)
  }

  private func documented() throws -> Set<String> {
    let text = try Self.text("Kit/CommandLines/CommandLines.docc/JSONLines.md")
    return Set(
      text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map {
        String($0.element)
      }
    )
  }

  /// A reason of each kind; a new kind does not compile until it is added here.
  private static let reasons: [DepartureReason] = {
    let all: [DepartureReason] = [
      .left, .shuttingDown, .kicked(reason: UntrustedText("")), .disconnected, .lost, .reset, .restarted, .rerouted,
      .overrun,
    ]
    for reason in all {
      switch reason {
      case .left, .shuttingDown, .kicked, .disconnected, .lost, .reset, .restarted, .rerouted, .overrun, .refused: break
      }
    }
    return all
  }()

  @Test func `the documentation of lines contains every reason, error and state`() throws {
    let words =
      Self.reasons.map(\.word) + CommandError.Code.allCases.map(\.rawValue) + [
        "connecting", "connected", "suspect", "reconnecting", "lost", "ending",
      ]
    #expect(try Set(words).subtracting(documented()) == [])
  }

  @Test func `the documentation of lines contains every code of a note or warning`() throws {
    var codes: Set<String> = []
    for target in ["Kit/WhiteboardKit", "Network/PeerSession"] {
      let files = FileManager.default.enumerator(atPath: "\(Self.sources)/\(target)")
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        let parts = try Self.text("\(target)/\(file)").split(separator: "code: \"").dropFirst()
        codes.formUnion(parts.map { String($0.prefix { $0 != "\"" }) })
      }
    }
    #expect(codes.count > 10)
    #expect(try codes.subtracting(documented()) == [])
  }

  @Test func `the documentation of commands contains every command, its help and its keys`() throws {
    let manual = try Self.text("FrontEnds/WhiteboardPrograms/WhiteboardPrograms.docc/BoardCommands.md")
    let lines = try Self.text("Kit/CommandLines/CommandLines.docc/JSONLines.md").split(separator: "\n")
    let table = lines.drop { !$0.hasPrefix("| `verb` |") }.dropFirst().prefix { $0.hasPrefix("|") }
    for name in CommandName.allCases {
      let entry = CommandTable.entry(name)
      #expect(manual.contains("\(entry.usage)\n    \(entry.summary)\n"), "\(name)")
      let row = table.map { $0.split(separator: "|", maxSplits: 1) }.first { $0[0].contains("`\(name.rawValue)`") }
      for key in entry.keys { #expect(row?.last?.contains("`\(key.name)`") == true, "\(name): \(key.name)") }
    }
  }
}
