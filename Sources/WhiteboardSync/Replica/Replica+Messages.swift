import Whiteboard

/// Messages and datagrams of members.
extension Replica {
  /// Handles a reliable message.
  ///
  /// After a protocol violation, further messages of the member are ignored until it joins again.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard core.peers[member]?.isClosed == false else { return }
    core.presence.heard(member, now)
    messages.receive(bytes, from: member, now)
  }

  /// A datagram arrived.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    messages.receiveDatagram(bytes, from: member, now)
  }
}
