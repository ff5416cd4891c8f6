import Whiteboard

/// A change of a replica, in the form in which a document stores it.
///
/// A replica reports a stored change before the effects of the change. If all stored changes are passed to
/// ``Replica/restore(_:now:isWhole:)`` in this order, they restore the same board.
public enum StoredChange: Hashable, Sendable {
  /// The record of an incarnation. It is stored before the incarnation's first batch.
  case author([UInt8], Incarnation)
  /// A batch, in its full form.
  case batch(EncodedBatch)
  /// A merged answer, a grant, a revocation or a retirement.
  ///
  /// The first byte states the kind:
  /// - 0: An answer.
  /// - 1: An answer whose cells were all compared with the stored cells (SYN-42).
  /// - 2: An answer like 1. The next two bytes are the buckets whose cells were replaced.
  /// - 3: A grant.
  /// - 4: A revocation.
  /// - 5: A retirement.
  case answer([UInt8])
  /// A signed head of an incarnation's chain, up to the operation `sequence`.
  case head([UInt8], Incarnation, sequence: UInt64)
  /// The whole content of a replica, as returned by ``Replica/snapshotForKeeping()``.
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

extension RestoreError {
  static func decoding<Result>(_ body: () throws(CodecError) -> Result) throws(RestoreError) -> Result {
    do throws(CodecError) { return try body() } catch { throw .damaged(error) }
  }

  static func merging(_ body: () throws(BoardError) -> Void) throws(RestoreError) {
    do throws(BoardError) { try body() } catch { throw .boardFull }
  }
}
