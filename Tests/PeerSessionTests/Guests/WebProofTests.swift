import Foundation
import PeerCore
import Testing

@testable import PeerSession

/// `Protocol/Vectors/web.json`, which `Tests/Interop/make_web_vectors.py` computes.
private struct WebVectors: Decodable {
  struct Links: Decodable {
    struct Valid: Decodable {
      var fragment: String
      var board: Hex
      var secret: Hex
      var key: Hex

      enum CodingKeys: String, CodingKey {
        case fragment
        case board
        case secret
        case key = "K"
      }
    }
    var valid: [Valid]
  }

  struct Exporter: Decodable {
    var label: String
    var output: Hex
  }

  struct Proof: Decodable {
    var origin: String
    var gatewayNonce: Hex
    var guestNonce: Hex
    var gateway: Hex
    var guest: Hex
    var key: Hex
    var input: Hex
    var signature: Hex
    var secret: Hex
    var exporter: [Exporter]

    enum CodingKeys: String, CodingKey {
      case origin
      case gatewayNonce
      case guestNonce
      case gateway
      case guest
      case key
      case input
      case signature
      case secret = "E"
      case exporter
    }
  }

  struct CodeProof: Decodable {
    struct Side: Decodable {
      var input: Hex
      var proof: Hex
    }
    var session: Hex
    var guest: Hex
    var gateway: Hex
    var binding: Hex
    var joiner: Side
    var host: Side
  }

  struct Invitation: Decodable {
    struct Role: Decodable { var proof: Hex }
    private enum CodingKeys: String, CodingKey {
      case key = "K"
      case binding
      case editor
      case viewer
    }

    var key: Hex
    var binding: Hex
    var editor: Role
    var viewer: Role
  }

  struct Exchange: Decodable {
    struct Frame: Decodable {
      var frame: String
      var hex: Hex
    }
    var frames: [Frame]
  }

  var links: Links
  var proof: Proof
  var codeProof: CodeProof
  var invitation: Invitation
  var exchange: Exchange

  static func load() throws -> WebVectors {
    try JSONDecoder().decode(Self.self, from: Data(contentsOf: AdmissionVectors.protocolFile("Vectors/web.json")))
  }
}

@Suite("Guests") struct WebProofTests {
  private let vectors: WebVectors

  init() throws { vectors = try .load() }

  private func exchange(origin: String? = nil) throws -> WebExchange {
    WebExchange(
      gateway: try #require(PeerID(bytes: vectors.proof.gateway.bytes)),
      gatewayNonce: try #require(ProofBytes(vectors.proof.gatewayNonce.bytes)),
      origin: origin ?? vectors.proof.origin
    )
  }

  private func proof() throws -> Control.WebProof {
    Control.WebProof(
      key: vectors.proof.key.bytes,
      nonce: try #require(ProofBytes(vectors.proof.guestNonce.bytes)),
      signature: vectors.proof.signature.bytes
    )
  }

  @Test("[WEB-12] the key of a link comes from its secret and its session") func keys() throws {
    for link in vectors.links.valid {
      let parts = link.fragment.dropFirst().split(separator: ".").map(String.init)
      let session = try #require(SessionID(text: parts[0]))
      let secret = try #require(GuestSecret(text: parts[1]))
      #expect(session.bytes == link.board.bytes && secret.bytes == link.secret.bytes)
      #expect(GuestKey(secret, for: session).bytes.bytes == link.key.bytes)
    }
  }

  @Test("[WEB-3] [WEB-4] a proof gives the guest's id and the exporter of the link") func accepted() throws {
    let exchange = try exchange()
    let proof = try proof()
    let (guest, exporter) = try #require(exchange.check(proof))
    #expect(guest.bytes == vectors.proof.guest.bytes)
    #expect(exchange.signedBytes(proof.nonce, guest) == vectors.proof.input.bytes)
    #expect(exchange.exporterSecret(proof.nonce, guest).bytes == vectors.proof.secret.bytes)
    #expect(vectors.proof.exporter.count == 2)
    for vector in vectors.proof.exporter {
      #expect(exporter.export(label: vector.label) == vector.output.bytes, "\(vector.label)")
    }
  }

  @Test("[WEB-19] a proof for another origin, nonce or gateway is refused") func refused() throws {
    let proof = try proof()
    #expect(try exchange(origin: "https://192.168.1.5").check(proof) == nil)
    let exchange = try exchange()
    var other = proof
    other.nonce = .random()
    #expect(exchange.check(other) == nil)
    other = proof
    other.signature[5] ^= 1
    #expect(exchange.check(other) == nil)
    other.signature = Array(proof.signature.dropLast())
    #expect(exchange.check(other) == nil)
    other = proof
    other.key = PeerIdentity.ephemeral().publicKeyDER
    #expect(exchange.check(other) == nil)
    other.key = [1, 2, 3]
    #expect(exchange.check(other) == nil)
    let elsewhere = WebExchange(
      gateway: PeerIdentity.ephemeral().peerID,
      gatewayNonce: exchange.gatewayNonce,
      origin: exchange.origin
    )
    #expect(elsewhere.check(proof) == nil)
  }

