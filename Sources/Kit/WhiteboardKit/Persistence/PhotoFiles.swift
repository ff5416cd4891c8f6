import Crypto
import FoundationEssentials
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

/// Manages the files of photos. A program whose output contains the paths of photos keeps a file for each photo, in
/// addition to the copy in the document. Other programs write a file only while a photo is read or sent. Confined to
/// the actor of its board.
final class PhotoFiles {
  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let persistence: Persistence
  private(set) var replica: Replica?
  /// The open board, which performs the actions of the replica; nil before the board is open.
  weak var active: ActiveBoard?
  /// The id prefix of the board, which the names of temporary files contain.
  private var board = ""
  private var paths: [AssetID: String] = [:]
  private var readers: [AssetID: Int] = [:]

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members, persistence: Persistence) {
    self.members = members
    self.runtime = runtime
    self.configuration = configuration
    self.persistence = persistence
  }

  func begin(_ replica: Replica, of session: SessionID) {
    self.replica = replica
    board = session.short
  }

  // MARK: - Files

  func existingPath(_ id: AssetID) -> String? { paths[id] }

  var existingPaths: [AssetID: String] { paths }

  /// Returns the path for a photo's file, even if the file does not exist.
  func path(_ id: AssetID, _ format: PhotoFormat) -> String {
    // Boards share the photo directory, so the names of temporary files contain the board.
    let board = configuration.keepsPhotoFiles ? "" : "-\(board)"
    return "\(configuration.assetsDirectory)/\(id.description)\(board).\(format.name)"
  }

  func add(_ id: AssetID, at path: String) {
    paths[id] = path
    runtime.report(.photo(id))
  }

  /// Returns the path of a photo's file; nil if there is no photo. The file exists until ``close(_:)``. Each call needs
  /// a matching call of ``close(_:)``, even if the result is nil.
  nonisolated(nonsending) func open(_ id: AssetID) async -> String? {
    readers[id, default: 0] += 1
    if let path = paths[id] { return path }
    guard let document = persistence.document, let replica, replica.board.assets.contains(id),
      let asset = replica.reference(of: id)
    else { return nil }
    let path = path(id, asset.format)
    if let error = await extract(asset, to: path, from: document) {
      // If only the file cannot be written, the photo is still in the document.
      guard [.damaged, .notFound].contains(error.code) else { return nil }
      let actions = replica.assetLost(id, now: runtime.now)
      active?.perform(actions)
      return nil
    }
    paths[id] = path
    return path
  }

  /// Releases the file; call this once for each ``open(_:)``.
  func close(_ id: AssetID) {
    guard let count = readers.removeValue(forKey: id), count > 1 else { return remove(id) }
    readers[id] = count - 1
  }

  /// Does nothing if the file is still needed: the document lacks the photo, the output contains the file's path, or
  /// the file is being read.
  func remove(_ id: AssetID) {
    guard !configuration.keepsPhotoFiles, persistence.document != nil, readers[id] == nil,
      !persistence.queue.isWaiting(forPhoto: id.bytes), let path = paths.removeValue(forKey: id)
    else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  func isPhoto(_ path: String, _ id: AssetID) -> Bool {
    let bytes = try? FileReading.whole(path, limit: BoardLimits.photoBytes)
    return bytes.map { Array(SHA256.hash(data: $0)) == id.bytes } ?? false
  }

  // MARK: - Restoring

  /// If the row of a photo is missing or damaged, stores the photo again from an intact file. The replica's actions are
  /// not performed, because they only report objects, and the board is shown later.
  nonisolated(nonsending) func restore(from document: BoardDocument, to replica: Replica) async {
    // If the list cannot be read, each photo is read instead.
    let stored = try? await document.assetIDs()
    // Includes the photos of deleted objects, since a deletion can be undone.
    for (_, record) in replica.board.state.records {
      guard let asset = record.asset, paths[asset.id] == nil else { continue }
      let path = path(asset.id, asset.format)
      let isStored = stored?.contains(asset.id.bytes) ?? true
      if isStored, !configuration.keepsPhotoFiles, document.damages.isEmpty {
        // The photo is checked when it is read. The file may be left over from a program that was killed.
        try? FileManager.default.removeItem(atPath: path)
        runtime.report(.photo(asset.id))
        _ = replica.assetStored(asset.id, bytes: asset.byteCount, now: runtime.now)
        continue
      }
      if isIntact(asset, path) {
        // If the document is damaged, the photo's row may be damaged too, so the photo is stored again.
        if !isStored || !document.damages.isEmpty { await store(asset, at: path, in: document) }
      } else if isStored {
        guard await extract(asset, to: path, from: document) == nil else { continue }
      } else {
        removeDamagedFile(asset, path)
        // The photo is requested from other members.
        continue
      }
      add(asset.id, at: path)
      _ = replica.assetStored(asset.id, bytes: asset.byteCount, now: runtime.now)
      remove(asset.id)
    }
  }

  /// A file that was damaged on disk must not be sent to others.
  private func isIntact(_ asset: AssetReference, _ path: String) -> Bool {
    FileReading.size(path) == asset.byteCount && isPhoto(path, asset.id)
  }

  private func removeDamagedFile(_ asset: AssetReference, _ path: String) {
    guard FileReading.size(path) != nil else { return }
    try? FileManager.default.removeItem(atPath: path)
    reportLoss(asset.id, DocumentError(.damaged, "\(path) is damaged"))
  }

  private nonisolated(nonsending) func store(_ asset: AssetReference, at path: String, in document: BoardDocument) async
  {
    defer { checkIsolation(#isolation) }
    do throws(DocumentError) { try await document.storeAsset(file: path, sha256: asset.id.bytes) } catch {
      // The next write tries again.
      persistence.recordPhoto(asset.id, at: path)
    }
  }

  /// Writes a photo of the document to a file; removes a damaged photo from the document. Returns nil if the file was
  /// written.
  private nonisolated(nonsending) func extract(_ asset: AssetReference, to path: String, from document: BoardDocument)
    async -> DocumentError?
  {
    do throws(DocumentError) {
      let bytes = try await document.asset(asset.id.bytes)
      do { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
        throw DocumentError(.inputOutput, "\(path) cannot be written", cause: error)
      }
      return nil
    } catch {
      if error.code == .damaged {
        // A copy from another member will replace the photo.
        try? await document.removeAsset(asset.id.bytes)
      }
      reportLoss(asset.id, error)
      return error
    }
  }

  private func reportLoss(_ id: AssetID, _ error: DocumentError) {
    runtime.emit(
      .warning(
        .init(
          code: "photo-lost",
          message: "The photo \(id) cannot be read from the disk and is requested from others: " + error.message
        )
      )
    )
  }
}

extension PhotoFiles {
  /// Stores the photo in the photo directory; returns its reference and its upright size on the board.
  nonisolated(nonsending) func importPhoto(_ file: String) async throws(CommandError) -> (AssetReference, Size) {
    defer { checkIsolation(#isolation) }
    let (bytes, reference, hasMorePictures) = try await readPhoto(file, configuration.photos)
    try requireRoom(for: reference)
    let path = path(reference.id, reference.format)
    try await FileQueue.run { () throws(CommandError) in try Self.write(bytes, to: path) }
    wrote(reference, to: path)
    if hasMorePictures {
      let message = "\(UntrustedText(file).quoted(limit: 256)): only the first picture of the file is on the board"
      runtime.emit(.warning(.init(code: "import", message: message)))
    }
    return (reference, reference.size(PhotoHeader.orientation(of: bytes)))
  }

  private static func reference(to bytes: [UInt8], of file: String) throws(CommandError) -> AssetReference {
    do throws(PhotoError) {
      let header = try PhotoHeader(ofWhole: bytes)
      guard let id = AssetID(Array(SHA256.hash(data: bytes))) else { throw .malformed }
      return try AssetReference(id: id, byteCount: bytes.count, header: header)
    } catch {
      let shown = UntrustedText(file).quoted(limit: 256)
      switch error {
      case .unknownFormat:
        throw CommandError(
          .notAPhoto,
          "\(shown) is not a picture of a supported format: \(OtherPicture.formats)"
        )
      case .malformed: throw CommandError(.notAPhoto, "\(shown) is a damaged JPEG or PNG")
      case .truncated: throw CommandError(.notAPhoto, "\(shown) ends before its picture is complete")
      case .tooManyPixels:
        throw CommandError(.tooBig, "\(shown) has too many pixels; at most \(BoardLimits.photoPixels) are allowed")
      case .tooManyBytes:
        throw CommandError(.tooBig, "\(shown) is empty, or has more than \(BoardLimits.photoBytes) bytes")
      }
    }
  }

  private nonisolated(nonsending) func readPhoto(_ file: String, _ converter: (any PhotoConverter)?)
    async
    throws(CommandError) -> ([UInt8], AssetReference, hasMorePictures: Bool)
  {
    defer { checkIsolation(#isolation) }
    return try await FileQueue.run(untilEndOf: runtime) { () throws(CommandError) in
      let bytes = try FileReading.whole(file, limit: OtherPicture.byteLimit)
      let photo: [UInt8]
      do throws(ConversionError) { photo = try Self.photo(of: bytes, converter) } catch {
        throw CommandError(
          .notAPhoto,
          "\(UntrustedText(file).quoted(limit: 256)): \(UntrustedText(error.message).escaped())"
        )
      }
      return (photo, try Self.reference(to: photo, of: file), OtherPicture.hasMorePictures(bytes))
    }
  }

  /// Returns the photo for a picture in any supported format; blocks during the conversion. Without a converter, the
  /// data after the header of a JPEG or PNG is not checked.
  static func photo(of bytes: [UInt8], _ converter: (any PhotoConverter)?) throws(ConversionError) -> [UInt8] {
    if let other = OtherPicture(of: bytes) {
      let png = try other.png(bytes)
      return try converter?.photo(of: png, mayCompress: true) ?? png
    }
    guard let converter, PhotoHeader.isPhoto(bytes) || PhotoHeader.isWebP(bytes) else { return bytes }
    return try converter.photo(of: bytes, mayCompress: false)
  }

  /// Writes the file of a photo; the next answer confirms that the photo is stored.
  func store(_ bytes: [UInt8], _ reference: AssetReference) throws(CommandError) {
    try requireRoom(for: reference)
    let path = path(reference.id, reference.format)
    try Self.write(bytes, to: path)
    wrote(reference, to: path)
  }

  private func requireRoom(for reference: AssetReference) throws(CommandError) {
    do throws(BoardError) { try replica?.requireRoom(for: reference) } catch {
      throw CommandError(error) { members.label(of: $0) }
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
    // Replace an existing file, because it may be damaged.
    do throws(OutputFile.WriteError) { try OutputFile.write(bytes, to: path, isReplacing: true) } catch {
      throw CommandError(.fileUnwritable, "the photo is not on the board: \(error.message)")
    }
  }

  private func wrote(_ reference: AssetReference, to path: String) {
    add(reference.id, at: path)
    persistence.recordPhoto(reference.id, at: path, isAwaited: true)
  }
}
