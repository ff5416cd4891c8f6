import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// A host's request to relay its session, which the relay's application answers (RLY-2).
public struct CarryRequest: Sendable {
  /// The session.
  public var session: SessionID
  /// The host of the session.
  ///
  /// The host sent the request, and its key is proved.
  public var host: PeerID
  /// The host's display name, which is not verified.
  public var hostName: UntrustedText
  /// The host's name for the session; at most 128 bytes.
  public var name: UntrustedText
  /// How the relay admits newcomers.
  public var admission: AdmissionPolicy
  /// The host's verified grant, which lets the relay serve the session even after a restart.
  public var grant: RelayGrant
  /// The part of the host's IP address to which limits apply: the IPv4 address, or the /64 of an IPv6 address.
  public var addressBlock: String
}

/// The answer of a relay's application to a ``CarryRequest``.
public enum CarryAnswer: Sendable, Equatable {
  /// The relay accepts the session.
  case carry
  /// The relay refuses, and sends the host the reason in at most 512 bytes.
  case refuse(reason: String)
}

/// A session that this relay serves from now on.
public struct CarriedSession: Sendable {
  /// The session; the host joins as its first peer.
  public var session: Session
  /// The host's request.
  public var request: CarryRequest
}

/// The terms on which a host asks a relay to relay its session.
public struct CarryTerms: Sendable {
  /// The name of the session; truncated to 128 bytes.
  public var name: String
  /// How the relay admits newcomers.
  ///
  /// A relay has no user to answer `ask`, so it treats `ask` as `known`.
  public var admission: AdmissionPolicy

  /// Creates terms.
  public init(name: String, admission: AdmissionPolicy) {
    self.name = name
    self.admission = admission
  }
}

extension Session {
  /// Recommends to the host, as a relay of the session, that other relays relay the session too (RLY-22). The host gets
  /// the recommendation on each new link. At most 16 relays are recommended.
  ///
  /// - Parameter relays: The ports and addresses of the relays, by their keys.
  package func recommend(_ relays: [PeerID: [PeerAddress]]) {
    let recommended = relays.sorted { $0.key < $1.key }.compactMap { peer, addresses -> Control.RecommendedRelay? in
      guard let port = addresses.first?.port else { return nil }
      // All addresses of a relay have the same port.
      let hosts = addresses.filter { $0.port == port }.map(\.host).prefix(Limits.addresses)
      return Control.RecommendedRelay(peer: peer, port: port, addresses: Array(hosts))
    }
    execute { $0.relaying.recommend(recommended) }
  }

  /// Returns whether the local peer, as the host, asked a relay to relay this session.
  package func isCarried(by relay: PeerID) async -> Bool {
    (try? await onLoop { $0.relaying.carriers[relay] != nil }) ?? false
  }
}

extension Control {
  /// The part of HELLO that asks a relay to relay the session (11.1).
  struct Carry: ControlObject {
    enum Admission: String, Sendable {
      case code
      case known
      case anyone
    }

    private(set) var name = UntrustedText("")
    private(set) var admission = Admission.known
    /// The join code; present only if `admission` is `code`.
    private(set) var code: JoinCode?
    private(set) var grant = RelayGrant()

    init() {}

    init(_ terms: CarryTerms, _ grant: RelayGrant) {
      self.name = .sessionName(terms.name)
      self.grant = grant
      switch terms.admission {
      case .anyone: admission = .anyone
      case .known, .ask: admission = .known
      case .code(let code):
        admission = .code
        self.code = code
      }
    }

    var policy: AdmissionPolicy {
      switch admission {
      case .anyone: .anyone
      case .known: .known
      case .code: code.map { .code($0) } ?? .known
      }
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("name", &name, .text(0...Limits.sessionName))
      try fields.required("admission", &admission, .word())
      if admission == .code {
        try fields.optional("code", &code, .code)
        if code == nil { throw fields.missing("code") }
      }
      var (signature, key) = (grant.signature, grant.key)
      try fields.required("grant", &signature, .signature)
      try fields.required("key", &key, .key)
      grant = RelayGrant(key: key, signature: signature)
    }
  }
}

/// One attempt of a host to move its session to a relay (RLY-2). Confined to the session's event loop.
final class RelayMove {
  private let session: SessionCore
  private let terms: CarryTerms
  private let promise: EventLoopPromise<PeerID>
  private var handshake: DiallerHandshake?

  init(_ session: SessionCore, _ terms: CarryTerms) {
    self.session = session
    self.terms = terms
    promise = session.eventLoop.makePromise()
  }

  /// The result is the relay's id. The result is available when the relay has begun to relay the session.
  func start(_ addresses: [PeerAddress], relay: PeerID?) -> EventLoopFuture<PeerID> {
    guard !session.hasEnded else {
      promise.fail(SessionError(.sessionEnded, "This peer left the session."))
      return promise.futureResult
    }
    // The owner of an owned board might not be confirmed yet.
    let local = session.localPeer
    guard session.host == local, session.id.mayBeHosted(by: local) else {
      promise.fail(SessionError(.notHost, "Only the host of the session can move it to a relay."))
      return promise.futureResult
    }
    let dial = LinkDial(session.transport.means(), addresses, expecting: relay) { [self] result in
      switch result {
      case .failure(let error): promise.fail(error)
      case .success(let link): connected(link, isProved: relay != nil)
      }
    }
    dial.start()
    return promise.futureResult
  }

  private func connected(_ link: ControlLink, isProved: Bool) {
    guard let peer = link.facts.peer, let exporter = link.facts.exporter, !session.hasEnded else {
      promise.fail(SessionError(.internalError, "The TLS handshake ended without the peer's key."))
      return link.abort()
    }
    guard peer != session.localPeer else {
      promise.fail(SessionError(.selfDialled, "That address belongs to this peer itself."))
      return link.close(.self)
    }
    let former = session.relaying.carriers[peer]
    session.relaying.carriers[peer] = terms
    let handshake = DiallerHandshake(
      session,
      link,
      facts: .init(
        local: session.localPeer,
        remote: peer,
        binding: exporter.export(.binding),
        trust: isProved ? .pinnedByLink : .discovered,
        hello: session.dialler.hello(to: peer, in: session)
      ),
      verify: nil
    ) { [self] result in
      switch result {
      case .success: promise.succeed(peer)
      case .failure(let failure):
        session.relaying.carriers[peer] = former
        promise.fail(failure.error)
      }
      self.handshake = nil
    }
    self.handshake = handshake
    handshake.start()
  }
}
