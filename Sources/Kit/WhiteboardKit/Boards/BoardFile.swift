import FoundationEssentials
import PeerCore
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Operations on the files of boards that need no session.
package enum BoardFile {
  package struct Content: Sendable {
    package let name: String
    package let objects: [ObjectSnapshot]
    package let chat: [ChatLine]
    package let digest: String

    package var events: [SharedBoard.Output] {
      [.answer(.objects(ListedObjects(objects.map { ReportedObject($0) })))]
        + chat.map { .change(.chat($0, by: .me), .init(member: $0.author)) } + [
          .answer(.digest(digest, objects: objects.count))
        ]
    }
  }

  /// The current time, in milliseconds since 1970.
  package static var now: Int64 { Int64(SystemTime.milliseconds) }

  /// Formats milliseconds since 1970 as RFC 3339.
  package static func time(_ milliseconds: Int64) -> String {
    Timestamp.text(milliseconds: UInt64(max(0, milliseconds)))
  }

  package static let fileExtension = BoardLibrary.fileExtension

  package static func directory(inDataDirectory directory: String) -> String { directory + "/boards" }

  package static func isMeant(by text: String) -> Bool { text.contains("/") || text.hasSuffix("." + fileExtension) }

  package static func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// The ends of the names of the files of a board; the first file contains the board, and SQLite makes the others.
  package static let ends = ["", "-wal", "-journal", "-shm"]

  /// Deletes the files of a board. If the program is killed meanwhile, the board is either unchanged or deleted, because
  /// the other files alone are not a board.
  package static func delete(_ path: String) throws(WhiteboardError) {
    for file in ends.map({ path + $0 }) where unlink(file) != 0 && errno != ENOENT {
      let words = SystemError.words(for: errno)
      throw WhiteboardError(.cannotCreate, "\(UntrustedText(file).escaped()) cannot be deleted: \(words)")
    }
  }

  /// Reads the newest state of the board, or a stored version. The board may be open in another program.
  package static func read(_ path: String, version: String? = nil) async throws(WhiteboardError) -> Content {
    let (replica, name) = try await replica(of: path, version: version)
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      replica.board.assets.formUnion(try await document.assetIDs().compactMap { AssetID($0) })
    } catch { throw WhiteboardError(error) }
    return Content(name: name, objects: replica.board.snapshots, chat: replica.board.chat, digest: replica.digest.hex)
  }

  /// Returns the thumbnail as SVG without scripts or URLs; nil if the file has no thumbnail, or cannot be read. If
  /// another program wrote the stored thumbnail, it could contain a script, so a new thumbnail is drawn from the
  /// objects.
  package static func thumbnail(of summary: DocumentSummary) async -> String? {
    guard let stored = summary.thumbnail, !Thumbnail.isOwn(stored) else { return summary.thumbnail }
    guard let board = try? await replica(of: summary.path, version: nil).replica.board else { return nil }
    return Thumbnail.svg(of: board.state)
  }

  /// Returns the number of objects on a board. If the summary is outdated, counts the objects in the file.
  package static func objectCount(of summary: DocumentSummary) async -> Int? {
    guard summary.isOutdated else { return summary.objects }
    let board = try? await replica(of: summary.path, version: nil).replica.board
    return board?.state.shownCount ?? summary.objects
  }

  /// Returns whether the file has facts about its session that this computer did not write (REC-20); false if the file
  /// cannot be read.
  package static func hasForeignFacts(_ path: String, dataDirectory: String) async -> Bool {
    let library = BoardLibrary(sealedIn: dataDirectory)
    let seal = library.seal(forFile: path)
    guard let document = try? await BoardDocument.open(at: path, mode: .reading, seal: seal) else { return false }
    try? await document.close()
    return document.hasForeignFacts
  }

  static func foreignFactsText(_ path: String) -> String {
    "\(path) was written on another computer or by another person. Its members, addresses, join code and browser links "
      + "were removed and are not used. If it is your own board, copy the file again and open it with --trust-file."
  }

  /// Checks all data in the file (REC-18); returns a line for each damaged part.
  package static func verify(_ path: String) async throws(WhiteboardError) -> [String] {
    do throws(DocumentError) { return try await BoardDocument.damages(at: path, playing: RecordedBoard.self) } catch {
      throw WhiteboardError(error)
    }
  }

  /// Saves the intact data of a damaged file, and of its copies, to a new file. `objects` is the number of objects on
  /// the recovered board.
  package static func recover(_ source: String, to target: String) async throws(WhiteboardError) -> (
    report: RecoveryReport, objects: Int
  ) {
    do throws(DocumentError) {
      let report = try await BoardDocument.recover(from: source, to: target, now: now, playing: RecordedBoard.self)
      return (report, try await summarize(target))
    } catch {
      let advice = error.code == .exists ? "; use it, move it somewhere else, or choose another file with --output" : ""
      throw WhiteboardError(WhiteboardError(error).code, error.messageOfRecovery + advice)
    }
  }

  /// Counts the objects again, because the summary may include objects that could not be recovered.
  private static func summarize(_ path: String) async throws(DocumentError) -> Int {
    let document = try await BoardDocument.open(at: path, mode: .writing)
    do throws(DocumentError) {
      let board = try replica(of: try await document.load(), in: document).replica.board
      let summary = BoardSummary(of: board.state, now: now)
      let authors = Set(board.authors.values).subtracting([board.member])
      let known = try await document.people()
      let people = known.isEmpty ? authors.sorted().map(\.shortText) : known
      try await document.setSummary(
        objects: summary.objects,
        people: people,
        thumbnail: summary.thumbnail,
        changed: summary.changed
      )
      try await document.close()
      return summary.objects
    } catch {
      try? await document.close()
      throw error
    }
  }

  package static func duplicate(_ path: String, as name: String, in library: BoardLibrary, hostedBy host: PeerID? = nil)
    async throws(WhiteboardError) -> String
  {
    let (replica, _) = try await replica(of: path, version: nil)
    let board = SessionID.ofOpenBoard(hostedBy: host)
    let target = library.path(name: name, board: board.bytes)
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      let copy = try content(of: replica, for: board, at: path)
      let (keyframe, digest) = (copy.keyframe, copy.digest.bytes)
      let assets = Set(copy.assets.map(\.bytes))
      try await library.giving(name) { () async throws(DocumentError) in
        try await document.duplicate(
          to: target,
          board: board.bytes,
          name: name,
          keyframe: keyframe,
          digest: digest,
          assets: assets,
          now: now
        )
      }
    } catch { throw WhiteboardError(error) }
    return target
  }

  private static func content(of replica: Replica, for other: SessionID, at path: String) throws(DocumentError) -> (
    keyframe: [UInt8], digest: Bytes32, assets: Set<AssetID>
  ) {
    let author = Author(board: BoardID(other), key: PeerIdentity.ephemeral())
    do throws(BoardError) { return try replica.snapshotForAnotherBoard(by: author) } catch {
      throw DocumentError(
        .tooLarge,
        "\(path): the board cannot be copied, because it has changes from too many program runs "
          + "(\(error.code)); delete and purge objects on it first"
      )
    }
  }

  static func replica(of path: String, version: String?) async throws(WhiteboardError) -> (
    replica: Replica, name: String
  ) {
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      var content = try await document.load()
      if let version {
        content = DocumentContent(
          keyframe: try await document.version(version),
          entries: [],
          authors: content.authors,
          notes: []
        )
      }
      return (try replica(of: content, in: document).replica, try await document.name())
    } catch { throw WhiteboardError(error) }
  }

  private static func replica(of content: DocumentContent, in document: BoardDocument) throws(DocumentError) -> (
    replica: Replica, notes: [String]
  ) {
    let moment = Moment(wall: UInt64(now), uptime: 1)
    guard let board = BoardID(bytes: document.board) else {
      throw DocumentError(.damaged, "\(document.path): the file has no valid board id")
    }
    let replica = Replica(author: Author(board: board, key: PeerIdentity.ephemeral()), now: moment)
    let notes = try content.restore(to: replica, from: document, now: moment)
    return (replica, notes)
  }

  static func state(of keyframe: Keyframe, in document: BoardDocument) throws(DocumentError) -> (
    state: BoardState, notes: [String]
  ) {
    let content = DocumentContent(keyframe: keyframe, entries: [], authors: [], notes: [])
    let (replica, notes) = try replica(of: content, in: document)
    return (replica.board.state, notes)
  }
}

