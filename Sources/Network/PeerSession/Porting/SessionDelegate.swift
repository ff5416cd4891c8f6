import PeerCore
import PeerDiscovery

extension Session {
  /// Whether messages can be sent to a peer, in the three states of MultipeerConnectivity.
  public enum MemberState: Int, Sendable {
    /// The peer is not in the session, or is considered lost.
    case notConnected = 0
    /// The peer is being dialed for the first time.
    case connecting = 1
    /// The peer is in the session.
    ///
    /// This state includes a peer whose broken link is being replaced, because no message is lost. ``PeerState``
    /// distinguishes the two cases.
    case connected = 2
  }
}

/// Receives the events of a session through methods like those of `MCSessionDelegate`, for code that is ported from
/// MultipeerConnectivity.
///
/// New code should read ``Session/events`` instead. Every method has a default that does nothing. Methods are called in
/// the order of the events, each after the previous method has returned. A slow method slows the senders down, but no
/// event is lost. An actor, or a class on the main actor, can conform with synchronous methods, which then run on that
/// actor.
public protocol SessionDelegate: AnyObject, Sendable {
  /// Called when the state of a peer in the session changed.
  func session(_ session: Session, peer: PeerID, didChange state: Session.MemberState) async

  /// Called when a reliable or unreliable message arrived.
  func session(_ session: Session, didReceive data: [UInt8], fromPeer peer: PeerID) async

  /// Called when a peer opened a stream.
  ///
  /// The stream is already open and needs no run loop. Read ``PeerStream/inbound`` in a separate task, because later
  /// events wait for this method.
  func session(
    _ session: Session,
    didReceive stream: PeerStream,
    withName streamName: UntrustedText,
    fromPeer peer: PeerID
  ) async

  /// Called when a resource begins to arrive; `progress` observes the resource and can cancel the transfer.
  func session(
    _ session: Session,
    didStartReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    with progress: IncomingResource
  ) async

  /// Called when a resource arrived and was verified, or its transfer failed; exactly one of `path` and `error` is not
  /// `nil`.
  ///
  /// The file stays in the inbox, and counts toward the quota of the inbox, until the program moves or removes the
  /// file.
  func session(
    _ session: Session,
    didFinishReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    at path: String?,
    withError error: SessionError?
  ) async

  /// Called when a peer asks to join and a user must decide; answer with ``Session/respond(to:_:)``.
  ///
  /// This method replaces `advertiser(_:didReceiveInvitationFromPeer:withContext:invitationHandler:)`.
  func session(_ session: Session, didReceiveInvitation invitation: Invitation) async

  /// Called for each event that has no callback in MultipeerConnectivity.
  ///
  /// Examples are a warning, the reason why a peer left, a link that reconnects, or an outgoing resource.
  func session(_ session: Session, didObserve event: SessionEvent) async
}

extension SessionDelegate {
  /// Does nothing.
  public func session(_ session: Session, peer: PeerID, didChange state: Session.MemberState) async {}

  /// Does nothing.
  public func session(_ session: Session, didReceive data: [UInt8], fromPeer peer: PeerID) async {}

  /// Does nothing; the stream is reset when the last reference to it is released.
  public func session(
    _ session: Session,
    didReceive stream: PeerStream,
    withName streamName: UntrustedText,
    fromPeer peer: PeerID
  ) async {}

  /// Does nothing; the resource continues.
  public func session(
    _ session: Session,
    didStartReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    with progress: IncomingResource
  ) async {}

  /// Does nothing; the file stays in the inbox.
  public func session(
    _ session: Session,
    didFinishReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    at path: String?,
    withError error: SessionError?
  ) async {}

  /// Does nothing; the invitation times out.
  public func session(_ session: Session, didReceiveInvitation invitation: Invitation) async {}

  /// Does nothing.
  public func session(_ session: Session, didObserve event: SessionEvent) async {}
}

/// An incoming resource for a ``SessionDelegate``, with its progress.
///
/// This type replaces Foundation's `Progress`.
public final class IncomingResource: Sendable {
  /// The properties of the resource that are known before its bytes arrive.
  public let info: ResourceInfo
  /// The progress, at most ten times a second; a slow reader gets only the newest element.
  ///
  /// The sequence supports one reader and ends with the transfer. If the whole file arrived, the last element counts
  /// all bytes.
  public let updates: AsyncStream<ResourceProgress>

  private let source: AsyncStream<ResourceProgress>.Continuation
  private let session: Session

  init(_ info: ResourceInfo, of session: Session) {
    self.info = info
    self.session = session
    (updates, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    source.yield(ResourceProgress(bytes: info.resumedFrom, total: info.size))
  }

  /// Cancels the transfer; does nothing if the transfer has ended.
  public func cancel() { try? session.cancelResource(info.id) }

  func progressed(to progress: ResourceProgress) { source.yield(progress) }

  func finish() { source.finish() }
}

extension Session {
  /// Reads ``events`` and passes each event to `delegate`, in order.
  ///
  /// Returns when the session is over or the task is canceled. Do not read the events elsewhere in the meantime,
  /// because they support only one consumer.
  public func run(delegate: some SessionDelegate) async {
    var incoming: [TransferID: IncomingResource] = [:]
    for await event in events {
      switch event {
      case .peerJoined(let peer): await delegate.session(self, peer: peer.id, didChange: .connected)
      case .peerStateChanged(let peer, let state):
        await delegate.session(self, didObserve: event)
        if state == .connecting { await delegate.session(self, peer: peer, didChange: .connecting) }
      case .peerLeft(let peer, _, undelivered: _):
        await delegate.session(self, didObserve: event)
        await delegate.session(self, peer: peer, didChange: .notConnected)
      case .message(let bytes, from: let peer), .datagram(let bytes, from: let peer):
        await delegate.session(self, didReceive: bytes, fromPeer: peer)
      case .streamOpened(let stream):
        await delegate.session(self, didReceive: stream, withName: stream.name, fromPeer: stream.peer)
      case .resourceStarted(let info) where info.direction == .incoming:
        let resource = IncomingResource(info, of: self)
        incoming[info.id] = resource
        await delegate.session(self, didStartReceivingResourceWithName: info.name, fromPeer: info.peer, with: resource)
      case .resourceProgress(let id, let bytes, of: let total):
        if let resource = incoming[id] {
          resource.progressed(to: ResourceProgress(bytes: bytes, total: total))
        } else {
          await delegate.session(self, didObserve: event)
        }
      case .resourceFinished(let info, let result) where info.direction == .incoming:
        incoming.removeValue(forKey: info.id)?.finish()
        let error: SessionError? = if case .failure(let error) = result { error } else { nil }
        await delegate.session(
          self,
          didFinishReceivingResourceWithName: info.name,
          fromPeer: info.peer,
          at: (try? result.get())?.path,
          withError: error
        )
      case .invitation(let invitation): await delegate.session(self, didReceiveInvitation: invitation)
      case .invitationEnded, .datagramPath, .resourceStarted, .resourceFinished, .warning:
        await delegate.session(self, didObserve: event)
      }
    }
    for resource in incoming.values { resource.finish() }
  }
}
