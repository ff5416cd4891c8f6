import FoundationEssentials
import PeerSession
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

extension BoardLibrary {
  /// The file of a board that is named by a file, a name, or the start of its id.
  ///
  /// - Throws: ``NodeError``: there is none, or more than one.
  package func file(of board: String) async throws(NodeError) -> String {
    let isFile = BoardFile.isMeant(by: board)
    if isFile, FileManager.default.fileExists(atPath: board) { return BoardFile.absolute(board) }
    let all: [DocumentSummary]
    do throws(DocumentError) { all = try await list() } catch { throw NodeError(error) }
    let meant = all.filter { summary in
      summary.name == board || (board.utf8.count >= 4 && Self.id(of: summary, begins: board))
    }
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
        "\(meant.count) boards are called so; give the file: "
          + meant.prefix(4).map(\.path).joined(separator: ", ")
      )
    }
    return only.path
  }

  private static func id(of summary: DocumentSummary, begins start: String) -> Bool {
    summary.board.flatMap { SessionID(bytes: $0) }?.text.hasPrefix(start.lowercased()) ?? false
  }
}
