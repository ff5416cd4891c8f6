import Crypto
import PeerCore
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The reason why an identity cannot be loaded; `description` names the file and the command that fixes it.
public enum IdentityError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file exists, but does not contain a key and its certificate.
  case damaged(file: String, why: String)
  /// The file holds a private key that is not on P-256.
  case wrongKind(file: String)
  /// Other users may read or write the file, or write in its directory.
  case notPrivate(path: String, message: String)
  /// The file or its directory belongs to another user.
  case notOurs(path: String, message: String)
  /// A system call failed.
  case system(path: String, message: String)

  /// A description of the problem and the remedy, in one or two sentences.
  public var description: String {
    switch self {
    case .damaged(let file, let why):
      "The identity in \(file) is damaged: \(why). Restore the file from a copy, or move it "
        + "somewhere else to start with a new identity: mv \(shellQuoted(file)) \(shellQuoted(file + ".old"))"
    case .wrongKind(let file):
      "The key in \(file) is not a P-256 key. Move the file somewhere else "
        + "to start with a new identity: mv \(shellQuoted(file)) \(shellQuoted(file + ".old"))"
    case .notPrivate(_, let message), .notOurs(_, let message), .system(_, let message): message
    }
  }

  fileprivate init(_ failure: PrivateFile.Failure) {
    switch failure {
    case .tooOpen(let path, _): self = .notPrivate(path: path, message: failure.description)
    case .notOurs(let path): self = .notOurs(path: path, message: failure.description)
    case .tooLarge(let path, _): self = .damaged(file: path, why: "it is too large")
    case .wrongKind(let path, _), .system(_, let path, _): self = .system(path: path, message: failure.description)
    }
  }
}

/// The identity of a peer: its private key and its certificate.
///
/// The certificate is self-signed and contains no name. Peers check only the key in it.
public struct PeerIdentity: Sendable {
  /// The id by which other peers know the local peer.
  public let peerID: PeerID
  /// The certificate, in DER.
  public let certificateDER: [UInt8]

  private let key: P256.Signing.PrivateKey

  private static let fileName = "identity.pem"
  private static let maximumFile = 65_536
  private static let commonName = "whiteboard-peer"

  /// Loads the identity from a directory; creates the directory and the identity if they are missing.
  ///
  /// The directory gets mode 0700, the file 0600. If several processes start at the same time, all get the same
  /// identity. An existing file is never overwritten. This call blocks on the disk.
  ///
  /// - Throws: ``IdentityError`` if the existing file cannot be used or trusted.
  public static func loadOrCreate(inDirectory directory: String) throws(IdentityError) -> PeerIdentity {
    let file = PrivateFile(path: directory.hasSuffix("/") ? directory + fileName : directory + "/" + fileName)
    do {
      try file.prepareDirectory()
      if let bytes = try file.read(limit: maximumFile) { return try PeerIdentity(pem: bytes, file: file.path) }
      let identity = ephemeral()
      if try file.create(Array(identity.pem.utf8)) { return identity }
      // Another process created the file first.
      guard let bytes = try file.read(limit: maximumFile) else {
        throw IdentityError.damaged(file: file.path, why: "it was removed while the program started")
      }
      return try PeerIdentity(pem: bytes, file: file.path)
    } catch let failure as PrivateFile.Failure { throw IdentityError(failure) } catch let error as IdentityError {
      throw error
    } catch { throw .system(path: file.path, message: "\(file.path): \(error)") }
  }

  /// Replaces the identity in a directory with a new identity.
  ///
  /// The old identity is kept in a file named for its id. Running programs keep the old identity until they restart.
  /// This call blocks on the disk.
  ///
  /// - Returns: The old id, the new identity, and the path of the file that holds the old identity.
  /// - Throws: ``IdentityError`` if the existing file cannot be used, or the files cannot be written.
  public static func renew(inDirectory directory: String) throws(IdentityError) -> (
    old: PeerID, new: PeerIdentity, oldFile: String
  ) {
    let old = try loadOrCreate(inDirectory: directory)
    let folder = directory.hasSuffix("/") ? directory : directory + "/"
    let oldFile = PrivateFile(path: folder + "identity-\(old.peerID.short).pem")
    let new = ephemeral()
    do {
      try oldFile.replace(Array(old.pem.utf8))
      try PrivateFile(path: folder + fileName).replace(Array(new.pem.utf8))
    } catch { throw IdentityError(error) }
    return (old.peerID, new, oldFile.path)
  }

