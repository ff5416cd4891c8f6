/// A receipt that reports whether each recipient has confirmed a reliable message.
///
/// ``Session/send(_:to:mode:)`` returns a receipt. A receipt stays valid after a peer leaves the session.
/// ``SessionEvent/peerLeft(_:_:undelivered:)`` reports the number of messages that a peer had not confirmed when it
/// left.
public struct SendReceipt: Sendable {
  struct Track: Sendable {
    var peer: PeerID
    var joinGeneration: UInt64
    var means: Means

    init(peer: PeerID, joinGeneration: UInt64, means: Means) {
      self.peer = peer
      self.joinGeneration = joinGeneration
      self.means = means
    }

    init(_ recipient: Routes.Recipient, _ means: Means) {
      self.init(peer: recipient.peer, joinGeneration: recipient.joinGeneration, means: means)
    }
  }

  enum Means: Sendable {
    /// The peer's own outbox, and the part number whose acknowledgement confirms delivery.
    case link(Outbox, UInt64)
    /// The ledger of messages relayed to the peer, and the message's number in it.
    case relay(RouteLedger, UInt64)
  }

  var tracks: [Track]

  /// The recipients; empty for a datagram.
  public var peers: [PeerID] { tracks.map(\.peer) }

  /// Returns whether a peer's process has confirmed the message.
  ///
  /// A relayed peer confirms only on request: ``Session/confirmation(of:by:)`` sends the request.
  ///
  /// - Parameter peer: One of ``peers``.
  /// - Returns: Whether the peer has confirmed the message; `false` for a peer that is not a recipient.
  public func isConfirmed(by peer: PeerID) -> Bool {
    guard let track = tracks.first(where: { $0.peer == peer }) else { return false }
    return switch track.means {
    case .link(let outbox, let sequence): outbox.acknowledged >= sequence
    case .relay(let ledger, let number): ledger.isConfirmed(number)
    }
  }
}

extension Outbox {
  /// Returns the delivery track of the message whose last part has the given number.
  func track(_ sequence: UInt64) -> SendReceipt.Track {
    SendReceipt.Track(peer: peer, joinGeneration: joinGeneration, means: .link(self, sequence))
  }
}

extension Session {
  /// Waits until a peer's process has received a message.
  ///
  /// A relayed peer is asked for a confirmation (RLY-9).
  ///
  /// - Parameters:
  ///   - receipt: The receipt of the message.
  ///   - peer: One of its ``SendReceipt/peers``.
  /// - Throws: `notConnected` if the message was not sent to that peer, or the peer left before it confirmed;
  ///   `peerLost` if it was lost; `sessionEnded`; `cancelled`.
  public func confirmation(of receipt: SendReceipt, by peer: PeerID) async throws(SessionError) {
    try await sender.confirmation(of: receipt, by: peer)
  }
}
