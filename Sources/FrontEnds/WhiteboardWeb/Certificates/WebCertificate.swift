import Crypto
import FoundationEssentials
import NIOSSL
import PeerSession
import SwiftASN1
import WhiteboardKit
import X509

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The certificate of a gateway for browsers, with its private key (WEB-9).
struct WebCertificate {
  /// The certificates to send, the gateway's own first.
  let chain: [NIOSSLCertificate]
  let key: NIOSSLPrivateKey
  let hosts: Set<String>
  /// The SHA-256 hash of the gateway's own certificate: pairs of upper-case hexadecimal digits, separated by colons, as
  /// browsers show it.
  let fingerprint: String
  /// The certificate authority that browsers can install, in DER; `nil` for the user's own certificate.
  let authority: [UInt8]?
  private let validity: Validity

  /// The hosts at which other devices can open the page, names first. This device's own names are included only if
  /// there are no other hosts.
  var shownHosts: [String] {
    let own: Set = ["localhost", "127.0.0.1", "::1"]
    let others = hosts.subtracting(own)
    return (others.isEmpty ? hosts : others).sorted {
      (IPAddressBytes($0) == nil ? 0 : 1, $0) < (IPAddressBytes($1) == nil ? 0 : 1, $1)
    }
  }

  /// Returns the SHA-256 hash of a certificate, as browsers show it.
  static func fingerprint(of der: [UInt8]) -> String {
    SHA256.hash(data: der).map { byte in
      let text = String(byte, radix: 16, uppercase: true)
      return text.utf8.count == 1 ? "0\(text)" : text
    }.joined(separator: ":")
  }

  /// Loads the user's own certificate. Throws if a file cannot be read, or the certificate cannot be used.
  init(certificates: String, key keyFile: String) throws(WebGatewayError) {
    let (chainPEM, keyPEM) = (try Self.content(of: certificates), try Self.content(of: keyFile))
    do { chain = try NIOSSLCertificate.fromPEMBytes(chainPEM) } catch {
      throw WebGatewayError("\(certificates) is not a PEM file with a certificate")
    }
    do { key = try NIOSSLPrivateKey(bytes: keyPEM, format: .pem) } catch {
      throw WebGatewayError("\(keyFile) is not a PEM file that contains a private key without a password")
    }
    guard let der = try? chain.first?.toDERBytes(), let own = try? Certificate(derEncoded: der) else {
      throw WebGatewayError("\(certificates) contains no certificate")
    }
    guard own.notValidAfter > Date.now else {
      throw WebGatewayError("the certificate in \(certificates) has expired; renew it")
    }
    // A link needs a complete name, so leave out wildcards.
    hosts = own.hosts.filter { !$0.hasPrefix("*") }
    guard !hosts.isEmpty else {
      throw WebGatewayError(
        "the certificate in \(certificates) contains no complete host name or address; a wildcard name is not enough"
      )
    }
    if let publicKey = Self.publicKey(ofPEM: keyPEM), publicKey != own.publicKey {
      throw WebGatewayError("the key in \(keyFile) does not belong to the certificate in \(certificates)")
    }
    fingerprint = Self.fingerprint(of: der)
    authority = nil
    validity = Validity(own)
  }

