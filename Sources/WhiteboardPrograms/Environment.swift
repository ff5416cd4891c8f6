import FoundationEssentials
import PeerSession

package enum Environment {
  /// The login name of the user; "Guest" if it is unknown.
  package static var userName: String { Self["USER"] ?? PeerStore.defaultName }

  package static subscript(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}
