/// The numbers that bound a board; each is in the limits table of `Protocol/board.md` (BRD-30).
///
/// Those that are looked at for each field of what is decoded are computed, so that they are constants
/// in every module.
public enum BoardLimits {
  /// The greatest sequence number of one incarnation.
  @inlinable public static var sequence: UInt64 { (1 << 48) - 1 }
  /// The greatest hybrid time: 47 bits of milliseconds and a 16-bit counter.
  @inlinable public static var time: UInt64 { (1 << 63) - 1 }
  /// Operations in one batch.
  public static let operationsPerBatch = 4096
  /// Bytes of one encoded batch.
  public static let batchBytes = 1 << 20
  /// Bytes of one value.
  @inlinable public static var valueBytes: Int { 1 << 16 }
  /// The greatest property number.
  @inlinable public static var property: UInt16 { 1023 }
  /// Objects that a replica creates locally before it refuses, chat lines and deleted ones included.
  public static let objects = 100_000
  /// Objects that a replica keeps, whoever sent them.
  public static let storedObjects = 1 << 20
  /// Cells that a replica keeps, whoever sent them.
  public static let storedCells = 1 << 22
  /// Bytes of all the values that a replica keeps, whoever sent them.
  public static let storedBytes = 128 << 20
  /// Objects that one author creates on a board that others use too (BRD-38).
  public static let objectsPerAuthor = objects / 2
  /// Cells that one author writes on a board that others use too.
  public static let cellsPerAuthor = storedCells / 2
  /// Bytes of the values that one author writes on a board that others use too.
  public static let bytesPerAuthor = storedBytes / 2
  /// Bytes of the photos that one author has on a board (BRD-38).
  public static let photoBytesPerAuthor = 512 << 20
  /// Bytes of all the photos of a board that a replica requests (BRD-38).
  public static let photoBytesOfBoard = 2 << 30
  /// Incarnations in a context.
  public static let incarnations = 1 << 16
  /// Incarnations of one author in a context (BRD-37).
  public static let incarnationsPerAuthor = 1 << 12
  /// Incarnations in a context while those of members without a link here are still accepted (BRD-37).
  public static let incarnationsOfStrangers = incarnations - (1 << 12)
  /// The same for a replica whose context was empty, so that it takes what others had when they stopped.
  public static let incarnationsOfStrangersAtFirst = incarnations - (1 << 11)
  /// Records that a member may send ahead of the purges that need them (SYN-48).
  public static let recordsAhead = 1 << 12
  /// Ranges of sequence numbers in a context, or in a set of living objects.
  ///
  /// At most 14 bytes each, and 12 for each incarnation: a request, which carries a context, always
  /// fits in one message of the session.
  public static let ranges = 1 << 20
  /// UTF-8 bytes of the visible text of one text object.
  public static let textBytes = 8192
  /// Characters of one text object, the deleted ones counted.
  public static let textElements = 65_536
  /// Bytes of the runs, and of the deletions, of one text object that are looked at (BRD-24).
  public static let textTreeBytes = 2 << 20
  /// UTF-8 bytes of one chat line.
  public static let chatBytes = 8192
  /// UTF-8 bytes of a name.
  public static let nameBytes = 64
  /// UTF-8 bytes of an icon.
  public static let iconBytes = 16
  /// UTF-8 bytes of a board's title.
  public static let titleBytes = 256
  /// UTF-8 bytes of the language of a board's games.
  public static let languageBytes = 16
  /// UTF-8 bytes of the name of a game.
  public static let gameNameBytes = 64
  /// Moves of one game that are looked at (GAM-3).
  public static let gameMoves = 65_536
  /// Moves of one game and one incarnation that are looked at (GAM-3).
  public static let gameMovesPerIncarnation = 256
  /// Bytes of how a game begins.
  public static let setupBytes = 4096
  /// The greatest spacing of a board's grid, in board units.
  public static let grid: Double = 65_536
  /// Spans of one erasure.
  public static let erasureSpans = 4096
  /// The end of the last span of an erasure, in 1/16 of the way from one point to the next.
  public static let erasureEnd = 1_048_576
  /// How many erasures of one stroke are looked at.
  public static let erasuresPerStroke = 4096
  /// Bytes of the erasures of one stroke that are looked at.
  public static let erasureBytes = 1 << 18
  /// Points of the path of an eraser.
  public static let eraserPoints = 4096
  /// How long an object has to be deleted before it may be purged, in milliseconds.
  public static let purgeDelay: UInt64 = 600_000
  /// How many groups around one object are looked at, from the innermost one.
  public static let groupDepth = 64
  /// Points of one committed piece of a stroke.
  public static let pointsPerChunk = 128
  /// Points of one stroke.
  public static let pointsPerStroke = 65_536
  /// Points of one preview datagram.
  public static let pointsPerPreview = 16
  /// Coordinates are at least minus this and less than this, in board units.
  public static let coordinate: Double = 33_554_432
  /// The maximum width and height of a member's view, in board units: the whole board.
  public static let viewExtent = 67_108_864
  /// The least scale.
  public static let leastScale: Double = 1.0 / 1024
  /// The greatest scale.
  public static let greatestScale: Double = 1024
  /// The greatest line width in board units.
  public static let lineWidth: Double = 1024
  /// Bytes of a z index.
  public static let zIndexBytes = 64
  /// Bytes of a photo.
  public static let photoBytes = 32 << 20
  /// Pixels of a photo.
  public static let photoPixels = 64_000_000
  /// The milliseconds by which a stamp may lead the local wall clock and still advance the local
  /// clock (BRD-7).
  public static let drift: UInt64 = 60_000
  /// The milliseconds by which the wall clocks of members may differ before they are warned
  /// (SYN-43).
  public static let clockDifference: UInt64 = 300_000
}
