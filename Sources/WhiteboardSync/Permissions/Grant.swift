import Whiteboard

/// The way by which somebody's rights come from the owner of a board: no certificate for the owner, one
/// that the owner signed, or a second by whom the first lets grant; implements AUT-11.
public struct Grant: Hashable, Sendable {
  /// The most certificates.
  static let certificateLimit = 2

  /// Whose board it is.
  public let owner: BoardOwner
  /// The certificates, the owner's first.
  public let certificates: [Certificate]

  /// Creates the owner's own grant.
  public init(owner: BoardOwner) { self.init(owner, []) }

  init(_ owner: BoardOwner, _ certificates: [Certificate]) {
    self.owner = owner
    self.certificates = certificates
  }

  /// Reads the grant of whom it is known whose it is.
  init(
    for holder: [UInt8],
    upTo limit: Int = certificateLimit,
    _ reader: inout ByteReader
  ) throws(CodecError) {
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

  /// Reads the grant of whom it is known whose it is, from bytes of its own.
  init(for holder: [UInt8], _ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    try self.init(for: holder, &reader)
    try reader.finish()
  }

  /// Writes all but whose it is.
  func write(to writer: inout ByteWriter) {
    owner.write(to: &writer)
    writer.byte(UInt8(certificates.count))
    for (index, certificate) in certificates.enumerated() {
      if index < certificates.count - 1 { writer.raw(certificate.holder) }
      certificate.write(to: &writer)
    }
  }

  /// All but whose it is.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Returns the rights that it gives to the holder of a key; nil if it gives none.
  func rights(of key: [UInt8]) -> Rights? {
    guard let last = certificates.last else { return key == owner.key ? .owner : nil }
    return last.holder == key ? last.rights : nil
  }

  /// Throws where it is another board's owner's, or somebody did not sign, or may not have signed, it.
  func verify(board: BoardID, with verifier: any SignatureVerifier) throws(ReplicaError) {
    guard verifier.isKey(owner.key), certificates.allSatisfy({ verifier.isKey($0.holder) }) else {
      throw .wrongKey
    }
    guard owner.board == board else { throw .notOwner }
    var issuer = (key: owner.key, rights: Rights.owner)
    for (index, certificate) in certificates.enumerated() {
      // Who was let grant makes editors, and nobody who may grant.
      guard issuer.rights.mayGrant,
        index == 0 || certificate.rights == .editor
      else { throw .notGranted }
      guard certificate.isSigned(by: issuer.key, on: board, verifier) else { throw .wrongSignature }
      issuer = (certificate.holder, certificate.rights)
    }
  }
}
