import Whiteboard

/// Messages and datagrams of members.
extension Replica {
  /// Handles a reliable message.
  ///
  /// After a protocol violation, further messages of the member are ignored until it joins again.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.isClosed == false else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.accept(bytes, from: member, now)
    return removeActions()
  }

  /// Handles a datagram.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.isClosed == false else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.acceptDatagram(bytes, from: member, now)
    return removeActions()
  }
}
