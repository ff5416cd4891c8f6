import GRDB

/// The part of a board's history that its document has: the changes in order, and the digests
/// that the board must have after them.
public struct DocumentHistory: Sendable {
  /// A change to the board, at one position in the history.
  public struct Step: Hashable, Sendable {
    /// The content of a step; its bytes are the bytes of a `DocumentEntry` or a ``Keyframe``.
    public enum Content: Hashable, Sendable {
      case batch([UInt8])
      case answer([UInt8])
      /// The whole state, at the beginning of the log and after missing entries.
      case keyframe([UInt8])
    }

    /// The change that was applied.
    public let content: Content
    /// The time of the step, in milliseconds since 1970.
    ///
    /// The time can be before the time of the previous step, since clocks are adjusted.
    public let time: Int64
    /// The number of the log row that contains the step; for a keyframe, the number of the last row before it.
    public let row: Int64

    /// Creates a step from its parts.
    public init(_ content: Content, time: Int64, row: Int64) {
      self.content = content
      self.time = time
      self.row = row
    }
  }

  /// A digest that the board must have at a position.
  public struct Check: Hashable, Sendable {
    /// The number of steps before the check.
    public let place: Int
    /// The time when the digest was stored, in milliseconds since 1970.
    public let time: Int64
    /// The name of the version with this digest; nil if no version has this digest.
    public let name: String?
    /// The digest of the board at this position.
    public let digest: [UInt8]

    /// Creates a check from its parts.
    public init(place: Int, time: Int64, name: String? = nil, digest: [UInt8]) {
      self.place = place
      self.time = time
      self.name = name
      self.digest = digest
    }
  }

  /// A position that a user named, or a period that was not recorded.
  public struct Mark: Hashable, Sendable {
    /// The name of a marker; nil for a gap.
    public let name: String?
    /// The time of a marker, or the start of a gap, in milliseconds since 1970.
    public let time: Int64
    /// The end of a gap, in milliseconds since 1970; for a marker, equal to `time`.
    public let until: Int64
    /// The number of steps before the mark.
    public let place: Int

    /// Creates a mark from its parts.
    public init(name: String?, time: Int64, until: Int64, place: Int) {
      self.name = name
      self.time = time
      self.until = until
      self.place = place
    }
  }

  /// Stored data that is damaged or missing.
  public struct Damage: Hashable, Sendable {
    /// The number of steps in the history before the damage.
    public let place: Int
    /// A description of the damage, with the time of the damage if the time is known.
    public let words: String

    /// Creates a description of damage at a position.
    public init(place: Int, words: String) {
      self.place = place
      self.words = words
    }
  }

  /// The board's id.
  public let board: [UInt8]
  /// The board's name.
  public let name: String
  /// The changes of the board, in the order in which they were applied.
  public internal(set) var steps: [Step] = []
  /// The digests that the board must have, in order of their positions.
  public internal(set) var checks: [Check] = []
  /// Markers and gaps, in order of their positions.
  public internal(set) var marks: [Mark] = []
  /// The records and heads of all author incarnations.
  public internal(set) var authors: [StoredAuthor] = []
  /// The damage, in order of position; the history contains only intact data.
  public internal(set) var damages: [Damage] = []
  /// The display names of members, by member id as text; they are not verified.
  public internal(set) var names: [String: String] = [:]
  /// The recorded events of the session, in order; empty if the session was not recorded.
  public internal(set) var traffic: [TrafficEntry] = []
  /// The end of the recording, in milliseconds since 1970; nil if the file does not contain the end.
  public internal(set) var end: Int64?

  /// Creates a history from its parts, for example from the parts of another file.
  public init(
    board: [UInt8],
    name: String,
    steps: [Step] = [],
    checks: [Check] = [],
    marks: [Mark] = [],
    authors: [StoredAuthor] = [],
    damages: [Damage] = [],
    names: [String: String] = [:],
    traffic: [TrafficEntry] = [],
    end: Int64? = nil
  ) {
    self.board = board
    self.name = name
    self.steps = steps
    self.checks = checks
    self.marks = marks
    self.authors = authors
    self.damages = damages
    self.names = names
    self.traffic = traffic
    self.end = end
  }
}

extension DocumentHistory {
  init(_ db: Database, at path: String, board: [UInt8], name: String, damages known: [String] = []) throws {
    var reader = HistoryReader(LogReader(db, path: path), DocumentHistory(board: board, name: name))
    self = try reader.read()
    damages.insert(contentsOf: known.map { Damage(place: 0, words: $0) }, at: 0)
  }
}

extension BoardDocument {
  /// Reads the whole history from the log, even while the document is being written.
  ///
  /// Data that does not match its checksum is left out and reported. The other batches are still valid, since batches
  /// apply in any order. The next keyframe replaces the missing data.
  /// - Throws: `damaged` if damaged pages prevent reading the log to its end; in this case,
  ///   ``recover(from:to:board:now:locking:playing:)`` can save the intact data. `closed`, `inputOutput`.
  /// - Complexity: O(*n*), where *n* is the size of the file without its assets.
  public func history() async throws(DocumentError) -> DocumentHistory {
    let name = try await name()
    let known = mode == .reading ? damages : []
    return try await read { [path, board] db in
      try DocumentHistory(db, at: path, board: board, name: name, damages: known)
    }
  }
}
