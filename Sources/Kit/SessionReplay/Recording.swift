import Foundation
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A recorded session: every change of a board, with its time, in the order in which one peer applied the changes.
///
/// Implements REC-1 to REC-6 of `Protocol/recording.md`.
public struct Recording: Sendable {
  /// The id of the board.
  public let board: BoardID
  /// The contents of the recording's document.
  public let history: DocumentHistory
  /// The time of each step, in milliseconds from the beginning; the times never decrease.
  public let times: [Int64]
  /// The recorded pointers and unfinished strokes, if the recording has them.
  public let presence: RecordedPresence

  /// Creates a recording from the contents of a document.
  ///
  /// - Throws: `damaged` if the id of the board is invalid.
  public init(_ history: DocumentHistory) throws(DocumentError) {
    guard let board = BoardID(bytes: history.board) else {
      throw DocumentError(.damaged, "a board id must have 16 bytes")
    }
    self.board = board
    self.history = history
    var latest: Int64?
    var times: [Int64] = []
    times.reserveCapacity(history.steps.count)
    let start = history.steps.first?.time ?? 0
    for step in history.steps {
      // A clock can be set back, but the steps happened in this order.
      let time = max(latest ?? .min, Self.elapsed(step.time, since: start))
      latest = time
      times.append(time)
    }
    self.times = times
    let begin = history.steps.first?.time ?? history.traffic.first?.time
    presence = RecordedPresence(history.traffic, since: begin)
    var names: [MemberID: String] = [:]
    for entry in history.traffic where entry.kind == .began || entry.kind == .joined {
      guard let member = entry.peers.first.flatMap({ MemberID(bytes: $0) }), !entry.text.isEmpty else { continue }
      names[member] = entry.text
    }
    // These names are newer than the names in the traffic.
    for (person, name) in history.names { if let member = MemberID(text: person) { names[member] = name } }
    self.names = names
    let end = history.end.map { Self.elapsed($0, since: begin ?? $0) } ?? 0
    duration = max(times.last ?? 0, presence.end, end)
  }

  /// Creates a recording from changes that a replica recorded.
  ///
  /// Each change takes place 0.1 s after the previous change.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - board: The id of the board.
  ///   - name: The name of the board.
  ///   - start: The time of the first change, in milliseconds since 1970.
  /// - Throws: `damaged` if the board id is invalid, which a `BoardID` never is.
  public init(of changes: [StoredChange], on board: BoardID, name: String, from start: Int64) throws(DocumentError) {
    var (steps, authors): ([DocumentHistory.Step], [StoredAuthor]) = ([], [])
    for (number, change) in changes.enumerated() {
      let time = start + Int64(number) * 100
      switch change {
      case .author(let record, let incarnation):
        authors.append(StoredAuthor(incarnation: incarnation.rawValue, record: record, sequence: 0, head: []))
      case .batch(let batch): steps.append(.init(.batch(batch.bytes), time: time, row: 0))
      case .answer(let bytes): steps.append(.init(.answer(bytes), time: time, row: 0))
      case .keyframe(let bytes): steps.append(.init(.keyframe(bytes), time: time, row: 0))
      case .head: break
      }
    }
    try self.init(DocumentHistory(board: board.bytes, name: name, steps: steps, authors: authors))
  }

  /// Reads the recording in a file, even while another program writes it.
  ///
  /// - Throws: The errors of `BoardDocument`; `damaged` if the file must be recovered first.
  public static func open(_ path: String) async throws(DocumentError) -> Recording {
    let document = try await BoardDocument.open(at: path, mode: .reading)
    return try Recording(try await document.history())
  }

  /// The number of steps in the recording.
  public var count: Int { history.steps.count }

  /// The time of the beginning, in milliseconds since 1970; `nil` if nothing was recorded.
  public var start: Int64? { history.steps.first?.time ?? history.traffic.first?.time }

  /// The duration of the recording, in milliseconds.
  public let duration: Int64

  /// Returns a member's display name, if the recording has one.
  ///
  /// The name is untrusted text.
  public func name(of member: MemberID) -> String? { names[member] }

  package let names: [MemberID: String]