  @Test("[WEB-29] both sides prove the key of the link without stretching it") func codeProof() throws {
    let told = vectors.codeProof
    let link = try #require(vectors.links.valid.first)
    let session = try #require(SessionID(bytes: told.session.bytes))
    let secret = try #require(GuestSecret(bytes: link.secret.bytes))
    let gateway = try #require(PeerID(bytes: told.gateway.bytes))
    let guest = try #require(PeerID(bytes: told.guest.bytes))
    let key = CodeKey(GuestKey(secret, for: session), session: session, listener: gateway)
    for (side, vector) in [(CodeKey.Prover.joiner, told.joiner), (.host, told.host)] {
      let binding = told.binding.bytes
      #expect(key.message(of: side, binding: binding, dialler: guest) == vector.input.bytes)
      #expect(key.proof(of: side, binding: binding, dialler: guest).bytes == vector.proof.bytes)
    }
  }

  @Test("[WEB-58] the proofs in requests for a link") func invitation() throws {
    let told = vectors.invitation
    let link = try #require(vectors.links.valid.first)
    let session = try #require(SessionID(bytes: link.board.bytes))
    let key = GuestKey(try #require(GuestSecret(bytes: link.secret.bytes)), for: session)
    #expect(key.bytes.bytes == told.key.bytes)
    func isProof(_ proof: [UInt8], _ role: String) -> Bool {
      key.isProof(proof, ofInvitationFor: role, binding: told.binding.bytes)
    }
    #expect(isProof(told.editor.proof.bytes, "editor") && isProof(told.viewer.proof.bytes, "viewer"))
    #expect(!isProof(told.viewer.proof.bytes, "editor") && !isProof([], "editor"))
  }

  @Test("[WEB-3] [WEB-31] the frames of the example in web.md decode") func example() throws {
    // `number` is the number of the frame in web.md. The object follows the type and the length of the frame.
    func payload(_ number: Int, _ name: String) -> [UInt8] {
      let frame = vectors.exchange.frames[number - 1]
      #expect(frame.frame == name)
      return Array(frame.hex.bytes.drop { $0 != UInt8(ascii: "{") })
    }
    let challenge = try Control.WebChallenge.decode(payload(1, "WEB-CHALLENGE"))
    #expect(challenge.peer.bytes == vectors.proof.gateway.bytes)
    #expect(challenge.nonce.bytes == vectors.proof.gatewayNonce.bytes)
    let proof = try Control.WebProof.decode(payload(2, "WEB-PROOF"))
    let exchange = try exchange()
    let (guest, _) = try #require(exchange.check(proof))
    #expect(guest.bytes == vectors.proof.guest.bytes)
    let hello = try Control.DiallerHello.decode(payload(3, "HELLO"))
    #expect(hello.introduction.session.bytes == vectors.codeProof.session.bytes)
    let joiner = try Control.CodeProof.decode(payload(5, "CODE-PROOF"))
    #expect(joiner.proof.bytes == vectors.codeProof.joiner.proof.bytes)
    let accept = try Control.Accept.decode(payload(6, "ACCEPT"))
    #expect(accept.proof?.bytes == vectors.codeProof.host.proof.bytes)
    #expect(accept.host.bytes == vectors.proof.gateway.bytes)
  }

  @Test("[WEB-5] [WEB-15] an expired link admits no guest, and a closed link admits no new guest") func links() throws {
    let session = SessionID.random()
    let gateway = PeerIdentity.ephemeral().peerID
    let (known, stranger) = (PeerIdentity.ephemeral().peerID, PeerIdentity.ephemeral().peerID)
    func choice() -> (GuestKey, CodeChoice) {
      let key = GuestKey(.random(), for: session)
      let code = CodeKey(key, session: session, listener: gateway)
      return (key, CodeChoice(key: code, guestKey: key))
    }
    var links = GuestLinks()
    let (open, openChoice) = choice()
    let (expired, expiredChoice) = choice()
    let (closed, closedChoice) = choice()
    links.set(openChoice, key: open, until: nil, for: nil)
    links.set(expiredChoice, key: expired, until: .now(), for: nil)
    links.set(closedChoice, key: closed, until: .distantFuture, for: [known])
    func keys(for guest: PeerID) -> Set<GuestKey?> { Set(links.choices(for: guest).map(\.guestKey)) }
    #expect(keys(for: stranger) == [open])
    #expect(keys(for: known) == [open, closed])
    #expect(!links.contains(expired))
    links.remove(open)
    #expect(keys(for: stranger).isEmpty)
  }

  @Test("[WEB-57] of two guests that use a link for one guest at the same moment, one joins") func once() throws {
    let session = SessionID.random()
    let (first, second) = (PeerIdentity.ephemeral().peerID, PeerIdentity.ephemeral().peerID)
    let key = GuestKey(.random(), for: session)
    let code = CodeKey(key, session: session, listener: PeerIdentity.ephemeral().peerID)
    var links = GuestLinks()
    links.set(CodeChoice(key: code, guestKey: key), key: key, until: nil, limit: 1)
    func mayTry(_ guest: PeerID) -> Bool { !links.choices(for: guest).isEmpty }
    func joins(_ guest: PeerID) -> Bool { links.use(key, by: guest) }
    // Both guests prove the key before either of them joins.
    #expect(mayTry(first) && mayTry(second))
    #expect(joins(first))
    #expect(!joins(second))
    let openCount = links.openCount()
    #expect(openCount == 0)
    // The guest that joined can return, even after the application restored the link with its guests.
    for guests in [nil, [first]] as [Set<PeerID>?] {
      links.set(CodeChoice(key: code, guestKey: key), key: key, until: nil, for: guests, limit: 1)
      #expect(mayTry(first) && !mayTry(second))
      #expect(joins(first) && !joins(second))
    }
    links.remove(key)
    #expect(!joins(first))
  }
}
