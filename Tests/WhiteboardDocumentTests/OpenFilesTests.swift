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
    // Another thread can create files after SQLite closed a removed file, and before the connection is no longer
    // tracked.
    unlink(path)
    try database.close()
    for number in 0..<50 {
      let new = directory.file("new-\(number)")
      #expect(FileManager.default.createFile(atPath: new, contents: Data("new".utf8)))
      #expect(OpenFiles.holding(new) { $0 } == .none)
    }
    try OpenFiles.close(database)
  }
}
