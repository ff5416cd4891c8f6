import FoundationEssentials
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit

package func filing<Result>(_ body: () async throws(DocumentError) -> Result) async throws(WhiteboardError) -> Result {
  do throws(DocumentError) { return try await body() } catch { throw WhiteboardError(error) }
}

extension BoardLibrary {
  /// Returns the path of the board file that an argument names by path, name, title or id prefix. Throws if no board or
  /// more than one board matches. Titles are compared only if no board has that name or id prefix.
  package func file(of board: String) async throws(WhiteboardError) -> String {
    let isFile = BoardFile.isMeant(by: board)
    if isFile, FileManager.default.fileExists(atPath: board) { return BoardFile.absolute(board) }
    let all = try await filing { () throws(DocumentError) in try await list() }
    let named = all.filter { summary in
      summary.name == board || (board.utf8.count >= 4 && Self.id(of: summary, begins: board))
        || (summary.error != nil && Self.isFile(summary.path, named: board))
    }
    // A damaged file is ignored if the file that contains its recovered data matches too.
    var meant = named.filter { summary in
      summary.error == nil && summary.damage == nil
        || !named.contains { $0.path == Self.recoveredPath(of: summary.path) }
    }
    if meant.isEmpty { meant = all.filter { $0.title == board } }
    guard let only = meant.first else {
      guard !isFile else {
        throw WhiteboardError(.noInput, "the file \(UntrustedText(board).quoted(limit: 256)) does not exist")
      }
      throw WhiteboardError(
        .noInput,
        "there is no board \(UntrustedText(board).quoted()); " + "`whiteboard-peer boards` lists the saved boards"
      )
    }
    guard meant.count == 1 else {
      throw WhiteboardError(
        .usage,
        "\(meant.count) files hold a board of that name or id: " + meant.prefix(4).map(\.path).joined(separator: ", ")
          + "; give the path of one file, or move the others out of the directory"
      )
    }
    return only.path
  }

  private static func id(of summary: DocumentSummary, begins start: String) -> Bool {
    summary.board.flatMap { SessionID(bytes: $0) }?.text.hasPrefix(start.lowercased()) ?? false
  }
}

extension WhiteboardError {
  package init(_ error: any Error, inDataDirectory directory: String) {
    if let error = error as? WhiteboardError {
      self = error
      return
    }
    let files = FileManager.default
    var isMissing = !files.fileExists(atPath: directory)
    if case IdentityError.system? = error as? IdentityError {
      isMissing = isMissing || !files.fileExists(atPath: directory + "/identity.pem")
    }
    self.init(isMissing ? .cannotCreate : .badConfiguration, "\(error)")
  }
}
