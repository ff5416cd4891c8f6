import ArgumentParser
import WhiteboardDocument
import WhiteboardKit
import WhiteboardRendering

extension CompletionKind {
  static let board = CompletionKind.custom { _, _, prefix in
    // Ignore the options on the line that is being completed. Errors in them are reported when the command runs.
    guard !prefix.contains("/"), let options = try? CommonOptions.parse([]), let library = try? options.boardLibrary()
    else { return [] }
    let summaries = (try? await library.list()) ?? []
    return summaries.filter { $0.error == nil }.map(\.name).filter { $0.unicodeScalars.allSatisfy(\.isSafe) }
  }
}