  /// Returns the public key of the private key in a PEM file; nil if the key cannot be parsed.
  private static func publicKey(ofPEM bytes: [UInt8]) -> Certificate.PublicKey? {
    let documents = try? PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
    guard let document = documents?.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }) else { return nil }
    return try? Certificate.PrivateKey(pemDocument: document).publicKey
  }

  private static func content(of file: String) throws(WebGatewayError) -> [UInt8] {
    do throws(CommandError) { return try FileReading.whole(file, limit: 1 << 20) } catch {
      throw WebGatewayError(error.message)
    }
  }

  /// Loads the certificate that the gateway created. Creates or renews it if necessary. Throws if a file cannot be read
  /// or written.
  init(inDirectory directory: String, for hosts: Set<String>, now: Date = .now) throws(WebGatewayError) {
    let authority = try CertifiedKey.load(
      "\(directory)/web-authority.pem",
      advice: "Restore it from a copy. If you remove it, devices on which the authority is installed warn again"
    ) {
      !Validity($0.certificate).isDue(now, before: CertifiedKey.lifetime)
    } orMake: {
      try CertifiedKey(authorityFrom: now)
    }
    let own = try CertifiedKey.load("\(directory)/web.pem") { own in
      Self.names(own.certificate.hosts, enoughOf: hosts) && !Validity(own.certificate).isDue(now)
        && own.certificate.issuer == authority.certificate.subject
        && authority.certificate.publicKey.isValidSignature(own.certificate.signature, for: own.certificate)
    } orMake: {
      try CertifiedKey(for: hosts, by: authority, from: now)
    }
    do {
      chain = try [own, authority].map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
      key = try NIOSSLPrivateKey(bytes: Array(own.key.derRepresentation), format: .der)
    } catch { throw WebGatewayError("cannot use the certificate in \(directory)/web.pem: \(error)") }
    self.hosts = own.certificate.hosts
    fingerprint = Self.fingerprint(of: own.der)
    self.authority = authority.der
    validity = Validity(own.certificate)
  }

  func fits(_ hosts: Set<String>, now: Date) -> Bool { !isDue(now) && Self.names(self.hosts, enoughOf: hosts) }

  func isDue(_ now: Date) -> Bool { validity.isDue(now) }

  private struct Validity {
    private let start, end: Date

    init(_ certificate: Certificate) { (start, end) = (certificate.notValidBefore, certificate.notValidAfter) }

    /// Returns whether the certificate expires within a time, in seconds, or is not valid yet because the clock was
    /// wrong when the certificate was created.
    func isDue(_ now: Date, before time: TimeInterval = 30 * 86_400) -> Bool {
      now < start || end <= now.addingTimeInterval(time)
    }
  }

  /// The certificate must contain all names and IPv4 addresses. IPv6 addresses often change every day, and browsers
  /// warn again about each new certificate. So if the machine has no IPv4 address, one IPv6 address is enough. If the
  /// machine has an IPv4 address, no IPv6 address is required.
  private static func names(_ names: Set<String>, enoughOf hosts: Set<String>) -> Bool {
    let own: Set = ["127.0.0.1", "::1"]
    let v6 = hosts.subtracting(own).filter { IPAddressBytes($0)?.bytes.count == 16 }
    let hasV4 = hosts.subtracting(own).contains { IPAddressBytes($0)?.bytes.count == 4 }
    return names.isSuperset(of: hosts.subtracting(v6)) && (hasV4 || v6.isEmpty || !v6.isDisjoint(with: names))
  }
}

private struct CertifiedKey {
  /// The number of seconds for which a gateway's certificate is valid; at most 397 days (WEB-9).
  static let lifetime = 396.0 * 86_400

  let key: P256.Signing.PrivateKey
  let certificate: Certificate
  let der: [UInt8]

  private init(_ key: P256.Signing.PrivateKey, _ certificate: Certificate) throws {
    self.key = key
    self.certificate = certificate
    var serializer = DER.Serializer()
    try serializer.serialize(certificate)
    der = serializer.serializedBytes
  }

  init(authorityFrom now: Date) throws {
    let key = P256.Signing.PrivateKey()
    // The number distinguishes the authorities of several machines.
    let number = SHA256.hash(data: key.publicKey.derRepresentation).prefix(3).map { String($0, radix: 16) }.joined()
    let name = try DistinguishedName { CommonName("Whiteboard \(number)") }
    try self.init(
      key,
      Certificate(
        version: .v3,
        serialNumber: Certificate.SerialNumber(),
        publicKey: .init(key.publicKey),
        notValidBefore: now.addingTimeInterval(-86_400),
        notValidAfter: now.addingTimeInterval(3_652 * 86_400),
        issuer: name,
        subject: name,
        signatureAlgorithm: .ecdsaWithSHA256,
        extensions: Certificate.Extensions {
          Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
          Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        },
        issuerPrivateKey: .init(key)
      )
    )
  }