  /// Returns the number of steps up to a time in milliseconds from the beginning.
  public func place(at elapsed: Int64) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= elapsed { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The records of the authors, which apply before all steps.
  public var beginning: [StoredChange] {
    history.authors.compactMap { author in
      guard !author.record.isEmpty, let incarnation = Incarnation(exactly: author.incarnation) else { return nil }
      return .author(author.record, incarnation)
    }
  }

  /// The members, by incarnation, according to the author records in the recording.
  ///
  /// - Complexity: O(n).
  public var members: [Incarnation: MemberID] {
    var board = RestoredBoard(board)
    for change in beginning { try? board.apply(change) }
    for (place, step) in history.steps.enumerated() {
      // Answers and keyframes contain author records too.
      if case .batch = step.content { continue }
      if let change = try? change(at: place) { try? board.apply(change) }
    }
    return board.members
  }

  /// Returns the change that a step makes.
  ///
  /// - Throws: `CodecError` if a batch is malformed.
  public func change(at place: Int) throws(CodecError) -> StoredChange {
    switch history.steps[place].content {
    case .batch(let bytes): .batch(try EncodedBatch(decoding: bytes))
    case .answer(let bytes): .answer(bytes)
    case .keyframe(let bytes): .keyframe(bytes)
    }
  }

  /// Returns whether a step has the same effect at any position among the other steps.
  ///
  /// The result is true for all steps except answers, because an answer omits changes that its receiver already had.
  public func isIndifferentToOrder(at place: Int) -> Bool {
    if case .answer(let bytes) = history.steps[place].content {
      StoredChange.answer(bytes).isIndifferentToOrder
    } else {
      true
    }
  }

  func author(at place: Int) -> Incarnation? {
    guard case .batch(let bytes) = history.steps[place].content else { return nil }
    return EncodedBatch.author(of: bytes)
  }

  static func difference(_ time: Int64, _ other: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(other)
    return isOver ? (time > other ? .max : .min) : difference
  }

  /// Returns the milliseconds between two wall-clock times, clamped to the range from 0 to 2^46.
  static func elapsed(_ time: Int64, since start: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(start)
    // The limit is longer than any session. It prevents overflows in calculations with the result.
    return isOver ? 0 : min(max(0, difference), 1 << 46)
  }
}

extension Recording {
  /// Reads the recording in a file, or its intact data if the file is too damaged for ``open(_:)``.
  ///
  /// The file stays unchanged. The property `history.damages` of the result describes the lost data.
  ///
  /// - Throws: The errors of `BoardDocument`; `damaged` if no data is intact.
  public static func openOrSalvage(_ path: String) async throws(DocumentError) -> Recording {
    do throws(DocumentError) { return try await open(path) } catch {
      guard error.code == .damaged || error.code == .wrongKind || error.code == .inputOutput else { throw error }
      do throws(DocumentError) { return try await salvage(path, why: error.message) } catch let second {
        // The error from `open` is more informative than the error from `salvage`.
        throw second.code == .damaged || second.code == .wrongKind ? error : second
      }
    }
  }

  private static func salvage(_ path: String, why reason: String) async throws(DocumentError) -> Recording {
    let directory = FileManager.default.temporaryDirectory.path + "/salvage-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(
        atPath: directory,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch { throw DocumentError(.inputOutput, "the directory \(directory) cannot be created", cause: error) }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let copy = directory + "/salvaged.whiteboard"
    let report = try await BoardDocument.recover(
      from: path,
      to: copy,
      now: 0,
      locking: false,
      playing: RecordedBoard.self
    )
    let found = try await open(copy).history
    let losses = [reason] + report.losses.map { "lost: \($0)" }
    return try Recording(
      DocumentHistory(
        board: found.board,
        name: found.name,
        steps: found.steps,
        checks: found.checks,
        marks: found.marks,
        authors: found.authors,
        damages: losses.map { DocumentHistory.Damage(place: 0, words: $0) } + found.damages
      )
    )
  }
}

extension Recording {
  /// The reason why a string is not a valid time.
  public struct MomentError: Error, Hashable, Sendable {
    /// The message for the user, which explains why the string is not a valid time.
    public let message: String
  }

