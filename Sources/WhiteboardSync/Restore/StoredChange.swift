import Whiteboard

/// A change of a replica, in the form in which a document stores it.
///
/// A replica reports each stored change before the effects of the change. All of them, passed in this order to
/// ``Replica/restore(_:now:isWhole:)``, make the same board.
public enum StoredChange: Hashable, Sendable {
  /// The record of an incarnation, before its first batch.
  case author([UInt8], Incarnation)
  /// A batch, in its full form.
  case batch(EncodedBatch)
  /// A merged answer, a grant or a revocation, after a byte that states the kind.
  ///
  /// 0 is an answer; 1 is an answer whose cells were all compared (SYN-42); 2 is the same, and two more bytes
  /// name the buckets whose cells were replaced; 3 is a grant; 4 is a revocation.
  case answer([UInt8])
  /// A signed head of an incarnation, through the operation of that sequence.
  case head([UInt8], Incarnation, sequence: UInt64)
  /// The whole content of a replica, from ``Replica/snapshotForKeeping()``.
  case keyframe([UInt8])
}

/// The reason why stored changes cannot be restored.
public enum RestoreError: Error, Hashable, Sendable {
  /// The bytes are malformed.
  case damaged(CodecError)
  /// The change belongs to another board.
  case wrongBoard
  /// The board has no room for the change.
  case boardFull
}
