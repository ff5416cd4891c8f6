extension BoardReplica {
  // MARK: - Objects

  /// The ids of the objects that are shown on the board, from back to front.
  ///
  /// Chat lines, groups and settings are not included.
  /// - Complexity: O(*n* log *n*).
  public var objectIDs: [ObjectID] { state.stacked(state.storedIDs.filter(state.isShown)) }

  /// The objects that the local member has selected, from back to front.
  public var selectedIDs: [ObjectID] { state.selectedIDs.filter { state.isShown($0) && holder(of: $0) == member } }

  /// Snapshots of the objects that are shown on the board, from back to front.
  public var snapshots: [ObjectSnapshot] { objectIDs.compactMap { snapshot($0) } }

  /// Returns a snapshot of the object; nil if the object is not shown on the board.
  public func snapshot(_ id: ObjectID) -> ObjectSnapshot? {
    let holder = self.holder(of: id)
    return ObjectSnapshot(id, on: state, selectedBy: holder, assets: assets, authors: authors)
  }

  /// A copy of the board from which snapshots can be made on another thread.
  ///
  /// The copy shares its memory with the board until the board changes.
  public var objectSource: ObjectSource {
    let holders = state.selectedIDs.compactMap { id in holder(of: id).map { (id, $0) } }
    return ObjectSource(
      state: state,
      assets: assets,
      authors: authors,
      member: member,
      holders: Dictionary(uniqueKeysWithValues: holders)
    )
  }

  // MARK: - Deletions

  /// Returns the shown objects that an answer deletes or purges although its sender had not seen all changes that the
  /// local member made to them.
  /// - Complexity: O(*n*), where *n* is the number of objects on the board and of cells in the answer.
  package func shownObjects(changedOutside difference: Difference) -> [ObjectID] {
    var deleted = Set(
      state.storedIDs.filter { difference.context.contains($0.dot) && !difference.living.contains($0.dot) }
    )
    for entry in difference.entries
    where entry.cells.contains(where: { $0.property == .deleted && $0.cell.value.isTrue }) {
      deleted.insert(entry.object)
    }
    return deleted.sorted().filter { id in
      guard state.isShown(id), let record = state.record(id) else { return false }
      return record.entries.contains { entry in
        entry.property != .selection && authors[entry.cell.dot.incarnation] == member
          && !difference.context.contains(entry.cell.dot)
      }
    }
  }

  /// Groups objects by the member that deleted them, without the objects that the local member deleted. Purged objects
  /// come last, without a member.
  package func deletions(of ids: [ObjectID]) -> [(author: MemberID?, objects: [ObjectID])] {
    var deleted: [MemberID: [ObjectID]] = [:]
    var purged: [ObjectID] = []
    for id in ids {
      guard let record = state.record(id), let cell = record[.deleted] else {
        if state.record(id) == nil { purged.append(id) }
        continue
      }
      guard record.isDeleted, let author = authors[cell.dot.incarnation], author != member else { continue }
      deleted[author, default: []].append(id)
    }
    var result: [(author: MemberID?, objects: [ObjectID])] = []
    for author in deleted.keys.sorted() { result.append((author, deleted[author] ?? [])) }
    if !purged.isEmpty { result.append((nil, purged)) }
    return result
  }

  // MARK: - Places

  /// Returns the objects that cover a point or are at most `tolerance` away from it, from front to back.
  ///
  /// Groups and locks are ignored.
  /// - Complexity: O(*n* log *n* + *m*), where *n* is the number of objects on the board and *m* is the number of
  ///   points of nearby strokes.
  public func objects(at place: Point, tolerance: Double = 0) -> [ObjectID] {
    guard place.isFinite, tolerance >= 0 else { return [] }
    let state = self.state
    return objectIDs.reversed().filter { id in
      guard let record = state.shown(id) else { return false }
      return record.covers(place, within: tolerance)
    }
  }

  /// Returns the objects that touch a rectangle or lie inside it, from front to back.
  ///
  /// Groups and locks are ignored.
  /// - Complexity: The same as that of `objects(at:tolerance:)`.
  public func objects(in rectangle: Rectangle, mode: RectangleMode) -> [ObjectID] {
    guard rectangle.isFinite else { return [] }
    let state = self.state
    return objectIDs.reversed().filter { id in
      guard let record = state.shown(id) else { return false }
      return record.isSelected(by: rectangle, mode: mode)
    }
  }

  /// Returns the rectangle around objects and around all objects of groups; nil if none of them is shown.
  public func bounds(of ids: [ObjectID]) -> Rectangle? {
    let known = ids.filter { state.isShown($0) || state.isGroup($0) }
    return (try? state.targets(known))?.reduce(nil) { (whole: Rectangle?, id) in
      guard let bounds = state.shown(id)?.bounds else { return whole }
      return whole?.union(bounds) ?? bounds
    }
  }

  // MARK: - Groups

  /// Returns the groups that contain an object, innermost first.
  public func groups(of id: ObjectID) -> [ObjectID] { state.groups(of: id) }

  /// Returns the objects in a group and in the groups inside it, from back to front.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects on the board; O(1) if the group is empty.
  public func members(ofGroup group: ObjectID) -> [ObjectID] {
    let members = Set(state.contents(of: [group])[group] ?? [])
    guard !members.isEmpty else { return [] }
    return objectIDs.filter(members.contains)
  }

  // MARK: - Chat

  /// Returns the chat line with this id, or nil.
  ///
  /// If the author field of a line names a member other than its signer, the line is ignored.
  public func chatLine(_ id: ObjectID) -> ChatLine? { ChatLine(id, on: state, authors: authors) }

  /// The chat lines in order.
  ///
  /// The order is the same on all replicas that have seen the same edits.
  public var chat: [ChatLine] {
    state.chatIDs.compactMap { chatLine($0) }.sorted { $0.time == $1.time ? $0.id < $1.id : $0.time < $1.time }
  }

  // MARK: - Settings

  /// The settings of the board.
  ///
  /// A setting is nil if it was never set or is outside its limits.
  public var settings: BoardSettings { BoardSettings(of: state) }

  // MARK: - Games

  /// Returns the game as `member` sees it; nil if `id` is not a game.
  ///
  /// If `isRevealing` is true, the view includes spoilers about other members' play even before `member` has finished.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of moves.
  public func gameView(_ id: ObjectID, for member: MemberID, isRevealing: Bool = false) -> GameView? {
    GameView(id, on: state, authors: authors, for: member, isRevealing: isRevealing)
  }
}

