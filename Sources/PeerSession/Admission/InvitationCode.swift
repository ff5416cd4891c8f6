import NIOCore
import PeerWire

/// A code that lets in besides the one of the session, for as long as it holds (ADM-9).
struct InvitationCode {
  /// The code, stretched.
  let key: CodeKey
  /// The application's label for the code.
  let label: String?
  /// When it holds no longer, if ever.
  let end: NIODeadline?
}

extension Session {
  /// Lets in by one more code from now on, where the session lets in by codes.
  ///
  /// It takes a tenth of a second to make.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - label: What ``Peer/admission`` says of whoever comes by it.
  ///   - time: How long it holds; nil for as long as the session is served here. Afterwards it is a wrong
  ///     code.
  /// - Throws: `notByCode` if the session does not let in by codes; `busy` if there are 15 besides
  ///   its own already; `sessionEnded`.
  public func invite(
    _ code: JoinCode,
    label: String? = nil,
    for time: Duration? = nil
  ) async throws(SessionError) {
    let threads = try await onLoop { (core: SessionCore) in
      try core.admission.checkRoomForCode()
      return core.transport.threads
    }
    let (id, peer) = (id, localPeer)
    let key = try await withSessionErrors {
      try await threads.runIfActive { CodeKey(code: code, session: id, listener: peer) }
    }
    try await onLoop { core in
      try core.admission.checkRoomForCode()
      let end = time.map { NIODeadline.now() + TimeAmount($0) }
      core.admission.add(InvitationCode(key: key, label: label, end: end))
    }
  }
  /// Replaces the code by which the session admits; the old one and all additional ones are wrong
  /// codes from then on.
  ///
  /// A relay that carries the session gets the new code. Other members go on admitting by the code
  /// that they know.
  ///
  /// - Parameter code: The new code.
  /// - Throws: `notByCode` if the session does not admit by codes; `sessionEnded`.
  public func replaceCode(with code: JoinCode) async throws(SessionError) {
    let threads = try await onLoop { (core: SessionCore) in
      guard case .code = core.admission.policy else {
        throw SessionError(.notByCode, "This session does not admit by codes.")
      }
      return core.transport.threads
    }
    let (id, peer) = (id, localPeer)
    let key = try await withSessionErrors {
      try await threads.runIfActive { CodeKey(code: code, session: id, listener: peer) }
    }
    try await onLoop { $0.admission.replaceCode(with: code, key) }
  }
}
