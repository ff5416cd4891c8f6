import ArgumentParser
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardExport
import WhiteboardNode
import WhiteboardPictures
import WhiteboardRendering
import WhiteboardTerminal

/// `whiteboard-replay export`.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the board as it was at a time, as SVG, PNG, PDF, JSON, Excalidraw or text.",
    discussion: """
      The ending of FILE says what is written: \(ExportFormat.endings), or .cast: a film of the whole in \
      asciicast v2, which `asciinema play` shows, and in which pauses are passed over unless --pauses is given; or .jsonl: the recording itself as lines of JSON, nothing left \
      out, which `import` reads. With --every there is a file for each so many seconds, its \
      number before the ending, all of one part of the board.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to write.", valueName: "FILE"),
    completion: .file()
  )
  var output: String

  @Option(name: .customLong("at"), help: ArgumentHelp("The time; else the end.", valueName: "TIME"))
  var time: String?

  @Option(help: ArgumentHelp("A file for each so many seconds.", valueName: "SECONDS"))
  var every: Double?

  @Option(help: ArgumentHelp("Pixels of a PNG for each board unit.", valueName: "N"))
  var scale: Double?

  @Option(help: ArgumentHelp("How fast a film goes: 0.1 to 64; else 1.", valueName: "N"))
  var speed: Double?

  @Option(help: ArgumentHelp("Columns and rows of a film; else 100x30.", valueName: "COLSxROWS"))
  var size: String?

  @Flag(help: "A film takes as long as it took.") var pauses = false

  @Flag(help: "Write over files that are there.") var force = false

  mutating func validate() throws {
    guard time == nil || every == nil else {
      throw ValidationError("--at and --every cannot be combined.")
    }
    guard every.map({ (0.1...1e6).contains($0) }) ?? true else {
      throw ValidationError("--every is 0.1 to 1000000 seconds.")
    }
    let isFilm = output.hasSuffix(".cast")
    guard isFilm || (speed == nil && size == nil && !pauses) else {
      throw ValidationError(
        "--speed, --size and --pauses are for films: a FILE that ends in .cast."
      )
    }
    guard !isFilm || (time == nil && every == nil) else {
      throw ValidationError("A film is of the whole; `cut` makes a recording of a part.")
    }
    guard scale == nil || output.hasSuffix(".png") else {
      throw ValidationError("--scale is for a FILE that ends in .png.")
    }
  }

  mutating func run() async throws {
    if output.hasSuffix(".cast") { return try await film() }
    if output.hasSuffix(".jsonl") { return try await twin() }
    guard let format = ExportFormat(fileName: output) else {
      throw NodeError(
        .usage,
        "end the name of the file in one of \(ExportFormat.endings), .cast, .jsonl"
      )
    }
    do throws(CommandError) { _ = try CommandParser.checkedPixels(scale ?? 1) } catch {
      throw NodeError(.usage, error.message)
    }
    let recording = try await input.recording()
    let photos = try await BoardFile.photos(input.path())
    var playback = Playback(recording, spacing: .max)
    let times = try chosenTimes(recording)
    let width = String(times.count).count
    // Pictures that follow on each other show one part of the board.
    var region: Rectangle?
    if every != nil {
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
    Console.complain(
      times.count == 1 ? "\(output) is written." : "\(times.count) files are written."
    )
  }

  /// Writes the text twin.
  private func twin() async throws {
    guard every == nil, time == nil else {
      throw NodeError(.usage, "the lines are of the whole; `cut` makes a recording of a part")
    }
    let recording = try await input.recording()
    var photos: [[UInt8]: [UInt8]] = [:]
    for (id, bytes) in try await BoardFile.photos(input.path()) { photos[id.bytes] = bytes }
    var bytes: [UInt8] = []
    try RecordingLines.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try write(bytes, to: output)
    Console.complain("\(output) is written.")
  }

  /// Writes a film.
  private func film() async throws {
    let numbers = (size ?? "100x30").split(separator: "x").map { Int($0) ?? 0 }
    guard numbers.count == 2, (20...500).contains(numbers[0]), (5...200).contains(numbers[1]) else {
      throw NodeError(.usage, "--size is columns and rows, like 100x30: 20x5 to 500x200")
    }
    let speed = speed ?? 1
    guard (0.1...64).contains(speed) else { throw NodeError(.usage, "--speed is 0.1 to 64") }
    let recording = try await input.recording()
    var cast = Asciicast()
    (cast.columns, cast.rows, cast.speed) = (numbers[0], numbers[1], speed)
    cast.skipsIdle = !pauses
    let photos = try await BoardFile.photoPixels(input.path())
    var bytes: [UInt8] = []
    cast.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try write(bytes, to: output)
    Console.complain("\(output) is written.")
  }

  /// Returns a rectangle that contains some areas, with a small margin.
  private static func around(_ region: Rectangle?, _ areas: [Rectangle]) -> Rectangle? {
    let margin = 20.0
    return areas.reduce(region) { region, area in
      let area = Rectangle(
        Point(x: area.least.x - margin, y: area.least.y - margin),
        Point(x: area.greatest.x + margin, y: area.greatest.y + margin)
      )
      return region?.union(area) ?? area
    }
  }

  private func chosenTimes(_ recording: Recording) throws(NodeError) -> [Int64] {
    guard let every else { return [try time.map(recording.askedWithin) ?? recording.duration] }
    let step = Int64(every * 1000)
    guard recording.duration / step < 100_000 else {
      throw NodeError(
        .usage,
        "that would be \(recording.duration / step) files; give a larger --every"
      )
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
      names: BoardFile.names(on: board)
    ) { photos[$0] }
    let bytes: [UInt8]
    do throws(ExportError) {
      bytes = try export.file(as: format, scale: scale ?? 1, pages: CairoPages())
    } catch {
      throw NodeError(.usage, TerminalText.cleaned(error.message))
    }
    try write(bytes, to: file)
  }

  private func write(_ bytes: [UInt8], to file: String) throws(NodeError) {
    do throws(OutputFile.WriteError) {
      try OutputFile.write(bytes, to: BoardFile.absolute(file), isReplacing: force)
    } catch {
      throw NodeError(.cannotCreate, TerminalText.cleaned("\(file): \(error.message)"))
    }
  }

  /// `then.svg` becomes `then-007.svg`.
  static func numbered(_ file: String, _ number: Int, _ width: Int) -> String {
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
    guard let dot = file.lastIndex(of: ".") else { return "\(file)-\(padded)" }
    return "\(file[..<dot])-\(padded)\(file[dot...])"
  }
}
