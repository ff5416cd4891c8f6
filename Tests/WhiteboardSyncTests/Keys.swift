import Crypto
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// A key of a simulated world: signs by hashing, thousands of times as fast as P-256.
///
/// Whoever knows the public key can sign; simulated members do so only where a test says so.
struct SimulatedKey: AuthorKey {
  let publicKey: [UInt8]

  init(_ number: UInt64) { publicKey = [4] + Self.stretch(number &+ 0x9E37) }

  func signature(of bytes: [UInt8]) -> [UInt8] { Self.signature(of: bytes, by: publicKey) }

  static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return stretch(hash)
  }

  private static func stretch(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in UInt64(0)..<8 {
      let word = BucketHash.mix(number ^ BucketHash.mix(index))
      for shift in UInt64(0)..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    }
    return bytes
  }
}

/// Checks what a `SimulatedKey` signed.
struct SimulatedVerifier: SignatureVerifier {
  func isKey(_ bytes: [UInt8]) -> Bool { bytes.count == 65 && bytes[0] == 4 }

  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    signature == SimulatedKey.signature(of: bytes, by: key)
  }
}

/// A real key, the same for the same number.
struct RealKey: AuthorKey {
  private let key: P256.Signing.PrivateKey

  init(_ number: UInt8) {
    let bytes = [UInt8](repeating: number &+ 1, count: 32)
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
      preconditionFailure("a small number is a private key")
    }
    self.key = key
  }

  var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  func signature(of bytes: [UInt8]) -> [UInt8] {
    guard let signature = try? key.signature(for: bytes) else {
      preconditionFailure("a P-256 key signs any bytes")
    }
    return Array(signature.rawRepresentation)
  }
}

/// A member whose every message a test makes: it speaks for itself on one link, and lies where told to.
struct Puppet {
  let author: Author
  var chain: BatchChain
  private var writer = LinkBatchWriter()

  init(_ number: UInt64, board: BoardID = World.board, role: Role = .editor) {
    author = Author(board: board, key: SimulatedKey(number), role: role)
    chain = BatchChain(author.makeIncarnation())
  }

  var member: MemberID { author.member }
  var incarnation: Incarnation { chain.incarnation }
  var record: AuthorRecord { author.record(of: incarnation) }

  /// The author message of where the chain stands.
  mutating func hello() -> [UInt8] {
    writer.beginAuthor()
    return SyncMessage.author(AuthorMessage(record: record.bytes, head: author.sign(chain)))
      .encode()
  }

  /// Goes on under a new incarnation.
  mutating func beginIncarnation() -> [UInt8] {
    chain = BatchChain(author.makeIncarnation())
    return hello()
  }

  /// The message of the next batch.
  mutating func send(
    _ operations: [Operation],
    time: UInt64 = 1_700_000_000_000
  ) throws -> [UInt8] {
    let batch = try Batch(
      author: incarnation,
      firstSequence: chain.sequence + 1,
      time: HybridTime(time << 16),
      operations: operations
    )
    let encoded = EncodedBatch(batch)
    chain.append(encoded.bytes, through: batch.sequences.upperBound)
    return SyncMessage.batch(writer.encode(encoded)).encode()
  }

  /// The message of a batch that creates a text.
  mutating func sendText() throws -> [UInt8] {
    let id = ObjectID(Dot(incarnation, chain.sequence + 1))
    return try send([
      Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(64, -64)),
    ])
  }

  /// The head of the chain.
  func head() -> [UInt8] { SyncMessage.head(author.sign(chain)).encode() }

  /// An answer with its own record.
  func answer(_ difference: Difference) -> [UInt8] {
    Answer.encode([record], difference, by: author, as: incarnation)
  }
}
