import PeerDiscovery
import PeerWire

// Decisions about delivery state when a peer dials again, or both peers dial at the same time (3.4, 3.5).
extension SessionCore {
  /// Returns whether the dialler wants to resume a delivery state that the local peer still has (RSM-2).
  ///
  /// A guest can resume only from a browser (WEB-34).
  func canResume(_ hello: Control.DiallerHello, from peer: PeerID, fromBrowser: Bool) -> Bool {
    guard let entry = entries[peer], let delivery = entry.delivery, !membership.isRemoved(peer),
      (entry.guestKey != nil) == fromBrowser
    else { return false }
    return hello.resumes(deliveryOf: delivery.incarnation, since: delivery.since, at: incarnation)
  }

  /// Returns whether the dialler sent HELLO before it knew about a link that the local peer had opened (DUP-1).
  ///
  /// The delivery state in that HELLO is outdated, even if that link has broken again.
  func isDuplicate(_ hello: Control.DiallerHello, from peer: PeerID) -> Bool {
    guard let delivery = entries[peer]?.delivery, delivery.incarnation == hello.introduction.incarnation else {
      return false
    }
    return hello.introduction.links < delivery.lastDialled
  }

  /// Returns whether the delivery state in the local peer's HELLO was outdated when ACCEPT arrived (DUP-5).
  ///
  /// - Parameters:
  ///   - hello: The HELLO that the local peer sent.
  ///   - accept: The answer.
  ///   - theirs: The listener's introduction.
  ///   - peer: The listener.
  /// - Returns: Whether the link must be closed and the peer dialed again.
  func isOutdated(
    _ hello: Control.DiallerHello,
    _ accept: Control.Accept,
    _ theirs: Control.Introduction,
    of peer: PeerID
  ) -> Bool {
    guard let entry = entries[peer] else { return hello.resume != nil && accept.resume != nil }
    if entry.link == nil, entry.linkNumber > hello.introduction.links { return true }
    let meant = hello.resume.flatMap { $0.incarnation == theirs.incarnation ? $0.since : nil }
    let present = entry.delivery.flatMap { $0.incarnation == theirs.incarnation ? $0 : nil }
    if meant == present?.since { return false }
    return accept.resume != nil || present?.isUntouched == false
  }

  /// Returns whether the local dial must give way to a link that the peer dialed in the meantime (DUP-2).
  func mustYield(to peer: PeerID, _ theirs: Control.Introduction) -> Bool {
    guard let entry = entries[peer], let link = entry.link, link.side == .listener,
      entry.delivery?.incarnation == theirs.incarnation
    else { return false }
    return peer < localPeer
  }
}
