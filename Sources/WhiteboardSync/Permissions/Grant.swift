import Whiteboard

/// The chain of certificates from the owner of a board to a member.
///
/// The owner's own grant has no certificates. The first certificate is signed by the owner. A second certificate is
/// signed by the holder of the first. Implements AUT-11.
public struct Grant: Hashable, Sendable {
  static let certificateLimit = 2

  /// The owner of the board.
  public let owner: BoardOwner
  /// The certificates.
  ///
  /// The first one is signed by the owner.
  public let certificates: [Certificate]

  /// Creates the grant of the owner itself, which has no certificates.
  public init(owner: BoardOwner) { self.init(owner, []) }

  init(_ owner: BoardOwner, _ certificates: [Certificate]) {
    self.owner = owner
    self.certificates = certificates
  }

  init(for holder: [UInt8], upTo limit: Int = certificateLimit, _ reader: inout ByteReader) throws(CodecError) {
    owner = try BoardOwner(&reader)
    let count = Int(try reader.byte())
    guard count <= limit else { throw .reserved("certificates") }
    var certificates: [Certificate] = []
    for index in 0..<count {
      let key = index == count - 1 ? holder : try reader.take(AuthorRecord.keyBytes)
      certificates.append(try Certificate(for: key, &reader))
    }
    self.certificates = certificates
  }

  /// The grant must fill `bytes`.
  init(for holder: [UInt8], _ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    try self.init(for: holder, &reader)
    try reader.finish()
  }

  func write(to writer: inout ByteWriter) {
    owner.write(to: &writer)
    writer.byte(UInt8(certificates.count))
    for (index, certificate) in certificates.enumerated() {
      if index < certificates.count - 1 { writer.raw(certificate.holder) }
      certificate.write(to: &writer)
    }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  func rights(of key: [UInt8]) -> Rights? {
    guard let last = certificates.last else { return key == owner.key ? .owner : nil }
    return last.holder == key ? last.rights : nil
  }

  /// Throws an error if the grant is for another board, or if a certificate in it is not valid.
  func verify(board: BoardID, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard verifier.isKey(owner.key), certificates.allSatisfy({ verifier.isKey($0.holder) }) else { throw .wrongKey }
    guard owner.board == board else { throw .notOwner }
    var issuer = (key: owner.key, rights: Rights.owner)
    for (index, certificate) in certificates.enumerated() {
      // Only the owner can give the right to grant. Other issuers can only make members editors.
      guard issuer.rights.mayGrant, index == 0 || certificate.rights == .editor else { throw .notGranted }
      guard certificate.isSigned(by: issuer.key, on: board, verifier) else { throw .wrongSignature }
      issuer = (certificate.holder, certificate.rights)
    }
  }
}
