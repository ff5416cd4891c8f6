import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Roles on a board that the first member owns.
extension ReplicaWorld {
  /// The rights that the owner grants a member. The second member may also grant rights. In a mesh, the third member
  /// may only view.
  private func rights(of number: Int) -> Rights? {
    switch number {
    case 1: Rights(.relay, mayGrant: true)
    case 2 where seed % 2 == 0: nil
    default: .editor
    }
  }

  /// Lets the member `one` admit the member `other`, if `one` has the right to admit members.
  func admit(_ other: Int, by one: Int) {
    guard nodes[one].replica.mayGrant else { return }
    let rights = one == 0 ? rights(of: other) : .editor
    carryOut(nodes[one].replica.admit(nodes[other].member, for: rights, now: now(one)), one)
  }

  /// Returns the owner's grant for a member that is not one of the nodes.
  func grant(for key: WorldKey) -> Grant? {
    guard let owner else { return nil }
    let first = WorldKey(0, isReal: isReal)
    return Author(board: owner.board, key: first, grant: Grant(owner: owner)).grant(
      .editor,
      to: key.publicKey,
      serial: 1_700_000_000_000 + uptime
    )
  }

  /// Lets a member that may grant revoke rights, or grant them again.
  func changeRights() {
    let (one, other) = (random.below(nodes.count), random.below(nodes.count))
    guard one != other, nodes[one].replica.mayGrant else { return }
    if random.chance(30) {
      revokeStranger(by: one)
    } else if random.chance(50) {
      let member = nodes[other].member
      let (isRevoked, actions) = nodes[one].replica.revoke(member, now: now(one))
      if isRevoked { noteRevocation() }
      carryOut(actions, one)
    } else {
      let rights: Rights? = random.chance(70) ? .editor : nil
      let member = nodes[other].member
      let actions = nodes[one].replica.admit(member, for: rights, isAsked: true, now: now(one))
      carryOut(actions, one)
    }
  }

  /// Lets the owner make every member an editor.
  func admitAll() {
    for other in nodes.indices.dropFirst() {
      let actions = nodes[0].replica.admit(nodes[other].member, for: .editor, isAsked: true, now: now(0))
      carryOut(actions, 0)
    }
  }

  private func noteRevocation() {
    isRevoked = true
    tally[.revocations] += 1
  }

  /// Lets a member write, be revoked, and continue to write.
  ///
  /// Nodes that know of the revocation must ignore its later edits.
  private func revokeStranger(by number: Int) {
    var scriptedReplica = newScriptedReplica()
    let other = random.below(nodes.count)
    for node in Set([number, other]) { join(scriptedReplica, node) }
    let hello = scriptedReplica.hello()
    let texts = (0..<3).compactMap { _ in try? scriptedReplica.sendText() }
    for node in Set([number, other]) {
      say(hello, scriptedReplica, node)
      say(texts[0], scriptedReplica, node)
    }
    // Another node has received one more text than the node that revokes.
    if other != number { say(texts[1], scriptedReplica, other) }
    let (isRevoked, actions) = nodes[number].replica.revoke(scriptedReplica.member, now: now(number))
    if isRevoked { noteRevocation() }
    carryOut(actions, number)
    finishAllSignatures(number)
    let before = nodes[number].replica.board.state.context
    say(other == number ? texts[1] : scriptedReplica.head(), scriptedReplica, number)
    if nodes[number].replica.board.state.context != before {
      complaints.append("AUT-14: an edit after the revocation was accepted")
    }
    for node in Set([number, other]) { leave(scriptedReplica, node) }
  }

  /// Checks that every member has the role that the owner granted, and was notified of this role.
  func checkRoles() {
    guard owner != nil else { return }
    if nodes[0].replica.role != .editor { complaints.append("AUT-11: the owner may not write") }
    for (number, node) in nodes.enumerated() {
      if node.replica.board.isReadOnly == node.replica.role.mayWrite {
        complaints.append("AUT-4: \(number) has rights that its role does not give")
      }
      for other in nodes.indices where other != number && isConnected(number, other) {
        let (seen, own) = (node.replica.role(of: nodes[other].member), nodes[other].replica.role)
        if seen != own { complaints.append("AUT-14: \(number) sees another role of \(other) than \(other) itself") }
      }
    }
  }
}
