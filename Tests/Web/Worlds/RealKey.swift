import WhiteboardSync

/// Stands for the P-256 keys of native worlds, which need a library that the browser does not have.
///
/// The worlds that are compared use only simulated keys.
package struct RealKey: AuthorKey {
  static var verifier: SimulatedVerifier { preconditionFailure("worlds here have simulated keys") }

  init(_ number: UInt8) { preconditionFailure("worlds here have simulated keys") }

  package var publicKey: [UInt8] { preconditionFailure("worlds here have simulated keys") }

  package func signature(of bytes: [UInt8]) -> [UInt8] { preconditionFailure("worlds here have simulated keys") }
}
