import ArgumentParser
import CommandLines

package struct WebOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: .of(.web)) package var web: Bool?

  @Option(name: .customLong("web-port"), help: .of(.webPort, "PORT")) package var webPort: String?

  @Option(name: .customLong("web-certificate"), help: .of(.webCertificate, "FILE"), completion: .file()) package
    var webCertificate: String?

  @Option(name: .customLong("web-key"), help: .of(.webKey, "FILE"), completion: .file()) package var webKey: String?

  package init() {}

  package func add(to flags: inout [String: String]) {
    flags[.web] = web.map { "\($0)" }
    flags[.webPort] = webPort
    flags[.webCertificate] = webCertificate
    flags[.webKey] = webKey
  }
}
