import ArgumentParser
import FoundationEssentials
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

/// The recording that a command makes.
struct NewRecording: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to make; its name ends in .whiteboard.", valueName: "FILE"),
    completion: .file()
  )
  var output: String

  /// Writes a recording there, with those photos of other files that it shows.
  func write(_ recording: Recording, photosOf files: [String]) async throws(NodeError) {
    var photos: [[UInt8]: [UInt8]] = [:]
    for file in files {
      let file = try await Recording.file(of: file)
      for (id, bytes) in try await BoardFile.photos(file) { photos[id.bytes] = bytes }
    }
    try await write(recording, photos)
  }

  /// Writes a recording there, with the photos that it shows.
  func write(_ recording: Recording, _ photos: [[UInt8]: [UInt8]]) async throws(NodeError) {
    let path = BoardFile.absolute(output)
    guard path.hasSuffix(".\(BoardFile.fileExtension)") else {
      throw NodeError(.usage, "end the name of the file in .\(BoardFile.fileExtension)")
    }
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    playback.tellFaults()
    let shown = Set(playback.board.state.records.compactMap { _, record in record.asset?.id.bytes })
    do throws(DocumentError) {
      try await recording.write(to: path, assets: photos.filter { shown.contains($0.key) })
    } catch {
      throw NodeError(error)
    }
    try Console.tell(
      """
      \(TerminalText.cleaned(output)): \(Recording.text(recording.duration)), \
      \(recording.count) steps, digest \(playback.board.digest.hex)

      """
    )
  }
}

/// `whiteboard-replay cut`.
struct CutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cut",
    abstract: "Make a recording of a part of a recording.",
    discussion: "It begins with the board as it was at the first of the two times."
  )

  @OptionGroup var input: RecordingArgument

  @Option(help: ArgumentHelp("From this time on; else the beginning.", valueName: "TIME"))
  var from: String?

  @Option(help: ArgumentHelp("Up to this time; else the end.", valueName: "TIME"))
  var to: String?

  @OptionGroup var new: NewRecording

  mutating func validate() throws {
    guard from != nil || to != nil else { throw ValidationError("Give --from, --to or both.") }
  }

  mutating func run() async throws {
    let recording = try await input.recording()
    let first = try from.map(recording.askedWithin) ?? 0
    let last = try to.map(recording.askedWithin) ?? recording.duration
    guard first <= last else { throw NodeError(.usage, "--from is later than --to") }
    let part: Recording
    do throws(DocumentError) { part = try recording.cut(first...last) } catch {
      throw NodeError(error)
    }
    try await new.write(part, photosOf: [input.path()])
  }
}

/// `whiteboard-replay concat`.
struct ConcatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "concat",
    abstract: "Make one recording of several of one board, in the order in which they began.",
    discussion: """
      What an earlier one has is not repeated: of what several people recorded of one session comes a recording \
      that has what any of them has.
      """
  )

  @Argument(help: "The recordings.", completion: .file()) var files: [String]

  @OptionGroup var new: NewRecording

  mutating func validate() throws {
    guard files.count > 1 else { throw ValidationError("Name two recordings or more.") }
  }

  mutating func run() async throws {
    var parts: [Recording] = []
    for file in files { parts.append(try await Recording.read(file)) }
    let whole: Recording
    do throws(DocumentError) { whole = try Recording.concatenated(parts) } catch {
      throw NodeError(error)
    }
    try await new.write(whole, photosOf: files)
  }
}

/// `whiteboard-replay anonymize`.
struct AnonymizeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "anonymize",
    abstract: "Make a recording of which nobody sees who drew it.",
    discussion: """
      Keys, signatures, names, what went over the session, the board's id and the date go; --words makes an x of \
      every letter of texts and chat; photos go. Each person stays one person, under another key, so that `run` acts \
      it as it was. Drawings stay as they are, and a hand can be known by them; who has the original can compare \
      them. A word game may come out otherwise. A board that somebody owns is refused.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Hide what texts and chat say, too.") var words = false

  @Flag(help: "Keep the photos.") var photos = false

  @OptionGroup var new: NewRecording

  mutating func run() async throws {
    let recording = try await input.recording()
    let other: Recording
    do throws(DocumentError) {
      other = try recording.anonymized(seed: .random(in: .min ... .max), hidesWords: words)
    } catch {
      throw NodeError(error)
    }
    try await new.write(other, photosOf: photos ? [input.path()] : [])
  }
}

/// `whiteboard-replay import`.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Make a recording of the lines that `export -o FILE.jsonl` wrote.",
    discussion: """
      Lines may be taken away, moved, and given other times. The digests that stand there are compared with what \
      the board comes to; what differs is said, and the new recording has the digests that are right.
      """
  )

  @Argument(help: "The lines; - reads standard input.", completion: .file()) var file: String

  @OptionGroup var new: NewRecording

  mutating func run() async throws {
    let bytes: [UInt8]
    do throws(CommandError) {
      bytes =
        file == "-"
        ? try FileReading.standardInput(limit: 1 << 30)
        : try FileReading.whole(BoardFile.absolute(file), limit: 1 << 30)
    } catch {
      throw NodeError(.noInput, error.message)
    }
    let lines = String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }
    let recording: Recording
    let photos: [[UInt8]: [UInt8]]
    do throws(RecordingLines.ReadError) {
      (recording, photos) = try RecordingLines.read(lines)
    } catch {
      throw NodeError(.badData, "\(file):\(error.line): \(TerminalText.cleaned(error.message))")
    }
    let found = await Verification(of: recording, replicas: 0, seed: 0)
    for mismatch in found.mismatches {
      Console.complain(
        "whiteboard-replay: after step \(mismatch.place) the board is another than it was"
      )
    }
    try await new.write(recording, photos)
  }
}
