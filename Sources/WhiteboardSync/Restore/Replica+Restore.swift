import PeerCore
import Whiteboard

/// Storing a board in a document, and restoring a replica from it.
extension Replica {
  /// Restores stored changes in the order in which they were recorded, before any member joins.
  ///
  /// Only the board id of the changes is checked. The changes are not reported, so read the board afterwards. The
  /// replica keeps its new incarnation, so that no dot is used twice even if the end of the document was lost (BRD-1).
  ///
  /// - Parameters:
  ///   - changes: The stored changes.
  ///   - now: The time.
  ///   - isWhole: Whether these are the last changes. If not, records without batches are kept, because their batches
  ///     may follow.
  /// - Returns: Requests for signatures and checks; none if keys and verifiers are local.
  /// - Throws: ``RestoreError``. Changes before the invalid change stay on the board.
  public func restore(_ changes: some Sequence<StoredChange>, now: Moment, isWhole: Bool = true) throws(RestoreError)
    -> [ReplicaAction]
  {
    precondition(peers.isEmpty, "a board must be restored before any member joins")
    begin(now)
    try BoardRestorer(replica: self).restore(changes, now, isWhole: isWhole)
    return removeActions()
  }

  /// Returns the whole content of the replica as a keyframe for ``restore(_:now:isWhole:)``.
  ///
  /// Call it only while ``isAwaitingSignature`` is false, because a keyframe contains signed records.
  public func snapshotForKeeping() -> [UInt8] {
    precondition(!isAwaitingSignature, "a keyframe cannot be encoded while a signature is missing")
    return KeptState.encode(
      registry.recordsForKeyframe(),
      board.state.difference(since: Context()),
      permissions.grantForKeyframe,
      permissions.revocations.all
    )
  }

  /// Returns the content of the board as a keyframe for another board, and the photos in it.
  ///
  /// - Parameter author: An author of the other board. This author becomes the author of the content.
  /// - Returns: The keyframe, its digest and the photos.
  /// - Throws: `boardFull` if more incarnations wrote on the board than one author may have.
  public func snapshotForAnotherBoard(by author: Author) throws(BoardError) -> (
    keyframe: [UInt8], digest: Bytes32, assets: Set<AssetID>
  ) {
    let copy = try BoardCopy(of: board.state, by: author)
    return (copy.keyframe, copy.digest, copy.assets)
  }
}
