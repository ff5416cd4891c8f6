import Crypto

/// Verification words, which both users see and compare (4.3). The dialler commits to its nonce before it knows the
/// listener's nonce. A man in the middle therefore cannot search for nonces that make the words match; the words match
/// by chance once in 2^33 attempts.
enum ShortWords {
  static let count = 3

  /// The data on which both sides must agree, besides the nonces.
  struct Context: Equatable, Sendable {
    /// The connection's exported value for ``LinkExporter/Label/binding``.
    var binding: [UInt8]
    var session: SessionID
    var dialler: PeerID
    var listener: PeerID
  }

  static func commitment(binding: [UInt8], nonce: ProofBytes) -> ProofBytes {
    let input = Array("whiteboard-p2p sas commit 1\0".utf8) + binding + nonce.bytes
    guard let commitment = ProofBytes(SHA256.hash(data: input)) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    return commitment
  }

  static func secret(_ context: Context, diallerNonce: ProofBytes, listenerNonce: ProofBytes) -> [UInt8] {
    let input =
      Array("whiteboard-p2p sas 1\0".utf8) + diallerNonce.bytes + listenerNonce.bytes + context.session.bytes
      + context.dialler.bytes + context.listener.bytes
    return Array(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: context.binding)))
  }

  private static func words(_ context: Context, diallerNonce: ProofBytes, listenerNonce: ProofBytes) -> [String] {
    WordList.words(secret(context, diallerNonce: diallerNonce, listenerNonce: listenerNonce), count: count)
  }

  struct Dialler: Equatable, Sendable {
    private let context: Context
    private let nonce: ProofBytes

    init(context: Context, nonce: ProofBytes) {
      self.context = context
      self.nonce = nonce
    }

    var commit: Control.ShortWordsCommit { .init(commit: commitment(binding: context.binding, nonce: nonce)) }

    func nonceReceived(_ message: Control.ShortWordsNonce) -> (reveal: Control.ShortWordsReveal, words: [String]) {
      (.init(nonce: nonce), ShortWords.words(context, diallerNonce: nonce, listenerNonce: message.nonce))
    }
  }

  struct Listener: Equatable, Sendable {
    private let context: Context
    private let nonce: ProofBytes
    private let commitment: ProofBytes

    init(context: Context, nonce: ProofBytes, commitReceived commit: Control.ShortWordsCommit) {
      self.context = context
      self.nonce = nonce
      commitment = commit.commit
    }

    var reply: Control.ShortWordsNonce { .init(nonce: nonce) }

    /// Returns the words to show, or `nil` if the revealed nonce does not match the commitment (ADM-6).
    func revealReceived(_ message: Control.ShortWordsReveal) -> [String]? {
      let revealed = ShortWords.commitment(binding: context.binding, nonce: message.nonce)
      guard isEqualInConstantTime(revealed.bytes, commitment.bytes) else { return nil }
      return ShortWords.words(context, diallerNonce: message.nonce, listenerNonce: nonce)
    }
  }
}
