import PeerDiscovery

extension Session {
  /// Whether a peer can be sent to, in the three words of MultipeerConnectivity.
  public enum MemberState: Int, Sendable {
    /// Out of the session, or given up.
    case notConnected = 0
    /// Being dialled for the first time.
    case connecting = 1
    /// In the session.
    ///
    /// It stays so while a broken link is mended, for nothing is lost meanwhile; ``PeerState`` tells
    /// the difference.
    case connected = 2
  }
}

/// Is told what happens in a session, in the shape of `MCSessionDelegate`, for code that is ported.
///
/// New code reads ``Session/events``. Every method has a default that does nothing, and is called in
/// the order of the events, each after the one before has returned: a method that takes long slows
/// the senders down and loses nothing. An actor, or a class on the main actor, conforms with its own
/// synchronous methods; nothing is called on a queue that it did not choose.
public protocol SessionDelegate: AnyObject, Sendable {
  /// A peer's place in the session changed.
  func session(_ session: Session, peer: PeerID, didChange state: Session.MemberState) async

  /// A message came, reliable or unreliable.
  func session(_ session: Session, didReceive data: [UInt8], fromPeer peer: PeerID) async

  /// A peer opened a stream; it is open already, and needs no run loop.
  ///
  /// Read ``PeerStream/inbound`` in a task of its own: what comes after waits for this method.
  func session(
    _ session: Session,
    didReceive stream: PeerStream,
    withName streamName: UntrustedText,
    fromPeer peer: PeerID
  ) async

  /// A resource is on its way to us; `progress` watches it and can cancel it.
  func session(
    _ session: Session,
    didStartReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    with progress: IncomingResource
  ) async

  /// A resource is here whole and verified, or will not be: one of `path` and `error` is not `nil`.
  ///
  /// The file stays in the inbox, and counts against its quota, until the program moves or removes
  /// it; it need not do so before this method returns.
  func session(
    _ session: Session,
    didFinishReceivingResourceWithName resourceName: UntrustedText,
    fromPeer peer: PeerID,
    at path: String?,
    withError error: SessionError?
  ) async

  /// A peer asks to join and a person must decide; answer with ``Session/respond(to:_:)``.
  ///
  /// What `advertiser(_:didReceiveInvitationFromPeer:withContext:invitationHandler:)` was.
  func session(_ session: Session, didReceiveInvitation invitation: Invitation) async

  /// Something happened that the old framework had no callback for.
  ///
  /// Such are a warning, the reason why a peer left, a link that is being mended, or an outgoing
  /// resource.
  func session(_ session: Session, didObserve event: SessionEvent) async
}

extension SessionDelegate {
  /// Does nothing.
  public func session(
    _ session: Session,
    peer: PeerID,
    didChange state: Session.MemberState
  ) async {}

  /// Does nothing.
  public func session(
    _ session: Session,
    didReceive data: [UInt8],
    fromPeer peer: PeerID
  ) async {}

  /// Does nothing: the stream is reset when the last reference to it goes.
  public func session(
    _ session: Session,
    didReceive stream: PeerStream,
    withName streamName: UntrustedText,
    fromPeer peer: PeerID
  ) async {}

  /// Does nothing; the resource goes on.
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

/// A resource on its way to us, as a ``SessionDelegate`` sees it: what `Progress` was.
public final class IncomingResource: Sendable {
  /// What is known of it before its bytes.
  public let info: ResourceInfo
  /// The progress, at most ten times a second; a slow reader gets the newest element.
  ///
  /// For one reader. It ends with the transfer. If the whole file arrived, the last element has all
  /// bytes.
  public let updates: AsyncStream<ResourceProgress>

  private let source: AsyncStream<ResourceProgress>.Continuation
  private let session: Session

  init(_ info: ResourceInfo, of session: Session) {
    self.info = info
    self.session = session
    (updates, source) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    source.yield(ResourceProgress(bytes: info.resumedFrom, total: info.size))
  }

  /// Ends the transfer; does nothing when it has ended.
  public func cancel() { try? session.cancelResource(info.id) }

  func progressed(to progress: ResourceProgress) { source.yield(progress) }

  func finish() { source.finish() }
}

extension Session {
  /// Reads ``events`` and tells each to `delegate`, in order.
  ///
  /// It goes on until the session was left or the task is cancelled, and is the one consumer of the
  /// events: do not read them elsewhere meanwhile.
  public func run(delegate: some SessionDelegate) async {
    var incoming: [TransferID: IncomingResource] = [:]
    for await event in events {
      switch event {
      case .peerJoined(let peer):
        await delegate.session(self, peer: peer.id, didChange: .connected)
      case .peerStateChanged(let peer, let state):
        await delegate.session(self, didObserve: event)
        if state == .connecting {
          await delegate.session(self, peer: peer, didChange: .connecting)
        }
      case .peerLeft(let peer, _, undelivered: _):
        await delegate.session(self, didObserve: event)
        await delegate.session(self, peer: peer, didChange: .notConnected)
      case .message(let bytes, from: let peer), .datagram(let bytes, from: let peer):
        await delegate.session(self, didReceive: bytes, fromPeer: peer)
      case .streamOpened(let stream):
        await delegate.session(
          self,
          didReceive: stream,
          withName: stream.name,
          fromPeer: stream.peer
        )
      case .resourceStarted(let info) where info.direction == .incoming:
        let resource = IncomingResource(info, of: self)
        incoming[info.id] = resource
        await delegate.session(
          self,
          didStartReceivingResourceWithName: info.name,
          fromPeer: info.peer,
          with: resource
        )
      case .resourceProgress(let id, let bytes, of: let total):
        if let resource = incoming[id] {
          resource.progressed(to: ResourceProgress(bytes: bytes, total: total))
        } else {
          await delegate.session(self, didObserve: event)
        }
      case .resourceFinished(let info, let result) where info.direction == .incoming:
        incoming.removeValue(forKey: info.id)?.finish()
        await finished(info, result, delegate)
      case .invitation(let invitation):
        await delegate.session(self, didReceiveInvitation: invitation)
      case .invitationEnded, .datagramPath, .resourceStarted, .resourceFinished, .warning:
        await delegate.session(self, didObserve: event)
      }
    }
    for resource in incoming.values { resource.finish() }
  }

  private func finished(
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>,
    _ delegate: some SessionDelegate
  ) async {
    switch result {
    case .success(let resource):
      await delegate.session(
        self,
        didFinishReceivingResourceWithName: info.name,
        fromPeer: info.peer,
        at: resource.path,
        withError: nil
      )
    case .failure(let error):
      await delegate.session(
        self,
        didFinishReceivingResourceWithName: info.name,
        fromPeer: info.peer,
        at: nil,
        withError: error
      )
    }
  }
}
