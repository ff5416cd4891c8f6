import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardRendering
import WhiteboardTerminal

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export the board at a given time as SVG, PNG, PDF, JSON, Excalidraw or text.",
    discussion: """
      The extension of FILE sets the format: \(ExportFormat.endings). With the extension .cast, the whole \
      recording is written as a film in asciicast v2, which `asciinema play` shows. Pauses are skipped unless \
      --pauses is given. With the extension .jsonl, the whole recording is written as lines of JSON, which \
      `import` reads. With --every, a file is written for each interval, with a number before the extension. All \
      of these files show the same region of the board.
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

  @Option(help: ArgumentHelp("The columns and rows of a film; by default, 100x30.", valueName: "COLSxROWS")) var size:
    String?

  @Flag(help: "Keep the pauses in a film.") var pauses = false

  @Flag(help: "Overwrite existing files.") var force = false

  mutating func validate() throws {
    guard time == nil || every == nil else { throw ValidationError("--at and --every cannot be combined.") }
    guard every.map({ (0.1...1e6).contains($0) }) ?? true else {
      throw ValidationError("--every must be from 0.1 to 1000000 seconds.")
    }
    let isFilm = output.hasSuffix(".cast")
    guard isFilm || (speed == nil && size == nil && !pauses) else {
      throw ValidationError("--speed, --size and --pauses require a FILE that ends in .cast.")
    }
    guard !isFilm || (time == nil && every == nil) else {
      throw ValidationError("A .cast file always contains the whole recording. To export a part, use `cut` first.")
    }
    guard scale == nil || output.hasSuffix(".png") else {
      throw ValidationError("--scale requires a FILE that ends in .png.")
    }
  }

  mutating func run() async throws {
    if output.hasSuffix(".cast") { return try await film() }
    if output.hasSuffix(".jsonl") { return try await twin() }
    guard let format = ExportFormat(fileName: output) else {
      throw WhiteboardError(.usage, "the name of the file must end in one of \(ExportFormat.endings), .cast, .jsonl")
    }
    do throws(CommandError) { _ = try scale.map(CommandLimits.checkedPixels) } catch {
      throw WhiteboardError(.usage, error.message)
    }
    let recording = try await input.recording()
    let photos = try await BoardFile.photos(input.path())
    var playback = Playback(recording, spacing: .max)
    let times = try chosenTimes(recording)
    let width = String(times.count).count
    // All pictures of a series show the same region of the board.
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
    Console.complain(times.count == 1 ? "Wrote \(output)." : "Wrote \(times.count) files.")
  }

  private func twin() async throws {
    guard every == nil, time == nil else {
      throw WhiteboardError(
        .usage,
        "a .jsonl file always contains the whole recording; to export a part, use `cut` first"
      )
    }
    let recording = try await input.recording()
    var photos: [[UInt8]: [UInt8]] = [:]
    for (id, bytes) in try await BoardFile.photos(input.path()) { photos[id.bytes] = bytes }
    var bytes: [UInt8] = []
    try RecordingLines.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try Console.write(bytes, to: output, isReplacing: force)
    Console.complain("Wrote \(output).")
  }

  private func film() async throws {
    let numbers = (size ?? "100x30").split(separator: "x").map { Int($0) ?? 0 }
    guard numbers.count == 2, (20...500).contains(numbers[0]), (5...200).contains(numbers[1]) else {
      throw WhiteboardError(.usage, "--size must be columns and rows, such as 100x30, from 20x5 to 500x200")
    }
    let speed = speed ?? 1
    guard (0.1...64).contains(speed) else { throw WhiteboardError(.usage, "--speed must be from 0.1 to 64") }
    let recording = try await input.recording()
    var cast = Asciicast()
    (cast.columns, cast.rows, cast.speed) = (numbers[0], numbers[1], speed)
    cast.skipsIdle = !pauses
    let photos = try await BoardFile.photoPixels(input.path())
    var bytes: [UInt8] = []
    cast.write(recording, photos: photos) { bytes += Array($0.utf8) }
    try Console.write(bytes, to: output, isReplacing: force)
    Console.complain("Wrote \(output).")
  }

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
      names: BoardFile.names(on: board)
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
