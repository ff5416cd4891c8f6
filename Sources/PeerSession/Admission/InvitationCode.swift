import NIOCore
import PeerWire

/// An additional code of a session that admits peers until it expires (ADM-9).
struct InvitationCode {
  /// The stretched code.
  let key: CodeKey
  /// The application's label for the code.
  let label: String?
  /// The time at which the code expires; `nil` if it never expires.
  let end: NIODeadline?
}

extension Session {
  /// Adds a join code to a session that admits by code.
  ///
  /// This call takes about 0.1 s.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - label: The label in ``Peer/admission`` of the peers that join with this code.
  ///   - time: How long the code is valid; `nil` means as long as this process serves the session. An expired code is
  ///     rejected as wrong.
  /// - Throws: `notByCode` if the session does not admit by codes; `busy` if it already has 15 additional codes;
  ///   `sessionEnded`.
  public func invite(_ code: JoinCode, label: String? = nil, for time: Duration? = nil) async throws(SessionError) {
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
  /// Replaces the join code of the session.
  ///
  /// The old code and all additional codes are rejected from then on. A relay of the session gets the new code. Other
  /// members still accept the code that they know.
  ///
  /// - Parameter code: The new code.
  /// - Throws: `notByCode` if the session does not admit by codes; `sessionEnded`.
  public func replaceCode(with code: JoinCode) async throws(SessionError) {
    let threads = try await onLoop { (core: SessionCore) in
      guard case .code = core.admission.policy else {
        throw SessionError(.notByCode, "This session does not admit peers by code.")
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
