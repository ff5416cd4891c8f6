import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

// Two processes that use one key at the same time, for example because a data directory was copied (DUP-6, DUP-7).
extension SessionCore {
  /// Returns whether a dialler must wait, because another process with its key has just replaced it.
  func mustPause(_ hello: Control.DiallerHello, from peer: PeerID, now: NIODeadline) -> Bool {
    guard let entry = entries[peer], entry.isReplaced(hello.introduction.incarnation) else { return false }
    reportCopy(of: entry)
    return !entry.former.mayReturn(now: now)
  }

  /// Reports once that two processes use a peer's key.
  func reportCopy(of entry: PeerEntry) {
    guard !entry.hasReportedCopy else { return }
    entry.hasReportedCopy = true
    let name = entry.member.name.displayed
    warnOfCopy(
      "Two programs use the identity of \(name) (\(entry.id.short)) on this board at the same time,"
        + " so they take turns. \(name) should give one of them a new identity.",
      entry.id
    )
  }

  /// Reports once that another process uses the local key.
  func reportOwnCopy() {
    guard !hasReportedOwnCopy else { return }
    hasReportedOwnCopy = true
    warnOfCopy(
      "Another program uses the identity of this one (\(localPeer.short)) on this board at the same"
        + " time, so the two take turns. Give one of them a new identity.",
      localPeer
    )
  }

  private func warnOfCopy(_ message: String, _ peer: PeerID) {
    emit(.warning(SessionWarning(code: SessionWarning.identityInUse, message: message, peer: peer)))
    deliverEvents()
  }

  /// Checks whether another computer that announces the local key has it (DSC-14).
  func foundOwnKey(at addresses: [PeerAddress]) {
    let foreign = addresses.filter { !transport.isLocal($0.host) }
    guard !hasEnded, !hasReportedOwnCopy, !foreign.isEmpty else { return }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let dial = LinkDial(transport, foreign, expecting: localPeer) { result in
      guard case .success(let link) = result else { return }
      link.close(.self)
      if !bound.value.hasEnded { bound.value.reportOwnCopy() }
    }
    dial.start()
  }
}

extension PeerEntry {
  /// Returns whether another process with the peer's key replaced this one.
  func isReplaced(_ incarnation: SessionIncarnation) -> Bool {
    incarnation != delivery?.incarnation && former.contains(incarnation)
  }
}

extension TransportCore {
  /// Returns whether an address belongs to this machine; true if that cannot be determined.
  func isLocal(_ host: String) -> Bool {
    let plain = host.prefix { $0 != "%" }.lowercased()
    let address = plain.hasPrefix("::ffff:") ? String(plain.dropFirst(7)) : plain
    if address == "::1" || address.hasPrefix("127.") { return true }
    guard let devices = try? System.enumerateDevices() else { return true }
    return devices.contains { device in
      device.address?.ipAddress.map { $0.prefix { $0 != "%" }.lowercased() == address } ?? false
    }
  }
}
