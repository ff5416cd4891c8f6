import PeerCore
import Whiteboard

/// The rights that a certificate gives its holder (AUT-10).
public struct Rights: Hashable, Sendable {
  /// The role of the holder: editor or relay.
  public let role: Role
  /// Whether the holder may make other members editors.
  public let mayGrant: Bool

  private static let grantBit: UInt8 = 0x10

  /// Creates the rights of a role; nil for a viewer.
  public init?(_ role: Role, mayGrant: Bool = false) {
    guard role.mayWrite else { return nil }
    self.role = role
    self.mayGrant = mayGrant
  }

  private init(_ role: Role, _ mayGrant: Bool) {
    self.role = role
    self.mayGrant = mayGrant
  }

  /// The rights of an editor.
  public static let editor = Rights(.editor, false)
  /// The rights of a relay that may make other members editors.
  public static let grantingRelay = Rights(.relay, true)
  static let owner = Rights(.relay, true)

  init?(byte: UInt8) {
    guard let role = Role(rawValue: byte & ~Self.grantBit) else { return nil }
    self.init(role, mayGrant: byte & Self.grantBit != 0)
  }

  var byte: UInt8 { role.rawValue | (mayGrant ? Self.grantBit : 0) }

  func allow(_ role: Role) -> Bool { !role.mayWrite || role == .editor || role == self.role }
}

/// A certificate that gives rights to a member.
///
/// A certificate is signed by the owner of the board, or by another member that may grant rights.
///
/// Implements AUT-10.
public struct Certificate: Hashable, Sendable {
  private static let domain = Array("whiteboard-certificate-1\n".utf8)

  let holder: [UInt8]
  /// The rights of the holder.
  public let rights: Rights
  /// The serial number: the time of issue by the issuer's clock, in milliseconds since 1970. A revocation covers all
  /// certificates up to a serial number.
  let serial: UInt64
  private let signature: [UInt8]

  private init(_ holder: [UInt8], _ rights: Rights, _ serial: UInt64, _ signature: [UInt8]) {
    self.holder = holder
    self.rights = rights
    self.serial = serial
    self.signature = signature
  }

  static func make(for holder: [UInt8], _ rights: Rights, serial: UInt64, on board: BoardID, _ signer: inout Signer)
    -> Signed<Certificate>
  {
    let signature = signer.sign(text(holder, rights, serial, board))
    return Signed(value: Certificate(holder, rights, serial, signature.value), request: signature.request)
  }

  init(for holder: [UInt8], _ reader: inout ByteReader) throws(CodecError) {
    self.holder = holder
    guard let rights = Rights(byte: try reader.byte()) else { throw .reserved("rights") }
    self.rights = rights
    serial = try reader.fixed64()
    guard serial <= BoardLimits.time else { throw .overLimit("serial") }
    signature = try reader.take(AuthorRecord.signatureBytes)
  }

  func write(to writer: inout ByteWriter) {
    writer.byte(rights.byte)
    writer.fixed64(serial)
    writer.raw(signature)
  }

  func isSigned(by issuer: [UInt8], on board: BoardID, _ verifier: some SignatureVerifier) -> Bool {
    verifier.isValid(signature, of: Self.text(holder, rights, serial, board), by: issuer)
  }

  private static func text(_ holder: [UInt8], _ rights: Rights, _ serial: UInt64, _ board: BoardID) -> [UInt8] {
    var text = ByteWriter()
    text.raw(domain)
    text.raw(board.bytes)
    text.raw(holder)
    text.byte(rights.byte)
    text.fixed64(serial)
    return text.bytes
  }
}
