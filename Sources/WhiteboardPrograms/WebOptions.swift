import ArgumentParser
import CommandLines

/// The options about browsers, which the peer and the relay share.
package struct WebOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: .of(.web)) package var web: Bool?

  @Option(name: .customLong("web-port"), help: .of(.webPort, "PORT")) package var webPort: String?

  @Option(name: .customLong("web-certificate"), help: .of(.webCertificate, "FILE"), completion: .file()) package
    var webCertificate: String?

  @Option(name: .customLong("web-key"), help: .of(.webKey, "FILE"), completion: .file()) package var webKey: String?

  package init() {}

  /// Adds the values of these options, by the names of settings.
  package func add(to flags: inout [String: String]) {
    flags[.web] = web.map { "\($0)" }
    flags[.webPort] = webPort
    flags[.webCertificate] = webCertificate
    flags[.webKey] = webKey
  }
}
