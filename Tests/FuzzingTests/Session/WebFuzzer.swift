import Crypto
import NIOCore
import NIOEmbedded
import PeerCore
import PeerWire

@testable import PeerSession
@testable import WhiteboardWeb

/// Sends any bytes to the gateway for browsers: as HTTP, as a WebSocket, and as the bytes of a web link in requests.
///
/// No input may trap. A web link opens only for the gateway's own page. Every response is well-formed, and a connection
/// that carries no web link closes when the browser stops sending.
func fuzzWeb(_ input: inout Input) {
  var browser = Browser()
  while !input.isEmpty { browser.step(&input) }
  browser.end()
}

private struct Browser {
  /// A loop with a time of its own for each input.
  private let loop: EmbeddedEventLoop
  private var connections: [Connection]
  /// The id of the last web link that was opened without a WebSocket, and the bytes that it received.
  private var link: (id: String, position: Int) = ("aaaaaaaaaaaaaaaaaaaaaaaaaa", 0)

  init() {
    loop = EmbeddedEventLoop()
    connections = [Connection(loop), Connection(loop)]
  }

  mutating func step(_ input: inout Input) {
    let choice = input.byte()
    let index = Int(choice >> 7)
    let bytes: [UInt8]
    switch choice & 0x0F {
    case 0:
      let count = Int(input.byte())
      bytes = input.bytes(count)
    case 1, 2: bytes = Self.pieces[Int(input.byte()) % Self.pieces.count]
    case 3: bytes = request("GET", "/", [])
    case 4: bytes = request("GET", "/about.json", [])
    case 5, 6: bytes = upgrade
    case 7: bytes = request("POST", "/link", [("Content-Length", "0")])
    case 8, 9:
      let body = frame(&input)
      let start = choice & 0x10 == 0 ? link.position : Int(input.short())
      bytes = post(body, at: start)
      if start == link.position { link.position += body.count }
    case 10, 11:
      let contents = frame(&input)
      bytes = webSocket(&input, contents)
    case 12:
      let count = Int(input.byte())
      let contents = input.bytes(count)
      bytes = webSocket(&input, contents)
    case 13: bytes = frame(&input)
    case 14:
      loop.advanceTime(by: .seconds(Int64(input.byte() % 16)))
      bytes = []
    default:
      connections[index].close()
      connections[index] = Connection(loop)
      return
    }
    if let id = connections[index].send(bytes) { link = (id, 0) }
  }

  /// Parts of requests, which the fuzzer combines.
  private static let pieces = [
    "GET / HTTP/1.1\r\n", "POST /link HTTP/1.1\r\n", "GET /link HTTP/1.1\r\n", "HEAD /ca.crt HTTP/1.0\r\n",
    "Host: localhost:26443\r\n", "Origin: https://localhost:26443\r\n", "Origin: https://evil\r\n",
    "Content-Length: 0\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: xchunked\r\n", "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Protocol: whiteboard-p2p\r\n", "Accept-Encoding: br, gzip\r\n", " folded\r\n",
    "Whiteboard-Position: 9223372036854775807\r\n", "Connection: close\r\n", "Expect: 100-continue\r\n", "\r\n", "\n",
    "5\r\nhello\r\n", "0\r\n\r\n", "X: \(String(repeating: "a", count: 5_000))\r\n",
  ].map { Array($0.utf8) }

  private func request(_ method: String, _ path: String, _ headers: [(String, String)], _ body: [UInt8] = []) -> [UInt8]
  {
    var text = "\(method) \(path) HTTP/1.1\r\nHost: \(WebWorld.host)\r\nOrigin: \(WebWorld.origin)\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8) + body
  }

  private var upgrade: [UInt8] {
    request(
      "GET",
      "/link",
      [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Sec-WebSocket-Protocol", "whiteboard-p2p"),
      ]
    )
  }

  private func post(_ body: [UInt8], at position: Int) -> [UInt8] {
    request(
      "POST",
      "/link/\(link.id)",
      [("Content-Length", "\(body.count)"), ("Whiteboard-Position", "\(position)")],
      body
    )
  }

  private func frame(_ input: inout Input) -> [UInt8] {
    let choice = input.byte()
    let payload: [UInt8]
    switch choice & 3 {
    case 0:
      let count = Int(input.byte())
      payload = input.bytes(count)
    case 1: payload = Self.proof(isValid: choice & 4 == 0)
    case 2:
      // A valid proof in which one byte is replaced.
      var proof = Self.proof(isValid: true)
      let index = Int(input.byte()) % proof.count
      proof[index] = input.byte()
      payload = proof
    default: payload = [UInt8](repeating: choice, count: 8)
    }
    let types: [FrameType] = [.webProof, .webProof, .hello, .ping, .close, .webChallenge]
    var bytes = [types[Int(choice >> 3) % types.count].rawValue]
    Varint.append(UInt64(payload.count), to: &bytes)
    return bytes + payload
  }

