import CVersion
import PeerSession

/// The version of the three programs.
package enum ProgramVersion {
  /// The version number, which is also the version of the packages (Tests/package).
  package static let number = "0.1.0"

  /// The version, the commit that the package was built from, and the versions of the protocol.
  package static var text: String {
    let commit = String(cString: whiteboard_commit())
    let protocols = "protocol \(Control.versions.lowest) to \(Control.versions.highest)"
    return "\(number) (\(commit.isEmpty ? "" : "commit \(commit), ")\(protocols))"
  }
}
