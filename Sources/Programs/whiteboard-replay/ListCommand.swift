import ArgumentParser
import CommandLines
import FoundationEssentials
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
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

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List recordings with their duration and size.",
    discussion: """
      Without PLACES, lists your boards and the recordings in the current folder. On a terminal that can show \
      pictures (with the kitty graphics protocol or sixels), each recording is listed with a picture of its last \
      state. The setting `graphics` of whiteboard-peer applies here too.
      """
  )

  @Argument(help: "Recordings, and folders with recordings.", completion: .file()) var places: [String] = []

  @Flag(help: "Show no pictures.") var noPictures = false

  @Flag(help: "Write one JSON object per line.") var json = false

  mutating func run() async throws {
    let settings = try Recording.settings()
    let files = try await files(settings)
    let features = showsPictures ? TerminalFeatures.queried(TerminalSettings(settings)) { Environment[$0] } : nil
    let graphics = features?.graphics
    var entries: [RecordingEntry] = []
    var hasFailed = false
    for file in files {
      do throws(WhiteboardError) {
        entries.append(try await RecordingEntry(file, hasPicture: graphics != nil))
      } catch {
        // If one recording cannot be read, list the others.
        hasFailed = true
        Console.complain("whiteboard-replay: \(error.message)")
      }
    }
    if json {
      for entry in entries { try Console.tell(entry.json) }
    } else if entries.isEmpty {
      try Console.tell("No recordings found. To make one, run: whiteboard-replay record BOARD -o FILE.whiteboard\n")
    } else {
      let head = ["NAME", "DURATION", "SIZE", "OBJECTS", "BEGAN", "FILE"]
      let lines = TextTable.lines([head] + entries.map(\.cells), numbers: [1, 2, 3])
      try Console.tell(lines[0] + "\n")
      for (entry, line) in zip(entries, lines.dropFirst()) {
        if let graphics, let picture = entry.picture, let bytes = picture.printed(for: graphics) {
          try Console.tell(bytes)
        }
        try Console.tell(line + "\n")
      }
    }
    if hasFailed { throw ExitCode(WhiteboardError.Code.badData.rawValue) }
  }

  private var showsPictures: Bool {
    !noPictures && !json && Console.isTerminal && !["", "dumb"].contains(Environment["TERM"] ?? "")
  }

  private func files(_ settings: Settings) async throws(WhiteboardError) -> [String] {
    var found: [String] = []
    for place in places {
      var status = stat()
      let path = BoardFile.absolute(place)
      if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        found += try Self.recordings(in: path)
      } else {
        found.append(try await Recording.file(of: place))
      }
    }
    if places.isEmpty {
      let boards = BoardFile.directory(inDataDirectory: try settings.chosenDataDirectory())
      if access(boards, F_OK) == 0 { found += try Self.recordings(in: boards) }
      found += try Self.recordings(in: FileManager.default.currentDirectoryPath)
    }
    // A file can be named in several ways, for example through a symbolic link.
    var known: Set<String> = []
    return found.filter { known.insert(Self.resolved($0)).inserted }
  }

  private static func recordings(in folder: String) throws(WhiteboardError) -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw WhiteboardError(.noInput, "\(UntrustedText(folder).escaped()): the folder cannot be read")
    }
    return names.filter { $0.hasSuffix(".\(BoardFile.fileExtension)") && !$0.hasPrefix(".") }.sorted().map {
      "\(resolved(folder))/\($0)"
    }
  }

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }
}

/// A line of the list of recordings.
struct RecordingEntry {
  private let path: String
  private let name: String
  private let board: String
  private let start: String?
  private let duration: Int64
  private let steps: Int
  private let objects: Int
  private let byteCount: Int
  let picture: TerminalPhoto?

  init(_ path: String, hasPicture: Bool) async throws(WhiteboardError) {
    self.path = path
    let recording = try await Recording.read(path, isLoud: false)
    (name, board) = (recording.history.name, recording.board.description)
    (start, duration, steps) = (recording.start.map(BoardFile.time), recording.duration, recording.count)
    byteCount = BoardFile.byteCount(of: path)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    let photos = hasPicture ? (try? await BoardFile.photos(path)) ?? [:] : [:]
    let board = playback.board.shown(photos: Set(photos.keys))
    objects = board.snapshots.count
    picture = hasPicture ? Self.picture(of: board, photos) : nil
  }

  /// The size of a picture in pixels; the height is a multiple of 6, the height of a sixel.
  private static let pictureSize = (width: 240, height: 150)

  private static func picture(of board: Board, _ photos: [AssetID: [UInt8]]) -> TerminalPhoto? {
    let export = BoardExport(of: board, id: "", name: "") { photos[$0] }
    guard let painter = FilmPainter(width: pictureSize.width, height: pictureSize.height) else { return nil }
    var picture = export.picture
    picture.region = picture.region.fitted(to: Double(pictureSize.width) / Double(pictureSize.height))
    guard (try? painter.draw(picture, changedIn: nil)) != nil, let frame = painter.takeFrame() else { return nil }
    let pixels = frame.pixels.map { $0 & 0xFF_FFFF }
    return try? TerminalPhoto(PhotoPixels(width: frame.width, height: frame.height, pixels: pixels), for: .kitty)
  }

  private var file: String {
    let folder = FileManager.default.currentDirectoryPath + "/"
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
  }

  var cells: [String] {
    [
      UntrustedText(name).escaped(limit: 30), Recording.text(duration), ByteCount.text(byteCount), "\(objects)",
      start.map { String($0.prefix(16)).replacing("T", with: " ") } ?? "-", UntrustedText(file).escaped(),
    ]
  }

  var json: String {
    var json = JSONObject()
    json.add("file", string: path)
    json.add("name", string: name)
    json.add("board", string: board)
    json.add("start", string: start)
    json.add("ms", whole: duration)
    json.add("bytes", whole: Int64(byteCount))
    json.add("steps", whole: steps)
    json.add("objects", whole: objects)
    return json.text + "\n"
  }
}
