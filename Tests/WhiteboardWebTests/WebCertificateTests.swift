import Foundation
import NIOSSL
import Testing
import X509

@testable import WhiteboardWeb

@Suite("Certificates for browsers") struct WebCertificateTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "whiteboard-web-\(UInt64.random(in: 0...UInt64.max))"
  ).path

  private func leaf(_ certificate: WebCertificate) throws -> Certificate {
    try Certificate(derEncoded: try #require(certificate.chain.first).toDERBytes())
  }

  private func removed(_ body: () throws -> Void) rethrows {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body()
  }

  @Test("[WEB-9] a certificate names the addresses, is signed by the authority, and is valid for at most 397 days")
  func contents() throws {
    try removed {
      let hosts: Set = ["192.168.1.5", "fd00::2", "laptop.local"]
      let made = try WebCertificate(inDirectory: directory, for: hosts)
      let own = try leaf(made)
      #expect(made.hosts == hosts)
      #expect(own.notValidAfter.timeIntervalSince(own.notValidBefore) <= 397 * 86_400)
      let authority = try Certificate(derEncoded: try #require(made.authority))
      #expect(authority.publicKey.isValidSignature(own.signature, for: own))
      #expect(authority.notValidAfter > own.notValidAfter)
      #expect(made.fingerprint.split(separator: ":").count == 32)
      let mode = try FileManager.default.attributesOfItem(atPath: directory + "/web.pem")
      #expect(mode[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("[WEB-9] a certificate is stored, and renewed before it expires or when an address is new") func renewal()
    throws
  {
    try removed {
      let first = try WebCertificate(inDirectory: directory, for: ["192.168.1.5"])
      let again = try WebCertificate(inDirectory: directory, for: ["192.168.1.5"])
      #expect(again.fingerprint == first.fingerprint)
      let elsewhere = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"])
      #expect(elsewhere.fingerprint != first.fingerprint && elsewhere.hosts.contains("10.0.0.9"))
      #expect(elsewhere.authority == first.authority)
      let later = Date.now.addingTimeInterval(370 * 86_400)
      let renewed = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"], now: later)
      #expect(renewed.fingerprint != elsewhere.fingerprint)
      #expect(try leaf(renewed).notValidAfter > later.addingTimeInterval(300 * 86_400))
    }
  }

  @Test("[WEB-9] certificates that were created while the clock was ahead are replaced") func clock() throws {
    try removed {
      let ahead = Date.now.addingTimeInterval(500 * 86_400)
      let first = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"], now: ahead)
      #expect(first.fits(["10.0.0.9"], now: ahead) && !first.fits(["10.0.0.9"], now: .now))
      let second = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"])
      let authority = try Certificate(derEncoded: try #require(second.authority))
      #expect(authority.notValidBefore <= .now)
      #expect(try leaf(second).notValidBefore <= .now)
    }
  }

  @Test("a damaged file of the gateway's own certificate is replaced") func damaged() throws {
    try removed {
      let first = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"])
      try "nothing".write(toFile: directory + "/web.pem", atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory + "/web.pem")
      let second = try WebCertificate(inDirectory: directory, for: ["10.0.0.9"])
      #expect(second.fingerprint != first.fingerprint && second.authority == first.authority)
    }
  }

  @Test("the user's own certificate is used as it is, and problems are named") func own() throws {
    try removed {
      _ = try WebCertificate(inDirectory: directory, for: ["board.lan"])
      let file = directory + "/web.pem"
      let own = try WebCertificate(certificates: file, key: file)
      #expect(own.hosts == ["board.lan"] && own.authority == nil)
      let other = directory + "/other"
      _ = try WebCertificate(inDirectory: other, for: ["board.lan"])
      for (certificates, key, problem) in [
        (directory + "/missing.pem", file, "missing.pem\" cannot be read: No such file"),
        (directory, file, "is not a regular file"),
        (file, directory + "/missing.pem", "missing.pem\" cannot be read: No such file"),
        (file, other + "/web.pem", "does not belong to the certificate in"),
      ] {
        let error = #expect(throws: WebGatewayError.self) { try WebCertificate(certificates: certificates, key: key) }
        #expect(error?.description.contains(problem) == true, "\(error as Any)")
      }
    }
  }

  @Test("the hosts of links are names first, and never this device's own names if there are others") func shownHosts()
    throws
  {
    try removed {
      let hosts: Set = ["10.0.0.9", "board.lan", "localhost", "127.0.0.1", "::1", "fd00::1"]
      let certificate = try WebCertificate(inDirectory: directory, for: hosts)
      #expect(certificate.shownHosts == ["board.lan", "10.0.0.9", "fd00::1"])
      let own = try WebCertificate(inDirectory: directory + "/own", for: ["127.0.0.1"])
      #expect(own.shownHosts == ["127.0.0.1"])
    }
  }
}
