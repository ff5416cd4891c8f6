import Crypto
import SwiftASN1
import X509

/// The reason why a certificate does not identify a peer; the link is refused (LNK-1).
enum PeerCertificateError: Error, Equatable, Sendable {
  /// More bytes than any certificate of a peer has.
  case tooLarge(Int)
  /// Not a certificate in DER.
  case notACertificate
  /// The key is not on P-256.
  case notP256
}

extension PeerID {
  /// The most bytes a peer's certificate may have; our own take about 400.
  private static let maximumCertificate = 16_384

  /// The id of whoever holds the key in `certificateDER` (LNK-2); names and dates are ignored.
  ///
  /// What is hashed is the key encoded anew, so that one key has one id however it was written.
  ///
  /// - Throws: ``PeerCertificateError``, whatever the bytes are.
  init(certificateDER der: [UInt8]) throws(PeerCertificateError) {
    guard der.count <= Self.maximumCertificate else { throw .tooLarge(der.count) }
    let certificate: Certificate
    do {
      certificate = try Certificate(derEncoded: der)
    } catch {
      throw .notACertificate
    }
    guard let key = P256.Signing.PublicKey(certificate.publicKey) else { throw .notP256 }
    self.init(publicKey: key)
  }

  /// The id of whoever holds `publicKey`.
  init(publicKey: P256.Signing.PublicKey) {
    self.init(spki: Array(publicKey.derRepresentation))
  }

  /// The id of whoever holds the key of a DER SubjectPublicKeyInfo.
  init(spki: [UInt8]) {
    guard let id = PeerID(bytes: Array(SHA256.hash(data: spki))) else {
      preconditionFailure("SHA-256 has 32 bytes")
    }
    self = id
  }
}
