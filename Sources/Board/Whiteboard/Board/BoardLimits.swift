/// The limits of a board, as listed in the limits table of `Protocol/board.md` (BRD-30).
///
/// Limits that are checked for each decoded field are inlinable, so that they are constants in other modules too.
public enum BoardLimits {
  /// The maximum sequence number of one incarnation.
  @inlinable public static var sequence: UInt64 { (1 << 48) - 1 }
  /// The maximum hybrid time: 47 bits of milliseconds and a 16-bit counter.
  @inlinable public static var time: UInt64 { (1 << 63) - 1 }
  /// The maximum number of operations in one batch.
  public static let operationsPerBatch = 4096
  /// The maximum number of operations in one gesture, which can be several batches.
  public static let operationsPerGesture = 1 << 20
  /// The maximum number of bytes in one encoded batch.
  public static let batchBytes = 1 << 20
  /// The maximum number of bytes in one value.
  @inlinable public static var valueBytes: Int { 1 << 16 }
  /// The maximum property number.
  @inlinable public static var property: UInt16 { 1023 }
  /// The maximum number of objects that an author may create on a board without other authors (BRD-38).
  ///
  /// Chat lines and deleted objects count too.
  public static let objects = 100_000
  /// The maximum number of objects that a replica stores, from all authors.
  public static let storedObjects = 1 << 20
  /// The maximum number of cells that a replica stores, from all authors.
  public static let storedCells = 1 << 22
  /// The maximum number of bytes in all values that a replica stores, from all authors.
  public static let storedBytes = 128 << 20
  /// The maximum number of objects that one author may create on a board that others use too (BRD-38).
  public static let objectsPerAuthor = objects / 2
  /// The maximum number of cells that one author may write on a board that others use too.
  public static let cellsPerAuthor = storedCells / 2
  /// The maximum number of bytes in the values that one author may write on a board that others use too.
  public static let bytesPerAuthor = storedBytes / 2
  /// The maximum number of cells that an author may write on a board without other authors (BRD-38).
  public static let cellsPerLoneAuthor = storedCells / 4 * 3
  /// The maximum number of bytes in the values that an author may write on a board without other authors.
  public static let bytesPerLoneAuthor = storedBytes / 4 * 3
  /// The maximum number of bytes in the photos of one author on a board (BRD-38).
  public static let photoBytesPerAuthor: Int64 = 512 << 20
  /// The maximum number of bytes in the photos that a replica requests for one board (BRD-38).
  public static let photoBytesOfBoard: Int64 = 2 << 30
  /// The maximum number of incarnations in a context.
  public static let incarnations = 1 << 16
  /// The maximum number of incarnations of one author in a context (BRD-37).
  public static let incarnationsPerAuthor = 1 << 12
  /// The number of incarnations in a context beyond which a replica accepts only incarnations of connected members
  /// (BRD-37).
  public static let incarnationsOfStrangers = incarnations - (1 << 12)
  /// The number of incarnations in a context beyond which a replica accepts only its own incarnations (BRD-37).
  public static let incarnationsOfMembers = incarnations - (1 << 9)
  /// The value of `incarnationsOfStrangers` for a replica whose context was empty.
  ///
  /// This value is higher than ``incarnationsOfMembers``, because a new replica must accept everything that other
  /// replicas stored before they reached their limit.
  public static let incarnationsOfStrangersAtFirst = incarnations - (1 << 8)
  /// The incarnations of one author may use the free room of a context divided by this number (BRD-37).
  public static let incarnationShare = 8
  /// The number of incarnations that each author may add during a run of a replica, whatever the author's share is
  /// (BRD-37).
  public static let incarnationsPerRun = 16
  /// The maximum number of author records that a member may send ahead of the purges that need them (SYN-48).
  public static let recordsAhead = 1 << 12
  /// The maximum number of ranges of sequence numbers in a context, or in a set of living objects.
  ///
  /// A range takes at most 14 bytes and an incarnation takes 12. Therefore a catch-up request, which contains a
  /// context, always fits in one message of the session.
  public static let ranges = 1 << 20
  /// The maximum number of UTF-8 bytes in the visible text of one text object.
  public static let textBytes = 8192
  /// The maximum number of characters in one text object, including deleted characters.
  public static let textElements = 65_536
  /// The maximum number of bytes that are read from the runs of one text object.
  ///
  /// The same limit applies to the deletions (BRD-24).
  public static let textTreeBytes = 2 << 20
  /// The maximum number of UTF-8 bytes in one chat line.
  public static let chatBytes = 8192
  /// The maximum number of UTF-8 bytes in a display name.
  public static let nameBytes = 64
  /// The maximum number of UTF-8 bytes in an icon.
  public static let iconBytes = 16
  /// The maximum number of UTF-8 bytes in a link.
  public static let linkBytes = 2048
  /// The maximum number of votes that are read for one object, including withdrawn votes.
  static let votes = 4096
  /// The maximum number of UTF-8 bytes in a board's title.
  public static let titleBytes = 256
  /// The maximum number of UTF-8 bytes in the language tag of a board's games.
  public static let languageBytes = 16
  /// The maximum number of UTF-8 bytes in the name of a game.
  public static let gameNameBytes = 64
  /// The maximum number of moves that are read for one game (GAM-3).
  public static let gameMoves = 65_536
  /// The maximum number of moves that are read for one game and one incarnation (GAM-3).
  public static let gameMovesPerIncarnation = 256
  /// The maximum number of bytes in the setup of a game.
  public static let setupBytes = 4096
  /// The maximum spacing of a board's grid, in board units.
  public static let grid: Double = 65_536
  /// The maximum number of spans in one erasure.
  public static let erasureSpans = 4096
  /// The maximum end of an erased span, in units of 1/16 of the distance between consecutive points.
  public static let erasureEnd = 1_048_576
  /// The maximum number of erasures that are read for one stroke.
  public static let erasuresPerStroke = 4096
  /// The maximum number of bytes that are read from the erasures of one stroke.
  public static let erasureBytes = 1 << 18
  /// The maximum number of points in the path of an eraser.
  public static let eraserPoints = 4096
  /// The maximum number of leases that one member can have on selected objects (BRD-22).
  public static let selectionsPerMember = 1024
  /// The duration of the lease on a selected object, in milliseconds, from its start or the member's last edit.
  public static let selectionLease: UInt64 = 60_000
  /// The minimum time, in milliseconds, between the end of a lease and another lease of the same member on the object.
  public static let selectionRest: UInt64 = 240_000
  /// The minimum time between the deletion of an object and its purge, in milliseconds.
  public static let purgeDelay: UInt64 = 600_000
  /// The maximum nesting depth of groups.
  ///
  /// Enclosing groups beyond this depth are ignored.
  public static let groupDepth = 64
  /// The maximum number of points in one chunk of a stroke.
  ///
  /// A chunk is the value of one cell.
  public static let pointsPerChunk = 128
  /// The maximum number of points in one stroke.
  public static let pointsPerStroke = 65_536
  /// The maximum number of points in one preview datagram.
  public static let pointsPerPreview = 16
  /// The bound of coordinates, in board units.
  ///
  /// Coordinates are at least `-coordinate` and less than `coordinate`.
  public static let coordinate: Double = 33_554_432
  /// The maximum width and height of a member's view in board units: the size of the whole board.
  public static let viewExtent = 67_108_864
  /// The minimum scale of an object.
  public static let leastScale: Double = 1.0 / 1024
  /// The maximum scale of an object.
  public static let greatestScale: Double = 1024
  /// The maximum line width in board units.
  public static let lineWidth: Double = 1024
  /// The maximum number of cells with points of a line or arrow that are read.
  public static let pointCells = 4096
  /// The minimum height of a row of text in board units.
  public static let leastTextSize: Double = 1
  /// The maximum height of a row of text in board units.
  public static let textSize: Double = 1024
  /// The maximum number of bytes in a z index.
  public static let zIndexBytes = 64
  /// The maximum number of bytes in a photo.
  public static let photoBytes = 32 << 20
  /// The maximum number of pixels in a photo.
  public static let photoPixels = 64_000_000
  /// The maximum time, in milliseconds, by which the hybrid clock may be ahead of the local wall clock (BRD-7).
  public static let drift: UInt64 = 60_000
  /// The difference between the wall clocks of members, in milliseconds, above which users are warned (SYN-43).
  public static let clockDifference: UInt64 = 300_000
}