extension DocumentContent {
  /// A replica must restore these changes first: the authors and the keyframe.
  var beginning: [StoredChange] {
    var changes: [StoredChange] = []
    for author in authors where !author.record.isEmpty {
      if let incarnation = Incarnation(exactly: author.incarnation) {
        changes.append(.author(author.record, incarnation))
      }
    }
    if let keyframe { changes.append(.keyframe(keyframe.bytes)) }
    return changes
  }

  func changes() throws(CodecError) -> [StoredChange] {
    var changes: [StoredChange] = []
    for entry in entries {
      switch entry {
      case .batch(let bytes, _): changes.append(.batch(try EncodedBatch(decoding: bytes)))
      case .answer(let bytes, _): changes.append(.answer(bytes))
      case .author, .head, .marker, .gap, .end, .name, .traffic: break
      }
    }
    return changes
  }

  /// Returns descriptions, for the user, of damage and of unsigned authors. The error message names the command that
  /// recovers the file.
  func restore(to replica: Replica, from document: BoardDocument, now: Moment) throws(DocumentError) -> [String] {
    do {
      // An author with a local key requests no signatures, so the replica returns no actions.
      _ = try replica.restore(beginning, now: now, isWhole: false)
      let isRight = keyframe.map { $0.digest == replica.digest.bytes } ?? true
      _ = try replica.restore(changes(), now: now)
      let damage = isRight ? [] : ["its first stored state does not match its digest"]
      return damage + replica.unrecorded.notes
    } catch {
      throw DocumentError(
        .damaged,
        "\(document.path): its contents are damaged\(DocumentError.recoveryAdvice)",
        cause: error
      )
    }
  }
}

