import NIOCore
import PeerCore
import PeerDiscovery

/// The peers that announce a session while the local peer joins it by a link (DSC-28).
///
/// The link may name a peer that has left or has another address now. The announcing peers are therefore dialed at the
/// same time as the address in the link. The application updates this object, on any thread, until the attempt ends.
package final class AnnouncedListeners: Sendable {
  struct Target: Hashable, Sendable {
    /// The expected peer; `nil` if the key at the address is unknown.
    var peer: PeerID?
    var address: PeerAddress
  }

  private struct State {
    var targets: [Target] = []
    var areMoreExpected = true
    var refusals: [PeerID: SessionError] = [:]
    var history: [(peer: PeerID, error: SessionError)] = []
    var dead: Set<Target> = []
    var refusalCount = 0
    var namedRefusal: SessionError?
  }

  static let headStart = TimeAmount.seconds(1)
  /// How long an announced peer may take to admit or refuse the local peer, not counting the time in which a user
  /// decides.
  static let answerTimeout = Duration.seconds(3)
  static let maximumRefusals = 32
  static let patience = TimeAmount.seconds(3)

  private let state = Locked(State())

  package init() {}

  package func update(_ peers: [(peer: PeerID, addresses: [PeerAddress])], areMoreExpected: Bool) {
    state.withLock { state in
      state.targets = peers.flatMap { listener in listener.addresses.map { Target(peer: listener.peer, address: $0) } }
      state.areMoreExpected = areMoreExpected
    }
  }

  var targets: [Target] {
    state.withLock { state in
      state.targets.filter { target in
        !state.dead.contains(target) && target.peer.map { state.refusals[$0] == nil } ?? false
      }
    }
  }

  func areExpected(after elapsed: TimeAmount) -> Bool {
    elapsed < Self.patience && state.withLock { $0.areMoreExpected }
  }

  var refusalCount: Int { state.withLock { $0.refusalCount } }

  /// The answer of the peer that the link names is final, unless that peer is leaving or no longer serves the session.
  func refused(_ target: Target, _ error: SessionError, isNamed: Bool) {
    state.withLock { state in
      // A peer may serve the session at another address, with another process.
      if error.isDeparture {
        state.dead.insert(target)
        if isNamed { state.namedRefusal = error }
      } else if !isNamed, let peer = target.peer {
        state.refusals[peer] = error
        state.history.append((peer, error))
      } else {
        return
      }
      state.refusalCount += 1
    }
  }

  var namedRefusal: SessionError? { state.withLock { $0.namedRefusal } }

  /// The announced peers that did not admit the local peer, with the reasons, in order.
  package var refusals: [(peer: PeerID, error: SessionError)] { state.withLock { $0.history } }

  func isDead(_ target: Target) -> Bool { state.withLock { $0.dead.contains(target) } }

  func takeTemporaryRefusal() -> SessionError? {
    state.withLock { state in
      let temporary = state.refusals.filter { JoinRetry.isTemporary($0.value) }
      for peer in temporary.keys { state.refusals[peer] = nil }
      return temporary.values.first
    }
  }
}

extension SessionError {
  /// Whether the peer no longer serves the session, or left while it was asked.
  package var isDeparture: Bool { [.noSuchSession, .shuttingDown, .left, .unreachable].contains(code) }
}
