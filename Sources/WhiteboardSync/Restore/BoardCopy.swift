import PeerCore
import Whiteboard

/// A copy of a board's content that can be stored on another board.
///
/// Author records are valid on one board only (AUT-1), so one author of the other board becomes the author of all
/// content. That author creates a new incarnation for each incarnation in the content, in the same order. The context
/// of the copy contains only these new incarnations (BRD-37). Games start again, because a move is valid only if its
/// author is the player.
struct BoardCopy {
  /// The content, encoded as a keyframe for a replica of the other board.
  let keyframe: [UInt8]
  /// The digest of the content.
  let digest: Bytes32
  /// The photos that the content shows.
  let assets: Set<AssetID>

  /// Copies a board for an author with a local key.
  /// - Throws: `boardFull` if more incarnations wrote on the board than one author may have.
  init(of original: BoardState, by author: Author) throws(BoardError) {
    var found = original.difference(since: Context())
    for index in found.entries.indices { found.entries[index].cells.removeAll(where: { $0.property.isMove }) }
    let created = found.living
    found.entries.removeAll { $0.cells.isEmpty || !created.contains($0.object.dot) }
    found.living = DotSet(ascending: found.entries.map { $0.object.dot })
    found.context = Self.context(of: found.entries)
    let named = found.context.incarnations
    guard named.count < BoardLimits.incarnationsPerAuthor else { throw .boardFull }
    let made = named.map { _ in author.makeIncarnation() }.sorted()
    precondition(!author.hasUnsignedRecord, "the author must have a local key")
    let renamed = Dictionary(uniqueKeysWithValues: zip(named, made))
    let renaming = IncarnationRenaming { renamed[$0] ?? $0 }
    let difference = renaming.difference(found) { property, value, time in
      // A chat line is shown only if its author wrote it. The display name in the line remains unchanged.
      (property == .chatAuthor ? .bytes(author.member.bytes) : value, time)
    }
    var state = BoardState()
    var changes = ChangeLog()
    try state.merge(difference, changes: &changes)
    assets = Set(state.records.compactMap { _, record in record.asset?.id })
    digest = BoardDigest.digest(of: state)
    keyframe = KeptState.encode(made.map { author.record(of: $0) }, difference)
  }

  /// Returns the context of a replica that has seen the dots in these entries and all earlier dots.
  private static func context(of entries: [Difference.Entry]) -> Context {
    var last: [Incarnation: UInt64] = [:]
    func note(_ dot: Dot) { last[dot.incarnation] = max(last[dot.incarnation] ?? 0, dot.sequence) }
    for entry in entries {
      note(entry.object.dot)
      for known in entry.cells { note(known.cell.dot) }
    }
    var context = Context()
    for (incarnation, sequence) in last { context.insert(1...sequence, of: incarnation) }
    return context
  }
}
