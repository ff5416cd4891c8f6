import FoundationEssentials
import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a running program says of the board that it has open, to other programs of the same person.
///
/// It is in a file `open/BOARD-ID.json` of the data directory, as private as the keys there. The program holds a
/// lock on it, which ends with the program however that ends: what nobody holds means nothing.
package struct OpenBoard: Codable, Equatable, Sendable {
  /// The id of the board.
  package var board: String
  /// Its name.
  package var boardName: String
  /// Our peer id.
  package var peer: String
  /// The port we listen on.
  package var port: Int
  /// The one address that is listened on; nil if all are.
  package var listen: String?
  /// The only interface that is used; nil if all are.
  package var interface: String?
  /// The admission policy: `ask`, `code`, `known` or `anyone`.
  package var admit: String
  /// The code that lets one in, where there is one.
  package var code: String?
  /// The pass of its links, where a person is asked.
  package var pass: String?

  /// The boards that programs with this data directory have open now, by name.
  package static func all(inDataDirectory directory: String) -> [OpenBoard] {
    let directory = OpenBoardFile.directory(in: directory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasSuffix(".json") }
      .compactMap { OpenBoardFile.read("\(directory)/\($0)") }
      .sorted { ($0.boardName, $0.board) < ($1.boardName, $1.board) }
  }
}

/// The file of an open board, from when it is made until nobody refers to it.
final class OpenBoardFile: Sendable {
  private let path: String
  private let descriptor: Int32

  static func directory(in dataDirectory: String) -> String { dataDirectory + "/open" }

  /// Says that a board is open; nil if that cannot be written, or another program says so.
  init?(_ board: OpenBoard, inDataDirectory dataDirectory: String) {
    let directory = Self.directory(in: dataDirectory)
    mkdir(directory, 0o700)
    path = "\(directory)/\(board.board).json"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    // A lock of the open file, which readers see without taking it: nothing here waits.
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

  // Locks of an open file, F_OFD_GETLK and F_OFD_SETLK of fcntl(2), which Swift does not see in the C library.
  private static let (getLock, setLock): (Int32, Int32) = (36, 37)

  /// All of the file, for its one writer.
  private static var lock: flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    return lock
  }

  /// Reads a file, if a program holds it.
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
