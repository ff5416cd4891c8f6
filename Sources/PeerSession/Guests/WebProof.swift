import Crypto
import PeerCore
import PeerWire

extension Control {
  /// The gateway's first frame on a web link (WEB-3).
  struct WebChallenge: ControlPayload {
    static let frameType = FrameType.webChallenge

    var peer: PeerID
    var nonce: ProofBytes
  }

  /// The browser's answer, which proves its key (WEB-3).
  struct WebProof: ControlPayload {
    static let frameType = FrameType.webProof

    /// The browser's public key as a DER SubjectPublicKeyInfo.
    var key: [UInt8]
    var nonce: ProofBytes
    /// *r* and *s*, 32 bytes each.
    var signature: [UInt8]

    private enum CodingKeys: String, CodingKey {
      case key
      case nonce
      case signature
    }

    init(key: [UInt8], nonce: ProofBytes, signature: [UInt8]) {
      self.key = key
      self.nonce = nonce
      self.signature = signature
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      key = try container.base64(.key, maximum: 128)
      nonce = try container.decode(ProofBytes.self, forKey: .nonce)
      signature = try container.base64(.signature, maximum: 64)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(Base64.encode(key), forKey: .key)
      try container.encode(nonce, forKey: .nonce)
      try container.encode(Base64.encode(signature), forKey: .signature)
    }
  }
}

/// The gateway's part of the exchange that checks the proof of a browser (WEB-3, WEB-4).
struct WebExchange {
  let gateway: PeerID
  let gatewayNonce: ProofBytes
  /// The origin of the page, such as `https://192.168.1.5:26443`.
  let origin: String

  /// Checks the proof of a browser; `nil` if the proof is not valid.
  func check(_ proof: Control.WebProof) -> (guest: PeerID, exporter: LinkExporter)? {
    guard let key = try? P256.Signing.PublicKey(derRepresentation: proof.key),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: proof.signature)
    else { return nil }
    let guest = PeerID(publicKey: key)
    guard key.isValidSignature(signature, for: signedBytes(proof.nonce, guest)) else { return nil }
    return (guest, LinkExporter(web: exporterSecret(proof.nonce, guest)))
  }

  /// Returns the bytes that a browser signs.
  func signedBytes(_ nonce: ProofBytes, _ guest: PeerID) -> [UInt8] {
    Array("whiteboard-p2p web proof 1\0".utf8) + common(nonce, guest) + Array(origin.utf8)
  }

  func exporterSecret(_ nonce: ProofBytes, _ guest: PeerID) -> ProofBytes {
    let input = Array("whiteboard-p2p web exporter 1\0".utf8) + common(nonce, guest)
    guard let secret = ProofBytes(SHA256.hash(data: input)) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    return secret
  }

  private func common(_ nonce: ProofBytes, _ guest: PeerID) -> [UInt8] {
    gatewayNonce.bytes + nonce.bytes + gateway.bytes + guest.bytes
  }
}
