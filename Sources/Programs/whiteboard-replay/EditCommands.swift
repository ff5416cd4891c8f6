import ArgumentParser
import FoundationEssentials
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

struct NewRecording: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to create; its name must end in .whiteboard.", valueName: "FILE"),
    completion: .file()
  ) var output: String

  func write(_ recording: Recording, photosOf files: [String]) async throws(WhiteboardError) {
    var photos: [[UInt8]: [UInt8]] = [:]
    for file in files {
      let file = try await Recording.file(of: file)
      for (id, bytes) in try await BoardFile.photos(file) { photos[id.bytes] = bytes }
    }
    try await write(recording, photos)
  }

  func write(_ recording: Recording, _ photos: [[UInt8]: [UInt8]]) async throws(WhiteboardError) {
    let path = BoardFile.absolute(output)
    guard path.hasSuffix(".\(BoardFile.fileExtension)") else {
      throw WhiteboardError(.usage, "the name of the file must end in .\(BoardFile.fileExtension)")
    }
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    playback.tellFaults()
    let shown = Set(playback.board.state.records.compactMap { _, record in record.asset?.id.bytes })
    try await filing { () async throws(DocumentError) in
      try await recording.write(to: path, assets: photos.filter { shown.contains($0.key) })
    }
    try Console.tell(
      """
      \(UntrustedText(output).escaped()): \(Recording.text(recording.duration)), \
      \(recording.count) steps, digest \(playback.board.digest.hex)

      """
    )
  }
}

struct CutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cut",
    abstract: "Extract a part of a recording.",
    discussion: "The new recording begins with the board as it was at --from."
  )

  @OptionGroup var input: RecordingArgument

  @Option(help: ArgumentHelp("The start of the part; by default, the beginning.", valueName: "TIME")) var from: String?

  @Option(help: ArgumentHelp("The end of the part; by default, the end of the recording.", valueName: "TIME")) var to:
    String?

  @OptionGroup var new: NewRecording

  mutating func validate() throws {
    guard from != nil || to != nil else { throw ValidationError("Give --from, --to or both.") }
  }

  mutating func run() async throws {
    let recording = try await input.recording()
    let first = try from.map(recording.askedWithin) ?? 0
    let last = try to.map(recording.askedWithin) ?? recording.duration
    guard first <= last else { throw WhiteboardError(.usage, "--from is later than --to") }
    let part = try await filing { () throws(DocumentError) in try recording.cut(first...last) }
    try await new.write(part, photosOf: [input.path()])
  }
}

struct ConcatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "concat",
    abstract: "Join several recordings of the same board, in the order in which they began.",
    discussion: """
      Changes that several recordings contain are not repeated. If several members recorded the same session, \
      the new recording contains every change that any of them recorded.
      """
  )

  @Argument(help: "The recordings to join.", completion: .file()) var files: [String]

  @OptionGroup var new: NewRecording

  mutating func validate() throws {
    guard files.count > 1 else { throw ValidationError("Give two or more recordings.") }
  }

  mutating func run() async throws {
    var parts: [Recording] = []
    for file in files { parts.append(try await Recording.read(file)) }
    let whole = try await filing { () throws(DocumentError) in try Recording.concatenated(parts) }
    try await new.write(whole, photosOf: files)
  }
}

struct AnonymizeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "anonymize",
    abstract: "Remove the identities of the authors from a recording.",
    discussion: """
      Keys, signatures, names, recorded traffic, photos, the board's id and the date are removed. With --words, \
      the letters of texts and chat are replaced by x. Each author gets a new key, so that `run` can replay the \
      recording as before. Drawings are not changed: a drawing style can be recognized, and anyone who has the \
      original can compare the drawings. A word game may end differently. Recordings of owned boards are refused.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Also replace the letters of texts and chat with x.") var words = false

  @Flag(help: "Keep the photos.") var photos = false

  @OptionGroup var new: NewRecording

  mutating func run() async throws {
    let recording = try await input.recording()
    let other = try await filing { () throws(DocumentError) in
      try recording.anonymized(seed: .random(in: .min ... .max), hidesWords: words)
    }
    try await new.write(other, photosOf: photos ? [input.path()] : [])
  }
}

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Create a recording from the lines that `export -o FILE.jsonl` wrote.",
    discussion: """
      You can remove lines, move them, and change their times. The digests in the lines are compared with the \
      board. Differences are reported, and the new recording gets the correct digests.
      """
  )

  @Argument(help: "The file with the lines; - is standard input.", completion: .file()) var file: String

  @OptionGroup var new: NewRecording

  mutating func run() async throws {
    let bytes: [UInt8]
    do throws(CommandError) {
      bytes =
        file == "-"
        ? try FileReading.standardInput(limit: 1 << 30)
        : try FileReading.whole(BoardFile.absolute(file), limit: 1 << 30)
    } catch { throw WhiteboardError(.noInput, error.message) }
    let lines = String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }
    let recording: Recording
    let photos: [[UInt8]: [UInt8]]
    do throws(RecordingLines.ReadError) { (recording, photos) = try RecordingLines.read(lines) } catch {
      throw WhiteboardError(.badData, "\(file):\(error.line): \(UntrustedText(error.message).escaped())")
    }
    let found = await Verification(of: recording, replicas: 0, seed: 0)
    for mismatch in found.mismatches {
      Console.complain("whiteboard-replay: after step \(mismatch.place), the board does not match its digest")
    }
    try await new.write(recording, photos)
  }
}
