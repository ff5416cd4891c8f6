import ArgumentParser
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

extension CompletionKind {
  /// A board that is kept here, by its name, or the file of one.
  static let board = CompletionKind.custom { _, _, prefix in
    // Options of the line that is being written are not looked at: an error in them is told when it is run.
    guard !prefix.contains("/"), let options = try? CommonOptions.parse([]),
      let library = try? options.boardLibrary()
    else { return [] }
    let summaries = (try? await library.list()) ?? []
    return summaries.filter { $0.error == nil }.map(\.name)
      .filter { $0.unicodeScalars.allSatisfy(TerminalText.isSafe) }
  }
}
