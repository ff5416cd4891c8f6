import FoundationEssentials
import NIOCore
import NIOEmbedded
import PeerCore
import PeerWire

@testable import PeerSession
@testable import WhiteboardWeb

/// A gateway in this process, without TLS and without a transport.
final class WebWorld {
  static let host = "localhost:26443"
  static let origin = "https://localhost:26443"

  // The fuzzer calls from one thread.
  nonisolated(unsafe) static let shared = WebWorld()

  let server: WebServer
  private let openings: Openings

  private init() {
    let openings = Openings()
    self.openings = openings
    let directory = FileManager.default.temporaryDirectory.appending(
      path: "whiteboard-fuzz-\(UInt64.random(in: 0 ... .max))"
    ).path()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let certificate = try WebCertificate(inDirectory: directory, for: ["localhost"])
      server = try WebServer(WebPage(), certificate, port: 26_443) {
        $1.makeSucceededFuture(.text(.forbidden, "\($0.isView)"))
      } acceptLink: {
        try openings.accept($0, origin: $1)
      }
    } catch { preconditionFailure("a gateway opens: \(error)") }
  }

  func connect(_ loop: EmbeddedEventLoop) -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loop)
    do {
      try server.addRequestHandlers(channel)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 9)).wait()
    } catch { preconditionFailure("a connection opens: \(error)") }
    return channel
  }

  func forgetLinks() { openings.all = [] }
}

/// The openings of the web links, which their channels hold weakly.
private final class Openings {
  var all: [Opening] = []

  func accept(_ channel: any Channel, origin: String) throws {
    insist(origin == WebWorld.origin, "only the page opens a link, not one of \(origin)")
    let opening = Opening(origin: origin)
    all.append(opening)
    let link = ControlLink(side: .listener, facts: LinkFacts(), remote: nil, isFromBrowser: true, delegate: opening)
    try channel.pipeline.syncOperations.addHandler(link)
    opening.begin(link)
  }
}

/// The first frames of a web link, as ``WebOpening`` handles them, but without a transport.
final class Opening: LinkDelegate {
  private let exchange: WebExchange
  private var isProved = false

  init(origin: String) {
    guard let peer = PeerID(bytes: [UInt8](repeating: 7, count: 32)),
      let nonce = ProofBytes([UInt8](repeating: 9, count: 32))
    else { preconditionFailure("32 bytes") }
    exchange = WebExchange(gateway: peer, gatewayNonce: nonce, origin: origin)
  }

  func begin(_ link: ControlLink) {
    let challenge = Control.WebChallenge(peer: exchange.gateway, nonce: exchange.gatewayNonce)
    link.send(.webChallenge, challenge.encoded())
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard !isProved else {
      // Answer with more than one WebSocket message can carry.
      return link.write(ByteBuffer(repeating: type.rawValue, count: 100_000))
    }
    guard type == .webProof, let proof = try? Control.WebProof.decode(Array(payload.readableBytesView)) else {
      return link.close(.protocolError, "The first frame is not a proof.")
    }
    guard exchange.check(proof) != nil else { return link.close(.protocolError, "The browser did not prove its key.") }
    isProved = true
  }

  func linkSecured(_ link: ControlLink) {}
  func linkReadComplete(_ link: ControlLink) { link.flush() }
  func linkWritable(_ link: ControlLink) {}
  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {}
}
