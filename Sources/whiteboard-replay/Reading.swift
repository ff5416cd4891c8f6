import ArgumentParser
import SessionReplay
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

/// The recording that a command is about.
struct RecordingArgument: ParsableArguments {
  @Argument(help: "The recording: a .whiteboard file.", completion: .file())
  var file: String

  /// Reads it; what is damaged in it is said on standard error.
  func recording() async throws(NodeError) -> Recording { try await Recording.read(file) }
}

extension Recording {
  /// Reads the recording in a file, and says what is damaged in it on standard error.
  static func read(_ file: String, isLoud: Bool = true) async throws(NodeError) -> Recording {
    let recording: Recording
    do throws(DocumentError) {
      recording = try await openOrSalvage(file)
    } catch {
      throw NodeError(error)
    }
    if isLoud {
      for damage in recording.history.damages {
        Console.complain("whiteboard-replay: damaged, and left out: \(damage.words)")
      }
    }
    return recording
  }

  /// The moment that a word of the command line names.
  func asked(_ word: String) throws(NodeError) -> Int64 {
    do throws(MomentError) {
      return try moment(word)
    } catch {
      throw NodeError(.usage, TerminalText.cleaned(error.message))
    }
  }
}
