import FoundationEssentials
import PeerSession
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

extension BoardLibrary {
  /// The file of a board that is named by a file, a name, a title, or the start of its id.
  ///
  /// A title counts if no board has that name.
  ///
  /// - Throws: ``NodeError``: there is none, or more than one.
  package func file(of board: String) async throws(NodeError) -> String {
    let isFile = BoardFile.isMeant(by: board)
    if isFile, FileManager.default.fileExists(atPath: board) { return BoardFile.absolute(board) }
    let all: [DocumentSummary]
    do throws(DocumentError) { all = try await list() } catch { throw NodeError(error) }
    let named = all.filter { summary in
      summary.name == board || (board.utf8.count >= 4 && Self.id(of: summary, begins: board))
        || (summary.error != nil && Self.isFile(summary.path, named: board))
    }
    // A damaged file makes way for the file that its data was recovered to.
    var meant = named.filter { summary in
      summary.error == nil && summary.damage == nil
        || !named.contains { $0.path == Self.recoveredPath(of: summary.path) }
    }
    if meant.isEmpty { meant = all.filter { $0.title == board } }
    guard let only = meant.first else {
      guard !isFile else {
        throw NodeError(
          .noInput,
          "the file \(TerminalText.quoted(board, limit: 256)) is not there"
        )
      }
      throw NodeError(
        .noInput,
        "no board is called \(TerminalText.quoted(board)); `whiteboard-peer boards` lists them"
      )
    }
    guard meant.count == 1 else {
      throw NodeError(
        .usage,
        "\(meant.count) files hold a board of that name or id: "
          + meant.prefix(4).map(\.path).joined(separator: ", ")
          + "; give the file, or move all but one out of the directory"
      )
    }
    return only.path
  }

  private static func id(of summary: DocumentSummary, begins start: String) -> Bool {
    summary.board.flatMap { SessionID(bytes: $0) }?.text.hasPrefix(start.lowercased()) ?? false
  }
}
