import FoundationEssentials
import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The description of an open board, for other programs of the same user. The program that has the board open stores it
/// in `open/BOARD-ID.json` in the data directory, which only the user can read, and holds a lock on the file. The
/// system releases the lock when the program ends, so readers ignore a file without a lock.
package struct OpenBoard: Codable, Equatable, Sendable {
  package var board: String
  package var boardName: String
  package var peer: String
  package var port: Int
  /// The address on which the program listens; nil for all addresses.
  package var listen: String?
  /// The only network interface that the program uses; nil for all interfaces.
  package var interface: String?
  /// The admission policy: `ask`, `code`, `known` or `anyone`.
  package var admit: String
  package var code: String?
  /// The pass of the board's links; nil if no user is asked to admit peers.
  package var pass: String?

  /// Returns all open boards, ordered by name.
  package static func all(inDataDirectory directory: String) -> [OpenBoard] {
    let directory = OpenBoardFile.directory(in: directory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasSuffix(".json") }.compactMap { OpenBoardFile.read("\(directory)/\($0)") }.sorted {
      ($0.boardName, $0.board) < ($1.boardName, $1.board)
    }
  }
}

/// The file of an open board; the file exists until this object is released.
final class OpenBoardFile: Sendable {
  private let path: String
  private let descriptor: Int32

  static func directory(in dataDirectory: String) -> String { dataDirectory + "/open" }

  /// Creates and locks the file; returns nil if the file cannot be written, or another program has the board open.
  init?(_ board: OpenBoard, inDataDirectory dataDirectory: String) {
    let directory = Self.directory(in: dataDirectory)
    mkdir(directory, 0o700)
    path = "\(directory)/\(board.board).json"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    // Readers check this lock without acquiring it, so that no program has to wait for the lock.
    var lock = Self.lock
    guard fcntl(descriptor, Self.setLock, &lock) == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    guard let bytes = try? JSONEncoder().encode(board), ftruncate(descriptor, 0) == 0,
      FileWriting.writeAll(Array(bytes), to: descriptor) == nil
    else { return nil }
  }

  deinit {
    unlink(path)
    close(descriptor)
  }

  // F_OFD_GETLK and F_OFD_SETLK of fcntl(2), the commands for open file description locks. Swift does not import these
  // macros.
  private static let (getLock, setLock): (Int32, Int32) = (36, 37)

  private static var lock: flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }

  static func read(_ path: String) -> OpenBoard? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var lock = Self.lock
    guard fcntl(descriptor, Self.getLock, &lock) == 0, lock.l_type != F_UNLCK,
      let bytes = try? FileReading.whole(path, limit: 65_536)
    else { return nil }
    return try? JSONDecoder().decode(OpenBoard.self, from: Data(bytes))
  }
}
