import Whiteboard

/// Decides when the user gets a note that the board, or the user's share of it, is nearly full (BRD-38). On a full
/// board, changes are refused, even of the title and the other shared settings.
struct StorageNotice {
  private static let threshold = 0.9
  /// The cells are counted again only if the board has changed by this part of an author's limit, because counting
  /// takes some milliseconds on a large board.
  private static let step = 0.01

  private var counted = 0.0
  private var isReported = false

  /// Returns the note, once until the board is smaller again.
  mutating func check(_ board: Board) -> SharedBoard.News.Remark? {
    let used = board.state.usedShare
    guard used >= Self.threshold else {
      self = StorageNotice()
      return nil
    }
    guard abs(used - counted) >= Self.step else { return nil }
    counted = used
    let (all, own) = (board.state.usedStorage, board.usedOwnShare())
    guard max(all, own) >= Self.threshold else {
      isReported = false
      return nil
    }
    guard !isReported else { return nil }
    isReported = true
    return .nearlyFull(all: all, own: own)
  }
}

extension SharedBoard.News.Remark {
  static func nearlyFull(all: Double, own: Double) -> Self {
    let percent = Int(max(all, own) * 100)
    let what =
      all >= own
      ? "This board is \(percent) % full."
      : "You have written \(percent) % of what one author may write on this board."
    return Self(
      code: "board-nearly-full",
      message: "\(what) At 100 %, changes are refused, also of the title and the other settings of the board. Delete "
        + "objects that are no longer needed and `purge` them, or continue on a new board."
    )
  }

  /// Returns nil if there is enough room for further settings.
  static func nearlyFull(hiddenAuthors count: Int, usedPart: Double) -> Self? {
    let limit = HiddenAuthors.limit
    if count * 10 >= limit * 9 {
      return Self(
        code: "settings-nearly-full",
        message: "You hide \(count) of at most \(limit) authors. `unhide` some of them before you hide more."
      )
    }
    guard usedPart >= 0.9 else { return nil }
    return Self(
      code: "settings-nearly-full",
      message: "The file settings.json in your data directory has \(Int(usedPart * 100)) % of its maximum size. Remove "
        + "the settings that you do not need from it; a larger file cannot be saved."
    )
  }
}
