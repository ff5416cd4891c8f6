import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardRendering
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export the board at a given time, or the whole recording as a film or a web page.",
    discussion: """
      The extension of FILE sets the format. The formats \(ExportFormat.endings) show the board at a given time. \
      With --every, a file is written for each interval, with a number before the extension. All of these files \
      show the same region of the board.

      The formats \(FilmFormat.endings) are films of the whole recording. A film shows the region that contains all \
      objects at all times. If the board does not change for a while, the film shows it for at most 2 s, or for the \
      time that --longest-pause sets. An .mp4 file requires the program ffmpeg.

      The format .html is a web page that plays the recording. The page is one file, and works without a network. \
      It has controls to play, pause, go to any time, and zoom.

      The format .cast is a film for terminals (asciicast v2), which `asciinema play` shows. With the extension \
      .jsonl, the whole recording is written as lines of JSON, which `import` reads. With the extension .mcap, the \
      traffic of a session that was recorded with --wire is written for tools that read MCAP.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to write.", valueName: "FILE"),
    completion: .file()
  ) var output: String

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp("The time at which to show the board; by default, the end.", valueName: "TIME")
  ) var time: String?

  @Option(help: ArgumentHelp("Write a file every SECONDS seconds.", valueName: "SECONDS")) var every: Double?

  @Option(
    help: ArgumentHelp(
      "The number of PNG pixels for each board unit; by default 2, or fewer for a large board.",
      valueName: "N"
    )
  )
  var scale: Double?

  @Option(help: ArgumentHelp("The speed of a film, from 0.1 to 64; by default, 1.", valueName: "N")) var speed: Double?

  @Option(
    help: ArgumentHelp(
      "The size of a film: the width and height in pixels; by default, at most 1280. For a .cast, the columns and "
        + "rows; by default, 100x30.",
      valueName: "WIDTHxHEIGHT"
    )
  ) var size: String?

  @Option(
    help: ArgumentHelp(
      "The maximum number of frames per second of a film, from 1 to 50; by default, 10.",
      valueName: "N"
    )
  ) var fps: Int?

  @Option(
    help: ArgumentHelp(
      "The maximum length of a pause in a film, from 0.1 to 3600; by default, 2.",
      valueName: "SECONDS"
    )
  ) var longestPause: Double?

  @Flag(help: "Keep the pauses in a film.") var pauses = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Show only this region of the board; a web page first shows this region.", valueName: "X,Y,W,H")
  ) var region: String?

  @Flag(help: "Overwrite existing files.") var force = false

  private var ending: String { output.lowercased() }

  mutating func validate() throws {
    guard time == nil || every == nil else { throw ValidationError("--at and --every cannot be combined.") }
    guard every.map({ (0.1...1e6).contains($0) }) ?? true else {
      throw ValidationError("--every must be from 0.1 to 1000000 seconds.")
    }
    let isCast = ending.hasSuffix(".cast")
    let isPictures = FilmFormat(fileName: output) != nil
    guard isCast || isPictures || (speed == nil && size == nil && !pauses) else {
      throw ValidationError("--speed, --size and --pauses require a FILE that ends in .cast or \(FilmFormat.endings).")
    }
    guard isPictures || (fps == nil && longestPause == nil) else {
      throw ValidationError("--fps and --longest-pause require a FILE that ends in \(FilmFormat.endings).")
    }
    guard fps.map({ (1...50).contains($0) }) ?? true else { throw ValidationError("--fps must be from 1 to 50.") }
    guard longestPause.map({ (0.1...3_600).contains($0) }) ?? true else {
      throw ValidationError("--longest-pause must be from 0.1 to 3600 seconds.")
    }
    guard !pauses || longestPause == nil else {
      throw ValidationError("--pauses and --longest-pause cannot be combined.")
    }
    guard !(isCast || isPictures) || (time == nil && every == nil) else {
      throw ValidationError("A film always contains the whole recording. To export a part, use `cut` first.")
    }
    let isText = isCast || ending.hasSuffix(".jsonl") || ending.hasSuffix(".mcap")
    guard region == nil || !isText else {
      throw ValidationError("--region cannot be used with this format.")
    }
    guard scale == nil || ending.hasSuffix(".png") else {
      throw ValidationError("--scale requires a FILE that ends in .png.")
    }
  }

  mutating func run() async throws {
    if let format = FilmFormat(fileName: output) { return try await film(as: format) }
    if ending.hasSuffix(".cast") { return try await cast() }
    if ending.hasSuffix(".jsonl") { return try await lines() }
    if ending.hasSuffix(".mcap") { return try await traffic() }
    if ending.hasSuffix(".html") { return try await page() }
    guard let format = ExportFormat(fileName: output) else {
      throw WhiteboardError(
        .usage,
        "the name of the file must end in one of \(ExportFormat.endings) \(FilmFormat.endings) .cast .html .jsonl .mcap"
      )
    }
    do throws(CommandError) { _ = try scale.map(CommandLimits.checkedPixels) } catch {
      throw WhiteboardError(.usage, error.message)
    }
    let recording = try await input.recording()
    let photos = try await BoardFile.photos(input.path())
    var playback = Playback(recording, spacing: .max)
    let times = try chosenTimes(recording)
    let width = String(times.count).count
    // All pictures of a series must show the same region of the board.
    var region = try chosenRegion()
    if every != nil, region == nil {
      for time in times {
        playback.seek(toTime: time)
        region = Self.around(region, playback.board.shown().snapshots.map(\.bounds))
      }
    }
    for (index, time) in times.enumerated() {
      playback.seek(toTime: time)
      let file = every == nil ? output : Self.numbered(output, index + 1, width)
      try write(playback, photos, region, as: format, to: file)
    }
    playback.tellFaults()
    if times.count == 1 { reportWritten() } else { Console.complain("Wrote \(times.count) files.") }
  }

  private func checkWhole(_ rule: String) throws(WhiteboardError) {
    guard every == nil, time == nil else { throw WhiteboardError(.usage, "\(rule); to export a part, use `cut` first") }
  }

  private func write(_ bytes: [UInt8]) throws(WhiteboardError) {
    try Console.write(bytes, to: output, isReplacing: force)
    reportWritten()
  }

  private func reportWritten() { Console.complain("Wrote \(UntrustedText(output).escaped()).") }

  private func lines() async throws {
    try checkWhole("a .jsonl file always contains the whole recording")
    let recording = try await input.recording()
    var photos: [[UInt8]: [UInt8]] = [:]
    for (id, bytes) in try await BoardFile.photos(input.path()) { photos[id.bytes] = bytes }
    var bytes: [UInt8] = []
    try RecordingLines.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try write(bytes)
  }

  private func traffic() async throws {
    try checkWhole("an .mcap file always contains all traffic")
    let termination = Termination {}
    defer { withExtendedLifetime(termination) {} }
    let file = try PartialFile(output, isReplacing: force)
    let recording = try await input.recording()
    guard !recording.history.traffic.isEmpty else {
      throw WhiteboardError(.badData, "the recording contains no traffic; `record --wire` records it")
    }
    try MCAPFile.write(recording) { bytes in
      guard !Termination.isAsked else { throw WhiteboardError(.no, "interrupted; no file was written") }
      try file.write(bytes)
    }
    try file.complete()
    reportWritten()
  }

  private func page() async throws {
    try checkWhole("an .html file always contains the whole recording")
    let recording = try await input.recording()
    let overview = try BoardFilm.Overview(of: recording, chosen: chosenRegion())
    let page = try SharePage.html(recording, photos: try await BoardFile.photos(input.path()), overview)
    try write(page)
  }

  private func film(as format: FilmFormat) async throws {
    var film = BoardFilm()
    film.region = try chosenRegion()
    film.speed = try chosenSpeed()
    film.rate = fps ?? film.rate
    film.longestPause = pauses ? nil : longestPause.map { $0 * 1_000 } ?? film.longestPause
    if size != nil {
      film.size = try chosenSize("", FilmPainter.sides, FilmPainter.sides, "the width and height in pixels")
    }
    // Drawing never suspends, so `progress` checks whether the user wants to end the export.
    let termination = Termination {}
    defer { withExtendedLifetime(termination) {} }
    let file = try PartialFile(output, isReplacing: force)
    let recording = try await input.recording()
    let photos = try await BoardFile.photos(input.path())
    let progress = ProgressLine("Writing \(output)")
    let done: (playback: Playback, warning: String?, isComplete: Bool)
    do {
      done = try film.write(recording, photos: photos) { [rate = film.rate, output] width, height in
        switch format {
        case .gif: try GIFEncoder(width: width, height: height, write: file.write)
        case .webp: try WebPEncoder(width: width, height: height, write: file.write) { try file.replace($0, at: $1) }
        case .mp4: try MP4Encoder(width: width, height: height, rate: rate, into: file.descriptor, name: output)
        }
      } progress: { count, all in
        progress.show(count, of: all)
        return !Termination.isAsked
      }
    } catch let error as FilmError {
      progress.clear()
      throw WhiteboardError(.cannotCreate, error.message)
    } catch {
      progress.clear()
      throw error
    }
    progress.clear()
    guard done.isComplete else { throw WhiteboardError(.no, "interrupted; no file was written") }
    try file.complete()
    done.playback.tellFaults()
    Console.warn(done.warning.map { [$0] } ?? [])
    reportWritten()
  }

  private func chosenRegion() throws(WhiteboardError) -> Rectangle? {
    guard let region else { return nil }
    do throws(CommandError) { return try CommandParser.region(region) } catch {
      throw WhiteboardError(.usage, error.message)
    }
  }

  private func chosenSpeed() throws(WhiteboardError) -> Double {
    let speed = speed ?? 1
    guard (0.1...64).contains(speed) else { throw WhiteboardError(.usage, "--speed must be from 0.1 to 64") }
    return speed
  }

  private func chosenSize(_ usual: String, _ across: ClosedRange<Int>, _ down: ClosedRange<Int>, _ what: String)
    throws(WhiteboardError) -> (Int, Int)
  {
    let numbers = (size ?? usual).split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard numbers.count == 2, across.contains(numbers[0]), down.contains(numbers[1]) else {
      throw WhiteboardError(
        .usage,
        "--size must be \(what), from \(across.lowerBound)x\(down.lowerBound) to \(across.upperBound)x\(down.upperBound)"
      )
    }
    return (numbers[0], numbers[1])
  }

  private func cast() async throws {
    let size = try chosenSize("100x30", 20...500, 5...200, "columns and rows, such as 100x30")
    let speed = try chosenSpeed()
    let recording = try await input.recording()
    var cast = Asciicast()
    (cast.columns, cast.rows, cast.speed) = (size.0, size.1, speed)
    cast.skipsIdle = !pauses
    let photos = try await BoardFile.photoPixels(input.path())
    var bytes: [UInt8] = []
    cast.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try write(bytes)
  }

  private static func around(_ region: Rectangle?, _ areas: [Rectangle]) -> Rectangle? {
    let margin = 20.0
    return areas.reduce(region) { region, area in
      let area = area.widened(by: margin)
      return region?.union(area) ?? area
    }
  }

  private func chosenTimes(_ recording: Recording) throws(WhiteboardError) -> [Int64] {
    guard let every else { return [try time.map(recording.askedWithin) ?? recording.duration] }
    let step = Int64(every * 1000)
    guard recording.duration / step < 100_000 else {
      throw WhiteboardError(.usage, "that would be \(recording.duration / step) files; give a larger --every")
    }
    var times = Array(stride(from: Int64(0), to: recording.duration, by: Int64.Stride(step)))
    times.append(recording.duration)
    return times
  }

  private func write(
    _ playback: Playback,
    _ photos: [AssetID: [UInt8]],
    _ region: Rectangle?,
    as format: ExportFormat,
    to file: String
  ) throws {
    let board = playback.board.shown(photos: Set(photos.keys))
    let export = BoardExport(
      of: board,
      id: playback.recording.board.description,
      name: playback.recording.history.name,
      region: region,
      names: playback.recording.names(on: board)
    ) { photos[$0] }
    let written: ExportedFile
    do throws(ExportError) { written = try export.file(as: format, scale: scale, pages: CairoPages()) } catch {
      throw WhiteboardError(.usage, UntrustedText(error.message).escaped())
    }
    Console.warn(written.warnings)
    try Console.write(written.bytes, to: file, isReplacing: force)
  }

  /// Returns the name of a file in a series: `then.svg` becomes `then-007.svg`.
  static func numbered(_ file: String, _ number: Int, _ width: Int) -> String {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
    guard let dot = file.lastIndex(of: ".") else { return "\(file)-\(padded)" }
    return "\(file[..<dot])-\(padded)\(file[dot...])"
  }
}

/// A line on standard error that shows the progress of a command. It is shown only on a terminal.
private final class ProgressLine {
  private let words: String
  private let isShown = isatty(STDERR_FILENO) == 1
  private var percent = -1

  init(_ words: String) { self.words = UntrustedText(words).escaped() }

  func show(_ count: Int, of all: Int) {
    let now = count * 100 / max(all, 1)
    guard isShown, now != percent else { return }
    percent = now
    _ = FileWriting.writeAll(Array("\r\(words): \(now) %".utf8), to: STDERR_FILENO)
  }

  func clear() {
    guard isShown, percent >= 0 else { return }
    _ = FileWriting.writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }
}
