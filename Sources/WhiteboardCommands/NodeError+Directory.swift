import FoundationEssentials
import PeerSession
import WhiteboardNode

extension NodeError {
  /// Why what lies in the data directory cannot be used, or why it cannot be made.
  package init(_ error: any Error, inDataDirectory directory: String) {
    if let error = error as? NodeError {
      self = error
      return
    }
    let files = FileManager.default
    var isMissing = !files.fileExists(atPath: directory)
    if case IdentityError.system? = error as? IdentityError {
      isMissing = isMissing || !files.fileExists(atPath: directory + "/identity.pem")
    }
    self.init(isMissing ? .cannotCreate : .badConfiguration, "\(error)")
  }
}
