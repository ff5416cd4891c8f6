import Foundation
import Testing

@testable import WhiteboardDocument

@Suite struct OpenFilesTests {
  @Test("[REC-16] a new file never counts as open because it got the inode number of a closed file") func inodeReuse()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let made = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await made.close()
    let database = try Connector.connectInPlace(path, .reading)
    #expect(OpenFiles.holding(path) { $0 } == .reading)
    // Another thread can create files after SQLite closed the removed file and while the connection is still tracked.
    unlink(path)
    try database.close()
    for number in 0..<50 {
      let new = directory.file("new-\(number)")
      #expect(FileManager.default.createFile(atPath: new, contents: Data("new".utf8)))
      #expect(OpenFiles.holding(new) { $0 } == .none)
    }
    try OpenFiles.close(database)
  }

  @Test("a lock file with content belongs to another program, and stays") func foreignLock() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    #expect(FileManager.default.createFile(atPath: path + "-lock", contents: Data("theirs".utf8)))
    try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0).close()
    try await BoardDocument.open(at: path, mode: .writing).close()
    #expect(FileManager.default.contents(atPath: path + "-lock") == Data("theirs".utf8))
  }

  @Test("the state of a file depends only on its own connections; a writer counts more than readers") func states()
    async throws
  {
    let directory = try TemporaryDirectory()
    let paths = (0..<3).map { directory.file("\($0)") }
    for path in paths {
      try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0).close()
    }
    let reader = try Connector.connectInPlace(paths[0], .reading)
    let second = try Connector.connectInPlace(paths[0], .reading)
    let writer = try Connector.connectInPlace(paths[1], .writing)
    let other = try Connector.connectInPlace(paths[1], .reading)
    func uses() -> [OpenFiles.Use] { paths.map { OpenFiles.holding($0) { $0 } } }
    #expect(uses() == [.reading, .writing, .none])
    try OpenFiles.close(reader)
    try OpenFiles.close(writer)
    #expect(uses() == [.reading, .reading, .none])
    try OpenFiles.close(second)
    try OpenFiles.close(other)
    #expect(uses() == [.none, .none, .none])
  }
}
