import FoundationEssentials
import PeerSession
import WhiteboardKit

extension WhiteboardError {
  package init(_ error: any Error, inDataDirectory directory: String) {
    if let error = error as? WhiteboardError {
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
