import Synchronization
import Whiteboard
import WhiteboardKit

/// The changes of the board that are not drawn yet.
///
/// The board appends changes at any time. If the queue becomes long, only the latest change of each object, member and
/// photo remains.
final class ChangeQueue: Sendable {
  private let changes = Mutex<[BoardChange]>([])

  /// The number of changes at which outdated changes are removed from the queue.
  private static let limit = 4096

  func append(_ change: BoardChange) {
    changes.withLock { changes in
      changes.append(change)
      if changes.count >= Self.limit, changes.count % Self.limit == 0 { Self.thinOut(&changes) }
    }
  }

  /// Removes and returns all changes.
  func drain() -> [BoardChange] {
    changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
  }

  private static func thinOut(_ changes: inout [BoardChange]) {
    var objects: Set<ObjectID> = []
    var members: Set<MemberID> = []
    var photos: Set<AssetID> = []
    var isSavingSeen = false
    var latest: [BoardChange] = []
    for change in changes.reversed() {
      let isLatest: Bool =
        switch change {
        case .shown(let snapshot, _): objects.insert(snapshot.id).inserted
        case .removed(let id): objects.insert(id).inserted
        case .preview(let preview): !objects.contains(preview.stroke)
        case .presence(let member, _): members.insert(member).inserted
        case .photo(let id): photos.insert(id).inserted
        case .saving: !isSavingSeen
        }
      if case .saving = change { isSavingSeen = true }
      if isLatest { latest.append(change) }
    }
    changes = latest.reversed()
  }
}