  /// A named time: a marker or a named version.
  public struct Marker: Hashable, Sendable {
    /// The name of the marker or version, entered by a user.
    public let name: String
    /// The time of the marker or version, in milliseconds from the beginning.
    public let elapsed: Int64
  }

  /// The markers and named versions, in order of time.
  public var markers: [Marker] {
    let marks = history.marks.compactMap { mark in mark.name.map { Marker(name: $0, elapsed: elapsed(mark.time)) } }
    let versions = history.checks.compactMap { check in
      check.name.map { Marker(name: $0, elapsed: elapsed(check.time)) }
    }
    return (marks + versions).sorted { ($0.elapsed, $0.name) < ($1.elapsed, $1.name) }
  }

  /// Parses a time, and returns it in milliseconds from the beginning.
  ///
  /// The accepted formats are seconds (`90`, `90.5`), minutes and hours (`1:30`, `1:02:03.5`), a percentage of the
  /// duration (`50%`), and the name of a marker (`@lunch`). Of several ``markers`` with the same name, the first is
  /// used.
  public func moment(_ word: String) throws(MomentError) -> Int64 {
    if word.hasPrefix("@") {
      let name = word.dropFirst()
      let markers = markers
      guard let marker = markers.first(where: { $0.name == name }) else {
        let names = markers.map { "@\($0.name)" }
        throw MomentError(
          message: "there is no marker '\(name)'"
            + (names.isEmpty ? "; the recording has none" : "; the markers are \(names.joined(separator: ", "))")
        )
      }
      return marker.elapsed
    }
    if word.hasSuffix("%") {
      guard let percent = Double(word.dropLast()), (0...100).contains(percent) else { throw Self.unreadable(word) }
      return Int64((Double(duration) * percent / 100).rounded())
    }
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let seconds = Double(parts[parts.count - 1]), seconds >= 0, seconds < 1e9,
      parts.count == 1 || seconds < 60
    else { throw Self.unreadable(word) }
    var minutes = 0.0
    for part in parts.dropLast() {
      guard let number = UInt32(part) else { throw Self.unreadable(word) }
      minutes = minutes * 60 + Double(number)
    }
    return Int64((min(minutes * 60 + seconds, 1e10) * 1000).rounded())
  }

  /// Converts a wall-clock time in milliseconds since 1970 to milliseconds from the beginning, clamped to the duration.
  public func elapsed(_ time: Int64) -> Int64 { min(duration, Self.elapsed(time, since: start ?? time)) }

  /// Formats milliseconds as `m:ss.t`, or as `h:mm:ss.t` for times of one hour or more.
  public static func text(_ elapsed: Int64) -> String {
    let tenths = max(0, elapsed) / 100
    let (seconds, minutes, hours) = (tenths / 10 % 60, tenths / 600 % 60, tenths / 36_000)
    let end = "\(seconds < 10 ? "0" : "")\(seconds).\(tenths % 10)"
    guard hours > 0 else { return "\(minutes):\(end)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(end)"
  }

  /// Formats milliseconds as `m:ss.ttt` or `h:mm:ss.ttt`, so that ``moment(_:)`` returns the same time.
  public static func exactText(_ elapsed: Int64) -> String {
    let rest = max(0, elapsed) % 100
    return "\(text(elapsed))\(rest < 10 ? "0" : "")\(rest)"
  }

  private static func unreadable(_ word: String) -> MomentError {
    MomentError(message: "'\(word)' is not a time; use seconds (90.5), m:ss (1:30), a percentage (50%) or @MARKER")
  }
}

extension Recording {
  /// Returns a part of the recording.
  ///
  /// The result begins with the state of the board at the start of the part.
  ///
  /// - Parameter range: The first and the last time of the part, in milliseconds from the beginning.
  /// - Returns: The part.
  /// - Throws: `damaged` if the id of the board is invalid.
  /// - Complexity: O(n).
  public func cut(_ range: ClosedRange<Int64>) throws(DocumentError) -> Recording {
    let first = range.lowerBound <= 0 ? 0 : place(at: range.lowerBound - 1)
    let last = max(first, place(at: range.upperBound))
    var playback = Playback(self, spacing: .max)
    playback.seek(toPlace: first)
    var steps: [DocumentHistory.Step] = []
    let begin = (start ?? 0) &+ range.lowerBound
    if first > 0 { steps.append(DocumentHistory.Step(.keyframe(playback.board.keyframe), time: begin, row: 0)) }
    let shift = first - steps.count
    steps += history.steps[first..<last]
    let inside = history.marks.filter { $0.place > first && $0.place <= last }
    return try Recording(
      DocumentHistory(
        board: history.board,
        name: history.name,
        steps: steps,
        checks: history.checks.filter { $0.place > first && $0.place <= last }.map { check in
          DocumentHistory.Check(place: check.place - shift, time: check.time, name: check.name, digest: check.digest)
        },
        marks: inside.map { mark in
          DocumentHistory.Mark(name: mark.name, time: mark.time, until: mark.until, place: mark.place - shift)
        },
        authors: history.authors,
        damages: history.damages.filter { $0.place <= last }.map { damage in
          DocumentHistory.Damage(place: max(0, damage.place - shift), words: damage.words)
        },
        names: history.names,
        traffic: history.traffic.filter { range.contains(elapsed($0.time)) },
        end: (start ?? 0) &+ min(range.upperBound, duration)
      )
    )
  }

