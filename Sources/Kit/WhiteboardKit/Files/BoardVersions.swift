import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Creates, compares and restores the checkpoints that the board's file stores. Confined to the actor of its board.
final class BoardVersions {
  private let runtime: BoardRuntime
  private let persistence: Persistence
  private let editor: BoardEditor

  init(_ runtime: BoardRuntime, persistence: Persistence, editor: BoardEditor) {
    self.runtime = runtime
    self.persistence = persistence
    self.editor = editor
  }

  nonisolated(nonsending) func checkpoint(_ name: String) async throws(CommandError) {
    defer { checkIsolation(#isolation) }
    _ = try persistence.openDocument
    do throws(DocumentError) { try await persistence.checkpoint(name) } catch {
      guard error.code == .exists else { throw CommandError(error) }
      let shown = UntrustedText(name).quoted()
      throw CommandError(.refused, "there is already a checkpoint \(shown); choose another name")
    }
  }

  nonisolated(nonsending) func restore(_ name: String) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    let earlier = try await state(at: name)
    let outcome = try editor.editInSteps { (board) throws(BoardError) in try board.restore(earlier) }
    let touched = outcome.changed + outcome.deleted + outcome.replaced.values
    return CommandOutcome(ids: touched.sorted())
  }

  nonisolated(nonsending) func difference(from: String, to: String?) async throws(CommandError) -> SharedBoard.Answer {
    defer { checkIsolation(#isolation) }
    let earlier = try await state(at: from)
    let later: BoardState
    if let to { later = try await state(at: to) } else { later = editor.board.state }
    return .diff(from: from, to: to, BoardDiff.between(earlier, later).changes.compactMap { JSONTree($0.json) })
  }

  nonisolated(nonsending) func checkpoints() async throws(CommandError) -> SharedBoard.Answer {
    let document = try persistence.openDocument
    let versions: [DocumentVersion]
    do throws(DocumentError) { versions = try await document.versions() } catch { throw CommandError(error) }
    return .checkpoints(versions.map { ($0.name, UInt64(max(0, $0.time))) })
  }

  private nonisolated(nonsending) func state(at name: String) async throws(CommandError) -> BoardState {
    let document = try persistence.openDocument
    do throws(DocumentError) {
      let version = try await document.version(name)
      let (state, notes) = try BoardFile.state(of: version, in: document)
      for note in notes {
        let message = "\(UntrustedText(name).quoted()): \(note)"
        runtime.emit(.warning(.init(code: "document-damaged", message: message)))
      }
      return state
    } catch {
      guard error.code == .notFound else { throw CommandError(error) }
      throw CommandError(
        .noSuchCheckpoint,
        "there is no checkpoint \(UntrustedText(name).quoted()); `checkpoints` lists them"
      )
    }
  }
}

extension CommandError {
  init(_ error: DocumentError) {
    let code: Code =
      switch error.code {
      case .badName, .tooLarge: .badArgument
      case .full, .quota, .readOnly, .removed, .inputOutput: .notSaved
      default: .refused
      }
    self.init(code, UntrustedText(error.message).escaped())
  }
}
