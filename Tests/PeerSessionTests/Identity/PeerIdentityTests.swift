import Crypto
import Foundation
import PeerCore
import PeerTestKit
import SwiftASN1
import Testing
import X509

@testable import PeerSession

struct PeerIdentityTests {
  @Test("[HEL-9] a pass is the same after a restart, and differs by host and session") func invitationPass()
    async throws
  {
    try await withPrivateDirectory { root in
      let session = SessionID.random()
      let identity = try PeerIdentity.loadOrCreate(inDirectory: root + "/data")
      let again = try PeerIdentity.loadOrCreate(inDirectory: root + "/data")
      let pass = identity.invitationPass(for: session)
      #expect(again.invitationPass(for: session) == pass)
      #expect(identity.invitationPass(for: SessionID.random()) != pass)
      #expect(PeerIdentity.ephemeral().invitationPass(for: session) != pass)
    }
  }

  @Test("the first run creates a private file in a private directory; the next runs read it") func created()
    async throws
  {
    try await withPrivateDirectory { root in
      let directory = root + "/data/whiteboard"
      let first = try PeerIdentity.loadOrCreate(inDirectory: directory)
      #expect(try permissions(directory) == 0o700)
      #expect(try permissions(root + "/data") == 0o700)
      #expect(try permissions(directory + "/identity.pem") == 0o600)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["identity.pem"])
      let again = try PeerIdentity.loadOrCreate(inDirectory: directory + "/")
      #expect(again.peerID == first.peerID)
      #expect(again.certificateDER == first.certificateDER)
      #expect(again.privateKeyDER == first.privateKeyDER)
    }
  }

