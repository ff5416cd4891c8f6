/// How a relay connects to a cluster.
package struct ClusterSettings: Equatable, Sendable {
  /// The addresses of some or all servers: `nats://HOST:PORT`, or `tls://HOST:PORT` for TLS.
  package var servers: [String]
  /// The name of the relay, which the servers show to their operators.
  package var name: String
  /// The file with the user's credentials (JWT and key).
  package var credentials: String?
  /// The file with the certificates of the authorities that sign the servers' certificates; nil means the authorities
  /// of the operating system.
  package var authorities: String?
  /// The files with this relay's certificate and its key, both in PEM.
  package var certificate: (chain: String, key: String)?

  package init(servers: [String], name: String) {
    self.servers = servers
    self.name = name
  }

  package static func == (one: ClusterSettings, other: ClusterSettings) -> Bool {
    one.servers == other.servers && one.name == other.name && one.credentials == other.credentials
      && one.authorities == other.authorities && one.certificate?.chain == other.certificate?.chain
      && one.certificate?.key == other.certificate?.key
  }

  /// Whether this program was built with libnats.
  package static var isSupported: Bool {
    #if CLUSTER
    true
    #else
    false
    #endif
  }

  /// Checks the files of the settings, without connecting. Throws `badConfiguration` if a file cannot be used.
  package func check() throws(ClusterError) {
    #if CLUSTER
    try NATSConnection.check(self)
    #endif
  }

  /// Connects to the cluster. Throws `unreachable`, `unauthorized`, `noJetStream`, `unsupported` or `badConfiguration`.
  /// If the program was built without libnats, always throws `unsupported`.
  package func connect() async throws(ClusterError) -> any ClusterConnection {
    #if CLUSTER
    return try await NATSConnection.connect(self)
    #else
    throw ClusterError(.unsupported, "this program was built without libnats, so it cannot join a cluster")
    #endif
  }
}
