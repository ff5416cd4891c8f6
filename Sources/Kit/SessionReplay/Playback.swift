import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A board at any moment of a recording.
///
/// The playback caches states, so that returning to an earlier position applies at most ``spacing`` operations. To make
/// all positions fast to reach, go to the end once.
public struct Playback: Sendable {
  /// How exactly a seek must reach its target.
  public enum Tolerance: Hashable, Sendable {
    /// Move to exactly the target position.
    case exact
    /// Move quickly, to the nearest cached state.
    case nearest
  }

  /// The reason why a step could not be applied.
  public struct Fault: Hashable, Sendable {
    /// The index of the step, from 0.
    public let place: Int
    /// The reason.
    public let reason: String
  }

  /// The recording that is played.
  public let recording: Recording
  /// The minimum number of operations between two cached states.
  public let spacing: Int
  /// The board at the current position.
  public private(set) var board: RestoredBoard
  /// The number of steps that have been applied at the current position.
  public private(set) var place = 0
  /// The number of operations that have been applied at the current position.
  public private(set) var operations = 0
  /// The steps that were played but could not be applied.
  ///
  /// These steps do not change the board.
  public private(set) var faults: [Fault] = []

  private struct Kept {
    let place: Int
    let operations: Int
    let board: RestoredBoard
  }

  private var kept: [Kept] = []
  private var frontier = 0

  /// Creates a playback at the beginning of a recording.
  public init(_ recording: Recording, spacing: Int = 16_384) {
    self.recording = recording
    self.spacing = max(1, spacing)
    board = RestoredBoard(recording.board)
    for change in recording.beginning {
      do throws(RestoreError) { try board.apply(change) } catch {
        faults.append(Fault(place: 0, reason: "a record: \(error)"))
      }
    }
    kept = [Kept(place: 0, operations: 0, board: board)]
  }

  /// The time of the current position, in milliseconds from the beginning.
  public var elapsed: Int64 { place == 0 ? 0 : recording.times[place - 1] }

  /// Moves to the position where `target` steps are applied.
  ///
  /// - Complexity: O(``spacing``) if the position was reached before; otherwise O(n) in the steps after the last
  ///   position reached.
  public mutating func seek(toPlace target: Int, _ tolerance: Tolerance = .exact) {
    var target = min(max(0, target), recording.count)
    // The cached states are sorted by position.
    var (low, high) = (0, kept.count)
    while low < high {
      let middle = (low + high) / 2
      if kept[middle].place <= target { low = middle + 1 } else { high = middle }
    }
    let before = kept[low - 1]
    if tolerance == .nearest, target <= frontier {
      let after = low < kept.count ? kept[low].place : frontier
      target = target - before.place <= after - target ? before.place : after
      if let exact = kept.first(where: { $0.place == target }) { return go(to: exact) }
    }
    if place > target || place < before.place { go(to: before) }
    while place < target { step() }
  }

  /// Moves to a time, in milliseconds from the beginning, by applying all steps up to that time.
  public mutating func seek(toTime elapsed: Int64, _ tolerance: Tolerance = .exact) {
    seek(toPlace: recording.place(at: elapsed), tolerance)
  }

  /// Applies the next step, if there is one.
  public mutating func step() {
    guard place < recording.count else { return }
    let isNew = place == frontier
    do {
      let change = try recording.change(at: place)
      if case .batch(let encoded) = change { operations += encoded.batch.operations.count }
      try board.apply(change)
    } catch { if isNew { faults.append(Fault(place: place, reason: "\(error)")) } }
    place += 1
    guard isNew else { return }
    frontier = place
    // A cached state costs memory for each object, so larger boards are cached less often.
    let distance = max(spacing, board.state.objectCount)
    guard let last = kept.last, operations - last.operations >= distance else { return }
    kept.append(Kept(place: place, operations: operations, board: board))
  }

  /// Returns the changes to the board since the last call.
  ///
  /// If the playback moved backward, all objects are returned.
  public mutating func takeChanges() -> [ObjectChange] { board.takeChanges() }

  private mutating func go(to state: Kept) {
    place = state.place
    operations = state.operations
    board = state.board
  }
}

/// A board that is used to verify documents (REC-18).
public struct RecordedBoard: PlayedBoard {
  private var board: RestoredBoard

  /// Creates an empty board with an id, or returns `nil` if the id does not have 16 bytes.
  public init?(board: [UInt8]) {
    guard let id = BoardID(bytes: board) else { return nil }
    self.board = RestoredBoard(id)
  }

  /// Returns the id of the board for which an author's record is signed, or `nil` if the record is not valid.
  public static func board(of author: StoredAuthor) -> [UInt8]? {
    guard let record = try? AuthorRecord(author.record), record.incarnation.rawValue == author.incarnation,
      (try? record.verify(board: record.board, with: P256SignatureVerifier())) != nil
    else { return nil }
    return record.board.bytes
  }

  /// Applies the author record of an incarnation.
  public mutating func apply(_ author: StoredAuthor) {
    guard !author.record.isEmpty, let incarnation = Incarnation(exactly: author.incarnation) else { return }
    try? board.apply(.author(author.record, incarnation))
  }

  /// Applies a batch, an answer or a keyframe.
  ///
  /// - Throws: An error if the content is malformed, or does not fit on the board.
  public mutating func apply(_ content: DocumentHistory.Step.Content) throws {
    switch content {
    case .batch(let bytes): try board.apply(.batch(EncodedBatch(decoding: bytes)))
    case .answer(let bytes): try board.apply(.answer(bytes))
    case .keyframe(let bytes): try board.apply(.keyframe(bytes))
    }
  }

  /// The digest of the board.
  public var digest: [UInt8] { board.digest.bytes }

  /// The whole board as a keyframe.
  public var keyframe: [UInt8] { board.keyframe }
}

extension RestoredBoard {
  /// Returns a board for display, on which only `photos` are available. The board must not be edited.
  package func shown(photos: Set<AssetID> = []) -> Board {
    guard let member = MemberID(bytes: [UInt8](repeating: 0, count: 32)), let incarnation = Incarnation(exactly: 1)
    else { preconditionFailure("a member id has 32 bytes, and an incarnation is not 0") }
    let board = Board(incarnation: incarnation, member: member, wallClock: 0)
    board.show(state, authors: members)
    board.assets = photos
    return board
  }
}