  @Test("a new identity replaces the old one, which is kept in a private file") func renewed() async throws {
    try await withPrivateDirectory { root in
      let directory = root + "/data"
      let first = try PeerIdentity.loadOrCreate(inDirectory: directory)
      let (old, new, oldFile) = try PeerIdentity.renew(inDirectory: directory)
      #expect(old == first.peerID && new.peerID != old)
      #expect(try PeerIdentity.loadOrCreate(inDirectory: directory).peerID == new.peerID)
      #expect(oldFile == directory + "/identity-\(old.short).pem")
      for file in [oldFile, directory + "/identity.pem"] { #expect(try permissions(file) == 0o600) }
      // The old identity can be restored.
      let files = FileManager.default
      try files.removeItem(atPath: directory + "/identity.pem")
      try files.moveItem(atPath: oldFile, toPath: directory + "/identity.pem")
      #expect(try PeerIdentity.loadOrCreate(inDirectory: directory).peerID == old)
    }
  }

  @Test("many concurrent first runs get the same identity") func concurrent() async throws {
    try await withPrivateDirectory { root in
      let directory = root + "/data"
      let ids = try await withThrowingTaskGroup(of: PeerID.self) { group in
        for _ in 0..<16 { group.addTask { try PeerIdentity.loadOrCreate(inDirectory: directory).peerID } }
        return try await group.reduce(into: Set<PeerID>()) { $0.insert($1) }
      }
      #expect(ids.count == 1)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["identity.pem"])
    }
  }

  @Test("[LNK-2] the certificate contains the key whose hash is the PeerID, and no name") func certificate() throws {
    let identity = PeerIdentity.ephemeral()
    let certificate = try Certificate(derEncoded: identity.certificateDER)
    #expect(certificate.version == .v3)
    #expect(certificate.subject == certificate.issuer)
    #expect(certificate.subject.description == "CN=whiteboard-peer")
    #expect(certificate.notValidAfter > Date.now.addingTimeInterval(3_640 * 86_400))
    #expect(certificate.publicKey.isValidSignature(certificate.signature, for: certificate))
    #expect(try PeerID(certificateDER: identity.certificateDER) == identity.peerID)
    #expect(Array(SHA256.hash(data: identity.publicKeyDER)) == identity.peerID.bytes)
    #expect(PeerIdentity.ephemeral().peerID != identity.peerID)
  }

  @Test("signatures verify under the public key") func signature() throws {
    let identity = PeerIdentity.ephemeral()
    let key = try P256.Signing.PublicKey(derRepresentation: identity.publicKeyDER)
    let signature = try P256.Signing.ECDSASignature(derRepresentation: identity.sign([1, 2, 3]))
    #expect(key.isValidSignature(signature, for: [1, 2, 3] as [UInt8]))
    #expect(!key.isValidSignature(signature, for: [1, 2, 4] as [UInt8]))
  }

  @Test("a file that others may read is refused, with the command that corrects it") func tooOpen() async throws {
    try await withPrivateDirectory { directory in
      let file = directory + "/identity.pem"
      let first = try PeerIdentity.loadOrCreate(inDirectory: directory)
      for mode in [0o640, 0o604, 0o620] {
        try setPermissions(mode, file)
        let error = #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: directory) }
        #expect(error?.description.contains("chmod 600 \(file)") == true)
      }
      try setPermissions(0o600, file)
      #expect(try PeerIdentity.loadOrCreate(inDirectory: directory).peerID == first.peerID)
    }
  }

  @Test("a directory in which others may write is refused") func openDirectory() async throws {
    try await withPrivateDirectory { directory in
      try setPermissions(0o777, directory)
      let error = #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: directory) }
      #expect(error?.description.contains("chmod 700") == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test("damaged files and unsupported keys are refused with an error and not changed") func damaged() async throws {
    let good = PeerIdentity.ephemeral()
    let other = PeerIdentity.ephemeral()
    let p384 = P384.Signing.PrivateKey()
    let ed25519 = try Certificate.PrivateKey(Curve25519.Signing.PrivateKey()).serializeAsPEM().pemString
    let cases: [(String, isWrongKind: Bool)] = [
      ("", false), ("nonsense", false), ("\u{0}\u{1}", false), (good.privateKeyPEM, false),
      (good.certificatePEM, false), (good.privateKeyPEM + "\n" + other.certificatePEM, false),
      (good.privateKeyPEM + "\n" + good.privateKeyPEM + "\n" + good.certificatePEM, false),
      (String((good.privateKeyPEM + "\n" + good.certificatePEM).dropLast(60)), false),
      (good.privateKeyPEM.replacing("A", with: "B") + "\n" + good.certificatePEM, false),
      (p384.pemRepresentation + "\n" + good.certificatePEM, true), (ed25519 + "\n" + good.certificatePEM, true),
      (String(repeating: "x", count: 100_000), false),
    ]
    for (text, isWrongKind) in cases {
      try await withPrivateDirectory { directory in
        let file = directory + "/identity.pem"
        try Data(text.utf8).write(to: URL(filePath: file))
        try setPermissions(0o600, file)
        let error = #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: directory) }
        switch error {
        case .wrongKind(let named): #expect(isWrongKind && named == file)
        case .damaged(let named, _): #expect(!isWrongKind && named == file, "\(text.prefix(40))")
        default: Issue.record("\(String(describing: error))")
        }
        #expect(error?.description.contains("mv \(file) \(file).old") == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
      }
    }
  }

  @Test("anything but a regular file is refused at once") func notAFile() async throws {
    try await withPrivateDirectory { directory in
      #expect(mkfifo(directory + "/identity.pem", 0o600) == 0)
      #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: directory) }
    }
    try await withPrivateDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory + "/identity.pem", withIntermediateDirectories: false)
      #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: directory) }
    }
    try await withPrivateDirectory { directory in
      let file = directory + "/plain"
      try Data().write(to: URL(filePath: file))
      #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: file) }
    }
  }

