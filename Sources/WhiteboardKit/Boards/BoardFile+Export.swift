import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardExport

extension BoardFile {
  /// Reads the content of a board's file, or of a version in it, for an export.
  ///
  /// The board may be open in another program. The photos of all objects are loaded into memory.
  ///
  /// - Parameters:
  ///   - path: The board's file.
  ///   - version: The version to export; nil for the newest state.
  ///   - region: The part of the board to export, in board units; nil for the whole board.
  /// - Returns: The content to export.
  /// - Throws: ``WhiteboardError`` if the file cannot be read, or has no such version.
  package static func export(_ path: String, version: String? = nil, region: Rectangle? = nil)
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
    return BoardExport(of: board, id: id, name: name, region: region, names: names(on: board)) { photos[$0] }
  }

  /// Returns the display names of members, including those of chat authors.
  package static func names(on board: Board) -> [MemberID: String] {
    Dictionary(
      board.chat.compactMap { line in line.name.map { (line.author, $0) } },
      uniquingKeysWith: { _, latest in latest }
    )
  }

  /// Returns all intact photos of a board's file.
  ///
  /// - Throws: ``WhiteboardError`` if the file cannot be opened.
  package static func photos(_ path: String) async throws(WhiteboardError) -> [AssetID: [UInt8]] {
    do throws(DocumentError) {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      let ids = try await document.assetIDs().compactMap { AssetID($0) }
      return await photos(Set(ids), of: document)
    } catch { throw WhiteboardError(error) }
  }

  /// Returns the requested photos that the document contains intact.
  private static func photos(_ ids: Set<AssetID>, of document: BoardDocument) async -> [AssetID: [UInt8]] {
    var photos: [AssetID: [UInt8]] = [:]
    for id in ids { photos[id] = try? await document.asset(id.bytes) }
    return photos
  }
}
