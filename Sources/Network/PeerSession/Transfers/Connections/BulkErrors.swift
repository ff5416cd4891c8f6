import PeerCore
import PeerDiscovery
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

enum BulkEnd: Error, Sendable {
  case broken
  case closed(CloseCode, message: UntrustedText)
  case violated(LinkViolation)
  case endedByUs(SessionError)

  var error: SessionError {
    switch self {
    case .broken: .bulkLinkLost
    case .closed(let code, let message):
      switch code {
      case .left: SessionError(.left, "The peer left the session.")
      case .shuttingDown: SessionError(.shuttingDown, "The peer's program exited.")
      case .protocolError, .unknownFrame, .tooLarge:
        SessionError(.protocolError, "The peer reports that this program broke the protocol. \(message)")
      default: SessionError(.linkLost, "The peer closed the link (\(code.rawValue)). \(message)")
      }
    case .violated(let violation): SessionError(.protocolError, violation.message)
    case .endedByUs(let error): error
    }
  }

  /// Whether the transfer of a resource may be retried on another link (RES-5).
  var mayRetry: Bool {
    switch self {
    case .broken: true
    case .closed(let code, _): code == .left || code.redial != .never
    case .violated, .endedByUs: false
    }
  }
}

extension SessionError {
  /// The link under a stream broke (STR-1).
  static let bulkLinkLost = SessionError(.linkLost, "The link broke.")

  init(_ cancel: Control.ResourceCancel) {
    // The message has at most 512 bytes.
    let words = cancel.message.isEmpty ? "" : " The peer says: \(cancel.message.escaped(limit: 512))"
    switch cancel.code {
    case .cancelled: self.init(.transferCancelled, "The peer canceled the transfer.\(words)")
    case .refused: self.init(.declined, "The peer refused the transfer.\(words)")
    case .busy: self.init(.busy, "The peer has too many transfers in progress.\(words)")
    case .sourceChanged: self.init(.sourceChanged, "The file changed while it was being sent.\(words)")
    case .sourceUnreadable: self.init(.sourceUnreadable, "The sender cannot read the file.\(words)")
    case .diskFull: self.init(.diskFull, "There is no space left at the receiver.\(words)")
    case .quota: self.init(.quota, "The receiver's quota is used up.\(words)")
    case .hashMismatch: self.init(.hashMismatch, "The received bytes differ from the sent bytes.\(words)")
    case .sizeMismatch: self.init(.hashMismatch, "The length differs from the offer.\(words)")
    case .ioError: self.init(.system, "The peer could not store the file.\(words)")
    }
  }

  /// The protocol's code for this error, sent in CANCEL (8.2).
  var resourceCode: Control.ResourceCode {
    switch code {
    case .transferCancelled, .cancelled: .cancelled
    case .declined, .invalidName: .refused
    case .busy: .busy
    case .sourceChanged: .sourceChanged
    case .sourceUnreadable: .sourceUnreadable
    case .diskFull: .diskFull
    case .quota: .quota
    case .hashMismatch: .hashMismatch
    default: .ioError
    }
  }

  static func system(_ what: String, errno number: Int32) -> SessionError {
    switch number {
    case ENOSPC, EDQUOT: SessionError(.diskFull, "There is no space left: \(what).")
    case EROFS: SessionError(.system, "The disk is read-only: \(what).")
    default: SessionError(.system, "\(what): \(systemMessage(number)).")
    }
  }
}