  @Test("no advice changes a directory or file that may belong to the system") func systemPaths() async throws {
    try await withPrivateDirectory { directory in
      try Data().write(to: URL(filePath: directory + "/file"))
      try FileManager.default.createDirectory(atPath: directory + "/shared", withIntermediateDirectories: false)
      try setPermissions(0o1777, directory + "/shared")
      for path in [
        "/etc/passwd", "/dev/null", "/dev/null/x", directory + "/file", directory + "/file/x", directory + "/shared",
      ] {
        let error = #expect(throws: IdentityError.self) { try PeerIdentity.loadOrCreate(inDirectory: path) }
        let advice = error?.description ?? ""
        #expect(advice.contains("hoose another directory with --data-dir"), "\(advice)")
        for command in ["mv ", "chmod ", "chown "] { #expect(!advice.contains(command), "\(advice)") }
      }
    }
  }

  @Test("a path in a suggested command is quoted as one shell word") func quoting() {
    #expect(shellQuoted("/home/a-b_c.d/x") == "/home/a-b_c.d/x")
    #expect(shellQuoted("/home/my board") == "'/home/my board'")
    #expect(shellQuoted("it's") == "'it'\\''s'")
    #expect(shellQuoted("") == "''")
    #expect(shellQuoted("-rf") == "'-rf'")
    #expect(shellQuoted("$(touch x).whiteboard") == "'$(touch x).whiteboard'")
    #expect(shellQuoted("a\u{1B}[2J'\\") == "$'a\\x1b[2J\\'\\\\'")
  }
}

struct PeerCertificateTests {
  @Test("[LNK-1] keys that are not on P-256 are rejected") func otherKeys() throws {
    for key in [
      Certificate.PrivateKey(P384.Signing.PrivateKey()), Certificate.PrivateKey(Curve25519.Signing.PrivateKey()),
    ] {
      let der = try certificate(for: key)
      #expect(throws: PeerCertificateError.notP256) { try PeerID(certificateDER: der) }
    }
    let der = try certificate(for: Certificate.PrivateKey(P256.Signing.PrivateKey()))
    #expect(throws: Never.self) { try PeerID(certificateDER: der) }
  }

  @Test("hostile bytes are rejected without a trap") func hostile() {
    let good = PeerIdentity.ephemeral().certificateDER
    for end in good.indices {
      #expect(throws: PeerCertificateError.self) { try PeerID(certificateDER: Array(good[..<end])) }
    }
    #expect(throws: PeerCertificateError.self) { try PeerID(certificateDER: good + [0]) }
    #expect(throws: PeerCertificateError.tooLarge(16_385)) {
      try PeerID(certificateDER: [UInt8](repeating: 0x30, count: 16_385))
    }
    let seed: UInt64 = 11
    var generator = SeededGenerator(seed: seed)
    var refused = 0
    for _ in 0..<3_000 {
      var bytes = good
      bytes.mutate(using: &generator)
      // A change in the name or the dates gives a valid certificate; most other changes do not.
      if (try? PeerID(certificateDER: bytes)) == nil { refused += 1 }
    }
    #expect(refused > 1_000, "seed \(seed)")
    for depth in [1_000, 8_000] {
      let nested = [UInt8](repeating: 0x30, count: depth)
      #expect(throws: PeerCertificateError.self) { try PeerID(certificateDER: nested) }
      let indefinite = Array([[UInt8]](repeating: [0x30, 0x80], count: depth / 2).joined())
      #expect(throws: PeerCertificateError.self) { try PeerID(certificateDER: indefinite) }
    }
  }

  private func certificate(for key: Certificate.PrivateKey) throws -> [UInt8] {
    let name = try DistinguishedName { CommonName("x") }
    let certificate = try Certificate(
      version: .v3,
      serialNumber: .init(),
      publicKey: key.publicKey,
      notValidBefore: .now,
      notValidAfter: .now.addingTimeInterval(60),
      issuer: name,
      subject: name,
      extensions: .init(),
      issuerPrivateKey: key
    )
    var serializer = DER.Serializer()
    try serializer.serialize(certificate)
    return serializer.serializedBytes
  }
}
