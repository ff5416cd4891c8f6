import FoundationEssentials
import PeerSession
import WhiteboardDocument
import WhiteboardKit

/// A directory with what a relay needs to continue on another computer: its key, the known peers, and its boards.
package enum RelayBackup {
  private static let files = ["identity.pem", "peers.json", "relay.json", "cluster.json"]

  /// Copies a relay's data, even while the relay runs. Returns the number of copied boards. The copy of each board is a
  /// consistent snapshot, and the directory exists only if it is complete.
  package static func make(of dataDirectory: String, at path: String) async throws(WhiteboardError) -> Int {
    guard FileManager.default.fileExists(atPath: dataDirectory + "/identity.pem") else {
      throw WhiteboardError(.noInput, "there is no relay in \(dataDirectory); give its directory with --data-dir")
    }
    try checkAbsent(path)
    return try await publish(at: path) { (directory) throws(WhiteboardError) in
      try copyFiles(from: dataDirectory, to: directory)
      return try await copyBoards(from: dataDirectory, to: directory)
    }
  }

  /// Creates a relay's data directory from a backup. Returns the number of restored boards. Throws ``WhiteboardError``
  /// with code `badData` if the backup is damaged, or `cannotCreate` if the directory is not empty. Every board is
  /// checked before the directory is created.
  package static func restore(_ path: String, to dataDirectory: String) async throws(WhiteboardError) -> Int {
    guard FileManager.default.fileExists(atPath: path + "/identity.pem") else {
      throw WhiteboardError(.noInput, "\(path) is not the backup of a relay")
    }
    try checkAbsent(dataDirectory)
    for file in try await boards(in: path) {
      let damages = try await BoardFile.verify(file)
      if let damage = damages.first {
        throw WhiteboardError(
          .badData,
          "\(file): \(damage); `whiteboard-peer boards recover` can save the readable data"
        )
      }
    }
    return try await publish(at: dataDirectory) { (directory) throws(WhiteboardError) in
      try copyFiles(from: path, to: directory)
      return try await copyBoards(from: path, to: directory)
    }
  }

  /// Copies one board of a relay to a file, even while the relay runs; the file exists only if the copy is complete.
  package static func export(_ board: String, of dataDirectory: String, to path: String) async throws(WhiteboardError) {
    let entry = try BoardRegister(inDataDirectory: dataDirectory).entry(board)
    do throws(DocumentError) {
      let library = BoardLibrary(inDataDirectory: dataDirectory)
      guard let file = try await library.list().first(where: { $0.board == entry.id?.bytes }) else {
        throw DocumentError(.notFound, "the file of the board does not exist")
      }
      let document = try await BoardDocument.open(at: file.path, mode: .reading)
      try await document.save(as: path)
      try await document.close()
    } catch { throw WhiteboardError(error) }
  }

  private static func checkAbsent(_ path: String) throws(WhiteboardError) {
    let content = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard content.isEmpty else {
      throw WhiteboardError(.cannotCreate, "\(path) already exists and is not empty; choose another directory")
    }
  }

  /// Creates a private directory under a temporary name, and renames it when it is complete.
  private static func publish(at path: String, _ fill: (String) async throws(WhiteboardError) -> Int)
    async throws(WhiteboardError) -> Int
  {
    let files = FileManager.default
    let part = path + ".part"
    do {
      if files.fileExists(atPath: part) { try files.removeItem(atPath: part) }
      try files.createDirectory(atPath: part, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw WhiteboardError(.cannotCreate, "the directory \(part) cannot be created") }
    do throws(WhiteboardError) {
      let count = try await fill(part)
      do {
        // Remove the empty directory that the new directory replaces.
        if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
        try files.moveItem(atPath: part, toPath: path)
      } catch { throw WhiteboardError(.cannotCreate, "the directory \(path) cannot be created") }
      return count
    } catch {
      try? files.removeItem(atPath: part)
      throw error
    }
  }

  private static func copyFiles(from source: String, to target: String) throws(WhiteboardError) {
    for name in files {
      do {
        guard let bytes = try PrivateFile(path: "\(source)/\(name)").read(limit: 64 << 20) else { continue }
        try PrivateFile(path: "\(target)/\(name)").replace(bytes)
      } catch { throw WhiteboardError(.inputOutput, "\(name) cannot be copied: \(error)") }
    }
  }

  private static func copyBoards(from source: String, to target: String) async throws(WhiteboardError) -> Int {
    let found = try await boards(in: source)
    let directory = BoardFile.directory(inDataDirectory: target)
    do {
      try FileManager.default.createDirectory(
        atPath: directory,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch { throw WhiteboardError(.cannotCreate, "the directory \(directory) cannot be created") }
    for path in found {
      let name = path.split(separator: "/").last ?? ""
      do throws(DocumentError) {
        let document = try await BoardDocument.open(at: path, mode: .reading)
        try await document.save(as: "\(directory)/\(name)")
        try await document.close()
      } catch { throw WhiteboardError(error) }
    }
    return found.count
  }

  private static func boards(in directory: String) async throws(WhiteboardError) -> [String] {
    do throws(DocumentError) {
      return try await BoardLibrary(inDataDirectory: directory).list().map(\.path)
    } catch { throw WhiteboardError(error) }
  }
}
