import Whiteboard

final class ChangeReporter {
  private let board: Board
  private let strokes: StrokeSharing
  private let photos: PhotoSharing
  private let actions: ActionQueue
  private var deferred = DeferredChanges()
  private var lateLines = LateLines()
  private var ownSelections: Set<ObjectID> = []
  private var reportedHolders: [ObjectID: MemberID] = [:]

  init(_ board: Board, _ strokes: StrokeSharing, _ photos: PhotoSharing, _ actions: ActionQueue) {
    self.board = board
    self.strokes = strokes
    self.photos = photos
    self.actions = actions
  }

  /// Reports the new changes of the board, except the deferred changes.
  func reportChanges(from member: MemberID?, _ now: Moment) {
    let changes = board.takeChanges()
    var lines = 0
    for change in changes {
      if deferred.append(change, of: board.state, from: member) { continue }
      if changes.count > LateLines.count, case .changed(let id) = change, board.state.isBoundLine(id) {
        lines += 1
        if lateLines.contains(id) { continue }
        if lines > LateLines.count {
          lateLines.append(id, from: member)
          continue
        }
      }
      report(change, from: member, now)
    }
  }

  func reportDeferredChange(_ now: Moment) {
    for line in lateLines.removeNext() { report(.changed(line.id), from: line.member, now) }
    if let next = deferred.removeNext(now.uptime) { report(next.change, from: next.member, now) }
  }

  var nextDeadline: UInt64? { lateLines.isEmpty ? deferred.nextDeadline : 0 }

  func reportSelections() {
    for id in board.state.selectedIDs where board.state.isShown(id) { reportSelection(of: id) }
  }

  /// Discards the changes of a restored board, but processes its photos and the local selections.
  func discardChanges(_ now: Moment) {
    _ = board.takeChanges()
    for id in board.objectIDs {
      let record = board.state.record(id)
      // Create snapshots only of photos, because a snapshot costs more than restoring the object.
      if record?.kind == .photo, let photo = board.snapshot(id) { updateSharing(of: photo, from: nil, now) }
      if record?.selection != nil, board.holder(of: id) == board.member {
        ownSelections.insert(id)
        reportedHolders[id] = board.member
      }
    }
  }

  private func report(_ change: ObjectChange, from member: MemberID?, _ now: Moment) {
    switch change {
    case .added(let id):
      if let line = board.chatLine(id) {
        actions.append(.chat(line, from: member))
      } else if let snapshot = board.snapshot(id) {
        actions.append(.objectAdded(snapshot, from: member))
        updateSharing(of: snapshot, from: member, now)
        if board.state.record(id)?.selection != nil { reportSelection(of: id) }
      }
    case .changed(let id):
      if let snapshot = board.snapshot(id) {
        actions.append(.objectChanged(snapshot, from: member))
        updateSharing(of: snapshot, from: member, now)
      } else if let line = board.chatLine(id), line.about != nil {
        // The line was marked as resolved or open.
        actions.append(.chat(line, from: member))
      }
    case .removed(let id):
      strokes.objectRemoved(id)
      ownSelections.remove(id)
      reportedHolders[id] = nil
      actions.append(.objectRemoved(id, from: member))
    case .selected(let id): reportSelection(of: id)
    }
  }

  private func updateSharing(of snapshot: ObjectSnapshot, from member: MemberID?, _ now: Moment) {
    strokes.strokeChanged(snapshot, from: member)
    if let asset = snapshot.asset { photos.request(asset, of: snapshot.id, preferring: member, now) }
  }

  func reportSelection(of id: ObjectID) {
    let winner = board.selection(of: id)
    let holder = board.holder(of: id)
    if winner == board.member {
      ownSelections.insert(id)
    } else if ownSelections.remove(id) != nil, let winner {
      actions.append(.selectionLost(id, to: winner))
    }
    guard reportedHolders[id] != holder else { return }
    reportedHolders[id] = holder
    actions.append(.selected(id, by: holder))
  }
}

/// The bound lines whose ends have moved, and that have not been reported yet. Hundreds of lines can be bound to an
/// object, and a drag moves the object many times a second. A report of all lines would take longer than a frame of a
/// screen. An input therefore reports only some lines, and ticks report the other lines with their latest state.
struct LateLines {
  static let count = 64

  private var members: [ObjectID: MemberID?] = [:]
  private var order: [ObjectID] = []

  var isEmpty: Bool { order.isEmpty }

  func contains(_ id: ObjectID) -> Bool { members[id] != nil }

  mutating func append(_ id: ObjectID, from member: MemberID?) {
    members[id] = .some(member)
    order.append(id)
  }

  mutating func removeNext() -> [(id: ObjectID, member: MemberID?)] {
    let next = order.prefix(Self.count)
    order.removeFirst(next.count)
    return next.map { ($0, members.removeValue(forKey: $0) ?? nil) }
  }
}

extension BoardState {
  fileprivate func isBoundLine(_ id: ObjectID) -> Bool {
    guard let record = record(id) else { return false }
    return record.binding(.start) != nil || record.binding(.end) != nil
  }
}

/// The changes of very large objects that have not been reported yet. A report contains a snapshot of the whole object.
/// If an object has thousands of cells, reporting each small batch would cost as much as reporting the whole object.
/// Therefore, changes of large objects are reported one at a time, and each report contains the latest state of one
/// object.
struct DeferredChanges {
  /// The time between two deferred reports, in milliseconds.
  static let interval: UInt64 = 250
  /// The maximum number of cells of an object whose changes are reported immediately.
  static let cells = 4096
  /// The maximum size of the values of an object whose changes are reported immediately, in bytes.
  static let bytes = 1 << 20

  private var changes: [ObjectID: (change: ObjectChange, member: MemberID?)] = [:]
  private var order: [ObjectID] = []
  private var due: UInt64 = 0

  /// Adds a change that must not be reported now, or drops it. Returns false if the caller must report the change now.
  mutating func append(_ change: ObjectChange, of state: BoardState, from member: MemberID?) -> Bool {
    switch change {
    case .selected: return false
    case .removed(let id):
      guard let pending = changes.removeValue(forKey: id) else { return false }
      order.removeAll { $0 == id }
      // If the object was never reported, do not report its removal either.
      if case .added = pending.change { return true }
      return false
    case .added(let id), .changed(let id):
      if changes[id] != nil { return true }
      guard let record = state.record(id), record.count > Self.cells || record.valueBytes > Self.bytes else {
        return false
      }
      changes[id] = (change, member)
      order.append(id)
      return true
    }
  }

  var nextDeadline: UInt64? { order.isEmpty ? nil : due }

  mutating func removeNext(_ now: UInt64) -> (change: ObjectChange, member: MemberID?)? {
    guard !order.isEmpty, now >= due else { return nil }
    due = now + Self.interval
    return changes.removeValue(forKey: order.removeFirst())
  }
}