  /// Returns the ids of the former identities that ``renew(inDirectory:)`` kept in a directory. Files that cannot be
  /// read are left out. This call blocks on the disk.
  package static func formerPeers(inDirectory directory: String) -> [PeerID] {
    let folder = directory.hasSuffix("/") ? directory : directory + "/"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.sorted().filter { $0.hasPrefix("identity-") && $0.hasSuffix(".pem") }.compactMap { name in
      let file = PrivateFile(path: folder + name)
      guard let bytes = try? file.read(limit: maximumFile) else { return nil }
      return (try? PeerIdentity(pem: bytes, file: file.path))?.peerID
    }
  }

  /// Creates an identity that is not saved.
  public static func ephemeral() -> PeerIdentity {
    let key = P256.Signing.PrivateKey()
    do { return PeerIdentity(key: key, certificateDER: try makeCertificate(for: key)) } catch {
      preconditionFailure("a certificate with constant fields and a P-256 key can always be encoded")
    }
  }

  /// The private key as PKCS #8 in DER.
  ///
  /// The key is secret; never log it.
  public var privateKeyDER: [UInt8] { Array(key.derRepresentation) }

  /// The private key as PKCS #8 in PEM.
  ///
  /// The key is secret; never log it.
  public var privateKeyPEM: String { key.pemRepresentation }

  /// The certificate, in PEM.
  public var certificatePEM: String { PEMDocument(type: "CERTIFICATE", derBytes: certificateDER).pemString }

  /// The public key's SubjectPublicKeyInfo, in DER; ``peerID`` is its SHA-256.
  public var publicKeyDER: [UInt8] { Array(key.publicKey.derRepresentation) }

  /// The public key as an uncompressed curve point (SEC 1), which has 65 bytes.
  public var publicKeyX963: [UInt8] { Array(key.publicKey.x963Representation) }

  /// Signs with ECDSA on P-256 and SHA-256.
  ///
  /// - Returns: *r* and *s*, 32 bytes each. Two signatures of the same bytes differ.
  public func rawSignature(of bytes: [UInt8]) -> [UInt8] {
    do { return Array(try key.signature(for: bytes).rawRepresentation) } catch {
      preconditionFailure("a P-256 key can sign any bytes")
    }
  }

  /// Signs with ECDSA on P-256 and SHA-256.
  ///
  /// - Returns: The signature in DER; two signatures of the same bytes differ.
  public func sign(_ bytes: [UInt8]) -> [UInt8] {
    do { return Array(try key.signature(for: bytes).derRepresentation) } catch {
      preconditionFailure("a P-256 key can sign any bytes")
    }
  }

  /// Returns the pass that a session's join links to this peer contain (HEL-9).
  ///
  /// The pass is derived from the private key, so it is the same after a restart.
  public func invitationPass(for session: SessionID) -> InvitationPass {
    InvitationPass(derivedFrom: key, for: session)
  }

  private init(key: P256.Signing.PrivateKey, certificateDER: [UInt8]) {
    self.key = key
    self.certificateDER = certificateDER
    peerID = PeerID(publicKey: key.publicKey)
  }

  private var pem: String { privateKeyPEM + "\n" + certificatePEM + "\n" }