  private static let key = P256.Signing.PrivateKey()

  private static func proof(isValid: Bool) -> [UInt8] {
    let guest = PeerID(publicKey: key.publicKey)
    guard let peer = PeerID(bytes: [UInt8](repeating: 7, count: 32)),
      let nonce = ProofBytes([UInt8](repeating: 9, count: 32))
    else { preconditionFailure("32 bytes") }
    let exchange = WebExchange(gateway: peer, gatewayNonce: nonce, origin: isValid ? WebWorld.origin : "https://evil")
    guard let signature = try? key.signature(for: exchange.signedBytes(nonce, guest)) else {
      preconditionFailure("a key signs")
    }
    return Control.WebProof(
      key: Array(key.publicKey.derRepresentation),
      nonce: nonce,
      signature: Array(signature.rawRepresentation)
    ).encoded()
  }

  /// Returns a frame of a WebSocket with these contents, which may break the rules.
  private func webSocket(_ input: inout Input, _ contents: [UInt8]) -> [UInt8] {
    let first = input.byte()
    let choice = input.byte()
    // Most frames are masked and binary, because otherwise few inputs get far.
    let head = choice & 1 == 0 ? 0x82 : first
    let mask: [UInt8] = choice & 2 == 0 ? [1, 2, 3, 4] : []
    let mark: UInt8 = mask.isEmpty ? 0 : 0x80
    var bytes = [head]
    switch choice >> 2 & 7 {
    case 0: bytes += [mark | 127] + (0..<8).map { _ in input.byte() }
    case 1: bytes += [mark | 126, UInt8(contents.count >> 8), UInt8(contents.count & 0xFF)]
    default:
      if contents.count < 126 {
        bytes.append(mark | UInt8(contents.count))
      } else {
        bytes += [mark | 126, UInt8(contents.count >> 8), UInt8(contents.count & 0xFF)]
      }
    }
    bytes += mask
    return bytes + contents.enumerated().map { index, byte in mask.isEmpty ? byte : byte ^ mask[index % 4] }
  }

  /// Ends the input: all connections without a web link must close by themselves.
  mutating func end() {
    loop.advanceTime(by: .seconds(31))
    loop.advanceTime(by: .seconds(31))
    for index in connections.indices {
      insist(connections[index].carriesLink || !connections[index].isOpen, "a connection without a web link closes")
      connections[index].close()
    }
    WebWorld.shared.forgetLinks()
  }
}

private struct Connection {
  private let channel: EmbeddedChannel
  private var received: [UInt8] = []
  /// Whether the gateway responded with a WebSocket.
  private var isWebSocket = false
  private(set) var carriesLink = false

  init(_ loop: EmbeddedEventLoop) { channel = WebWorld.shared.connect(loop) }

  var isOpen: Bool { channel.isActive }

  /// Sends bytes; returns the id of the web link that the response opened.
  mutating func send(_ bytes: [UInt8]) -> String? {
    guard channel.isActive else { return nil }
    // Errors of the handlers close the connection.
    _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
    channel.embeddedEventLoop.run()
    return look()
  }

  private mutating func look() -> String? {
    while let data = try? channel.readOutbound(as: ByteBuffer.self) { received += data.readableBytesView }
    let text = String(decoding: received.prefix(600), as: UTF8.self)
    if !carriesLink, !received.isEmpty {
      insist(text.hasPrefix("HTTP/1.1 "), "a response is HTTP: \(text)")
      if text.hasPrefix("HTTP/1.1 101") { (isWebSocket, carriesLink) = (true, true) }
    }
    defer { if !isWebSocket { received = [] } }
    guard !isWebSocket else {
      checkFrames()
      return nil
    }
    guard let range = text.firstRange(of: "Whiteboard-Link: ") else { return nil }
    carriesLink = true
    return String(text[range.upperBound...].prefix(26))
  }

  /// Checks that the gateway's frames are those that a server may send (RFC 6455, 5).
  private mutating func checkFrames() {
    if received.starts(with: Array("HTTP/1.1".utf8)) {
      let ends = received.indices.dropLast(3)
      let end = ends.first { received[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
      guard let end else { return }
      received.removeFirst(end + 4)
    }
    while received.count >= 2 {
      insist(received[1] & 0x80 == 0, "a server masks no frame")
      insist(received[0] & 0xF0 == 0x80, "a server's frame is not divided and has no reserved bits")
      var length = Int(received[1])
      var offset = 2
      if length >= 126 {
        let count = length == 126 ? 2 : 8
        guard received.count >= 2 + count else { return }
        length = received[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
        offset += count
      }
      insist(length <= 65_544, "a message has at most 65,544 bytes")
      guard received.count >= offset + length else { return }
      received.removeFirst(offset + length)
    }
  }

  func close() {
    // `finish` would also run the timers of the other connection.
    channel.close(promise: nil)
    channel.embeddedEventLoop.run()
  }
}