  init(for hosts: Set<String>, by authority: CertifiedKey, from now: Date) throws {
    let key = P256.Signing.PrivateKey()
    let names = hosts.sorted().map { host in
      IPAddressBytes(host).map { GeneralName.ipAddress(.init(contentBytes: $0.bytes[...])) } ?? .dnsName(host)
    }
    try self.init(
      key,
      Certificate(
        version: .v3,
        serialNumber: Certificate.SerialNumber(),
        publicKey: .init(key.publicKey),
        notValidBefore: now.addingTimeInterval(-3_600),
        notValidAfter: now.addingTimeInterval(Self.lifetime - 3_600),
        issuer: authority.certificate.subject,
        subject: DistinguishedName { CommonName("Whiteboard") },
        signatureAlgorithm: .ecdsaWithSHA256,
        extensions: Certificate.Extensions {
          Critical(BasicConstraints.notCertificateAuthority)
          Critical(KeyUsage(digitalSignature: true))
          try ExtendedKeyUsage([.serverAuth])
          SubjectAlternativeNames(names)
        },
        issuerPrivateKey: .init(authority.key)
      )
    )
  }

  /// Loads a key and its certificate from a file. Creates and stores a new key and certificate if the file is missing
  /// or `fits` returns false. If the file is damaged and `advice` is not nil, throws an error with the advice. If
  /// `advice` is nil, replaces the file.
  static func load(
    _ path: String,
    advice: String? = nil,
    if fits: (CertifiedKey) -> Bool,
    orMake make: () throws -> CertifiedKey
  ) throws(WebGatewayError) -> CertifiedKey {
    let file = PrivateFile(path: path)
    do {
      try file.prepareDirectory()
      if let bytes = try file.read(limit: 65_536) {
        let stored = CertifiedKey(pem: bytes)
        if let stored, fits(stored) { return stored }
        if stored == nil, let advice {
          throw WebGatewayError("the certificate authority in \(path) is damaged. \(advice)")
        }
      }
      let new = try make()
      let pem = new.key.pemRepresentation + "\n" + PEMDocument(type: "CERTIFICATE", derBytes: new.der).pemString + "\n"
      try file.replace(Array(pem.utf8))
      return new
    } catch let failure as PrivateFile.Failure { throw WebGatewayError(failure.description) } catch let error
      as WebGatewayError
    { throw error } catch { throw WebGatewayError("cannot make a certificate for browsers: \(error)") }
  }

  private init?(pem bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self),
      let documents = try? PEMDocument.parseMultiple(pemString: text),
      let secret = documents.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }),
      let document = documents.first(where: { $0.discriminator == "CERTIFICATE" }),
      let key = try? P256.Signing.PrivateKey(pemRepresentation: secret.pemString),
      let certificate = try? Certificate(derEncoded: document.derBytes),
      P256.Signing.PublicKey(certificate.publicKey)?.rawRepresentation == key.publicKey.rawRepresentation
    else { return nil }
    try? self.init(key, certificate)
  }
}

extension Certificate {
  fileprivate var hosts: Set<String> {
    guard let names = try? extensions.subjectAlternativeNames else { return [] }
    return Set(
      names.compactMap { name in
        switch name {
        case .dnsName(let host): host.lowercased()
        case .ipAddress(let address): IPAddressBytes(Array(address.bytes))?.text
        default: nil
        }
      }
    )
  }
}

/// An IP address: 4 or 16 bytes in network byte order.
struct IPAddressBytes: Equatable {
  let bytes: [UInt8]

  init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Parses an address that has neither brackets nor a scope. Returns nil if the text is malformed.
  init?(_ text: String) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      bytes = withUnsafeBytes(of: &v4) { Array($0) }
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      bytes = withUnsafeBytes(of: &v6) { Array($0) }
    } else {
      return nil
    }
  }

  /// The IPv4 address that an IPv4-mapped address stands for; otherwise, this address.
  var unmapped: IPAddressBytes {
    let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    guard bytes.count == 16, bytes.starts(with: prefix) else { return self }
    return IPAddressBytes(Array(bytes.suffix(4))) ?? self
  }

  /// The address as text, in its shortest form (RFC 5952).
  var text: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
