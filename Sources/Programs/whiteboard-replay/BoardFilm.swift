import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardRendering

/// The formats of films that consist of pictures.
enum FilmFormat: String, CaseIterable {
  case gif, webp, mp4

  init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: "."),
      let format = Self(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    else { return nil }
    self = format
  }

  static let endings = allCases.map { ".\($0.rawValue)" }.joined(separator: " ")
}

/// A film of a recording: the board is drawn again whenever it changes.
struct BoardFilm {
  /// The part of the board that the film shows. By default, it contains all objects at all times.
  var region: Rectangle?
  /// The width and height in pixels; by default, they depend on the region.
  var size: (width: Int, height: Int)?
  var speed = 1.0
  /// The maximum number of frames per second.
  var rate = 10
  /// The maximum length of a pause in the film, in milliseconds; nil for no limit.
  var longestPause: Double? = 2_000

  /// The longest side of a film without a given size, in pixels.
  private static let longestSide = 1_280.0
  /// The maximum number of pixels for each board unit in a film without a given size.
  private static let largestScale = 2.0
  /// The maximum length of a film, in milliseconds: a day.
  private static let longestFilm: Int64 = 86_400_000
  /// The space around all objects, in board units.
  private static let margin = 20.0

  /// Writes the film.
  /// - Parameters:
  ///   - recording: The recording to show.
  ///   - photos: The photos of the recording.
  ///   - encoder: A function that creates the writer of a film with a width and a height.
  ///   - progress: A function that receives the number of written frames, and the number of all frames. It returns
  ///     whether to continue.
  /// - Returns: The playback at its end, the warnings about the pictures, and whether the film is complete.
  /// - Throws: `WhiteboardError`, or an error of `encoder`.
  func write(
    _ recording: Recording,
    photos: [AssetID: [UInt8]],
    to encoder: (_ width: Int, _ height: Int) throws -> any FilmEncoder,
    progress: (_ count: Int, _ all: Int) -> Bool
  ) throws -> (playback: Playback, warning: String?, isComplete: Bool) {
    // The film shows more than a chosen region whose proportions are not those of the film.
    let overview = try Overview(of: recording, chosen: region, seen: region.map { view(of: $0).part })
    let (changes, (shown, width, height)) = (overview.changes, view(of: overview.region))
    let timeline = FilmTimeline(
      of: changes.map { recording.times[$0 - 1] },
      until: recording.duration,
      speed: speed,
      rate: rate,
      longestPause: longestPause
    )
    guard timeline.duration <= Self.longestFilm else {
      throw WhiteboardError(
        .usage,
        "the film would last \(Recording.text(timeline.duration)), and can last at most 24 hours; do not use --pauses, or "
          + "choose a higher --speed or a part of the recording with `cut`"
      )
    }
    guard let painter = FilmPainter(width: width, height: height) else {
      throw WhiteboardError(.system, "there is not enough memory for a film of this size; choose a smaller --size")
    }
    var scene = FilmScene(recording, photos, region: shown)
    var writer = try encoder(width, height)
    for (index, frame) in timeline.frames.enumerated() {
      guard progress(index, timeline.frames.count) else { return (scene.playback, painter.warning, false) }
      scene.show(frame.changes == 0 ? 0 : changes[frame.changes - 1])
      try scene.draw(on: painter)
      if let part = painter.takeFrame() { try writer.add(part, at: frame.time) }
    }
    try writer.finish(at: timeline.duration)
    return (scene.playback, painter.warning, progress(timeline.frames.count, timeline.frames.count))
  }

  /// The changes that can be seen, and where.
  struct Overview {
    /// The chosen region, or the region that contains all objects at all times.
    let region: Rectangle
    /// The number of steps that are applied after each visible change, in order.
    let changes: [Int]

    /// Finds the changes in the part `seen` of the board; if it is nil, on the whole board.
    init(of recording: Recording, chosen: Rectangle?, seen: Rectangle? = nil) throws(WhiteboardError) {
      guard recording.count > 0 else {
        throw WhiteboardError(.badData, "the recording is empty: it contains no changes of the board")
      }
      let changes = VisibleChanges(of: recording, in: seen)
      guard let region = chosen ?? changes.region.map({ $0.widened(by: margin) }) else {
        throw WhiteboardError(.badData, "there is nothing to show: there was never an object on the board")
      }
      (self.region, self.changes) = (region, changes.steps)
    }
  }

  /// Returns the part of the board that the film shows, and the width and height of the film in pixels.
  private func view(of region: Rectangle) -> (part: Rectangle, width: Int, height: Int) {
    let (width, height) = size ?? Self.size(of: region)
    return (region.fitted(to: Double(width) / Double(height)), width, height)
  }

  private static func size(of region: Rectangle) -> (width: Int, height: Int) {
    let (width, height) = (region.greatest.x - region.least.x, region.greatest.y - region.least.y)
    let scale = min(largestScale, longestSide / max(width, height))
    // MP4 requires an even width and height.
    func side(_ length: Double) -> Int { max(Int((length * scale / 2).rounded(.up)) * 2, FilmPainter.sides.lowerBound) }
    return (side(width), side(height))
  }
}

/// The steps of a recording that change the picture of the board.
private struct VisibleChanges {
  /// For each visible change, in order: the number of steps up to and including the change.
  private(set) var steps: [Int] = []
  /// The area of all objects at all times; nil if there was none.
  private(set) var region: Rectangle?
  private var looks: [ObjectID: ObjectLook] = [:]
  private var names: [MemberID: String] = [:]
  private var paper: [Double?] = [nil, nil]

