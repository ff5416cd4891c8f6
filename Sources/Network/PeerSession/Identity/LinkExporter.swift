import Crypto

/// Derives secrets that only the two ends of one connection know. Usually, this is the TLS 1.3 exporter (RFC 8446, 7.5;
/// `Protocol/session.md`, 1.1). A browser cannot use that exporter, so the secrets of its link derive from the nonces
/// of both ends (WEB-4). The TLS library has no exporter API, but writes the exporter secret to its key log. This type
/// reads the secret from the log. The type has no textual description, so that the secret is never printed.
struct LinkExporter: Sendable {
  enum Label: String, Sendable {
    /// Binds the admission proofs and verification words to the connection.
    case binding = "EXPORTER-whiteboard-p2p binding"
    /// Ties a bulk link to its control link.
    case attach = "EXPORTER-whiteboard-p2p attach"
    case datagram = "EXPORTER-whiteboard-p2p datagram"
  }

  /// How the exported bytes are derived. TLS uses the hash function of the negotiated cipher suite, which follows from
  /// the length of the secret.
  private enum Suite {
    case sha256
    case sha384
    case web
  }

  private let secret: SymmetricKey
  private let suite: Suite

  init?(secret: some Collection<UInt8>) {
    switch secret.count {
    case 32: suite = .sha256
    case 48: suite = .sha384
    default: return nil
    }
    self.secret = SymmetricKey(data: Array(secret))
  }

  init(web secret: ProofBytes) {
    suite = .web
    self.secret = SymmetricKey(data: secret.bytes)
  }

  /// Creates the exporter from the key log line `EXPORTER_SECRET <client random> <secret>`, with both values in
  /// hexadecimal; returns `nil` for any other line.
  init?(keyLogLine line: [UInt8]) {
    guard line.count <= 256 else { return nil }
    let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].elementsEqual("EXPORTER_SECRET".utf8),
      let random = bytes(hexadecimal: fields[1]), random.count == 32
    else { return nil }
    var last = fields[2]
    while let byte = last.last, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { last = last.dropLast() }
    guard let secret = bytes(hexadecimal: last) else { return nil }
    self.init(secret: secret)
  }

  /// The context is empty.
  func export(_ label: Label, length: Int = 32) -> [UInt8] { export(label: label.rawValue, length: length) }

  /// Returns the exported bytes for `label` and an empty context. `label` has at most 249 bytes. `length` is at most
  /// 255 times the length of the hash; for a link from a browser, it must be 32.
  func export(label: String, length: Int = 32) -> [UInt8] {
    switch suite {
    case .sha256: export(SHA256.self, label, length)
    case .sha384: export(SHA384.self, label, length)
    case .web: Array(HMAC<SHA256>.authenticationCode(for: Array(label.utf8), using: secret))
    }
  }

  private func export<Hash: HashFunction>(_ hash: Hash.Type, _ label: String, _ length: Int) -> [UInt8] {
    let nothing = Array(Hash.hash(data: [UInt8]()))
    let derived = HKDFLabel(label: label, context: nothing, length: Hash.Digest.byteCount).expand(secret, hash)
    return HKDFLabel(label: "exporter", context: nothing, length: length).expand(SymmetricKey(data: derived), hash)
  }
}

/// The parameters of HKDF-Expand-Label (RFC 8446, 7.1).
struct HKDFLabel {
  /// The label without the prefix `tls13 `; at most 249 bytes.
  let label: String
  /// The context; at most 255 bytes.
  let context: [UInt8]
  let length: Int

  var encoded: [UInt8] {
    let full = Array("tls13 ".utf8) + Array(label.utf8)
    precondition(full.count <= 255 && context.count <= 255, "an exporter label or context has at most 255 bytes")
    var bytes = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    bytes.append(UInt8(full.count))
    bytes += full
    bytes.append(UInt8(context.count))
    return bytes + context
  }

  func expand<Hash: HashFunction>(_ secret: SymmetricKey, _ hash: Hash.Type) -> [UInt8] {
    HKDF<Hash>.expand(pseudoRandomKey: secret, info: encoded, outputByteCount: length).withUnsafeBytes { Array($0) }
  }
}

private func bytes(hexadecimal text: some Collection<UInt8>) -> [UInt8]? {
  guard text.count.isMultiple(of: 2) else { return nil }
  var result: [UInt8] = []
  var high: UInt8?
  for character in text {
    let digit: UInt8
    switch character {
    case 0x30...0x39: digit = character - 0x30
    case 0x41...0x46: digit = character - 0x41 + 10
    case 0x61...0x66: digit = character - 0x61 + 10
    default: return nil
    }
    if let first = high {
      result.append(first << 4 | digit)
      high = nil
    } else {
      high = digit
    }
  }
  return result
}
