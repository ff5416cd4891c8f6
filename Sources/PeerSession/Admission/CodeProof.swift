import Crypto
import CryptoExtras

/// The key that makes and checks proofs of a code.
///
/// It is the code, stretched for one session and one listener (4.2).
struct CodeKey: Sendable, Equatable {
  /// The side that makes a proof.
  ///
  /// The proof includes it, so that neither side can return the other side's proof as its own.
  enum Prover: String, Sendable {
    case joiner
    case host
  }

  let session: SessionID
  let listener: PeerID

  private let key: SymmetricKey

  /// Stretches a code.
  ///
  /// This is slow on purpose: it takes about 0.1 s of one core (0.5 s without optimization) and 32 MiB. Do not call it
  /// on an event loop, and call it once for each code rather than for each attempt (ADM-5).
  init(code: JoinCode, session: SessionID, listener: PeerID) {
    do {
      key = try KDF.Scrypt.deriveKey(
        from: Array(code.text.utf8),
        salt: session.bytes + listener.bytes,
        outputByteCount: 32,
        rounds: 32_768,
        blockSize: 8,
        parallelism: 1
      )
    } catch {
      // scrypt fails only for invalid parameters, or if memory is exhausted.
      preconditionFailure("scrypt with N = 32768, r = 8, p = 1 needs 32 MiB")
    }
    self.session = session
    self.listener = listener
  }

  /// Creates the key of a browser link, which is used without scrypt (WEB-29).
  init(_ key: GuestKey, session: SessionID, listener: PeerID) {
    self.key = SymmetricKey(data: key.bytes.bytes)
    self.session = session
    self.listener = listener
  }

  /// Makes a proof that is valid only for one connection.
  ///
  /// `binding` is the connection's exported value for ``LinkExporter/Label/binding``.
  func proof(of prover: Prover, binding: [UInt8], dialler: PeerID) -> ProofBytes {
    let input = message(of: prover, binding: binding, dialler: dialler)
    guard let proof = ProofBytes(HMAC<SHA256>.authenticationCode(for: input, using: key)) else {
      preconditionFailure("the result of HMAC-SHA256 has 32 bytes")
    }
    return proof
  }

  /// Checks a proof, in constant time.
  func isValid(_ proof: ProofBytes, of prover: Prover, binding: [UInt8], dialler: PeerID) -> Bool {
    isEqualInConstantTime(proof.bytes, self.proof(of: prover, binding: binding, dialler: dialler).bytes)
  }

  func message(of prover: Prover, binding: [UInt8], dialler: PeerID) -> [UInt8] {
    Array("whiteboard-p2p code 1 \(prover.rawValue)\0".utf8) + binding + session.bytes + dialler.bytes + listener.bytes
  }

  /// The bytes of the stretched code, for the test vectors.
  var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }
}