extension UnrecordedAuthors {
  fileprivate var notes: [String] {
    var notes: [String] = []
    if forgotten > 0 {
      notes.append(
        "it listed authors (\(forgotten)) that have no signed record and nothing on the board; "
          + "they were removed to free their space"
      )
    }
    if kept > 0 {
      notes.append(
        "it has changes by authors without a signed record (\(kept)), so other peers refuse to "
          + "merge it; to share its content, copy it with `whiteboard-peer boards duplicate`"
      )
    }
    return notes
  }
}

extension WhiteboardError {
  package init(_ error: DocumentError) {
    let code: Code =
      switch error.code {
      case .notFound: .noInput
      case .wrongKind, .newerSchema, .damaged, .wrongBoard: .badData
      case .badName, .tooLarge, .ambiguous: .usage
      case .exists, .readOnly: .cannotCreate
      case .inUse: .timedOut
      case .full, .quota, .removed, .closed, .inputOutput: .inputOutput
      }
    self.init(code, error.message)
  }
}

extension BoardLibrary {
  package init(inDataDirectory directory: String) {
    self.init(directory: BoardFile.directory(inDataDirectory: directory))
  }

  /// Opens the library of a data directory with the seal of this directory (REC-20).
  package init(sealedIn dataDirectory: String) {
    self.init(
      directory: BoardFile.directory(inDataDirectory: dataDirectory),
      seal: .loadOrCreate(inDirectory: dataDirectory)
    )
  }
}

extension BoardFile {
  /// The board may be open in another program. Loads the photos of all objects into memory.
  package static func export(_ path: String, version: String? = nil, of area: ExportArea = .wholeBoard)
    async throws(WhiteboardError) -> BoardExport
  {
    let (replica, name) = try await replica(of: path, version: version)
    let board = replica.board
    let photos: [AssetID: [UInt8]]
    let id: String
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      id = Base32.encode(document.board)
      photos = await Self.photos(Set(board.snapshots.compactMap { $0.asset?.id }), of: document)
    } catch { throw WhiteboardError(error) }
    board.assets.formUnion(photos.keys)
    let frame: ObjectID?
    do throws(CommandError) {
      frame = try area.frame.map { (name) throws(CommandError) in try board.frame(named: name) }
    } catch { throw WhiteboardError(.usage, error.message) }
    return BoardExport(of: board, id: id, name: name, region: area.region, frame: frame, names: names(on: board)) {
      photos[$0]
    }
  }

  package static func names(on board: Board) -> [MemberID: String] {
    Dictionary(
      board.chat.compactMap { line in line.name.map { (line.author, $0) } },
      uniquingKeysWith: { _, latest in latest }
    )
  }

  package static func photos(_ path: String) async throws(WhiteboardError) -> [AssetID: [UInt8]] {
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      let ids = try await document.assetIDs().compactMap { AssetID($0) }
      return await photos(Set(ids), of: document)
    } catch { throw WhiteboardError(error) }
  }

  private static func photos(_ ids: Set<AssetID>, of document: BoardDocument) async -> [AssetID: [UInt8]] {
    var photos: [AssetID: [UInt8]] = [:]
    for id in ids { photos[id] = try? await document.asset(id.bytes) }
    return photos
  }
}

/// The facts about a board that lists of boards show.
struct BoardSummary: Sendable {
  let objects: Int
  let thumbnail: String
  /// The time of the last change, in milliseconds since 1970.
  let changed: Int64

  init(of state: BoardState, now: Int64) {
    objects = state.shownCount
    thumbnail = Thumbnail.svg(of: state)
    // An author's clock may be ahead. Without this limit, the board would stay at the top of board lists.
    changed = min(state.lastChange.map { Int64(clamping: $0) } ?? now, now)
  }
}