  private init(pem bytes: [UInt8], file: String) throws(IdentityError) {
    guard let text = String(validating: bytes, as: UTF8.self),
      let documents = try? PEMDocument.parseMultiple(pemString: text)
    else { throw .damaged(file: file, why: "it is not a PEM file") }
    let keys = documents.filter { $0.discriminator.hasSuffix("PRIVATE KEY") }
    let certificates = documents.filter { $0.discriminator == "CERTIFICATE" }
    guard keys.count == 1, certificates.count == 1 else {
      throw .damaged(
        file: file,
        why: "it must contain one private key and one certificate, "
          + "but contains \(keys.count) and \(certificates.count)"
      )
    }
    guard let anyKey = try? Certificate.PrivateKey(pemDocument: keys[0]) else {
      throw .damaged(file: file, why: "its private key cannot be decoded")
    }
    guard let key = try? P256.Signing.PrivateKey(pemRepresentation: keys[0].pemString) else {
      throw P256.Signing.PublicKey(anyKey.publicKey) == nil
        ? .wrongKind(file: file) : .damaged(file: file, why: "its private key cannot be decoded")
    }
    guard let named = try? PeerID(certificateDER: certificates[0].derBytes) else {
      throw .damaged(file: file, why: "its certificate cannot be decoded")
    }
    self.init(key: key, certificateDER: certificates[0].derBytes)
    guard named == peerID else { throw .damaged(file: file, why: "its certificate belongs to a different key") }
  }

  private static func makeCertificate(for key: P256.Signing.PrivateKey) throws -> [UInt8] {
    let name = try DistinguishedName { CommonName(commonName) }
    // The validity period starts one day ago because clocks differ. Peers ignore the dates, but other software may
    // check them.
    let now = Date.now
    let certificate = try Certificate(
      version: .v3,
      serialNumber: Certificate.SerialNumber(),
      publicKey: .init(key.publicKey),
      notValidBefore: now.addingTimeInterval(-86_400),
      notValidAfter: now.addingTimeInterval(3_652 * 86_400),
      issuer: name,
      subject: name,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions(),
      issuerPrivateKey: .init(key)
    )
    var serializer = DER.Serializer()
    try serializer.serialize(certificate)
    return serializer.serializedBytes
  }
}

extension InvitationPass {
  fileprivate init(derivedFrom key: P256.Signing.PrivateKey, for session: SessionID) {
    let derived = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: key.rawRepresentation),
      info: Array("whiteboard-p2p invitation pass 1\0".utf8) + session.bytes,
      outputByteCount: Self.byteCount
    )
    guard let value = derived.withUnsafeBytes({ Bytes16($0) }) else {
      preconditionFailure("a derived key has the requested length")
    }
    self.init(value)
  }
}

/// The reason for rejecting a certificate and refusing its link (LNK-1).
enum PeerCertificateError: Error, Equatable, Sendable {
  case tooLarge(Int)
  case notACertificate
  case notP256
}

extension PeerID {
  /// The local certificate has about 400 bytes.
  private static let maximumCertificate = 16_384

  init(certificateDER der: [UInt8]) throws(PeerCertificateError) {
    guard der.count <= Self.maximumCertificate else { throw .tooLarge(der.count) }
    let certificate: Certificate
    do { certificate = try Certificate(derEncoded: der) } catch { throw .notACertificate }
    guard let key = P256.Signing.PublicKey(certificate.publicKey) else { throw .notP256 }
    self.init(publicKey: key)
  }

  /// Returns whether this peer signed the message with ECDSA on P-256 and SHA-256. `key` is this peer's DER
  /// SubjectPublicKeyInfo, and `signature` is in DER.
  func hasSigned(_ message: [UInt8], _ signature: [UInt8], key: [UInt8]) -> Bool {
    guard PeerID(spki: key) == self, let publicKey = try? P256.Signing.PublicKey(derRepresentation: key),
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
    else { return false }
    return publicKey.isValidSignature(signature, for: message)
  }

  init(publicKey: P256.Signing.PublicKey) { self.init(spki: Array(publicKey.derRepresentation)) }

  init(spki: [UInt8]) {
    guard let id = PeerID(bytes: Array(SHA256.hash(data: spki))) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    self = id
  }
}
