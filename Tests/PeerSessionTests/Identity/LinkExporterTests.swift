import Crypto
import Testing

@testable import PeerSession

struct LinkExporterTests {
  @Test("key log lines give the exporter values of the vectors and of OpenSSL") func vectors() throws {
    for vector in AdmissionVectors.all.exporter {
      for ending in ["", "\n", "\r\n"] {
        let exporter = try #require(
          LinkExporter(keyLogLine: Array((vector.keyLogLine + ending).utf8)),
          "\(vector.name)"
        )
        #expect(exporter.export(label: vector.label, length: vector.length) == vector.output.bytes, "\(vector.name)")
      }
      let direct = try #require(LinkExporter(secret: vector.secret.bytes))
      #expect(direct.export(label: vector.label, length: vector.length) == vector.output.bytes)
    }
  }

  @Test("every other key log line is rejected") func otherLines() {
    let random = String(repeating: "ab", count: 32)
    for line in [
      "", " ", "EXPORTER_SECRET", "EXPORTER_SECRET \(random)", "EXPORTER_SECRET \(random) ",
      "EXPORTER_SECRET \(random) \(random)00", "EXPORTER_SECRET \(random) \(random.dropLast())",
      "EXPORTER_SECRET \(random.dropLast(2)) \(random)", "EXPORTER_SECRET  \(random)",
      "EXPORTER_SECRET \(random) \(random) \(random)", "exporter_secret \(random) \(random)",
      "CLIENT_TRAFFIC_SECRET_0 \(random) \(random)", "EXPORTER_SECRET \(random) \(random.dropLast())g",
      "EXPORTER_SECRET \(random) " + String(repeating: "00", count: 100_000),
    ] { #expect(LinkExporter(keyLogLine: Array(line.utf8)) == nil, "\(line.prefix(100))") }
  }

  @Test("HKDF-Expand-Label writes the structure of RFC 8446, 7.1") func label() {
    #expect(
      HKDFLabel(label: "key", context: [7], length: 16).encoded == [0, 16, 9] + Array("tls13 key".utf8) + [1, 7]
    )
  }

  // RFC 8448, 3: the server handshake traffic secret and its key.
  @Test("HKDF-Expand-Label gives the keys of RFC 8448") func published() {
    let secret: [UInt8] = [
      0xb6, 0x7b, 0x7d, 0x69, 0x0c, 0xc1, 0x6c, 0x4e, 0x75, 0xe5, 0x42, 0x13, 0xcb, 0x2d, 0x37, 0xb4, 0xe9, 0xc9, 0x12,
      0xbc, 0xde, 0xd9, 0x10, 0x5d, 0x42, 0xbe, 0xfd, 0x59, 0xd3, 0x91, 0xad, 0x38,
    ]
    #expect(
      HKDFLabel(label: "key", context: [], length: 16).expand(SymmetricKey(data: secret), SHA256.self) == [
        0x3f, 0xce, 0x51, 0x60, 0x09, 0xc2, 0x17, 0x27, 0xd0, 0xf2, 0xe4, 0xe8, 0x6e, 0xe4, 0x03, 0xbc,
      ]
    )
  }
}
