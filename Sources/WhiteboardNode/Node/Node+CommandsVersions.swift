import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

/// The verbs about versions of the board, which its document keeps.
extension Node {
  /// Stores the present board as a named version.
  func checkpoint(_ name: String) async throws(CommandError) {
    _ = try openDocument()
    do throws(DocumentError) {
      try await persistence.checkpoint(name)
    } catch {
      throw CommandError(error)
    }
  }

  /// Makes the board what it was at a checkpoint.
  func restore(_ name: String) async throws(CommandError) -> CommandOutcome {
    let earlier = try await state(at: name)
    let outcome = try openEditor().editInSteps { (board) throws(BoardError) in
      try board.restore(earlier)
    }
    let touched = outcome.changed + outcome.deleted + outcome.replaced.values
    return CommandOutcome(ids: touched.sorted())
  }

  /// Tells what differs between two checkpoints, or one and what is there now.
  func tellDifference(
    from: String,
    to: String?,
    _ request: CommandRequest
  ) async throws(CommandError) {
    let earlier = try await state(at: from)
    let later: BoardState
    if let to {
      later = try await state(at: to)
    } else {
      guard let replica else { throw CommandError(.ending, "the board is closed") }
      later = replica.board.state
    }
    let changes = BoardDiff.between(earlier, later).changes.compactMap { JSONValue($0.json) }
    emit(
      .diff(
        .init(
          from: from,
          to: to,
          count: changes.count,
          changes: changes,
          request: request.request
        )
      )
    )
  }

  func tellCheckpoints(_ request: CommandRequest) async throws(CommandError) {
    let document = try openDocument()
    let versions: [DocumentVersion]
    do throws(DocumentError) {
      versions = try await document.versions()
    } catch {
      throw CommandError(error)
    }
    let list = versions.map {
      NodeEvent.CheckpointDescription(
        name: $0.name,
        at: Timestamp.text(milliseconds: UInt64(max(0, $0.time)))
      )
    }
    emit(.checkpoints(.init(count: list.count, checkpoints: list, request: request.request)))
  }

  /// The board as it was at a checkpoint.
  private func state(at name: String) async throws(CommandError) -> BoardState {
    let document = try openDocument()
    do throws(DocumentError) {
      let version = try await document.version(name)
      let (state, notes) = try BoardFile.state(of: version, in: document)
      for note in notes {
        let message = "\(TerminalText.quoted(name)): \(note)"
        emit(.warning(.init(code: "document-damaged", message: message)))
      }
      return state
    } catch {
      guard error.code == .notFound else { throw CommandError(error) }
      throw CommandError(
        .noSuchCheckpoint,
        "there is no checkpoint \(TerminalText.quoted(name)); `checkpoints` lists them"
      )
    }
  }

  /// Returns the document of the board.
  ///
  /// - Throws: `refused` if the board is not stored.
  func openDocument() throws(CommandError) -> BoardDocument {
    guard let document = persistence.document else {
      throw CommandError(.refused, "this board is not stored on disk")
    }
    return document
  }
}

extension CommandError {
  /// Creates the answer to a command from the error of a document.
  init(_ error: DocumentError) {
    let code: Code =
      switch error.code {
      case .badName, .tooLarge: .badArgument
      case .full, .quota, .readOnly, .removed, .inputOutput: .notSaved
      default: .refused
      }
    self.init(code, TerminalText.cleaned(error.message))
  }
}
