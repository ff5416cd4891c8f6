import Crypto

/// The key with which a browser proves that it has a browser link to a session (WEB-12).
///
/// A browser stores this key instead of the secret in the browser link.
public struct GuestKey: Hashable, Sendable {
  let bytes: ProofBytes

  /// Derives the key from the secret in a browser link.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - session: The session that the link names.
  public init(_ secret: GuestSecret, for session: SessionID) {
    let input = Array("whiteboard-p2p web key 1\0".utf8) + secret.bytes + session.bytes
    guard let bytes = ProofBytes(SHA256.hash(data: input)) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    self.bytes = bytes
  }
}