  /// Joins recordings of one board, in the order in which they began.
  ///
  /// A batch that is already in an earlier recording is not repeated. Several recordings of one session thus become one
  /// recording with every batch.
  ///
  /// - Throws: `wrongBoard` if the recordings are of different boards; `notFound` if `parts` is empty.
  /// - Complexity: O(n).
  public static func concatenated(_ parts: [Recording]) throws(DocumentError) -> Recording {
    let parts = parts.enumerated().sorted { one, other in
      (one.element.start ?? .max, one.offset) < (other.element.start ?? .max, other.offset)
    }.map(\.element)
    guard let first = parts.first else { throw DocumentError(.notFound, "there are no recordings to join") }
    guard parts.allSatisfy({ $0.board == first.board }) else {
      throw DocumentError(
        .wrongBoard,
        "the recordings are of different boards; only recordings of one board can be joined"
      )
    }
    var steps: [DocumentHistory.Step] = []
    var marks: [DocumentHistory.Mark] = []
    var authors: [UInt64: StoredAuthor] = [:]
    var known: Set<DocumentHistory.Step.Content> = []
    var damages: [DocumentHistory.Damage] = []
    var traffic: [TrafficEntry] = []
    var names: [String: String] = [:]
    for part in parts {
      // The element at index n is the number of joined steps after n steps of this part.
      var places = [steps.count]
      for step in part.history.steps {
        if known.insert(step.content).inserted { steps.append(step) }
        places.append(steps.count)
      }
      // The joined board may contain more changes than the board of this part, so the part's digests no longer apply. A
      // named version becomes a marker.
      let versions = part.history.checks.filter { $0.name != nil }.map { check in
        DocumentHistory.Mark(name: check.name, time: check.time, until: check.time, place: check.place)
      }
      marks += (part.history.marks + versions).sorted { $0.place < $1.place }.map { mark in
        DocumentHistory.Mark(name: mark.name, time: mark.time, until: mark.until, place: places[mark.place])
      }
      damages += part.history.damages.map { damage in
        DocumentHistory.Damage(place: places[damage.place], words: damage.words)
      }
      // Traffic that several recorders recorded at the same time is included only once.
      let told = traffic.last?.time ?? .min
      traffic += part.history.traffic.filter { $0.time > told }
      names.merge(part.history.names) { $1 }
      for author in part.history.authors {
        let other = authors[author.incarnation]
        if author.sequence >= other?.sequence ?? 0 || other?.record.isEmpty == true {
          authors[author.incarnation] = author
        }
      }
    }
    return try Recording(
      DocumentHistory(
        board: first.history.board,
        name: first.history.name,
        steps: steps,
        marks: marks,
        authors: authors.keys.sorted().compactMap { authors[$0] },
        damages: damages,
        names: names,
        traffic: traffic,
        end: parts.compactMap(\.history.end).max()
      )
    )
  }
}
