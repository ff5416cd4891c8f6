import Whiteboard

/// One thing that changed what a replica holds, in the form in which a document keeps it.
///
/// A replica tells each before it tells anybody what became of it; all of them, given to
/// ``Replica/restore(_:now:)`` in that order, make the board that they were told of.
public enum StoredChange: Hashable, Sendable {
  /// The record of an incarnation, before its first batch.
  case author([UInt8], Incarnation)
  /// A batch, in its full form.
  case batch(EncodedBatch)
  /// An answer that was merged: a byte, 1 where each cell was compared (SYN-42), 2 where moreover the
  /// cells of the buckets were replaced that two more bytes name, and else 0, and the answer as it
  /// came; or 3 and a grant, or 4 and a revocation, which count from there on.
  case answer([UInt8])
  /// A signed head of an incarnation, through the operation of that sequence.
  case head([UInt8], Incarnation, sequence: UInt64)
  /// All that a replica held: what ``Replica/snapshotForKeeping()`` gave.
  case keyframe([UInt8])
}

/// The reason why stored changes cannot be restored.
public enum RestoreError: Error, Hashable, Sendable {
  /// The bytes are not of their form.
  case damaged(CodecError)
  /// It is of another board.
  case wrongBoard
  /// It does not fit in a board.
  case boardFull
}
