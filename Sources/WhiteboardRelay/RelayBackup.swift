import FoundationEssentials
import PeerSession
import WhiteboardDocument
import WhiteboardNode

/// A directory that holds all a relay needs to go on elsewhere: its key, whom it knows, and its boards.
package enum RelayBackup {
  private static let files = ["identity.pem", "peers.json", "relay.json"]

  /// Copies a relay, which may be running: each board as it is in one moment.
  ///
  /// - Parameters:
  ///   - dataDirectory: The relay's.
  ///   - path: The directory to make; it is there whole or not at all.
  /// - Returns: How many boards are in it.
  /// - Throws: ``NodeError`` with what is wrong and what to do.
  package static func make(
    of dataDirectory: String,
    at path: String
  ) async throws(NodeError) -> Int {
    guard FileManager.default.fileExists(atPath: dataDirectory + "/identity.pem") else {
      throw NodeError(.noInput, "there is no relay in \(dataDirectory); name it with --data-dir")
    }
    try checkAbsent(path)
    return try await publish(at: path) { (directory) throws(NodeError) in
      try copyFiles(from: dataDirectory, to: directory)
      return try await copyBoards(from: dataDirectory, to: directory)
    }
  }

  /// Makes a relay's data directory from a copy; every board is checked before anything is made.
  ///
  /// - Parameters:
  ///   - path: The copy.
  ///   - dataDirectory: The directory to make.
  /// - Returns: How many boards are in it.
  /// - Throws: ``NodeError``: `badData` with the first damage that is found; `cannotCreate` if there is a relay.
  package static func restore(
    _ path: String,
    to dataDirectory: String
  ) async throws(NodeError) -> Int {
    guard FileManager.default.fileExists(atPath: path + "/identity.pem") else {
      throw NodeError(.noInput, "\(path) is no backup of a relay")
    }
    try checkAbsent(dataDirectory)
    for file in try await boards(in: path) {
      let damages = try await BoardFile.verify(file)
      if let damage = damages.first {
        throw NodeError(
          .badData,
          "\(file): \(damage); 'whiteboard-peer boards recover' tries to save what can still be read"
        )
      }
    }
    return try await publish(at: dataDirectory) { (directory) throws(NodeError) in
      try copyFiles(from: path, to: directory)
      return try await copyBoards(from: path, to: directory)
    }
  }

  /// Writes one board of a relay, which may be running, to a file.
  ///
  /// - Parameters:
  ///   - board: Which one: its name, its id or the beginning of that.
  ///   - dataDirectory: The relay's.
  ///   - path: The file to make; it is there whole or not at all.
  /// - Throws: ``NodeError`` with what is wrong and what to do.
  package static func export(
    _ board: String,
    of dataDirectory: String,
    to path: String
  ) async throws(NodeError) {
    let entry = try BoardRegister(inDataDirectory: dataDirectory).entry(board)
    do throws(DocumentError) {
      let library = BoardLibrary(directory: dataDirectory + "/boards")
      guard let file = try await library.list().first(where: { $0.board == entry.id?.bytes }) else {
        throw DocumentError(.notFound, "the file of the board is not there")
      }
      let document = try await BoardDocument.open(at: file.path, mode: .reading)
      try await document.save(as: path)
      try await document.close()
    } catch {
      throw NodeError(error)
    }
  }

  private static func checkAbsent(_ path: String) throws(NodeError) {
    let content = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard content.isEmpty else {
      throw NodeError(
        .cannotCreate,
        "\(path) is there already, and is left as it is; name a directory that is empty or not there"
      )
    }
  }

  /// Makes a private directory under another name and renames it when it is whole.
  private static func publish(
    at path: String,
    _ fill: (String) async throws(NodeError) -> Int
  ) async throws(NodeError) -> Int {
    let files = FileManager.default
    let part = path + ".part"
    do {
      if files.fileExists(atPath: part) { try files.removeItem(atPath: part) }
      try files.createDirectory(
        atPath: part,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw NodeError(.cannotCreate, "the directory \(part) cannot be made")
    }
    do throws(NodeError) {
      let count = try await fill(part)
      do {
        // An empty directory gives way.
        if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
        try files.moveItem(atPath: part, toPath: path)
      } catch {
        throw NodeError(.cannotCreate, "the directory \(path) cannot be made")
      }
      return count
    } catch {
      try? files.removeItem(atPath: part)
      throw error
    }
  }

  private static func copyFiles(from source: String, to target: String) throws(NodeError) {
    for name in files {
      do {
        guard let bytes = try PrivateFile(path: "\(source)/\(name)").read(limit: 64 << 20) else {
          continue
        }
        try PrivateFile(path: "\(target)/\(name)").replace(bytes)
      } catch {
        throw NodeError(.inputOutput, "\(name) cannot be copied: \(error)")
      }
    }
  }

  private static func copyBoards(
    from source: String,
    to target: String
  ) async throws(NodeError) -> Int {
    let found = try await boards(in: source)
    do {
      try FileManager.default.createDirectory(
        atPath: target + "/boards",
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw NodeError(.cannotCreate, "the directory \(target)/boards cannot be made")
    }
    for path in found {
      let name = path.split(separator: "/").last ?? ""
      do throws(DocumentError) {
        let document = try await BoardDocument.open(at: path, mode: .reading)
        try await document.save(as: "\(target)/boards/\(name)")
        try await document.close()
      } catch {
        throw NodeError(error)
      }
    }
    return found.count
  }

  private static func boards(in directory: String) async throws(NodeError) -> [String] {
    do throws(DocumentError) {
      return try await BoardLibrary(directory: directory + "/boards").list().map(\.path)
    } catch {
      throw NodeError(error)
    }
  }
}
