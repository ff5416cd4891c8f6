import NIOCore
import NIOSSL
import PeerCore
import PeerWire

enum LinkSide: Sendable, Equatable {
  case dialler
  case listener
}

/// The results of a connection's TLS handshake: the peer's key and the TLS exporter (1.1). The TLS callbacks set the
/// results on the connection's event loop. The same event loop and the dialler read the results.
final class LinkFacts: Sendable {
  struct Facts {
    var peer: PeerID?
    var wrongPeer: PeerID?
    var exporter: LinkExporter?
  }
  private let box = Locked(Facts())

  var peer: PeerID? { box.withLock { $0.peer } }
  var wrongPeer: PeerID? { box.withLock { $0.wrongPeer } }
  var exporter: LinkExporter? { box.withLock { $0.exporter } }

  func update(_ change: (inout Facts) -> Void) { box.withLock { change(&$0) } }
}

/// Creates the TLS handlers of links (LNK-1 to LNK-4).
struct LinkSecurity: Sendable {
  static let applicationProtocol = "whiteboard-p2p"

  private let certificate: NIOSSLCertificate
  private let key: NIOSSLPrivateKey

  init(identity: PeerIdentity) throws {
    self.certificate = try NIOSSLCertificate(bytes: identity.certificateDER, format: .der)
    self.key = try NIOSSLPrivateKey(bytes: identity.privateKeyDER, format: .der)
  }

  /// Creates the TLS handler for one connection, and an object in which the handler stores what it learns about the
  /// link. Throws the TLS library's error about the local key or certificate. Each connection has its own TLS context,
  /// because the key log callback that provides the exporter secret belongs to the context.
  func makeHandler(_ side: LinkSide, expecting expected: PeerID?) throws -> (handler: NIOSSLHandler, facts: LinkFacts) {
    let facts = LinkFacts()
    var configuration =
      switch side {
      case .dialler: TLSConfiguration.makeClientConfiguration()
      case .listener:
        TLSConfiguration.makeServerConfiguration(
          certificateChain: [.certificate(certificate)],
          privateKey: .privateKey(key)
        )
      }
    configuration.certificateChain = [.certificate(certificate)]
    configuration.privateKey = .privateKey(key)
    configuration.minimumTLSVersion = .tlsv13
    // The callback below replaces all checks. On the listener's side, a weaker setting would accept a client without a
    // certificate.
    configuration.certificateVerification = .noHostnameVerification
    // Peers check only the key. Without this setting, each connection would read the system's certificates on the event
    // loop.
    configuration.trustRoots = .certificates([])
    configuration.applicationProtocols = [Self.applicationProtocol]
    // How long the other end may take to close the link (CLS-1).
    configuration.shutdownTimeout = .seconds(2)
    configuration.keyLogCallback = { line in
      guard let exporter = LinkExporter(keyLogLine: Array(line.readableBytesView)) else { return }
      facts.update { $0.exporter = exporter }
    }
    let context = try NIOSSLContext(configuration: configuration)
    let verify: NIOSSLCustomVerificationCallback = { chain, promise in
      guard chain.count == 1, let der = try? chain[0].toDERBytes(), let peer = try? PeerID(certificateDER: der) else {
        return promise.succeed(.failed)
      }
      if let expected, peer != expected {
        facts.update { $0.wrongPeer = peer }
        return promise.succeed(.failed)
      }
      facts.update { $0.peer = peer }
      promise.succeed(.certificateVerified)
    }
    switch side {
    case .dialler:
      return (try NIOSSLClientHandler(context: context, serverHostname: nil, customVerificationCallback: verify), facts)
    case .listener: return (NIOSSLServerHandler(context: context, customVerificationCallback: verify), facts)
    }
  }
}
