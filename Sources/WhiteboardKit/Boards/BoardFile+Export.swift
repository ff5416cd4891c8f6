import Whiteboard
import WhiteboardDocument
import WhiteboardExport

extension BoardFile {
  /// What of a board's file, or of a version in it, is to be written to a file of another kind; the board
  /// may be open elsewhere.
  ///
  /// The photos that show are read at once.
  ///
  /// - Throws: ``WhiteboardError`` with what is wrong and what to do.
  package static func export(
    _ path: String,
    version: String? = nil,
    region: Rectangle? = nil
  ) async throws(WhiteboardError) -> BoardExport {
    let (replica, name) = try await replica(of: path, version: version)
    let board = replica.board
    let photos: [AssetID: [UInt8]]
    let id: String
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      id = Base32.encode(document.board)
      photos = await Self.photos(
        Set(board.snapshots.compactMap { $0.asset?.id }),
        of: document
      )
    } catch {
      throw WhiteboardError(error)
    }
    board.assets.formUnion(photos.keys)
    return BoardExport(of: board, id: id, name: name, region: region, names: names(on: board)) {
      photos[$0]
    }
  }

  /// Returns the display names of members, including those of chat authors.
  package static func names(on board: Board) -> [MemberID: String] {
    Dictionary(
      board.chat.compactMap { line in line.name.map { (line.author, $0) } },
      uniquingKeysWith: { _, latest in latest }
    )
  }

  /// All photos of a file that are whole.
  ///
  /// - Throws: ``WhiteboardError`` if the file cannot be opened.
  package static func photos(_ path: String) async throws(WhiteboardError) -> [AssetID: [UInt8]] {
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      let ids = try await document.assetIDs().compactMap { AssetID($0) }
      return await photos(Set(ids), of: document)
    } catch {
      throw WhiteboardError(error)
    }
  }

  /// The photos that are there and whole.
  private static func photos(
    _ ids: Set<AssetID>,
    of document: BoardDocument
  ) async -> [AssetID: [UInt8]] {
    var photos: [AssetID: [UInt8]] = [:]
    for id in ids { photos[id] = try? await document.asset(id.bytes) }
    return photos
  }
}
