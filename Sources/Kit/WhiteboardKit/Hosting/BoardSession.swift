import PeerSession
import WhiteboardDocument

/// The session of a board, with the board's name and the local admission policy. Confined to the actor of its board.
final class BoardSession {
  let session: Session
  /// The name of the board; an id prefix if no name is known.
  private(set) var name: String
  private(set) var policy: AdmissionPolicy
  /// The state of the board's move to a relay.
  enum Move: Sendable {
    /// The local peer does not move the board.
    case none
    case pending
    /// No relay has accepted the board yet. If `endsWaits` is false, a relay will probably accept it soon.
    case failed(WhiteboardError, endsWaits: Bool)
    case carried(by: PeerID)

    /// Whether a relay has the board, or will probably accept it soon.
    var expectsRelay: Bool {
      switch self {
      case .none, .failed(_, endsWaits: true): false
      case .pending, .failed, .carried: true
      }
    }
  }

  var move = Move.none
  /// Whether a relay keeps the board open when the local peer leaves.
  var isCarried: Bool { if case .carried = move { true } else { false } }

  let storedChoice: HostChoice
  /// Reserves the local copy of a joined board until the copy is open.
  var reservation: BoardReservation?

  /// The maximum length of a name, in bytes.
  private static let nameLimit = 128

  init(_ session: Session, name: String, policy: AdmissionPolicy, _ storedChoice: HostChoice) {
    self.session = session
    self.storedChoice = storedChoice
    self.name = name
    self.policy = policy
  }

  var admission: BoardConfiguration.Admission { BoardConfiguration.Admission(policy) }

  var code: JoinCode? { if case .code(let code) = policy { code } else { nil } }

  func setCode(_ code: JoinCode) { policy = .code(code) }

  /// Replaces the policy after the host changed its own policy (MEM-17).
  func setPolicy(_ policy: AdmissionPolicy) { self.policy = policy }

  /// A member that follows the host's policy `known` cannot admit newcomers, because the member does not know the
  /// newcomers.
  func admitsNewcomers(_ configuration: BoardConfiguration) -> Bool {
    guard case .known = policy else { return true }
    return configuration.isHosting(session) || configuration.admission == .known
  }

  // MARK: - The name

  /// Lists and commands find the board by the stored title. A board without a name takes its name from the title.
  nonisolated(nonsending) func storeTitle(_ title: String, in document: BoardDocument) async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    if try await document.title() ?? "" != title { try await document.setTitle(title) }
    guard !title.isEmpty, isProvisional(name) else { return }
    name = Self.name(fromTitle: title)
    try await document.rename(to: name)
    await session.setName(name)
  }

  /// Replaces the name in a file that was created before the name was known.
  nonisolated(nonsending) func storeName(in document: BoardDocument) async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    guard isProvisional(try await document.name()), !isProvisional(name) else { return }
    try await document.rename(to: name)
  }

  private func isProvisional(_ name: String) -> Bool { name.isEmpty || name == session.id.short }

  private static func name(fromTitle title: String) -> String {
    var name = ""
    for character in title {
      guard name.utf8.count + character.utf8.count <= nameLimit else { break }
      name.append(character)
    }
    return name
  }
}

extension BoardConfiguration.Admission {
  init(_ policy: AdmissionPolicy) {
    self =
      switch policy {
      case .ask: .ask
      case .code: .code
      case .known: .known
      case .anyone: .anyone
      }
  }
}

extension BoardConfiguration {
  func admissionPolicy(default fallback: Admission, code: JoinCode?) -> AdmissionPolicy {
    switch admission ?? fallback {
    case .ask: .ask
    case .known: .known
    case .anyone: .anyone
    case .code: .code(self.code ?? code ?? .random())
    }
  }

  /// Opening an offline copy of another peer's board does not make the local peer the host of that board.
  func isHosting(_ session: Session) -> Bool { !isOffline && (isRelay || session.hostPeer == session.localPeer) }
}
