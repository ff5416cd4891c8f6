import Foundation
import Testing
import WhiteboardDocument

/// The file that a board's name refers to after recovery to a new file.
@Suite struct RecoveredFileTests {
  let directory: TemporaryDirectory
  let library: BoardLibrary

  init() throws {
    directory = try TemporaryDirectory()
    library = BoardLibrary(directory: directory.path)
  }

  private func made() async throws -> String {
    let document = try await library.open(named: "Plans", orMaking: someBoard, now: 0)
    try await document.append([numbered(0)])
    try await document.close()
    return document.path
  }

  @Test("after a recovery, the name of a board means the recovered file") func recovered() async throws {
    let path = try await made()
    let target = BoardLibrary.recoveredPath(of: path)
    _ = try await BoardDocument.recover(from: path, to: target, now: 0)
    // The file was found to be damaged before.
    try FileManager.default.copyItem(atPath: path, toPath: path + ".damaged-1")
    let document = try await library.open(named: "Plans", orMaking: otherBoard, now: 0)
    #expect(document.path == target)
    try await document.close()
    let damage = try await library.list().compactMap(\.damage)
    #expect(damage.count == 1 && damage[0].contains(target))

    // Now the name of the board cannot be read either.
    try Data(repeating: 0x61, count: 9000).write(to: URL(fileURLWithPath: path))
    let again = try await library.open(named: "Plans", orMaking: otherBoard, now: 0)
    #expect(again.path == target)
    try await again.close()
    unlink(target)
    #expect(await code { _ = try await library.open(named: "Plans", orMaking: otherBoard, now: 0) } == .wrongKind)
  }

  @Test("two intact files of one board are both named in the error") func ambiguous() async throws {
    let path = try await made()
    let target = BoardLibrary.recoveredPath(of: path)
    _ = try await BoardDocument.recover(from: path, to: target, now: 0)
    do {
      _ = try await library.open(named: "Plans", orMaking: otherBoard, now: 0)
      Issue.record("one of two files was opened")
    } catch {
      #expect(error.code == .ambiguous)
      #expect(error.message.contains(path) && error.message.contains(target))
    }
  }
}
