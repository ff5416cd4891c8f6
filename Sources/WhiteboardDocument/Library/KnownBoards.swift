import Foundation
import Synchronization

/// The ids of the boards in files that this process has read, so that a search does not read every file again.
enum KnownBoards {
  private struct Stamp: Equatable {
    let file: FileIdentity
    let size: off_t
    let seconds: Int
    let nanoseconds: Int
  }

  private struct Entry {
    let stamp: Stamp
    let board: [UInt8]
  }

  /// The maximum number of remembered files.
  private static let limit = 16_384

  private static let entries = Mutex<[String: Entry]>([:])

  /// Returns the id of the board in a file; blocks the thread.
  /// - Throws: The error of a file that cannot be read.
  static func board(of path: String) throws -> [UInt8] {
    let stamp = stamp(path)
    if let stamp, let known = entries.withLock({ $0[path] }) {
      // The changes of this process do not change the board's id.
      let isOwnChange = known.stamp.file == stamp.file && OpenFiles.holding(path) { $0 == .writing }
      if known.stamp == stamp || isOwnChange {
        if known.stamp != stamp { remember(known.board, path, stamp) }
        return known.board
      }
    }
    let board = try LibraryEntry(path).board
    if let stamp { remember(board, path, stamp) }
    return board
  }

  private static func remember(_ board: [UInt8], _ path: String, _ stamp: Stamp) {
    entries.withLock { entries in
      if entries.count >= limit { entries = [:] }
      entries[path] = Entry(stamp: stamp, board: board)
    }
  }

  private static func stamp(_ path: String) -> Stamp? {
    var status = stat()
    guard let file = FileIdentity(path), stat(path, &status) == 0 else { return nil }
    return Stamp(file: file, size: status.st_size, seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }
}
