import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import PeerWire

/// Which side of a link we are.
enum LinkSide: Sendable, Equatable {
  case dialler
  case listener
}

/// What the TLS handshake of one connection told: who is there, and the exporter (1.1).
///
/// Filled by callbacks of TLS on the connection's event loop, read there and by whoever dialled.
final class LinkFacts: Sendable {
  struct Facts {
    var peer: PeerID?
    var wrongPeer: PeerID?
    var exporter: TLSExporter?
  }
  private let box = NIOLockedValueBox(Facts())

  var peer: PeerID? { box.withLockedValue { $0.peer } }
  var wrongPeer: PeerID? { box.withLockedValue { $0.wrongPeer } }
  var exporter: TLSExporter? { box.withLockedValue { $0.exporter } }

  func update(_ change: (inout Facts) -> Void) { box.withLockedValue { change(&$0) } }
}

/// Makes the TLS handlers of our links (LNK-1 to LNK-4).
struct LinkSecurity: Sendable {
  static let applicationProtocol = "whiteboard-p2p"

  private let certificate: NIOSSLCertificate
  private let key: NIOSSLPrivateKey

  init(identity: PeerIdentity) throws {
    self.certificate = try NIOSSLCertificate(bytes: identity.certificateDER, format: .der)
    self.key = try NIOSSLPrivateKey(bytes: identity.privateKeyDER, format: .der)
  }

  /// Makes the handler of one connection.
  ///
  /// A context belongs to one connection, since the key log that gives us the exporter belongs to
  /// the context.
  ///
  /// - Parameters:
  ///   - side: Which side we are.
  ///   - expected: The only key to accept, when one was named (LNK-3).
  /// - Returns: The handler, and what it will learn.
  /// - Throws: What the TLS library finds wrong with our own key or certificate.
  func makeHandler(
    _ side: LinkSide,
    expecting expected: PeerID?
  ) throws -> (handler: NIOSSLHandler, facts: LinkFacts) {
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
    // The callback below replaces every check; on the listener's side anything less would let a
    // client without a certificate pass unseen.
    configuration.certificateVerification = .noHostnameVerification
    // Nobody's word but the key's counts; without this each connection would read the system's
    // certificates, on the event loop.
    configuration.trustRoots = .certificates([])
    configuration.applicationProtocols = [Self.applicationProtocol]
    // As long as the other end may take to close a link (CLS-1).
    configuration.shutdownTimeout = .seconds(2)
    configuration.keyLogCallback = { line in
      guard let exporter = TLSExporter(keyLogLine: Array(line.readableBytesView)) else { return }
      facts.update { $0.exporter = exporter }
    }
    let context = try NIOSSLContext(configuration: configuration)
    let verify: NIOSSLCustomVerificationCallback = { chain, promise in
      guard chain.count == 1, let der = try? chain[0].toDERBytes(),
        let peer = try? PeerID(certificateDER: der)
      else { return promise.succeed(.failed) }
      if let expected, peer != expected {
        facts.update { $0.wrongPeer = peer }
        return promise.succeed(.failed)
      }
      facts.update { $0.peer = peer }
      promise.succeed(.certificateVerified)
    }
    switch side {
    case .dialler:
      return (
        try NIOSSLClientHandler(
          context: context,
          serverHostname: nil,
          customVerificationCallback: verify
        ), facts
      )
    case .listener:
      return (NIOSSLServerHandler(context: context, customVerificationCallback: verify), facts)
    }
  }
}
