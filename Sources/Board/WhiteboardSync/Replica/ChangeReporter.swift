import Whiteboard

final class ChangeReporter {
  private let board: Board
  private let strokes: StrokeSharing
  private let photos: PhotoSharing
  private let actions: ActionQueue
  private var deferred = DeferredChanges()
  private var lateLines = LateLines()
  private let pending: PendingReports
  var reportsAtOnce = Int.max
  private var ownSelections: Set<ObjectID> = []
  private var reportedHolders: [ObjectID: MemberID] = [:]

  init(
    _ board: Board,
    _ strokes: StrokeSharing,
    _ photos: PhotoSharing,
    _ pending: PendingReports,
    _ actions: ActionQueue
  ) {
    self.board = board
    self.strokes = strokes
    self.photos = photos
    self.pending = pending
    self.actions = actions
  }

  /// Reports the new changes of the board, except the deferred changes.
  func reportChanges(from member: MemberID?, _ now: Moment) {
    let changes = board.takeChanges()
    var lines = 0
    // Local changes are reported immediately, because the end of a command is reported after its changes.
    var room = member == nil ? Int.max : reportsAtOnce
    for change in changes {
      if let earlier = pending[change.object] {
        switch change {
        case .selected where earlier.isUnknown: continue
        case .selected: break
        case .removed(let id):
          pending.remove(id)
          if earlier.isUnknown {
            strokes.objectRemoved(id)
            continue
          }
        case .added, .changed:
          guard room > 0 else { continue }
          room -= 1
          pending.remove(change.object)
          report(earlier.change, from: earlier.member, now)
          continue
        }
      }
      if deferred.append(change, of: board.state, from: member) { continue }
      if changes.count > LateLines.count, case .changed(let id) = change, board.state.isBoundLine(id) {
        lines += 1
        if lateLines.contains(id) { continue }
        if lines > LateLines.count {
          lateLines.append(id, from: member)
          continue
        }
      }
      switch change {
      case .added(let id), .changed(let id):
        if room == 0 {
          pending.append(PendingReports.Report(change: change, member: member), of: id, now.uptime)
          continue
        }
        room -= 1
      case .removed, .selected: break
      }
      report(change, from: member, now)
    }
  }

  /// Whether changes of a large answer are not reported yet.
  var isReporting: Bool { !pending.isEmpty }

  /// Whether the actions so far report the latest state of each object that was reported before.
  var hasReportedAll: Bool { pending.knownCount == 0 && lateLines.isEmpty && deferred.isEmpty }

  func reportPendingChanges(_ now: Moment) {
    for next in pending.removeNext(Int.max) { report(next.change, from: next.member, now) }
  }

  func reportDeferredChange(_ now: Moment) {
    for next in pending.removeDue(reportsAtOnce, now.uptime) { report(next.change, from: next.member, now) }
    for line in lateLines.removeNext() { report(.changed(line.id), from: line.member, now) }
    if let next = deferred.removeNext(now.uptime) { report(next.change, from: next.member, now) }
  }

  var nextDeadline: UInt64? {
    guard lateLines.isEmpty else { return 0 }
    var earliest = Earliest()
    earliest.include(pending.nextDeadline)
    earliest.include(deferred.nextDeadline)
    return earliest.time
  }

  func reportSelections() {
    for id in board.state.selectedIDs where board.state.isShown(id) { reportSelection(of: id) }
  }

  /// Discards the changes of a restored board, but processes its photos and the local selections.
  func discardChanges(_ now: Moment) {
    _ = board.takeChanges()
    for id in board.state.photoIDs {
      if let photo = board.snapshot(id) { updateSharing(of: photo, from: nil, now) }
    }
    for id in board.state.selectedIDs where board.state.isShown(id) && board.holder(of: id) == board.member {
      ownSelections.insert(id)
      reportedHolders[id] = board.member
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
    // The report of the object includes its selection.
    guard !pending.isUnknown(id) else { return }
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

/// The changes of a large answer that have not been reported yet. Snapshots and events of a whole board would take much
/// memory, and no other input could be handled before all of them are made. Therefore, an input reports only some
/// objects, and ticks report the other objects with their latest state.
final class PendingReports {
  struct Report {
    let change: ObjectChange
    let member: MemberID?

    /// Whether the owner of the replica has no report of the object yet.
    var isUnknown: Bool { if case .added = change { true } else { false } }
  }

  private var reports: [ObjectID: Report] = [:]
  /// The number of pending objects that were reported before.
  private(set) var knownCount = 0
  /// The objects in the order of their changes, including objects that were removed.
  private var order: [ObjectID] = []
  /// The index of the next object in `order`.
  private var next = 0
  private var due: UInt64 = 0

  var isEmpty: Bool { reports.isEmpty }

  /// A part is due in the millisecond after the last part, so that other inputs are handled in between.
  var nextDeadline: UInt64? { reports.isEmpty ? nil : due }

  subscript(id: ObjectID) -> Report? { reports.isEmpty ? nil : reports[id] }

  /// Returns whether the owner of the replica has no report of the object yet.
  func isUnknown(_ id: ObjectID) -> Bool { self[id]?.isUnknown ?? false }

  func append(_ report: Report, of id: ObjectID, _ now: UInt64) {
    if reports.isEmpty { due = now + 1 }
    reports[id] = report
    if !report.isUnknown { knownCount += 1 }
    order.append(id)
  }

  @discardableResult func remove(_ id: ObjectID) -> Report? {
    guard let report = reports.removeValue(forKey: id) else { return nil }
    if !report.isUnknown { knownCount -= 1 }
    return report
  }

  func removeDue(_ count: Int, _ now: UInt64) -> [Report] {
    guard !reports.isEmpty, now >= due else { return [] }
    due = now + 1
    return removeNext(count)
  }

  func removeNext(_ count: Int) -> [Report] {
    var result: [Report] = []
    while result.count < count, next < order.count {
      if let report = remove(order[next]) { result.append(report) }
      next += 1
    }
    if next == order.count { (reports, order, next) = ([:], [], 0) }
    return result
  }
}

extension ObjectChange {
  fileprivate var object: ObjectID {
    switch self {
    case .added(let id), .changed(let id), .removed(let id), .selected(let id): id
    }
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

  var isEmpty: Bool { order.isEmpty }

  var nextDeadline: UInt64? { order.isEmpty ? nil : due }

  mutating func removeNext(_ now: UInt64) -> (change: ObjectChange, member: MemberID?)? {
    guard !order.isEmpty, now >= due else { return nil }
    due = now + Self.interval
    return changes.removeValue(forKey: order.removeFirst())
  }
}
