import Whiteboard

/// Reporting changes of the board as actions.
extension Replica {
  func tell(_ change: ObjectChange, from member: MemberID?, _ now: Moment) {
    switch change {
    case .added(let id):
      if let line = board.chatLine(id) {
        actions.append(.chat(line, from: member))
      } else if let snapshot = board.snapshot(id) {
        actions.append(.objectAdded(snapshot, from: member))
        follow(snapshot, from: member, now)
        if board.state.record(id)?.selection != nil { tellSelection(of: id) }
      }
    case .changed(let id):
      if let snapshot = board.snapshot(id) {
        actions.append(.objectChanged(snapshot, from: member))
        follow(snapshot, from: member, now)
      }
    case .removed(let id):
      tails.removed(id)
      ownSelections.remove(id)
      shownSelections[id] = nil
      actions.append(.objectRemoved(id, from: member))
    case .selected(let id):
      tellSelection(of: id)
    }
  }

  func follow(_ snapshot: ObjectSnapshot, from member: MemberID?, _ now: Moment) {
    if let ink = snapshot.ink {
      tails.committed(
        snapshot.id,
        count: ink.count,
        isFinished: snapshot.isFinished ?? false
      )
      if let member { showTail(of: snapshot.id, committed: ink.count, member) }
    }
    if let asset = snapshot.asset { wantPhoto(asset, of: snapshot.id, preferring: member, now) }
  }

  func tellSelection(of id: ObjectID) {
    let winner = board.selection(of: id)
    let holder = board.holder(of: id)
    if winner == board.member {
      ownSelections.insert(id)
    } else if ownSelections.remove(id) != nil, let winner {
      actions.append(.selectionLost(id, to: winner))
    }
    guard shownSelections[id] != holder else { return }
    shownSelections[id] = holder
    actions.append(.selected(id, by: holder))
  }
}
