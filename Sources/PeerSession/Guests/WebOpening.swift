import NIOCore
import PeerWire

/// The exchange of the first two frames of a web link, which replaces the TLS handshake between peers (WEB-3).
///
/// Confined to the control event loop. When the browser has proved its key, ``ListenerHandshake`` handles the web link
/// like any accepted connection.
final class WebOpening: LinkDelegate {
  private let handshake: ListenerHandshake
  private let exchange: WebExchange

  init(_ handshake: ListenerHandshake, gateway: PeerID, origin: String) {
    self.handshake = handshake
    exchange = WebExchange(gateway: gateway, gatewayNonce: .random(), origin: origin)
  }

  /// Sends the challenge.
  func begin(_ link: ControlLink) {
    let challenge = Control.WebChallenge(peer: exchange.gateway, nonce: exchange.gatewayNonce)
    link.send(.webChallenge, challenge.encoded())
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard type == .webProof else { return link.close(.protocolError, CloseMessage.unexpected(type)) }
    let proof: Control.WebProof
    do throws(ControlMessageError) { proof = try Control.WebProof.decode(Array(payload.readableBytesView)) } catch {
      return link.close(.protocolError, CloseMessage.invalid(type, error))
    }
    guard let (guest, exporter) = exchange.check(proof) else {
      return link.close(.protocolError, "The browser did not prove its key.")
    }
    link.facts.update {
      $0.peer = guest
      $0.exporter = exporter
    }
    // The link references its delegate weakly. The transport keeps the handshake alive.
    link.webOpening = nil
    link.delegate = handshake
    link.secured()
  }

  func linkSecured(_ link: ControlLink) {}
  func linkReadComplete(_ link: ControlLink) {}
  func linkWritable(_ link: ControlLink) {}

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    link.webOpening = nil
    handshake.linkEnded(link, reason)
  }
}
