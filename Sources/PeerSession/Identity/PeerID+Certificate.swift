import Crypto
import SwiftASN1
import X509

/// The reason for rejecting a certificate and refusing its link (LNK-1).
enum PeerCertificateError: Error, Equatable, Sendable {
  /// The certificate exceeds the maximum length.
  case tooLarge(Int)
  /// The bytes are not a certificate in DER.
  case notACertificate
  /// The key is not on P-256.
  case notP256
}

extension PeerID {
  /// The maximum number of bytes of a peer's certificate.
  ///
  /// The local certificate has about 400 bytes.
  private static let maximumCertificate = 16_384

  init(certificateDER der: [UInt8]) throws(PeerCertificateError) {
    guard der.count <= Self.maximumCertificate else { throw .tooLarge(der.count) }
    let certificate: Certificate
    do { certificate = try Certificate(derEncoded: der) } catch { throw .notACertificate }
    guard let key = P256.Signing.PublicKey(certificate.publicKey) else { throw .notP256 }
    self.init(publicKey: key)
  }

  init(publicKey: P256.Signing.PublicKey) { self.init(spki: Array(publicKey.derRepresentation)) }

  /// Creates the id of the peer that holds the key of a DER SubjectPublicKeyInfo.
  init(spki: [UInt8]) {
    guard let id = PeerID(bytes: Array(SHA256.hash(data: spki))) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    self = id
  }
}