  /// Finds the changes that can be seen in a part of the board; if `part` is nil, anywhere.
  init(of recording: Recording, in part: Rectangle?) {
    names = recording.names
    var playback = Playback(recording, spacing: .max)
    while playback.place < recording.count {
      playback.step()
      if add(playback.takeChanges(), playback.board.shown(), recording, in: part) { steps.append(playback.place) }
    }
  }

  private mutating func add(_ changes: [ObjectChange], _ board: Board, _ recording: Recording, in part: Rectangle?)
    -> Bool
  {
    var ids = changes.compactMap(\.visible)
    // Games show the names of members, and a chat line can contain a new name.
    if ids.contains(where: { board.chatLine($0) != nil }) {
      let old = names
      names = recording.names(on: board)
      if names != old { ids += looks.filter(\.value.isGame).keys }
    }
    var isVisible = false
    for id in ids {
      let snapshot = board.snapshot(id).flatMap { $0.kind.isShown ? $0 : nil }
      let look = snapshot.flatMap {
        ObjectLook(BoardCanvas.Item($0, game: board.gameView(id, for: board.member)), naming: names)
      }
      let old = looks[id]
      looks[id] = look
      guard look != old else { continue }
      if let area = look?.area { region = region?.union(area) ?? area }
      isVisible = isVisible || [old, look].contains { $0.map { part?.touches($0.area) ?? true } ?? false }
    }
    let paper = [board.settings.shownBackground.map(Double.init), board.settings.grid]
    defer { self.paper = paper }
    return isVisible || paper != self.paper && (part != nil || !looks.isEmpty)
  }
}

/// How an object is drawn. Changes that cannot be seen, such as a lock or a vote, do not change the value.
private struct ObjectLook: Equatable {
  let area: Rectangle
  let isGame: Bool
  /// A hash of the drawing. The marks of all objects would take much memory.
  private let content: Int

  /// Returns nil if nothing is drawn, for example for an empty text.
  init?(_ item: BoardCanvas.Item, naming names: [MemberID: String]) {
    let picture = BoardPicture(items: [item], names: names) { _ in [] }
    // With many pixels, the width of thin lines is not rounded up.
    let object = picture.objects(pixelsPerUnit: 1_000).first { !$0.marks.isEmpty }
    guard let object else { return nil }
    (area, isGame) = (object.bounds, item.game != nil)
    var hasher = Hasher()
    let snapshot = object.snapshot
    hasher.combine(object.marks)
    hasher.combine(snapshot.centerPosition)
    hasher.combine([snapshot.scale, snapshot.angle, snapshot.style.opacity])
    hasher.combine(snapshot.zIndex)
    content = hasher.finalize()
  }
}

/// The board at the time of a frame, and the part that changed since the previous frame.
private struct FilmScene {
  private(set) var playback: Playback
  private let photos: [AssetID: [UInt8]]
  private let region: Rectangle
  /// The area of each object on the board, and whether the colors of objects in front of it depend on it.
  private var areas: [ObjectID: (area: Rectangle, isGround: Bool)] = [:]
  private var names: [MemberID: String] = [:]
  private var paper: [Double?]?

  init(_ recording: Recording, _ photos: [AssetID: [UInt8]], region: Rectangle) {
    playback = Playback(recording, spacing: .max)
    (self.photos, self.region) = (photos, region)
  }

  mutating func show(_ step: Int) { playback.seek(toPlace: step) }

  mutating func draw(on painter: FilmPainter) throws {
    let picture = picture()
    let old = areas
    areas = [:]
    for (item, area) in zip(picture.items, picture.bounds) {
      areas[item.snapshot.id] = (area, item.snapshot.kind == .photo || item.snapshot.style.fill != nil)
    }
    let now = [picture.background.map(Double.init), picture.grid]
    defer { (paper, names) = (now, picture.names) }
    let changed = playback.takeChanges().compactMap(\.visible)
    do throws(PicturePageError) {
      guard now == paper, names == picture.names else { return try painter.draw(picture, changedIn: nil) }
      let both = changed.flatMap { [old[$0], areas[$0]] }.compactMap { $0 }
      guard var part = both.dropFirst().reduce(both.first?.area, { $0?.union($1.area) }) else { return }
      if both.contains(where: { $0.isGround }) {
        let ground = part
        for (area, _) in areas.values where area.touches(ground) { part = part.union(area) }
      }
      try painter.draw(picture, changedIn: part)
    } catch { throw WhiteboardError(.system, error.description) }
  }

  /// The copy of the board must be released before the next step. Otherwise, that step would copy all storage.
  private func picture() -> BoardPicture {
    let board = playback.board.shown(photos: Set(photos.keys))
    let names = playback.recording.names(on: board)
    return BoardExport(of: board, id: "", name: "", region: region, names: names) { [photos] in photos[$0] }.picture
  }
}

extension ObjectChange {
  /// The object, if the change can be seen.
  fileprivate var visible: ObjectID? {
    switch self {
    case .added(let id), .changed(let id), .removed(let id): id
    case .selected: nil
    }
  }
}

extension Rectangle {
  /// Returns the smallest rectangle around this one whose width is `proportion` times its height.
  func fitted(to proportion: Double) -> Rectangle {
    let (width, height) = (greatest.x - least.x, greatest.y - least.y)
    let (across, down) = (max(width, height * proportion), max(height, width / proportion))
    return Rectangle(
      Point(x: center.x - across / 2, y: center.y - down / 2),
      Point(x: center.x + across / 2, y: center.y + down / 2)
    )
  }
}
