import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The versions that a board's document keeps.
struct DocumentVersions: BoardVersions {
  let document: BoardDocument
  let node: Node

  func checkpoint(_ name: String) async throws(VerbError) {
    guard let present = await node.present() else {
      throw VerbError(.ending, "the board is closed")
    }
    do throws(DocumentError) {
      try await document.checkpoint(
        name: name,
        bytes: present.state,
        digest: present.digest,
        time: BoardFile.now
      )
    } catch {
      throw VerbError(error)
    }
  }

  func checkpoints() async throws(VerbError) -> [BoardCheckpoint] {
    do throws(DocumentError) {
      return try await document.versions().map {
        BoardCheckpoint(name: $0.name, madeAt: UInt64(max(0, $0.time)))
      }
    } catch {
      throw VerbError(error)
    }
  }

  func state(at name: String) async throws(VerbError) -> BoardState {
    do throws(DocumentError) {
      return try BoardFile.state(of: try await document.version(name), in: document)
    } catch {
      guard error.code == .notFound else { throw VerbError(error) }
      throw VerbError(
        .noSuchCheckpoint,
        "there is no checkpoint \(TerminalText.quoted(name)); `checkpoints` lists them"
      )
    }
  }

  func save(as file: String) async throws(VerbError) {
    do throws(DocumentError) {
      try await document.save(as: BoardFile.absolute(file))
    } catch {
      throw VerbError(error)
    }
  }
}

extension VerbError {
  /// What a document refused, as the answer to a verb.
  init(_ error: DocumentError) {
    let code: Code =
      switch error.code {
      case .badName, .tooLarge: .badArgument
      case .full, .inputOutput: .notSaved
      default: .refused
      }
    self.init(code, TerminalText.cleaned(error.message))
  }
}
