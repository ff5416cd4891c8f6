import Whiteboard
import WhiteboardSync

/// A board at any moment of a recording.
///
/// It caches states, so that returning to an earlier position applies at most ``spacing``
/// operations. To make all positions fast, go to the end once.
public struct Playback: Sendable {
  /// How exactly a place is to be found.
  public enum Tolerance: Hashable, Sendable {
    /// Just that place.
    case exact
    /// The nearest state that is kept: at once.
    case nearest
  }

  /// The reason why a step could not be applied.
  public struct Fault: Hashable, Sendable {
    /// Which step, from 0.
    public let place: Int
    /// The reason.
    public let reason: String
  }

  /// The recording that is played.
  public let recording: Recording
  /// How many operations lie between two states that are kept, at least.
  public let spacing: Int
  /// The board there.
  public private(set) var board: RestoredBoard
  /// How many steps are applied.
  public private(set) var place = 0
  /// How many operations were applied up to here.
  public private(set) var operations = 0
  /// The steps that could not be applied, of those that were passed; they change nothing.
  public private(set) var faults: [Fault] = []

  private struct Kept {
    let place: Int
    let operations: Int
    let board: RestoredBoard
  }

  private var kept: [Kept] = []
  /// The first step that was never passed.
  private var frontier = 0

  /// At the beginning of a recording.
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

  /// How long it took from the beginning to here, in milliseconds.
  public var elapsed: Int64 { place == 0 ? 0 : recording.times[place - 1] }

  /// Goes to where so many steps are applied.
  /// - Complexity: O(``spacing``) where it was before, else O(n) in the steps from there.
  public mutating func seek(toPlace target: Int, _ tolerance: Tolerance = .exact) {
    var target = min(max(0, target), recording.count)
    // Kept states ascend.
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

  /// Goes to a time, in milliseconds from the beginning: all that was applied until then is.
  public mutating func seek(toTime elapsed: Int64, _ tolerance: Tolerance = .exact) {
    seek(toPlace: recording.place(at: elapsed), tolerance)
  }

  /// Applies the next step; at the end it does nothing.
  public mutating func step() {
    guard place < recording.count else { return }
    let isNew = place == frontier
    do {
      let change = try recording.change(at: place)
      if case .batch(let encoded) = change { operations += encoded.batch.operations.count }
      try board.apply(change)
    } catch {
      if isNew { faults.append(Fault(place: place, reason: "\(error)")) }
    }
    place += 1
    guard isNew else { return }
    frontier = place
    // A state to begin from costs as much as it has objects.
    let distance = max(spacing, board.state.objectCount)
    guard let last = kept.last, operations - last.operations >= distance else { return }
    kept.append(Kept(place: place, operations: operations, board: board))
  }

  /// Returns the changes of the board since the last call; all objects if the playback went back.
  public mutating func takeChanges() -> [ObjectChange] { board.takeChanges() }

  private mutating func go(to state: Kept) {
    place = state.place
    operations = state.operations
    board = state.board
  }
}
