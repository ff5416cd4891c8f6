import ArgumentParser
import FoundationEssentials
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardPictures
import WhiteboardRendering
import WhiteboardTerminal

/// The recording that a command is about.
struct RecordingArgument: ParsableArguments {
  @Argument(help: "The recording: a .whiteboard file, or a board of yours.", completion: .file())
  var file: String

  /// Its file.
  func path() async throws(NodeError) -> String { try await Recording.file(of: file) }

  /// Reads it; what is damaged in it is said on standard error.
  func recording() async throws(NodeError) -> Recording { try await Recording.read(file) }
}

extension Recording {
  /// The file that a word of the command line means: itself, or that of a board that is kept here, by its name or
  /// the start of its id.
  static func file(of word: String) async throws(NodeError) -> String {
    if BoardFile.isMeant(by: word) || FileManager.default.fileExists(atPath: word) {
      return BoardFile.absolute(word)
    }
    let place = SettingsFile.Place(nil) { Environment[$0] }
    let settings = try Settings(
      SettingEntry.ofNode + SettingEntry.ofTerminal,
      flags: [:],
      environment: { Environment[$0] },
      file: try place.flatMap { (place) throws(NodeError) in try SettingsFile(at: place) }
    )
    return try await BoardLibrary(directory: try settings.chosenDataDirectory() + "/boards")
      .file(of: word)
  }

  /// Reads the recording in a file, and says what is damaged in it on standard error.
  static func read(_ word: String, isLoud: Bool = true) async throws(NodeError) -> Recording {
    let file = try await file(of: word)
    let recording: Recording
    do throws(DocumentError) {
      recording = try await openOrSalvage(file)
    } catch {
      throw NodeError(error)
    }
    if isLoud {
      for damage in recording.history.damages {
        Console.complain(
          "whiteboard-replay: damaged, and left out: \(TerminalText.cleaned(damage.words))"
        )
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

  /// The moment that a word of the command line names, where the recording has it.
  func askedWithin(_ word: String) throws(NodeError) -> Int64 {
    let moment = try asked(word)
    // What is told in tenths may be a little beyond the end.
    guard moment <= duration + 100 else {
      throw NodeError(
        .usage,
        "\(TerminalText.quoted(word)) is beyond the end; it lasts \(Recording.exactText(duration))"
      )
    }
    return min(moment, duration)
  }

  /// What to call a member, to a person.
  func label(of member: MemberID) -> String {
    let id = String(member.description.prefix(8))
    return name(of: member).map { "\(TerminalText.cleaned($0, limit: 64)) (\(id))" } ?? id
  }

  /// The members that a word of the command line names: by the start of an id, or a name.
  func members(named word: String) throws(NodeError) -> Set<MemberID> {
    var all = Set(members.values)
    all.formUnion(history.traffic.flatMap(\.peers).compactMap { MemberID($0) })
    let found = all.filter { member in
      member.description.hasPrefix(word.lowercased())
        || name(of: member)?.lowercased() == word.lowercased()
    }
    guard !found.isEmpty else {
      let known = all.sorted().map(label).joined(separator: ", ")
      throw NodeError(
        .usage,
        "nobody in it is called \(TerminalText.quoted(word)); there "
          + (known.isEmpty ? "is nobody" : "are \(known)")
      )
    }
    return found
  }
}

extension Playback {
  /// Says on standard error that changes could not be applied.
  func tellFaults() {
    guard let first = faults.first else { return }
    Console.complain(
      "whiteboard-replay: left out, since it cannot be applied: step \(first.place + 1)"
        + (faults.count > 1 ? " and \(faults.count - 1) more" : "") + "; see `verify`"
    )
  }
}

extension BoardFile {
  /// What the photos of a file show, as cells of a terminal show it; those that cannot be read are left out.
  static func photoPixels(_ file: String) async -> [AssetID: PhotoPixels] {
    let photos = (try? await photos(file)) ?? [:]
    return photos.compactMapValues { try? PhotoDecoder.pixels(of: $0, within: 400, 400) }
  }
}

/// How many of something, in words.
func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
  "\(count) \(count == 1 ? one : many ?? one + "s")"
}