/// The objects of a board at one moment.
public struct ObjectSource: Sendable {
  /// The state of the board.
  public let state: BoardState
  fileprivate let assets: Set<AssetID>
  fileprivate let authors: [Incarnation: MemberID]
  fileprivate let member: MemberID
  fileprivate let holders: [ObjectID: MemberID]

  /// The ids of the objects that are shown on the board, from back to front.
  /// - Complexity: O(*n* log *n*).
  public var objectIDs: [ObjectID] { state.stacked(state.storedIDs.filter(state.isShown)) }

  /// Returns a snapshot of the object; nil if the object is not shown on the board.
  public func snapshot(_ id: ObjectID) -> ObjectSnapshot? {
    ObjectSnapshot(id, on: state, selectedBy: holders[id], assets: assets, authors: authors)
  }

  /// Returns the game as the local member sees it; nil if `id` is not a game.
  public func gameView(_ id: ObjectID) -> GameView? {
    GameView(id, on: state, authors: authors, for: member, isRevealing: false)
  }
}

extension BoardState {
  /// Snapshots of the objects that are shown on the board, from back to front. The snapshots lack everything that only
  /// a replica knows: selections, the members who voted, and the photos that are stored.
  package var snapshots: [ObjectSnapshot] {
    stacked(storedIDs.filter(isShown)).compactMap {
      ObjectSnapshot($0, on: self, selectedBy: nil, assets: [], authors: [:])
    }
  }

  /// Returns snapshots of the shown objects that are in front of all others, from front to back, at most `count`.
  /// - Complexity: O(*n* + *m* log *m*), where *n* is the number of objects and *m* is `count`, if most objects are in
  ///   front of the objects that were added before them.
  package func foremostSnapshots(_ count: Int) -> [ObjectSnapshot] {
    typealias Place = (id: ObjectID, zIndex: [UInt8])
    func isInFront(_ one: Place, _ other: Place) -> Bool {
      one.zIndex == other.zIndex ? one.id > other.id : ZIndex.isBehind(other.zIndex, one.zIndex)
    }
    var found: [Place] = []
    // The last of `count` objects that are in front of all other objects seen so far.
    var last: Place?
    for index in objects.ids.indices.reversed() where objects.records[index].isShown {
      let place = (id: objects.ids[index], zIndex: objects.records[index].zIndex)
      if let last, !isInFront(place, last) { continue }
      found.append(place)
      guard found.count >= 2 * count else { continue }
      found.sort(by: isInFront)
      found.removeLast(found.count - count)
      last = found.last
    }
    return found.sorted(by: isInFront).prefix(count).compactMap {
      ObjectSnapshot($0.id, on: self, selectedBy: nil, assets: [], authors: [:])
    }
  }

  /// Calls `body` with the center, the size and the scale of each shown object, in no particular order.
  package func forEachShownFrame(_ body: (_ center: Point, _ size: Size, _ scale: Double) -> Void) {
    for index in objects.ids.indices where objects.records[index].isShown {
      guard let record = shown(objects.ids[index]) else { continue }
      let frame = record.frame(points: record.ink)
      body(frame.center, frame.size, record.scale)
    }
  }

  /// The time of the latest change of a shown object, in milliseconds since 1970; nil if no object is shown.
  package var lastChange: UInt64? { objects.records.lazy.filter { $0.isShown }.map { $0.updatedAt }.max() }

  /// Returns objects from back to front (BRD-13).
  func stacked(_ ids: [ObjectID]) -> [ObjectID] {
    ids.map { (id: $0, zIndex: record($0)?.zIndex ?? []) }.sorted {
      $0.zIndex == $1.zIndex ? $0.id < $1.id : ZIndex.isBehind($0.zIndex, $1.zIndex)
    }.map { $0.id }
  }
}
