import Crypto
import PeerWire

/// The side that sends the packets sealed with a set of keys.
enum DatagramSender: String, Sendable {
  /// The side that dialed the control link.
  case dialler = "d"
  case listener = "l"

  var other: DatagramSender { self == .dialler ? .listener : .dialler }
}

/// The packet keys for one direction of a control link (`Protocol/session.md`, 7.1).
///
/// The keys are valid only while the link is open (DGM-5). The type has no textual description, because that could
/// reveal the keys.
struct DatagramKeys: Sendable {
  struct Epoch: Sendable {
    let number: UInt8
    let key: SymmetricKey
    private let iv: [UInt8]

    fileprivate init(number: UInt8, key: [UInt8], iv: [UInt8]) {
      precondition(key.count == 16 && iv.count == 12, "an epoch has a key of 16 bytes and an IV of 12 bytes")
      self.number = number
      self.key = SymmetricKey(data: key)
      self.iv = iv
    }

    var nonceLength: Int { iv.count }

    /// Returns the 12-byte nonce of a packet; no other packet of the epoch has the same nonce.
    func nonce(_ counter: UInt64) -> [UInt8] {
      var nonce = iv
      for index in 0..<8 { nonce[4 + index] ^= UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * index)) }
      return nonce
    }
  }

  /// The identifier of the direction in a packet's header, most significant byte first.
  let keyID: UInt64

  private let secret: SymmetricKey
  private let sender: DatagramSender

  /// Derives the keys from the link's exported secret for datagrams (1.1).
  ///
  /// - Precondition: `secret` has 32 bytes.
  init(secret: [UInt8], sender: DatagramSender) {
    precondition(secret.count == 32, "the TLS exporter returns 32 bytes")
    self.secret = SymmetricKey(data: secret)
    self.sender = sender
    let id = HKDFLabel(label: "wb \(sender.rawValue) id", context: [0], length: 8).expand(self.secret, SHA256.self)
    keyID = id.reduce(0) { $0 << 8 | UInt64($1) }
  }

  func epoch(_ number: UInt8) -> Epoch {
    func expand(_ name: String, _ length: Int) -> [UInt8] {
      HKDFLabel(label: "wb \(sender.rawValue) \(name)", context: [number], length: length).expand(secret, SHA256.self)
    }
    return Epoch(number: number, key: expand("key", 16), iv: expand("iv", 12))
  }
}
